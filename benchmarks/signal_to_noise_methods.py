"""What signal_to_noise.py compares: ours, and peers, each with what it has by default.

Everyone fits an intercept. Who cross-validates does so on ten folds of shuffled rows. Peers are
imported when they are used, so that one that is missing stops nobody else.
"""

import time
import warnings
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from importlib.metadata import version
from multiprocessing import get_context
from typing import NamedTuple

import numpy as np
from scipy.linalg import solve
from sklearn.linear_model import LassoCV, lasso_path
from sklearn.model_selection import KFold
from sparse_problems import make_problem

from ellzero import (
    HorseshoeRegressor,
    L0Regressor,
    L0RegressorCV,
    SpikeSlabRegressor,
    stability,
)
from ellzero.paper._stepwise import forward_stepwise

__all__ = ["BEST_OF", "METHODS", "Fit", "Method", "relaxed_lasso", "run_trial"]

# Mixtures of lasso (1) and least squares on its variables (0)
RELAXATIONS = np.linspace(0, 1, 11)
PENALTIES = 100  # on a path of the relaxed lasso


class Fit(NamedTuple):
    """The coefficients, and how many variables are in the model: expected, for a posterior."""

    coef: np.ndarray
    size: float | None


class Method(NamedTuple):
    """How a method fits ``(X, y, seed)``, and what it is: results of another are not mixed in."""

    fit: Callable[..., Fit]
    what: str
    max_columns: int = 10**9


def folds(seed):
    return KFold(10, shuffle=True, random_state=seed)


def selected(coef):
    return Fit(coef, float(np.count_nonzero(coef)))


def by_ebic(X, y, seed):
    return selected(L0Regressor().fit(X, y).coef_)


def by_cv(X, y, seed, **settings):
    return selected(L0RegressorCV(random_state=seed, **settings).fit(X, y).coef_)


def by_cv_ridge(X, y, seed, **settings):
    return by_cv(X, y, seed, ridge="cv", **settings)


def by_cv_ridge_1se(X, y, seed):
    return by_cv_ridge(X, y, seed, rule="1se")


def by_stability(X, y, seed):
    """Least squares on what nine tenths of the halves choose."""
    chosen, coef = stability(X, y, random_state=seed).selected(), np.zeros(X.shape[1])
    centred = X[:, chosen] - X[:, chosen].mean(axis=0)
    coef[chosen] = np.linalg.lstsq(centred, y - y.mean(), rcond=None)[0]
    return selected(coef)


def by_posterior(X, y, seed, **settings):
    model = SpikeSlabRegressor(random_state=seed, **settings).fit(X, y)
    return Fit(model.coef_, float(model.inclusion_probabilities_.sum()))


def by_posterior_prediction(X, y, seed):
    return by_posterior(X, y, seed, scale_prior="prediction")


def by_horseshoe(X, y, seed):
    return Fit(HorseshoeRegressor(random_state=seed).fit(X, y).coef_, None)


def smallest_penalty(X):
    """The end of a lasso path over its beginning, as glmnet has it: wide tables stop earlier."""
    return 1e-2 if X.shape[0] < X.shape[1] else 1e-4


def by_lasso(X, y, seed):
    model = LassoCV(eps=smallest_penalty(X), cv=folds(seed), max_iter=100_000, tol=1e-5)
    return selected(model.fit(X, y).coef_)


def relaxed_path(X, y, penalties):
    """Return lasso and least-squares coefficients at every penalty, two arrays (p, penalties).

    Least squares are on the variables that the lasso has there. Where these are as many as the
    rows they would interpolate, and the lasso's coefficients stay.
    """
    X, y = np.asfortranarray(X - X.mean(axis=0)), y - y.mean()
    gram, products = X.T @ X, X.T @ y
    tall = X.shape[0] >= X.shape[1]
    lasso = lasso_path(
        X, y, alphas=penalties, precompute=gram if tall else False, max_iter=100_000, tol=1e-5
    )[1]
    squares = lasso.copy()
    before, found = None, None
    for place, coef in enumerate(lasso.T):
        active = np.flatnonzero(coef)
        if active.size == 0 or active.size > X.shape[0] - 2:
            continue
        if not np.array_equal(active, before):
            before = active
            found = solve(gram[np.ix_(active, active)], products[active], assume_a="pos")
        squares[active, place] = found
    return lasso, squares


def relaxed_lasso(X, y, cv):
    """Return ``g * lasso + (1 - g) * least squares``, penalty and g chosen by cross-validation."""
    centred = X - X.mean(axis=0)
    largest = np.abs(centred.T @ (y - y.mean())).max() / len(y)
    penalties = np.geomspace(largest, smallest_penalty(X) * largest, PENALTIES)
    errors = np.zeros((len(RELAXATIONS), len(penalties)))
    for train, test in cv.split(X):
        lasso, squares = relaxed_path(X[train], y[train], penalties)
        held_out, target = X[test] - X[train].mean(axis=0), y[test] - y[train].mean()
        by_lasso, by_squares = held_out @ lasso, held_out @ squares
        for row, g in enumerate(RELAXATIONS):
            residuals = target[:, None] - g * by_lasso - (1 - g) * by_squares
            errors[row] += (residuals**2).sum(axis=0)
    row, place = np.unravel_index(errors.argmin(), errors.shape)
    lasso, squares = relaxed_path(X, y, penalties)
    g = RELAXATIONS[row]
    return g * lasso[:, place] + (1 - g) * squares[:, place]


