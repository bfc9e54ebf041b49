"""The penalties whose regularised solutions are the posterior means."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from ellzero.paper._claims import Claim, judge

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["CAPTION", "TITLE", "claims", "compute", "draw", "tabulate"]

TITLE = "Penalties behind the posterior means"
CAPTION = (
    "The penalty phi for which the minimum of (y - beta)^2 / (2 sigma_e^2) + phi(beta) is the "
    "posterior mean given y. The paper does not say which theta and sigma_beta its figure has: "
    "these were chosen to show what it describes."
)
_GAUSSIAN, _LAPLACE = "Bernoulli-Gaussian", "Bernoulli-Laplace"


def compute(
    theta: float = 0.2,
    sigma_betas: Sequence[float] = (0.5, 1.0, 2.0, 10.0),
    *,
    sigma_e: float = 1.0,
    reach: float = 6.0,
) -> pd.DataFrame:
    """Compute the penalties phi behind posterior means: ``1/2 (y - b)^2 / sigma_e^2 + phi(b)``.

    Parameters
    ----------
    theta : float
        Prior probability of the slab.
    sigma_betas : sequence of float
        Standard deviations of the slab.
    sigma_e : float
        Standard deviation of the noise.
    reach : float
        Coefficients from ``-reach`` to ``reach`` times ``sigma_e``.

    Returns
    -------
    pandas.DataFrame
        One row per point: ``prior``, ``theta``, ``sigma_beta``, ``sigma_e``, ``beta``, ``penalty``.

    Examples
    --------
    >>> from ellzero.paper import penalties
    >>> data = penalties.compute()
    >>> bool((data.query("beta == 0").penalty == 0).all())
    True
    """
    from ellzero.plotting import shrinkage_curves

    return shrinkage_curves("penalty", theta, sigma_betas, sigma_e, reach)


def draw(data: pd.DataFrame) -> Figure:
    """Draw the curves of :func:`compute`, Bernoulli-Gaussian left, Bernoulli-Laplace right."""
    from ellzero.plotting import draw_curves

    figure: Figure = draw_curves(data, "penalty")[0].figure
    return figure


def tabulate(data: pd.DataFrame) -> pd.DataFrame:
    """Tabulate the penalties of :func:`compute` at a few coefficients."""
    unit = data["sigma_e"].iloc[0]
    kept = data[np.isin((data["beta"] / unit).round(9), [0.1, 1.0, 2.0, 4.0, 6.0])]
    return kept.pivot(index=["prior", "sigma_beta"], columns="beta", values="penalty").rename(
        columns=lambda beta: f"at beta = {beta:g}"
    )


def claims(data: pd.DataFrame) -> list[Claim]:
    """Hold the paper's claims against the data of :func:`compute`."""
    slabs = sorted(float(slab) for slab in data["sigma_beta"].unique())
    curves = {
        (prior, slab): _Curve(data[(data["prior"] == prior) & (data["sigma_beta"] == slab)])
        for prior in (_GAUSSIAN, _LAPLACE)
        for slab in slabs
    }
    gaussian, laplace = curves[_GAUSSIAN, slabs[0]], curves[_LAPLACE, slabs[0]]
    step = gaussian.beta[0]
    rounded = min(curve.second_over_first for curve in curves.values())
    near = max(curve.half_at for curve in curves.values())
    tails = {prior: [curves[prior, slab].last for slab in slabs] for prior in (_GAUSSIAN, _LAPLACE)}
    widest = [curves[prior, slabs[-1]] for prior in tails]
    left = max(curve.last / curve.steepest for curve in widest)
    return [
        Claim(
            "Penalties look pointed at zero, as if to set coefficients to zero, but are "
            "differentiable everywhere.",
            f"They have half their steepness no further than {near:.2g} from zero; "
            f"the slope over a second step of {step:g} from zero is at least {rounded:.2f} times "
            "that over the first (a parabola: 3, a kink: 1).",
            "Confirmed if half their steepness is reached within half a standard deviation of the "
            "noise, and that ratio is more than 2.",
            judge(near < 0.5 * data["sigma_e"].iloc[0] and rounded > 2),
        ),
        Claim(
            "With a narrow slab the Gaussian one's penalty grows as ridge's for large "
            "coefficients, the Laplace one's as lasso's.",
            f"With sigma_beta = {slabs[0]:g}, at beta = {gaussian.beta[-1]:g} the slope grows with "
            f"the power {gaussian.slope_power:.1f} of beta for the Gaussian slab (ridge: 1) and "
            f"{laplace.slope_power:z.1f} for the Laplace slab (lasso: 0).",
            "Confirmed if both powers are within 0.25 of what is said.",
            judge(abs(gaussian.slope_power - 1) < 0.25 and abs(laplace.slope_power) < 0.25),
        ),
        Claim(
            "The wider the slab, the more both are like SCAD: steep near zero, flat far from it.",
            f"The slope at beta = {gaussian.beta[-1]:g} is "
            + " and ".join(
                f"{', '.join(f'{slope:.2g}' for slope in slopes)} ({prior})"
                for prior, slopes in tails.items()
            )
            + f" for sigma_beta = {', '.join(f'{slab:g}' for slab in slabs)}: with the widest at "
            f"most {left:.0%} of the steepest.",
            "Confirmed if the slope falls with every wider slab, to less than 10% of the steepest.",
            judge(left < 0.1 and all(np.all(np.diff(slopes) < 0) for slopes in tails.values())),
        ),
    ]


class _Curve:
    """Slopes of a penalty for positive coefficients, by differences."""

    def __init__(self, curve: pd.DataFrame) -> None:
        curve = curve.sort_values("beta")
        beta, height = curve["beta"].to_numpy(), curve["penalty"].to_numpy()
        slopes = np.diff(height) / np.diff(beta)
        middle = slopes.size // 2
        self.beta, slope = beta[middle + 1 :], slopes[middle:]
        self.second_over_first = float(slope[1] / slope[0])
        self.steepest, self.last = float(slope.max()), float(slope[-1])
        # A ridge is steepest at its end: what is meant is near zero.
        self.half_at = float(self.beta[np.argmax(slope >= 0.5 * slope[: slope.size // 4].max())])
        tail = slice(-slope.size // 10, None)
        at = self.beta[tail] - 0.5 * np.diff(beta[:2])[0]
        self.slope_power = float(np.polyfit(np.log(at), np.log(slope[tail]), 1)[0])
