"""What the default penalty of ``segment`` sees in noise, and what it misses in signals.

    python benchmarks/series_defaults.py [--seed 1] [--series 1000] [PART ...]

Parts: white (jumps seen in white noise, normal and t4), correlated (in AR(1) noise, with steps and
without, against correlation in the price alone), step (one step
of 5 standard deviations, found as exactly one), stretch (2 standard deviations over 50 samples,
against the penalty that simulation of the very noise sets at the same rate of false alarms),
glitches, locations (coverage of intervals), quantiles (what the formulas were fitted to). Shares
are of series, so that their standard error is sqrt(share (1 - share) / series). The formulas were
fitted at other seeds than those that are reported.
"""

import argparse
import warnings

import numpy as np
from scipy.signal import lfilter

from ellzero import segment

SHAPES = [(1.0, "free"), (1.0, "positive"), (0.99, "free"), (0.99, "positive")]
SHAPES += [(0.95, "free"), (0.95, "positive"), (0.8, "free"), (0.8, "positive")]


def noise(rng, kind, series, n, innovations="normal"):
    """Draw noise of standard deviation 1: normal, t4, or AR(1) by its correlation."""
    if kind == "normal":
        return rng.normal(size=(series, n))
    if kind == "t4":
        return rng.standard_t(4, size=(series, n)) / np.sqrt(2)
    drawn = np.sqrt(1 - kind**2) * noise(rng, innovations, series, n)
    drawn[:, 0] /= np.sqrt(1 - kind**2)
    return lfilter([1.0], [1.0, -kind], drawn, axis=1)


