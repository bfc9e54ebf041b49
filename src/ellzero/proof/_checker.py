"""Check a saved certificate: numpy and the standard library, nothing of the search.

What is claimed, for G, c and y'y as they are stored in the file, is that no b with at most ``cap``
nonzero entries, the forced columns counted, has

    f(b) = 1/2 y'y - c'b + 1/2 b'G b + lam (nonzero entries that are not forced)  <  bound.

The file has a tree. A node is a set I of columns that are in and a set F that are free; the root
has the forced columns in. Each of its steps gives u and d > 0 on both. If Q = G - D, on both, is
positive semidefinite, then with v = c - Qu and t_i = v_i^2 / (2 d_i) every b of the node has

    f(b) >= LB = 1/2 y'y - 1/2 u'Qu + sum over I of (price_i - t_i)
                 - sum of the cap - |I| largest, over F, of max(0, t_i - price_i)

since 1/2 b'Qb >= u'Qb - 1/2 u'Qu, and what is left is minimised over each b_i alone. A step may put
columns of F in, if leaving any of them out alone makes LB at least ``bound``, and others out. A
node ends open or closed, if the best LB on the way to it is at least ``bound``; or it is divided:
one child has a column of F in, the other has it out. So every b is covered, or nothing is proved.

Sums are exact but for their last rounding, and what that does is taken off; with ``exact=True``
everything is a fraction.
"""

from __future__ import annotations

import base64
import json
import math
from collections.abc import Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = ["CertificateError", "Verdict", "check", "check_table", "read"]

_UNIT = 2.0**-53
_OUT_OF_PLACE = (LookupError, TypeError, ValueError, ArithmeticError, AttributeError)
_Floats = NDArray[np.float64]


class CertificateError(ValueError):
    """A certificate does not show what it claims."""


class Verdict(NamedTuple):
    """What a certificate shows, in the units of the objective."""

    proofs: int
    nodes: int
    proved: bool  # of every proof: that nothing is better by more than the tolerance


def read(path: str | Path) -> dict[str, Any]:
    """Read a certificate."""
    with open(path, encoding="utf-8") as file:
        content = json.load(file)
    if not isinstance(content, dict) or content.get("format") != "ellzero certificate":
        raise CertificateError("This is not a certificate of ellzero.")
    if content.get("version") != 1:
        raise CertificateError(f"Version {content.get('version')} of certificates is not known.")
    return content


def check(content: Mapping[str, Any], *, exact: bool = False) -> Verdict:
    """Check all that a certificate claims; raise CertificateError at the first thing that fails."""
    nodes, proved = 0, True
    try:
        problem = _Problem(content["problem"])
        proofs = list(content["proofs"])
        with np.errstate(all="ignore"):  # what is not a number is at least nothing
            for proof in proofs:
                _Replay(problem, proof, exact).run()
                nodes += len(proof["tree"])
                proved &= bool(proof["claim"]["proved"])
    except CertificateError:
        raise
    except _OUT_OF_PLACE as error:
        raise CertificateError(f"Something is missing or out of place: {error!r}.") from error
    if not proofs:
        raise CertificateError("There is no proof in it.")
    return Verdict(len(proofs), nodes, proved)


def check_table(
    content: Mapping[str, Any],
    X: NDArray[np.float64],
    y: NDArray[np.float64],
    weights: NDArray[np.float64] | None = None,
) -> None:
    """Check that G, c and y'y of a certificate are those of a table, to within rounding."""
    try:
        with np.errstate(all="ignore"):
            _check_table(content["problem"], X, y, weights)
    except CertificateError:
        raise
    except _OUT_OF_PLACE as error:
        raise CertificateError(f"Something is missing or out of place: {error!r}.") from error


