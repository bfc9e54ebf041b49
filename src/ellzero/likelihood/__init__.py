"""Choosing columns for binary and count responses: l0-regularised likelihoods."""

from ellzero.likelihood._l0_classifier import L0Classifier
from ellzero.likelihood._l0_classifier_cv import L0ClassifierCV
from ellzero.likelihood._l0_poisson import L0PoissonRegressor
from ellzero.likelihood._l0_poisson_cv import L0PoissonRegressorCV

__all__ = ["L0Classifier", "L0ClassifierCV", "L0PoissonRegressor", "L0PoissonRegressorCV"]
