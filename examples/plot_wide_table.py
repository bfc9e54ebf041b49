"""
A wide table: six thousand genes, sixty samples
===============================================

Expression tables have a hundred times more columns than rows, and genes of one pathway rise and
fall together. Here is a table of that shape, 64 samples of 6,000 genes in 300 pathways (simulated,
so that the truth is known): six genes act on the response.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.linear_model import LassoCV

from ellzero import L0RegressorCV, l0_frontier

rng = np.random.default_rng(8)
n, pathways, genes = 64, 300, 20
activity = rng.normal(size=(n, pathways))
X = np.sqrt(0.6) * np.repeat(activity, genes, axis=1)
X += np.sqrt(0.4) * rng.normal(size=X.shape)  # genes of a pathway are correlated at .6
active = np.array([7, 507, 1007, 2507, 4007, 5507])
effect = np.array([2.0, -1.6, 1.4, 1.4, -1.2, 1.2])
y = X[:, active] @ effect + rng.normal(scale=0.7, size=n)

# %%
# Every size up to fifteen, among 6,000 columns. How good is each model on the rows that it was
# fitted to, and on rows held out?

frontier = l0_frontier(X, y, max_size=15)
chosen = L0RegressorCV(rule="1se", max_size=15, n_repeats=3).fit(X, y)
strongest = np.abs((X - X.mean(axis=0)).T @ (y - y.mean())).max() / n
lasso = LassoCV(cv=10, alphas=strongest * np.geomspace(0.05, 1, 30), tol=1e-3).fit(X, y)
found = set(chosen.support_) & set(active)
picked = np.flatnonzero(lasso.coef_)
print(f"one-standard-error rule: {len(chosen.support_)} genes, {len(found)} of the six")
print(f"lasso: {len(picked)} genes, {len(set(picked) & set(active))} of the six")
assert len(found) == 6
assert len(chosen.support_) <= 8 < len(picked)

# %%
# The path in the price: six genes stand for a wide range of prices, everything else comes in when
# variables are next to free.

figure, (left, right) = plt.subplots(
    1, 2, figsize=(10.5, 4.2), width_ratios=[3, 2], layout="constrained"
)
frontier.plot(max_size=12, lam=chosen.lam_, ax=left)
left.set_title("The six, and then noise")
right.axhline(0, color="#999999", lw=0.8)
right.plot(active, effect, "o", mfc="none", ms=11, color="#333333", label="truth")
right.plot(picked, lasso.coef_[picked], ".", color="#D55E00", label=f"lasso, {len(picked)} genes")
size = len(chosen.support_)
right.plot(chosen.support_, chosen.coef_[chosen.support_], "+", ms=11, mew=2, color="#0072B2",
           label=f"ellzero, {size} genes")  # fmt: skip
right.set(xlabel="gene", ylabel="coefficient", title="What each keeps")
right.legend(frameon=False)
plt.show()
