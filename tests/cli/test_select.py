import json
import os
import re
import resource
import signal
import subprocess
import sys

import numpy as np
import psutil
import pytest
from command import COMMAND, ellzero, ellzero_on_a_terminal, started
from patience import PATIENCE, wait_until

from ellzero.cli._console import Console
from ellzero.cli._select import show_selection
from ellzero.selection._model_file import _checksum
from ellzero.tables import EXAMPLES


@pytest.fixture(scope="module")
def chosen(people, tmp_path_factory):
    """One run that most can be read off."""
    folder = tmp_path_factory.mktemp("chosen")
    result = ellzero(
        "select", people, "--target", "score", "--drop", "school", "--criterion", "1se",
        "--folds", 5, "--test-share", 0.2, "--posterior", "--seed", 3, "--categorical", "grade",
        "--json", folder / "out.json", "--report", folder / "out.html",
        "--save", folder / "model.json",
    )  # fmt: skip
    assert result.code == 0, result.err
    return folder, result, json.loads((folder / "out.json").read_text(encoding="utf-8"))


def test_columns_are_shown_before_fitting(chosen):
    _, result, _ = chosen
    before, _, after = result.out.partition("variables predict")
    assert "120 rows, 10 columns" in before
    assert "an identifier, it seems" in before
    assert "constant" in before
    assert "a date" in before
    assert "3 levels, reference 'Oslo'" in before
    assert "coefficient" in after


def test_the_model_is_right_and_in_order(chosen):
    _, result, content = chosen
    names = [variable["name"] for variable in content["model"]["variables"]]
    assert names[:2] == ["age", "city"]
    lost = [variable["r2_lost"] for variable in content["model"]["variables"]]
    assert lost == sorted(lost, reverse=True)
    coefficients = {v["name"]: v["coefficient"] for v in content["model"]["variables"]}
    assert coefficients["age"] == pytest.approx(0.5, abs=0.05)
    city = next(v for v in content["model"]["variables"] if v["name"] == "city")
    levels = {f["name"]: f["coefficient"] for f in city["features"]}
    assert levels["city=Rome"] == pytest.approx(6, abs=1.5)
    assert content["cross_validation"]["folds"].startswith("5 folds at random")
    assert content["cross_validation"]["predicts"]
    assert content["held_out"]["rows"] == 24
    assert content["data"]["rows_fitted"] == 96
    assert content["seed"] == 3
    assert content["command"].startswith("ellzero select ")
    assert {v["name"] for v in content["posterior"]["variables"]} > {"age", "grade"}
    assert "On 24 rows held out" in result.out
    assert "are not valid" in result.out
    assert "Chosen by cross-validation, for prediction with few variables" in result.out
    assert "the choice made anew in each" in result.out


def test_other_criteria_say_beside_a_choice_what_they_say_alone(tmp_path):
    """Cross-validation shrinks, so that its model of least error has 5 variables here, not 8."""

    def run(*options):
        command = ("select", "--example", "diabetes", "--no-stability", *options)
        result = ellzero(*command, "--json", tmp_path / "j", "--report", tmp_path / "h")
        assert result.code == 0, result.err
        return result.out, json.loads((tmp_path / "j").read_text(encoding="utf-8"))

    out, content = run()
    page = " ".join((tmp_path / "h").read_text(encoding="utf-8").split())
    rows = content["sureness"]["variables"]
    for criterion, key in (("1se", "one_se"), ("cv", "least_error")):
        _, alone = run("--criterion", criterion)
        names = {variable["name"] for variable in alone["model"]["variables"]}
        assert {row["name"] for row in rows if row[key]} == names
        assert content["sureness"][f"{key}_size"] == len(names)
    assert "1se, cv: what --criterion 1se and --criterion cv choose, models of 3 and of 5" in out
    assert "<code>--criterion 1se</code> chooses, the smallest" in page
    assert "within one standard error of the least (three variables), and that of" in page
    assert "<code>--criterion cv</code>, of least error (five variables)" in page
    assert "<th>chosen</th><th>1se</th><th>cv</th>" in page


def test_a_pipe_gets_plain_text_and_no_progress(chosen):
    _, result, _ = chosen
    assert "\x1b" not in result.out + result.err
    assert "─" not in result.out
    assert result.err == ""


