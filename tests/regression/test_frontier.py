"""l0_frontier and what it returns, against all subsets and direct computation."""

import copy
import pickle
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from reference import hull
from reference.subsets import best_subsets, energy, preprocess
from scipy import sparse

from ellzero import L0Regressor, l0_frontier
from ellzero.datasets import load_diabetes_interactions, make_collinear
from ellzero.regression._hull import Hull


def problem(seed, n=40, p=25):
    return make_collinear(n, p, n_factors=3, coefficients=(3, -2, 1, 1), random_state=seed)[:2]


@pytest.fixture(scope="module")
def diabetes():
    data = load_diabetes_interactions()
    return l0_frontier(data.data, data.target, max_size=15), data


@pytest.mark.parametrize("n_factors", [0, 3])
def test_the_best_of_all_subsets_in_99_of_100(n_factors):
    found = np.zeros(10)
    for seed in range(100):
        X, y = make_collinear(
            25, 9, n_factors=n_factors, coefficients=(2, -2, 1), snr_db=3, random_state=seed
        )[:2]
        Z, target = preprocess(X, y)
        best = np.array([value for value, _ in best_subsets(Z, target)])
        frontier = l0_frontier(X, y)
        assert frontier.sizes.tolist() == list(range(10))
        assert (frontier.energies >= best * (1 - 1e-9)).all()
        found += frontier.energies <= best * (1 + 1e-9)
    assert found.min() >= 99


@given(
    drops=st.lists(st.floats(0, 1), min_size=1, max_size=15),
    first=st.integers(0, 3),
)
def test_hull_and_intervals_against_every_pair_of_sizes(drops, first):
    energies = np.sum(drops) + 1 - np.concatenate([[0], np.cumsum(drops)])
    sizes = range(first, first + len(energies))
    found = Hull(first, energies, energies[-1], 1e-12)
    for size in sizes:
        expected = hull.interval(sizes, energies, size)
        if expected is None or expected[1] - expected[0] < 1e-9:
            continue
        low, high = found.interval(size)
        assert low == pytest.approx(expected[0], abs=1e-9)
        assert high == pytest.approx(expected[1], abs=1e-9)
        for lam in (low + 0.3 * (min(high, 1e9) - low), low + 0.9 * (min(high, 1e9) - low)):
            assert found.size_at(lam) == size
    for size, lam in zip(found.sizes[:-1], found.lambdas, strict=True):
        assert found.size_at(lam) == size  # of two, the smaller
    assert (np.diff(found.lambdas) < 0).all()


@given(
    drops=st.lists(st.floats(0, 1), min_size=2, max_size=12),
    first=st.integers(0, 3),
    lam=st.floats(0, 1),
)
def test_what_lies_beyond_the_largest_size_refutes_intervals(drops, first, lam):
    energies = np.sum(drops) + 1 - np.concatenate([[0], np.cumsum(drops)])
    sizes = range(first, first + len(energies))  # the last is known by its energy alone
    found = Hull(first, energies[:-1], float(energies[-1]), 1e-12)
    for size in sizes[:-1]:
        expected = hull.interval(sizes, energies, size)
        claimed = found.interval(size)
        if claimed is None:
            assert expected is None or expected[1] - expected[0] < 1e-9
        else:
            assert expected is not None or claimed[1] - claimed[0] < 1e-9
            if expected is not None:
                assert claimed == pytest.approx(expected, abs=1e-9)
    # Below what is known, the best of the sizes that are
    best = min(energies[k] + lam * k for k in range(len(energies) - 1))
    chosen = found.size_at(lam) - first
    assert energies[chosen] + lam * chosen == pytest.approx(best, abs=1e-9)