def by_relaxed_lasso(X, y, seed):
    return selected(relaxed_lasso(X, y, folds(seed)))


def by_stepwise(X, y, seed):
    return selected(forward_stepwise(X, y, folds(seed)))


def by_l0learn(X, y, seed):
    """L0Learn's engine with l0 and l2, and the defaults of its R package: ten ridges, CD.

    On some tables it reads memory that is not its own and may die, with some folds and not with
    others: it has a process of its own, and if that dies, other folds. (Workers of Dask need
    --no-nanny to be allowed one.)
    """
    for attempt in range(20):
        with ProcessPoolExecutor(1, mp_context=get_context("fork")) as pool:
            try:
                return pool.submit(_l0learn, X, y, seed + 10_000 * attempt).result()
            except BrokenProcessPool:
                pass
    raise RuntimeError("fastsparsegams died twenty times on the same table.")


def _l0learn(X, y, seed):
    import fastsparsegams

    found = fastsparsegams.cvfit(
        np.asfortranarray(X),
        y,
        loss="SquaredError",
        penalty="L0L2",
        num_gamma=10,
        num_folds=10,
        seed=seed + 1,
    )
    gamma = int(np.argmin([errors.min() for errors in found.cv_means]))
    place = int(np.argmin(found.cv_means[gamma]))
    coef = found.coeff(found.lambda_0[gamma][place], found.gamma[gamma], include_intercept=False)
    return selected(np.asarray(coef.todense()).ravel())


def by_abess(X, y, seed):
    import abess

    return selected(abess.LinearRegression(cv=10).fit(X, y).coef_)


def _peer(name):
    try:
        return f"{name} {version(name)}"
    except ModuleNotFoundError:
        return f"{name}, not installed"


METHODS = {
    "EBIC": Method(by_ebic, "L0Regressor()"),
    "CV": Method(by_cv, "L0RegressorCV()"),
    "CV, ridge": Method(by_cv_ridge, "L0RegressorCV(ridge='cv')"),
    "CV, ridge, 1se": Method(by_cv_ridge_1se, "L0RegressorCV(ridge='cv', rule='1se')"),
    "stability": Method(by_stability, "least squares on stability().selected()"),
    "posterior mean": Method(by_posterior, "SpikeSlabRegressor()"),
    "posterior mean, prediction": Method(
        by_posterior_prediction, "SpikeSlabRegressor(scale_prior='prediction')"
    ),
    "horseshoe": Method(by_horseshoe, "HorseshoeRegressor()", max_columns=100),
    "lasso": Method(by_lasso, "LassoCV, ten folds"),
    "relaxed lasso": Method(by_relaxed_lasso, "relaxed lasso, ten folds"),
    "forward stepwise": Method(by_stepwise, "forward stepwise, ten folds"),
    "L0Learn L0L2": Method(by_l0learn, f"cvfit, CD, ten ridges: {_peer('fastsparsegams')}"),
    "abess": Method(by_abess, f"LinearRegression(cv=10): {_peer('abess')}"),
}
# Ours are held against the best of these, cell by cell.
BEST_OF = ("lasso", "relaxed lasso", "L0Learn L0L2")

_warm = set()


def run_trial(seed, setting, kind, rho, snr, number, method):
    """Return what a method makes of a data set, in their measures.

    With d = b - b0: ``risk`` is d' Sigma d / b0' Sigma b0, 1 for the empty model; ``error`` the
    expected squared error on a new row over that of the truth; ``explained`` the proportion of the
    variance of a new row that is explained. Intercepts don't count.
    """
    del seed  # a data set is known by its number
    fit = METHODS[method].fit
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if method not in _warm:  # a first fit has things to import
            small = make_problem("100x10", 2, 0.0, 1.22, 0)
            fit(small.X, small.y, 0)
            _warm.add(method)
        problem = make_problem(setting, kind, rho, snr, number)
        start = time.perf_counter()
        coef, size = fit(problem.X, problem.y, number)
        seconds = time.perf_counter() - start
    off = coef - problem.beta
    excess = float(off @ problem.covariance @ off)
    signal = float(problem.beta @ problem.covariance @ problem.beta)
    return [
        {
            "risk": excess / signal,
            "error": (excess + problem.noise) / problem.noise,
            "explained": 1 - (excess + problem.noise) / (signal + problem.noise),
            "size": size,
            "seconds": seconds,
        }
    ]
