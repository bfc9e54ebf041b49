"""Posteriors: enumeration against sums to the letter, samplers against enumeration, and sanity."""

import warnings

import numpy as np
from reference.spike_slab import log_inverse_gamma, posterior
from reference.subsets import preprocess
from sklearn.exceptions import ConvergenceWarning

from ellzero import BayesianBridgeRegressor, HorseshoeRegressor, SpikeSlabRegressor
from fuzz import hostile


def log_grid(shape, rate, low, high):
    """Return values and log weights of a rule in the logarithm, around the rate.

    Gregory's, of third order: the trapezoidal rule, made up for at both ends.
    """
    x = np.log(rate) + np.linspace(low, high, 1000)
    steps = np.full(1000, x[1] - x[0])
    ends = np.array([3 / 8, 7 / 6, 23 / 24])
    steps[:3] *= ends
    steps[-3:] *= ends[::-1]
    return np.exp(x), log_inverse_gamma(np.exp(x), shape, rate) + x + np.log(steps)


def small_table(rng, most_columns):
    """Draw a table with a response that is not constant and columns that all count."""
    while True:
        table = hostile.table(rng, most_rows=10, most_columns=most_columns)
        if len(table.y) < 4:
            continue
        Z, y = preprocess(table.X, table.y, weights=table.weights, intercept=table.intercept)
        w = np.ones(len(y)) if table.weights is None else table.weights
        far = np.abs(np.average(table.y, weights=w)) * np.sqrt(w.sum())
        # The reference is not made for columns that are all but constant.
        means = np.abs(np.average(table.X, axis=0, weights=w)) * np.sqrt(w.sum())
        norms = np.linalg.norm(
            (table.X - table.intercept * np.average(table.X, axis=0, weights=w))
            * np.sqrt(w)[:, None],
            axis=0,
        )
        if np.linalg.norm(y) > 1e-6 * far and (norms > 1e-4 * means).all() and w.sum() >= 4:
            return table, Z, y, norms, float(w.sum())


def check_enumeration(rng):
    """Inclusion probabilities, means and standard deviations, by every slab."""
    slab = ["gaussian", "zellner", "boom"][rng.integers(3)]
    learned = ["nothing", "noise", "slab"][rng.integers(3 if slab == "gaussian" else 2)]
    table, Z, y, norms, weight = small_table(rng, 3 if learned != "nothing" else 4)
    if slab == "zellner" and np.linalg.eigvalsh(Z.T @ Z).min() < 1e-6:
        return  # models with columns that depend on each other are left out
    p = Z.shape[1]
    degrees = weight - table.intercept
    total = float(y @ y)
    sigma_e = np.sqrt(total / degrees) * 10 ** rng.uniform(-1.5, 0.5)
    sigma_beta = sigma_e * 10 ** rng.uniform(-2, 3)
    settings = {"slab": slab, "solver": "enumerate", "n_draws": 5, "random_state": 0}
    prior = {}
    scale_prior = "selection"
    if learned == "slab":
        scale_prior = ["selection", "prediction", "zellner-siow"][rng.integers(3)]
        settings["scale_prior"] = scale_prior
    size = p / 2 if scale_prior == "prediction" else p / 4
    if rng.random() < 0.3:
        settings["theta"], prior["beta_prior"] = "learn", (1.0, p / size - 1)
    else:
        settings["theta"] = prior["theta"] = rng.uniform(0.02, 0.98, p)
    s2_grid = [sigma_e**2], [0.0]
    if learned == "noise":
        s2_grid = log_grid(0.005, 0.0025 * total / degrees, -5.0, 60.0)
    else:
        settings["sigma_e"] = sigma_e

    def tau_grid(s2):
        if slab != "gaussian":
            return [1.0], [0.0]
        if scale_prior == "zellner-siow":
            ratios, weights = log_grid(0.5, weight / 2, -6.0, 60.0)
            return 1 / np.minimum(ratios, 1e10), weights  # no member has any weight beyond
        if learned == "slab":
            rate = total / (2 * (size if scale_prior == "prediction" else 1))
            least, most = np.log(s2 / rate) + np.log([1e-10, 1e10])  # where the prior is cut off
            values, weights = log_grid(1.0, rate, max(-6.0, least), min(40.0, most))
            return s2 / values, weights
        return [s2 / sigma_beta**2], [0.0]

    if slab == "gaussian" and learned != "slab":
        settings["sigma_beta"] = sigma_beta
    precision = {
        "gaussian": lambda Z, tau: tau * np.eye(Z.shape[1]),
        "zellner": lambda Z, tau: Z.T @ Z / weight,
        "boom": lambda Z, tau: 0.01 / weight * 0.5 * (Z.T @ Z + np.eye(Z.shape[1])),
    }[slab]
    model = SpikeSlabRegressor(fit_intercept=table.intercept, **settings)
    try:
        model.fit(table.X, table.y, table.weights)
    except ValueError as error:
        if "too far from what the data say" in str(error):
            return
        raise
    inclusion, mean, sd, masses = posterior(
        Z,
        y,
        degrees=weight if slab == "boom" else degrees,
        precision=precision,
        s2_grid=s2_grid,
        tau_grid=tau_grid,
        **prior,
    )
    what = f"slab {slab}, {learned} learned, theta {settings['theta']}"
    found = model.inclusion_probabilities_
    assert np.abs(found - inclusion).max() < 1e-6, f"{what}: inclusion {found}, not {inclusion}"
    size = np.abs(mean).max() + sd.max()
    assert np.abs(model.coef_ * norms - mean).max() < 1e-5 * size, (
        f"{what}: means {model.coef_ * norms}, not {mean}"
    )
    if learned == "nothing" or degrees > 8:
        assert np.abs(model.coef_sd_ * norms - sd).max() < 1e-4 * size, (
            f"{what}: deviations {model.coef_sd_ * norms}, not {sd}"
        )
    for variables, mass in zip(model.models_["variables"], model.models_["mass"], strict=True):
        support = tuple(int(name[1:]) if isinstance(name, str) else name for name in variables)
        assert abs(mass - masses[support]) < 1e-6, f"{what}: mass {mass} of {variables}"


