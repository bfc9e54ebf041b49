"""Every kind of slab with a marginal likelihood, and what its documentation says of variances."""

import numpy as np
import pandas as pd
from reference.marginal_likelihood import joint_grid

# What is learned of the Gaussian slab's variances, and how
KINDS = {
    "given": {"sigma_e": 1.3, "sigma_beta": 6.0},
    "noise learned": {"sigma_beta": 6.0},
    "slab learned": {"sigma_e": 1.3},
    "both learned": {},
    "relative": {"scale_prior": "zellner-siow"},
    "relative, noise given": {"scale_prior": "zellner-siow", "sigma_e": 1.3},
    "zellner": {"slab": "zellner", "g": 30.0},
    "zellner, given": {"slab": "zellner", "sigma_e": 1.3},
    "boom": {"slab": "boom"},
    "boom, given": {"slab": "boom", "sigma_e": 1.3},
}


def make_data(n=40, p=5, seed=0, noise=1.3):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, p))
    X[:, 1] = 0.8 * X[:, 0] + 0.6 * X[:, 1]
    y = X[:, 0] - 0.5 * X[:, 2] + noise * rng.standard_normal(n)
    return pd.DataFrame(X, columns=list("abcdefghijkl"[:p])), y + 3


def slab_shape(Z, kind, n):
    """Return the slab's covariance over its variance, or over s2 where it has none."""
    gram = Z.T @ Z
    if kind.startswith("zellner"):
        return (30.0 if kind == "zellner" else n) * np.linalg.inv(gram)
    if kind.startswith("boom"):
        return np.linalg.inv(0.01 / n * (gram / 2 + np.diag(np.diag(gram)) / 2))
    return np.eye(Z.shape[1])


def variances(kind, y, count=400):
    """Return the grid of variances that a prior's documentation says."""
    n, total = len(y), float(np.sum((y - y.mean()) ** 2))
    settings = KINDS[kind]
    noise = settings["sigma_e"] ** 2 if "sigma_e" in settings else (0.005, 0.0025 * total / (n - 1))
    if "slab" in settings:
        return joint_grid(noise, 1.0, slab=False, count=2000)
    if "scale_prior" in settings:
        return joint_grid(noise, (0.5, n / 2), relative=True, count=count)
    spread = settings["sigma_beta"] ** 2 if "sigma_beta" in settings else (1.0, total / 2)
    return joint_grid(noise, spread, count=count)