@given(seed=st.integers(0, 10_000), ridge=st.sampled_from([0.0, 0.1]))
def test_models_are_those_of_least_squares_on_their_columns(seed, ridge):
    X, y = problem(seed)
    X = X * 7 + 50
    Z, target = preprocess(X, y)
    frontier = l0_frontier(X, y, max_size=8, ridge=ridge)
    for size, support, value in zip(
        frontier.sizes, frontier.supports, frontier.energies, strict=True
    ):
        assert value == pytest.approx(energy(Z, target, support, ridge), rel=1e-9)
        model = frontier.at(size=int(size))
        assert model.size == size
        assert model.support.tolist() == support.tolist() == np.flatnonzero(model.coef).tolist()
        residual = y - X @ model.coef - model.intercept
        assert residual.mean() == pytest.approx(0, abs=1e-9)
        assert model.rss == pytest.approx(residual @ residual, rel=1e-8)
        shrunk = model.coef[support] * np.linalg.norm(X - X.mean(axis=0), axis=0)[support]
        assert model.energy == pytest.approx(
            0.5 * model.rss + 0.5 * ridge * shrunk @ shrunk, rel=1e-8
        )
        np.testing.assert_allclose(
            model.standardised, model.coef[support] * X.std(axis=0)[support] / y.std()
        )


