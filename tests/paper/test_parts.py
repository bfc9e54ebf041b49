"""Every figure and table at a small size: data, drawing, and claims that can fail."""

import itertools

import numpy as np
import pandas as pd
import pytest

from ellzero import l0_frontier
from ellzero.datasets import load_diabetes_interactions
from ellzero.paper import (
    PARTS,
    accuracy,
    diabetes,
    discoveries,
    paths,
    penalties,
    posterior_means,
    timing,
)
from ellzero.paper._claims import and_list, judge, mean_interval, median_interval, share_interval
from ellzero.paper._methods import METHODS, PAPERS, SELECTING


def verdicts(module, data):
    return [claim.verdict for claim in module.claims(data)]


def says_something(label, ticks):
    """Return whether an axis has a label, or places that are named by words."""
    names = [tick.get_text() for tick in ticks]
    return bool(label) or any(name[:1].isalpha() for name in names)


def check_drawing(figure):
    figure.canvas.draw()
    for ax in figure.axes:
        first = figure.axes[0] if ax.get_shared_y_axes().joined(ax, figure.axes[0]) else ax
        assert says_something(ax.get_xlabel(), ax.get_xticklabels())
        assert says_something(first.get_ylabel(), first.get_yticklabels())
    for which in ("get_xticklabels", "get_yticklabels"):
        labels = [
            label.get_window_extent()
            for ax in figure.axes
            for label in getattr(ax, which)()
            if label.get_text() and label.get_visible()
        ]
        pairs = itertools.combinations(labels, 2)
        assert not any(one.overlaps(other) for one, other in pairs)
    legends = [*figure.legends, *(ax.get_legend() for ax in figure.axes)]
    legends = [legend for legend in legends if legend is not None]
    assert legends
    inside = figure.bbox.padded(1)
    for legend in legends:
        box = legend.get_window_extent()
        assert inside.contains(box.x0, box.y0)
        assert inside.contains(box.x1, box.y1)


@pytest.fixture(scope="module")
def data(trial_file):
    """The data of every part, as small as they come."""
    return {
        "posterior-means": posterior_means.compute(),
        "penalties": penalties.compute(),
        "paths": paths.compute(),
        "accuracy": accuracy.compute(12, trial_file=trial_file),
        "selection": discoveries.compute(12, trial_file=trial_file),
        "timing": made_up_times(),
        "diabetes": diabetes.compute(repeats=2),
    }


def made_up_times(slower=1.0):
    """Times like those measured, twenty of each; ``slower`` is for spike-and-slab."""
    seconds = {
        ("OLS", "one fit"): 0.002,
        ("Lasso", "one fit"): 0.02,
        ("Lasso", "ten folds and a fit"): 0.2,
        ("Elastic net", "one fit"): 0.02,
        ("Elastic net", "ten folds and a fit"): 0.2,
        ("SBR", "one fit"): 0.0005,
        ("SBR", "ten folds and a fit"): 0.03,
        ("Frontier", "one fit"): 0.003,
        ("Frontier", "ten folds and a fit"): 0.008,
        ("Spike-and-slab", "posterior"): 0.09 * slower,
        ("Bayesian bridge", "posterior"): 0.4,
    }
    rng = np.random.default_rng(0)
    rows = [
        {
            "n": n,
            "p": p,
            "trial": trial,
            "method": method,
            "task": task,
            "seconds": usual * n * p / 12_000 * rng.uniform(0.9, 1.1),
            "ess": 3000.0 if task == "posterior" else np.nan,
        }
        for n, p in ((120, 100), (300, 200), (1000, 1000))
        for trial in range(20)
        for (method, task), usual in seconds.items()
    ]
    return pd.DataFrame(rows)


@pytest.mark.parametrize("name", PARTS)
def test_every_part_draws_tabulates_and_judges(data, name):
    module = PARTS[name]
    check_drawing(module.draw(data[name]))
    table = module.tabulate(data[name])
    assert len(table) > 4
    for claim in module.claims(data[name]):
        for text in (claim.claim, claim.measured, claim.rule):
            assert text.endswith(".")
            assert "nan" not in text
        assert claim.verdict in ("confirmed", "not confirmed", "better")


