"""
More rows than memory: Parquet in one pass
==========================================

Rows that come in files need not fit into memory: one pass makes means and sums of products, and
everything after that takes as long as if there were a few hundred rows. Here are eight small
files; the number of rows changes nothing but the time of the pass.
"""

import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from ellzero import L0RegressorCV, SpikeSlabRegressor, SufficientStatistics

FILES, ROWS, COLUMNS = 8, 10_000, 40
weights = np.zeros(COLUMNS)
weights[[3, 8, 21, 30]] = [0.3, -0.2, 0.1, 0.03]
folder = Path(tempfile.mkdtemp())
for part in range(FILES):
    rng = np.random.default_rng(part)
    X = rng.normal(size=(ROWS, COLUMNS)) + rng.normal(size=(ROWS, 1))
    columns = {f"v{j}": X[:, j] for j in range(COLUMNS)}
    columns["y"] = X @ weights + rng.normal(size=ROWS)
    pq.write_table(pa.table(columns), folder / f"part-{part}.parquet")

# %%
# The pass. What is kept has the size of a few Gram matrices, one for each fold, however many rows
# there were.

known = SufficientStatistics.from_parquet(folder / "part-*.parquet", target="y", folds=10)
known.save(folder / "known.npz")
on_disk = sum(path.stat().st_size for path in folder.glob("*.parquet"))
print(known)
print(
    f"{on_disk / 1e6:.0f} MB of rows, {(folder / 'known.npz').stat().st_size / 1e6:.1f} MB of sums"
)

# %%
# Cross-validation and the posterior, from the sums alone.

model = L0RegressorCV(rule="1se").fit(known)
posterior = SpikeSlabRegressor(random_state=0).fit(known)
print(model.summary().round(3))
print(posterior.summary()[["inclusion", "coefficient", "sd"]].head(5).round(3))
assert set(posterior.get_feature_names_out()) == {"v3", "v8", "v21", "v30"}

# %%
# More rows see smaller effects: the same four variables on one file, and on all.

figure, axes = plt.subplots(figsize=(8, 4), layout="constrained")
for place, count in enumerate((1, 2, 4, 8)):
    files = [folder / f"part-{part}.parquet" for part in range(count)]
    some = SpikeSlabRegressor(random_state=0).fit(
        SufficientStatistics.from_parquet(files, target="y")
    )
    where = np.arange(4) + 0.15 * (place - 1.5)
    members = [3, 8, 21, 30]
    axes.errorbar(where, some.coef_[members], 2 * some.coef_sd_[members], fmt="o",
                  color=plt.cm.viridis(place / 4), label=f"{count * ROWS:,} rows")  # fmt: skip
axes.plot(np.arange(4), weights[[3, 8, 21, 30]], "_", ms=40, color="#999999", label="truth")
axes.set_xticks(range(4), ["v3", "v8", "v21", "v30"])
axes.set(ylabel="coefficient, ± 2 standard deviations", title="More rows, shorter intervals")
axes.legend(frameon=False, ncols=2)
plt.show()
