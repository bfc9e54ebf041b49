"""The horseshoe prior."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ellzero._normal_means.prior import NormalMeansPrior, check_positive
from ellzero._normal_means.rule import LOG_ROOT_2PI, Floats, Rule, Terms, widening_breaks
from ellzero.priors import in_noise

__all__ = ["Horseshoe"]

_STEP = 0.2  # of the trapezoidal rule; its error is exp(-pi^2 / step)
_BLOCK = 2**20  # numbers worked on at a time


class _HorseshoeRule(Rule):
    """Quadrature over x in (0, 1), x^2 being the share of u that is kept, E[b | u, scale] / u.

    The density of x given u is ``exp(-u^2 (1 - x^2) / 2) / (tau^2 (1 - x^2) + x^2)``, normalised.
    With ``x = 1 / (1 + exp(-t))`` this is smooth on the scale of one in t, and the trapezoidal rule
    converges exponentially.
    """

    def __init__(self, tau: float) -> None:
        self.tau = tau

    def _nodes(self, u: Floats) -> tuple[Floats, Floats, Floats]:
        """Return x^2 and 1 - x^2 at the nodes, and the nodes' weights."""
        # To the left only x of the order of tau matters, to the right 1 - x of 1/u^2 and 1/tau^2.
        left = 40 - min(0.0, np.log(self.tau))
        right = 40 + 2 * np.log(max(1.0, self.tau, float(u.max(initial=0.0))))
        t = np.arange(-left, right, _STEP)
        x, gap = 1 / (1 + np.exp(-t)), 1 / (1 + np.exp(t))
        kept, lost = x**2, gap * (1 + x)
        return kept, lost, 2 * self.tau / np.pi * _STEP * x * gap / (self.tau**2 * lost + kept)

    def _averages(self, u: Floats) -> tuple[Floats, Floats, Floats, Floats]:
        """Return the total weight, and the means of x^2 and 1 - x^2 and their common variance."""
        kept, lost, weights = self._nodes(u)
        columns = np.column_stack([np.ones_like(kept), kept, lost, kept**2, lost**2])
        columns *= weights[:, None]
        sums = np.empty((len(u), 5))
        rows = max(1, _BLOCK // len(weights))
        for begin in range(0, len(u), rows):
            at = u[begin : begin + rows, None]
            sums[begin : begin + rows] = np.exp(-0.5 * at**2 * lost) @ columns
        total = sums[:, 0]
        mean_kept, mean_lost, square_kept, square_lost = (sums[:, 1:] / total[:, None]).T
        # Of two equal differences the one between the smaller numbers does not cancel.
        common_variance = np.where(
            mean_kept < mean_lost, square_kept - mean_kept**2, square_lost - mean_lost**2
        )
        return total, mean_kept, mean_lost, common_variance

    def log_density(self, u: Floats) -> Floats:
        out: Floats = np.log(self._averages(u)[0]) - LOG_ROOT_2PI
        return out

    def terms(self, u: Floats) -> Terms:
        _, kept, lost, _ = self._averages(u)
        return Terms(u * kept, u * lost)

    def variance(self, u: Floats) -> Floats:
        _, kept, _, common_variance = self._averages(u)
        return kept + u**2 * common_variance

    def breaks(self) -> Floats:
        return widening_breaks(1e14)


@dataclass(frozen=True)
class Horseshoe(NormalMeansPrior):
    r"""The horseshoe (Carvalho, Polson and Scott 2010): a continuous prior with a pole at zero.

    .. math:: \beta \mid \lambda \sim N(0, \lambda^2 \tau^2), \qquad \lambda \sim C^+(0, 1)

    Computed by quadrature, to about twelve digits. There is no indicator, hence no inclusion
    probability; and the mode is zero whatever y is.

    Parameters
    ----------
    tau : float
        The global scale, in the units of beta.

    Examples
    --------
    >>> from ellzero.shrinkage import Horseshoe
    >>> Horseshoe(tau=0.1).posterior_mean([0.5, 1.5, 4.0, 8.0], sigma_e=1.0).round(4)
    array([0.0303, 0.131 , 3.1256, 7.7369])
    """

    tau: float

    def __post_init__(self) -> None:
        check_positive("tau", self.tau)

    def _rule(self, sigma_e: float) -> Rule:
        return _HorseshoeRule(in_noise("tau", self.tau, sigma_e))
