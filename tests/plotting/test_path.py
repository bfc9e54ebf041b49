"""The picture of a path: what it shows, and that its labels don't collide."""

import matplotlib as mpl
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

mpl.use("Agg")
import matplotlib.pyplot as plt
from matplotlib.text import Text

from ellzero import l0_frontier
from ellzero.datasets import load_diabetes_interactions
from ellzero.plotting._labels import space_out


@pytest.fixture(scope="module")
def frontier():
    data = load_diabetes_interactions()
    return l0_frontier(data.data, data.target)


@pytest.fixture(autouse=True)
def _close_figures():
    yield
    plt.close("all")


@given(heights=st.lists(st.floats(-1, 1), min_size=1, max_size=40))
def test_spread_out_keeps_distance_bounds_and_order(heights):
    heights = np.array(heights)
    placed = space_out(heights, 0.05, -1, 1)
    order = np.argsort(heights, kind="stable")
    assert (np.diff(placed[order]) >= 0.05 - 1e-9).all()
    assert placed.min() >= -1 - 1e-9
    assert placed.max() <= 1 + 1e-9


def test_spread_out_leaves_alone_what_is_apart():
    heights = np.array([0.5, -0.5, 0.0])
    np.testing.assert_allclose(space_out(heights, 0.1, -1, 1), heights)


@pytest.mark.parametrize("max_size", [2, 8, 15, 40])
def test_labels_do_not_collide(frontier, max_size):
    ax = frontier.plot(max_size=max_size)
    figure = ax.figure
    figure.canvas.draw()
    # An annotation's own extent has its line in it.
    boxes = [Text.get_window_extent(text).padded(-0.5) for text in ax.texts]
    top = ax.child_axes[0]
    boxes += [label.get_window_extent() for label in top.get_xticklabels() if label.get_text()]
    for i, box in enumerate(boxes):
        assert figure.bbox.padded(2).containsx(box.x0)
        assert figure.bbox.padded(2).containsx(box.x1)
        assert not any(box.overlaps(other) for other in boxes[:i])


def test_every_variable_of_the_largest_model_is_named(frontier):
    ax = frontier.plot(max_size=11, lam=5_000)
    names = {text.get_text() for text in ax.texts}
    assert set(frontier.at(size=11).names) <= names
    assert ax.get_xlim()[0] > frontier.lambdas[0]
    assert any(np.all(np.asarray(line.get_xdata()) == 5_000) for line in ax.lines)
    _, own = plt.subplots()
    assert frontier.plot(ax=own, standardised=False) is own
    assert own.get_ylabel() == "coefficient"


def test_nothing_to_draw_is_said():
    ax = l0_frontier(np.ones((5, 2)), np.arange(5.0)).plot()
    assert ax.texts[0].get_text() == "one model only: no path to draw"


def test_names_are_not_read_as_formulas():
    data = load_diabetes_interactions()
    odd = data.data.iloc[:, :3].set_axis(["a$b", "c$", "_{^"], axis=1)
    ax = l0_frontier(odd, data.target).plot()
    ax.figure.canvas.draw()
