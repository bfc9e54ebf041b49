"""What a command reads is not written over, nothing is written twice, and nothing by halves."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from command import COMMAND, ellzero

from ellzero.cli import _files

TABLE = "x,z,y\n" + "".join(f"{i},{i * i % 7},{2 * i + i % 3 + 0.5}\n" for i in range(30))
COMMANDS = {
    "select": ["select", "t.csv", "--target", "y", "--criterion", "bic"],
    "predict": ["predict", "model.json", "t.csv"],
    "posterior": ["posterior", "t.csv", "--target", "y"],
    "segment": ["segment", "t.csv", "--column", "y"],
}
OUTPUTS = {
    "select": ["--json", "--report", "--save"],
    "predict": ["--output"],
    "posterior": ["--json", "--save"],
    "segment": ["--output", "--signal", "--json"],
}


@pytest.fixture
def folder(tmp_path):
    """A table by many names, and files that are not there by several."""
    (tmp_path / "t.csv").write_text(TABLE)
    (tmp_path / "model.json").write_text("a model")
    (tmp_path / "inside").mkdir()
    (tmp_path / "soft.csv").symlink_to("t.csv")
    (tmp_path / "chain.csv").symlink_to("soft.csv")
    (tmp_path / "dangling").symlink_to("new")
    (tmp_path / "again").symlink_to(tmp_path, target_is_directory=True)
    os.link(tmp_path / "t.csv", tmp_path / "hard.csv")
    return tmp_path


def contents(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}


@pytest.mark.parametrize("command", COMMANDS)
def test_no_output_is_an_input(folder, command):
    before = contents(folder)
    names = [
        "t.csv",
        "soft.csv",
        "hard.csv",
        "inside/../t.csv",
        "again/chain.csv",
        folder / "t.csv",
    ]
    # One option by all names, all options by one
    for option, name in [
        *((OUTPUTS[command][0], name) for name in names),
        *((option, "./t.csv") for option in OUTPUTS[command][1:]),
    ]:
        result = ellzero(*COMMANDS[command], option, name, cwd=folder)
        argument = "SERIES" if command == "segment" else "TABLE"
        assert (result.code, result.out) == (2, ""), (option, name)
        assert f"{option} is {argument}, t.csv: it would be written over" in result.err
    assert contents(folder) == before


def test_the_model_is_an_input(folder):
    result = ellzero(*COMMANDS["predict"], "-o", "again/model.json", cwd=folder)
    assert (result.code, "--output is MODEL, model.json" in result.err) == (2, True)
    result = ellzero("predict", "-", "/dev/stdin", cwd=folder)
    assert (result.code, "can't both be standard input" in result.err) == (2, True)
    assert (folder / "model.json").read_text() == "a model"


@pytest.mark.parametrize("command", ["select", "segment"])
@pytest.mark.parametrize(
    ("one", "other"),
    [("new", "new"), ("new", "inside/../new"), ("new", "again/new"), ("dangling", "new")],
)
def test_no_two_outputs_are_one_file(folder, command, one, other):
    first, second = OUTPUTS[command][:2]
    result = ellzero(*COMMANDS[command], first, one, second, other, cwd=folder)
    assert (result.code, result.out) == (2, "")
    assert f"{first} and {second} are one file, {one}: name two" in result.err
    assert not (folder / "new").exists()


def test_names_that_differ_in_capitals_are_one_file_where_the_folder_says_so(folder, monkeypatch):
    paths = folder / "New", folder / "nEW"
    assert not _files.same_file(*paths)
    monkeypatch.setattr(_files, "_ignores_case", lambda folder: True)
    assert _files.same_file(*paths)
    assert not _files.same_file(folder / "New", folder / "other")


def test_standard_output_is_for_one(folder):
    for other in ("-", "/dev/stdout"):
        result = ellzero(*COMMANDS["select"], "--json", "-", "--report", other, cwd=folder)
        assert (result.code, result.out) == (2, "")
        assert "--json and --report can't both be standard output" in result.err
    result = ellzero(*COMMANDS["select"], "--json", "/dev/null", "--save", "/dev/null", cwd=folder)
    assert (result.code, result.err) == (0, "")


@pytest.mark.parametrize(
    ("command", "option", "start"),
    [
        ("select", "--json", "{\n"),
        ("select", "--report", "<!DOCTYPE html>\n"),
        ("select", "--save", '{\n "format": "ellzero-model"'),
        ("posterior", "--json", "{\n"),
        ("segment", "--output", "start,stop,"),
        ("segment", "--signal", "index,y,signal\n"),
    ],
)
@pytest.mark.parametrize("name", ["-", "/dev/stdout"])
def test_every_output_may_be_standard_output(folder, command, option, start, name):
    with (folder / "all").open("wb") as file:  # a file, into which nothing may be renamed
        done = subprocess.run(
            [COMMAND, *COMMANDS[command], option, name], cwd=folder, stdout=file, check=False
        )
    assert done.returncode == 0
    assert (folder / "all").read_text(encoding="utf-8").startswith(start)
    assert not (folder / "-").exists()


def test_standard_output_may_be_a_file_that_is_read_or_written(folder):
    for options, words in (
        ([], "Standard output is TABLE, t.csv"),
        (["--json", "t2.csv"], "--json and Standard output are one file"),
    ):
        (folder / "t2.csv").write_text(TABLE)
        path = folder / (options[-1] if options else "t.csv")
        with path.open("ab") as file:
            done = subprocess.run(
                [COMMAND, *COMMANDS["select"], *options],
                cwd=folder,
                stdout=file,
                stderr=subprocess.PIPE,
                text=True,
                check=False,
            )
        assert (done.returncode, words in done.stderr) == (2, True)
        assert path.read_text() == TABLE


@pytest.mark.parametrize(
    ("path", "words"),
    [
        ("/proc/report.html", "nothing can be written in /proc"),
        ("t.csv/report.html", "not a directory|there is no directory"),
        ("x" * 300, "file name too long"),
        ("loop", "too many levels of symbolic links"),
        ("no/report.html", "there is no directory"),
        ("inside", "inside is a directory"),
    ],
)
def test_what_cannot_be_written_is_told_before_any_work(folder, path, words):
    if path.startswith("/proc") and not Path("/proc/self").exists():
        pytest.skip("no folder that nobody can write to")
    (folder / "loop").symlink_to("loop")
    result = ellzero("select", "none.csv", "--target", "y", "--report", path, cwd=folder)
    assert (result.code, result.out) == (2, "")
    assert any(word in result.err.lower() for word in words.split("|")), result.err
    assert "none.csv" not in result.err


def test_a_file_protected_against_writing_stays(folder, monkeypatch):
    monkeypatch.setattr(os, "access", lambda path, mode: False)  # which root always may
    assert "is protected against writing" in _files._why_not(folder / "t.csv")


def test_odd_names_of_files_are_shown_as_text(folder):
    odd = "a\x1b[31m\nb\udcff.csv"
    (folder / odd).write_text(TABLE)
    arguments = [*COMMANDS["select"], "--report", f"{odd}\udcff", "--json", f"{odd}.json"]
    arguments[1] = odd
    result = ellzero(*arguments, cwd=folder)
    assert (result.code, result.err) == (0, "")
    assert "The report is in a\\x1b[31m\\nb\\udcff.csv\\udcff" in result.out
    assert json.loads((folder / f"{odd}.json").read_text())["data"]["name"] == odd
    for wrong in (["select", odd, "--target", "y", "--json", odd], ["select", f"{odd}.none"]):
        result = ellzero(*wrong, "--target", "y", cwd=folder)
        assert result.code in (1, 2)
        assert "\x1b" not in result.err
        assert "\\x1b" in result.err
        assert len(result.err.splitlines()) == 1


WATCHED = """
import os, sys
opened = []
def watch(event, details):
    if event == "open" and isinstance(details[0], (str, bytes)) and details[2] & 3:
        opened.append(os.fspath(details[0]))
