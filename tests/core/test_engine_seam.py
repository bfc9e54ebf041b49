"""Every driver on an engine of another kind: energies of all subsets of ten units, from a table."""

import os
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest
from reference.subsets import energy, preprocess

ROOT = Path(__file__).resolve().parents[2]
P = 10


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    compiler = os.environ.get("CXX") or shutil.which("c++") or shutil.which("g++")
    if compiler is None or not (ROOT / "core").is_dir():
        pytest.skip("no C++ compiler, or no source of the core, to compile another engine with")
    target = tmp_path_factory.mktemp("engine") / "table_engine"
    source = ROOT / "tests" / "core" / "table_engine.cpp"
    command = [
        compiler,
        "-std=c++17",
        "-O1",
        f"-I{ROOT / 'core'}",
        source,
        "-o",
        target,
        "-pthread",
    ]
    subprocess.run(command, check=True)
    return target


def least_squares_table(seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(30, 1)) + rng.normal(size=(30, P))
    Z, y = preprocess(X, X[:, 0] - X[:, 1] + X[:, 2] + rng.normal(size=30))
    supports = [[j for j in range(P) if code >> j & 1] for code in range(2**P)]
    return np.array([energy(Z, y, support) for support in supports])


def arbitrary_table(seed):
    """Return energies that fall with every unit, and are those of no regression."""
    rng = np.random.default_rng(seed)
    table = np.full(2**P, np.inf)
    table[0] = 100.0
    for code in range(1, 2**P):
        smaller = min(table[code & ~(1 << j)] for j in range(P) if code >> j & 1)
        table[code] = smaller * rng.uniform(0.8, 1.0)
    return table


def run(program, table, *commands):
    """Return the numbers that each command prints."""
    text = f"{P}\n{' '.join(map(repr, table.tolist()))}\n" + "\n".join(commands) + "\n"
    done = subprocess.run(
        [program], input=text, capture_output=True, text=True, check=True, timeout=300
    )
    return [[float(word) for word in line.split()] for line in done.stdout.splitlines()]


def size(code):
    return int(code).bit_count()


def literal_sbr(table, lam, forced=0):
    code = forced
    while True:
        flips = [code ^ (1 << j) for j in range(P) if not forced >> j & 1]
        best = min(flips, key=lambda c: table[c] + lam * size(c & ~forced))
        gain = table[code] + lam * size(code & ~forced) - table[best] - lam * size(best & ~forced)
        if gain <= 1e-12 * table[0]:
            return code
        code = best


TABLES = [(make, seed) for make in (least_squares_table, arbitrary_table) for seed in range(3)]


@pytest.mark.parametrize(("make", "seed"), TABLES)
def test_sbr(program, make, seed):
    table = make(seed)
    lams = np.geomspace(1e-3, 0.5, 12) * table[0]
    for forced in (-1, 4):
        commands = [f"sbr {lam!r} {P} {forced}" for lam in lams.tolist()]
        for lam, (code,) in zip(lams, run(program, table, *commands), strict=True):
            assert code == literal_sbr(table, lam, 0 if forced < 0 else 1 << forced)


@pytest.mark.parametrize(("make", "seed"), TABLES)
def test_the_path_and_the_trail_of_sbr(program, make, seed):
    table = make(seed)
    path, trail = run(program, table, f"path 0 {P}", f"trail 0 {P}")
    for code, low, high in zip(path[::3], path[1::3], path[2::3], strict=True):
        for lam in (low * 1.001, min(high, 2 * low + table[0]) * 0.999):
            if low < lam < high:  # no insertion or removal improves a stop
                here = table[int(code)] + lam * size(code)
                flips = [int(code) ^ (1 << j) for j in range(P)]
                assert all(table[c] + lam * size(c) >= here - 1e-9 for c in flips)
    high = 2 * table[0]
    for code, low in zip(trail[::2], trail[1::2], strict=True):
        if high - low > 1e-6 * high:
            assert code == literal_sbr(table, (low + high) / 2)
        high = low


@pytest.mark.parametrize(("make", "seed"), TABLES)
def test_frontiers_are_closed(program, make, seed):
    table = make(seed)
    commands = [
        f"{driver} 0 {P} {forced}" for driver in ("frontier", "closed") for forced in (-1, 4)
    ]
    for driver, found in zip(commands, run(program, table, *commands), strict=True):
        forced = 1 << 4 if driver.endswith("4") else 0
        best = {size(code): table[int(code)] for code in found}
        assert sorted(best) == list(range(size(forced), P + 1))
        for code in map(int, found):
            assert code & forced == forced
            inside = [j for j in range(P) if code >> j & 1 and not forced >> j & 1]
            outside = [j for j in range(P) if not code >> j & 1]
            moves = [code | 1 << j for j in outside] + [code & ~(1 << r) for r in inside]
            if driver.startswith("frontier"):
                moves += [code & ~(1 << r) | 1 << j for r in inside for j in outside]
            assert all(table[c] >= best[size(c)] - 1e-9 for c in moves)


def test_the_frontier_finds_the_best_subsets_of_least_squares(program):
    hits = 0
    for seed in range(5):
        table = least_squares_table(seed)
        (found,) = run(program, table, f"frontier 0 {P}")
        for code in map(int, found):
            every = [c for c in range(2**P) if size(c) == size(code)]
            hits += table[code] <= min(table[c] for c in every) + 1e-12
    assert hits >= 54  # of 55


def test_folds_are_searched_as_alone(program):
    table = arbitrary_table(7)
    closed, fold = run(program, table, f"closed 0 {P}", f"fold 0 {P}")
    assert fold == closed
    trail, fold = run(program, table, f"trail 0 {P}", f"fold_sbr 0 {P}")
    stops = trail[::2]
    assert fold == [code for i, code in enumerate(stops) if i == 0 or code != stops[i - 1]]