def _check_table(
    stated: Mapping[str, Any],
    X: NDArray[np.float64],
    y: NDArray[np.float64],
    weights: NDArray[np.float64] | None,
) -> None:
    problem = _Problem(stated)
    if X.shape[1] != problem.p:
        raise CertificateError(f"The certificate is about {problem.p} columns, not {X.shape[1]}.")
    Z = np.asarray(X, dtype=np.longdouble)
    target = np.asarray(y, dtype=np.longdouble)
    w = np.ones(len(target)) if weights is None else weights
    w = np.asarray(w, dtype=np.longdouble)
    slack = 64 * len(target) * np.finfo(float).eps
    whole, whole_yy = np.sqrt(w @ Z**2), w @ target**2  # before they are centred
    if stated["intercept"]:
        for _ in range(2):
            Z = Z - (w @ Z) / w.sum()
            target = target - (w @ target) / w.sum()
    Z, target = Z * np.sqrt(w)[:, None], target * np.sqrt(w)
    norms = np.sqrt((Z**2).sum(axis=0))
    dead = np.zeros(problem.p, dtype=bool)
    dead[problem.dead] = True
    if not (norms[dead] <= slack * whole[dead] + 1e-307).all():
        raise CertificateError("A column is set aside as empty that is not empty in the table.")
    Z = np.where(dead, 0, Z / np.where(norms > 0, norms, 1))
    ridge = float.fromhex(stated["ridge"])
    if not 0 <= ridge < math.inf:
        raise CertificateError("The ridge is not a number from 0.")
    gram = Z.T @ Z
    off = gram + ridge * np.eye(problem.p) - problem.gram
    # The ridge is on the diagonal, and makes no other product less exact
    if not (np.abs(off) <= slack * (1 + 2 * ridge * np.eye(problem.p))).all():
        raise CertificateError("The products of columns are not those of the table.")
    if problem.half_yy == 0:  # y is constant
        if not target @ target <= slack**2 * whole_yy or problem.c.any():
            raise CertificateError("The sum of squares of y is not that of the table.")
        return
    target = np.ldexp(target, _index(stated["exponent"], -5000, 5000))
    yy = target @ target
    if not 0.25 <= yy <= 4:  # what the rest is compared with
        raise CertificateError("The sum of squares of y is not that of the table.")
    if not (np.abs(Z.T @ target - problem.c) <= 2 * slack).all():
        raise CertificateError("The products of columns with y are not those of the table.")
    if not abs(yy / 2 - problem.half_yy) <= 4 * slack:
        raise CertificateError("The sum of squares of y is not that of the table.")


def decode(text: str, kind: str) -> NDArray[Any]:
    """Turn base64 into numbers: little-endian float64 ("f8") or float32 ("f4")."""
    return np.frombuffer(base64.b64decode(text), dtype=f"<{kind}").astype(np.float64)


def _index(value: Any, least: int, most: int) -> int:
    """Return a whole number that is within a range, as all that columns are chosen by has to be."""
    if type(value) is not int or not least <= value <= most:
        raise CertificateError(f"{value!r} is not a whole number from {least} to {most}.")
    return value


class _Problem:
    def __init__(self, stated: Mapping[str, Any]) -> None:
        p = self.p = _index(stated["columns"], 0, 2**31)
        upper = decode(stated["gram"], "f8")
        if upper.size != p * (p + 1) // 2:
            raise CertificateError("The products of columns are not all there.")
        self.gram = np.zeros((p, p))
        self.gram[np.triu_indices(p)] = upper
        self.gram = np.maximum(self.gram, 0) + np.minimum(self.gram, 0)  # no negative zeros
        self.gram += np.triu(self.gram, 1).T
        self.c = decode(stated["c"], "f8")
        self.half_yy = float.fromhex(stated["half_yy"])
        self.forced = self.columns(stated["forced"])
        numbers = np.concatenate([self.gram.ravel(), self.c, [self.half_yy]])
        if self.c.size != p or not np.isfinite(numbers).all():
            raise CertificateError("Some products of columns are not there, or not finite.")
        # Squares of what is less than 1e-100 may be 0, and those of what is more not finite
        if np.abs(numbers).max() > 1e100 or 0 < abs(self.half_yy) < 1e-100:
            raise CertificateError("The products are too large or too small to be computed with.")
        self.floor = float.fromhex(stated["floor"])
        if self.floor > 0 and not _is_semidefinite(self.gram, np.full(p, self.floor)):
            raise CertificateError("G less what is said can be taken off is not semidefinite.")
        self.dead = self.columns(stated["dead"])
        copies = [self.columns(pair) for pair in stated["copies"]]
        self.twins = {j for pair in copies for j in pair}
        self.aside = self._set_aside(self.dead, copies)

    def columns(self, stated: Sequence[Any]) -> list[int]:
        """Return places of columns, if that is what they are."""
        return [_index(j, 0, self.p - 1) for j in stated]

    def _set_aside(self, dead: Sequence[int], copies: Sequence[Sequence[int]]) -> set[int]:
        """Columns that no support needs: f does not depend on them, or only on a sum."""
        aside = set(dead)
        for j in dead:
            others = np.delete(self.gram[j], j)
            if j in self.forced or self.c[j] != 0 or others.any() or self.gram[j, j] < 0:
                raise CertificateError(f"Column {j} is set aside as empty, but is not.")
        for j, i in copies:
            sign = 1.0 if self.gram[i, j] > 0 else -1.0
            same = (self.gram[j] == sign * self.gram[i]).all() and self.c[j] == sign * self.c[i]
            if i in aside or i == j or j in self.forced or i in self.forced or not same:
                raise CertificateError(f"Column {j} is set aside as a copy of {i}, but is not.")
            aside.add(j)
        return aside


