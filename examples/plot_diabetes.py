"""
Diabetes: the best subset of every size
=======================================

442 patients, ten measurements, their squares and products: 64 columns. Which of them explain how
far the disease had come a year later? This is the example of the paper that ellzero grew from.
"""

import matplotlib.pyplot as plt

from ellzero import L0Regressor, l0_frontier
from ellzero.datasets import load_diabetes_interactions

diabetes = load_diabetes_interactions()

# %%
# The frontier is the best model that is found of every size, and the prices at which each is the
# solution. A dash: it is the solution at no price, since a smaller or a larger model is always
# better value.

frontier = l0_frontier(diabetes.data, diabetes.target, max_size=12)
table = frontier.to_frame()[["r2", "lam_low", "lam_high", "variables"]]
table["variables"] = table["variables"].str.join(" ")
print(table.round({"r2": 3, "lam_low": 0, "lam_high": 0}).to_string(na_rep="-"))

# %%
# EBIC, the default criterion, chooses seven.

model = L0Regressor().fit(diabetes.data, diabetes.target)
print(model.summary().round(3))
print(model.certificate_)
assert len(model.support_) == 7

# %%
# On the left, coefficients as the price falls, from right to left; the line is the price that EBIC
# pays. On the right, what the model would lose without each variable.

figure, (left, right) = plt.subplots(
    1, 2, figsize=(10.5, 4.4), width_ratios=[3, 2], layout="constrained"
)
frontier.plot(max_size=7, lam=model.lam_, ax=left)
left.set_title("Coefficients as the price falls")
shown = model.summary()[::-1]
right.barh(shown.index, 100 * shown["r2_lost"], color="#0072B2")
right.set(xlabel="R² lost without it, %", title="What each is worth")
plt.show()

# %%
# The paper's eight variables are the best eight, and yet the solution at no price: whoever takes
# the eighth should take the ninth too.

eight = frontier.at(size=8)
print(eight.names, frontier.interval(8))
assert eight.names == ["sex", "bmi", "map", "hdl", "ltg", "glu^2", "age:sex", "bmi:map"]
assert frontier.interval(8) is None
