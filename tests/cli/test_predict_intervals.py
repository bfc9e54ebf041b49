"""Intervals beside predictions."""

import csv

import pytest
from command import ellzero


@pytest.fixture(scope="module")
def model(people, tmp_path_factory):
    path = tmp_path_factory.mktemp("model") / "model.json"
    assert ellzero("select", people, "--target", "score", "--save", path, "-q").code == 0
    return path


def test_intervals_beside_predictions(model, people):
    result = ellzero("predict", model, people, "--interval", 0.9)
    assert result.code == 0
    header, *rows = csv.reader(result.out.splitlines())
    assert header == ["prediction", "lower", "upper"]
    widths = {round(float(upper) - float(lower), 6) for _, lower, upper in rows}
    assert len(widths) == 1
    assert all(float(lower) < float(mid) < float(upper) for mid, lower, upper in rows)
    narrow = ellzero("predict", model, people, "--interval", 0.5)
    assert float(narrow.out.splitlines()[1].split(",")[1]) > float(rows[0][1])


def test_intervals_that_can_not_be(model, people):
    for level in (0, 1, 2, "nan"):
        result = ellzero("predict", model, people, "--interval", level)
        assert (result.code, result.out) == (2, "")
        assert "--interval must be between 0 and 1" in result.err
    result = ellzero("predict", model, people, "--interval", 0.9999)
    assert result.out.splitlines()[1].endswith(",-inf,inf")
    assert "there were too few rows for intervals of level 0.9999" in result.err