class _Bounds(NamedTuple):
    value: Any
    if_out: dict[int, Any]
    if_in: dict[int, Any]


class _Replay:
    """One tree."""

    def __init__(self, problem: _Problem, proof: Mapping[str, Any], exact: bool) -> None:
        self.problem, self.proof, self.exact = problem, proof, exact
        claim = proof["claim"]
        self.bound = float.fromhex(claim["bound"])
        self.objective = float.fromhex(claim["objective"])
        self.strict = self.objective + float.fromhex(claim["tolerance"])
        self.cap = _index(proof["cap"], 0, problem.p)
        lam = float.fromhex(proof["lam"])
        if not lam >= 0:
            raise CertificateError("The price of a column is negative.")
        self.price = np.full(problem.p, lam)
        self.price[problem.forced] = 0
        if not 0 <= self.strict - self.objective < math.inf:
            raise CertificateError("The tolerance is not a number from 0.")
        self.in_list = set(problem.columns(claim["always_in"]))
        self.out_list = set(problem.columns(claim["always_out"]))
        costs = self.bound + lam > self.strict
        if self.in_list & problem.twins or self.out_list & problem.twins:
            raise CertificateError("A column that has a copy is said to be always in, or out.")
        if self.out_list & problem.aside and not costs:
            raise CertificateError("An empty column is said to be always out, but costs nothing.")

    def run(self) -> None:
        self._check_claim()
        nodes = self.proof["tree"]
        children: list[list[int]] = [[] for _ in nodes]
        for place, node in enumerate(nodes):
            parent = int(node["parent"])
            if (place == 0) != (parent == -1) or parent >= place:
                raise CertificateError(f"Node {place} has no place in the tree.")
            if parent >= 0:
                children[parent].append(place)
        if not nodes:
            raise CertificateError("There is no tree.")
        free = set(range(self.problem.p)) - set(self.problem.forced) - self.problem.aside
        ends: dict[int, tuple[set[int], set[int], Any]] = {}
        for place, node in enumerate(nodes):
            if place == 0:
                state = (set(self.problem.forced), free, -math.inf)
            else:
                inside, left, best = ends[int(node["parent"])]
                column = _index(node["column"], 0, self.problem.p - 1)
                state = (
                    inside | {column} if node["inside"] else set(inside),
                    left - {column},
                    best,
                )
            ends[place] = self._follow(place, node, *state)
            self._check_children(place, node, ends[place][1], [nodes[i] for i in children[place]])

    def _check_claim(self) -> None:
        claim, problem = self.proof["claim"], self.problem
        support = problem.columns(claim["support"])
        b = decode(claim["b"], "f8")
        if len(set(support)) != len(support) or len(b) != len(support):
            raise CertificateError("The support is not a set of columns with a coefficient each.")
        if len(support) > self.cap or not set(problem.forced) <= set(support):
            raise CertificateError("The support has too many columns, or not the forced ones.")
        G = problem.gram[np.ix_(support, support)]
        value = Fraction(problem.half_yy) + sum(map(Fraction, self.price[support].tolist()))
        value -= _exact_sum(problem.c[support], b)
        for i, row in enumerate(G):
            value += Fraction(b[i]) / 2 * _exact_sum(row, b)
        if not value <= Fraction(self.objective):
            raise CertificateError("The support does not have the objective that is claimed.")
        tolerance = float.fromhex(claim["tolerance"])
        if claim["proved"] and not self.bound >= self.objective - tolerance:
            raise CertificateError("It is said to be proved, but the bound is below the objective.")

    def _check_children(
        self, place: int, node: Mapping[str, Any], free: set[int], children: list[Any]
    ) -> None:
        if node["end"] in ("open", "closed"):
            if children:
                raise CertificateError(f"Node {place} is not divided, but has children.")
            return
        if node["end"] != "branched":
            raise CertificateError(f"Node {place} has no end.")
        ways = sorted(bool(child["inside"]) for child in children)
        columns = {int(child["column"]) for child in children}
        if ways != [False, True] or len(columns) != 1 or not columns <= free:
            raise CertificateError(f"The two parts of node {place} are not both there.")

    def _follow(
        self, place: int, node: Mapping[str, Any], inside: set[int], free: set[int], best: Any
    ) -> tuple[set[int], set[int], Any]:
        """Return the sets and the best bound that a node ends with."""
        last: _Bounds | None = None
        if len(inside) > self.cap:
            best = math.inf
        for step in node["steps"]:
            free = free if len(inside) < self.cap else set()
            last = self._bounds(place, step, inside, free)
            best = max(best, last.value)
            fixed_in = set(self.problem.columns(step["fixed_in"]))
            fixed_out = set(self.problem.columns(step["fixed_out"]))
            if not (fixed_in | fixed_out) <= free or fixed_in & fixed_out:
                raise CertificateError(f"Node {place} fixes columns that are not free.")
            for i in fixed_in:
                self._check_region(place, last.if_out[i], inside, free - {i}, None)
            for i in fixed_out:
                self._check_region(place, last.if_in[i], inside | {i}, free - {i}, None)
            if fixed_in or fixed_out:
                inside, free = inside | fixed_in, free - fixed_in - fixed_out
                last = None
        free = free if len(inside) < self.cap else set()
        if node["end"] != "branched":
            self._check_region(place, best, inside, free, last)
        return inside, free, best

    def _check_region(
        self, place: int, value: Any, inside: set[int], free: set[int], last: _Bounds | None
    ) -> None:
        if not value >= self.bound:
            raise CertificateError(
                f"Node {place}: the bound is {float(value)!r}, not {self.bound!r}."
            )
        if value > self.strict:
            return
        for i in self.in_list - inside:
            if last is None or i not in free or not last.if_out[i] > self.strict:
                raise CertificateError(f"Node {place}: column {i} may be out.")
        for i in self.out_list & (inside | free):
            if last is None or i in inside or not last.if_in[i] > self.strict:
                raise CertificateError(f"Node {place}: column {i} may be in.")

    def _bounds(
        self, place: int, step: Mapping[str, Any], inside: set[int], free: set[int]
    ) -> _Bounds:
        columns = self.problem.columns(step["columns"])
        n_in = int(step["n_in"])
        u, digits = decode(step["u"], "f8"), decode(step["u_low"], "f8")
        low = np.zeros_like(u)
        low[: len(digits)] = digits
        d = decode(step["d"], "f4")
        if len(set(columns)) != len(columns) or set(columns) != inside | free:
            raise CertificateError(f"A bound of node {place} is not on its columns.")
        if len(u) != len(columns) or len(d) != len(columns) or len(digits) != n_in:
            raise CertificateError(f"A bound of node {place} has not one u and d per column.")
        if not (np.isfinite(u + low).all() and np.isfinite(d).all() and (d > 0).all()):
            raise CertificateError(f"Node {place}: some d are not positive, or not finite.")
        G = self.problem.gram[np.ix_(columns, columns)]
        c = self.problem.c[columns]
        semidefinite = _is_semidefinite_exactly if self.exact else _is_semidefinite
        below = bool((d <= self.problem.floor).all())
        if not below and not semidefinite(G, d):
            raise CertificateError(f"Node {place}: G - D is not positive semidefinite.")
        # 1/2 u'Qu = 1/2 u'(c - v)
        number = Fraction if self.exact else float
        parts: list[Any] = [number(self.problem.half_yy)]
        slack = 0.0
        t: dict[int, Any] = {}
        used, more = np.flatnonzero(u), np.flatnonzero(low)
        among, at = np.hstack([G[:, used], G[:, more]]), np.concatenate([u[used], low[more]])
        for i, column in enumerate(columns):
            if self.exact:
                own = Fraction(u[i]) + Fraction(low[i])
                v: Any = Fraction(c[i]) - _exact_sum(among[i], at) + Fraction(d[i]) * own
                parts.append(-own * (Fraction(c[i]) - v) / 2)
                t[column] = v * v / (2 * Fraction(d[i]))
            else:
                both, d_i = np.array([u[i], low[i]]), np.array([d[i], d[i]])
                v = math.fsum([c[i], *_products(-among[i], at), *_products(d_i, both)])
                parts += _products(-0.5 * both, np.array([c[i], c[i]]))
                parts.append(0.5 * u[i] * v)
                t[column] = v * v / (2 * d[i]) * (1 + 8 * _UNIT)
                slack += (abs(u[i]) + abs(low[i]) / _UNIT) * abs(v)
            if column in inside:
                parts += [number(self.price[column]), -t[column]]
        total: Any = sum(parts, Fraction(0)) if self.exact else math.fsum(parts)
        prices = {i: number(self.price[i]) for i in free}
        w = {i: max(number(0), t[i] - prices[i]) for i in free}
        order = sorted(w.values(), reverse=True)
        cap = min(self.cap - len(inside), len(order))
        taken = sum(order[:cap], number(0))
        pad: Any = Fraction(0)
        if not self.exact:
            pad = 8 * _UNIT * (slack + abs(total) + (len(order) + 4) * taken)
        value = total - taken - pad
        after = order[cap] if cap < len(order) else number(0)
        last = order[cap - 1] if cap else number(0)
        if_out = {i: value + max(number(0), w[i] - after) - pad for i in free}
        rest = {i: number(0 if self.exact else 8 * _UNIT) * (t[i] + prices[i]) for i in free}
        if_in = {i: value + (max(w[i], last) + prices[i] - t[i]) - rest[i] - pad for i in free}
        if not cap:
            if_in = dict.fromkeys(free, math.inf)
        return _Bounds(value, if_out, if_in)


