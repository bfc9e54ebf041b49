"""Two versions of the package, timed against each other.

    python benchmarks/compare.py BASE [HEAD] [--seconds S] [--only WORDS]

BASE and HEAD are commits; without HEAD it is the working tree. Both are built into folders of
their own. A process for each runs the cases of cases.py on one thread, the two taking turns, so
that whatever else the machine does falls on both. The table has the processor time of each, before
and after, and their ratio HEAD / BASE: the median over turns, and between which values half of all
turns lie. Above 1 is slower.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BURST = 3  # calls of a turn, of which the quickest counts


def serve():
    """Run the cases that standard input names, a line each, and print what each took."""
    from cases import speed_cases

    cases = speed_cases()
    print(json.dumps(list(cases)), flush=True)
    for line in sys.stdin:
        run = cases[json.loads(line)]
        taken = []
        for _ in range(BURST):
            start = time.process_time()
            run()
            taken.append(time.process_time() - start)
        print(min(taken), flush=True)


def build(commit, folder):
    """Build a commit, or the working tree, into a folder."""
    source = ROOT
    if commit is not None:
        source = folder / "source"
        source.mkdir()
        archive = subprocess.run(
            ["git", "archive", commit], cwd=ROOT, stdout=subprocess.PIPE, check=True
        )
        subprocess.run(["tar", "x", "-C", source], input=archive.stdout, check=True)
    place = folder / "package"
    options = ["-q", "--no-deps", "--no-build-isolation", "--disable-pip-version-check"]
    where = [f"-Cbuild-dir={folder / 'build'}", "--target", place]
    command = [sys.executable, "-m", "pip", "install", *options, *where, source]
    subprocess.run(command, check=True)
    return place


def start(place):
    """Start the process of a build; this folder's cases serve both."""
    pinned = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
    # The environment has the package too, by a hook that looks first: leave hooks out.
    paths = [place, ROOT / "benchmarks", *(p for p in sys.path if p.endswith("site-packages"))]
    script = (
        f"import sys; sys.path[1:1] = {[str(p) for p in paths]!r}; import compare; compare.serve()"
    )
    process = subprocess.Popen(
        [sys.executable, "-S", "-c", script],
        env={**os.environ, **pinned}, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    return process, json.loads(process.stdout.readline())


def ask(process, name):
    process.stdin.write(json.dumps(name) + "\n")
    process.stdin.flush()
    return float(process.stdout.readline())


def quartiles(values):
    ordered = sorted(values)

    def at(share):
        return ordered[min(len(ordered) - 1, int(share * len(ordered)))]

    return at(0.25), at(0.5), at(0.75)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("base")
    parser.add_argument("head", nargs="?")
    parser.add_argument("--seconds", type=float, default=6.0, help="for each case")
    parser.add_argument("--only", default="", help="cases whose names have these words in them")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        sides = []
        for side, commit in (("base", arguments.base), ("head", arguments.head)):
            folder = Path(name) / side
            folder.mkdir()
            sides.append(start(build(commit, folder)))
        (base, names), (head, _) = sides
        print("| case | base, ms | head, ms | head / base | half of all turns |")
        print("|---|---|---|---|---|")
        for case in names:
            if arguments.only not in case:
                continue
            ratios, times = [], {base: [], head: []}
            end = time.perf_counter() + arguments.seconds
            while time.perf_counter() < end or len(ratios) < 7:
                pair = (base, head) if len(ratios) % 2 == 0 else (head, base)
                taken = {process: ask(process, case) for process in pair}
                ratios.append(taken[head] / taken[base])
                for process in pair:
                    times[process].append(taken[process])
            low, middle, high = quartiles(ratios)
            before, after = (1e3 * quartiles(times[process])[1] for process in (base, head))
            print(
                f"| {case} | {before:.2f} | {after:.2f} | {middle:.3f} | {low:.3f} to {high:.3f} |",
                flush=True,
            )
        for process in (base, head):
            process.stdin.close()
            process.wait()


if __name__ == "__main__":
    main()
