"""Pictures of segmentations."""

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest

mpl.use("Agg")
import matplotlib.pyplot as plt

from ellzero import segment, segment_path
from ellzero.datasets import make_spikes


@pytest.fixture(autouse=True)
def _close_figures():
    yield
    plt.close("all")


@pytest.mark.parametrize("n", [300, 5000])
def test_a_segmentation(n):
    y = make_spikes(n, decay=0.95, random_state=0)[0]
    y[10:20] = np.nan
    found = segment(y, 1.0, decay=0.95, jumps="positive")
    ax = found.plot()
    ax.figure.canvas.draw()
    samples, signal, ticks = ax.get_lines()
    assert len(samples.get_xdata()) == n
    # Broken once at every jump, and the signal in between.
    heights = signal.get_ydata()
    assert np.isnan(heights).sum() == len(found.changepoints)
    np.testing.assert_array_equal(heights[~np.isnan(heights)], found.signal)
    assert ticks.get_xdata().tolist() == found.changepoints.tolist()
    assert [text.get_text() for text in ax.get_legend().get_texts()][-1] == "spikes"
    _, own = plt.subplots()
    assert found.plot(ax=own) is own
    with pytest.raises(TypeError, match="ax must be a matplotlib Axes; got int"):
        found.plot(ax=3)


@pytest.mark.parametrize(
    "labels",
    [pd.date_range("2020", periods=6), pd.Index([0.1 * k for k in range(6)]), list("abcdef")],
)
def test_labels(labels):
    found = segment(pd.Series([1.0, 1.2, 0.8, 5.1, 4.9, 5.0], index=labels), 1.0)
    ax = found.plot()
    ax.figure.canvas.draw()
    place = ax.get_lines()[2].get_xdata()[0]
    expected = 3 if labels[0] == "a" else np.asarray(labels)[3]
    assert place == expected
    assert [text.get_text() for text in ax.get_legend().get_texts()][-1] == "changepoints"


def test_degenerate_pictures():
    assert segment([], 1.0).plot().texts[0].get_text() == "no samples: nothing to draw"
    for y in ([1.0], [1.0, 2.0, 7.0]):
        segment(y, 0.01).plot().figure.canvas.draw()
    assert segment_path([1.0, 1.0]).plot().texts[0].get_text() == "one segmentation only: no path"


def test_a_path():
    y = make_spikes(400, decay=0.95, rate=0.03, random_state=0)[0]
    path = segment_path(y, 0.2, decay=0.95)
    ax = path.plot()
    ax.figure.canvas.draw()
    bars = ax.collections[0].get_segments()
    low, high = ax.get_ylim()
    for place, changepoints in enumerate(path.changepoints):
        edges = np.clip(path.interval(place), low, high)
        middle = np.sqrt(edges.prod())
        crossed = {int(bar[0, 0]) for bar in bars if bar[0, 1] < middle < bar[1, 1]}
        assert crossed == set(changepoints.tolist())


def test_a_penalty_curve():
    y = make_spikes(400, decay=0.95, rate=0.03, random_state=0)[0]
    curve = segment(y, "cv", decay=0.95).cv
    ax = curve.plot()
    ax.figure.canvas.draw()
    line, least, one_se = ax.get_lines()
    np.testing.assert_array_equal(line.get_ydata(), curve.error)
    assert least.get_xdata()[0] == curve.best
    assert one_se.get_xdata()[0] == curve.one_se
    assert segment(np.ones(9), "cv").cv.plot().texts[0].get_text() == "one penalty only: no curve"
