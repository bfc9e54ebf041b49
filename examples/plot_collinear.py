"""
Collinear instruments: one of these, but which?
===============================================

Four quantities, each read off by five instruments that agree to within a few per cent. Two of the
quantities drive the response. No method can say which of five nearly equal columns it was; a good
one says so.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from ellzero import L0Regressor, SpikeSlabRegressor, stability

rng = np.random.default_rng(3)
quantities = rng.normal(size=(150, 4))
names = ["heat", "flow", "load", "wind"]
X = pd.DataFrame(
    {f"{name} {k}": quantities[:, j] + 0.15 * rng.normal(size=150)
     for j, name in enumerate(names) for k in range(1, 6)}
)  # fmt: skip
y = 1.0 * quantities[:, 0] - 0.8 * quantities[:, 1] + rng.normal(scale=0.8, size=150)

# %%
# One model has to pick. It has one heat and one flow, and which ones is chance.

model = L0Regressor().fit(X, y)
print(model.get_feature_names_out())

# %%
# Stability: on halves of the rows the choice wanders among the five, so each instrument is chosen
# seldom, and one of the five always.

halves = stability(X, y, max_size=6)
chosen = halves.frequencies[2]
per_quantity = chosen.reshape(4, 5).sum(axis=1)
print(pd.Series(per_quantity, index=names).round(2).to_string())
print(halves.stand_ins().head(4).to_string(index=False))
assert per_quantity[:2].min() > 0.9
assert chosen.max() < 0.75

# %%
# The posterior says the same in probabilities, and names the sets: *one of these*, with the stated
# probability.

posterior = SpikeSlabRegressor(random_state=0).fit(X, y)
for found in posterior.credible_sets_:
    print(
        f"{found.probability:.2f}: one of {', '.join(found.variables)} (purity {found.purity:.2f})"
    )
causes = [{name.split()[0] for name in found.variables} for found in posterior.credible_sets_]
assert {"heat"} in causes
assert {"flow"} in causes

# %%
# No single bar reaches far, and yet there is no doubt about heat and flow.

figure, (top, bottom) = plt.subplots(2, 1, figsize=(10, 5), sharex=True, layout="constrained")
colours = np.repeat(["#0072B2", "#009E73", "#999999", "#CC79A7"], 5)
top.bar(range(20), chosen, color=colours)
top.set(ylabel="frequency", ylim=(0, 1), title="Chosen on halves of the rows, models of two")
bottom.bar(range(20), posterior.inclusion_probabilities_, color=colours)
bottom.set(ylabel="probability", ylim=(0, 1), title="Posterior inclusion probability")
bottom.set_xticks(range(20), X.columns, rotation=45, ha="right")
plt.show()