@given(seed=st.integers(0, 10_000), ridge=st.sampled_from([0.0, 0.1]))
def test_the_regressor_is_the_solution_at_lam_and_nothing_near_is_better(seed, ridge):
    X, y = problem(seed)
    Z, target = preprocess(X, y)
    frontier = l0_frontier(X, y, ridge=ridge)
    lam = float(frontier.lambdas[len(frontier.lambdas) // 2] * 1.01)
    model = L0Regressor(lam, ridge=ridge).fit(X, y)
    assert str(model.certificate_) == "no insertion, removal or swap improves it"
    sbr = L0Regressor(lam, ridge=ridge, solver="sbr").fit(X, y)
    inside, outside = model.support_.tolist(), np.setdiff1d(np.arange(25), model.support_).tolist()
    near = [[*inside, i] for i in outside]
    near += [[j for j in inside if j != r] for r in inside]
    near += [[*(j for j in inside if j != r), i] for r in inside for i in outside]
    for other in near:
        assert energy(Z, target, other, ridge) + lam * len(other) >= model.objective_ - 1e-9
    assert sbr.objective_ >= model.objective_ - 1e-9


@given(seed=st.integers(0, 1000))
def test_equivariance(seed):
    X, y = problem(seed)
    rng = np.random.default_rng(seed)
    order, factors = rng.permutation(25), 10.0 ** rng.uniform(-6, 6, size=25)
    plain = l0_frontier(X, y, max_size=8)
    moved = l0_frontier((X * factors + 1)[:, order], 10 * y - 5, max_size=8)
    np.testing.assert_allclose(moved.energies, 100 * plain.energies, rtol=1e-8)
    np.testing.assert_allclose(moved.lambdas, 100 * plain.lambdas, rtol=1e-6)
    for ours, theirs in zip(plain.supports, moved.supports, strict=True):
        assert sorted(order[theirs]) == ours.tolist()


def test_weights_and_storage(rng):
    X, y = problem(5)
    weights = rng.integers(0, 3, size=len(y))
    weighted = l0_frontier(X, y, sample_weight=weights, max_size=8)
    repeated = l0_frontier(np.repeat(X, weights, axis=0), np.repeat(y, weights), max_size=8)
    np.testing.assert_allclose(weighted.energies, repeated.energies, rtol=1e-9)
    np.testing.assert_allclose(weighted.criterion("bic"), repeated.criterion("bic"), rtol=1e-9)
    X = np.where(rng.random(X.shape) < 0.5, X, 0)
    dense, sparsely = l0_frontier(X, y), l0_frontier(sparse.csr_array(X), y)
    np.testing.assert_allclose(sparsely.energies, dense.energies, rtol=1e-8)


@given(seed=st.integers(0, 1000))
def test_swaps_never_hurt(seed):
    X, y = problem(seed)
    plain = l0_frontier(X, y, max_size=10, swaps=False)
    assert (l0_frontier(X, y, max_size=10).energies <= plain.energies * (1 + 1e-10)).all()


def test_always_include_is_in_every_model():
    X, y = problem(2)
    frontier = l0_frontier(pd.DataFrame(X).add_prefix("v"), y, always_include=["v7", "v3"])
    assert frontier.sizes[0] == 2
    assert frontier.sizes[-1] == 25
    assert all({3, 7} <= set(support.tolist()) for support in frontier.supports)
    assert frontier.at(lam=1e9).names == ["v3", "v7"]
    moves = frontier.neighbours(5, within=1e9)
    assert not {"v3", "v7"} & set(moves["leaves"])


def test_growing_goes_on(diabetes):
    _, data = diabetes
    frontier = l0_frontier(data.data, data.target, max_size=5)
    assert frontier.interval(5) is None  # six variables are seen to be better at any price
    with pytest.raises(ValueError, match=r"is below .*: grow\(lam=5000\) first"):
        frontier.at(lam=5_000)
    before = frontier.energies.copy()
    assert frontier.grow(lam=5_000) is frontier
    assert frontier.sizes[-1] >= 15
    assert (frontier.energies[:6] <= before).all()
    assert frontier.at(lam=5_000).size == 11
    assert frontier.interval(5) is None
    size = frontier.sizes[-1]
    assert frontier.grow(3).sizes[-1] == size
    whole = frontier.grow(64)
    assert whole.interval(int(whole.hull_sizes[-1]))[0] == 0
    assert whole.at(lam=0).size == whole.hull_sizes[-1]


def test_the_papers_eight_are_the_best_of_their_size_but_on_no_point_of_the_hull(diabetes):
    frontier, _ = diabetes
    eight = frontier.at(size=8)
    assert eight.names == ["sex", "bmi", "map", "hdl", "ltg", "glu^2", "age:sex", "bmi:map"]
    assert eight.interval is None
    # Whatever the price, seven or nine are better.
    assert frontier.interval(7)[0] == frontier.interval(9)[1]
    assert (frontier.energies[7] + frontier.energies[9]) / 2 < eight.energy


def test_neighbours_against_regressions(diabetes):
    frontier, data = diabetes
    Z, target = preprocess(data.data.to_numpy(), data.target.to_numpy())
    model = frontier.at(size=6)
    lam = np.sqrt(np.prod(model.interval))
    table = frontier.neighbours(6, within=20_000)
    names = list(data.data.columns)
    seen = set()
    for move, enters, leaves, loss, value in table.itertuples(index=False):
        other = set(model.names) - {leaves} | ({enters} if enters else set())
        columns = sorted(names.index(name) for name in other)
        assert {"swap": 6, "insert": 7, "remove": 5}[move] == len(columns)
        assert value == pytest.approx(energy(Z, target, columns), rel=1e-9)
        assert loss == pytest.approx(value - model.energy + lam * (len(columns) - 6), abs=1e-3)
        seen.add(tuple(columns))
    assert (table["loss"].diff().dropna() >= 0).all()
    assert table["loss"].between(0, 20_000).all()
    inside, outside = model.support.tolist(), np.setdiff1d(np.arange(64), model.support).tolist()
    for r in inside:
        rest = [j for j in inside if j != r]
        for other in [rest, *([*rest, i] for i in outside)]:
            loss = energy(Z, target, other) - model.energy + lam * (len(other) - 6)
            assert (tuple(sorted(other)) in seen) == (loss <= 20_000)
    assert set(frontier.neighbours(8)["move"]) == {"swap", "insert", "remove"}


def test_criteria_and_table(diabetes):
    frontier, data = diabetes
    table = frontier.to_frame()
    assert table.index.tolist() == list(range(16))
    n, p = data.data.shape
    rss = 2 * frontier.energies
    np.testing.assert_allclose(
        table["bic"], n * np.log(rss / n) + frontier.sizes * np.log(n), rtol=1e-12
    )
    np.testing.assert_allclose(
        table["ric"], n * np.log(rss / n) + 2 * frontier.sizes * np.log(p), rtol=1e-12
    )
    assert frontier.at(criterion="ebic").size == table["ebic"].idxmin() == 7
    assert table.loc[0, "lam_high"] == np.inf
    assert table["lam_low"].isna().tolist() == [frontier.interval(k) is None for k in range(16)]
    assert L0Regressor("ebic").fit(data.data, data.target).support_.size == 7


def test_it_can_be_pickled_and_copied_but_then_not_grown(diabetes):
    frontier, _ = diabetes
    for other in (pickle.loads(pickle.dumps(frontier)), copy.deepcopy(frontier)):
        pd.testing.assert_frame_equal(other.to_frame(), frontier.to_frame())
        np.testing.assert_array_equal(other.at(size=5).coef, frontier.at(size=5).coef)
        with pytest.raises(ValueError, match="has no data"):
            other.grow(20)
        with pytest.raises(ValueError, match="has no data"):
            other.neighbours(5)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda f: f.at(), ValueError, "at takes just one of size, lam and criterion"),
        (lambda f: f.at(size=3, lam=2), ValueError, "at takes just one"),
        (lambda f: f.at(size=16), ValueError, "size=16 is not one of the sizes known, 0 to 15"),
        (lambda f: f.at(size=-1), ValueError, "size=-1 is not one of the sizes"),
        (lambda f: f.at(size=2.5), ValueError, "size=2.5 is not one of the sizes"),
        (lambda f: f.at(lam=-1), ValueError, "lam must be a number from 0 to infinity; got -1"),
        (lambda f: f.at(lam=np.nan), ValueError, "lam must be a number"),
        (lambda f: f.at(lam="much"), ValueError, "lam must be a number"),
        (lambda f: f.at(lam=1.0), ValueError, r"models of more than 15 variables begin to pay"),
        (lambda f: f.at(criterion="aic"), ValueError, "parameter of Frontier must be a str among"),
        (lambda f: f.criterion("aic"), ValueError, "parameter of Frontier must be a str among"),
        (lambda f: f.interval(99), ValueError, "size=99 is not one of the sizes"),
        (lambda f: f.grow(), ValueError, "grow takes max_size or lam"),
        (lambda f: f.grow(5, lam=2), ValueError, "grow takes max_size or lam"),
        (lambda f: f.grow(-5), ValueError, "'max_size' parameter of Frontier.grow"),
        (lambda f: f.grow(lam=-5), ValueError, "'lam' parameter of Frontier.grow"),
        (lambda f: f.neighbours(3, within=-1), ValueError, "'within' parameter of Frontier.neigh"),
        (lambda f: f.neighbours(3, lam=np.nan), ValueError, "'lam' parameter of Frontier.neigh"),
        (lambda f: f.at(lam=10**400), ValueError, "lam is too large"),
        (lambda f: f.grow(lam=10**400), ValueError, "lam is too large"),
        (lambda f: f.plot(max_size="a"), ValueError, "'max_size' parameter of Frontier.plot"),
        (lambda f: f.plot(lam=-1), ValueError, "'lam' parameter of Frontier.plot"),
        (lambda f: f.plot(lam=np.inf), ValueError, "'lam' parameter of Frontier.plot"),
        (lambda f: f.plot(standardised="no"), ValueError, "'standardised' parameter of Frontier"),
        (lambda f: f.plot(ax=3), TypeError, "ax must be a matplotlib Axes; got int"),
        (lambda f: l0_frontier([[1.0], [2.0]], None), ValueError, "l0_frontier requires y"),
        (lambda f: f.neighbours(77), ValueError, "size=77 is not one of the sizes"),
        (lambda f: l0_frontier([[1.0]], [1.0, 2.0]), ValueError, "inconsistent numbers of samples"),
        (lambda f: l0_frontier([[1.0], [2.0]], [1, 2], max_size=-1), ValueError, "'max_size' par"),
        (lambda f: l0_frontier([[1.0], [2.0]], [1, 2], ridge=-1), ValueError, "'ridge' parameter"),
        (lambda f: l0_frontier([[1.0], [2.0]], [1, 2], swaps="yes"), ValueError, "'swaps' param"),
        (
            lambda f: l0_frontier([[1.0, 0], [2.0, 1]], [1, 2], max_size=0, always_include=[0]),
            ValueError,
            "max_size=0, but 1 columns are to be in the model",
        ),
    ],
)
def test_nonsense_gets_a_sentence(diabetes, call, error, message):
    with pytest.raises(error, match=message):
        call(diabetes[0])


