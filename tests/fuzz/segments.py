"""segment and segment_path against all ways to cut a short series."""

import math
import warnings
from itertools import pairwise

import numpy as np
from reference.correlated_segmentation import best_of_all
from reference.correlated_segmentation import jump_profile as correlated_profile
from reference.segmentation import brute_force, jump_profile, segment_fits

from ellzero import segment, segment_path
from ellzero._warnings import PiecesWarning
from fuzz import hostile


def series(rng, most=10):
    """Draw a series, its weights, a decay, and a factor that all of it was multiplied by."""
    n = int(rng.integers(1, most + 1))
    y = [
        rng.normal(size=n),
        rng.integers(-2, 4, n).astype(float),
        rng.integers(0, 2, n).astype(float),
        np.cumsum(rng.normal(size=n)),
        rng.normal(size=n) + 10 ** rng.uniform(0, 5),
        np.full(n, rng.choice([0.0, 1.0, 0.1])),
        5 * 0.7 ** np.arange(n),
        np.where(np.arange(n) == rng.integers(n), 10 ** rng.uniform(0, 8), 0.0),
    ][rng.integers(8)]
    if rng.random() < 0.3:
        y[1:][rng.random(n - 1) < 0.3] = np.nan  # nothing at all is an error
    weights = None
    if rng.random() < 0.35:
        weights = [
            rng.integers(0, 4, n).astype(float),
            rng.exponential(size=n),
            10 ** rng.uniform(-6, 6, n),
        ][rng.integers(3)]
        weights = weights if weights[~np.isnan(y)].any() else None
    decays = [1.0, 1.0, 0.5, 0.9, 0.98, rng.uniform(0.01, 1), 1 - 10 ** rng.uniform(-12, -3), 1e-3]
    factor = hostile.any_scale(rng) if rng.random() < 0.3 else 1.0
    return y * factor, weights, float(decays[rng.integers(8)]), factor


def rounding(y, weights):
    w = 1.0 if weights is None else weights
    return 1e-12 * float(np.nansum(w * y**2))


def check_segments(rng):
    """The least objective of all, reached by a signal that keeps the rules."""
    y, weights, decay, factor = series(rng)
    lam = [0.0, 0.125, 0.5, 1.0, rng.exponential(), 10 ** rng.uniform(-6, 6), 1e9][rng.integers(7)]
    lam = float(lam * factor**2)
    jumps = ["free", "positive"][rng.integers(2)]
    solver = ["functional", "functional", "pelt", "dp"][rng.integers(4)]
    found = segment(y, lam, decay=decay, jumps=jumps, solver=solver, sample_weight=weights)
    least, _ = brute_force(y, lam, decay=decay, positive=jumps == "positive", weights=weights)
    slack = rounding(y, weights) + 1e-9 * lam
    assert abs(found.objective - least) <= slack + 1e-9 * least, (
        f"{solver}: objective {found.objective!r}, the least of all is {least!r}"
    )
    assert_sound(found, y, weights, decay, jumps, slack)


def assert_sound(found, y, weights, decay, jumps, slack):
    """The signal is the best fit on its segments; jumps keep the rules."""
    there = ~np.isnan(y) if weights is None else ~np.isnan(y) & (weights > 0)
    if not there.any():
        assert found.changepoints.size == 0
        return
    assert np.isfinite(found.signal).all(), "the signal is not finite"
    assert there[found.changepoints].all(), "a segment begins in a gap"
    if jumps == "positive":
        assert (found.jumps > 0).all(), f"jumps {found.jumps}"
    loss, _, _ = segment_fits(y, weights, decay)
    edges = [0, *found.changepoints.tolist(), len(y)]
    parts = [loss[s, e - 1] for s, e in pairwise(edges)]
    assert abs(np.nansum(parts) - found.loss) <= slack + 1e-9 * found.loss, (
        f"loss {found.loss!r}, but the best fit on its segments has {np.nansum(parts)!r}"
    )
    w = np.ones(len(y)) if weights is None else weights
    literal = 0.5 * np.nansum(w * (y - found.signal) ** 2)
    assert abs(literal - found.loss) <= slack + 1e-9 * found.loss, (
        f"the signal has loss {literal!r}, not {found.loss!r}"
    )


