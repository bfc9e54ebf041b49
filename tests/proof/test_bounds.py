"""Bounds and proofs against all supports, with the incumbent made worse than it is."""

import json
from fractions import Fraction

import numpy as np
import pytest
from fuzz.proofs import Case, check_proof
from reference.proofs import best_in, bound, energies_of_all, exact_energy, exactly_best_in

from ellzero.proof import _checker


@pytest.mark.parametrize("seed", range(60))
def test_never_a_wrong_proof(seed):
    check_proof(np.random.default_rng(seed))


@pytest.mark.parametrize("seed", range(25))
def test_every_node_is_bounded_by_its_best_support(seed):
    case = Case(np.random.default_rng(1000 + seed))
    case.prove(inflate=0.2)
    content = case.prover.record.content()
    known, proof = case.prover.statistics, content["proofs"][0]
    energies = energies_of_all(known.gram, known.c, known.half_yy)
    seen = 0
    for node in proof["tree"]:
        for step in node["steps"]:
            columns, n_in = step["columns"], step["n_in"]
            parts = [Fraction(value) for value in _checker.decode(step["u"], "f8").tolist()]
            for i, more in enumerate(_checker.decode(step["u_low"], "f8").tolist()):
                parts[i] += Fraction(more)
            u = dict(zip(columns, parts, strict=True))
            d = dict(zip(columns, _checker.decode(step["d"], "f4").tolist(), strict=True))
            node = (case.price, case.cap, columns[:n_in], columns[n_in:])
            problem = (known.gram, known.c, known.half_yy, *node)
            value, best = bound(*problem, u, d), best_in(energies, *node)
            if value > best - 1e-6:  # energies are not exact where columns nearly depend
                best = exactly_best_in(*problem)
            assert value <= best
            seen += 1
    assert seen


def test_other_barriers_give_consistent_bounds():
    for seed in range(15):
        case = Case(np.random.default_rng(2000 + seed))
        answers = [case.prove(barrier=barrier) for barrier in (0.02, 0.2, 2.0)]
        for one in answers:
            for other in answers:
                assert one.bound <= other.objective + other.tolerance
        if case.prover.statistics.added == 0 and case.well_conditioned:
            assert all(answer.proved for answer in answers)


def test_same_bits_again():
    case = Case(np.random.default_rng(7))
    one, other = case.prove(), case.prove()
    assert one.support.tolist() == other.support.tolist()
    assert one[1:] == other[1:]


@pytest.mark.parametrize("seed", range(12))
def test_in_fractions(seed):
    case = Case(np.random.default_rng(3000 + seed), most_columns=6)
    case.prove()
    content = json.loads(json.dumps(case.prover.record.content()))
    assert _checker.check(content, exact=True) == _checker.check(content)


def test_exact_energies_agree_with_elimination():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(9, 4))
    gram, c = X.T @ X, rng.normal(size=4)
    energies = energies_of_all(gram, c, 2.0)
    for support in ([], [0], [1, 3], [0, 1, 2, 3]):
        mask = sum(1 << j for j in support)
        assert energies[mask] == pytest.approx(float(exact_energy(gram, c, 2.0, support)))