def quiet_fit(model, table):
    """Fit; return whether the chains agreed."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model.fit(table.X, table.y, table.weights)
    return not any(issubclass(entry.category, ConvergenceWarning) for entry in caught)


def check_sampling(rng):
    """Gibbs and tempered Gibbs against enumeration, and a Laplace slab against itself."""
    table, _, y, _, weight = small_table(rng, 5)
    slab = ["gaussian", "zellner", "boom", "laplace"][rng.integers(4)]
    settings = {
        "slab": slab,
        "theta": float(rng.uniform(0.1, 0.7)),
        "fit_intercept": table.intercept,
        "n_draws": 1500,
        "random_state": int(rng.integers(1000)),
    }
    solver = ["gibbs", "tempered"][rng.integers(2)]
    if slab == "gaussian":
        # Learned, they may have two modes that no chain of this length goes between.
        sigma_e = float(np.linalg.norm(y) / np.sqrt(weight) * 10 ** rng.uniform(-1, 0.5))
        settings |= {"sigma_e": sigma_e, "sigma_beta": sigma_e * 10 ** rng.uniform(-1, 2)}
    if slab == "laplace":
        settings["n_draws"] = 100
        one, two = (SpikeSlabRegressor(solver=solver, n_jobs=k, **settings) for k in (1, 2))
        quiet_fit(one, table)
        quiet_fit(two, table)
        for name in ("coef_", "coef_sd_", "inclusion_probabilities_"):
            values = getattr(one, name)
            assert np.isfinite(values).all(), f"{name} is {values}"
            assert values.tobytes() == getattr(two, name).tobytes(), f"{name} by two threads"
        return
    exact = SpikeSlabRegressor(solver="enumerate", **settings)
    chains = SpikeSlabRegressor(solver=solver, **settings)
    quiet_fit(exact, table)
    if not quiet_fit(chains, table):
        return
    errors = chains.diagnostics_["mcse"].to_numpy()[: table.X.shape[1]]
    distance = np.abs(chains.inclusion_probabilities_ - exact.inclusion_probabilities_)
    assert (distance < 6 * np.nan_to_num(errors) + 0.02).all(), (
        f"{solver}, slab {slab}: {chains.inclusion_probabilities_}, exactly "
        f"{exact.inclusion_probabilities_}; Monte Carlo errors {errors}"
    )


def check_scale_mixtures(rng):
    """Bridge and horseshoe: finite, and the same draws again, by any number of threads."""
    table = hostile.table(rng, most_rows=20, most_columns=25)
    kind = [BayesianBridgeRegressor, HorseshoeRegressor][rng.integers(2)]
    settings = {
        "n_draws": 40,
        "n_warmup": 20,
        "n_chains": 2,
        "fit_intercept": table.intercept,
        "random_state": int(rng.integers(1000)),
    }
    one, two = (kind(n_jobs=k, **settings) for k in (1, 2))
    quiet_fit(one, table)
    quiet_fit(two, table)
    p = table.X.shape[1]
    assert one.draws_.coef.shape[-1] == p
    for name in ("coef_", "coef_sd_"):
        values = getattr(one, name)
        assert values.shape == (p,)
        assert np.isfinite(values).all(), f"{kind.__name__}: {name} is {values}"
        assert values.tobytes() == getattr(two, name).tobytes(), f"{name} by two threads"
    assert np.isfinite(one.predict(table.X)).all()
