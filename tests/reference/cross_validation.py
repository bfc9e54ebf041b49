"""Cross-validation to the letter: split, refit at a given lam, predict."""

import numpy as np
from sklearn.model_selection import KFold

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


def repeated_splits(n_folds, n_repeats, random_state, n_rows):
    """Return shuffled folds, one repeat after the other, all from one stream of random numbers."""
    stream = np.random.RandomState(random_state)
    rows = np.zeros(n_rows)
    return [
        list(KFold(n_folds, shuffle=True, random_state=stream).split(rows))
        for _ in range(n_repeats)
    ]


def repeated_error(X, y, weights, repeats, lam, **how):
    """Return the mean error at one lam, its standard error, the mean size, and all folds' errors.

    Folds count by the weight of their test rows, those that have none not at all. The standard
    error is that of one repeat, in the mean.
    """
    w = np.ones(len(y)) if weights is None else weights
    means, spreads, sizes, every = [], [], [], []
    for splits in repeats:
        splits = [split for split in splits if w[split[1]].any()]
        found = [fold_error(X, y, weights, split, lam, **how) for split in splits]
        errors = np.array([error for _, error in found])
        share = np.array([w[test].sum() for _, test in splits])
        mean = np.average(errors, weights=share)
        means.append(mean)
        variance = np.average((errors - mean) ** 2, weights=share)
        spreads.append(np.sqrt(variance / (len(errors) - 1)))
        sizes.append(np.average([len(support) for support, _ in found], weights=share))
        every += errors.tolist()
    return np.mean(means), np.mean(spreads), np.mean(sizes), every


def best_factor(repeats, nothing, factors, cautiously):
    """Return the factor that saves most on one interval, or most but for luck; the first of equals.

    ``repeats`` are lists of (error, along, square, weight), one for each fold; ``nothing`` the
    errors that savings are counted from, by repeat and fold.
    """
    values = []
    for factor in factors:
        means, spreads = [], []
        for folds, bases in zip(repeats, nothing, strict=True):
            m = factor - 1
            saved = np.array(
                [
                    base - (error - 2 * m * along + m**2 * square)
                    for (error, along, square, _), base in zip(folds, bases, strict=True)
                ]
            )
            weights = np.array([fold[3] for fold in folds])
            mean = np.average(saved, weights=weights)
            variance = np.average((saved - mean) ** 2, weights=weights)
            means.append(mean)
            spreads.append(np.sqrt(variance / (len(folds) - 1)) if len(folds) > 1 else 0.0)
        saved, spread = np.mean(means), np.mean(spreads)
        luck = 0.0
        if cautiously and spread > 0:
            luck = spread**2 / saved if saved > 0 else np.inf
        values.append(luck - saved)
    close = 1e-12 * max(np.abs(base) for bases in nothing for base in bases)
    return next(f for f, value in zip(factors, values, strict=True) if value <= min(values) + close)
