"""Parts of posterior_quality.py: the evidence of chains, rows left out, prediction by one model."""

import time

import numpy as np
from scipy import stats
from scipy.special import logsumexp

from ellzero import SpikeSlabRegressor

KINDS = {
    "gaussian": {},
    "gaussian, given": {"sigma_e": 1.0, "sigma_beta": 8.0},
    "zellner-siow": {"scale_prior": "zellner-siow"},
    "zellner": {"slab": "zellner"},
    "boom": {"slab": "boom"},
    "groups": {"feature_groups": {"pair": [0, 1], "other": [2, 3, 4]}},
    "tempered": {"solver": "tempered"},
    "20 columns": {"slab": "zellner", "theta": 0.5},
}


def make_problem(n, p, seed):
    """Correlated columns, some of which matter a little or more."""
    rng = np.random.default_rng(seed)
    rho = rng.choice([0.0, 0.5, 0.9])
    X = rng.standard_normal((n, p))
    for j in range(1, p):
        X[:, j] = rho * X[:, j - 1] + np.sqrt(1 - rho**2) * X[:, j]
    beta = np.zeros(p)
    inside = rng.choice(p, size=rng.integers(0, 5), replace=False)
    beta[inside] = rng.choice([0.2, 0.4, 1.0], size=inside.size)
    return X, X @ beta + rng.standard_normal(n), beta


def evidence(priors, first, count):
    """log p(y) from chains, against all models."""
    print("Evidence of chains: errors (log p(y) less the exact one), over what they say they are")
    print("Asked: a root mean square of z near 1, none above 4\n")
    rows = []
    for name, settings in KINDS.items():
        errors, claimed, seconds = [], [], []
        for seed in range(first, first + count):
            X, y, _ = make_problem(60, 20 if name == "20 columns" else 12, seed)
            exact = SpikeSlabRegressor(**{**settings, "solver": "enumerate"}, n_draws=10).fit(X, y)
            chains = {"solver": "gibbs", **settings, "random_state": seed}
            model = SpikeSlabRegressor(**chains).fit(X, y)
            begin = time.process_time()
            errors.append(model.log_evidence_ - exact.log_evidence_)
            seconds.append(time.process_time() - begin)
            claimed.append(model.log_evidence_error_)
        z = np.array(errors) / claimed
        rows.append([
            name,
            f"{np.sqrt(np.mean(np.square(errors))):.4f}",
            f"{np.mean(claimed):.4f}",
            f"{np.mean(z):.2f}",
            f"{np.sqrt(np.mean(z**2)):.2f}",
            f"{np.abs(z).max():.1f}",
            f"{np.median(seconds):.2f}",
        ])  # fmt: skip
    heads = ["kind", "rms error", "claimed", "mean z", "rms z", "greatest |z|", "CPU s"]
    return heads, rows


def left_out(priors, first, count):
    """Rows left out by importance weights, against fits without each row."""
    import arviz

    print("Leave-one-out: elpd by arviz.loo less that of 40 fits, its share of the standard error")
    print("Asked: below .2 of a standard error; k above .7 is what ArviZ warns of\n")
    rows = []
    for name in ("gaussian", "zellner", "groups"):
        off, shapes, shares = [], [], []
        for seed in range(first, first + count):
            X, y, _ = make_problem(40, 8, seed)
            model = SpikeSlabRegressor(**KINDS[name], random_state=seed).fit(X, y)
            found = arviz.loo(model.to_arviz(X, y), pointwise=True)
            exact = 0.0
            for i in range(len(y)):
                others = np.arange(len(y)) != i
                settings = {**KINDS[name], "random_state": i}
                fit = SpikeSlabRegressor(**settings).fit(X[others], y[others])
                coef, at_zero, sd = fit._predictive_draws()
                density = stats.norm.logpdf(y[i], coef @ X[i] + at_zero, sd)
                exact += logsumexp(density) - np.log(density.size)
            new = hasattr(found, "elpd")
            off.append(float(found.elpd if new else found.elpd_loo) - exact)
            shares.append(abs(off[-1]) / float(found.se))
            shapes.append(float(np.max(found.pareto_k)))
        rows.append([
            name,
            f"{np.mean(off):.3f}",
            f"{np.abs(off).max():.3f}",
            f"{np.max(shares):.3f}",
            f"{np.max(shapes):.2f}",
            f"{np.mean(np.array(shapes) > 0.7):.2f}",
        ])  # fmt: skip
    heads = ["kind", "mean", "greatest", "in standard errors", "greatest k", "share with k > .7"]
    return heads, rows


def one_model(priors, first, count):
    """Prediction by the average, the most probable and the median model."""
    print("One model: error in the mean of new rows over that of the average; coverage of 90%")
    print("Asked: the average no worse than either, its coverage .9\n")
    rows = []
    for n, p in ((40, 12), (100, 12), (60, 100)):
        errors, covered = {}, {}
        for seed in range(first, first + count):
            X, y, beta = make_problem(n + 200, p, seed)
            model = SpikeSlabRegressor(random_state=seed).fit(X[:n], y[:n])
            new, truth = X[n:], X[n:] @ beta
            for name in ("average", "best", "median"):
                mean = model.predict(new, model=name)
                low, high = model.predict_interval(new, level=0.9, model=name)
                errors.setdefault(name, []).append(np.mean((mean - truth) ** 2))
                covered.setdefault(name, []).append(np.mean((low <= y[n:]) & (y[n:] <= high)))
        base = np.mean(errors["average"])
        cells = [
            f"{np.mean(errors[name]) / base:.2f}, {np.mean(covered[name]):.3f}" for name in errors
        ]
        rows.append([f"{n} x {p}", *cells])
    return ["n x p", "average", "best", "median"], rows
