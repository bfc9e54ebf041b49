"""Distribution functions of tilted stable variables, from their Laplace transforms.

S tilted by t has the transform exp(t^a - (t + q)^a). With g = t^a, t S has exp(g - g (1 + q)^a).
"""

import numpy as np
from scipy import integrate

__all__ = ["cdf_by_fourier", "cdf_by_talbot", "cdf_untilted"]


def cdf_by_talbot(x, a, g, nodes=32):
    """P(t S <= x) by Talbot's contour: for distributions that are not narrow."""
    x = np.asarray(x)
    r = 2 * nodes / (5 * x)
    angle = np.arange(1, nodes) * np.pi / nodes
    cot = 1 / np.tan(angle)
    q = r[:, None] * (angle * cot + 1j * angle)
    turn = 1 + 1j * (angle + (angle * cot - 1) * cot)

    def transform(q):
        return np.exp(g - g * (1 + q) ** a) / q

    total = 0.5 * np.exp(r * x) * transform(r)
    total = total + (np.exp(x[:, None] * q) * transform(q) * turn).real.sum(axis=1)
    return r / nodes * total


def cdf_by_fourier(z, a, g, reach=60.0):
    """P((t S - mean) / sd <= z) by Gil-Pelaez: for narrow distributions, whose tails are short."""
    mean, sd = a * g, np.sqrt(a * (1 - a) * g)
    step = 2 * np.pi / (2 * reach)
    end = step
    while g * ((1 - 1j * end / sd) ** a).real - g < 25:
        end *= 1.3
    t = step * (np.arange(int(end / step) + 1) + 0.5)
    phi = np.exp(g - g * (1 - 1j * t / sd) ** a - 1j * t * mean / sd)
    inner = np.imag(np.exp(-1j * np.outer(z, t)) * phi) / t
    return 0.5 - step / np.pi * inner.sum(axis=1)


def cdf_untilted(log_x, a):
    """P(log S <= log_x) without a tilt, by Zolotarev's integral."""

    def inside(u, at):
        log_a = (
            a * np.log(np.sin(a * u)) + (1 - a) * np.log(np.sin((1 - a) * u)) - np.log(np.sin(u))
        )
        return np.exp(-np.exp(np.minimum((log_a - a * at) / (1 - a), 700)))

    return np.array(
        [integrate.quad(inside, 0, np.pi, args=(at,), limit=400)[0] / np.pi for at in log_x]
    )
