"""Forward stepwise selection, literally: every candidate is fitted by least squares."""

import numpy as np


def fit(X, y, support):
    """Return the coefficients, the intercept and the residual sum of squares of a support."""
    table = np.column_stack([np.ones(len(y)), X[:, support]])
    solution = np.linalg.lstsq(table, y, rcond=None)[0]
    coef = np.zeros(X.shape[1])
    coef[support] = solution[1:]
    return coef, solution[0], ((y - table @ solution) ** 2).sum()


def grow(X, y, max_size):
    """Return the supports of every size from 0."""
    supports = [[]]
    for _ in range(max_size):
        left = [j for j in range(X.shape[1]) if j not in supports[-1]]
        supports.append([*supports[-1], min(left, key=lambda j: fit(X, y, [*supports[-1], j])[2])])
    return supports


def forward_stepwise(X, y, cv, max_size):
    """Return the coefficients of the size with the least error on rows held out."""
    errors = np.zeros(max_size + 1)
    for train, test in cv.split(X):
        for size, support in enumerate(grow(X[train], y[train], max_size)):
            coef, intercept, _ = fit(X[train], y[train], support)
            errors[size] += ((y[test] - intercept - X[test] @ coef) ** 2).sum()
    size = int(errors.argmin())
    return fit(X, y, grow(X, y, size)[size])[0]
