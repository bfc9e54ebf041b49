"""What a proof consists of, and how it is saved: JSON that ``_checker.py`` reads.

Numbers are exact: single ones as hexadecimal floats, arrays as base64 of little-endian float64 or
float32. The parts of a file:

``problem``
    ``columns``, ``names``, ``forced``; ``gram`` (the upper triangle row by row, the ridge on its
    diagonal), ``c``, ``half_yy``: those of columns of unit norm and of y times 2 to ``exponent``;
    ``ridge``, ``intercept``; ``floor``, what can be taken off the diagonal of ``gram`` so that it
    stays positive semidefinite, or 0; ``dead`` columns and ``copies``, which no support needs.
``proofs``
    For each: ``lam``, ``cap`` and what is claimed in ``claim``: ``support`` and its coefficients
    ``b``, ``objective``, ``bound``, ``tolerance``, ``proved``, ``always_in``, ``always_out``. And
    the ``tree``: for every node its ``parent``, the ``column`` that was decided and whether it is
    ``inside``, its ``steps`` (``columns``, of which the first ``n_in`` are in, ``u``, for those in
    more digits of it in ``u_low``, ``d``, ``fixed_in``, ``fixed_out``), its ``end``.
``table``
    Of ``ellzero select``: the ``settings`` that made columns of a table, and what was dropped.
"""

from __future__ import annotations

import base64
import json
import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ellzero import _core

__all__ = ["Claim", "Record", "Statistics"]

_ENDS = {
    _core.NodeEnd.OPEN: "open",
    _core.NodeEnd.CLOSED: "closed",
    _core.NodeEnd.BRANCHED: "branched",
}


class Statistics(NamedTuple):
    """What is proved something about: the loss as a quadratic form, y scaled by a power of two."""

    gram: NDArray[np.float64]  # with the ridge on its diagonal
    c: NDArray[np.float64]
    half_yy: float
    exponent: int  # y was multiplied by 2 to this
    forced: NDArray[np.int64]
    dead: NDArray[np.int64]  # columns that vary with nothing
    copies: list[tuple[int, int]]  # columns that equal another, up to sign
    ridge: float  # as it was given, plus `added`
    added: float  # to the ridge, since some columns depend on others
    floor: float  # G less this on its diagonal is positive semidefinite; 0 if not known
    intercept: bool
    names: list[str] | None

    @property
    def unit(self) -> float:
        """What energies are to be multiplied by to be those of y."""
        return math.ldexp(1.0, -2 * self.exponent)

    def to_json(self) -> dict[str, Any]:
        """Return what is saved."""
        return {
            "columns": len(self.c),
            "names": self.names,
            "intercept": self.intercept,
            "ridge": float(self.ridge).hex(),
            "floor": float(self.floor).hex(),
            "exponent": self.exponent,
            "half_yy": float(self.half_yy).hex(),
            "c": _encode(self.c, "f8"),
            "gram": _encode(self.gram[np.triu_indices(len(self.c))], "f8"),
            "forced": self.forced.tolist(),
            "dead": self.dead.tolist(),
            "copies": [list(pair) for pair in self.copies],
        }


class Claim(NamedTuple):
    """What one tree shows, in the scaled units."""

    lam: float
    cap: int
    support: NDArray[np.int64]
    b: NDArray[np.float64]
    objective: float
    bound: float
    tolerance: float
    proved: bool
    always_in: tuple[int, ...]
    always_out: tuple[int, ...]

    def to_json(self) -> dict[str, Any]:
        """Return what is saved."""
        return {
            "support": self.support.tolist(),
            "b": _encode(self.b, "f8"),
            "objective": self.objective.hex(),
            "bound": self.bound.hex(),
            "tolerance": self.tolerance.hex(),
            "proved": self.proved,
            "always_in": list(self.always_in),
            "always_out": list(self.always_out),
        }


class Record:
    """The trees of a certificate; the same as another one if it was saved the same."""

    def __init__(self, statistics: Statistics) -> None:
        self._statistics: Statistics | None = statistics
        self._trees: list[tuple[Claim, _core.Proof, bool]] = []
        self._content: dict[str, Any] | None = None

    def add(self, claim: Claim, proof: _core.Proof, *, leaves: bool = False) -> None:
        """Add what one tree shows; ``leaves`` says that each of its leaves has its own bound."""
        self._trees.append((claim, proof, leaves))

    @property
    def empty(self) -> bool:
        """Whether there was nothing to prove."""
        return not self._trees and not (self._content or {}).get("proofs")

    @property
    def complete(self) -> bool:
        """Whether all trees were kept: they are dropped where they take too much memory."""
        return all(proof.recorded for _, proof, _ in self._trees)

    def content(self) -> dict[str, Any]:
        """Return what is saved."""
        if self._content is None:
            assert self._statistics is not None
            self._content = {
                "format": "ellzero certificate",
                "version": 1,
                "problem": self._statistics.to_json(),
                "proofs": [
                    {
                        "lam": float(claim.lam).hex(),
                        "cap": claim.cap,
                        "claim": claim.to_json(),
                        "tree": _tree_to_json(proof.record, leaves),
                    }
                    for claim, proof, leaves in self._trees
                    if proof.recorded
                ],
            }
        return self._content

    def text(self, **more: Any) -> str:
        """Return it as JSON, with more parts that say where the problem is from."""
        return json.dumps({**self.content(), **more}, separators=(",", ":"), ensure_ascii=False)

    def __getstate__(self) -> dict[str, Any]:
        return {"_content": self.content(), "_statistics": None, "_trees": []}


def _tree_to_json(nodes: list[_core.ProofNode], leaves: bool) -> list[dict[str, Any]]:
    """Return what is saved of a tree: no bounds of inner nodes that nothing rests on."""
    tree = [_node_to_json(node) for node in nodes]
    needed: set[int] = set()
    for place, node in enumerate(tree):
        above = place if node["end"] != "branched" and not node["steps"] else -1
        while above >= 0 and above not in needed:
            needed.add(above)
            above = tree[above]["parent"]
    for place, node in enumerate(tree):
        if leaves and node["end"] == "branched" and place not in needed:
            node["steps"] = [s for s in node["steps"] if s["fixed_in"] or s["fixed_out"]]
    return tree


def _node_to_json(node: _core.ProofNode) -> dict[str, Any]:
    return {
        "parent": node.parent,
        "column": node.column,
        "inside": node.inside,
        "end": _ENDS[node.end],
        "steps": [
            {
                "columns": step.columns.tolist(),
                "n_in": step.n_in,
                "u": _encode(step.u, "f8"),
                "u_low": _encode(step.u_low, "f8"),
                "d": _encode(step.d, "f4"),
                "fixed_in": step.fixed_in.tolist(),
                "fixed_out": step.fixed_out.tolist(),
            }
            for step in node.steps
        ],
    }


def _encode(values: NDArray[Any], kind: str) -> str:
    return base64.b64encode(np.ascontiguousarray(values, dtype=f"<{kind}").tobytes()).decode()