@pytest.mark.parametrize(
    ("X", "y", "sizes"),
    [
        (np.ones((5, 3)), np.arange(5.0), [0]),
        (np.arange(5.0)[:, None], np.ones(5), [0, 1]),
        (np.eye(5), np.arange(5.0), [0, 1, 2, 3, 4]),
        (np.ones((1, 4)), [2.0], [0]),
        (np.hstack([np.eye(6)[:, :2]] * 2), np.arange(6.0), [0, 1, 2]),
    ],
)
def test_odd_tables(X, y, sizes):
    frontier = l0_frontier(X, y)
    assert frontier.sizes.tolist() == sizes
    assert np.isfinite(frontier.energies).all()
    assert frontier.at(lam=1e300).size == 0
    assert frontier.at(lam=0).size == frontier.hull_sizes[-1]
    assert len(frontier.to_frame()) == len(sizes)
    for size in sizes:
        assert np.isfinite(frontier.at(size=size).coef).all()
        frontier.neighbours(size, within=1.0, lam=1.0)


@pytest.mark.parametrize("eps", [1e-3, 1e-4, 3e-5, 1e-5, 1e-6])
@pytest.mark.parametrize(("n", "p"), [(8, 5), (60, 20)])
def test_near_dependence_is_survived(eps, n, p):
    for seed in range(20):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(n, 2)) @ rng.normal(size=(2, p)) + eps * rng.normal(size=(n, p))
        y = rng.normal(size=n)
        frontier = l0_frontier(X, y)
        assert frontier.sizes.tolist() == list(range(len(frontier.sizes)))
        assert (np.diff(frontier.energies) <= 1e-9 * frontier.energies[0]).all()
        assert frontier.at(lam=0).size == frontier.hull_sizes[-1]
        assert frontier.grow(lam=0.0) is frontier
        for lam in (0.0, 1e-3, 0.1):
            model = L0Regressor(lam).fit(X, y)
            assert str(model.certificate_).startswith("no insertion, removal or swap improves it")


