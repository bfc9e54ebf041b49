"""The paper's diabetes example: which of 64 columns explain the progression of the disease.

Finds the best subset of every size, prints what they are and leaves a picture in demo/.
"""

from pathlib import Path

import matplotlib as mpl

mpl.use("Agg")
import matplotlib.pyplot as plt

from ellzero import L0Regressor, l0_frontier
from ellzero.datasets import load_diabetes_interactions

LARGEST_DRAWN = 7


def draw(frontier, model, target):
    """Draw coefficients against lam, and what removing each chosen variable would cost."""
    figure, (left, right) = plt.subplots(
        1, 2, figsize=(11, 4.6), width_ratios=[3, 2], layout="constrained"
    )
    frontier.plot(max_size=LARGEST_DRAWN, lam=model.lam_, ax=left)
    left.set_title("Coefficients as the price falls")
    table = model.summary()[::-1]
    right.barh(table.index, 100 * table["r2_lost"], color="#0072B2")
    right.set(xlabel="R² lost without it, %", title=f"The {len(table)} that EBIC chooses")
    right.spines[["top", "right"]].set_visible(False)
    figure.savefig(target, dpi=150)
    plt.close(figure)


def main():
    """Fit, print and draw."""
    diabetes = load_diabetes_interactions()
    print(f"{len(diabetes.target)} patients, {diabetes.data.shape[1]} columns\n")
    frontier = l0_frontier(diabetes.data, diabetes.target, max_size=12)
    print("The best subset of every size, and the prices at which it is the solution:\n")
    table = frontier.to_frame()[["r2", "lam_low", "lam_high", "variables"]]
    table["variables"] = table["variables"].str.join(" ")
    print(table.round({"r2": 3, "lam_low": 0, "lam_high": 0}).to_string(na_rep="-"))

    model = L0Regressor("ebic").fit(diabetes.data, diabetes.target)
    print(f"\nEBIC chooses {len(model.support_)} variables: {model.certificate_}\n")
    print(model.summary().round(3).to_string())

    target = Path("demo") / "diabetes.png"
    target.parent.mkdir(exist_ok=True)
    draw(frontier, model, target)
    print(f"\nThe picture is in {target}")


if __name__ == "__main__":
    main()
