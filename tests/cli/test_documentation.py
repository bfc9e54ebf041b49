"""The page on the command line, and the command's own help, name the same options."""

import re
from pathlib import Path

import pytest
from command import ellzero

PAGE = Path(__file__).parents[2] / "docs" / "command-line.md"
COMMANDS = ("select", "predict", "posterior", "segment", "reproduce")


@pytest.fixture(scope="module")
def options():
    helps = [ellzero(name, "--help").out for name in COMMANDS]
    return {option for text in helps for option in re.findall(r"--[a-z][a-z-]+", text)}


@pytest.mark.skipif(not PAGE.exists(), reason="the documentation is not part of what is installed")
def test_every_option_is_on_the_page_and_the_other_way_round(options):
    page = set(re.findall(r"--[a-z][a-z-]+", PAGE.read_text(encoding="utf-8")))
    assert options - page - {"--help"} == set()
    assert page - options == set()
