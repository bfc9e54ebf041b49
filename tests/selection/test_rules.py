"""What a choice is worth: it is made anew in every fold, and judged by the rows left out."""

import numpy as np
import pandas as pd
import pytest
from sklearn.model_selection import KFold, RepeatedKFold

from ellzero import L0Regressor, L0RegressorCV
from ellzero.datasets import make_collinear
from ellzero.selection import Settings, prepare, select, summarise
from ellzero.tables import NumberColumn, Table


def table_of(X, y, names=None):
    names = names or [f"x{j}" for j in range(X.shape[1])]
    columns = {name: NumberColumn(name, X[:, j].copy()) for j, name in enumerate(names)}
    return Table({**columns, "y": NumberColumn("y", y.copy())}, len(y), "t", "")


def run(table, **settings):
    asked = Settings("y", **settings)
    return select(prepare(table, asked), asked)


@pytest.fixture
def problem():
    X, y, _ = make_collinear(90, 12, coefficients=(3, -2, 1), snr_db=5, random_state=3)
    return X, y


def judge(fit, X, y, splits):
    """Refit on every fold; return errors, and those of the mean, weighted by test rows."""
    errors, bases, sizes = [], [], []
    for train, test in splits:
        model = fit(X[train], y[train])
        errors.append(np.mean((y[test] - model.predict(X[test])) ** 2))
        bases.append(np.mean((y[test] - y[train].mean()) ** 2))
        sizes.append(model.support_.size)
    share = np.array([len(test) for _, test in splits]) / len(y)
    r2 = 1 - share @ errors / (share @ bases)
    # By hand, to first order: each fold's part in mean error - (1 - r2) mean base
    parts = (np.array(errors) - (1 - r2) * np.array(bases)) / (share @ bases)
    se = np.sqrt(share @ parts**2 / (len(splits) - 1))
    return share @ errors, r2, se, sizes


WAYS = {
    "ebic": ({}, lambda n: L0Regressor()),
    "bic": ({"criterion": "bic"}, lambda n: L0Regressor("bic")),
    "size": ({"size": 2}, lambda n: L0Regressor(size=2)),
    "lam": ({"lam": 3.0}, lambda n: L0Regressor(3.0 * n / 90)),
    "ridge": ({"ridge": 0.5}, lambda n: L0Regressor(ridge=0.5)),
    "forced": ({"force": ("x5",)}, lambda n: L0Regressor(always_include=[5])),
}


@pytest.mark.parametrize("way", WAYS)
def test_it_is_the_estimator_refitted_on_every_fold(problem, way):
    X, y = problem
    settings, make = WAYS[way]
    splits = list(KFold(7, shuffle=True, random_state=4).split(X))
    error, r2, se, sizes = judge(lambda a, b: make(len(b)).fit(a, b), X, y, splits)
    score = run(table_of(X, y), folds=7, repeats=1, seed=4, **settings).score
    assert score.sizes == sizes
    assert score.error == pytest.approx(error, rel=1e-9)
    assert score.r2 == pytest.approx(r2, rel=1e-9)
    assert score.r2_se == pytest.approx(se, rel=1e-9)


def test_repeats_are_averaged(problem):
    X, y = problem
    every = list(RepeatedKFold(n_splits=5, n_repeats=3, random_state=2).split(X))
    alone = [
        judge(lambda a, b: L0Regressor().fit(a, b), X, y, every[start : start + 5])
        for start in (0, 5, 10)
    ]
    score = run(table_of(X, y), folds=5, repeats=3, seed=2).score
    assert score.r2 == pytest.approx(np.mean([r2 for _, r2, _, _ in alone]), rel=1e-9)
    assert score.r2_se == pytest.approx(np.mean([se for _, _, se, _ in alone]), rel=1e-9)
    assert score.sizes == [size for *_, sizes in alone for size in sizes]


