"""Two components, spike and slab, seen through unit normal noise."""

from __future__ import annotations

import math

import numpy as np
from scipy.special import expit

from ellzero._normal_means.components import Component, Evaluation
from ellzero._normal_means.rule import Floats, Rule, Terms, widening_breaks

__all__ = ["SpikeAndSlab"]


class SpikeAndSlab(Rule):
    """``(1 - theta) spike + theta slab``."""

    def __init__(self, theta: float, spike: Component, slab: Component) -> None:
        self.theta = theta
        self.log_odds = math.log(theta) - math.log1p(-theta)
        self.spike, self.slab = spike, slab
        origin = np.zeros(1)
        odds = float(self._log_odds(spike.evaluate(origin), slab.evaluate(origin))[0])
        self.inside, self.outside = expit(odds), expit(-odds)  # at u = 0

    def _log_odds(self, spike: Evaluation, slab: Evaluation) -> Floats:
        """Return the posterior log-odds of the slab."""
        gain = np.abs(spike.log_gain) + np.abs(slab.log_gain)
        density = np.abs(spike.log_density) + np.abs(slab.log_density)
        return self.log_odds + np.where(
            gain < density,
            slab.log_gain - spike.log_gain,
            slab.log_density - spike.log_density,
        )

    def inclusion(self, u: Floats) -> Floats:
        """Return the posterior probability of the slab."""
        out: Floats = expit(self._log_odds(self.spike.evaluate(u), self.slab.evaluate(u)))
        return out

    def log_density(self, u: Floats) -> Floats:
        return self._log_sum(self.spike.evaluate(u).log_density, self.slab.evaluate(u).log_density)

    def _log_sum(self, spike: Floats, slab: Floats) -> Floats:
        return np.logaddexp(math.log1p(-self.theta) + spike, math.log(self.theta) + slab)

    def terms(self, u: Floats) -> Terms:
        spike, slab = self.spike.evaluate(u), self.slab.evaluate(u)
        odds = self._log_odds(spike, slab)
        inside, outside = expit(odds), expit(-odds)
        return Terms(
            inside * slab.mean + outside * spike.mean,
            inside * slab.shrinkage + outside * spike.shrinkage,
        )

    def variance(self, u: Floats) -> Floats:
        spike, slab = self.spike.evaluate(u), self.slab.evaluate(u)
        odds = self._log_odds(spike, slab)
        inside, outside = expit(odds), expit(-odds)
        apart = np.where(
            u > 2 * slab.mean, slab.mean - spike.mean, spike.shrinkage - slab.shrinkage
        )
        out: Floats = (
            inside * self.slab.variance(u)
            + outside * self.spike.variance(u)
            + inside * outside * apart**2
        )
        return out

    def log_growth(self, u: Floats) -> Floats:
        """Return ``K(u) - K(0)``."""
        with np.errstate(invalid="ignore"):
            growth = self.inside * self.slab.growth(u) + self.outside * self.spike.growth(u)
        spike, slab = self.spike.evaluate(u), self.slab.evaluate(u)
        origin = np.zeros(1)
        start = self._log_sum(
            self.spike.evaluate(origin).log_gain, self.slab.evaluate(origin).log_gain
        )
        far = self._log_sum(spike.log_gain, slab.log_gain) - start
        return np.where(np.isfinite(growth), np.log1p(growth), far)

    def log_drop(self, u: Floats) -> Floats:
        """Return ``log m(0) - log m(u)``."""
        drop = self.inside * self.slab.drop(u) + self.outside * self.spike.drop(u)
        near = drop < 0.5
        out: Floats = self.log_density(np.zeros(1)) - self.log_density(u)
        out[near] = -np.log1p(-drop[near])
        return out

    def penalty(self, u: Floats, origin: float = 0.0) -> Floats:
        """Return whichever of the two forms does not cancel."""
        mean, shrinkage = self.terms(u)
        by_drop = self.log_drop(u) - 0.5 * shrinkage**2
        by_growth = u * mean - 0.5 * mean**2 - self.log_growth(u)
        return np.where(shrinkage < mean, by_drop, by_growth)

    def mode(self, u: Floats) -> Floats:
        """Return the joint mode over the indicator and the values of both components."""
        spike, spike_gain = self.spike.mode(u)
        slab, slab_gain = self.slab.mode(u)
        return np.where(slab_gain + self.log_odds > spike_gain, slab, spike)

    def breaks(self) -> Floats:
        return widening_breaks(max(self.spike.reach, self.slab.reach))
