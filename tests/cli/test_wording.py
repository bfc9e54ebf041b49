"""The library speaks of arguments, the command line of options."""

import pickle
import re

import pytest
from command import ellzero

from ellzero._messages import Argument, Message
from ellzero.cli._wording import in_options
from ellzero.tables import DataError


def test_arguments_are_options_on_the_command_line():
    message = Message(
        Argument("test_share", 0.5),
        " and ",
        Message(Argument("lenient", True), ", "),
        Argument("missing", "drop"),
        f" of {{drop}} --{Argument('size', 3)}",  # what is a text already is left alone
    )
    assert message == "test_share=0.5 and lenient=True, missing='drop' of {drop} --size=3"
    assert (
        in_options(message) == "--test-share 0.5 and --lenient, --missing drop of {drop} --size=3"
    )
    assert in_options("drop") == "drop"


def test_an_error_keeps_its_arguments():
    error = DataError("leave it out with ", Argument("drop"), ".")
    for same in (error, pickle.loads(pickle.dumps(error))):
        assert str(same) == "leave it out with drop."
        assert in_options(same.message) == "leave it out with --drop."


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--target", "none"], "has no column 'none', which --target names"),
        (["--target", "y"], "with --missing drop, mean or indicator"),
        (
            ["--target", "y", "--missing", "drop", "--size", "9"],
            "--size 9, but there is one feature",
        ),
        (
            ["--target", "y", "--missing", "drop", "--force", "x", "--max-size", "0"],
            "--max-size 0, but --force names 1 feature",
        ),
        (["--target", "y", "--missing", "drop", "--force", "no"], "--force names 'no', which"),
        (["--target", "y", "--drop", "no"], "has no column 'no', which --drop names"),
        (["--target", "c", "--missing", "drop"], r"numbers with a decimal comma \(--decimal ,\)"),
        (
            ["--target", "y", "--missing", "drop", "--weights", "d"],
            "--weights: column 'd' does not hold numbers",
        ),
    ],
)
def test_errors_name_options(tmp_path, options, words):
    rows = [f'{i},{i % 3},{i % 7 if i else ""},2024-01-{i + 1:02},"{i},5"' for i in range(20)]
    table = tmp_path / "t.csv"
    table.write_text("id,y,x,d,c\n" + "\n".join(rows) + "\n")
    result = ellzero("select", table, *options)
    assert result.code == 1
    assert re.search(words, result.err), result.err


def test_columns_that_are_left_out_name_options_everywhere(tmp_path):
    rows = [f"{i},{i % 3},{i % 7},2024-01-{i + 1:02}" for i in range(20)]
    (tmp_path / "t.csv").write_text("id,y,x,d\n" + "\n".join(rows) + "\n")
    asked = ["--target", "y", "--json", "r.json", "--report", "r.html"]
    result = ellzero("select", "t.csv", *asked, cwd=tmp_path)
    shown = [result.out, *((tmp_path / name).read_text("utf-8") for name in ("r.json", "r.html"))]
    for text in shown:
        assert "name it in --keep to use it" in text
        assert "name it in --time to order rows by it" in text
