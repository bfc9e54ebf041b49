"""
A posterior, looked at with ArviZ
=================================

The ten measurements of the diabetes data under the spike-and-slab prior. The draws go to ArviZ,
which has the pictures that people who sample want to see: traces, a forest of intervals,
predictive checks, and leave-one-out cross-validation.
"""

import warnings

import arviz as az
import matplotlib.pyplot as plt

from ellzero import SpikeSlabRegressor
from ellzero.datasets import load_diabetes_interactions

diabetes = load_diabetes_interactions()
X, y = diabetes.data.iloc[:, :10], diabetes.target
model = SpikeSlabRegressor(solver="gibbs", random_state=0).fit(X, y)
print(model.summary()[["inclusion", "coefficient", "sd"]].round(3))

# %%
# Traces of the two scales, of the noise and of the slab: four chains, which agree.

draws = model.to_arviz(X, y, random_state=0)
worst = float(az.rhat(draws, var_names=["sigma_e", "sigma_beta"]).to_array().max())
print(f"largest R-hat {worst:.4f}")
assert worst < 1.02
az.plot_trace(draws, var_names=["sigma_e", "sigma_beta"], figsize=(10, 4.6))
plt.gcf().set_layout_engine("constrained")
plt.show()

# %%
# Coefficients, all models averaged. What is in some models only has a spike at zero, and an
# interval that begins there.

az.plot_forest(draws, var_names=["beta"], combined=True, hdi_prob=0.95, figsize=(7.5, 4.6))
plt.gcf().set_layout_engine("constrained")
plt.show()

# %%
# Would such a model make data like these? The observed distribution beside 100 drawn ones: the
# response is skewed and never negative, and normal noise knows neither.

az.plot_ppc(draws, num_pp_samples=100, random_seed=0, figsize=(7.5, 4))
plt.show()

# %%
# Leave-one-out cross-validation compares models without fitting anything again. With everything
# in, at these few columns, predictions are as good; without bmi they are not.

full = SpikeSlabRegressor(solver="gibbs", theta=0.9, random_state=0).fit(X, y)
without = SpikeSlabRegressor(solver="gibbs", random_state=0).fit(X.drop(columns="bmi"), y)
models = {
    "learned": draws,
    "nearly all in": full.to_arviz(X, y, posterior_predictive=False),
    "without bmi": without.to_arviz(X.drop(columns="bmi"), y, posterior_predictive=False),
}
with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    table = az.compare(models)
print(table[["rank", "elpd_loo", "p_loo", "elpd_diff", "dse"]].round(1))
worst = table.loc["without bmi"]
assert worst["rank"] == 2
assert worst["elpd_diff"] > 2 * worst["dse"]
