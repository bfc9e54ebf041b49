"""What is lost of R2 without a variable, where a ridge makes that differ from the energy."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ellzero import _core
from ellzero.regression._problem import Problem

__all__ = ["correlations", "correlations_by", "lost_of", "lost_without_each", "r2_at"]

_Floats = NDArray[np.float64]
_BLOCK = 8  # columns of the Gram matrix that are asked for at once


def correlations(problem: Problem, columns: NDArray[np.int64]) -> tuple[_Floats, _Floats]:
    """Return the correlations of some columns with each other and with y, which varies."""
    return correlations_by(problem.engine, problem.design, columns)


def correlations_by(
    engine: _core.Engine, design: _core.Quadratic, columns: NDArray[np.int64]
) -> tuple[_Floats, _Floats]:
    """Return the same, given an engine on a design."""
    with_y = design.zy[columns] / np.sqrt(design.yy)
    if isinstance(engine, _core.ScreenedSquares):  # which makes no columns of all products
        return design.cross_products(columns), with_y
    blocks = [columns[j : j + _BLOCK] for j in range(0, len(columns), _BLOCK)]
    rows = [engine.gram_columns(block)[:, columns] for block in blocks]
    gram = np.concatenate(rows) if rows else np.empty((0, 0))
    return gram, with_y


def r2_at(gram: _Floats, with_y: _Floats, ridge: float, factor: float) -> float:
    """Return the R2 of some columns at a positive ridge, coefficients multiplied by a factor.

    ``gram`` and ``with_y`` are correlations.
    """
    beta = factor * np.linalg.solve(gram + ridge * np.eye(len(with_y)), with_y)
    return float(2 * with_y @ beta - beta @ gram @ beta)


def lost_without_each(gram: _Floats, with_y: _Floats, ridge: float, factor: float) -> _Floats:
    """Return by how much that falls without each column, the others refitted.

    With A = G + ridge I, without column j the coefficients are beta - A^-1 e_j beta_j / [A^-1]_jj.
    """
    inverse = np.linalg.inv(gram + ridge * np.eye(len(with_y)))
    beta = inverse @ with_y
    without = factor * (beta[:, None] - inverse * (beta / np.diag(inverse)))
    r2 = 2 * with_y @ without - np.sum(without * (gram @ without), axis=0)
    return np.asarray(r2_at(gram, with_y, ridge, factor) - r2)


def lost_of(problem: Problem, support: NDArray[np.int64], factor: float = 1.0) -> _Floats | None:
    """Return by how much R2 falls without each column of a support, at the problem's ridge.

    None without a ridge, then that is what the energy rises by, and for a likelihood.
    """
    if not problem.ridge or problem.loss.is_likelihood:
        return None
    if not problem.design.yy > 0 or not support.size:
        return None
    return lost_without_each(*correlations(problem, support), problem.ridge, factor)
