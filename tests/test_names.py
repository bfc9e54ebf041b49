import inspect

import pytest
from sklearn.base import BaseEstimator

import ellzero
from ellzero._sklearn import check_parameters


def test_every_public_name_is_found_where_it_is_said_to_be():
    for name in [*ellzero.__all__, *ellzero._MODULES]:
        assert getattr(ellzero, name) is not None
    assert {*ellzero.__all__} == {*ellzero._HOMES, "datasets", "__version__"}
    assert {*ellzero.__all__} <= {*dir(ellzero)}
    with pytest.raises(AttributeError, match="no attribute 'L1Regressor'"):
        ellzero.L1Regressor  # noqa: B018


def test_defaults_are_valid_so_that_fits_need_not_check_them():
    classes = filter(inspect.isclass, (getattr(ellzero, name) for name in ellzero.__all__))
    estimators = [kind for kind in classes if issubclass(kind, BaseEstimator)]
    assert len(estimators) >= 10
    for estimator in estimators:
        parameters = inspect.signature(estimator).parameters.values()
        constraints = estimator._parameter_constraints
        values = {p.name: p.default for p in parameters if p.default is not p.empty}
        known = {name: value for name, value in values.items() if name in constraints}
        check_parameters(estimator.__name__, constraints, **known)