def test_predictions_of_a_saved_model(chosen, people, tmp_path):
    folder, _, content = chosen
    result = ellzero("predict", folder / "model.json", people, "--output", tmp_path / "p.csv")
    assert result.code == 0
    assert "does not use: 'id'" in result.err
    assert "root mean squared error" in result.err
    lines = (tmp_path / "p.csv").read_text().splitlines()
    assert lines[0] == "prediction"
    assert len(lines) == 121
    again = ellzero("predict", folder / "model.json", people, "--quiet")
    assert again.out.splitlines() == lines
    assert again.err == ""
    assert content["model"]["size"] >= 2


def test_predictions_that_cannot_be(chosen, people, tmp_path):
    model = chosen[0] / "model.json"
    text = people.read_text()
    header, first, *_ = text.splitlines()
    rows = tmp_path / "rows.csv"
    rows.write_text("\n".join([header, first.replace(first.split(",")[4], "Paris"), first]) + "\n")
    result = ellzero("predict", model, rows)
    assert result.code == 1
    assert "levels that the model has not seen: 'Paris' in 1 rows" in result.err
    result = ellzero("predict", model, rows, "--lenient")
    assert result.code == 0
    assert result.out.splitlines()[1] == ""
    assert float(result.out.splitlines()[2]) > 0
    (tmp_path / "lacks.csv").write_text("height\n1\n")
    result = ellzero("predict", model, tmp_path / "lacks.csv")
    assert (result.code, "lacks the column 'age'" in result.err) == (1, True)
    (tmp_path / "gap.csv").write_text(text.replace(first, first.replace(",", ",", 1), 1))
    age = first.split(",")
    age[1] = ""
    (tmp_path / "gap.csv").write_text("\n".join([header, ",".join(age)]) + "\n")
    result = ellzero("predict", model, tmp_path / "gap.csv")
    assert (result.code, "column 'age' has 1 missing values" in result.err) == (1, True)
    age[1] = "old"
    (tmp_path / "gap.csv").write_text("\n".join([header, ",".join(age)]) + "\n")
    result = ellzero("predict", model, tmp_path / "gap.csv")
    assert (result.code, "held numbers when the model was fitted" in result.err) == (1, True)
    cut = tmp_path / "cut.json"
    cut.write_bytes(model.read_bytes()[:200])
    result = ellzero("predict", cut, people)
    assert (result.code, "not whole JSON" in result.err) == (1, True)


def test_absurd_predictions_are_no_predictions(chosen, people, tmp_path):
    content = json.loads((chosen[0] / "model.json").read_text())
    for feature in content["features"]:
        feature["coefficient"] = 1e308
    content["sha256"] = _checksum({k: v for k, v in content.items() if k != "sha256"})
    (tmp_path / "absurd.json").write_text(json.dumps(content))
    result = ellzero("predict", tmp_path / "absurd.json", people)
    assert (result.code, result.out) == (1, "")
    assert "the prediction is no finite number in 120 rows" in result.err
    assert result.err.count("\n") == 1
    result = ellzero("predict", tmp_path / "absurd.json", people, "--lenient")
    assert (result.code, result.out) == (0, "prediction\n" + "\n" * 120)
    assert "no finite number in 120 rows" in result.err
    # A square of what is left would be no number, but the error is one
    content["features"] = [{**f, "coefficient": 1e300} for f in content["features"]]
    content["sha256"] = _checksum({k: v for k, v in content.items() if k != "sha256"})
    (tmp_path / "absurd.json").write_text(json.dumps(content))
    result = ellzero("predict", tmp_path / "absurd.json", people)
    assert (result.code, "inf" in result.out) == (0, False)
    assert re.search(r"root mean squared error \d\.\d+e\+30\d on 120 rows", result.err)


