"""Certificates of frontiers and estimators."""

import math
import pickle

import numpy as np
import pytest
from fuzz.proofs import Case
from interrupts import interrupted

from ellzero import L0Regressor, l0_frontier
from ellzero.datasets import load_diabetes_interactions, make_collinear
from ellzero.proof import _checker


@pytest.fixture(scope="module")
def data():
    X, y, _ = make_collinear(80, 30, random_state=0)
    return X, y


def test_at_a_price(data):
    frontier = l0_frontier(*data)
    certificate = frontier.certify(lam=0.3)
    model = frontier.at(lam=0.3)
    assert certificate.proved
    assert certificate.kind == "proof"
    assert certificate.objective == pytest.approx(model.energy + 0.3 * model.support.size)
    assert 0 <= certificate.objective - certificate.bound <= certificate.tolerance
    assert 0 <= certificate.gap < 1e-8
    assert set(certificate.always_in) <= set(model.support.tolist())
    assert not set(certificate.always_out) & set(model.support.tolist())
    assert certificate.sizes_certified == (model.support.size,)
    assert certificate.nodes >= 1
    assert str(certificate).startswith("no support is better: proved with ")
    assert "search" not in certificate.as_sentences()
    assert frontier.last_certificate is certificate


def test_at_a_size_and_at_all_sizes(data):
    frontier = l0_frontier(*data)
    certificate = frontier.certify(size=4)
    assert certificate.proved
    assert certificate.objective == pytest.approx(frontier.energies[4], rel=1e-12)
    assert certificate.sizes_certified == (4,)
    every = frontier.certify(max_size=6)
    assert every.proved
    assert every.sizes_certified == tuple(range(7))
    assert every.objective == pytest.approx(frontier.energies[6], rel=1e-12)


def test_energies_of_diabetes_are_those_of_lmsubsets():
    diabetes = load_diabetes_interactions()
    frontier = l0_frontier(diabetes.data, diabetes.target, max_size=12)
    certificate = frontier.certify(max_size=11, time_limit=math.inf)
    assert certificate.proved
    assert round(frontier.energies[11]) == 580_658


def test_what_is_better_goes_to_the_frontier(data):
    frontier = l0_frontier(*data, swaps=False, max_size=12)
    best = l0_frontier(*data, max_size=12)
    frontier.certify(max_size=8)
    assert frontier.energies[:9] == pytest.approx(best.energies[:9], rel=1e-9)


def test_a_support_that_is_better_takes_its_place():
    X, y, _ = make_collinear(40, 30, n_factors=8, random_state=1)
    frontier = l0_frontier(X, y, swaps=False, max_size=15)
    best = l0_frontier(X, y, max_size=15)
    better = np.flatnonzero(best.energies < frontier.energies * (1 - 1e-9))
    assert better.size
    growing, size = frontier._growing, int(better[0])
    assert not growing.offer(np.arange(30))
    assert not growing.offer(frontier.supports[size])
    assert growing.offer(best.supports[size])
    frontier._read()
    assert frontier.energies[size] == pytest.approx(best.energies[size])
    assert frontier.at(size=size).support.tolist() == best.supports[size].tolist()
    assert frontier.at(size=size).coef == pytest.approx(best.at(size=size).coef)
    frontier.grow(18)
    assert frontier.energies[size] <= best.energies[size] * (1 + 1e-9)
    assert frontier.sizes[-1] == 18


def test_time_limit_gives_what_is_known():
    X, y, _ = make_collinear(120, 100, random_state=0)
    frontier = l0_frontier(X, y, max_size=15)
    lam = frontier.interval(11)[0] * 0.5
    certificate = frontier.certify(lam=lam, time_limit=0.3)
    assert not certificate.proved
    assert certificate.kind == "gap"
    assert 0 < certificate.bound < certificate.objective
    assert 0 < certificate.gap < 1
    assert "stopped after" in str(certificate)
    assert certificate.as_sentences().endswith("So it is not proved.")
    at_once = frontier.certify(lam=lam, time_limit=0)
    assert not at_once.proved
    assert at_once.bound is None
    assert at_once.gap is None


def test_interrupted_it_keeps_what_is_known():
    X, y, _ = make_collinear(120, 100, random_state=0)
    frontier = l0_frontier(X, y, max_size=20)
    lam = frontier.interval(11)[0] * 0.2
    frontier.grow(lam=lam)
    with interrupted():
        frontier.certify(lam=lam, time_limit=math.inf)
    known = frontier.last_certificate
    assert not known.proved
    assert 0 < known.bound < known.objective
    model = L0Regressor(lam, solver="exact", time_limit=math.inf)
    with interrupted():
        model.fit(X, y)
    assert not hasattr(model, "coef_")
    assert frontier.certify(size=2).proved


def test_memory_is_bounded_by_going_depth_first():
    case = Case(np.random.default_rng(11))
    wide, narrow = (case.prove(inflate=0.2, max_nodes_in_memory=n) for n in (10**6, 1))
    assert wide.proved == narrow.proved
    assert wide.objective == pytest.approx(narrow.objective, abs=2 * wide.tolerance)