@pytest.mark.parametrize("ridge", [None, 0.0, 0.3])
def test_a_choice_by_cross_validation_is_nested(problem, ridge):
    X, y = problem
    chosen = run(table_of(X, y), criterion="cv", folds=6, repeats=1, seed=1, ridge=ridge)
    splits = list(KFold(6, shuffle=True, random_state=1).split(X))
    model = L0RegressorCV(cv=splits, nested=True, ridge="cv" if ridge is None else ridge).fit(X, y)
    assert chosen.score.error == pytest.approx(model.nested_score_, rel=1e-9)
    assert chosen.lam == pytest.approx(model.lam_)


@pytest.mark.parametrize("criterion", ["ebic", "cv"])
def test_means_are_learned_inside_the_folds(rng, criterion):
    """With gaps filled in, and products: the means are those of the rows fitted on."""
    frame = pd.DataFrame(rng.normal(2, 1, size=(80, 3)), columns=["a", "b", "c"])
    y = (frame["a"] * frame["b"] + rng.normal(size=80)).to_numpy()
    frame.loc[rng.choice(80, 12, replace=False), "a"] = np.nan

    def build(part, means):
        filled = part.fillna(means) - means
        made = {name: filled[name] + means[name] for name in filled}
        made |= {f"{a}{a}": filled[a] ** 2 for a in "abc"}
        pairs = [("a", "b"), ("a", "c"), ("b", "c")]
        return pd.DataFrame(made | {f"{a}{b}": filled[a] * filled[b] for a, b in pairs}).to_numpy()

    splits = list(KFold(5, shuffle=True, random_state=0).split(y))
    errors = []
    for train, test in splits:
        means = frame.iloc[train].mean()
        X, other = build(frame.iloc[train], means), build(frame.iloc[test], means)
        model = L0Regressor().fit(X, y[train])
        errors.append(np.mean((y[test] - model.predict(other)) ** 2))
    asked = {"interactions": True, "missing": "mean", "folds": 5, "repeats": 1}
    score = run(table_of(frame.to_numpy(), y, list("abc")), criterion=criterion, **asked).score
    if criterion == "ebic":
        assert score.error == pytest.approx(np.mean(errors), rel=1e-8)
    assert 0.3 < score.r2 < 0.9
    assert len(score.sizes) == 5


def test_errors_of_every_size(problem):
    X, y = problem
    chosen = run(table_of(X, y), folds=5, repeats=1)
    splits = list(KFold(5, shuffle=True, random_state=0).split(X))
    content = summarise(chosen, "")
    assert content["sizes"]["size"] == list(range(13))
    for size in (0, 1, 3, 5):
        error, *_ = judge(lambda a, b, size=size: L0Regressor(size=size).fit(a, b), X, y, splits)
        assert content["sizes"]["mean_error"][size] == pytest.approx(error, rel=1e-9)
    step = next(step for step in content["path"] if step["size"] == 3)
    assert step["held_out"][0] == pytest.approx(np.sqrt(content["sizes"]["mean_error"][3]))


def test_noise_is_told_first(rng):
    X, y = rng.normal(size=(100, 20)), rng.normal(size=100)
    content = summarise(run(table_of(X, y)), "")
    assert content["model"]["size"] == 0
    assert content["cross_validation"]["predicts"] is False
    forced = summarise(run(table_of(X, y), size=6), "")
    assert forced["model"]["r2"] > 0.1
    assert forced["cross_validation"]["r2"] < 0
    assert forced["cross_validation"]["predicts"] is False


@pytest.mark.parametrize("n", [2, 3, 4, 5])
def test_few_rows(rng, n):
    chosen = run(table_of(rng.normal(size=(n, 3)), rng.normal(size=n)))
    assert chosen.model.size <= 1
    summarise(chosen, "")


def test_the_model_does_not_hang_on_the_seed(problem):
    models = [run(table_of(*problem), seed=seed).model.names for seed in range(5)]
    assert all(names == models[0] for names in models)
    scores = {run(table_of(*problem), seed=seed, repeats=1).score.r2 for seed in range(3)}
    assert len(scores) == 3


def test_groups_that_are_one(rng):
    X = rng.normal(size=(30, 2))
    table = table_of(np.column_stack([X, np.zeros(30)]), X[:, 0], ["a", "b", "g"])
    with pytest.raises(ValueError, match="2 folds need at least as many groups, but there are 1"):
        run(table, groups="g")