@pytest.mark.parametrize(
    ("options", "check"),
    [
        (["--size", 2, "--interactions"], lambda c: c["model"]["size"] == 2),
        (["--lam", 1e9], lambda c: c["model"]["size"] == 0),
        (["--lam", 1e-6, "--max-size", 2], lambda c: c["model"]["size"] == 2),
        (["--criterion", "bic", "--max-size", 1], lambda c: c["model"]["size"] == 1),
        (
            ["--criterion", "cv", "--max-size", 2, "--repeats", 1],
            lambda c: c["model"]["size"] <= 2 and "sizes up to 2" in c["model"]["certificate"],
        ),
        (
            ["--lam", 1e-6, "--interactions", "--heredity", "strong", "--max-size", 3],
            lambda c: c["model"]["size"] == 3,
        ),
        (["--criterion", "bic", "--ridge", 2], lambda c: c["model"]["ridge"] == 2),
        (
            ["--criterion", "ebic", "--force", "height", "--keep", "id"],
            lambda c: any(v["name"] == "height" and v["forced"] for v in c["model"]["variables"]),
        ),
        (["--criterion", "ric", "--weights", "weight"], lambda c: c["criterion"] == "ric"),
        (
            ["--criterion", "bic", "--weights", "weight", "--frequency"],
            lambda c: c["data"]["columns"][8]["use"] == "weights",
        ),
        (["--groups", "school"], lambda c: "whole groups" in c["cross_validation"]["folds"]),
        (
            ["--criterion", "cv", "--time", "day", "--folds", 4],
            lambda c: "later" in c["curve"]["folds"],
        ),
        (
            ["--criterion", "1se", "--folds", 4, "--repeats", 2],
            lambda c: c["curve"]["folds"] == "4 folds at random, 2 times over",
        ),
    ],
)
def test_options(people, options, check):
    result = ellzero("select", people, "--target", "score", *options, "--json", "-")
    assert result.code == 0, result.err
    assert check(json.loads(result.out))


@pytest.mark.parametrize("missing", ["drop", "mean", "indicator"])
def test_missing_values(people, tmp_path, missing):
    rows = [line.split(",") for line in people.read_text().splitlines()]
    for place, row in enumerate(rows[1:]):
        row[2] = "" if place % 7 == 0 else row[2]
        row[4] = "" if place % 11 == 0 else row[4]
        row[-1] = "" if place == 5 else row[-1]
    path = tmp_path / "gaps.csv"
    path.write_text("\n".join(",".join(row) for row in rows) + "\n")
    result = ellzero("select", path, "--target", "score")
    assert result.code == 1
    assert "'height' (18), 'city' (11), 'score' (1) of 120 rows" in result.err
    result = ellzero(
        "select", path, "--target", "score", "--missing", missing, "--save", tmp_path / "m.json"
    )
    assert result.code == 0, result.err
    assert "rows left out" in result.err
    again = ellzero("predict", tmp_path / "m.json", path)
    assert (again.code == 0) == (missing != "drop")


def test_the_example_needs_no_file():
    result = ellzero("select", "--example", "diabetes", "--interactions")
    assert result.code == 0
    assert "7 of 64 features predict 'progression': cross-validated R²" in result.out
    assert "Chosen by EBIC, which answers which variables matter: one is kept" in result.out
    assert "--criterion cv answers what predicts best, and often keeps more; --post" in result.out
    assert "--posterior says how sure." in result.out
    assert list(EXAMPLES) == ["diabetes"]


def test_quiet_prints_nothing(people, tmp_path):
    result = ellzero(
        "select", people, "--target", "score", "--criterion", "bic", "-q", "--report",
        tmp_path / "r.html",
    )  # fmt: skip
    assert result == (0, "", "")
    assert [p.name for p in tmp_path.iterdir()] == ["r.html"]


def test_odd_names_and_encodings(tmp_path):
    rows = "".join(f"{i % 7},{i % 5};{'ab'[i % 2]};{(i * i) % 11}\n" for i in range(60))
    path = tmp_path / "odd, näme.txt"
    path.write_bytes(('"x;[bold]é";"<script>";y\n' + rows).encode("latin-1"))
    result = ellzero("select", path, "--target", "y")
    assert (result.code, "--encoding latin-1" in result.err) == (1, True)
    result = ellzero(
        "select", path, "--target", "y", "--encoding", "latin-1", "--decimal", ",", "--delimiter",
        ";", "--na", "b", "--missing", "indicator", "--criterion", "bic", "--size", 3,
    )  # fmt: skip
    assert result.code == 2
    assert "--criterion and --size exclude each other" in result.err
    result = ellzero(
        "select", path, "--target", "y", "--encoding", "latin-1", "--decimal", ",", "--delimiter",
        ";", "--size", 2,
    )  # fmt: skip
    assert result.code == 0, result.err
    assert "x;[bold]é" in result.out
    assert "<script>=b" in result.out


