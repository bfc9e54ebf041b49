"""Simulated genotypes with linkage, and a trait of a few of them.

Variants come in blocks of 20 to 100. Along a block every haplotype is a Gaussian autoregression,
cut at a quantile: neighbours of like frequency are correlated, up to copies of each other, and less
so the farther apart they are; blocks are independent, as if a hot spot of recombination lay between
them. Frequencies of the rarer allele have a density of 1 / f from .01 to .5, often that of the
neighbour, and a genotype is two haplotypes. The trait is a sum of effects of a few variants, each
in a block of its own, and noise.
"""

from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy.special import ndtri

from ellzero import Genotypes
from ellzero.genotypes._codes import byte_count, pack_copies

__all__ = ["Problem", "block_starts", "make_problem"]

SHARES = (
    0.01,
    0.04,
)  # of the variance of the trait that a variant explains, the least and the most
COMMON = 0.05  # frequency from which on a variant may matter


class Problem(NamedTuple):
    """Genotypes, a trait, and which variants it is made of."""

    genotypes: Genotypes
    y: np.ndarray
    true: np.ndarray
    block: np.ndarray  # of each variant


def block_starts(p, rng):
    """Return where blocks begin."""
    starts = np.cumsum(rng.integers(20, 101, size=p // 20 + 1)) - 20
    return np.concatenate([[0], starts[(starts > 0) & (starts < p)]])


def _block(n, p, rng):
    """Return the copies of one block, a row for each variant."""
    frequency = 0.01 * 50 ** rng.random(p)
    for j in np.flatnonzero(rng.random(p - 1) < 0.6):
        frequency[j + 1] = frequency[j]
    step = rng.choice([0.0, 0.001, 0.01, 0.1], size=p)  # 1 - correlation with the one before
    noise = rng.standard_normal((p, 2 * n), dtype=np.float32)
    for j in range(1, p):
        rho = np.float32(1 - step[j])
        noise[j] *= np.sqrt(1 - rho * rho)
        noise[j] += rho * noise[j - 1]
    carried = noise < ndtri(frequency).astype(np.float32)[:, None]
    return carried[:, :n].astype(np.uint8) + carried[:, n:]


def make_problem(n, p, n_true, seed, missing=0.001):
    """Return a problem of n samples and p variants."""
    rng = np.random.default_rng(seed)
    starts = block_starts(p, rng)
    ends = np.append(starts[1:], p)
    packed = np.empty((p, byte_count(n)), dtype=np.uint8)
    for start, end in zip(starts, ends, strict=True):
        copies = _block(n, end - start, rng).astype(np.int8)
        copies.flat[rng.integers(0, copies.size, size=rng.poisson(missing * copies.size))] = -1
        packed[start:end] = pack_copies(copies.T)
    block = np.repeat(np.arange(starts.size), ends - starts)
    variants = pd.DataFrame(
        {
            "id": [f"rs{j}" for j in range(p)],
            "chromosome": np.minimum(np.arange(p) * 22 // p + 1, 22).astype(str),
            "position": 3000 * np.arange(p),
        }
    )
    samples = pd.DataFrame({"id": [f"s{i}" for i in range(n)]})
    genotypes = Genotypes(packed, n, variants, samples)
    frequency = genotypes.means / 2
    common = np.flatnonzero((frequency > COMMON) & (frequency < 1 - COMMON))
    chosen = rng.permutation(np.unique(block[common]))[:n_true]
    true = np.sort([rng.choice(common[block[common] == b]) for b in chosen])
    shares = np.geomspace(*SHARES, n_true)[rng.permutation(n_true)] if n_true else np.empty(0)
    table = genotypes.to_array(true)
    signs = rng.choice([-1.0, 1.0], size=n_true)
    signal = (table - table.mean(axis=0)) / table.std(axis=0) @ (signs * np.sqrt(shares))
    y = signal + np.sqrt(1 - shares.sum()) * rng.standard_normal(n)
    return Problem(genotypes, y, true, block)