def _products(a: _Floats, b: _Floats) -> list[float]:
    """Return numbers whose exact sum is that of the products of two vectors (Dekker 1971)."""
    product = a * b
    split = 134217729.0
    a_high = a * split - (a * split - a)
    b_high = b * split - (b * split - b)
    a_low, b_low = a - a_high, b - b_high
    error = ((a_high * b_high - product) + a_high * b_low + a_low * b_high) + a_low * b_low
    parts: list[float] = [*product.tolist(), *error.tolist()]
    return parts


def _exact_sum(a: _Floats, b: _Floats) -> Fraction:
    pairs = zip(a.tolist(), b.tolist(), strict=True)
    return sum((Fraction(x) * Fraction(y) for x, y in pairs), Fraction(0))


def _is_semidefinite(G: _Floats, d: _Floats) -> bool:
    """Whether G - D is, by a factorisation of G - D - shift whose error is less (Rump 2006)."""
    m = len(d)
    trace = math.fsum(np.abs(np.diag(G)).tolist()) + math.fsum(d.tolist())
    shift = 2 * (m + 4) * _UNIT * trace
    try:
        np.linalg.cholesky(G - np.diag(d) - shift * np.eye(m))
    except np.linalg.LinAlgError:
        return False
    return True


def _is_semidefinite_exactly(G: _Floats, d: _Floats) -> bool:
    """Whether G - D is, by elimination in fractions."""
    rows = [[Fraction(value) for value in row] for row in G.tolist()]
    for i, value in enumerate(d.tolist()):
        rows[i][i] -= Fraction(value)
    while rows:
        first = rows[0]
        if first[0] < 0 or (first[0] == 0 and any(first)):
            return False
        if first[0] > 0:
            rows = [
                [value - row[0] * along / first[0] for value, along in zip(row, first, strict=True)]
                for row in rows
            ]
        rows = [row[1:] for row in rows[1:]]
    return True