def test_the_certificate_says_what_was_left_aside():
    rng = np.random.default_rng(12)
    X = rng.normal(size=(30, 2))
    X = np.column_stack([X, X + 1e-5 * rng.normal(size=(30, 2))])
    y = rng.normal(size=30)
    assert str(L0Regressor(0.0).fit(X, y).certificate_).endswith("to within 1e-09 left aside)")
    twins = np.column_stack([X[:, :2], X[:, :2]])
    assert str(L0Regressor(0.0).fit(twins, y).certificate_).endswith("improves it")


def test_a_ridge_does_not_make_constants_variables(rng):
    X = np.column_stack([rng.normal(size=(20, 3)), np.ones(20), np.zeros(20)])
    frontier = l0_frontier(X, rng.normal(size=20), ridge=0.5)
    assert frontier.sizes.tolist() == [0, 1, 2, 3]


def test_neighbours_of_a_size_beyond_the_hull(rng):
    X = rng.normal(size=(30, 6))
    frontier = l0_frontier(X, X[:, 0] - X[:, 1])
    assert frontier.hull_sizes[-1] == 2
    assert set(frontier.neighbours(4)["move"]) <= {"swap", "insert", "remove"}


def test_stand_ins_are_the_best_swaps_of_each_variable(rng):
    X = rng.normal(size=(50, 8))
    X[:, 5] = X[:, 0] + 0.2 * rng.normal(size=50)
    y = X[:, 0] - X[:, 1] + X[:, 2] + rng.normal(size=50)
    frontier = l0_frontier(X, y, max_size=4, always_include=[2])
    model = frontier.at(size=3)

    def energy(support):
        design = np.column_stack([np.ones(50), X[:, support]])
        residual = y - design @ np.linalg.lstsq(design, y, rcond=None)[0]
        return 0.5 * residual @ residual

    base, members = energy(list(model.support)), [int(j) for j in model.support]
    table = frontier.stand_ins(3, count=2)
    assert list(dict.fromkeys(table["leaves"])) == [f"x{j}" for j in members if j != 2]
    for leaving in (j for j in members if j != 2):
        rest = [j for j in members if j != leaving]
        rises = {j: energy([*rest, j]) - base for j in range(8) if j not in members}
        best = sorted(rises, key=rises.get)[:2]
        rows = table[table["leaves"] == f"x{leaving}"]
        assert list(rows["enters"]) == [f"x{j}" for j in best]
        np.testing.assert_allclose(rows["rise"], [rises[j] for j in best], rtol=1e-8)
        expected = [np.corrcoef(X[:, j], X[:, leaving])[0, 1] for j in best]
        np.testing.assert_allclose(rows["correlation"], expected, rtol=1e-8)
        cost = model.removal_cost[members.index(leaving)]
        np.testing.assert_allclose(cost, energy(rest) - base, rtol=1e-8)


def questions(frontier):
    """Return what can be asked of a frontier, by size."""
    sizes = [int(size) for size in frontier.sizes[1:]]
    return [
        *((frontier.stand_ins, size, {}) for size in sizes),
        *((frontier.neighbours, size, {"within": 0.3}) for size in sizes),
    ]


