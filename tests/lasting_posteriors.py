"""Fitted posteriors of every kind, small, and what it means that two are the same to the bit."""

import warnings

import numpy as np
import pandas as pd
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning
from spike_slab_priors import autoregressive

from ellzero import (
    BayesianBridgeRegressor,
    HorseshoeRegressor,
    SpikeSlabClassifier,
    SpikeSlabRegressor,
)

X, Y = autoregressive(80, 12, 0.6, seed=3)
NAMES = [f"x{j}" for j in range(12)]
TABLE = pd.DataFrame(X, columns=NAMES)
WIDE = np.random.default_rng(8).standard_normal((20, 70))
CLASSES = np.where(np.median(Y) < Y, "high", "low")
FEW = {"n_chains": 3, "n_warmup": 60}
GROUPS = {"feature_groups": {"first": NAMES[:3], "second": NAMES[3:5]}}
PRODUCTS = TABLE.iloc[:, :4].assign(**{"x0:x1": X[:, 0] * X[:, 1], "x2^2": X[:, 2] ** 2})

# The class, its parameters, X and y.
KINDS = {
    "gibbs": (SpikeSlabRegressor, {"solver": "gibbs"}, TABLE, Y),
    "thinned": (SpikeSlabRegressor, {"solver": "gibbs", "thin": 3, "slab": "zellner"}, TABLE, Y),
    "tempered": (SpikeSlabRegressor, {"solver": "tempered", "theta": 0.2}, TABLE, Y),
    "laplace": (SpikeSlabRegressor, {"slab": "laplace"}, sparse.csc_array(X), Y),
    "flat": (
        SpikeSlabRegressor,
        {"solver": "gibbs", "flat": ["x3", "x7"], "slab_scale": {"x1": 2.0}},
        TABLE,
        Y,
    ),
    "groups": (SpikeSlabRegressor, {"solver": "gibbs", **GROUPS}, TABLE, Y),
    "heredity": (SpikeSlabRegressor, {"solver": "gibbs", "heredity": "strong"}, PRODUCTS, Y),
    "student": (SpikeSlabRegressor, {"noise": "student", "slab_scale": {"x1": 2.0}}, TABLE, Y),
    "enumerate": (SpikeSlabRegressor, {"solver": "enumerate"}, PRODUCTS, Y),
    "classifier": (SpikeSlabClassifier, {"solver": "gibbs"}, TABLE, CLASSES),
    "classifier, groups": (SpikeSlabClassifier, GROUPS, TABLE, CLASSES),
    "classifier, enumerate": (SpikeSlabClassifier, {}, PRODUCTS, CLASSES),
    "bridge": (BayesianBridgeRegressor, {"alpha": "learn"}, TABLE, Y),
    "horseshoe": (
        HorseshoeRegressor,
        {"fit_intercept": False, "regularised": True},
        X,
        Y,
    ),
    "horseshoe by rows": (HorseshoeRegressor, {"regularised": True}, WIDE, Y[:20]),
    "bridge by rows": (BayesianBridgeRegressor, {}, WIDE, Y[:20]),
}


def make(kind, **parameters):
    cls, own, _, _ = KINDS[kind]
    return cls(**{**FEW, "random_state": 4, **own, **parameters})


def quietly(work, *arguments):
    """Chains as short as these need not have mixed."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return work(*arguments)


def fitted(kind, **parameters):
    _, _, table, response = KINDS[kind]
    return quietly(make(kind, **parameters).fit, table, response)


def results(model, table):
    """Everything that users see of a fitted estimator, by name."""
    named = {name: value for name, value in vars(model).items() if name.endswith("_")}
    for name in ("models_", "credible_sets_", "sensitivity_", "diagnostics_"):
        if hasattr(model, name):
            named[name] = getattr(model, name)
    named["summary"] = model.summary()
    named["interval"] = model.credible_interval(0.8)
    named["prediction"] = model.predict(table)
    if hasattr(model, "log_evidence_"):
        named["evidence"] = model.log_evidence_
    if hasattr(model, "jointness"):
        named["jointness"] = model.jointness()
    if hasattr(model, "predict_proba"):
        named["proba"] = model.predict_proba(table)
    if hasattr(model, "sample_predictive"):
        named["predictive"] = model.sample_predictive(table, 20, random_state=1)
    return named


def assert_same(one, other, where=""):
    """Fail unless two results are the same to the bit."""
    assert type(one) is type(other), where
    if isinstance(one, pd.DataFrame | pd.Series | pd.Index):
        getattr(pd.testing, f"assert_{_PANDAS[type(one).__name__]}_equal")(
            one, other, check_exact=True
        )
    elif isinstance(one, np.ndarray):
        assert one.dtype == other.dtype, where
        np.testing.assert_array_equal(one, other, err_msg=where)
    elif sparse.issparse(one):
        for part in ("data", "indices", "indptr"):
            np.testing.assert_array_equal(getattr(one, part), getattr(other, part), err_msg=where)
    elif isinstance(one, dict):
        assert one.keys() == other.keys(), where
        for name, value in one.items():
            assert_same(value, other[name], f"{where} {name}")
    elif isinstance(one, list | tuple):
        assert len(one) == len(other), where
        for first, second in zip(one, other, strict=True):
            assert_same(first, second, where)
    elif hasattr(one, "__dataclass_fields__"):
        assert_same(dict(vars(one)), dict(vars(other)), where)
    else:
        assert one == other or (one != one and other != other), where


_PANDAS = {"DataFrame": "frame", "Series": "series", "Index": "index"}