def test_posterior_means(data):
    found = data["posterior-means"]
    assert len(found) == 2 * 4 * 1201
    assert verdicts(posterior_means, found) == ["confirmed"] * 3
    # Had the columns been mixed up, all would be noticed but the first.
    swapped = found.assign(
        prior=found["prior"].map(
            {
                "Bernoulli-Gaussian": "Bernoulli-Laplace",
                "Bernoulli-Laplace": "Bernoulli-Gaussian",
            }
        )
    )
    assert verdicts(posterior_means, swapped)[1] == "not confirmed"
    reversed_slabs = found.assign(sigma_beta=5 / found["sigma_beta"])
    assert verdicts(posterior_means, reversed_slabs)[2] == "not confirmed"
    unshrunk = found.assign(posterior_mean=found["y"])
    assert verdicts(posterior_means, unshrunk)[0] == "not confirmed"


def test_penalties(data):
    found = data["penalties"]
    assert verdicts(penalties, found) == ["confirmed"] * 3
    assert verdicts(penalties, found.assign(penalty=found["beta"].abs())) == ["not confirmed"] * 3
    assert (
        verdicts(penalties, found.assign(penalty=found["beta"] ** 2))[1:] == ["not confirmed"] * 2
    )


def test_paths(data):
    found = data["paths"]
    ends = found.groupby("method")["ratio"].agg(["min", "max"])
    np.testing.assert_allclose(ends, [[0.5, 4], [0.5, 4]])
    assert ((found["ratio"] - 1).abs() < 1e-9).any()
    shown = found.groupby(["data_set", "method"])["truth"].apply(lambda t: (t != 0).sum())
    assert (shown % 10 == 0).all()  # all ten true ones, at every penalty
    assert verdicts(paths, found) == ["confirmed", "confirmed", "not confirmed"]
    other = {"SBR": "Lasso", "Lasso": "SBR"}
    swapped = found.assign(method=found["method"].map(other))
    assert verdicts(paths, swapped) == ["not confirmed"] * 3
    # Had SBR been right at every penalty, and never moved:
    right = found["coefficient"].where(found["method"] == "Lasso", found["truth"])
    assert verdicts(paths, found.assign(coefficient=right)) == ["confirmed"] * 3
    # Jumps soon before and after the chosen penalty are noticed.
    near = found["ratio"].between(0.8, 1.3) | (found["method"] == "Lasso")
    jumps = found.assign(coefficient=right.where(near, 100.0))
    assert verdicts(paths, jumps) == ["not confirmed", "confirmed", "not confirmed"]


def test_the_chosen_penalty_is_the_one_that_a_fit_has(data):
    from ellzero import L0RegressorCV
    from ellzero.paper._methods import shuffled_folds
    from ellzero.paper._simulated_problems import simulate_problem

    problem = simulate_problem(0, 120, 100, 0)
    model = L0RegressorCV(cv=shuffled_folds(problem.seed), solver="sbr").fit(problem.X, problem.y)
    here = data["paths"].query("data_set == 0 and method == 'SBR' and abs(ratio - 1) < 1e-9")
    np.testing.assert_allclose(here["penalty"], model.lam_)
    np.testing.assert_allclose(here["coefficient"], model.coef_[here["variable"]], rtol=1e-9)


def test_lassos_path_is_for_columns_of_unit_norm(data):
    """The slope of RSS / (2 n) equals alpha at every coefficient that is in."""
    from ellzero.paper._simulated_problems import simulate_problem

    X, y, _, _ = simulate_problem(0, 120, 100, 0)
    mine = data["paths"].query("data_set == 0 and method == 'Lasso'")
    for penalty, here in list(mine.groupby("penalty"))[::15]:
        coef = np.zeros(100)
        coef[here["variable"]] = here["coefficient"]
        slope = X.T @ (y - y.mean() - X @ coef) / len(y)
        np.testing.assert_allclose(np.abs(slope[coef != 0]), penalty, rtol=1e-3)
        assert np.abs(slope).max() <= penalty * 1.001


def test_accuracy(data):
    found = data["accuracy"]
    assert len(found) == 12 * len(METHODS)
    assert not found["squared_error"].isna().any()
    medians = accuracy.tabulate(found)["median"]
    assert medians["SBR"] < 0.5 * medians["Lasso"] < 0.5 * medians["OLS"]
    both, convex, stepwise, _ = accuracy.claims(found)
    assert convex.verdict == "confirmed"
    assert stepwise.verdict == "not confirmed"
    assert f"{medians['SBR']:.3g}" in both.measured

    def with_sbr(errors):
        mine = found["method"] == "SBR"
        return found.assign(squared_error=found["squared_error"].where(~mine, errors))

    slab = found["squared_error"].where(found["method"] == "Spike-and-slab")
    slab = slab.groupby(found["trial"]).transform("max")
    assert verdicts(accuracy, with_sbr(100.0))[:2] == ["not confirmed"] * 2
    assert "larger, significantly" in accuracy.claims(with_sbr(100.0))[0].measured
    assert verdicts(accuracy, with_sbr(1e-3))[:2] == ["better", "confirmed"]
    assert verdicts(accuracy, with_sbr(1.01 * slab))[0] == "confirmed"
    # Better in the median, much worse on average: neither better nor confirmed
    mixed = (0.9 * slab).where(found["trial"] > 1, 50.0)
    assert verdicts(accuracy, with_sbr(mixed))[0] == "not confirmed"


