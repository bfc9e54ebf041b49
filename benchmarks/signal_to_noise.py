"""Which method predicts best at which signal-to-noise ratio: best subset, or the lasso?

Hastie, Tibshirani and Tibshirani (2020) remade, with cross-validation where they had a validation
set: four settings, four types of coefficients, three correlations, ten ratios.

    python benchmarks/signal_to_noise.py --quick            a few minutes
    python benchmarks/signal_to_noise.py                    everything: an hour per data set
    python benchmarks/signal_to_noise.py --settings 100x10 500x100 --rhos 0.35 --types 2
    python benchmarks/signal_to_noise.py --methods "CV, ridge" lasso "relaxed lasso" "L0Learn L0L2"
    python benchmarks/signal_to_noise.py --first 1000       other data sets
    python benchmarks/signal_to_noise.py --dask tcp://...   started with PYTHONPATH=benchmarks

Every trial is written to a file as soon as it is done, one file per method in the folder --out: a
run that was stopped goes on where it was, and to have a method computed anew, delete its file. What
is printed is the relative risk of each method over the best of lasso, relaxed lasso and L0Learn's
L0L2 in the same cell; figures are beside the files. Peers: benchmarks/requirements.txt
"""

import argparse
import sys
from pathlib import Path

import pandas as pd
from signal_to_noise_methods import METHODS, run_trial
from signal_to_noise_results import draw_all, print_tables
from sparse_problems import BETA_TYPES, SETTINGS, SNRS

from ellzero.paper._run_trials import run_trials

RHOS = (0.0, 0.35, 0.7)
KEYS = ("setting", "type", "rho", "snr", "number", "method")
QUICK = {"types": (2,), "rhos": (0.35,), "snrs": (0.25, 1.22, 6.0), "datasets": 3}


def run(options):
    """Return one row per trial and method; what files hold is not computed again."""
    options.out.mkdir(parents=True, exist_ok=True)
    numbers = range(options.first, options.first + options.datasets)
    tables = []
    for setting in options.settings:
        for name in options.methods:
            method = METHODS[name]
            if SETTINGS[setting][1] > method.max_columns:
                continue
            tasks = [
                (setting, kind, rho, snr, number, name)
                for number in numbers
                for kind in options.types
                for rho in options.rhos
                for snr in options.snrs
            ]
            tables.append(
                run_trials(
                    f"signal to noise, {name}: {method.what}",
                    run_trial,
                    tasks,
                    0,
                    keys=KEYS,
                    jobs=options.jobs,
                    dask=options.dask,
                    path=options.out / f"{name.replace(', ', '-').replace(' ', '-')}.jsonl",
                    progress=lambda done, all_, at=f"{setting}, {name}": say(at, done, all_),
                )
            )
    return pd.concat(tables, ignore_index=True)


def say(where, done, count):
    if done == count or sys.stderr.isatty():
        end = "\n" if done == count else "\r"
        print(f"{where}: {done} of {count}   ", end=end, file=sys.stderr, flush=True)


def read_options():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add = parser.add_argument
    add("--quick", action="store_true", help="three ratios, one type and correlation, few data")
    add("--settings", nargs="+", choices=SETTINGS, default=list(SETTINGS), metavar="NxP")
    add("--types", nargs="+", type=int, choices=BETA_TYPES, help="of coefficients")
    add("--rhos", nargs="+", type=float, choices=RHOS, help="correlations of neighbours")
    add("--snrs", nargs="+", type=float, choices=SNRS, help="signal-to-noise ratios")
    add("--methods", nargs="+", choices=METHODS, default=list(METHODS), metavar="NAME")
    add("--first", type=int, default=0, help="number of the first data set")
    add("--datasets", type=int, help="data sets per cell: ten, or three if quick")
    add("--jobs", type=int, default=1, help="processes")
    add("--dask", help="address of a Dask scheduler, whose workers are used instead")
    add("--out", type=Path, default=Path("signal-to-noise"), help="folder for files and figures")
    options = parser.parse_args()
    full = {"types": BETA_TYPES, "rhos": RHOS, "snrs": SNRS, "datasets": 10}
    for name, value in (QUICK if options.quick else full).items():
        if getattr(options, name) is None:
            setattr(options, name, value)
    return options


def main():
    options = read_options()
    results = run(options)
    print_tables(results)
    for path in draw_all(results, options.out):
        print(path)


if __name__ == "__main__":
    main()
