"""
Genotypes: which of twenty thousand variants
============================================

A genotype is 0, 1 or 2 copies of an allele: two bits. PLINK's files keep it so, and so do fits
here: a million variants of two thousand people are half a gigabyte, where numbers would be sixteen.
Here are 20,000 variants of 1,000 people, simulated with linkage: neighbours on a chromosome are
nearly copies of each other. Six of them act on a trait.
"""

import tempfile
import warnings
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from scipy import stats
from scipy.special import ndtri

from ellzero import Genotypes, L0Regressor, SpikeSlabRegressor, read_genotypes
from ellzero.genotypes import MissingGenotypesWarning

rng = np.random.default_rng(3)
n, blocks, width = 1000, 400, 50
p = blocks * width
haplotypes = rng.normal(size=(2 * n, blocks, width))
for j in range(1, width):  # along a block, each is mostly the one before
    rho = rng.choice([0.9, 0.99, 0.999], size=blocks)
    haplotypes[:, :, j] = rho * haplotypes[:, :, j - 1] + np.sqrt(1 - rho**2) * haplotypes[:, :, j]
frequency = np.repeat(rng.uniform(0.05, 0.5, size=(blocks, 5)), width // 5, axis=1)
carried = (haplotypes < ndtri(frequency)).reshape(2 * n, p)
copies = carried[:n].astype(np.int8) + carried[n:]
copies[rng.random(copies.shape) < 0.001] = -1  # some could not be read
active = np.sort(rng.choice(blocks, size=6, replace=False)) * width + rng.integers(0, width, 6)
ids = [f"rs{j}" for j in range(p)]

# %%
# Written as a study would have them, and opened: nothing is read before somebody asks for it.

folder = Path(tempfile.mkdtemp())
Genotypes.from_array(copies, variants=ids).write(folder / "study.bed")
genotypes = read_genotypes(folder / "study.bed")
size = (folder / "study.bed").stat().st_size
print(genotypes, f"in {size / 1e6:.1f} MB; {genotypes.missing_counts.sum():,} missing")
standardised = genotypes.to_array(active)
standardised = (standardised - standardised.mean(axis=0)) / standardised.std(axis=0)
y = standardised @ [0.3, -0.28, 0.26, 0.26, -0.24, 0.24] + rng.normal(size=n)

# %%
# One fit over all variants at once. A missing genotype counts as the mean of its variant, and a
# warning says how many do.

with warnings.catch_warnings(record=True) as said:
    warnings.simplefilter("always")
    model = L0Regressor(max_size=20).fit(genotypes, y)
print(said[0].message)
print(model.summary()[["coefficient", "r2_lost"]].round(3))

# %%
# Which of its neighbours a variant stands for can't be told from the trait by one number. So look
# at all that are linked to a chosen one, and let the posterior say which of them it could be:
# credible sets.

near = genotypes.linked_to(model.support_, r2=0.1)
posterior = SpikeSlabRegressor(expected_size=len(model.support_), n_draws=3000, random_state=0)
with warnings.catch_warnings():
    warnings.simplefilter("ignore", MissingGenotypesWarning)  # as said above
    posterior.fit(genotypes[:, near], y)
sets = [near[found.columns] for found in posterior.credible_sets_]
right = sum(bool(np.isin(found, active).any()) for found in sets)
print(f"{len(near)} variants linked to {len(model.support_)} chosen; {len(sets)} credible sets of")
print(f"{[len(found) for found in sets]} variants, {right} of them with a true one")
assert len(sets) >= 5
assert right == len(sets)

# %%
# Every variant by itself, as a genome-wide study draws it, with what was chosen; and one of the
# places from near by.

known = np.where(copies < 0, np.nan, copies)
deviation = np.nan_to_num(known - genotypes.means)
r = deviation.T @ (y - y.mean()) / np.linalg.norm(deviation, axis=0) / np.linalg.norm(y - y.mean())
height = -stats.t.logsf(np.abs(r) * np.sqrt((n - 2) / (1 - r**2)), n - 2) / np.log(10) - np.log10(2)

figure, (left, right) = plt.subplots(
    1, 2, figsize=(10.5, 4.4), width_ratios=[3, 2], layout="constrained", sharey=True
)
shade = np.where(np.arange(p) // (p // 20) % 2 == 0, "#9AB7CC", "#C3CBD2")  # twenty chromosomes
left.scatter(np.arange(p), height, s=2, c=shade, rasterized=True)
left.plot(active, height[active], "o", mfc="none", ms=11, color="#333333", label="true")
left.plot(model.support_, height[model.support_], "+", ms=10, mew=2, color="#0072B2",
          label="chosen together")  # fmt: skip
left.axhline(-np.log10(5e-8), color="#999999", ls="--", lw=1)
left.set(
    xlabel="variant", ylabel="-log10 p, each by itself", title="Six among 20,000", ylim=(0, 17)
)
left.legend(frameon=False, loc="upper right")
shown = max(sets, key=len)
around = np.arange(shown.min() // width * width - 10, shown.max() // width * width + width + 10)
right.plot(around, height[around], ".", color="#C3CBD2")
right.plot(shown, height[shown], "o", color="#0072B2", label=f"credible set of {len(shown)}")
inside = active[np.isin(active, around)]
right.plot(inside, height[inside], "o", mfc="none", ms=13, color="#333333", label="true")
right.set(xlabel="variant", title="Which of the neighbours?")
right.legend(frameon=False)
plt.show()
