"""
Shrinkage: what a prior makes of one noisy number
=================================================

Thousands of numbers, each a mean plus noise of variance one, and most means are zero. Tweedie's
formula turns the density of all the numbers into the best estimate of each mean.
"""

import matplotlib.pyplot as plt
import numpy as np

from ellzero.shrinkage import BernoulliGaussian, EmpiricalTweedie, TweediePenalty, fit_prior

rng = np.random.default_rng(1)
means = np.where(rng.random(4_000) < 0.1, rng.normal(scale=3.0, size=4_000), 0.0)
y = means + rng.normal(size=4_000)

# %%
# Three rules: the prior known, its parameters learned, no form of prior at all. The error of each
# is near the least that any rule can have.

truth = BernoulliGaussian(theta=0.1, sigma_beta=3.0)
learned = fit_prior(y, "bernoulli-gaussian", sigma_e=1.0).prior
free = EmpiricalTweedie(sigma_e=1.0).fit(y)
rules = {
    "the number itself": lambda x: np.asarray(x, dtype=float),
    "known prior": truth.posterior_mean,
    "learned prior": learned.posterior_mean,
    "no form assumed": free.posterior_mean,
}
errors = {name: float(np.mean((rule(y) - means) ** 2)) for name, rule in rules.items()}
for name, error in errors.items():
    print(f"{name:18s} {error:.3f}")
print(f"least possible     {truth.bayes_risk():.3f}")
assert errors["no form assumed"] < 1.1 * errors["known prior"] < 0.4

# %%
# Left, the rules: small numbers are pulled to zero, large ones left alone. Right, the penalty that
# leads to the same rule: smooth, and yet nearly a price per variable.

grid = np.linspace(-6, 6, 401)
figure, (left, right) = plt.subplots(1, 2, figsize=(10.5, 4.4), layout="constrained")
left.plot(grid, grid, color="#BBBBBB", lw=0.8)
for (name, rule), colour in zip(rules.items(), ("", "#333333", "#0072B2", "#D55E00"), strict=True):
    if colour:
        left.plot(grid, rule(grid), color=colour, label=name)
left.set(xlabel="number seen", ylabel="estimate of its mean", title="Three rules that agree")
left.legend(frameon=False)
for width in (0.5, 1, 3, 10):
    penalty = TweediePenalty(BernoulliGaussian(theta=0.1, sigma_beta=width), sigma_e=1.0)
    where = np.linspace(-4, 4, 161)
    values = [penalty.value(np.array([z])) for z in where]
    right.plot(
        where, values, color=plt.cm.viridis(np.log10(2 * width) / 1.5), label=f"slab {width}"
    )
right.set(xlabel="mean", ylabel="penalty", title="The penalty behind the rule", ylim=(0, 8))
right.legend(frameon=False)
plt.show()
