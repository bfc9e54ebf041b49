"""Make the pictures of the pages: python docs/pictures.py [NAME ...].

Those of the paper come from `make reproduce`, those on signal and noise from
`benchmarks/signal_to_noise.py`. `images/made.json` says which script made each, at which commit.
"""

import json
import runpy
import subprocess
import sys
import tempfile
from pathlib import Path

import matplotlib as mpl

mpl.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
import statsmodels.api as sm
from scipy.sparse import csc_array
from sklearn.datasets import load_breast_cancer

from ellzero import (
    BayesianBridgeRegressor,
    L0Regressor,
    L0RegressorCV,
    SpikeSlabClassifier,
    SpikeSlabRegressor,
    l0_frontier,
    segment,
    segment_path,
    stability,
)
from ellzero.datasets import load_diabetes_interactions, make_spikes
from ellzero.plotting import draw_penalties, draw_posterior_means

HERE = Path(__file__).parent
IMAGES = HERE / "images"
BLUE, GREEN, GREY = "#0072B2", "#009E73", "#999999"

diabetes = load_diabetes_interactions()
X, Y = diabetes.data, diabetes.target


def axes(width=8.0, height=4.6):
    """Return empty axes of that size."""
    return plt.subplots(figsize=(width, height), layout="constrained")[1]


def frontier():
    """Draw the path of the diabetes data."""
    l0_frontier(X, Y, max_size=15).plot(max_size=11, lam=5_000, ax=axes(8, 5))


def sbr():
    """Draw how many variables SBR stops at, and the frontier's solution has, by price."""
    prices = np.geomspace(2_000, 500_000, 120)
    found = l0_frontier(X, Y, max_size=20)
    stops = [len(L0Regressor(lam, solver="sbr").fit(X, Y).support_) for lam in prices]
    ax = axes()
    ax.step(prices, [found.at(lam=lam).size for lam in prices], color=BLUE, label="the frontier")
    ax.step(prices, stops, color="#D55E00", ls="--", label="SBR")
    ax.set(xscale="log", xlabel="lam, the price of a variable", ylabel="variables")
    ax.legend(frameon=False)


def cv():
    """Draw the error on rows held out against the price."""
    L0RegressorCV().fit(X, Y).plot(ax=axes())


def cv_ridges():
    """Draw the error on rows held out for each ridge."""
    L0RegressorCV(ridge="cv").fit(X, Y).plot(ax=axes())


