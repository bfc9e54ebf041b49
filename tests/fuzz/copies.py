"""Pickles, copies and clones."""

import copy
import pickle

import numpy as np
from sklearn.base import clone

from ellzero import (
    HorseshoeRegressor,
    L0Regressor,
    L0RegressorCV,
    SpikeSlabRegressor,
    l0_frontier,
    segment,
    segment_path,
)
from fuzz import hostile


def check_copies(rng):
    """A copy predicts the same bits, and a clone fits to the same bits."""
    table = hostile.table(rng, most_rows=20, most_columns=10, plain=True)
    few = {"n_draws": 20, "n_warmup": 10, "n_chains": 2, "random_state": 0}
    lam = 0.05 * float(np.var(table.y)) + 1e-3
    models = [
        L0Regressor(lam=lam),
        L0RegressorCV(cv=2, max_size=3),
        SpikeSlabRegressor(**few),
        SpikeSlabRegressor(solver="gibbs", slab="laplace", **few),
        HorseshoeRegressor(**few),
    ]
    model = models[rng.integers(len(models))]
    model.fit(table.X, table.y)
    expected = model.predict(table.X).tobytes()
    for other in (pickle.loads(pickle.dumps(model)), copy.deepcopy(model), copy.copy(model)):
        assert other.predict(table.X).tobytes() == expected, f"a copy of {model}"
        assert other.summary().equals(model.summary()), f"a copy of {model}"
    again = clone(model).fit(table.X, table.y)
    assert again.predict(table.X).tobytes() == expected, f"a clone of {model}"

    frontier = l0_frontier(table.X, table.y, ridge=table.ridge)
    for other in (pickle.loads(pickle.dumps(frontier)), copy.deepcopy(frontier)):
        assert other.to_frame().equals(frontier.to_frame())
        size = int(frontier.sizes[-1])
        assert other.at(size=size).coef.tobytes() == frontier.at(size=size).coef.tobytes()
    assert frontier.grow(lam=0.0).sizes[-1] >= size  # the original still has its data
    for found in (segment(table.y, lam), segment_path(table.y, lam).at(lam=lam)):
        assert pickle.loads(pickle.dumps(found)).signal.tobytes() == found.signal.tobytes()
