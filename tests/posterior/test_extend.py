"""Chains that are extended: a fit of a draws and b more is a fit of a + b."""

import pickle

import numpy as np
import pytest
from lasting_posteriors import KINDS, TABLE, X, Y, assert_same, fitted, make, quietly, results
from sklearn.base import clone


@pytest.mark.parametrize("kind", KINDS)
def test_more_draws_are_those_of_a_longer_fit(kind):
    _, _, table, response = KINDS[kind]
    whole = fitted(kind, n_draws=595)
    parts = fitted(kind, n_draws=45, n_jobs=2)
    before = parts.draws_
    quietly(parts.extend, 500, table, response)
    parts.n_jobs = 3
    assert quietly(parts.extend, 50, table, response) is parts
    assert parts.draws_.n_draws == 595
    assert_same(results(parts, table), results(whole, table))
    if whole.__dict__.get("solver_") != "enumerate":  # what was drawn stays as it was
        # to the bit, but for products of dense matrices of another shape
        np.testing.assert_allclose(parts.draws_.intercept[:, :45], before.intercept, rtol=1e-9)
        for name, values in before.hyperparameters().items():
            np.testing.assert_array_equal(getattr(parts.draws_, name)[:, :45], values)
    assert parts.get_params()["n_draws"] == 45


def test_without_a_seed_it_goes_on_with_its_own():
    model = fitted("gibbs", n_draws=110, random_state=None)
    first = model.draws_.coef[:110].toarray()
    quietly(model.extend, 40, TABLE, Y)
    np.testing.assert_array_equal(model.draws_.coef[:110].toarray(), first)
    generator = np.random.RandomState(7)
    model = fitted("gibbs", n_draws=20, random_state=generator)
    then = generator.get_state()[2]
    quietly(model.extend, 20, TABLE, Y)
    assert generator.get_state()[2] == then


def test_weights_and_pickles():
    weights = np.arange(len(Y)) % 3 + 1.0
    short, long = make("gibbs", n_draws=30), make("gibbs", n_draws=50)
    quietly(long.fit, TABLE, Y, weights)
    quietly(short.fit, TABLE, Y, weights)
    short = pickle.loads(pickle.dumps(short))
    quietly(short.extend, 20, TABLE, Y, weights)
    assert_same(results(short, TABLE), results(long, TABLE))
    assert not hasattr(clone(short), "draws_")


@pytest.mark.parametrize(
    ("change", "data", "message"),
    [
        ({}, (TABLE, Y + 1), "X, y or sample_weight are not those of the fit"),
        ({}, (TABLE * 2, Y), "X, y or sample_weight are not those of the fit"),
        ({}, (TABLE, Y, np.full(len(Y), 2.0)), "X, y or sample_weight are not those of the fit"),
        ({}, (TABLE.iloc[:, ::-1], Y), "X, y or sample_weight are not those of the fit"),
        ({}, (TABLE.rename(columns={"x0": "z"}), Y), "X has other columns than that of the fit"),
        ({}, (X, Y), "X has other columns than that of the fit"),
        ({"theta": 0.1}, (TABLE, Y), "the parameter theta was changed since the fit"),
        ({"n_chains": 2}, (TABLE, Y), "the parameter n_chains was changed since the fit"),
    ],
)
def test_other_data_and_parameters_are_refused(change, data, message):
    model = fitted("gibbs", n_draws=20)
    before = dict(vars(model))
    model.set_params(**change)
    with pytest.raises(ValueError, match=f"extend: {message}"):
        model.extend(10, *data)
    model.set_params(**{name: before[name] for name in change})
    assert vars(model).keys() == before.keys()
    assert all(vars(model)[name] is before[name] for name in before)
    quietly(model.extend, 10, TABLE, Y)  # still there


@pytest.mark.parametrize("n_draws", [0, -1, 2.5, True, "10"])
def test_numbers_of_draws(n_draws):
    model = fitted("gibbs", n_draws=20)
    with pytest.raises(ValueError, match="n_draws must be a positive integer"):
        model.extend(n_draws, TABLE, Y)
