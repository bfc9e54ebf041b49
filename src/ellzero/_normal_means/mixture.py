"""A mixture of normals, seen through unit normal noise."""

from __future__ import annotations

import numpy as np

from ellzero._normal_means.rule import LOG_ROOT_2PI, Floats, Rule, Terms, widening_breaks

__all__ = ["NormalMixtureRule"]

_BLOCK = 2**16  # numbers worked on at a time, so that they stay in the cache


class NormalMixtureRule(Rule):
    """Components ``N(centre_j, scale_j^2)``, a scale of zero being a point mass."""

    def __init__(self, weights: Floats, centres: Floats, scales: Floats) -> None:
        self.log_weights = np.log(weights)
        self.centres, self.scales = centres, scales
        self.widths = 1 + scales**2  # variances of the marginal's components
        self.symmetric = not centres.any()
        if not scales.any():
            self.low, self.high = float(centres.min()), float(centres.max())

    def _blocks(self, u: Floats) -> list[slice]:
        rows = max(1, _BLOCK // len(self.centres))
        return [slice(begin, begin + rows) for begin in range(0, len(u), rows)]

    def _log_parts(self, u: Floats) -> Floats:
        return (
            self.log_weights
            - 0.5 * np.log(self.widths)
            - (u[:, None] - self.centres) ** 2 / (2 * self.widths)
        )

    def shares(self, u: Floats) -> Floats:
        """Return the posterior probabilities of the components, one row for every u.

        As differences from the most probable one, which are exact even where the logs are huge.
        """
        best = self._log_parts(u).argmax(axis=1)[:, None]
        away = u[:, None] - self.centres
        away_best = np.take_along_axis(away, best, axis=1)
        width, scale = self.widths[best], self.scales[best]
        quadratic = (self.centres - self.centres[best]) * (away_best + away) / width
        wider = (self.scales - scale) * (self.scales + scale)
        quadratic += away**2 * (wider / (width * self.widths))
        logs = self.log_weights - self.log_weights[best] - 0.5 * np.log(self.widths / width)
        logs = logs + 0.5 * quadratic
        # Rounding may have chosen a component that is not quite the most probable.
        out: Floats = np.exp(logs - logs.max(axis=1, keepdims=True))
        out /= out.sum(axis=1, keepdims=True)
        return out

    def log_density(self, u: Floats) -> Floats:
        out = np.empty_like(u)
        for block in self._blocks(u):
            logs = self._log_parts(u[block])
            top = logs.max(axis=1)
            out[block] = top + np.log(np.exp(logs - top[:, None]).sum(axis=1)) - LOG_ROOT_2PI
        return out

    def terms(self, u: Floats) -> Terms:
        mean, shrinkage = np.empty_like(u), np.empty_like(u)
        kept = self.scales**2 / self.widths
        for block in self._blocks(u):
            shares, at = self.shares(u[block]), u[block]
            mean[block] = at * (shares @ kept) + shares @ (self.centres / self.widths)
            shrinkage[block] = at * (shares @ (1 / self.widths)) - shares @ (
                self.centres / self.widths
            )
        return Terms(mean, shrinkage)

    def variance(self, u: Floats) -> Floats:
        out = np.empty_like(u)
        kept = self.scales**2 / self.widths
        for block in self._blocks(u):
            shares, at = self.shares(u[block]), u[block, None]
            best = shares.argmax(axis=1)[:, None]
            # Differences of the components' means from one of them, none of which cancels.
            apart = (self.centres - self.centres[best]) / self.widths
            wider = (self.scales - self.scales[best]) * (self.scales + self.scales[best])
            apart += (at - self.centres[best]) * wider / (self.widths * self.widths[best])
            first = (shares * apart).sum(axis=1)
            out[block] = shares @ kept + (shares * (apart - first[:, None]) ** 2).sum(axis=1)
        return out

    def inclusion(self, u: Floats) -> Floats:
        """Return the posterior probability of all but a point mass at zero."""
        elsewhere = ((self.scales != 0) | (self.centres != 0)).astype(np.float64)
        out = np.empty_like(u)
        for block in self._blocks(u):
            out[block] = self.shares(u[block]) @ elsewhere
        return out

    def penalty(self, u: Floats, origin: float) -> Floats:
        if not self.symmetric:
            return super().penalty(u, origin)
        zero = np.zeros(1)
        start = self.shares(zero)[0]
        mean, shrinkage = self.terms(u)
        half = 0.5 * u**2
        gain, drop = np.empty_like(u), np.empty_like(u)
        for block in self._blocks(u):
            column = half[block, None]
            with np.errstate(over="ignore"):
                growth = np.expm1(column * (self.scales**2 / self.widths)) @ start
            fall = -np.expm1(-column / self.widths) @ start
            drop[block] = np.where(
                fall < 0.5,
                -np.log1p(-np.minimum(fall, 0.5)),
                self.log_density(zero) - self.log_density(u[block]),
            )
            gain[block] = np.where(np.isfinite(growth), np.log1p(growth), half[block] - drop[block])
        by_drop = drop - 0.5 * shrinkage**2
        by_growth = u * mean - 0.5 * mean**2 - gain
        return np.where(shrinkage < mean, by_drop, by_growth)

    def mode(self, u: Floats) -> Floats:
        """Return the joint mode over the component's label and the components' values."""
        price = (u[:, None] - self.centres) ** 2 / (2 * self.widths) - self.log_weights
        best = price.argmin(axis=1)
        out: Floats = (self.scales[best] ** 2 * u + self.centres[best]) / self.widths[best]
        return out

    def breaks(self) -> Floats:
        outwards = widening_breaks(40 * float(np.sqrt(self.widths.max())))
        if self.symmetric:
            return outwards
        both = np.concatenate([-outwards[:0:-1], outwards])
        cuts = np.unique((self.centres[:, None] + both).ravel())
        return cuts[np.r_[True, np.diff(np.floor(cuts / 0.25)) > 0]]
