"""What passes over many files have found so far, in a file of its own.

It is written aside and renamed, so that it is there whole or not at all: a job that was killed goes
on after the last part that is in it, to the same bits. A ZIP archive of NumPy's arrays: ``header``,
a JSON text, with what was asked and the marks of all parts, and for every node of the tree that
parts are put together in, its rows, weights, means and products by fold.
"""

from __future__ import annotations

import io
import json
import time
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ellzero._messages import Argument
from ellzero.sources._accumulate import Tree
from ellzero.sources._moments import Moments
from ellzero.tables import DataError, write_aside
from ellzero.tables._files import reason
from ellzero.tables._parts import Layout

__all__ = ["Checkpoint"]

_FORMAT, _VERSION = "ellzero passes", 2
# Writing takes at most one part in so many of the time.
_SHARE = 20


class Checkpoint:
    """A file that a job goes on from.

    Parameters
    ----------
    path : Path or None
        Where it is; None keeps nothing.
    layout : Layout
        The parts.
    asked : dict
        What is asked of them, in plain numbers and texts: a job that asks anything else can't go on
        from it.
    """

    def __init__(self, path: Path | None, layout: Layout, asked: dict[str, Any]) -> None:
        self._path, self._asked = path, json.loads(json.dumps(asked))
        self._parts = [[part.path, part.size, part.changed, part.mark] for part in layout.parts]
        self._last, self._took = time.monotonic(), 0.0
        self._stages: dict[str, Any] = {}
        self._arrays: dict[str, Any] = {}
        if path is not None and path.exists():
            self._read(path)

    def get(self, stage: str) -> Any:
        """Return what is known of a stage; None if nothing."""
        return self._stages.get(stage)

    def put(self, stage: str, make: Callable[[], Any], *, now: bool = False) -> None:
        """Keep what is known of a stage, if it is time to, or ``now``."""
        if self._path is not None and (now or self._due):
            self._stages[stage] = make()
            self._write(self._path)

    def tree(self) -> tuple[int, Tree, NDArray[np.float64]] | None:
        """Return how many parts are in a tree, the tree, and what it counts from; None if none."""
        kept = self._stages.get("tree")
        if kept is None:
            return None
        tree = Tree()
        for level, count in enumerate(kept["counts"]):
            node = None
            if count:
                rows, weight, mean, products = (
                    self._arrays[f"{name}{level}"]
                    for name in ("rows", "weight", "mean", "products")
                )
                node = [
                    Moments(int(r), float(w), m.copy(), c.copy())
                    for r, w, m, c in zip(rows, weight, mean, products, strict=True)
                ]
            tree.levels.append((node, count))
        shift = self._arrays["shift"]
        self._arrays = {}
        return kept["done"], tree, shift

    def put_tree(self, done: int, tree: Tree, shift: Any, *, now: bool = False) -> None:
        """Keep a tree that so many parts are in."""
        if self._path is None or not (now or self._due):
            return
        arrays: dict[str, Any] = {"shift": shift}
        for level, (node, _) in enumerate(tree.levels):
            if node is not None:
                arrays[f"rows{level}"] = np.array([fold.rows for fold in node], dtype=np.int64)
                arrays[f"weight{level}"] = np.array([fold.weight for fold in node])
                arrays[f"mean{level}"] = np.array([fold.mean for fold in node])
                arrays[f"products{level}"] = np.array([fold.products for fold in node])
        self._arrays = arrays
        counts = [count for _, count in tree.levels]
        self._stages["tree"] = {"done": done, "counts": counts}
        self._write(self._path)
        self._arrays = {}

    def remove(self) -> None:
        """Remove the file: the job is done."""
        if self._path is not None:
            try:
                self._path.unlink(missing_ok=True)
            except OSError as error:
                raise DataError(f"{self._path} can't be removed: {reason(error)}.") from None

    @property
    def _due(self) -> bool:
        return time.monotonic() - self._last >= _SHARE * self._took

    def _write(self, path: Path) -> None:
        began = time.monotonic()
        header = {
            "format": _FORMAT,
            "version": _VERSION,
            "asked": self._asked,
            "parts": self._parts,
            "stages": self._stages,
        }
        buffer = io.BytesIO()
        np.savez(buffer, header=np.array(json.dumps(header)), **self._arrays)
        write_aside(path, buffer.getvalue())
        self._last = time.monotonic()
        self._took = self._last - began

    def _read(self, path: Path) -> None:
        damaged = DataError(
            Argument("checkpoint"), f": {path} is no checkpoint of passes, or not whole: remove it."
        )
        try:
            with path.open("rb") as file, np.load(file, allow_pickle=False) as archive:
                self._arrays = {name: archive[name] for name in archive.files}
            header = json.loads(str(self._arrays.pop("header")))
            if header["format"] != _FORMAT or header["version"] != _VERSION:
                raise damaged
            asked, parts, stages = header["asked"], header["parts"], header["stages"]
        except DataError:
            raise
        except (zipfile.BadZipFile, KeyError, EOFError, OSError, TypeError, ValueError):
            raise damaged from None
        if asked != self._asked:
            differ = sorted(k for k in {*asked, *self._asked} if asked.get(k) != self._asked.get(k))
            raise DataError(
                Argument("checkpoint"),
                f": {path} is of a job that asked something else ({', '.join(differ)}): give the "
                "same command, or remove it.",
            )
        for before, now in zip(parts, self._parts, strict=False):
            if before != now:
                words = "has changed" if before[0] == now[0] else f"was {before[0]}"
                raise DataError(
                    f"{now[0]} {words} since ",
                    Argument("checkpoint"),
                    f" {path} was written: remove that to begin anew.",
                )
        if len(parts) != len(self._parts):
            raise DataError(
                Argument("checkpoint"),
                f": {path} is of {len(parts)} parts, not of {len(self._parts)}: remove it to begin "
                "anew.",
            )
        self._stages = stages
