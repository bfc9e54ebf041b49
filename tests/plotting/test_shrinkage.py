"""The paper's pairs of figures."""

import matplotlib as mpl
import numpy as np
import pytest

mpl.use("Agg")
import matplotlib.pyplot as plt

from ellzero.plotting import draw_penalties, draw_posterior_means
from ellzero.shrinkage import BernoulliGaussian, BernoulliLaplace


@pytest.fixture(autouse=True)
def _close_figures():
    yield
    plt.close("all")


@pytest.mark.parametrize(
    ("draw", "method"), [(draw_posterior_means, "posterior_mean"), (draw_penalties, "penalty")]
)
def test_the_lines_are_what_they_say(draw, method):
    pair = draw(0.1, [0.7, 5.0], sigma_e=2.0, reach=4.0)
    pair[0].figure.canvas.draw()
    for ax, family in zip(pair, (BernoulliGaussian, BernoulliLaplace), strict=True):
        lines = {line.get_label(): line for line in ax.lines}
        for sigma_beta in (0.7, 5.0):
            line = lines[rf"$\sigma_\beta$ = {sigma_beta:g}"]
            x, values = line.get_data()
            assert (x[0], x[-1]) == (-8, 8)
            prior = family(0.1, sigma_beta)
            np.testing.assert_allclose(values, getattr(prior, method)(x, sigma_e=2.0))


def test_on_axes_of_ones_own():
    _, own = plt.subplots(1, 2)
    drawn = draw_penalties(axes=own)
    assert drawn[0] is own[0]
    assert drawn[1] is own[1]
    with pytest.raises(TypeError, match="axes must be two matplotlib Axes"):
        draw_penalties(axes=[own[0]])
    with pytest.raises(ValueError, match="sigma_betas must hold at least one number"):
        draw_posterior_means(sigma_betas=[])
    with pytest.raises(ValueError, match="reach must be a positive"):
        draw_posterior_means(reach=0)