def sparse():
    """Draw how frequent words are and how they go with y: those that are looked at, and chosen."""
    rng = np.random.default_rng(4)
    n, p = 5_000, 50_000
    often = rng.poisson(np.minimum(400_000 / np.log(p) / (np.arange(p) + 3), n / 3))
    rows = rng.integers(0, n, size=often.sum())
    where = rows, np.repeat(np.arange(p), often)
    words = csc_array((np.ones(len(rows)), where), shape=(n, p))
    true = np.geomspace(5, p / 50, 12).astype(int)
    spread = words[:, true].toarray().std(axis=0)
    y = words[:, true] @ (rng.choice([-1, 1], size=12) / spread) + 2 * rng.normal(size=n)
    chosen = l0_frontier(words, y, max_size=12).at(size=12).support
    count = np.diff(words.indptr)
    norm = np.sqrt(np.maximum(words.power(2).sum(axis=0) - words.sum(axis=0) ** 2 / n, 1e-9))
    along = np.abs(words.T @ (y - y.mean())) / norm / y.std()
    looked_at = (count >= np.sort(count)[-p // 64]) | (along >= np.sort(along)[-p // 64])
    ax = axes()
    for which, colour, label in (
        (~looked_at, "#CCCCCC", f"{np.count_nonzero(~looked_at):,} known by bounds"),
        (looked_at, GREEN, f"{np.count_nonzero(looked_at):,} active from the start"),
        (chosen, BLUE, "the best twelve"),
    ):
        size = 40 if colour == BLUE else 4
        jitter = rng.uniform(-0.3, 0.3, size=p) if colour != BLUE else np.zeros(p)
        at = np.maximum(count + jitter, 0.5)[which]
        ax.scatter(at, along[which], s=size, color=colour, label=label, lw=0)
    ax.set(
        xscale="log", xlabel="texts that a word is in", ylabel="|c|, in standard deviations of y"
    )
    ax.legend(frameon=False)


def groups():
    """Draw R2 by size, columns against whole factors under heredity."""
    import pandas as pd

    survey = sm.datasets.fair.load_pandas().data
    table = survey[["age", "yrs_married", "children", "religious", "rate_marriage"]].copy()
    members = {}
    for name in ("occupation", "occupation_husb"):
        levels = pd.get_dummies(survey[name].astype(int), prefix=name, drop_first=True, dtype=float)
        members[name] = list(levels)
        table = table.join(levels)
    ax = axes()
    whole = l0_frontier(table, survey["educ"], feature_groups=members).to_frame()
    single = l0_frontier(table, survey["educ"]).to_frame()
    ax.plot(single.index, single["r2"], "o-", color=GREY, label="levels one by one")
    ax.plot(whole.index, whole["r2"], "o-", color=BLUE, label="factors whole")
    ax.set(xlabel="variables", ylabel="R²")
    ax.legend(frameon=False)


def classification():
    """Draw the path of a logistic regression."""
    cancer = load_breast_cancer(as_frame=True)
    y = cancer.target.to_numpy(dtype=float)
    l0_frontier(cancer.data, y, loss="logistic", max_size=8).plot(ax=axes(8, 5))


def stability_():
    """Draw frequencies on halves against the size."""
    stability(X, Y).plot(ax=axes())


def posterior():
    """Draw probabilities and coefficients."""
    SpikeSlabRegressor(random_state=0).fit(X, Y).plot(max_variables=12)


def jointness():
    """Draw which variables are in together."""
    model = SpikeSlabRegressor(random_state=0).fit(X.iloc[:, :10], Y)
    model.plot_jointness(max_variables=8)


def posterior_classes():
    """Draw probabilities and log-odds for two classes."""
    cancer = load_breast_cancer(as_frame=True)
    model = SpikeSlabClassifier(n_draws=2500, random_state=0)
    model.fit(cancer.data, cancer.target).plot(max_variables=12)


def bridge():
    """Draw intervals under a bridge."""
    BayesianBridgeRegressor(random_state=0).fit(X, Y).plot(max_variables=20)


def exact():
    """Draw which sizes are proved."""
    found = l0_frontier(X, Y, max_size=12)
    proved = set(found.certify(max_size=9).sizes_certified)
    energies = {k: found.at(size=k).energy / 1e3 for k in range(13)}
    ax = axes()
    ax.plot(list(energies), list(energies.values()), "o-", color="#BBBBBB", label="found")
    ax.plot(sorted(proved), [energies[k] for k in sorted(proved)], "o", color=GREEN, ms=9,
            label="proved to be the best")  # fmt: skip
    ax.set(xlabel="variables", ylabel="half the residual sum of squares, thousands")
    ax.legend(frameon=False)


def segmentation():
    """Draw a trace with its spikes."""
    y = make_spikes(2000, decay=0.95, noise=0.25, random_state=0)[0]
    segment(y, decay=0.95, jumps="positive").plot(ax=axes(9, 4))


def segmentation_path():
    """Draw over which penalties spikes last."""
    y = make_spikes(2000, decay=0.95, noise=0.25, random_state=0)[0]
    segment_path(y, lam_min=0.2, decay=0.95, jumps="positive").plot(ax=axes(9, 4))


def segmentation_penalty():
    """Draw the error on samples held out against the penalty."""
    nile = sm.datasets.nile.load_pandas().data["volume"].to_numpy()
    segment(nile, lam="cv").cv.plot(ax=axes())


def posterior_means():
    """Draw the paper's rules."""
    draw_posterior_means()


def penalties():
    """Draw the paper's penalties."""
    draw_penalties()


def tall():
    """Draw from how many rows on effects are seen: the gallery's script."""
    runpy.run_path(str(HERE.parent / "examples" / "plot_parquet.py"))


def photograph(target, command, height):
    """Take a picture of a report; needs chromium and selenium."""
    import base64

    sys.path.insert(0, str(HERE.parent / "tests"))
    from browsers import emulate, start_browser

    with tempfile.TemporaryDirectory() as folder:
        page = Path(folder) / "report.html"
        run = [
            str(Path(sys.executable).with_name("ellzero")),
            *command,
            "--quiet",
            "--report",
            str(page),
        ]
        subprocess.run(run, check=True)
        browser = start_browser()
        try:
            emulate(browser, width=780)
            browser.get(page.as_uri())
            clip = {"x": 0, "y": 0, "width": 780, "height": height, "scale": 1}
            asked = {"clip": clip, "captureBeyondViewport": True}
            shot = browser.execute_cdp_cmd("Page.captureScreenshot", asked)
            target.write_bytes(base64.b64decode(shot["data"]))
        finally:
            browser.quit()


def report():
    """Photograph the report of a selection."""
    asked = ["select", "--example", "diabetes", "--interactions", "--posterior"]
    photograph(IMAGES / "report.png", asked, 740)


def posterior_report():
    """Photograph the report of a posterior."""
    asked = ["posterior", "--example", "diabetes", "--interactions"]
    photograph(IMAGES / "posterior-report.png", asked, 760)


PICTURES = [
    frontier, sbr, cv, cv_ridges, sparse, groups, classification, stability_, posterior, jointness,
    posterior_classes, bridge, exact, segmentation, segmentation_path, segmentation_penalty,
    posterior_means, penalties, tall, report, posterior_report,
]  # fmt: skip


def main(wanted):
    """Make some pictures, or all of them, and note the commit."""
    record = IMAGES / "made.json"
    made = json.loads(record.read_text()) if record.exists() else {}
    asked = ["git", "-C", str(HERE), "rev-parse", "--short=12", "HEAD"]
    commit = subprocess.run(asked, check=True, capture_output=True, text=True).stdout.strip()
    for draw in PICTURES:
        name = draw.__name__.strip("_").replace("_", "-") + ".png"
        if wanted and name.removesuffix(".png") not in wanted:
            continue
        print(name)
        draw()
        if plt.get_fignums():
            plt.gcf().savefig(IMAGES / name, dpi=100)
            plt.close("all")
        made[name] = {"by": "docs/pictures.py", "commit": commit}
    record.write_text(json.dumps(dict(sorted(made.items())), indent=1) + "\n")


if __name__ == "__main__":
    main(sys.argv[1:])