BAD_USAGE = {
    "nothing": (["select"], "Give a TABLE, or --example"),
    "both": (["select", "t.csv", "--example", "diabetes"], "Give a TABLE, or --example"),
    "no target": (["select", "t.csv"], "--target is missing"),
    "no command": (["explode"], "No such command 'explode'"),
    "size and lam": (["select", "t.csv", "--target", "y", "--size", 1, "--lam", 1], "exclude"),
    "size and max size": (
        ["select", "t.csv", "--target", "y", "--size", 1, "--max-size", 2],
        "--size and --max-size exclude each other",
    ),
    "groups and time": (
        ["select", "t.csv", "--target", "y", "--groups", "g", "--time", "t"],
        "--groups and --time exclude each other",
    ),
    "frequency": (["select", "t.csv", "--target", "y", "--frequency"], "name their column"),
    "repeats": (
        ["select", "t.csv", "--target", "y", "--repeats", 5, "--groups", "g"],
        "--repeats is for folds at random",
    ),
    "no repeat": (["select", "t.csv", "--target", "y", "--repeats", 0], "0 is not in the range"),
    "one fold": (["select", "t.csv", "--target", "y", "--folds", 1], "1 is not in the range"),
    "lam": (["select", "t.csv", "--target", "y", "--lam", "-1"], "--lam must be a positive"),
    "lam nan": (["select", "t.csv", "--target", "y", "--lam", "nan"], "--lam must be a positive"),
    "ridge": (["select", "t.csv", "--target", "y", "--ridge", "inf"], "--ridge must be"),
    "share": (["select", "t.csv", "--target", "y", "--test-share", 1], "--test-share must be"),
    "size": (["select", "t.csv", "--target", "y", "--size", "-1"], "--size"),
    "seed": (["select", "t.csv", "--target", "y", "--seed", "x"], "--seed"),
    "criterion": (["select", "t.csv", "--target", "y", "--criterion", "aic"], "--criterion"),
    "missing": (["select", "t.csv", "--target", "y", "--missing", "zero"], "--missing"),
    "encoding": (["select", "t.csv", "--target", "y", "--encoding", "klingon"], "no encoding"),
    "no text": (["select", "t.csv", "--target", "y", "--encoding", "base64"], "no encoding"),
    "delimiter": (["select", "t.csv", "--target", "y", "--delimiter", "ab"], "one character"),
    "drops target": (["select", "t.csv", "--target", "y", "--drop", "y"], "--drop names the"),
    "report": (["select", "t.csv", "--target", "y", "--report", "no/r.html"], "no directory"),
    "report folder": (["select", "t.csv", "--target", "y", "--report", "."], "is a directory"),
    "predict": (["predict", "m.json"], "Missing argument 'TABLE'"),
    "expected size": (
        ["posterior", "t.csv", "--target", "y", "--expected-size", 0],
        "--expected-size must be",
    ),
}


@pytest.mark.parametrize("case", BAD_USAGE)
def test_bad_usage_is_2(tmp_path, case):
    arguments, words = BAD_USAGE[case]
    (tmp_path / "t.csv").write_text("x,y\n1,2\n")
    result = ellzero(*arguments, cwd=tmp_path)
    assert result.code == 2, result
    assert words in result.err
    assert result.out == ""


