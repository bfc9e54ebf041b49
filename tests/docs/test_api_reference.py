"""The API reference has every public name, and no other."""

import re
from importlib import import_module
from pathlib import Path

import pytest

import ellzero

PAGE = Path(__file__).parents[2] / "docs" / "api" / "index.rst"
pytestmark = pytest.mark.skipif(
    not PAGE.exists(), reason="the documentation is not part of what is installed"
)

# What is there for the command line and for reports: named where it is made, not public by itself.
TABLES = {"EXAMPLES", "Column", "DateColumn", "DatePart", "Encoding", "Feature", "NumberColumn"}
TABLES |= {"Pool", "Remark", "TextColumn", "ValueColumn", "write_aside"}
PAPER = {"PARTS", "accuracy", "diabetes", "discoveries", "paths", "penalties", "timing"}
PARTS = {
    "ellzero.tables": TABLES,
    "ellzero.paper": PAPER | {"posterior_means"},
    "ellzero.datasets": {"DIABETES_COLUMNS"},
}


def listed():
    found, module = {}, ""
    for line in PAGE.read_text(encoding="utf-8").splitlines():
        if match := re.match(r"\.\. (?:current)?module:: (\S+)", line):
            module = match[1]
        elif match := re.fullmatch(r"   (\w+)", line):
            found.setdefault(module, []).append(match[1])
    return found


def test_every_public_name_of_the_package_is_on_the_page():
    assert set(listed()["ellzero"]) == set(ellzero.__all__) - {"__version__", "datasets"}


@pytest.mark.parametrize(
    "name",
    ["datasets", "genotypes", "paper", "plotting", "posterior", "selection", "shrinkage", "tables"],
)
def test_every_public_name_of_a_module_is_on_the_page(name):
    module = f"ellzero.{name}"
    public = set(import_module(module).__all__) - set(ellzero.__all__) - PARTS.get(module, set())
    assert set(listed()[module]) == public
