"""l0_frontier of likelihoods against refits of all subsets."""

import copy
import pickle

import numpy as np
import pandas as pd
import pytest
from likelihood_tables import LOSSES, draw
from reference import hull
from reference.likelihood import (
    all_energies,
    best_subsets,
    criterion,
    evidence,
    nll,
    refit,
    standardise,
)
from scipy import sparse

from ellzero import l0_frontier

P = 7


class Case:
    """A table, its frontier and the energies of all subsets."""

    def __init__(self, loss, seed, *, ridge=0.02, weighted=False, intercept=True, forced=()):
        self.loss, self.ridge = loss, ridge
        self.X, self.y = draw(loss, seed, n=40, p=P)
        if not intercept:
            self.X = self.X + 0.3
        rng = np.random.default_rng(seed)
        self.weights = rng.integers(0, 4, len(self.y)).astype(float) if weighted else None
        self.Z = standardise(self.X, self.weights, intercept)
        self.how = {"ridge": ridge, "weights": self.weights, "intercept": intercept}
        self.frontier = l0_frontier(
            self.X,
            self.y,
            loss=loss,
            ridge=ridge,
            sample_weight=self.weights,
            fit_intercept=intercept,
            always_include=list(forced),
        )
        self.energies = all_energies(loss, self.Z, self.y, forced, **self.how)

    def refit(self, support):
        return refit(self.loss, self.Z, self.y, support, **self.how)


@pytest.fixture(scope="module", params=LOSSES)
def case(request):
    return Case(request.param, 1)


OPTIONS = [
    {},
    {"ridge": 0.0},
    {"weighted": True},
    {"intercept": False},
    {"forced": (2, 5)},
    {"weighted": True, "intercept": False, "ridge": 0.5, "forced": (1,)},
]


@pytest.mark.parametrize("options", OPTIONS, ids=str)
@pytest.mark.parametrize("loss", LOSSES)
def test_the_models_are_refits_and_none_beats_the_best_subset(loss, options):
    case = Case(loss, 11, **options)
    frontier = case.frontier
    best = [value for value, _ in best_subsets(case.energies)]
    assert frontier.sizes.tolist() == list(range(len(options.get("forced", ())), P + 1))
    for size, support, energy, least in zip(
        frontier.sizes.tolist(), frontier.supports, frontier.energies, best, strict=True
    ):
        assert energy == pytest.approx(case.energies[tuple(support.tolist())], rel=1e-8)
        assert energy >= least * (1 - 1e-9)
        model, fit = frontier.at(size=size), case.refit(support)
        eta = case.X @ model.coef + model.intercept
        np.testing.assert_allclose(eta, fit.eta, rtol=1e-7, atol=1e-7)
        assert np.flatnonzero(model.coef).tolist() == support.tolist() == model.support.tolist()
        assert model.energy == energy
        assert 0.5 * model.rss == pytest.approx(fit.nll, rel=1e-6)
        assert 0.5 * model.rss == pytest.approx(nll(loss, eta, case.y, case.weights), rel=1e-8)
        n = len(case.y) if case.weights is None else case.weights.sum()
        np.testing.assert_allclose(model.standardised, fit.beta / np.sqrt(n), atol=1e-7)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("shared", [0.0, 1.5], ids=["independent", "collinear"])
def test_the_best_of_all_subsets_in_nearly_all_cases(loss, shared):
    found = []
    for seed in range(100, 110):
        X, y = draw(loss, seed, n=40, p=P, shared=shared)
        energies = all_energies(loss, standardise(X), y, ridge=0.01)
        best = np.array([value for value, _ in best_subsets(energies)])
        frontier = l0_frontier(X, y, loss=loss, ridge=0.01)
        assert (frontier.energies >= best * (1 - 1e-9)).all()
        found.append(frontier.energies <= best * (1 + 1e-8))
    assert np.mean(found) >= 0.95


