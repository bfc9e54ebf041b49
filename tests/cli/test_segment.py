import json

import numpy as np
import pytest
from command import ellzero

from ellzero import segment
from ellzero.datasets import make_spikes


@pytest.fixture
def steps(tmp_path):
    rng = np.random.default_rng(2)
    y = np.repeat([1.0, 4.0, 2.0], 40) + 0.3 * rng.normal(size=120)
    y[[5, 70]] = np.nan
    days = np.datetime64("2024-01-01") + np.arange(120)
    order = rng.permutation(120)
    lines = [f"{days[i]},{'' if np.isnan(y[i]) else repr(float(y[i]))},{1 + i % 2}" for i in order]
    path = tmp_path / "series.csv"
    path.write_text("day,level,w\n" + "\n".join(lines) + "\n")
    return path, y


def test_steps_in_the_order_of_time(steps, tmp_path):
    path, y = steps
    result = ellzero(
        "segment", path, "--column", "level", "--time", "day", "--json", tmp_path / "s.json",
        "--output", tmp_path / "segments.csv", "--signal", tmp_path / "signal.csv",
    )  # fmt: skip
    assert result.code == 0, result.err
    expected = segment(y)
    content = json.loads((tmp_path / "s.json").read_text())
    assert [c["index"] for c in content["changepoints"]] == expected.changepoints.tolist()
    np.testing.assert_allclose(content["signal"], expected.signal)
    assert content["changepoints"][0]["label"] == "2024-02-10"
    assert "120 samples of 'level': 2 jumps" in result.out
    assert (tmp_path / "segments.csv").read_text().splitlines()[2].startswith("40,80,2024-02-10,")
    signal = (tmp_path / "signal.csv").read_text().splitlines()
    assert len(signal) == 121
    assert signal[6].startswith("2024-01-06,,")


def test_what_is_said_of_jumps(steps, tmp_path):
    path, y = steps
    arguments = ["segment", path, "--column", "level", "--time", "day"]
    result = ellzero(*arguments, "--json", tmp_path / "s.json", "--report", tmp_path / "r.html")
    assert result.code == 0, result.err
    assert "between (95%)" in result.out
    assert "The price was set so that a series with no jump" in " ".join(result.out.split())
    content = json.loads((tmp_path / "s.json").read_text())
    expected = segment(y)
    assert content["noise"] == pytest.approx(expected.noise.sd)
    assert content["noise_correlation"] == 0
    assert content["cautions"] == []
    for jump, (low, high) in zip(content["changepoints"], expected.locations(), strict=True):
        assert (jump["earliest"], jump["latest"]) == (low, high)
        assert jump["jump_in_noise"] == pytest.approx(jump["jump"] / expected.noise.sd)
        # Just below the price it is dropped at it is there, and just above it is not.
        there, gone = (segment(y, jump["dropped_at"] * f).changepoints for f in (0.999, 1.001))
        assert ((there >= low) & (there <= high)).any()
        assert not ((gone >= low) & (gone <= high)).any()
    assert "<title>Where level jumps" in (tmp_path / "r.html").read_text()
    # Without a report nothing is followed: that takes many runs.
    plain = json.loads(ellzero(*arguments, "--json", "-").out)
    assert {jump["dropped_at"] for jump in plain["changepoints"]} == {None}


def test_series_that_are_not_made_of_pieces(tmp_path):
    rng = np.random.default_rng(0)
    ramp = 20 * np.arange(500) / 500 + rng.normal(size=500)
    path = tmp_path / "ramp.csv"
    path.write_text("y\n" + "\n".join(map(repr, ramp.tolist())) + "\n")
    result = ellzero("segment", path, "--json", tmp_path / "r.json")
    assert result.code == 0
    assert "Warning: Within the pieces the series rises" in result.err
    assert len(json.loads((tmp_path / "r.json").read_text())["cautions"]) == 1
    walk = tmp_path / "walk.csv"
    walk.write_text("y\n" + "\n".join(map(repr, rng.normal(size=300).cumsum().tolist())) + "\n")
    result = ellzero("segment", walk, "--json", "-")
    assert json.loads(result.out)["noise_correlation"] > 0.8
    result = ellzero("segment", walk, "--noise", "white")
    assert "correlated" in result.err


