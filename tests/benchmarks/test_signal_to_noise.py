"""The parts of benchmarks/signal_to_noise.py that its numbers hang on."""

import argparse

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
import signal_to_noise
import signal_to_noise_methods as methods
from signal_to_noise_results import draw, draw_ratios, geometric_mean, print_tables, ratios
from sklearn.linear_model import Lasso, LinearRegression
from sklearn.model_selection import KFold
from sparse_problems import BETA_TYPES, SETTINGS, SNRS, covariance, make_beta, make_problem


def test_types_of_coefficients():
    spread = np.flatnonzero(make_beta(1, 100, 5))
    assert spread[0] == 0
    assert spread[-1] == 99
    assert np.ptp(np.diff(spread)) <= 1
    np.testing.assert_array_equal(make_beta(2, 6, 3), [1, 1, 1, 0, 0, 0])
    np.testing.assert_allclose(make_beta(3, 6, 3), [10, 5.25, 0.5, 0, 0, 0])
    np.testing.assert_allclose(make_beta(5, 6, 3), [1, 1, 1, 0.5, 0.25, 0.125])
    with pytest.raises(ValueError, match="none of the types"):
        make_beta(4, 6, 3)


@pytest.mark.parametrize("setting", ["100x10", "50x1000"])
@pytest.mark.parametrize("kind", BETA_TYPES)
def test_problems_have_the_ratio_asked_for(setting, kind):
    problem = make_problem(setting, kind, 0.7, 0.42, 3)
    signal = problem.beta @ problem.covariance @ problem.beta
    assert signal / problem.noise == pytest.approx(0.42)
    assert problem.X.shape == SETTINGS[setting][:2]
    again, other = (make_problem(setting, kind, 0.7, 0.42, number) for number in (3, 4))
    np.testing.assert_array_equal(problem.y, again.y)
    assert not np.any(problem.y == other.y)


def test_rows_have_the_covariance_asked_for():
    X = np.concatenate([make_problem("100x10", 2, 0.7, 1.22, i).X for i in range(100)])
    np.testing.assert_allclose(X.T @ X / len(X), covariance(10, 0.7), atol=0.05)


def slow_relaxed_lasso(X, y, cv, penalties):
    """Fit every penalty from scratch in every fold, and every mixture of the two fits."""

    def fits(X, y, penalty, g):
        lasso = Lasso(alpha=penalty, tol=1e-9, max_iter=100_000).fit(X, y)
        coef, active = lasso.coef_.copy(), np.flatnonzero(lasso.coef_)
        if 0 < active.size <= len(y) - 2:
            squares = LinearRegression().fit(X[:, active], y).coef_
            coef[active] = g * coef[active] + (1 - g) * squares
        return coef, y.mean() - X.mean(axis=0) @ coef

    best = np.inf
    for penalty in penalties:
        for g in np.arange(11) / 10:
            error = 0.0
            for train, test in cv.split(X):
                coef, intercept = fits(X[train], y[train], penalty, g)
                error += ((y[test] - intercept - X[test] @ coef) ** 2).sum()
            if error < best:
                best, chosen = error, fits(X, y, penalty, g)[0]
    return chosen


@pytest.mark.parametrize(("n", "p", "end"), [(30, 6, 1e-4), (16, 24, 1e-2)])
def test_relaxed_lasso(n, p, end, rng, monkeypatch):
    X = rng.normal(size=(n, p)) + 3
    y = X[:, :2] @ [1, -1] + 0.8 * rng.normal(size=n) - 5
    cv = KFold(4, shuffle=True, random_state=0)
    monkeypatch.setattr(methods, "PENALTIES", 8)
    found = methods.relaxed_lasso(X, y, cv)
    largest = np.abs((X - X.mean(axis=0)).T @ (y - y.mean())).max() / n
    penalties = np.geomspace(largest, end * largest, 8)
    np.testing.assert_allclose(found, slow_relaxed_lasso(X, y, cv, penalties), atol=1e-3)


@pytest.mark.parametrize("snr", SNRS)
def test_measures_of_the_truth_and_of_the_empty_model(snr, monkeypatch):
    truth = make_beta(3, 10, 5)
    for name, beta in (("truth", truth), ("empty", np.zeros(10))):
        fit = methods.Fit(beta, float(np.count_nonzero(beta)))
        monkeypatch.setitem(methods.METHODS, name, methods.Method(lambda *_, f=fit: f, name))
    task = ("100x10", 3, 0.35, snr, 0)
    (perfect,) = methods.run_trial(0, *task, "truth")
    (empty,) = methods.run_trial(0, *task, "empty")
    assert (perfect["risk"], perfect["error"], perfect["size"]) == (0, 1, 5)
    assert perfect["explained"] == pytest.approx(snr / (1 + snr))
    assert empty["risk"] == pytest.approx(1)
    assert empty["error"] == pytest.approx(1 + snr)
    assert empty["explained"] == pytest.approx(0)


def make_results(risks):
    """Trials with given risks, by method; the second data set has twice that of the first."""
    return pd.DataFrame(
        {"setting": "100x10", "type": 2, "rho": rho, "snr": snr, "number": number, "method": name,
         "risk": risk * (1 + number), "error": 1.1, "explained": 0.1, "size": 3.0}
        for name, risk in risks.items() for rho in (0.0, 0.35) for snr in SNRS for number in (0, 1)
    )  # fmt: skip


def test_ratios_are_to_the_best_of_three_peers(capsys):
    results = make_results({"CV": 1.5, "lasso": 4, "relaxed lasso": 3, "L0Learn L0L2": 5})
    means = geometric_mean(ratios(results), "setting").loc["100x10"]
    assert means["CV"] == pytest.approx(0.5)
    assert means["relaxed lasso"] == 1
    assert means["lasso"] == pytest.approx(4 / 3)
    print_tables(results)
    assert "| CV | 0.50 ± 0.00 (0.50) |" in capsys.readouterr().out


def test_figures():
    results = make_results({"CV": 1.5, "lasso": 4, "relaxed lasso": 3, "L0Learn L0L2": 5})
    for figure, panels in ((draw(results, "rho"), 8), (draw_ratios(results), 1)):
        assert len(figure.axes) == panels
        plt.close(figure)


def test_what_is_there_is_not_computed_again(tmp_path):
    options = argparse.Namespace(
        settings=["100x10"],
        types=[2],
        rhos=[0.0],
        snrs=[1.22],
        methods=["EBIC"],
        first=7,
        datasets=2,
        jobs=1,
        dask=None,
        out=tmp_path,
    )
    first = signal_to_noise.run(options)
    before = (tmp_path / "EBIC.jsonl").read_bytes()
    options.methods = ["EBIC", "forward stepwise"]
    both = signal_to_noise.run(options)
    pd.testing.assert_frame_equal(first, both[both["method"] == "EBIC"])
    assert sorted(both["number"]) == [7, 7, 8, 8]
    assert (tmp_path / "EBIC.jsonl").read_bytes() == before
    assert (tmp_path / "forward-stepwise.jsonl").exists()
