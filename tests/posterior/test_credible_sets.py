"""Sets of columns that stand in for each other, against a table of all models and all columns."""

import numpy as np
import pytest

from ellzero.posterior._models import Models, credible_sets


def obvious(models, inclusion, level, n_draws):
    inside = np.zeros((len(models.supports), len(inclusion)), dtype=bool)
    for row, support in enumerate(models.supports):
        inside[row, support] = True
    mass = models.mass / models.mass.sum()
    taken, found = set(), []
    for first in np.argsort(-inclusion, kind="stable"):
        if inclusion[first] < 0.02:
            break
        if first in taken:
            continue
        members, covered = [int(first)], inside[:, first].copy()
        while mass @ covered < level:
            outside = mass[~covered].sum()
            shares = [(mass * ~covered) @ inside[:, j] for j in range(len(inclusion))]
            free = [j for j in range(len(inclusion)) if j not in taken and j not in members]
            if not free:
                break
            best = max(free, key=lambda j: (shares[j], -j))
            out, among = shares[best] / outside, (mass * covered) @ inside[:, best] / (1 - outside)
            if not (out > 2 * among and out - among > 3 * np.sqrt(out / (n_draws * outside))):
                break
            members.append(best)
            covered |= inside[:, best]
        if mass @ covered >= level:
            taken |= set(members)
            found.append(sorted(members, key=lambda j: -inclusion[j]))
    return found


@pytest.mark.parametrize("seed", range(8))
def test_the_same_sets_as_from_the_whole_table(seed):
    rng = np.random.default_rng(seed)
    twins = [(0, 1), (2, 3, 4), (5,)]
    supports = {
        tuple(sorted({int(rng.choice(group)) for group in twins} | set(rng.choice(9, 1) + 6)))
        for _ in range(60)
    }
    models = Models(
        [np.array(s, dtype=np.int64) for s in sorted(supports)], rng.dirichlet([1] * len(supports))
    )
    inclusion = np.array(
        [sum(m for s, m in zip(*models, strict=True) if j in s) for j in range(20)]
    )
    found = [columns.tolist() for columns, _ in credible_sets(models, inclusion, 0.95, 4000)]
    assert found == obvious(models, inclusion, 0.95, 4000)
    assert [0, 1] in [sorted(columns) for columns in found]


def test_few_models_of_very_many_columns():
    p = 30_000_000  # a table of these would not fit into memory
    models = Models([np.array([5, p - 1]), np.array([5])], np.array([0.6, 0.4]))
    inclusion = np.zeros(p)
    inclusion[[5, p - 1]] = [1.0, 0.6]
    ((columns, probability),) = credible_sets(models, inclusion, 0.95, 4000)
    assert (columns.tolist(), probability) == ([5], 1.0)