def test_intervals_are_those_of_every_pair_of_sizes(case):
    frontier = case.frontier
    for size in frontier.sizes.tolist():
        expected = hull.interval(frontier.sizes.tolist(), frontier.energies, size)
        claimed = frontier.interval(size)
        assert (claimed is None) == (expected is None)
        if expected is not None:
            assert claimed == pytest.approx(expected, rel=1e-9)
            assert frontier.at(lam=claimed[0] * 1.0001 + 1e-12).size == size


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("options", [{}, {"weighted": True, "forced": (2, 5)}], ids=str)
def test_criteria(loss, options):
    case = Case(loss, 4, **options)
    w = np.ones(len(case.y)) if case.weights is None else case.weights
    m, f = evidence(loss, case.y, w), len(options.get("forced", ()))
    table = case.frontier.to_frame()
    for name in ("bic", "ebic", "ric"):
        expected = [
            criterion(name, case.refit(support).nll, k, w.sum(), P, m, f)
            for k, support in zip(case.frontier.sizes, case.frontier.supports, strict=True)
        ]
        np.testing.assert_allclose(case.frontier.criterion(name), expected, rtol=1e-6)
        np.testing.assert_allclose(table[name], expected, rtol=1e-6)
        assert case.frontier.at(criterion=name).size == case.frontier.sizes[np.argmin(expected)]
    nothing = case.refit(()).nll
    explained = [1 - case.refit(support).nll / nothing for support in case.frontier.supports]
    # The energy is at its minimum; the likelihood alone is not, and shows how far the fit is off.
    np.testing.assert_allclose(table["d2"], explained, atol=1e-6)


def test_costs_of_removal_are_those_of_refits(case):
    for size in (2, 4, P):
        model = case.frontier.at(size=size)
        for j, cost in zip(model.support, model.removal_cost, strict=True):
            without = tuple(k for k in model.support.tolist() if k != j)
            assert cost == pytest.approx(case.energies[without] - model.energy, rel=1e-4)


def columns_of(names):
    return [int(name.removeprefix("x")) for name in names if name]


def test_neighbours_are_refits_and_all_of_them(case):
    frontier, size, lam, within = case.frontier, 3, 0.8, 1.3
    here = set(frontier.supports[size].tolist())
    base = case.energies[tuple(sorted(here))]
    outside = set(range(P)) - here
    others = [here | {j} for j in outside] + [here - {j} for j in here]
    others += [here - {j} | {k} for j in here for k in outside]
    expected = {}
    for other in others:
        loss = case.energies[tuple(sorted(other))] - base + lam * (len(other) - size)
        if loss <= within:
            expected[tuple(sorted(other))] = loss
    found = {}
    for row in frontier.neighbours(size, within, lam=lam).itertuples():
        other = here - set(columns_of([row.leaves])) | set(columns_of([row.enters]))
        found[tuple(sorted(other))] = row.loss
        assert row.energy == pytest.approx(case.energies[tuple(sorted(other))], rel=1e-8)
    assert 2 < len(expected) < len(others)
    assert found == pytest.approx(expected, abs=1e-6)


def test_stand_ins_are_refits_and_the_best(case):
    here = case.frontier.supports[3].tolist()
    base = case.energies[tuple(here)]
    table = case.frontier.stand_ins(3, count=2)
    assert len(table) == 6
    Z = case.Z
    for member in here:
        rises = sorted(
            (case.energies[tuple(sorted([*set(here) - {member}, j]))] - base, j)
            for j in range(P)
            if j not in here
        )
        rows = table[table["leaves"] == f"x{member}"]
        np.testing.assert_allclose(rows["rise"], [rise for rise, _ in rises[:2]], atol=1e-6)
        assert columns_of(rows["enters"]) == [j for _, j in rises[:2]]
        expected = [Z[:, member] @ Z[:, j] for _, j in rises[:2]]
        np.testing.assert_allclose(rows["correlation"], expected, atol=1e-9)


@pytest.mark.parametrize("loss", LOSSES)
def test_growing_comes_to_what_one_search_finds(loss):
    X, y = draw(loss, 7, n=80, p=15)
    frontier = l0_frontier(X, y, loss=loss, max_size=3)
    before = frontier.energies.copy()
    assert frontier.grow(9) is frontier
    assert frontier.sizes[-1] == 9
    assert (frontier.energies[:4] <= before * (1 + 1e-9)).all()
    whole = l0_frontier(X, y, loss=loss, max_size=9)
    np.testing.assert_allclose(frontier.energies, whole.energies, rtol=1e-3)
    lam = float(frontier.lambdas[-1]) / 3
    with pytest.raises(ValueError, match=r"grow\(lam=.*\) first"):
        frontier.at(lam=lam)
    model = frontier.grow(lam=lam).at(lam=lam)
    assert model.energy + lam * model.size == (frontier.energies + lam * frontier.sizes).min()


