"""
Counts: visits to the doctor
============================

The RAND health insurance experiment (20,190 person-years; it comes with statsmodels) counted
outpatient visits. Which of nine columns, and of their products, matter for them?
"""

import matplotlib.pyplot as plt
import numpy as np
import statsmodels.api as sm

from ellzero import L0PoissonRegressor, l0_frontier

data = sm.datasets.randhie.load_pandas().data.iloc[
    ::4
]  # every fourth: people come in several years
y = data.pop("mdvis")
centred = data - data.mean()
X = data.copy()
columns = list(data)
for place, first in enumerate(columns):
    for second in columns[place + 1 :]:
        product = centred[first] * centred[second]
        if product.std() > 0:
            X[f"{first}:{second}"] = product
print(f"{len(y)} person-years, {X.shape[1]} columns; mean {y.mean():.2f}, variance {y.var():.1f}")

# %%
# The variance is many times the mean, so these are no Poisson counts: criteria that take them for
# such keep far too much. EBIC here keeps most of what it may look at.

frontier = l0_frontier(X, y, loss="poisson", max_size=20)
by_criterion = len(frontier.at(criterion="ebic").names)
print(f"EBIC keeps {by_criterion} of {X.shape[1]}")

# %%
# A way out that needs nothing else: divide the log-likelihood by how much too large the variance
# is (quasi-likelihood), which multiplies the price by as much.

full = frontier.at(size=20)
rate = np.exp(full.intercept + X.to_numpy() @ full.coef)
dispersion = float((((y - rate) ** 2) / rate).sum() / (len(y) - 21))
print(f"dispersion {dispersion:.1f}")
price = 0.5 * np.log(len(y)) + np.log(X.shape[1])  # EBIC's for one more variable, about
model = L0PoissonRegressor(lam=dispersion * price, max_size=20).fit(X, y)
print(model.summary()[["coefficient", "rate_ratio", "removal_cost"]].round(3))
assert dispersion > 3
assert len(model.support_) < by_criterion
assert "disea" in model.get_feature_names_out()

# %%
# Left, the deviance that sizes explain: after a handful there is little left. Right, what was
# predicted against what came, in tenths of the people.

sizes = np.arange(21)
energies = np.array([frontier.at(size=k).energy for k in sizes])
figure, (left, right) = plt.subplots(1, 2, figsize=(10.5, 4.2), layout="constrained")
left.plot(sizes, energies[0] - energies, "o-", color="#0072B2")
left.axvline(len(model.support_), color="#0072B2", ls="--", label="with dispersion")
left.axvline(by_criterion, color="#999999", ls=":", label="EBIC, as if Poisson")
left.set(xlabel="variables", ylabel="log-likelihood gained", title="Twenty sizes")
left.legend(frameon=False)
predicted = model.predict(X)
tenth = np.digitize(predicted, np.quantile(predicted, np.linspace(0.1, 0.9, 9)))
right.plot([1, 6], [1, 6], color="#999999", lw=0.8)
right.plot([predicted[tenth == k].mean() for k in range(10)],
           [y.to_numpy()[tenth == k].mean() for k in range(10)], "o", color="#0072B2")  # fmt: skip
right.set(xlabel="visits predicted", ylabel="visits", title="Calibration")
plt.show()