def test_selection(data):
    found = data["selection"]
    assert len(found) == 12 * len(SELECTING)
    assert found["true"].between(0, 10).all()
    assert found["false"].between(0, 90).all()
    table = discoveries.tabulate(found)
    assert table.loc["SBR", "false, mean"] < 1 < 10 < table.loc["Lasso", "false, mean"]

    def chosen(true, false):
        """Selections of spike-and-slab and SBR, as given by trial; the others' as they are."""
        made = found.copy()
        for place, name in enumerate(("Spike-and-slab", "SBR")):
            mine = made["method"] == name
            made.loc[mine, "true"], made.loc[mine, "false"] = true[place], false[place]
        return made.assign(
            true=made["true"].where(made["method"].isin(["Spike-and-slab", "SBR"]), 10)
        )

    many = pd.concat([found.assign(trial=found["trial"] + 12 * k) for k in range(5)])
    found = many.reset_index(drop=True)
    assert verdicts(discoveries, chosen((10, 10), (0, 0)))[:2] == ["confirmed"] * 2
    assert verdicts(discoveries, chosen((10, 9), (0, 0)))[0] == "not confirmed"
    assert verdicts(discoveries, chosen((10, 10), (0, 8)))[1:] == ["not confirmed"] * 2
    assert verdicts(discoveries, chosen((10, 10), (3, 2)))[2] == "better"
    # Fewer false ones at the cost of true ones is not better.
    assert verdicts(discoveries, chosen((10, 9), (3, 2)))[2] == "confirmed"
    assert verdicts(discoveries, chosen((10, 10), (3, 3)))[2] == "confirmed"
    # One trial shows nothing.
    assert verdicts(discoveries, found[found["trial"] == 0]) == ["not confirmed"] * 3


def test_timing(data):
    found = data["timing"]
    assert verdicts(timing, found) == [
        "better",
        "better",
        "better",
        "not confirmed",
        "not confirmed",
        "better",
        "better",
    ]
    slow = verdicts(timing, made_up_times(slower=3000))[4:]
    assert slow == ["confirmed", "confirmed", "not confirmed"]  # slow is not impossible
    # Draws that are worth little are no posterior.
    assert verdicts(timing, found.assign(ess=30.0))[5:] == ["confirmed"] * 2
    same = verdicts(timing, found.assign(seconds=0.01))
    assert same[0] == "confirmed"
    assert same[2:4] == ["confirmed", "confirmed"]
    late = found.assign(seconds=found["seconds"].where(found["method"] != "SBR", 1.0))
    assert verdicts(timing, late)[:3] == ["not confirmed"] * 3
    table = timing.tabulate(found)
    assert table.loc["SBR, one fit", "120 x 100, paper"] == 0.011
    per = table.loc["Spike-and-slab, effective sample size of 1,000", "120 x 100"]
    assert per == pytest.approx(table.loc["Spike-and-slab, posterior", "120 x 100"] / 3)
    small = found[found["n"] < 1000]
    assert len(timing.claims(small)) == 6
    # If no indicator ever changes, there is no effective sample size.
    assert "an unknown time" in timing.claims(found.assign(ess=np.nan))[5].measured


@pytest.mark.parametrize("quick", [True, False])
def test_times_are_measured(monkeypatch, tmp_path, quick):
    monkeypatch.setattr(timing, "_SMALL", ((30, 10), (40, 12)))
    monkeypatch.setattr(timing, "_LARGE", ((50, 14),))
    path = tmp_path / "timing.jsonl"
    found = timing.compute(2, quick=quick, trial_file=path)
    assert (found["seconds"] > 0).all()
    assert found["ess"].notna().equals(found["task"] == "posterior")
    methods = found.groupby("n")["method"].unique()
    assert {*PAPERS, "Frontier"} == {*methods[30]} == {*methods[40]}
    assert len(methods[50]) == (3 if quick else 7)
    assert found.query("n == 50")["trial"].max() == (0 if quick else 1)
    # What was timed is not timed again.
    pd.testing.assert_frame_equal(timing.compute(2, quick=quick, trial_file=path), found)