def count(n, series):
    """Return fewer series where each takes longer."""
    return max(100, min(series, series * 5_000 // n)) if n > 5_000 else series


def share_with_jumps(rows, **options):
    return np.mean([len(one.changepoints) > 0 for one in segment(rows, **options)])


def top_prices(rows, decay=1.0, jumps="free", start=1.0):
    """Return the penalty of each row above which there is no jump."""
    options = {"decay": decay, "jumps": jumps}
    whole = np.array([one.loss for one in segment(rows, 1e300, **options)])
    prices, rising = np.full(len(rows), start), np.arange(len(rows))
    while len(rising):
        found = segment(rows[rising], prices[rising].tolist(), **options)
        sizes = np.array([len(one.changepoints) for one in found])
        losses = np.array([one.loss for one in found])
        better = (whole[rising] - losses) / np.maximum(sizes, 1)
        more = (sizes > 0) & (better > prices[rising] * (1 + 1e-9))
        rising = rising[more]
        prices[rising] = better[more]
    return prices


def white(rng, series):
    print("\n| noise | decay | jumps | n | any jump, default | bic |\n|---|---|---|---|---|---|")
    for decay, jumps in SHAPES:
        for kind in ("normal", "t4"):
            for n in (50, 100, 200, 1000, 5000, 50_000):
                rows = noise(rng, kind, count(n, series), n)
                options = {"decay": decay, "jumps": jumps}
                ours = share_with_jumps(rows, **options)
                bic = share_with_jumps(rows, lam="bic", **options)
                about = f"| {kind} | {decay} | {jumps} | {n:,}"
                print(f"{about} | {ours:.3f} | {bic:.3f} |", flush=True)


def correlated(rng, series):
    """Correlation in the objective, and in the price alone, which is what other solvers do."""
    columns = ("innovations", "AR(1)", "n", "any jump", "in the price alone")
    columns += ("steps of 1, 2, 3, 5 sd found", "in the price alone")
    print(f"\n| {' | '.join(columns)} |\n{'|---' * len(columns)}|")
    for kind in ("normal", "t4"):
        for phi in (0.2, 0.5, 0.8, 0.95):
            for n in (50, 100, 200, 500, 1000, 5000):
                some = max(100, series * 500 // max(n, 500))
                null = noise(rng, phi, some, n, kind)
                steps = []
                for size in (1, 2, 3, 5):
                    steps.append(noise(rng, phi, some // 2, n, kind))
                    steps[-1][:, n // 2 :] += size
                shares, powers = [], []
                for solver in ("functional", "pelt"):
                    if solver == "pelt" and n > 1000:  # minutes
                        continue
                    shares.append(f"{share_with_jumps(null, solver=solver):.3f}")
                    found = [segment(rows, solver=solver) for rows in steps]
                    hits = [np.mean([near(one, n // 2) for one in some]) for some in found]
                    powers.append(", ".join(f"{hit:.2f}" for hit in hits))
                shares, powers = [*shares, ""][:2], [*powers, ""][:2]
                print(f"| {kind} | {phi} | {n:,} | {' | '.join(shares + powers)} |", flush=True)


def near(found, at):
    """Exactly one jump, at most ten samples off."""
    return len(found.changepoints) == 1 and abs(found.changepoints[0] - at) <= 10


def step(rng, series):
    print("\n| noise | n | exactly one jump | within two samples | bic: exactly one |")
    print("|---|---|---|---|---|")
    for kind in ("normal", "t4"):
        for n in (50, 100, 200, 1000, 5000, 50_000):
            rows = noise(rng, kind, count(n, series), n)
            at = rng.integers(n // 3, 2 * n // 3, len(rows))
            rows += 5.0 * (np.arange(n) >= at[:, None])
            found = segment(rows)
            one = np.mean([len(f.changepoints) == 1 for f in found])
            close = np.mean(
                [
                    np.abs(f.changepoints - t).min(initial=n) <= 2
                    for f, t in zip(found, at, strict=True)
                ]
            )
            bic = np.mean([len(f.changepoints) == 1 for f in segment(rows, "bic")])
            print(f"| {kind} | {n:,} | {one:.3f} | {close:.3f} | {bic:.3f} |", flush=True)


def stretch(rng, series):
    print("\n| noise | n | size | found | with the simulated penalty | the penalties |")
    print("|---|---|---|---|---|---|")
    for kind in ("normal", "t4"):
        for n in (200, 1000, 5000, 20_000):
            some = count(n, series)
            null = noise(rng, kind, some, n)
            rate = share_with_jumps(null)
            simulated = float(np.quantile(top_prices(null), 1 - rate))
            for size in (1.0, 1.5, 2.0):
                rows = noise(rng, kind, some, n)
                at = rng.integers(50, n - 100, some)
                times = np.arange(n)
                rows += size * ((times >= at[:, None]) & (times < at[:, None] + 50))
                shares, prices = [], []
                for lam in ("auto", simulated):
                    found = segment(rows, lam)
                    shares.append(
                        np.mean(
                            [
                                np.abs(f.changepoints - t).min(initial=n) <= 10
                                and np.abs(f.changepoints - t - 50).min(initial=n) <= 10
                                for f, t in zip(found, at, strict=True)
                            ]
                        )
                    )
                    prices.append(np.median([f.lam for f in found]))
                print(
                    f"| {kind} | {n:,} | {size} | {shares[0]:.3f} | {shares[1]:.3f} | "
                    f"{prices[0]:.1f}, {prices[1]:.1f} |",
                    flush=True,
                )


def glitches(rng, series):
    """Samples far off, in normal noise, with a stretch of 2 sd over 50 samples elsewhere."""
    print("\n| n | glitches | of size | stretch found | jumps elsewhere, mean |")
    print("|---|---|---|---|---|")
    for n in (500, 5000):
        for number in (1, 5):
            for size in (5.0, 10.0, 30.0, 100.0):
                some = series // 4
                rows = noise(rng, "normal", some, n)
                rows[:, 200:250] += 2.0
                for row in rows:
                    row[rng.choice(np.r_[10:180, 270 : n - 10], number, replace=False)] += size
                hits, others = 0, 0
                for one in segment(rows):
                    off = np.abs(one.changepoints[:, None] - np.array([200, 250]))
                    hits += (off.min(axis=0, initial=n) <= 10).all()
                    others += np.count_nonzero(off.min(axis=1) > 10)
                print(
                    f"| {n:,} | {number} | {size:g} | {hits / some:.3f} | {others / some:.2f} |",
                    flush=True,
                )


def locations(rng, series):
    print("\n| noise | size | pieces of | jumps found | 95%: holds the truth | mean width | 80% |")
    print("|---|---|---|---|---|---|---|")
    for kind in ("normal", "t4", 0.5, 0.8):
        for size in (0.5, 1.0, 2.0, 4.0):
            for length in (50, 200):
                true = length * np.arange(1, 5)
                rows = noise(rng, kind, series, 5 * length)
                rows += size * (np.arange(5 * length) // length % 2)
                hits, hits_80, widths = [], [], []
                for found in segment(rows):
                    # A jump that was found is that nearest to it, if none is nearer to that.
                    for (low, high), (a, b), at in zip(
                        found.locations(), found.locations(0.8), found.changepoints, strict=True
                    ):
                        nearest = true[np.argmin(np.abs(true - at))]
                        if np.abs(found.changepoints - nearest).min() < abs(at - nearest):
                            continue
                        hits.append(low <= nearest <= high)
                        hits_80.append(a <= nearest <= b)
                        widths.append(high - low + 1)
                if len(hits) < 50:
                    continue
                print(
                    f"| {kind} | {size:g} | {length} | {len(hits) / series / 4:.2f} | "
                    f"{np.mean(hits):.3f} | {np.mean(widths):.1f} | {np.mean(hits_80):.3f} |",
                    flush=True,
                )


def quantiles(rng, series):
    from ellzero.segmentation._calibrated import price_in_noise

    print("\n| decay | jumps | n | 96% | 97% | 98% | formula |\n|---|---|---|---|---|---|---|")
    for decay, jumps in SHAPES:
        for n in (50, 200, 1000, 5000, 50_000):
            tops = top_prices(noise(rng, "normal", count(n, series), n), decay, jumps)
            some = " | ".join(f"{q:.2f}" for q in np.quantile(tops, [0.96, 0.97, 0.98]))
            formula = price_in_noise(n, decay, jumps == "positive")
            print(f"| {decay} | {jumps} | {n:,} | {some} | {formula:.2f} |", flush=True)


PARTS = {
    part.__name__: part
    for part in (white, correlated, step, stretch, glitches, locations, quantiles)
}

if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("parts", nargs="*", choices=[*PARTS, []], default=[])
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--series", type=int, default=1000)
    asked = parser.parse_args()
    warnings.simplefilter("ignore")  # of series that are no pieces: here they are known to be
    for name in asked.parts or PARTS:
        PARTS[name](np.random.default_rng([asked.seed, *name.encode()]), asked.series)
