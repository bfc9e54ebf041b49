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
from ellzero._spacing import limit_axis
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


def test_an_axis_reaches_as_far_as_most_lines():
    assert limit_axis(np.array([1.0, 1, 1, 1])) == 1
    assert limit_axis(np.array([1.0, 1, 1, 1, 5])) == 5  # no harm done
    assert limit_axis(np.array([1.0, 1, 1, 1, 7])) == 3
    assert limit_axis(np.array([1.0, 1, 1, 1, 70]), 20) == 20
    assert limit_axis(np.zeros(3)) == limit_axis(np.empty(0)) == 0


def test_two_variables_do_not_stretch_the_axis(frontier):
    ax = frontier.plot()
    low, high = ax.get_ylim()
    assert -5 < low < 0 < high < 5
    *_, note = (text.get_text().replace("\n", " ") for text in ax.texts)
    largest = dict.fromkeys(("tc", "ldl"), 0.0)
    for size in frontier.hull_sizes:
        model = frontier.at(size=int(size))
        for name, value in zip(model.names, model.standardised, strict=True):
            if name in largest and abs(value) > abs(largest[name]):
                largest[name] = value
    assert note.startswith(
        f"beyond the axis: tc ({largest['tc']:.3g}), ldl ({largest['ldl']:.3g}), "
    )
    labels = [text.get_text() for text in ax.texts[:-1]]
    assert {"tc:ldl \u2193", "tc", "ldl", "bmi"} <= set(labels)
    assert f"not named: {40 - len(labels)} others" in note
    colours = [text.get_color() for text in ax.texts[:-1]]
    coloured = [colour for colour in colours if colour.startswith("#")]
    assert len(set(coloured)) == len(coloured) == 8
    assert len(labels) == 12
    heights = [text.xyann[1] for text in ax.texts[:-1]]
    joined = [text.xy[1] for text in ax.texts[:-1]]
    assert heights == sorted(heights)  # in the order of the ends that they are joined to
    assert joined == sorted(joined)


def test_models_up_to_the_price_marked_are_drawn_whole(frontier):
    most = np.abs(frontier.at(lam=1_000).standardised).max()
    assert max(np.abs(frontier.plot().get_ylim())) < most
    assert max(np.abs(frontier.plot(lam=1_000).get_ylim())) > most


def test_coefficients_in_their_own_units_are_drawn_whole(frontier):
    ax = frontier.plot(standardised=False)
    most = np.abs(frontier.at(size=40).coef).max()
    assert max(np.abs(ax.get_ylim())) > most


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
