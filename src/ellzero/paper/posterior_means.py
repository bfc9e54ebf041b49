"""Posterior means of one noisy observation under the two spike-and-slab priors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from ellzero.paper._claims import Claim, judge

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["CAPTION", "TITLE", "claims", "compute", "draw", "tabulate"]

TITLE = "Posterior means"
CAPTION = (
    "What is left of one observation y after shrinkage, under a prior that is a spike at zero or a "
    "slab of standard deviation sigma_beta. The dashed line would leave it as it is. The paper "
    "does not say which theta and sigma_beta its figure has: these were chosen to show what it "
    "describes."
)
_GAUSSIAN, _LAPLACE = "Bernoulli-Gaussian", "Bernoulli-Laplace"


def compute(
    theta: float = 0.2,
    sigma_betas: Sequence[float] = (0.5, 1.0, 2.0, 10.0),
    *,
    sigma_e: float = 1.0,
    reach: float = 6.0,
) -> pd.DataFrame:
    """Compute posterior means against observations, under both priors.

    The paper does not say which parameters its figure has: these show what its caption says.

    Parameters
    ----------
    theta : float
        Prior probability of the slab.
    sigma_betas : sequence of float
        Standard deviations of the slab.
    sigma_e : float
        Standard deviation of the noise.
    reach : float
        Observations from ``-reach`` to ``reach`` times ``sigma_e``.

    Returns
    -------
    pandas.DataFrame
        One row per point: ``prior``, ``theta``, ``sigma_beta``, ``sigma_e``, ``y`` and
        ``posterior_mean``.

    Examples
    --------
    >>> from ellzero.paper import posterior_means
    >>> data = posterior_means.compute()
    >>> data.query("prior == 'Bernoulli-Laplace' and sigma_beta == 2 and y == 1.5").round(6).iloc[0]
    ... # doctest: +NORMALIZE_WHITESPACE
    prior             Bernoulli-Laplace
    theta                           0.2
    sigma_beta                      2.0
    sigma_e                         1.0
    y                               1.5
    posterior_mean             0.208448
    Name: ..., dtype: object
    """
    from ellzero.plotting import shrinkage_curves

    return shrinkage_curves("posterior_mean", theta, sigma_betas, sigma_e, reach)


def draw(data: pd.DataFrame) -> Figure:
    """Draw the curves of :func:`compute`, Bernoulli-Gaussian left, Bernoulli-Laplace right."""
    from ellzero.plotting import draw_curves

    figure: Figure = draw_curves(data, "posterior_mean")[0].figure
    return figure


def tabulate(data: pd.DataFrame) -> pd.DataFrame:
    """Tabulate the posterior means of :func:`compute` at a few observations."""
    unit = data["sigma_e"].iloc[0]
    kept = data[np.isin((data["y"] / unit).round(9), [1.0, 2.0, 3.0, 4.0, 6.0])]
    return kept.pivot(index=["prior", "sigma_beta"], columns="y", values="posterior_mean").rename(
        columns=lambda y: f"at y = {y:g}"
    )


def claims(data: pd.DataFrame) -> list[Claim]:
    """Hold the paper's claims against the data of :func:`compute`."""
    unit, far = data["sigma_e"].iloc[0], data["y"].max()
    small = data[(data["y"].abs() <= unit) & (data["y"] != 0)]
    most = float((small["posterior_mean"] / small["y"]).max())
    narrow, wide = data["sigma_beta"].min(), data["sigma_beta"].max()
    end = data[(data["y"] == far) & (data["sigma_beta"] == narrow)].set_index("prior")
    kept = end["posterior_mean"] / far
    slopes = {prior: _last_slope(data, prior, narrow) for prior in (_GAUSSIAN, _LAPLACE)}
    far_off = data[data["y"] == far].sort_values("sigma_beta")
    lost = {
        prior: (1 - mine["posterior_mean"] / far).to_numpy()
        for prior, mine in far_off.groupby("prior")
    }
    return [
        Claim(
            "Both priors pull small observations towards zero.",
            f"Within one standard deviation of the noise at most {most:.0%} of an observation is "
            "kept.",
            "Confirmed if less than all is kept, everywhere.",
            judge(most < 1),
        ),
        Claim(
            "With a narrow slab the Gaussian one pulls large observations in more than the "
            "Laplace one, which is like soft thresholding.",
            f"With sigma_beta = {narrow:g}, of y = {far:g} the Gaussian slab keeps "
            f"{kept[_GAUSSIAN]:.0%} and the Laplace slab {kept[_LAPLACE]:.0%}; there one more unit "
            f"of y adds {slopes[_GAUSSIAN]:.2f} and {slopes[_LAPLACE]:.2f} (soft thresholding: 1).",
            "Confirmed if the Laplace slab keeps more and its slope is the closer to 1.",
            judge(
                kept[_GAUSSIAN] < kept[_LAPLACE]
                and abs(slopes[_LAPLACE] - 1) < abs(slopes[_GAUSSIAN] - 1)
            ),
        ),
        Claim(
            "The wider the slab, the closer both are to hard thresholding, which sets an "
            "observation to zero or leaves it alone.",
            f"From sigma_beta = {narrow:g} to {wide:g} what is lost of y = {far:g} goes "
            + " and ".join(
                f"{', '.join(f'{share:.0%}' for share in shares)} ({prior})"
                for prior, shares in lost.items()
            )
            + f"; of small ones at most {most:.0%} is kept.",
            "Confirmed if the loss falls with every wider slab, to less than 5%, and small "
            "observations keep less than 20%.",
            judge(
                all(np.all(np.diff(shares) < 0) and shares[-1] < 0.05 for shares in lost.values())
                and most < 0.2
            ),
        ),
    ]


def _last_slope(data: pd.DataFrame, prior: str, slab: float) -> float:
    curve = data[(data["prior"] == prior) & (data["sigma_beta"] == slab)].sort_values("y").tail(2)
    return float(np.diff(curve["posterior_mean"])[0] / np.diff(curve["y"])[0])