def test_many_columns_with_a_ridge():
    X, y, _ = make_collinear(150, 400, random_state=0)
    frontier = l0_frontier(X, y, ridge=0.1, max_size=20)
    lam = float(np.sqrt(np.prod(frontier.interval(int(frontier.hull_sizes[6])))))
    for what in ({"lam": lam}, {"size": 4}):
        certificate = frontier.certify(**what, time_limit=math.inf)
        assert certificate.proved
        assert _checker.check(certificate.record.content()).proved


def test_a_gap_is_allowed(data):
    exact = l0_frontier(*data).certify(lam=0.3)
    loose = l0_frontier(*data).certify(lam=0.3, gap=0.05)
    assert loose.proved
    assert loose.nodes <= exact.nodes
    assert loose.tolerance == pytest.approx(0.05 * loose.objective)
    assert loose.objective - loose.bound <= loose.tolerance
    assert "by more than 0.05 of the objective" in str(loose)


def test_more_columns_than_rows():
    X, y, _ = make_collinear(20, 40, random_state=0)
    frontier = l0_frontier(X, y, max_size=5)
    certificate = frontier.certify(lam=1.0)
    assert not certificate.proved
    assert certificate.bound is None
    assert certificate.sizes_certified[:2] == (0, 1)
    assert "no fewer columns than rows and no ridge" in str(certificate)
    assert frontier.certify(size=1).proved
    assert frontier.certify(size=2).proved
    with_ridge = l0_frontier(X, y, max_size=5, ridge=0.1).certify(lam=1.0)
    assert with_ridge.proved


def test_dependent_columns():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 6))
    X = np.column_stack([X, X[:, 0] + X[:, 1], X[:, 2], np.ones(40)])
    y = X @ np.array([1, 1, 0.5, 0, 0, 0, 0, 0, 0]) + 0.1 * rng.normal(size=40)
    certificate = l0_frontier(X, y).certify(lam=0.5)
    assert not certificate.proved
    assert certificate.bound is None
    assert "columns depend on each other too nearly" in str(certificate)
    assert l0_frontier(X, y).certify(size=1).proved
    copies = l0_frontier(X[:, [0, 1, 2, 3, 4, 5, 7, 8]], y).certify(lam=0.5)
    assert copies.proved
    assert "ridge" not in str(copies)
    assert 2 not in copies.always_in  # its copy would do as well
    assert 6 not in copies.always_out
    assert 7 in copies.always_out


def test_a_difference_that_products_hardly_show_is_not_proved_away():
    rng = np.random.default_rng(0)
    x, z = rng.normal(size=(2, 40))
    y = z + 0.1 * rng.normal(size=40)
    frontier = l0_frontier(np.column_stack([x, x + 1e-7 * z]), y)
    certificate = frontier.certify(lam=0.1)
    assert not certificate.proved
    assert certificate.bound is None
    assert not certificate.always_out
    assert not certificate.sizes_certified


def test_what_depends_too_nearly_is_not_proved():
    """Products of columns say nothing of coefficients of a million."""
    rng = np.random.default_rng(0)
    proved = 0
    for _ in range(30):
        X = rng.normal(size=(7, 4))
        X = np.column_stack([X, X[:, 0] + 10 ** rng.uniform(-8, -5) * rng.normal(size=7)])
        y = X[:, :4] @ rng.normal(size=4) + rng.normal(size=7)
        model = L0Regressor(0.01, solver="exact").fit(X, y)
        certificate = model.certificate_
        assert certificate.objective == model.objective_
        if certificate.proved:
            proved += 1
            assert certificate.objective - certificate.bound <= certificate.tolerance
    assert proved


@pytest.mark.parametrize(
    "settings",
    [
        {"lam": 0.3},
        {"lam": math.inf},
        {"lam": 0.3, "ridge": 0.1},
        {"lam": 0.3, "always_include": [5, 7]},
        {"size": 3},
        {"max_size": 5, "lam": "ric"},
    ],
    ids=str,
)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_estimators(data, settings):
    exact = L0Regressor(solver="exact", **settings).fit(*data)
    frontier = L0Regressor(**settings).fit(*data)
    assert exact.objective_ == pytest.approx(frontier.objective_)
    certificate = exact.certificate_
    assert certificate.proved
    assert certificate.objective == exact.objective_
    assert certificate.bound <= exact.objective_ <= certificate.bound + certificate.tolerance * 2
    assert pickle.loads(pickle.dumps(exact)).certificate_ == certificate


def test_constant_response_and_no_columns_that_vary(data):
    X, _ = data
    for design in (X, np.ones_like(X)):
        certificate = l0_frontier(design, np.ones(len(X))).certify(lam=1.0)
        assert (certificate.objective, certificate.gap) == (0.0, 0.0)
        assert certificate.proved


def test_arguments(data):
    frontier = l0_frontier(*data, max_size=3)
    with pytest.raises(ValueError, match="just one of size, lam and max_size"):
        frontier.certify()
    with pytest.raises(ValueError, match="is not one of the sizes known"):
        frontier.certify(size=9)
    with pytest.raises(ValueError, match="time_limit"):
        frontier.certify(size=2, time_limit=-1)
    with pytest.raises(ValueError, match="has no data"):
        pickle.loads(pickle.dumps(frontier)).certify(size=2)
    with pytest.raises(ValueError, match="Only a proof can be saved"):
        L0Regressor().fit(*data).certificate_.save("nowhere.json")
