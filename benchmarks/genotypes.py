"""A million variants at two bits: what a pass, a frontier and its cross-validation cost, and find.

    python benchmarks/genotypes.py pass                   # against float64 and float32 in memory
    python benchmarks/genotypes.py search --variants 10000 100000 --seeds 0 1 2
    python benchmarks/genotypes.py search --variants 1000000 --folder /somewhere/large

Genotypes are simulated with linkage (genotype_problems.py): 2,000 samples, twelve true variants
that explain 1 to 4 percent of the trait each. Every step of a search runs in a process of its own,
on a .bed file that it maps: processor seconds, and the most memory that it had, pages of the file
among it. "true" counts true variants of which one that was chosen knows half (r2 of .5 or more),
and "false" what was chosen beside them. Marginal tests take the most significant variant, leave out
what is linked to it (r2 above .1) and go on, to p = 5e-8, and to as many as the frontier's EBIC
chose.
Sets are those of the posterior of the variants linked to what EBIC chose; one is right if it has a
true variant in it.
"""

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path

import numpy as np
from genotype_problems import make_problem
from scipy import stats

from ellzero import L0RegressorCV, SpikeSlabRegressor, _core, l0_frontier, read_genotypes
from ellzero.genotypes import MissingGenotypesWarning

SAMPLES, TRUE, SIZES, FOLDS = 2000, 12, 20, 10
SIGNIFICANT = 5e-8


def load(folder):
    facts = np.load(folder / "trait.npz")
    return read_genotypes(folder / "simulated.bed"), facts["y"], facts["true"]


def simulate(folder, variants, seed):
    problem = make_problem(SAMPLES, variants, TRUE, seed)
    problem.genotypes.write(folder / "simulated.bed")
    np.savez(folder / "trait.npz", y=problem.y, true=problem.true)
    return {"missing": int(problem.genotypes.missing_counts.sum())}


def score(genotypes, chosen, true):
    """How many true variants are known by those chosen, and how many know none."""
    chosen = np.asarray(chosen, dtype=int)
    if not chosen.size:
        return {"true": 0, "false": 0, "chosen": []}
    both = np.corrcoef(genotypes.to_array(chosen), genotypes.to_array(true), rowvar=False)
    r2 = np.nan_to_num(both[: chosen.size, chosen.size :]) ** 2 >= 0.5
    return {
        "true": int(r2.any(axis=0).sum()),
        "false": int((~r2.any(axis=1)).sum()),
        "chosen": chosen.tolist(),
    }


def frontier(folder, **_):
    genotypes, y, true = load(folder)
    found = l0_frontier(genotypes, y, max_size=SIZES)
    best = found.supports[int(np.argmin(found.criterion("ebic")))]
    return {"passes": found._growing.problem.design.passes, **score(genotypes, best, true)}


def cross_validation(folder, **_):
    genotypes, y, true = load(folder)
    # Without a budget folds keep five to eight kilobytes for each variant.
    memory = "2.8GB" if genotypes.shape[1] > 500_000 else None
    how = {"max_size": SIZES, "cv": FOLDS, "n_repeats": 1, "memory": memory, "random_state": 0}
    model = L0RegressorCV(**how).fit(genotypes, y)
    return score(genotypes, model.support_, true)


def marginal(folder, chosen, **_):
    genotypes, y, true = load(folder)
    columns = genotypes._columns()
    design = _core.row_quadratic(columns, y, None, True, 0.0, 2)
    residual = (y - y.mean()) / np.linalg.norm(y - y.mean())
    (r,) = columns.products(design.mean, design.inverse_scale, None, residual[:, None], 2)
    t = np.abs(r) * np.sqrt((len(y) - 2) / np.maximum(1 - r**2, 1e-300))
    p_value = 2 * stats.t.sf(t, len(y) - 2)
    left, hits = p_value < 1e-4, []
    while left.any() and len(hits) < max(SIZES, len(chosen)):
        best = int(np.argmin(np.where(left, p_value, 2)))
        hits.append(best)
        left[genotypes.linked_to([best])] = False
        left[best] = False
    significant = [j for j in hits if p_value[j] < SIGNIFICANT]
    as_many = score(genotypes, hits[: len(chosen)], true)
    return {
        **score(genotypes, significant, true),
        "as_many_true": as_many["true"],
        "as_many_false": as_many["false"],
    }