BAD_DATA = {
    "no file": (None, [], "can't be read: no such file"),
    "directory": ("", [], "has no tables in it"),
    "empty": (b"", [], "is empty"),
    "no rows": (b"x,y\n", [], "has no rows"),
    "one row": (b"x,y\n1,2\n", [], "one row to fit on"),
    "cut": (b"x,z,y\n1,2,3\n4,5,6\n7,", [], "Is the file cut off"),
    "text target": (b"x,y\n1,low\n2,high\n3,no\n", [], "The target 'y' holds text"),
    "binary target": (
        b"x,y\n1,low\n2,high\n3,low\n",
        ["--family", "gaussian"],
        "The target 'y' is binary, 'high' or 'low': write these as 0 and 1",
    ),
    "date target": (b"x,y\n1,2024-01-01\n2,2024-01-02\n", [], "The target 'y' holds dates"),
    "comma target": (b"x;y\n1;0,5\n2;1,5\n3;2,5\n", [], "--decimal ,"),
    "no number": (b"n,y\na,1\nb,2\nc,3\n", [], "no column to choose from ('n' left out)"),
    "constant target": (b"x,y\n1,5\n2,5\n4,5\n", [], "the same in all rows"),
    "no target": (b"x,z\n1,2\n2,3\n", [], "has no column 'y', which --target names"),
    "empty target": (b"x,y\n1,\n2,\n", ["--missing", "drop"], "every row has a missing"),
    "infinite": (b"x,z,y\n1,inf,1\n2,1,3\n4,2,2\n", [], "'z' has 1 infinite value:"),
    "infinite target": (b"x,y\n1,inf\n2,1\n4,3\n", [], "'y' has infinite values"),
    "dropped": (b"x,y\n1,2\n2,3\n", ["--drop", "q"], "no column 'q', which --drop names"),
    "forced": (b"x,y\n1,2\n4,3\n2,1\n", ["--force", "q"], "--force names 'q'"),
    "escape": (b"\x1b[31mx,y\n1,2\n", ["--drop", "q"], "no column 'q'"),
    "too many folds": (b"x,y\n1,2\n4,3\n2,1\n", ["--folds", 9], "9 folds need at least"),
    "weights": (b"x,w,y\n1,-1,2\n4,1,3\n2,1,1\n", ["--weights", "w"], "numbers from 0 up"),
    "counts": (
        b"x,w,y\n1,.5,2\n4,1,3\n2,1,1\n",
        ["--weights", "w", "--frequency"],
        "must hold whole numbers",
    ),
}


@pytest.mark.parametrize("case", BAD_DATA)
def test_bad_data_is_1_in_one_sentence(tmp_path, case):
    content, options, words = BAD_DATA[case]
    path = tmp_path / "t.csv"
    if content == "":
        path.mkdir()
    elif content is not None:
        path.write_bytes(content)
    result = ellzero("select", path, "--target", "y", *options)
    assert result.code == 1, result
    assert words in result.err
    assert result.err.startswith("Error: ")
    assert result.err.count("\n") == 1
    assert "\x1b" not in result.err


def test_a_full_disk_leaves_no_half_file(people, tmp_path):
    def small_files():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))

    target = tmp_path / "report.html"
    target.write_text("what was there before")
    result = ellzero(
        "select", people, "--target", "score", "--criterion", "bic", "--report", target,
        limit=small_files,
    )  # fmt: skip
    assert result.code == 1
    assert f"{target} can't be written: file too large" in result.err
    assert target.read_text() == "what was there before"
    assert [p.name for p in tmp_path.iterdir()] == ["report.html"]


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no /dev/full on this system")
def test_a_full_disk_behind_standard_output(people):
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [COMMAND, "select", people, "--target", "score", "--criterion", "bic"],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            timeout=PATIENCE,
            check=False,
        )
    assert done.returncode == 1
    assert done.stderr == "Error: the output can't be written: no space left on device.\n"


def test_a_reader_who_leaves_early_is_no_error(people):
    with started("select", people, "--target", "score", "--criterion", "bic") as process:
        process.stdout.close()
        assert process.stderr.read() == ""
        assert process.wait(PATIENCE) == 0


def test_a_terminal_gets_tables_and_progress(people):
    code, shown = ellzero_on_a_terminal("select", people, "--target", "score")
    assert code == 0
    assert "─".encode() in shown
    assert b"Reading" in shown or b"Cross-validating" in shown


def test_ctrl_c_is_quiet(tmp_path):
    import numpy as np

    rng = np.random.default_rng(0)
    table = np.column_stack([rng.normal(size=(400, 60)), rng.normal(size=400)])
    names = ",".join([*(f"x{j}" for j in range(60)), "y"])
    np.savetxt(tmp_path / "t.csv", table, delimiter=",", header=names, comments="")
    with started(
        "select", tmp_path / "t.csv", "--target", "y", "--interactions", "--folds=390"
    ) as process:
        process.stdout.readline()  # the table has been read
        spent = psutil.Process(process.pid).cpu_times
        begin = spent().user
        wait_until(lambda: spent().user > begin + 1, "a second of cross-validation")
        process.send_signal(signal.SIGINT)
        _, error = process.communicate(timeout=PATIENCE)
    assert (process.returncode, error.strip()) == (130, "Error: interrupted.")


