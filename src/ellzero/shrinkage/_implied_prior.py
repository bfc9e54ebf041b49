"""The converse: the prior, if any, under which a proximal operator is the posterior mean."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ellzero._normal_means.prior import check_positive
from ellzero._normal_means.rule import Floats
from ellzero.shrinkage._normal_mixture import NormalMixture
from ellzero.shrinkage._npmle import fit_mixture
from ellzero.shrinkage._penalty import Penalty

__all__ = ["ImpliedPrior", "implied_prior"]

_CELL = 0.02  # where conditions are looked at
_SPACING = 0.2  # of the marginal's points; a normal mixture has no finer detail
_TOLERANCE = 1e-6
_FARTHEST = 400.0
_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(4)


@dataclass(frozen=True)
class ImpliedPrior:
    """What a penalty implies if its solution is taken for a posterior mean.

    Attributes
    ----------
    prior : NormalMixture or None
        A prior, as point masses, whose posterior mean is the penalty's proximal operator; None if
        there is none.
    reasons : tuple of str
        Why there is none; empty if there is one.
    y : ndarray
        Points on the line.
    log_marginal : ndarray
        Minus the Moreau envelope at those points: the log of the marginal density that the penalty
        implies, normalised if it can be.
    divergence : float
        Kullback-Leibler divergence of the nearest normal mixture from that density; NaN if it was
        not needed.
    """

    prior: NormalMixture | None
    reasons: tuple[str, ...]
    y: Floats
    log_marginal: Floats
    divergence: float


def implied_prior(penalty: Penalty, sigma_e: float = 1.0) -> ImpliedPrior:
    r"""Find the prior whose posterior mean is a penalty's solution, or say why there is none.

    If ``prox(y) = E[beta | y]`` at ``step = sigma_e^2`` for some prior, then by Tweedie's formula
    :math:`-\log m` is the Moreau envelope of the penalty, up to a constant; so the marginal is
    :math:`m \propto e^{-\mathrm{envelope}}`. It has to be a density, and a mixture of normals of
    standard deviation ``sigma_e``; which implies that the proximal operator is smooth and strictly
    increasing (Gribonval 2011). Penalties that make zeros fail that: hard and soft thresholding are
    the posterior mean of no prior.

    Parameters
    ----------
    penalty : Penalty
        Separable and symmetric.
    sigma_e : float
        Standard deviation of the noise.

    Returns
    -------
    ImpliedPrior
        The marginal, and the prior or the reasons why there is none.

    Examples
    --------
    >>> from ellzero.shrinkage import L1, L2, implied_prior
    >>> implied_prior(L1(1.0)).reasons[0]
    'the proximal operator is constant from -1 to 1; a posterior mean strictly increases'
    >>> ridge = implied_prior(L2(0.5))  # the prior is N(0, 2)
    >>> round(float(ridge.prior.weights @ ridge.prior.means**2), 3)
    2.0
    """
    noise = check_positive("sigma_e", sigma_e)
    step = noise**2
    if not isinstance(penalty, Penalty):
        raise TypeError(f"penalty must be a penalty of ellzero.shrinkage; got {penalty!r}.")
    pair = penalty.prox(noise * np.array([3.0, 2.9]), step)
    alone = [float(penalty.prox(noise * np.array([v]), step)[0]) for v in (3.0, -2.9)]
    if not (np.isclose(pair[0], alone[0]) and np.isclose(pair[1], -alone[1])):
        raise ValueError(f"penalty must be separable and symmetric; got {penalty!r}.")

    def rule(u: Floats) -> Floats:
        out: Floats = penalty.prox(noise * u, step) / noise
        return out

    reasons = _failures(rule)
    u, envelope = _envelope(rule)
    both = np.concatenate([-u[:0:-1], u])
    logs = -np.concatenate([envelope[:0:-1], envelope])
    if not any("integrable" in reason for reason in reasons):
        logs -= np.log(_SPACING * np.exp(logs).sum())
    prior, divergence = None, np.nan
    if not reasons:
        prior, divergence = _nearest_mixture(both, logs, noise)
        if divergence > _TOLERANCE:
            prior = None
            reasons.append(
                f"the marginal is no mixture of normals: the nearest is {divergence:.2g} away "
                "(Kullback-Leibler)"
            )
    return ImpliedPrior(prior, tuple(reasons), both * noise, logs - np.log(noise), divergence)


def _failures(rule: Callable[[Floats], Floats]) -> list[str]:
    """Return the properties of the rule that no posterior mean has."""
    reasons = []
    u = _CELL * np.arange(0.0, int(60 / _CELL))
    z = rule(u)
    flat = np.flatnonzero((z[1:] == z[:-1]) & (u[1:] > 0))
    if len(flat) and flat[0] == 0 and z[1] == z[0]:
        # From minus the first place where it moves; found to a few digits.
        end = _last(lambda v: rule(np.array([v]))[0] == z[0], u[flat[0]], u[-1])
        reasons.append(
            f"the proximal operator is constant from {-end:.4g} to {end:.4g}; "
            "a posterior mean strictly increases"
        )
    elif len(flat):
        reasons.append(
            f"the proximal operator is constant near {u[flat[0]]:.4g}; "
            "a posterior mean strictly increases"
        )
    steepest = np.argsort(np.diff(z))[-3:]
    for low, high in zip(u[steepest], u[steepest + 1], strict=True):
        size, at = _jump(rule, float(low), float(high))
        if size > 1e-6:
            reasons.append(
                f"the proximal operator jumps at {at:.4g}; a posterior mean is continuous"
            )
            break
    far = np.array([1e3, 1e5, 1e7])
    # exp(-envelope) falls faster than 1 / u if u times the envelope's slope exceeds one.
    if (far * (far - rule(far)) <= 1).all():
        reasons.append("exp(-envelope) is not integrable: the marginal would be improper")
    return reasons


def _last(holds: Callable[[float], bool], low: float, high: float) -> float:
    """Return where a condition that holds at ``low`` ends."""
    if holds(high):
        return high
    for _ in range(50):
        middle = (low + high) / 2
        low, high = (middle, high) if holds(middle) else (low, middle)
    return low


def _jump(rule: Callable[[Floats], Floats], low: float, high: float) -> tuple[float, float]:
    """Return what is left of a rise as the interval shrinks to nothing, and where."""
    for _ in range(45):
        middle = (low + high) / 2
        values = rule(np.array([low, middle, high]))
        if values[1] - values[0] > values[2] - values[1]:
            high = middle
        else:
            low = middle
    ends = rule(np.array([low, high]))
    return float(ends[1] - ends[0]), low


def _envelope(rule: Callable[[Floats], Floats]) -> tuple[Floats, Floats]:
    """Return points u >= 0 and the Moreau envelope there, the integral of ``u - rule(u)``.

    As far out as the marginal has mass.
    """
    reach = 12.0
    while True:
        u = _SPACING * np.arange(0.0, int(reach / _SPACING) + 1)
        edges = np.linspace(0, u[-1], 10 * (len(u) - 1) + 1)
        half = np.diff(edges) / 2
        at = (edges[:-1, None] + half[:, None] * (1 + _NODES)).ravel()
        slope = (at - rule(at)).reshape(-1, len(_NODES)) @ _WEIGHTS
        envelope = np.concatenate([[0.0], np.cumsum(half * slope)])[::10]
        if envelope[-1] > 34 or reach >= _FARTHEST:
            return u, envelope
        reach *= 1.5


def _nearest_mixture(u: Floats, logs: Floats, noise: float) -> tuple[NormalMixture, float]:
    """Maximise the likelihood of infinitely many observations from the marginal.

    If the marginal is a mixture, none can have a larger likelihood: the divergence is then no more
    than the certificate's gap.
    """
    shares = np.exp(logs) * _SPACING
    kept = shares > 1e-9
    points, shares = u[kept], shares[kept] / shares[kept].sum()
    mixture = fit_mixture(points, shares, 2e-7, 20)
    prior = NormalMixture(
        mixture.masses, np.zeros(len(mixture.masses)), means=mixture.centres * noise
    )
    gained = logs[kept] - np.log(noise) - prior.log_marginal(points * noise, sigma_e=noise)
    return prior, max(float(shares @ gained), 0.0)
