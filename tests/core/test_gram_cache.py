"""One cache of Gram columns per quadratic, whoever works on it."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from spike_slab_priors import VARIANCES, core_prior, enumerate_all, run_chains

from ellzero import SpikeSlabRegressor, _core
from ellzero._engine import make_design, make_engine
from ellzero.posterior import _results


def problem(seed, n=80, p=12):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p)) @ (np.eye(p) + 0.3 * rng.normal(size=(p, p)))
    return X, X[:, :3].sum(axis=1) + rng.normal(size=n)


def test_engine_climbing_sampler_and_enumeration_share_the_columns():
    design = make_design(*problem(0), None, True, 1)
    engine = make_engine(design, 0.0, 1)
    engine.gram_columns(np.arange(12))
    assert (design.passes, design.columns_made, design.columns_held) == (1, 12, 12)
    prior = core_prior(12, 79, **VARIANCES["gaussian, both learned"])
    make_engine(design, 1.0, 1).sbr(0.1, None, 12, None)
    _core.Frontier(engine, None, True).grow(12, None)
    _core.climb_spike_slab(design, prior, [[]], True, 1)
    run_chains(design, prior, [[], [1, 2]], draws=5, warmup=5, threads=2)
    enumerate_all(design, prior, 10, 0, 2)
    assert (design.passes, design.columns_made, design.columns_held) == (1, 12, 12)


@pytest.mark.parametrize("solver", ["gibbs", "enumerate"])
def test_one_fit_makes_no_column_twice(monkeypatch, solver):
    designs = []

    def remember(*arguments):
        designs.append(make_design(*arguments))
        return designs[-1]

    monkeypatch.setattr(_results, "make_design", remember)
    X, y = problem(1)
    SpikeSlabRegressor(solver=solver, n_warmup=20, n_draws=20, random_state=0).fit(X, y)
    (design,) = designs
    assert 0 < design.columns_made == design.columns_held <= 12


def test_an_engine_that_is_gone_leaves_its_columns_to_the_next():
    design = make_design(*problem(2), None, True, 1)
    first = make_engine(design, 0.0, 1)
    first.move_to(np.arange(6))
    made = design.columns_made
    second = make_engine(design, 0.5, 1)
    second.move_to(np.arange(6))
    first.drop_unused_columns()
    assert design.columns_held >= 6  # those that are in use
    del first
    second.refresh()
    third = make_engine(design, 0.5, 1)
    third.move_to(np.arange(6))
    assert design.columns_made == made
    np.testing.assert_array_equal(second.members, third.members)


@pytest.mark.parametrize("cache_bytes", [1e9, 0.0])
def test_engines_in_several_threads_on_one_quadratic(cache_bytes):
    X, y = problem(3, n=200, p=600)
    expected = make_engine(make_design(X, y, None, True, 1), 0.1, 1)
    expected.sbr(0.5, None, 40, None)
    design = make_design(X, y, None, True, 1, cache_bytes)

    def run(_):
        engine = make_engine(design, 0.1, 1)
        engine.sbr(0.5, None, 40, None)
        return engine

    with ThreadPoolExecutor(4) as pool:
        for engine in pool.map(run, range(8)):
            np.testing.assert_array_equal(engine.members, expected.members)
            np.testing.assert_array_equal(engine.c, expected.c)