def test_diabetes(data):
    found = data["diabetes"]
    claims = diabetes.claims(found)
    assert [claim.verdict for claim in claims[:2]] == ["confirmed"] * 2  # SBR's 8, the slab's 6
    assert [claim.verdict for claim in claims[3:6]] == ["confirmed"] * 3
    assert diabetes.PAPERS_TABLE["SBR"] == (
        *diabetes.PAPERS_TABLE["Spike-and-slab"],
        "glu^2",
        "bmi:map",
    )
    assert {name: len(names) for name, names in diabetes.PAPERS_TABLE.items()} == {
        "Lasso": 14,
        "Elastic net": 15,
        "Spike-and-slab": 6,
        "SBR": 8,
    }
    assert claims[-1].verdict == "not confirmed"
    assert "In 2 of 2 splits the frontier" in claims[-1].measured
    bunch = load_diabetes_interactions()
    best = l0_frontier(bunch.data, bunch.target).at(lam=6_000.0).support
    names = np.array(bunch.feature_names)[best]
    solved = pd.DataFrame(
        {"repeat": 0, "method": "SBR", "variable": names, "coefficient": 1.0, "penalty": 6_000.0}
    )
    rest = found[(found["method"] != "SBR") & (found["repeat"] == 0)]
    assert diabetes.claims(pd.concat([rest, solved]))[-1].verdict == "confirmed"
    lost = found[~((found["method"] == "SBR") & (found["variable"] == "hdl"))]
    first = diabetes.claims(lost)[0]
    assert first.verdict == "not confirmed"
    assert "hdl (only in the paper; here in 0 of 2)" in first.measured
    nothing = found[found["method"] != "SBR"]
    assert diabetes.claims(nothing)[0].verdict == "not confirmed"
    assert (diabetes.tabulate(nothing)["SBR, of 2"] == "-").all()
    diabetes.draw(nothing)


def test_where_the_papers_selection_is_on_the_path(data):
    found = data["diabetes"]
    lasso = (found["method"] == "Lasso") & (found["variable"] == "glu")
    told = diabetes.claims(found[~lasso])[2].measured
    assert "glu (only in the paper; here in 0 of 2)" in told
    assert "The paper's set is that of alphas from 0.039" in told
    net = (found["method"] == "Elastic net") & (found["variable"] == "glu")
    assert "The paper's set is that of alphas from" in diabetes.claims(found[~net])[3].measured


@pytest.mark.parametrize("compute", [accuracy.compute, discoveries.compute, timing.compute])
def test_bad_numbers(compute):
    with pytest.raises(ValueError, match="trials must be an integer of at least 1; got 0"):
        compute(0)
    with pytest.raises(ValueError, match="seed must be an integer from 0"):
        compute(1, -1)


def test_bad_jobs():
    for jobs in (0, -2, 1.5, True):
        with pytest.raises(ValueError, match="jobs must be"):
            accuracy.compute(1, jobs=jobs)
    with pytest.raises(ValueError, match="trials must be"):
        paths.compute(data_sets=0)
    with pytest.raises(ValueError, match="trials must be"):
        diabetes.compute(repeats=0.5)


def test_intervals_cover(rng):
    """95% intervals hold the truth in 95% of samples, as near as 2,000 samples can tell."""
    samples = rng.exponential(size=(2000, 41))
    hits = [low <= np.log(2) <= high for _, low, high in map(median_interval, samples)]
    assert 0.935 <= np.mean(hits) <= 0.985  # order statistics: a little more than 95%
    normal = rng.normal(2.0, size=(2000, 10))
    hits = [low <= 2 <= high for _, low, high in map(mean_interval, normal)]
    assert np.mean(hits) == pytest.approx(0.95, abs=0.015)
    assert median_interval(np.arange(5.0))[1:] == (-np.inf, np.inf)
    assert median_interval(np.arange(6.0)) == (2.5, 0, 5)
    assert mean_interval([3.0])[1:] == (-np.inf, np.inf)
    hits = rng.uniform(size=(1000, 200)) < 0.9
    covered = [low <= 0.9 <= high for _, low, high in map(share_interval, hits)]
    assert 0.94 <= np.mean(covered) <= 0.99  # exact ones hold more than 95%
    assert share_interval([True])[1:] == (pytest.approx(0.025), 1)


def test_words():
    assert [judge(False, True), judge(True, True), judge(True)] == [
        "not confirmed",
        "better",
        "confirmed",
    ]
    assert [and_list(x) for x in ([], ["a"], ["a", "b"], ["a", "b", "c"])] == [
        "",
        "a",
        "a and b",
        "a, b and c",
    ]
