"""Cross-validation with preprocessing, the slow and obvious way: all of it anew in every fold."""

import numpy as np
import pandas as pd

from ellzero import l0_frontier


def impute_and_multiply(train, test, weights):
    """Fill gaps by the means of the training rows; then squares and products of deviations."""

    def make(frame):
        base = frame.fillna(means)
        centred = base - means
        names = list(frame.columns)
        out = dict(base)
        for name in names:
            out[f"{name}^2"] = centred[name] ** 2
        for i, a in enumerate(names):
            for b in names[i + 1 :]:
                out[f"{a}:{b}"] = centred[a] * centred[b]
        return pd.DataFrame(out)

    means = pd.Series(
        {
            name: np.average(train[name].dropna(), weights=weights[train[name].notna().to_numpy()])
            for name in train
        }
    )
    return make(train), make(test)


def error_at(frame, y, weights, splits, lam, max_size):
    """Mean squared error over folds at one price, each fold by the weight of its test rows."""
    total, shares, errors = weights.sum(), [], []
    for train, test in splits:
        X, T = impute_and_multiply(frame.iloc[train], frame.iloc[test], weights[train])
        frontier = l0_frontier(
            X, y[train], max_size=max_size, sample_weight=weights[train], swaps=False
        )
        model = frontier.at(lam=lam * weights[train].sum() / total)
        predicted = T.to_numpy() @ model.coef + model.intercept
        errors.append(np.average((y[test] - predicted) ** 2, weights=weights[test]))
        shares.append(weights[test].sum())
    return np.average(errors, weights=shares)
