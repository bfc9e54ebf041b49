"""Small tables with a binary or a count response."""

import numpy as np

LOSSES = ["logistic", "poisson"]


def draw(loss, seed, n=60, p=8, *, effect=1.0, shared=0.6):
    """Return correlated columns and a response that hangs on the first three of them."""
    rng = np.random.default_rng([seed, LOSSES.index(loss)])
    X = rng.normal(size=(n, p)) + shared * rng.normal(size=(n, 1))
    eta = effect * (X[:, 0] - X[:, 1] + 0.5 * X[:, 2])
    if loss == "logistic":
        y = (rng.random(n) < 1 / (1 + np.exp(-eta))).astype(float)
        if y.min() == y.max():
            y[0] = 1 - y[0]
        return X, y
    y = rng.poisson(np.exp(0.5 * eta + 0.3)).astype(float)
    if not y.any():
        y[0] = 1.0
    return X, y
