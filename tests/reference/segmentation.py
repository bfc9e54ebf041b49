"""All ways to cut a short series into segments, each fitted by itself.

For positive jumps a cut counts if every jump comes out upward: if the best fit under the constraint
had a jump of zero, the same fit without that cut would cost lam less.
"""

import numpy as np
from scipy.optimize import nnls


def segment_fits(y, weights=None, decay=1.0):
    """Return loss, first and last level of the best fit on every stretch s..e, as matrices."""
    y = np.asarray(y, dtype=float)
    n = len(y)
    w = np.ones(n) if weights is None else np.asarray(weights, dtype=float)
    w = np.where(np.isnan(y), 0.0, w)
    y = np.where(np.isnan(y), 0.0, y)
    loss, first, last = np.full((3, n, n), np.nan)
    for s in range(n):
        for e in range(s, n):
            shape = decay ** np.arange(e - s + 1.0)
            part, share = y[s : e + 1], w[s : e + 1]
            if not share.any():
                continue
            level = (share * shape) @ part / ((share * shape) @ shape)
            loss[s, e] = 0.5 * share @ (part - level * shape) ** 2
            first[s, e], last[s, e] = level, level * shape[-1]
    return loss, first, last


def brute_force(y, lam, *, decay=1.0, positive=False, weights=None):
    """Return the least objective over all 2^(n-1) ways to cut, and the fewest segments it takes.

    Cuts that leave a segment without a sample are passed over: they could only add jumps.
    """
    n = len(y)
    if n == 0:
        return 0.0, 0
    loss, first, last = segment_fits(y, weights, decay)
    if np.isnan(loss[0, n - 1]):
        return 0.0, 1
    cuts = (np.arange(2 ** (n - 1))[:, None] >> np.arange(n - 1)) & 1 == 1
    total = lam * cuts.sum(axis=1, dtype=float)
    start = np.zeros(len(cuts), dtype=int)
    level = np.full(len(cuts), -np.inf)
    for e in range(n):
        ends = cuts[:, e] if e < n - 1 else np.ones(len(cuts), dtype=bool)
        total += np.where(ends, loss[start, e], 0.0)
        if positive:
            total[ends & ~(first[start, e] > decay * level)] = np.nan
        level = np.where(ends, last[start, e], level)
        start = np.where(ends, e + 1, start)
        start = np.minimum(start, n - 1)
    least = np.nanmin(total)
    close = total <= least + 1e-12 * max(abs(least), 1e-300)
    return least, 1 + int(cuts[close].sum(axis=1).min())


def brute_force_nnls(y, lam, *, decay=1.0):
    """Return the least objective with positive jumps, every choice of jumps fitted by NNLS."""
    n = len(y)
    columns = np.tril(
        decay ** (np.arange(n)[:, None] - np.arange(n)[None, :]).clip(0).astype(float)
    )
    best = np.inf
    for code in range(2 ** (n - 1)):
        jumps = [k + 1 for k in range(n - 1) if code >> k & 1]
        # The first level may have either sign.
        design = np.column_stack([columns[:, 0], -columns[:, 0], *columns[:, jumps].T])
        best = min(best, 0.5 * nnls(design, np.asarray(y, float))[1] ** 2 + lam * len(jumps))
    return best


def jump_profile(y, start, stop, weights=None, decay=1.0):
    """Return the loss on y[start:stop] with one jump, for every time at which it could be.

    Only times that were observed, with something observed before, count.
    """
    part = np.asarray(y, dtype=float)[start:stop]
    w = np.ones(len(part)) if weights is None else np.asarray(weights, dtype=float)[start:stop]
    loss, _, _ = segment_fits(part, w, decay)
    there = ~np.isnan(part) & (w > 0)
    return {
        start + t: loss[0, t - 1] + loss[t, len(part) - 1]
        for t in range(1, len(part))
        if there[t] and there[:t].any()
    }
