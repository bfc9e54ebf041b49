"""Flat terms and scales of slabs: enumeration against sums to the letter."""

import contextlib

import numpy as np
from reference.flat_terms import flat_posterior

from ellzero import SpikeSlabRegressor
from fuzz.posteriors import small_table

# A Gram matrix knows the square of what is left of a column to rounding of the column's own.
_NEAR = 1e-2


def check_flat(rng):
    """Inclusion probabilities, means, masses and evidence beside one or two flat columns."""
    table, Z, y, norms, weight = small_table(rng, 5)
    p = Z.shape[1]
    if p < 2:
        return
    slab = ["gaussian", "zellner", "boom"][rng.integers(3)]
    flat = np.sort(rng.permutation(p)[: rng.integers(1, min(p, 3))])
    free = np.setdiff1d(np.arange(p), flat)
    F = Z[:, flat]
    if np.linalg.eigvalsh(F.T @ F).min() < _NEAR:
        return
    left = Z[:, free] - F @ np.linalg.lstsq(F, Z[:, free], rcond=None)[0]
    shares = np.linalg.norm(left, axis=0)
    if (shares < _NEAR).any():
        return
    if slab == "zellner" and np.linalg.eigvalsh(left.T @ left).min() < 1e-6 * shares.max() ** 2:
        return
    residuals = y - F @ np.linalg.lstsq(F, y, rcond=None)[0]
    total, degrees = float(residuals @ residuals), weight - table.intercept
    nothing = degrees - flat.size < 1 or total < 1e-12 * float(y @ y)
    sigma_e = np.sqrt(max(total, 1e-20 * float(y @ y)) / degrees) * 10 ** rng.uniform(-1.5, 0.5)
    sigma_beta = sigma_e * 10 ** rng.uniform(-1, 2)
    scale = 10 ** rng.uniform(-1, 1, p) if rng.random() < 0.6 else np.ones(p)
    theta = rng.uniform(0.02, 0.98, p)
    settings = {"slab": slab, "theta": theta, "sigma_e": sigma_e, "n_draws": 5, "random_state": 0}
    if slab == "gaussian":
        settings |= {"sigma_beta": sigma_beta, "slab_scale": scale}
    model = SpikeSlabRegressor(
        flat=flat.tolist(), solver="enumerate", fit_intercept=table.intercept, **settings
    )
    if nothing:
        with contextlib.suppress(ValueError):
            model.fit(table.X, table.y, table.weights)
        return
    model.fit(table.X, table.y, table.weights)

    def precision(Z, support, tau):
        gram = left[:, support].T @ left[:, support]
        if slab == "gaussian":
            return tau * np.diag(scale[free][support] ** -2.0)
        if slab == "zellner":
            return gram / weight
        return 0.01 / weight * 0.5 * (gram + np.diag(np.diag(gram)))

    more = degrees - len(y) + (table.intercept and slab == "boom")
    inclusion, mean, sd, masses, log_evidence = flat_posterior(
        F,
        Z[:, free],
        y,
        precision=precision,
        grid=[((sigma_e / sigma_beta) ** 2, np.array([sigma_e**2]), np.zeros(1))],
        theta=theta[free],
        more=more,
    )
    what = f"slab {slab}, flat {flat}, scale {scale}"
    found = model.inclusion_probabilities_
    assert np.abs(found[free] - inclusion).max() < 1e-6, f"{what}: {found}, not {inclusion}"
    assert (found[flat] == 1).all(), what
    order = np.concatenate([flat, free])
    size = np.abs(mean).max() + sd.max()
    assert np.abs((model.coef_ * norms)[order] - mean).max() < 1e-5 * size, what
    deviations = (model.coef_sd_ * norms)[free]
    assert np.abs(deviations - sd[flat.size :]).max() < 1e-4 * size, what
    assert abs(model.log_evidence_ - log_evidence) < 1e-5 * (1 + abs(log_evidence)), what
    for variables, mass in zip(model.models_["variables"], model.models_["mass"], strict=True):
        places = [int(name[1:]) for name in variables]
        support = tuple(int(j) for j in np.searchsorted(free, np.setdiff1d(places, flat)))
        assert abs(mass - masses[support]) < 1e-6, f"{what}: mass {mass} of {variables}"
