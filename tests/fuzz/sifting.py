"""The engine that sifts columns in float32 against all subsets: its frontier, and any moves."""

import numpy as np

from ellzero import _core
from ellzero._engine import make_design
from fuzz import hostile
from fuzz.subsets import SPAN, oracle_of, rounding


def _engine(table):
    design = make_design(table.X, table.y, table.weights, table.intercept, 1)
    return _core.SiftedSquares(design, np.array([table.ridge]), 1)


def _table(rng):
    """Without columns far from zero: of these an engine's energies know few digits."""
    table = hostile.table(rng)
    return table._replace(X=table.X - table.X.mean(axis=0))


def _slack(oracle, support):
    """What rounding does to the energy of a support, the more the nearer it is to dependence."""
    independence = max(oracle.independence(sorted(support)), 1e-16) if len(support) else 1
    energy = oracle.energies[tuple(sorted(support))]
    return 2 * rounding(oracle) + 1e-7 * energy + 1e-14 * oracle.total / independence


def check_sifting(rng):
    """Every model of a frontier has its energy, and no insertion, removal or swap beats any."""
    table = _table(rng)
    oracle, engine, p = oracle_of(table), _engine(table), table.X.shape[1]
    forced = np.isin(np.arange(p), table.forced)
    engine.move_to(np.array(table.forced, dtype=np.int64))
    grown = _core.Frontier(engine, forced if table.forced else None, True)
    grown.grow(p, None)
    models = {len(model.support): model for model in grown.models()}
    for model in models.values():
        support = tuple(sorted(model.support.tolist()))
        wanted = oracle.energies[support]
        assert abs(model.energy - wanted) <= _slack(oracle, support), (
            f"energy {model.energy!r} of {support}, but lstsq says {wanted!r}"
        )
        inside, outside = set(support) - set(table.forced), set(range(p)) - set(support)
        moves = [set(support) | {j} for j in outside] + [set(support) - {j} for j in inside]
        moves += [set(support) - {j} | {k} for j in inside for k in outside]
        for other in moves:
            there = models.get(len(other))
            if there is None or oracle.independence(sorted(other)) < SPAN:
                continue
            better = oracle.energies[tuple(sorted(other))]
            assert there.energy <= better + _slack(oracle, there.support) + _slack(oracle, other), (
                f"{sorted(there.support)} has energy {there.energy!r}, but {sorted(other)}, a move "
                f"from {support}, {better!r}; y'y is {oracle.total!r}"
            )
    _check_moves(rng, table, engine, oracle)


def _check_moves(rng, table, engine, oracle):
    """What the engine says of itself and of its next move, wherever it has been flipped to."""
    p = table.X.shape[1]
    for j in rng.integers(p, size=12).tolist():
        engine.flip(j)
        members = tuple(sorted(engine.members.tolist()))
        wanted = oracle.energies[members]
        assert abs(engine.energy - wanted) <= _slack(oracle, members), (
            f"energy {engine.energy!r} at {members}, but lstsq says {wanted!r}"
        )
        found = engine.best_insertions(1)
        best = found[0].gain if found else 0.0
        for k in set(range(p)) - set(members):
            other = sorted({*members, k})
            if oracle.independence(other) >= SPAN:
                gain = wanted - oracle.energies[tuple(other)]
                slack = _slack(oracle, members) + _slack(oracle, other)
                assert gain <= best + slack, (
                    f"inserting {k} into {members} gains {gain!r}, not {best!r} at most"
                )