def test_the_same_question_gets_the_same_bits():
    X, y, _ = make_collinear(60, 30, random_state=3)
    first, second = (l0_frontier(X, y, max_size=12) for _ in range(2))
    asked = questions(first)
    answers = [ask(size, **options) for ask, size, options in asked]
    rng = np.random.default_rng(0)
    for place in rng.permutation(np.tile(np.arange(len(asked)), 3)):
        ask, size, options = asked[place]
        pd.testing.assert_frame_equal(ask(size, **options), answers[place], check_exact=True)
    for place in rng.permutation(len(asked)):
        ask, size, options = questions(second)[place]
        pd.testing.assert_frame_equal(ask(size, **options), answers[place], check_exact=True)


def test_threads_may_share_a_frontier():
    X, y, _ = make_collinear(200, 300, random_state=1)
    frontier = l0_frontier(X, y, max_size=10)
    asked = questions(frontier)
    answers = [ask(size, **options) for ask, size, options in asked]

    def work(seed):
        wrong = 0
        for place in np.random.default_rng(seed).permutation(len(asked)):
            ask, size, options = asked[place]
            wrong += not ask(size, **options).equals(answers[place])
            model = frontier.at(size=size)
            wrong += model.support.size != size or not np.array_equal(
                np.flatnonzero(model.coef), model.support
            )
        return wrong

    with ThreadPoolExecutor(6) as pool:
        assert sum(pool.map(work, range(12))) == 0


def test_growing_while_others_ask():
    X, y, _ = make_collinear(100, 60, random_state=1)
    frontier = l0_frontier(X, y, max_size=3)

    def ask(_):
        model = frontier.at(size=3)
        table = frontier.to_frame()
        return model.support.size == 3 and len(table) == table.index[-1] + 1

    with ThreadPoolExecutor(4) as pool:
        growing = pool.submit(lambda: [frontier.grow(size) for size in range(4, 25)])
        assert all(pool.map(ask, range(60)))
        growing.result()
    assert frontier.sizes[-1] == 24


@pytest.mark.parametrize("ridge", [0.0, 0.1])
def test_walks_among_very_many_columns_keep_to_the_promising_ones(ridge):
    # Constant columns can't be inserted, so that what is found can't depend on them; from 300
    # columns on walks are made among a few.
    X, y, _ = make_collinear(60, 40, snr_db=3, random_state=5)
    weights = np.random.default_rng(0).integers(0, 3, size=60).astype(float)
    wide = np.full((60, 10_000), 7.0)
    where = np.sort(np.random.default_rng(1).choice(10_000, 40, replace=False))
    wide[:, where] = X
    for forced in ([], [3, 17]):
        options = {"max_size": 12, "ridge": ridge, "sample_weight": weights}
        few = l0_frontier(X, y, always_include=forced, **options)
        many = l0_frontier(wide, y, always_include=where[forced], **options)
        np.testing.assert_allclose(many.energies, few.energies, rtol=1e-10)
        for one, two in zip(many.supports, few.supports, strict=True):
            np.testing.assert_array_equal(one, where[two])


def test_among_very_many_columns_no_swap_betters_the_frontier():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(40, 12_000))
    X[:, 1:] += 2 * X[:, :-1]
    y = X[:, [5, 7, 900, 901]] @ [3.0, -3.0, 2.0, 2.0] + rng.normal(size=40)
    found = l0_frontier(X, y, max_size=6)
    assert (np.diff(found.energies) < 0).all()
    centred, left = X - X.mean(axis=0), y - y.mean()
    for size in (2, 4, 6):
        support = found.supports[size]
        Q, _ = np.linalg.qr(centred[:, support])
        assert found.energies[size] == pytest.approx(0.5 * np.sum((left - Q @ (Q.T @ left)) ** 2))
        for out in range(size):
            Q, _ = np.linalg.qr(centred[:, np.delete(support, out)])
            rest, others = left - Q @ (Q.T @ left), centred - Q @ (Q.T @ centred)
            norms = np.einsum("ij,ij->j", others, others)
            gains = np.where(norms > 1e-6, (rest @ others) ** 2 / np.maximum(norms, 1e-6), 0)
            assert 0.5 * (rest @ rest - gains.max()) >= found.energies[size] * (1 - 1e-9)
