"""The paper's two pairs of figures: posterior means, and the penalties that lead to them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from numpy.typing import NDArray

from ellzero._normal_means import check_positive
from ellzero.priors import BernoulliGaussian, BernoulliLaplace

__all__ = ["draw_curves", "draw_penalties", "draw_posterior_means", "shrinkage_curves"]

_FAMILIES = (("Bernoulli-Gaussian", BernoulliGaussian), ("Bernoulli-Laplace", BernoulliLaplace))
_ABSCISSA = {"posterior_mean": "y", "penalty": "beta"}


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
    curves = shrinkage_curves("posterior_mean", theta, sigma_betas, sigma_e, reach)
    return draw_curves(curves, "posterior_mean", axes)


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
    curves = shrinkage_curves("penalty", theta, sigma_betas, sigma_e, reach)
    return draw_curves(curves, "penalty", axes)


def shrinkage_curves(
    what: Literal["posterior_mean", "penalty"],
    theta: float,
    sigma_betas: Sequence[float],
    sigma_e: float,
    reach: float,
) -> pd.DataFrame:
    """Compute the curves of a pair of figures.

    One row per point: ``prior``, ``theta``, ``sigma_beta``, ``sigma_e``, where it is, under ``y``
    or ``beta``, and its height under the name of ``what``.
    """
    noise, extent = check_positive("sigma_e", sigma_e), check_positive("reach", reach)
    if not len(sigma_betas):
        raise ValueError("sigma_betas must hold at least one number.")
    x = np.linspace(-extent, extent, 1201) * noise
    curves = []
    for name, family in _FAMILIES:
        for sigma_beta in sigma_betas:
            prior = family(theta, sigma_beta)
            facts = {"prior": name, "theta": theta, "sigma_beta": sigma_beta, "sigma_e": noise}
            height = getattr(prior, what)(x, sigma_e=noise)
            curves.append(pd.DataFrame({**facts, _ABSCISSA[what]: x, what: height}))
    return pd.concat(curves, ignore_index=True)


def draw_curves(
    curves: pd.DataFrame,
    what: Literal["posterior_mean", "penalty"],
    axes: Sequence[Axes] | None = None,
) -> NDArray[np.object_]:
    """Draw the curves of :func:`shrinkage_curves`, one prior on each axes."""
    if axes is None:
        axes = plt.subplots(1, 2, figsize=(10, 4.6), layout="constrained", sharey=True)[1]
    pair: NDArray[np.object_] = np.array(axes, dtype=object)
    if pair.shape != (2,) or not all(isinstance(ax, Axes) for ax in pair):
        raise TypeError("axes must be two matplotlib Axes.")
    at, means = _ABSCISSA[what], what == "posterior_mean"
    slabs = curves["sigma_beta"].unique()
    # Darker the wider; a sequence, since the slabs are one.
    colours = plt.get_cmap("viridis_r")(np.linspace(0.15, 0.95, len(slabs)))
    for ax, (name, _) in zip(pair, _FAMILIES, strict=True):
        mine = curves[curves["prior"] == name]
        ends = mine[at].min(), mine[at].max()
        if means:
            ax.plot(ends, ends, color="0.75", lw=1, ls="--", zorder=0)
        for sigma_beta, colour in zip(slabs, colours, strict=True):
            curve = mine[mine["sigma_beta"] == sigma_beta]
            label = rf"$\sigma_\beta$ = {sigma_beta:g}"
            ax.plot(curve[at], curve[what], color=colour, lw=1.6, label=label)
        ylabel = "posterior mean of beta" if means else "penalty"
        ax.set(title=name, xlabel=at, ylabel=ylabel, xlim=ends)
        ax.spines[["top", "right"]].set_visible(False)
    facts = curves.iloc[0]
    pair[0].legend(
        frameon=False,
        title=rf"$\theta$ = {facts['theta']:g}, $\sigma_e$ = {facts['sigma_e']:g}",
        loc="upper left" if means else "upper center",
    )
    if not means:
        # A narrow Gaussian slab's penalty grows like a square and would flatten all others.
        tops = sorted(curves.groupby(["prior", "sigma_beta"])[what].max())
        for ax in pair:
            ax.set_ylim(0, min(tops[-1], 2 * tops[len(tops) // 2]) * 1.05)
    return pair
