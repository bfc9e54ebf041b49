"""
Yes or no: is the tumour benign?
================================

569 tumours, 30 measurements of their cells, nearly all of them correlated with each other
(scikit-learn's breast cancer data). A price on every variable of a logistic regression, and the
probability of every variable.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import train_test_split

from ellzero import L0Classifier, SpikeSlabClassifier, l0_frontier

cancer = load_breast_cancer(as_frame=True)
names = np.array(cancer.target_names)[cancer.target]
X, X_new, y, y_new = train_test_split(
    cancer.data, names, test_size=0.3, stratify=names, random_state=0
)

# %%
# EBIC keeps four of the thirty. Prices are in units of log-likelihood.

model = L0Classifier().fit(X, y)
print(model.summary()[["coefficient", "odds_ratio_per_sd", "removal_cost"]].round(3))
auc = roc_auc_score(y_new == "malignant", model.predict_proba(X_new)[:, 1])
print(f"area under the curve on {len(y_new)} tumours held out: {auc:.3f}")
assert len(model.support_) <= 5
assert auc > 0.97

# %%
# The posterior says how sure. Measurements that stand in for each other share their probability;
# sets of them are sure.

posterior = SpikeSlabClassifier(n_draws=2500, random_state=0).fit(X, y)
for found in posterior.credible_sets_:
    print(f"{found.probability:.2f}: one of {', '.join(found.variables)}")
print(posterior.summary()["inclusion"].head(6).round(2))
largest = posterior.probability_errors_.max()
print(f"largest Monte Carlo error of a probability: {largest:.3f}")
assert min(found.probability for found in posterior.credible_sets_) > 0.9
assert largest < 0.05

# %%
# Left, the log-likelihood that each size reaches, and what EBIC makes of it; right, the
# probabilities.

frontier = l0_frontier(X, (y == "malignant").astype(float), loss="logistic", max_size=10)
sizes = np.arange(11)
figure, (left, right) = plt.subplots(1, 2, figsize=(10.5, 4.6), layout="constrained")
left.plot(sizes, [frontier.at(size=k).energy for k in sizes], "o-", color="#0072B2")
left.axvline(len(model.support_), color="#999999", ls="--")
left.set(xlabel="variables", ylabel="negative log-likelihood", title="Four are enough")
shown = posterior.summary()["inclusion"].head(10)[::-1]
right.barh(shown.index, shown, color="#0072B2")
right.axvline(0.5, color="#999999", ls="--")
right.set(xlim=(0, 1), xlabel="probability", title="How probable each is")
plt.show()
