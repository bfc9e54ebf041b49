"""
Factors, interactions and heredity
==================================

Fair's survey of 6,366 married women (it comes with statsmodels): how many years did each go to
school? Two of the columns are occupations, hers and her husband's, in six classes each. A factor
is one variable, so its levels enter together; a product enters only with both of its parts.
"""

import matplotlib.pyplot as plt
import pandas as pd
import statsmodels.api as sm

from ellzero import L0Regressor, l0_frontier

survey = sm.datasets.fair.load_pandas().data
numbers = ["age", "yrs_married", "children", "religious", "rate_marriage"]
X = survey[numbers].copy()
groups = {}
for factor in ("occupation", "occupation_husb"):
    levels = pd.get_dummies(survey[factor].astype(int), prefix=factor, drop_first=True, dtype=float)
    groups[factor] = list(levels)
    X = X.join(levels)
centred = survey[numbers] - survey[numbers].mean()
for place, first in enumerate(numbers):
    for second in numbers[place:]:
        name = f"{first}^2" if first == second else f"{first}:{second}"
        X[name] = centred[first] * centred[second]
y = survey["educ"]
print(f"{X.shape[0]} women, {X.shape[1]} columns, of which two factors have five each")

# %%
# Under strong heredity EBIC takes both occupations, whole. Hers is worth more than all the others
# together.

rules = {"feature_groups": groups, "heredity": "strong"}
model = L0Regressor(**rules).fit(X, y)
print(model.groups_)
print(model.summary().round(3).to_string(na_rep=""))
assert model.summary().dropna(subset="r2_lost").index[0][0] == "occupation"
assert all(
    part in model.groups_ for unit in model.groups_ if ":" in unit for part in unit.split(":")
)

# %%
# Without rules products may come alone, and levels one by one: it takes many more pieces to say
# the same.

free = l0_frontier(X, y, max_size=15).to_frame()["r2"]
ruled = l0_frontier(X, y, max_size=15, **rules).to_frame()["r2"]
figure, (left, right) = plt.subplots(1, 2, figsize=(10.5, 4), layout="constrained")
left.plot(free.index, free, "o-", color="#999999", label="columns, no rules")
left.plot(ruled.index, ruled, "o-", color="#0072B2", label="whole factors, strong heredity")
left.set(xlabel="variables", ylabel="R²", title="The best model of every size")
left.legend(frameon=False)
lost = model.summary()["r2_lost"].dropna()
names = [name[0] if isinstance(name, tuple) else name for name in lost.index]
right.barh(names[::-1], 100 * lost.to_numpy()[::-1], color="#0072B2")
right.set(xlabel="R² lost without it, %", title=f"What EBIC keeps: {len(names)} of 22 variables")
plt.show()
