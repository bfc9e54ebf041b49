"""
Proof of a best subset
======================

There are 15 million sets of four among the diabetes table's 64 columns, and 10 to the 11 of seven.
Searching them one by one is not needed: a bound says that nothing is better.
"""

import matplotlib.pyplot as plt

from ellzero import l0_frontier
from ellzero.datasets import load_diabetes_interactions

diabetes = load_diabetes_interactions()
frontier = l0_frontier(diabetes.data, diabetes.target, max_size=8)

# %%
# The best four, with what the proof says of every column: four are in every model that is as good,
# sixty in none.

four = frontier.certify(size=4)
print(four)
print([str(frontier.feature_names[j]) for j in four.always_in])
print(f"{len(four.always_out)} columns are in no such model; {four.nodes} nodes")
assert four.proved
assert len(four.always_in) == 4

# %%
# The best model of every size up to six, at once.

certificate = frontier.certify(max_size=6)
print(f"proved: sizes {certificate.sizes_certified}")
assert set(certificate.sizes_certified) >= set(range(7))

# %%
# What it took: the nodes of the tree, each a bound on all models that have some columns and lack
# others.

nodes = [frontier.certify(size=k).nodes for k in range(1, 7)]
for size, count in enumerate(nodes, start=1):
    print(f"size {size}: {count:5d} nodes")
assert max(nodes) < 10_000

figure, axes = plt.subplots(figsize=(7.5, 4.2), layout="constrained")
sizes = range(9)
energies = [frontier.at(size=k).energy / 1e3 for k in sizes]
axes.plot(sizes, energies, "o-", color="#BBBBBB", label="found, not asked")
axes.plot(range(7), energies[:7], "o", color="#009E73", ms=9, label="proved to be the best")
for k in range(1, 7):
    new = set(frontier.at(size=k).names) - set(frontier.at(size=k - 1).names)
    axes.annotate(
        " + ".join(sorted(new)),
        (k, energies[k]),
        xytext=(6, 6),
        textcoords="offset points",
        fontsize=9,
    )
axes.set(
    xlabel="variables",
    ylabel="half the residual sum of squares, thousands",
    title="No other model lies below a green dot",
)
axes.legend(frameon=False)
plt.show()
