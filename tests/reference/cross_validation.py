"""Cross-validation to the letter: split, refit at a given lam, predict."""

import numpy as np

from ellzero import l0_frontier
from reference.sbr import sbr
from reference.subsets import preprocess, solve


def fold_error(X, y, weights, split, lam, *, solver, max_size, intercept=True, forced=()):
    """Return the support that one fold chooses at the lam of all rows, and its test error."""
    train, test = split
    w = np.ones(len(y)) if weights is None else weights
    price = lam * w[train].sum() / w.sum()
    if solver == "frontier":
        frontier = l0_frontier(
            X[train],
            y[train],
            sample_weight=w[train],
            max_size=max_size,
            swaps=False,
            always_include=list(forced),
            fit_intercept=intercept,
        )
        model = frontier.at(lam=price)
        support, coef, constant = model.support.tolist(), model.coef, model.intercept
    else:
        Z, target = preprocess(X[train], y[train], weights=w[train], intercept=intercept)
        support = sbr(Z, target, price, forced=forced)[0]
        A = X[np.ix_(train, support)]
        A = np.column_stack([np.ones(len(train)), A]) if intercept else A
        beta, _ = solve(
            A * np.sqrt(w[train])[:, None], y[train] * np.sqrt(w[train]), range(A.shape[1])
        )
        coef = np.zeros(X.shape[1])
        coef[support] = beta[1:] if intercept else beta
        constant = beta[0] if intercept else 0.0
    return support, np.average((y[test] - X[test] @ coef - constant) ** 2, weights=w[test])