def test_the_version_and_help():
    assert ellzero("--version").out.startswith("ellzero ")
    result = ellzero("--help")
    assert all(name in result.out for name in ("select", "predict", "posterior"))
    for name in ("select", "predict", "posterior"):
        assert ellzero(name, "--help").code == 0


def test_help_imports_nothing_heavy():
    code = (
        "import sys; sys.argv = ['ellzero', '--help']\n"
        "from ellzero.cli import main\n"
        "try: main()\n"
        "except SystemExit: pass\n"
        "heavy = {'numpy', 'pandas', 'sklearn', 'scipy', 'pyarrow', 'matplotlib', 'rich'}\n"
        "print('heavy:', sorted(heavy & set(sys.modules)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=PATIENCE, check=True
    )
    assert done.stdout.endswith("heavy: []\n")


def test_entangled_variables_are_named_wherever_the_model_is_shown(tmp_path):
    asked = ["--example", "diabetes", "--size", 8, "--json", "o.json", "--report", "o.html"]
    result = ellzero("select", *asked, cwd=tmp_path)
    text = "'tc', 'ldl', 'tch', 'ltg' are entangled (variance inflation factor up to 17)"
    assert f"Warning: {text}" in result.err
    warnings = json.loads((tmp_path / "o.json").read_text())["warnings"]
    assert any(warning.startswith(text) for warning in warnings)
    assert text.replace("'", "&#39;") in (tmp_path / "o.html").read_text(encoding="utf-8")


@pytest.mark.parametrize("predicts", [False, True])
@pytest.mark.parametrize("size", [0, 3])
def test_no_zero_is_negative(predicts, size, capsys):
    variable = {
        "name": "x",
        "coefficient": -0.0,
        "standardised": -1e-5,
        "r2_lost": -1e-16,
        "features": [],
    }
    judged = {
        "r2": -2e-4, "r2_se": 1e-5, "predicts": predicts, "size_high": size, "size_low": size,
        "folds": "folds", "error": 1.0, "rmse": 1.0, "auc": None,
    }  # fmt: skip
    held = {"rows": 9, "rmse": 1.0, "rmse_of_mean": 1.0, "r2": -3e-4}
    content = {
        "target": "y", "rule": "", "warnings": [],
        "data": {"features": 5, "variables": 5, "rows_fitted": 9},
        "family": {"ratio": None, "measure": "R²", "labels": None, "error": "squared error"},
        "notes": [], "cross_validation": judged, "held_out": held, "posterior": None,
        "model": {
            "size": size, "r2": -1e-16, "intercept": -0.0, "variables": [variable], "lam": 1.0,
            "certificate": "", "shrinkage": "",
        },
        "sureness": {"variables": [], "disagreements": [], "halves": 0},
    }  # fmt: skip
    show_selection(Console(quiet=False), content)
    out = capsys.readouterr().out
    assert "R² 0.000" in out
    assert not re.findall(r"-0(?:\.0*)?(?![\d.])", out)


@pytest.mark.parametrize("criterion", ["cv", "1se"])
def test_a_target_that_a_column_gives_away_is_warned_of(criterion, tmp_path):
    rng = np.random.default_rng(0)
    rows = [f"{x},{2 * y + 1},{y}" for x, y in rng.normal(size=(80, 2)).tolist()]
    table = tmp_path / "leak.csv"
    table.write_text("\n".join(["x,leak,y", *rows]), encoding="utf-8")
    result = ellzero("select", table, "--target", "y", "--criterion", criterion)
    assert result.code == 0, result.err
    assert "reproduced exactly by 'leak'" in result.err
    assert "RuntimeWarning" not in result.err


@pytest.mark.parametrize("ridge", [(), ("--ridge", 0.5)])
def test_nothing_is_said_about_the_shrinkage_of_no_coefficient(ridge, tmp_path):
    rng = np.random.default_rng(0)
    table = tmp_path / "noise.csv"
    rows = [f"{x},{y}" for x, y in rng.normal(size=(40, 2)).tolist()]
    table.write_text("\n".join(["x,y", *rows]), encoding="utf-8")
    result = ellzero("select", table, "--target", "y", "--criterion", "1se", *ridge)
    assert "None of 1 features is kept" in result.out
    assert "shrunk" not in result.out
