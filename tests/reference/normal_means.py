"""Normal means by mpmath: every quantity from the marginal's own formula, with digits to spare.

A prior is given as ``log_gain(u)``, K(u) = log E exp(u b - b^2 / 2), with its two derivatives, in
units of the noise. Everything else follows from them as in the paper.
"""

from dataclasses import dataclass

import mpmath as mp

from reference.mills import moment


@dataclass
class Gain:
    """K, the posterior mean K' and the posterior variance K'' at one u; the slab's weight."""

    value: mp.mpf
    mean: mp.mpf
    variance: mp.mpf
    inclusion: mp.mpf = None


def combine(parts):
    """Mix (weight, log gain, mean, variance) of components."""
    top = max(p[1] for p in parts)
    weights = [w * mp.exp(k - top) for w, k, _, _ in parts]
    total = mp.fsum(weights)
    shares = [w / total for w in weights]
    mean = mp.fsum(s * m for s, (_, _, m, _) in zip(shares, parts, strict=True))
    square = mp.fsum(s * (v + m * m) for s, (_, _, m, v) in zip(shares, parts, strict=True))
    return Gain(top + mp.log(total), mean, square - mean**2, shares[-1])


def point(u):
    return mp.mpf(0), mp.mpf(0), mp.mpf(0)


def normal(u, scale, centre=0):
    variance = 1 + scale**2
    log_gain = u**2 / 2 - (u - centre) ** 2 / (2 * variance) - mp.log(variance) / 2
    return log_gain, (scale**2 * u + centre) / variance, scale**2 / variance


def laplace(u, scale):
    rate = mp.sqrt(2) / scale
    near, far = rate - u, rate + u
    total = moment(0, near) + moment(0, far)
    mean = (moment(1, near) - moment(1, far)) / total
    square = (moment(2, near) + moment(2, far)) / total
    return mp.log(rate / 2 * total), mean, square - mean**2


def bernoulli_gaussian(theta, scale):
    return lambda u: combine([(1 - theta, *point(u)), (theta, *normal(u, scale))])


def bernoulli_laplace(theta, scale):
    return lambda u: combine([(1 - theta, *point(u)), (theta, *laplace(u, scale))])


def spike_slab_lasso(theta, spike, slab):
    return lambda u: combine([(1 - theta, *laplace(u, spike)), (theta, *laplace(u, slab))])


def normal_mixture(weights, centres, scales):
    return lambda u: combine(
        [(w, *normal(u, s, c)) for w, c, s in zip(weights, centres, scales, strict=True)]
    )


def horseshoe(tau):
    """By quadrature over x in (0, 1): x^2 is E[b | u, scale] / u."""

    def gain(u):
        def integrals(k):
            # x^(2k) exp(u^2 x^2 / 2) / (tau^2 (1 - x^2) + x^2), from both ends of (0, 1)
            def near_zero(t):
                x = mp.exp(-t)
                return (
                    x * x ** (2 * k) * mp.exp(u**2 * (x**2 - 1) / 2) / (tau**2 * (1 - x**2) + x**2)
                )

            def near_one(t):
                gap = mp.exp(-t)
                x = 1 - gap
                short = gap * (2 - gap)
                return gap * x ** (2 * k) * mp.exp(-(u**2) * short / 2) / (tau**2 * short + x**2)

            cuts = [mp.log(2), *range(2, 100, 7)]
            return (2 * tau / mp.pi) * (mp.quad(near_zero, cuts) + mp.quad(near_one, cuts))

        total, first, second = integrals(0), integrals(1), integrals(2)
        share = first / total
        return Gain(
            mp.log(total) + u**2 / 2,
            u * share,
            share + u**2 * (second / total - share**2),
        )

    return gain


def log_marginal(gain, u):
    return gain(u).value - u**2 / 2 - mp.log(2 * mp.pi) / 2


def score(gain, u):
    return gain(u).mean - u


def penalty(gain, u, origin=0):
    """The penalty at the posterior mean of u."""

    def raw(v):
        return -(score(gain, v) ** 2) / 2 - log_marginal(gain, v)

    return raw(u) - raw(mp.mpf(origin))
