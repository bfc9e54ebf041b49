"""Which of 30 measurements of a tumour, and of their 435 products, tell whether it is benign.

Computes the posterior over models of 465 columns, prints what is likely and what stands in for it,
and leaves a picture in demo/. A minute or two on two cores.
"""

import warnings
from itertools import combinations
from pathlib import Path

import matplotlib as mpl

mpl.use("Agg")
import matplotlib.pyplot as plt
import pandas as pd
from sklearn.datasets import load_breast_cancer
from sklearn.exceptions import ConvergenceWarning

from ellzero import SpikeSlabClassifier


def with_products(table):
    """Standardise columns and append the products of all pairs."""
    table = (table - table.mean()) / table.std()
    products = {f"{a}:{b}": table[a] * table[b] for a, b in combinations(table.columns, 2)}
    return pd.concat([table, pd.DataFrame(products)], axis=1)


def main(n_draws=4000, folder=Path("demo")):
    """Fit, print, draw."""
    cancer = load_breast_cancer(as_frame=True)
    X, y = with_products(cancer.data), cancer.target_names[cancer.target]
    model = SpikeSlabClassifier(n_draws=n_draws, n_warmup=n_draws // 4, n_jobs=-1, random_state=0)
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always", ConvergenceWarning)
        model.fit(X, y)
    for warning in said:
        print(f"Note: {warning.message}\n")
    columns = ["inclusion", "coefficient", "sd", "odds_ratio"]
    print(f"{X.shape[1]} columns; log-odds of '{model.classes_[1]}', per standard deviation")
    print(model.summary()[columns].head(10).round(3), "\n")
    for found in model.credible_sets_:
        shown = found.variables[:5]
        rest = len(found.variables) - len(shown)
        more = f" and {rest} more" if rest else ""
        print(f"{found.probability:.3f}: one of {', '.join(shown)}{more}")
    print(f"\n{model.sensitivity_}")
    print(f"Largest Monte Carlo error of a probability: {model.probability_errors_.max():.3f}")
    folder.mkdir(exist_ok=True)
    model.plot(max_variables=12)
    plt.savefig(folder / "breast_cancer.png", dpi=150)


if __name__ == "__main__":
    main()