@pytest.mark.parametrize("loss", LOSSES)
def test_swaps_never_hurt(loss):
    for seed in range(5):
        X, y = draw(loss, seed, n=50, p=14, shared=1.5)
        plain = l0_frontier(X, y, loss=loss, swaps=False, max_size=8)
        assert (l0_frontier(X, y, loss=loss, max_size=8).energies <= plain.energies + 1e-8).all()


def test_a_copy_knows_its_models_and_has_no_data(case):
    for other in (pickle.loads(pickle.dumps(case.frontier)), copy.deepcopy(case.frontier)):
        pd.testing.assert_frame_equal(other.to_frame(), case.frontier.to_frame())
        assert other.loss == case.loss
        np.testing.assert_array_equal(other.at(size=3).coef, case.frontier.at(size=3).coef)
        with pytest.raises(ValueError, match="A copy of a frontier has no data"):
            other.grow(4)


@pytest.mark.parametrize("loss", LOSSES)
def test_several_ridges(loss):
    X, y = draw(loss, 3, n=40, p=P)
    ridges = [1.0, 0.01, 0.1]
    Z = standardise(X)
    for ridge, frontier in zip(ridges, l0_frontier(X, y, loss=loss, ridge=ridges), strict=True):
        for support, energy in zip(frontier.supports, frontier.energies, strict=True):
            fit = refit(loss, Z, y, support, ridge=ridge)
            assert energy == pytest.approx(fit.energy, rel=1e-8)
        alone = l0_frontier(X, y, loss=loss, ridge=ridge)
        np.testing.assert_allclose(frontier.energies, alone.energies, rtol=1e-6)


@pytest.mark.parametrize("loss", LOSSES)
def test_the_default_ridge_is_that_of_a_wide_slab(loss):
    X, y = draw(loss, 3, n=40, p=P)
    default, given = l0_frontier(X, y, loss=loss), l0_frontier(X, y, loss=loss, ridge=1 / 4000)
    np.testing.assert_array_equal(default.energies, given.energies)


def test_a_certificate_is_refused(case):
    with pytest.raises(ValueError, match="certify is for the squared loss; this frontier has"):
        case.frontier.certify(size=2)


def test_storage_does_not_matter(case):
    X = np.where(np.abs(case.X) > 0.5, case.X, 0.0)
    dense = l0_frontier(X, case.y, loss=case.loss)
    for other in (sparse.csr_array(X), sparse.csc_matrix(X), np.asfortranarray(X), X.tolist()):
        same = l0_frontier(other, case.y, loss=case.loss)
        np.testing.assert_allclose(same.energies, dense.energies, rtol=1e-8)
    narrow = l0_frontier(X.astype(np.float32), case.y, loss=case.loss)
    np.testing.assert_allclose(narrow.energies, dense.energies, rtol=1e-4)


@pytest.mark.parametrize(
    ("loss", "y", "words"),
    [
        ("logistic", [0.0, 1.0, 2.0], "y must hold zeros and ones for the logistic loss"),
        ("logistic", [1.0, 1.0, 1.0], "y must hold two classes, but it is 1 in every row"),
        ("poisson", [0.0, 1.0, -2.0], "y must not be negative for the Poisson loss; got -2"),
        ("poisson", [0.0, 0.0, 0.0], "y must not be zero in every row"),
        ("hinge", [0.0, 1.0, 0.0], "The 'loss' parameter of l0_frontier must be"),
    ],
)
def test_a_response_of_the_wrong_kind_is_named(loss, y, words):
    with pytest.raises(ValueError, match=words):
        l0_frontier(np.eye(3), y, loss=loss)


def test_the_picture(case):
    ax = case.frontier.plot()
    assert ax.get_xlabel() == "lam, the price of a variable"
