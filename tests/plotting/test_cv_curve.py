"""The picture of a cross-validated error."""

import matplotlib as mpl
import numpy as np
import pytest

mpl.use("Agg")
import matplotlib.pyplot as plt

from ellzero import L0RegressorCV
from ellzero.datasets import make_collinear


@pytest.fixture(autouse=True)
def _close_figures():
    yield
    plt.close("all")


@pytest.mark.parametrize("solver", ["frontier", "sbr"])
def test_both_rules_are_marked(solver):
    X, y, _ = make_collinear(80, 30, random_state=0)
    model = L0RegressorCV(cv=5, solver=solver).fit(X, y)
    ax = model.plot()
    ax.figure.canvas.draw()
    labels = [text.get_text() for text in ax.get_legend().get_texts()]
    assert labels[0].startswith("least: ")
    assert labels[1].startswith("one standard error: ")
    low, high = sorted(ax.get_xlim())
    assert low < model.lam_ < high
    _, own = plt.subplots()
    assert model.plot(ax=own) is own
    with pytest.raises(TypeError, match="ax must be a matplotlib Axes; got int"):
        model.plot(ax=3)


def test_one_model_only(rng):
    model = L0RegressorCV(cv=3).fit(np.ones((12, 2)), rng.normal(size=12))
    assert model.plot().texts[0].get_text() == "one model only: no curve"


def test_ridges_that_make_no_difference(rng, recwarn):
    model = L0RegressorCV(ridge=[0.0, 1.0], n_repeats=1).fit(np.ones((40, 3)), rng.normal(size=40))
    low, high = model.plot().get_ylim()
    assert low < model.cv_results_["mean_error"][0] < high
    assert not recwarn
