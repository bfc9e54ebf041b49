"""The paper's two pairs of figures: posterior means, and the penalties that lead to them."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from numpy.typing import NDArray

from ellzero._normal_means import NormalMeansPrior, check_positive
from ellzero.priors import BernoulliGaussian, BernoulliLaplace

__all__ = ["draw_penalties", "draw_posterior_means"]

_FAMILIES = (("Bernoulli-Gaussian", BernoulliGaussian), ("Bernoulli-Laplace", BernoulliLaplace))


def draw_posterior_means(
    theta: float = 0.2,
    sigma_betas: Sequence[float] = (0.5, 1.0, 2.0, 10.0),
    *,
    sigma_e: float = 1.0,
    reach: float = 6.0,
    axes: Sequence[Axes] | None = None,
) -> NDArray[np.object_]:
    """Draw posterior means against observations, under both spike-and-slab priors.

    The paper's first pair of figures: Bernoulli-Gaussian left, Bernoulli-Laplace right.

    Parameters
    ----------
    theta : float
        Prior probability of the slab.
    sigma_betas : sequence of float
        Standard deviations of the slab, one line each.
    sigma_e : float
        Standard deviation of the noise.
    reach : float
        Observations from ``-reach`` to ``reach`` times ``sigma_e``.
    axes : two matplotlib Axes or None
        Where to draw; a new figure if not given.

    Returns
    -------
    ndarray of two matplotlib Axes
        Left and right.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> from ellzero.plotting import draw_posterior_means
    >>> left, right = draw_posterior_means(theta=0.1)
    >>> left.get_title()
    'Bernoulli-Gaussian'
    >>> plt.close("all")
    """
    return _draw_pair(
        lambda prior, y: prior.posterior_mean(y, sigma_e=sigma_e),
        ("y", "posterior mean of beta"),
        theta,
        sigma_betas,
        sigma_e,
        reach,
        axes,
        diagonal=True,
    )


def draw_penalties(
    theta: float = 0.2,
    sigma_betas: Sequence[float] = (0.5, 1.0, 2.0, 10.0),
    *,
    sigma_e: float = 1.0,
    reach: float = 6.0,
    axes: Sequence[Axes] | None = None,
) -> NDArray[np.object_]:
    """Draw the penalties whose regularised solutions are the posterior means.

    The paper's second pair of figures: Bernoulli-Gaussian left, Bernoulli-Laplace right.

    Parameters
    ----------
    theta : float
        Prior probability of the slab.
    sigma_betas : sequence of float
        Standard deviations of the slab, one line each.
    sigma_e : float
        Standard deviation of the noise.
    reach : float
        Coefficients from ``-reach`` to ``reach`` times ``sigma_e``.
    axes : two matplotlib Axes or None
        Where to draw; a new figure if not given.

    Returns
    -------
    ndarray of two matplotlib Axes
        Left and right.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> from ellzero.plotting import draw_penalties
    >>> left, right = draw_penalties(theta=0.1)
    >>> right.get_ylabel()
    'penalty'
    >>> plt.close("all")
    """
    drawn = _draw_pair(
        lambda prior, z: prior.penalty(z, sigma_e=sigma_e),
        ("beta", "penalty"),
        theta,
        sigma_betas,
        sigma_e,
        reach,
        axes,
        diagonal=False,
    )
    # A narrow Gaussian slab's penalty grows like a square and would flatten all others.
    tops = sorted(float(np.max(line.get_ydata())) for ax in drawn for line in ax.lines)
    for ax in drawn:
        ax.set_ylim(0, min(tops[-1], 2 * tops[len(tops) // 2]) * 1.05)
    return drawn


def _draw_pair(
    evaluate: Callable[[NormalMeansPrior, NDArray[np.float64]], NDArray[np.float64]],
    labels: tuple[str, str],
    theta: float,
    sigma_betas: Sequence[float],
    sigma_e: float,
    reach: float,
    axes: Sequence[Axes] | None,
    *,
    diagonal: bool,
) -> NDArray[np.object_]:
    noise, extent = check_positive("sigma_e", sigma_e), check_positive("reach", reach)
    if not len(sigma_betas):
        raise ValueError("sigma_betas must hold at least one number.")
    if axes is None:
        axes = plt.subplots(1, 2, figsize=(10, 4.6), layout="constrained", sharey=True)[1]
    pair: NDArray[np.object_] = np.array(axes, dtype=object)
    if pair.shape != (2,) or not all(isinstance(ax, Axes) for ax in pair):
        raise TypeError("axes must be two matplotlib Axes.")
    x = np.linspace(-extent, extent, 1201) * noise
    # Darker the wider; a sequence, since the slabs are one.
    colours = plt.get_cmap("viridis_r")(np.linspace(0.15, 0.95, len(sigma_betas)))
    for ax, (name, family) in zip(pair, _FAMILIES, strict=True):
        if diagonal:
            ax.plot(x, x, color="0.75", lw=1, ls="--", zorder=0)
        for sigma_beta, colour in zip(sigma_betas, colours, strict=True):
            values = evaluate(family(theta, sigma_beta), x)
            ax.plot(x, values, color=colour, lw=1.6, label=rf"$\sigma_\beta$ = {sigma_beta:g}")
        ax.set(title=name, xlabel=labels[0], ylabel=labels[1], xlim=(x[0], x[-1]))
        ax.spines[["top", "right"]].set_visible(False)
    pair[0].legend(
        frameon=False,
        title=rf"$\theta$ = {theta:g}, $\sigma_e$ = {noise:g}",
        loc="upper left" if diagonal else "upper center",
    )
    return pair