def test_options(steps):
    path, y = steps
    arguments = ["segment", path, "--column", "level", "--time", "day", "--weights", "w"]
    result = ellzero(*arguments, "--lam", "cv", "--rule", "1se", "--json", "-")
    assert result.code == 0, result.err
    weights = 1.0 + np.arange(120) % 2
    expected = segment(y, "cv", rule="1se", sample_weight=weights)
    assert json.loads(result.out)["lam"] == pytest.approx(expected.lam)
    result = ellzero(
        *arguments, "--smallest-jump", 2, "--duration", 20, "--positive", "--decay", 0.99,
        "--quiet", "--json", "-",
    )  # fmt: skip
    content = json.loads(result.out)
    assert content["decay"] == 0.99
    assert all(c["jump"] > 0 for c in content["changepoints"])


def test_spikes_in_a_file_of_one_column_with_gaps(tmp_path):
    y, _, spikes = make_spikes(600, decay=0.95, noise=0.1, random_state=0)
    lines = [repr(float(v)) for v in y]
    lines[100] = ""
    path = tmp_path / "trace.csv"
    path.write_text("trace\n" + "\n".join(lines) + "\n")
    result = ellzero("segment", path, "--decay", "estimate", "--positive", "--json", "-")
    assert result.code == 0, result.err
    content = json.loads(result.out)
    assert content["samples"] == 600
    assert content["decay"] == pytest.approx(0.95, abs=0.01)
    found = [c["index"] for c in content["changepoints"]]
    assert set(np.flatnonzero(spikes > 0)) - {0, 100} <= set(found)


def test_a_short_series_needs_a_price(tmp_path):
    (tmp_path / "t.csv").write_text("a\n1\n5\n")
    result = ellzero("segment", tmp_path / "t.csv", "--lam", 2)
    assert (result.code, "1 jump at a price of 2 (noise not known" in result.out) == (0, True)
    result = ellzero("segment", tmp_path / "t.csv")
    assert (result.code, "fewer than three samples needs a price" in result.err) == (1, True)


@pytest.mark.parametrize(
    ("text", "options", "code", "words"),
    [
        ("a,b\n1,2\n", [], 2, "--column is missing: one of a, b"),
        ("a\n1\n", ["--lam", "-1"], 2, "--lam must be a number from 0 up, or auto or bic or cv"),
        ("a\n1\n", ["--decay", "0"], 2, "--decay must be above 0 and up to 1, or estimate"),
        ("a\n1\n", ["--lam", "2", "--smallest-jump", "3"], 2, "exclude each other"),
        ("a\n1\n", ["--duration", "2"], 2, "--duration is for --smallest-jump"),
        ("a\n1\n", ["--smallest-jump", "2"], 2, "needs --duration"),
        ("a\n1\n", ["--column", "b"], 1, "has no column 'b'"),
        ("a\nx\n", [], 1, "does not hold numbers"),
        ("a\n", [], 1, "has no rows"),
        ("a\ninf\n", [], 1, "has infinite values"),
        ("a,t\n1,x\n", ["--time", "t"], 1, "holds text, not dates or numbers; dates are known as"),
        ("a,t\n1,1\n2,\n", ["--time", "t"], 1, "must hold a date or a number"),
        ("a,w\n1,-1\n", ["--weights", "w"], 1, "must hold numbers from 0 up"),
    ],
)
def test_what_can_be_wrong(tmp_path, text, options, code, words):
    path = tmp_path / "t.csv"
    path.write_text(text)
    result = ellzero("segment", path, *options)
    assert (result.code, words in result.err) == (code, True), result
