"""
Ten million rows from Parquet
=============================

Rows that come in files need not fit into memory: one pass makes means and sums of products, and
everything after that takes as long as if there were a few hundred rows. Here are ten million
simulated rows in twenty files, 440 MB, made and read a stretch at a time. What so many rows are
good for: small effects, each seen from some number of rows on.
"""

import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from ellzero import L0RegressorCV, SpikeSlabRegressor, SufficientStatistics

FILES, ROWS = 20, 500_000
truth = {"v1": 0.1, "v2": -0.03, "v3": 0.01, "v4": -0.003, "v5": 0.001}
truth |= dict.fromkeys(["v6", "v7", "v8", "v9", "v10"], 0.0)
weights = np.array(list(truth.values()), dtype="float32")

place = tempfile.TemporaryDirectory()
folder = Path(place.name)
for part in range(FILES):
    rng = np.random.default_rng(part)
    X = rng.standard_normal((ROWS, len(truth)), dtype="float32")
    X += rng.standard_normal((ROWS, 1), dtype="float32")  # any two correlate by 1/2
    columns = {name: X[:, j] for j, name in enumerate(truth)}
    columns["y"] = X @ weights + rng.standard_normal(ROWS, dtype="float32")
    path = folder / f"part-{part:02}.parquet"
    pq.write_table(pa.table(columns), path, compression="none", use_dictionary=False)

# %%
# The pass. Files are read as they would arrive, one by one, and what is known of them is merged;
# ``from_parquet(folder / "part-*.parquet", target="y")`` does it in one call. What is kept has the
# size of a few Gram matrices, one for each fold, however many rows there were.

paths = sorted(folder.glob("part-*.parquet"))
each = [SufficientStatistics.from_parquet(path, target="y", folds=10) for path in paths]
known = each[0].merge(*each[1:])
known.save(folder / "known.npz")
on_disk = sum(path.stat().st_size for path in paths)
kept = (folder / "known.npz").stat().st_size
print(known)
print(f"{on_disk / 1e6:.0f} MB of rows, {kept / 1e3:.0f} kB of sums")

# %%
# Cross-validation and the posterior, from the sums alone. Prediction hardly gains by the small
# effects, so the rule of one standard error leaves them out. The posterior has every effect down to
# 0.003, which explains about a part in 100,000 of the variance of y. One of 0.001 is some three
# standard errors: ten million rows are too few for it.

model = L0RegressorCV(rule="1se").fit(known)
posterior = SpikeSlabRegressor(random_state=0).fit(known)
print(f"cross-validation, within one standard error: {', '.join(model.get_feature_names_out())}")
print(posterior.summary()[["inclusion", "coefficient", "sd"]].head(6).round(4))
assert known.n == 10_000_000
assert set(posterior.get_feature_names_out()) == {"v1", "v2", "v3", "v4"}

# %%
# How many rows does an effect take? The posterior again, on the beginning of the first file and on
# more and more files. An effect of a third of the size takes about ten times the rows.

first = pq.read_table(paths[0])
some = {n: SufficientStatistics.from_arrow(first.slice(0, n), target="y", folds=10)
        for n in (300, 1_000, 3_000, 10_000, 30_000, 100_000)}  # fmt: skip
some |= {k * ROWS: each[0].merge(*each[1:k]) for k in (1, 2, 4, 8, FILES)}
fits = [SpikeSlabRegressor(random_state=0).fit(few) for few in some.values()]
inclusion = np.array([fit.inclusion_probabilities_ for fit in fits])

figure, axes = plt.subplots(figsize=(8, 4.5), layout="constrained")
for j, (name, effect) in enumerate(truth.items()):
    color = plt.cm.viridis(j / 5) if effect else "#bbbbbb"
    label = f"{effect:g}" if effect else "0, five of them" if name == "v6" else None
    axes.plot(list(some), inclusion[:, j], "o-", color=color, label=label)
axes.set(xscale="log", xlabel="rows", ylabel="probability that it is in the model")
axes.set_title("Each effect is seen from some number of rows on")
axes.legend(title="effect", frameon=False)
plt.show()
place.cleanup()
