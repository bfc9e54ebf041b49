"""A certificate is an object: what it says, and what is known besides."""

import pickle

import numpy as np
import pytest

from ellzero import BernoulliGaussian, Certificate, L0Regressor, L0RegressorCV, marginal_map
from ellzero.datasets import make_collinear


@pytest.fixture(scope="module")
def data():
    X, y, _ = make_collinear(60, 12, random_state=0)
    return X, y


def test_what_the_estimators_say(data):
    frontier = L0Regressor(1.0).fit(*data).certificate_
    assert (frontier.kind, str(frontier)) == ("swaps", "no insertion, removal or swap improves it")
    sbr = L0Regressor(1.0, solver="sbr").fit(*data).certificate_
    assert sbr.kind == "flips"
    assert str(sbr) == "no insertion or removal of one variable improves it"
    by_ebic = L0Regressor(solver="sbr").fit(*data).certificate_
    assert by_ebic.kind == "flips"
    assert by_ebic.choice.startswith("ebic is least among the ")
    assert by_ebic.choice.endswith(" models on the path of SBR")
    assert str(by_ebic) == f"{by_ebic.choice}; {sbr} at lam_"
    for rule, words in (
        ("min", "the error is least at lam_"),
        ("1se", "the error at lam_ is within one standard error of the least"),
    ):
        model = L0RegressorCV(rule=rule).fit(*data)
        expected = f"{words} among sizes up to {model.max_size_}; {frontier}"
        assert str(model.certificate_) == expected
    best = marginal_map(*data, BernoulliGaussian(0.2, 10.0), 1.0)
    assert str(best.certificate) == "no insertion, removal or swap raises p(gamma | y)"
    assert best.certificate.objective == best.log_posterior


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_what_they_say_when_max_size_holds_them_back(data):
    stopped = L0Regressor(0.1, max_size=2).fit(*data).certificate_
    assert stopped.kind == "stopped"
    assert str(stopped).startswith("stopped at max_size=2: ")
    by_bic = L0Regressor("bic", max_size=2).fit(*data).certificate_
    assert str(by_bic) == "stopped at max_size=2, where bic was still least"


def test_nothing_is_proved_and_no_bound_is_known(data):
    for estimator in (L0Regressor(), L0Regressor(1.0, solver="sbr"), L0RegressorCV(cv=3)):
        model = estimator.fit(*data)
        certificate = model.certificate_
        assert certificate.objective == model.objective_
        assert (certificate.proved, certificate.bound, certificate.gap) == (False, None, None)
        assert certificate.as_sentences().endswith(". It is a search, not a proof.")


def test_the_gap_is_the_distance_from_the_bound_as_a_share_of_the_objective():
    near = Certificate("swaps", "it may be the optimum", objective=4.0, bound=3.0)
    assert near.gap == 0.25
    proof = Certificate("swaps", "it is the optimum", proved=True, objective=0.0, bound=0.0)
    assert proof.gap == 0.0
    assert proof.as_sentences() == "It is the optimum."


def test_certificates_are_compared_and_pickled(data):
    one, other = (L0Regressor(1.0).fit(*data).certificate_ for _ in range(2))
    assert one == other == pickle.loads(pickle.dumps(one))
    assert one != L0Regressor(np.inf).fit(*data).certificate_
    assert "kind='swaps'" in repr(one)
