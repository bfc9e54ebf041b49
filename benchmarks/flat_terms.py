"""Confounders that belong in every model: under a flat prior, under the slab, or chosen as others.

    python benchmarks/flat_terms.py                 some minutes
    python benchmarks/flat_terms.py --first 5000    other data sets

Three confounders, of great effect, are correlated with twelve candidates, of which none or three
matter, each with a signal of .15 of the noise's variance in what confounders leave of it. "by hand"
is least squares on the confounders first, of y and of the candidates, and then the posterior of
what is left, which does not know that confounders took degrees of freedom.

Asked: with nothing there, flat terms find no more than without confounders in the data at all
("none in the data"); with three, as many; intervals of the confounders' coefficients hold the truth
as often as they say.
"""

import os

for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[_name] = "1"

import argparse
import warnings

import numpy as np

from ellzero import SpikeSlabRegressor

CONFOUNDERS, CANDIDATES = 3, 12
WAYS = ["flat", "always_include", "chosen", "by hand", "none in the data"]


def draw(n, there, seed):
    rng = np.random.default_rng([n, there, seed])
    F = rng.standard_normal((n, CONFOUNDERS))
    own = rng.standard_normal((n, CANDIDATES))
    X = own + 0.6 * F @ rng.standard_normal((CONFOUNDERS, CANDIDATES))
    beta = np.zeros(CANDIDATES)
    beta[:there] = np.sqrt(0.15) * rng.choice([-1, 1], there)
    gamma = 3.0 * rng.choice([-1, 1], CONFOUNDERS)
    noise = rng.standard_normal(n)
    return F, X, own, beta, gamma, noise


def fit(way, n, there, seed):
    """Return probabilities of the candidates, and intervals of the confounders if there are any."""
    F, X, own, beta, gamma, noise = draw(n, there, seed)
    y = X @ beta + F @ gamma + noise
    both, first = np.column_stack([F, X]), list(range(CONFOUNDERS))
    settings = {"random_state": seed, "expected_size": 2.0}
    if way == "none in the data":
        model = SpikeSlabRegressor(**settings).fit(own, own @ beta + noise)
        return model.inclusion_probabilities_, None
    if way == "by hand":
        ones = np.column_stack([np.ones(n), F])
        left = np.column_stack([y, X])
        left = left - ones @ np.linalg.lstsq(ones, left, rcond=None)[0]
        model = SpikeSlabRegressor(**settings).fit(left[:, 1:], left[:, 0])
        return model.inclusion_probabilities_, None
    if way != "chosen":
        settings[way] = first
    if way == "chosen":
        settings["expected_size"] += CONFOUNDERS
    model = SpikeSlabRegressor(**settings).fit(both, y)
    interval = model.credible_interval(0.9).to_numpy()[:CONFOUNDERS]
    held = (interval[:, 0] <= gamma) & (gamma <= interval[:, 1])
    return model.inclusion_probabilities_[CONFOUNDERS:], held


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--count", type=int, default=100)
    asked = parser.parse_args()
    warnings.simplefilter("ignore")
    print("| n | there | way | expected true | expected false | false above .5 | 90% intervals |")
    print("|---|---|---|---|---|---|---|")
    for n, there in ((30, 0), (30, 3), (100, 0), (100, 3)):
        for way in WAYS:
            rows, held = [], []
            for seed in range(asked.first, asked.first + asked.count):
                found, inside = fit(way, n, there, seed)
                rest = found[there:]
                rows.append((found[:there].sum(), rest.sum(), (rest > 0.5).sum()))
                held += [] if inside is None else inside.tolist()
            mean, error = np.mean(rows, axis=0), np.std(rows, axis=0) / np.sqrt(len(rows))
            cells = [f"{m:.2f} ± {e:.2f}" for m, e in zip(mean, error, strict=True)]
            shown = f"{np.mean(held):.3f}" if held else ""
            print(f"| {n} | {there} | {way} | {' | '.join(cells)} | {shown} |", flush=True)


if __name__ == "__main__":
    main()
