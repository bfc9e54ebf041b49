"""Checkpoints: a run of chains that is killed in the middle goes on from the last one."""

from __future__ import annotations

import contextlib
import os
import tempfile
import warnings
from pathlib import Path
from typing import Any

from ellzero._messages import Argument
from ellzero.posterior._archive import pack, unpack
from ellzero.posterior._run import ChainRun, changed_parameter
from ellzero.tables import DataError, write_aside

__all__ = ["Checkpoint"]

_FORMAT, _VERSION = "ellzero checkpoint", 1


class Checkpoint:
    """The file of a run that is under way.

    Parameters
    ----------
    path : str or os.PathLike
        The file, which is there only if a run was stopped.
    estimator : estimator
        Whose run it is.

    Raises
    ------
    ValueError
        If nothing can be written there.
    """

    def __init__(self, path: str | os.PathLike[str], estimator: Any) -> None:
        self._path, self._estimator = Path(path), estimator
        self._warned = False
        folder = self._path.absolute().parent
        if self._path.is_dir():
            raise DataError(Argument("checkpoint"), f": {self._path} is a directory.")
        if not folder.is_dir():
            raise DataError(Argument("checkpoint"), f": there is no directory {folder}.")
        try:
            tempfile.NamedTemporaryFile(prefix=".ellzero.", dir=folder).close()
        except OSError as error:
            reason = (error.strerror or str(error)).lower()
            words = f": nothing can be written in {folder}: {reason}."
            raise DataError(Argument("checkpoint"), words) from None

    def resume(self, run: ChainRun) -> ChainRun:
        """Return the run of the file, to go on; the one given if there is no file.

        Raises
        ------
        ValueError
            If the file is that of another run.
        """
        from ellzero import __version__

        if not self._path.exists():
            return run
        content = unpack(self._path, _FORMAT, _VERSION, "a checkpoint", (ChainRun,))["checkpoint"]
        found: ChainRun = content["run"]
        own = type(self._estimator).__name__
        differs = ""
        if content["class"] != own:
            differs = f"it is that of a {content['class']}"
        elif content["ellzero"] != __version__:
            differs = f"it is that of ellzero {content['ellzero']}"
        elif found.data != run.data:
            differs = "its X, y or sample_weight are others"
        elif (name := changed_parameter(found, self._estimator)) is not None:
            differs = f"its {name} is another"
        elif found.seed != run.seed and self._estimator.random_state is not None:
            differs = "its random_state is another"
        elif found.n_draws > run.n_draws:
            differs = f"it has n_draws={found.n_draws}"
        if differs:
            raise DataError(
                Argument("checkpoint"),
                f": {self._path} belongs to another run, {differs}: remove it, or name another "
                "file.",
            )
        found.n_draws = run.n_draws
        return found

    def write(self, run: ChainRun) -> None:
        """Write the run as far as it came, aside and then renamed.

        The first time that fails it is said in a warning; the run goes on.
        """
        from ellzero import __version__

        name = type(self._estimator).__name__
        content = {"class": name, "ellzero": __version__, "run": run}
        try:
            raw = pack(_FORMAT, _VERSION, {"checkpoint": content}, (ChainRun,))
            write_aside(self._path, raw)
        except (DataError, MemoryError) as error:
            if not self._warned:
                self._warned = True
                reason = str(error) or "out of memory."
                warnings.warn(
                    f"{name} goes on without a checkpoint: {reason}", UserWarning, stacklevel=2
                )

    def remove(self) -> None:
        """Remove the file of a run that is done."""
        with contextlib.suppress(OSError):
            self._path.unlink()