def check_correlated(rng):
    """Steps in correlated noise: the least objective of all sets of jumps."""
    y, weights, _, factor = series(rng, most=9)
    if weights is not None and weights[weights > 0].min() < 1e-3 * weights.max():
        weights = None  # the covariance that the reference writes out is then too hard to invert
    lam = float(10 ** rng.uniform(-4, 3) * factor**2)
    phi = float([0.1, 0.5, 0.9, 0.99, 1e-6, rng.uniform(0.01, 0.99)][rng.integers(6)])
    found = segment(y, lam, noise=phi, sample_weight=weights)
    least = best_of_all(y, lam, phi, weights)
    slack = 10 * rounding(y, weights) + 1e-9 * lam
    assert abs(found.objective - least) <= slack + 1e-9 * least, (
        f"objective {found.objective!r}, the least of all is {least!r}"
    )


def check_path(rng):
    """Every interval of the path against all ways to cut, at prices inside and at random."""
    y, weights, decay, factor = series(rng, most=9)
    jumps = ["free", "positive"][rng.integers(2)]
    solver = ["functional", "pelt"][rng.integers(2)]
    low = (
        float(10 ** rng.uniform(-4, 1) * factor**2)
        if rng.random() < 0.8 or weights is not None
        else None
    )
    options = {"decay": decay, "jumps": jumps, "sample_weight": weights}
    path = segment_path(y, low, solver=solver, **options)
    assert (np.diff(path.n_segments) > 0).all()
    assert (np.diff(path.lambdas) < 0).all(), f"breakpoints {path.lambdas}"
    assert (np.diff(path.losses) < 0).all(), f"losses {path.losses}"
    lams = [path.at(segments=int(size)).lam for size in path.n_segments]
    lams += (path.lam_min + factor**2 * 10 ** rng.uniform(-4, 4, 3)).tolist()
    for lam in lams:
        read = path.at(lam=lam)
        least, _ = brute_force(y, lam, decay=decay, positive=jumps == "positive", weights=weights)
        if path.phi > 0:
            least = best_of_all(y, lam, path.phi, weights)
        slack = rounding(y, weights) + 1e-8 * lam
        assert abs(read.objective - least) <= slack + 1e-9 * least, (
            f"at lam={lam!r} the path has {read.objective!r}, the least is {least!r}"
        )


def check_defaults(rng):
    """The default penalty is a number, the same in other units; a jump lies where it is best."""
    y, weights, decay, factor = series(rng, most=[10, 60][rng.integers(2)])
    jumps = ["free", "positive"][rng.integers(2)]
    noise = ["auto", "white", "ar1"][rng.integers(3)]
    options = {"decay": decay, "jumps": jumps, "noise": noise, "sample_weight": weights}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PiecesWarning)
        found = segment(y, **options)
        unit = 2.0 ** float(rng.integers(-20, 20))  # exact, so that the bits are the same
        other = segment(unit * y, **options)
    assert math.isfinite(found.lam), f"lam {found.lam!r}"
    assert found.lam >= 0, f"lam {found.lam!r}"
    if 1e-100 < abs(factor) < 1e100:
        assert other.changepoints.tolist() == found.changepoints.tolist(), (
            "other units, other jumps"
        )
    assert 0 <= found.noise.correlation < 1, f"noise {found.noise}"
    assert all(isinstance(caution, str) for caution in found.cautions)
    places = found.locations()
    assert (places[:, 0] <= found.changepoints).all(), f"{places} and {found.changepoints}"
    assert (places[:, 1] >= found.changepoints).all(), f"{places} and {found.changepoints}"
    slack = -math.log(1 - math.sqrt(0.95)) * found.noise.sd**2
    slack *= 1 - found.phi**2 if found.phi > 0 else found.noise.inflation(decay)
    edges = [0, *found.changepoints.tolist(), len(y)]
    for k, (low, high) in enumerate(places):
        if found.phi > 0:
            losses = correlated_profile(y, found.phi, found.changepoints, k, weights)
        else:
            losses = jump_profile(y, edges[k], edges[k + 2], weights, decay)
        bar = min(losses.values()) + slack
        room = 1e-9 * bar + rounding(y, weights)
        for t, loss in losses.items():
            assert low <= t <= high or loss > bar - room, f"{t} could be one, outside {low}..{high}"
        for t in (low, high):
            assert losses[t] <= bar + room or t in found.changepoints, f"{t} could not be one"