sys.addaudithook(watch)
from ellzero.cli import main
try:
    main()
finally:
    here = os.path.realpath(os.getcwd())
    for path in opened:
        if os.path.realpath(path).startswith(here + os.sep):
            print(os.path.basename(path), file=sys.stderr)
"""


@pytest.mark.parametrize("command", [*COMMANDS, "reproduce"])
def test_every_file_is_written_aside(folder, command):
    if command == "predict":
        assert ellzero(*COMMANDS["select"], "--save", "model.json", cwd=folder).code == 0
    arguments = COMMANDS.get(command, ["reproduce", "penalties", "--out", "remade"])
    outputs = [part for option in OUTPUTS.get(command, ()) for part in (option, f"new{option}")]
    done = subprocess.run(
        [sys.executable, "-c", WATCHED, *arguments, *outputs, "--quiet"],
        cwd=folder,
        capture_output=True,
        text=True,
        check=True,
    )
    written = done.stderr.split("\n")[:-1]
    assert len(written) >= max(1, len(outputs) // 2)
    assert all(name.startswith(".") for name in written), written
    assert not [path for path in folder.rglob(".*") if path.is_file()]


SHELL = {
    "dash": "cat t.csv | {command} - --target y --json -",
    "/dev/stdin": "cat t.csv | {command} /dev/stdin --target y --json -",
    "redirected": "{command} - --target y --json - < t.csv",
    "from a file": "gzip -c t.csv > t.gz; {command} /dev/stdin --target y --json - < t.gz",
    "substituted": "{command} <(cat t.csv) --target y --json -",
    "named pipe": "mkfifo pipe; cat t.csv > pipe & {command} pipe --target y --json -",
    "link": "{command} again/chain.csv --target y --json -",
    "into a pipe": "{command} t.csv --target y --json >(cat) --quiet; sleep 0.2",
}


@pytest.mark.parametrize("case", SHELL)
def test_tables_from_pipes(folder, case):
    line = SHELL[case].format(command=f"{COMMAND} select --criterion bic")
    done = subprocess.run(
        ["bash", "-c", line], cwd=folder, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
    content = json.loads(done.stdout)
    assert content["data"]["rows_read"] == 30
    assert not content["data"]["name"].startswith("/tmp/ellzero")
    if case == "dash":
        assert content["data"]["name"] == "standard input"


def test_models_from_pipes(folder):
    assert ellzero(*COMMANDS["select"], "--save", "model.json", cwd=folder).code == 0
    expected = ellzero("predict", "model.json", "t.csv", cwd=folder).out
    for line in (
        f"cat model.json | {COMMAND} predict - t.csv",
        f"{COMMAND} predict <(cat model.json) - < t.csv",
    ):
        done = subprocess.run(["bash", "-c", line], cwd=folder, capture_output=True, text=True)
        assert (done.returncode, done.stdout) == (0, expected)


@pytest.mark.parametrize(
    ("redirection", "options", "code", "words"),
    [
        ("<&-", ["-", "--target", "y"], 1, "standard input is empty"),
        ("</dev/null", ["-", "--target", "y"], 1, "standard input is empty"),
        (">&-", ["t.csv", "--target", "y", "--json", "-"], 1, "the output can't be written"),
        (">&-", ["t.csv", "--target", "y", "--quiet"], 0, ""),
        ("2>&-", ["t.csv", "--target", "q"], 1, ""),
    ],
)
def test_streams_that_are_closed(folder, redirection, options, code, words):
    line = f"{COMMAND} select --criterion bic {' '.join(options)} {redirection}"
    done = subprocess.run(["bash", "-c", line], cwd=folder, capture_output=True, text=True)
    assert done.returncode == code
    assert words in done.stderr
    assert len(done.stderr.splitlines()) == bool(words)


def test_letters_that_standard_output_does_not_have(folder):
    result = ellzero(*COMMANDS["select"], cwd=folder, PYTHONUTF8="0", PYTHONIOENCODING="ascii")
    assert (result.code, result.err) == (0, "")
    assert "R\\xb2" in result.out
