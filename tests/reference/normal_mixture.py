"""Quantiles of a mixture of normals, in fifty digits, by bisection alone."""

import mpmath as mp


def mixture_quantile(means, sd, level):
    """Return where the mean of the components' distribution functions has a level."""
    with mp.workdps(50):
        parts = [(mp.mpf(m), mp.mpf(s)) for m, s in zip(means, sd, strict=True)]
        wanted = len(parts) * mp.mpf(level)

        def below(x):
            return mp.fsum(mp.ncdf((x - m) / s) for m, s in parts) < wanted

        reach = 50 * max(s for _, s in parts)
        low, high = min(means) - reach, max(means) + reach
        for _ in range(120):
            middle = (low + high) / 2
            low, high = (middle, high) if below(middle) else (low, middle)
        return float(low)