def posterior(folder, chosen, **_):
    genotypes, y, true = load(folder)
    near = genotypes.linked_to(chosen)
    model = SpikeSlabRegressor(expected_size=len(chosen), random_state=0).fit(genotypes[:, near], y)
    sets = [near[found.columns] for found in model.credible_sets_]
    right = [bool(np.isin(found, true).any()) for found in sets]
    return {
        "near": len(near),
        "sets": len(sets),
        "right": sum(right),
        "median_size": float(np.median([len(found) for found in sets] or [0])),
        "largest": max([len(found) for found in sets] or [0]),
        "found_in_near": int(np.isin(true, near).sum()),
        "largest_error": float(model.probability_errors_.max()),
    }


STEPS = {
    "frontier": frontier,
    "marginal": marginal,
    "posterior": posterior,
    "cross-validation": cross_validation,
}


def run_step(name, folder, chosen):
    """What a step finds, in a process of its own, and what it costs."""
    command = [sys.executable, __file__, "step", name, str(folder), json.dumps(chosen)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        return {"failed": (done.stderr.strip() or f"exit {done.returncode}").split("\n")[-1]}
    return json.loads(done.stdout)


def step(name, folder, chosen):
    warnings.simplefilter("ignore", MissingGenotypesWarning)
    start, clock = time.process_time(), time.perf_counter()
    found = STEPS[name](Path(folder), chosen=chosen)
    usage = resource.getrusage(resource.RUSAGE_SELF)
    cost = {
        "cpu_s": round(time.process_time() - start, 2),
        "wall_s": round(time.perf_counter() - clock, 1),
        "peak_gb": round(usage.ru_maxrss / 1e6, 2),
    }
    print(json.dumps({**cost, **found}))


def search(arguments):
    for variants in arguments.variants:
        for seed in arguments.seeds:
            with tempfile.TemporaryDirectory(dir=arguments.folder) as name:
                folder = Path(name)
                print(f"{variants:,} variants, seed {seed}", simulate(folder, variants, seed))
                chosen = []
                for each in arguments.steps:
                    found = run_step(each, folder, chosen)
                    chosen = found.get("chosen", chosen) if each == "frontier" else chosen
                    found.pop("chosen", None)
                    print(f"  {each:17}", found, flush=True)


def time_passes(_):
    """Processor time of Z'V on genotypes over that on the same numbers, in turns."""
    genotypes = make_problem(SAMPLES, 20_000, TRUE, 0).genotypes
    X = genotypes.to_array()
    kinds = {
        "genotypes": genotypes._columns(),
        "float64": _core.dense_columns(X),
        "float32": _core.dense_columns(X.astype(np.float32, order="F")),
    }
    mean, scale = X.mean(axis=0), 1 / np.maximum(X.std(axis=0), 1e-9)
    rng = np.random.default_rng(0)
    for width in (1, 4, 16):
        V = rng.normal(size=(SAMPLES, width))
        spent = {name: [] for name in kinds}
        for _ in range(7):
            for name, columns in kinds.items():
                start = time.process_time()
                columns.products(mean, scale, None, V, 1)
                spent[name].append(time.process_time() - start)
        least = {name: min(times) / X.size * 1e9 for name, times in spent.items()}
        ratios = {name: round(least["genotypes"] / least[name], 2) for name in least}
        rounded = {name: round(value, 2) for name, value in least.items()}
        print(f"{width:2} vectors: ns per entry {rounded}, genotypes over each {ratios}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    commands = parser.add_subparsers(required=True)
    commands.add_parser("pass").set_defaults(act=time_passes)
    searching = commands.add_parser("search")
    searching.add_argument("--variants", type=int, nargs="+", default=[10_000, 100_000])
    searching.add_argument("--seeds", type=int, nargs="+", default=[0])
    searching.add_argument("--folder", default=None)
    searching.add_argument("--steps", nargs="+", choices=STEPS, default=list(STEPS))
    searching.set_defaults(act=search)
    one = commands.add_parser("step")
    one.add_argument("what", nargs=3)
    one.set_defaults(act=lambda a: step(a.what[0], a.what[1], json.loads(a.what[2])))
    arguments = parser.parse_args()
    arguments.act(arguments)


if __name__ == "__main__":
    main()
