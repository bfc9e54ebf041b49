"""From nothing to a folder of figures, data and one page."""

from __future__ import annotations

import io
import os
from collections.abc import Callable, Iterable
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

import pandas as pd

from ellzero._messages import Argument
from ellzero.paper import (
    accuracy,
    diabetes,
    discoveries,
    paths,
    penalties,
    posterior_means,
    timing,
)
from ellzero.paper._checks import check_run
from ellzero.paper._page import check_page, write_page
from ellzero.paper._run_trials import check_cluster
from ellzero.paper._timers import describe_machine
from ellzero.paper._trial_file import TrialFile, count_trials, package_versions
from ellzero.tables import DataError, write_aside

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["PARTS", "reproduce"]

PARTS: dict[str, ModuleType] = {
    "posterior-means": posterior_means,
    "penalties": penalties,
    "paths": paths,
    "accuracy": accuracy,
    "selection": discoveries,
    "timing": timing,
    "diabetes": diabetes,
}
_STUDIES = {"accuracy": "simulation", "selection": "simulation", "timing": "timing"}
_TRIALS = {"accuracy": 1000, "selection": 1000, "timing": 200}
_QUICK_TRIALS = {"accuracy": 100, "selection": 100, "timing": 30}


def reproduce(
    parts: str | Iterable[str] = "all",
    out: str | Path = "reproduction",
    *,
    trials: int | None = None,
    seed: int = 0,
    jobs: int | None = None,
    dask: str | None = None,
    resume: bool = False,
    quick: bool = False,
    progress: Callable[[str, int, int], None] | None = None,
) -> Path:
    """Remake figures and tables of the paper, and say which of its claims hold.

    Into the folder go ``index.html``, a page with every figure, claim and measurement;
    ``figures``, as PNG and SVG; ``data``, as Parquet and CSV; and ``trials``, every finished trial
    of the studies as it was done.

    Parameters
    ----------
    parts : str or iterable of str
        "all", or some of "posterior-means", "penalties", "paths", "accuracy", "selection",
        "timing", "diabetes". The page shows all that are in the folder.
    out : path
        The folder; made if there is none.
    trials : int or None
        Trials of accuracy, selection and timing. None means as many as in the paper: 1,000 of
        accuracy and selection, which share them, 200 of timing.
    seed : int
        Seed: the same seed gives the same numbers (but for seconds), whatever ``jobs`` and
        ``dask``, and whichever trials were done before.
    jobs : int or None
        Processes; None for all cores. Timing goes one by one.
    dask : str or None
        Address of a Dask scheduler, whose workers run the trials of accuracy and selection.
    resume : bool
        Whether to go on from trials that are in the folder. Without it they are an error.
    quick : bool
        Whether to make fewer trials where ``trials`` is not given, and to time only SBR, the
        frontier and spike-and-slab on problems of 1000 x 1000 and 2000 x 2000.
    progress : callable or None
        Called with a part, the number of its trials done, and of all.

    Returns
    -------
    Path
        The page.

    Examples
    --------
    >>> import tempfile
    >>> from ellzero.paper import reproduce
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     page = reproduce(["posterior-means", "penalties"], folder)
    ...     sorted(path.name for path in page.parent.iterdir())
    ['data', 'figures', 'index.html']
    """
    wanted = _check_parts(parts)
    check_run(1 if trials is None else trials, seed, jobs)
    folder = Path(out)
    _prepare(folder, wanted, int(seed), resume)
    if dask is not None and {"accuracy", "selection"} & {*wanted}:
        check_cluster(dask)
    if not (folder / "index.html").exists():
        write_page(folder, PARTS)  # so that whoever resumes knows the folder for ours
    for name in wanted:
        data = _compute(name, folder, trials, seed, jobs, dask, quick, progress)
        _write_figure(PARTS[name].draw(data), folder / "figures" / name)
        _write_data(data, folder / "data" / name)
        page = write_page(folder, PARTS)
    return page


def _check_parts(parts: str | Iterable[str]) -> list[str]:
    asked = [parts] if isinstance(parts, str) else list(parts)
    unknown = [name for name in asked if name not in (*PARTS, "all")]
    if unknown or not asked:
        raise ValueError(
            f"parts must be 'all' or some of {', '.join(PARTS)}; got "
            f"{repr(unknown[0]) if unknown else 'none'}."
        )
    return [name for name in PARTS if name in asked or "all" in asked]


def _prepare(folder: Path, wanted: list[str], seed: int, resume: bool) -> None:
    """Check before any work that trials can be resumed and that all files can be written."""
    check_page(folder, wanted)
    for study in dict.fromkeys(_STUDIES[name] for name in wanted if name in _STUDIES):
        path = _trial_file(folder, study)
        done = count_trials(path)
        if done and not resume:
            raise DataError(
                f"{path} holds {done:,} finished trials: go on from them with ",
                Argument("resume", True),
                ", or choose another folder.",
            )
        if done:
            with TrialFile(path, study, seed, describe_machine() if study == "timing" else None):
                pass
    try:
        for name in ("data", "figures", *(["trials"] if _STUDIES.keys() & wanted else [])):
            (folder / name).mkdir(parents=True, exist_ok=True)
            if not os.access(folder / name, os.W_OK):
                raise DataError(f"{folder / name} can't be written to.")
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise DataError(f"{folder} can't be made a folder: {reason}.") from None


def _trial_file(folder: Path, study: str) -> Path:
    return folder / "trials" / f"{study}.jsonl"


def _compute(
    name: str,
    folder: Path,
    trials: int | None,
    seed: int,
    jobs: int | None,
    dask: str | None,
    quick: bool,
    progress: Callable[[str, int, int], None] | None,
) -> pd.DataFrame:
    options: dict[str, Any] = {}
    facts: dict[Any, Any] = {**package_versions()}
    if name not in ("posterior-means", "penalties"):
        options["seed"] = facts["seed"] = int(seed)
    if name in _STUDIES:
        usual = _QUICK_TRIALS if quick else _TRIALS
        options["trials"] = facts["trials"] = usual[name] if trials is None else int(trials)
        options["trial_file"] = _trial_file(folder, _STUDIES[name])
    if name in ("accuracy", "selection"):
        options.update(jobs=jobs, dask=dask)
    if name == "timing":
        options["quick"] = quick
        facts["machine"] = describe_machine()
    if progress is not None and name in (*_STUDIES, "diabetes"):
        options["progress"] = lambda done, total: progress(name, done, total)
    data: pd.DataFrame = PARTS[name].compute(**options)
    data.attrs = facts
    return data


def _write_data(data: pd.DataFrame, stem: Path) -> None:
    buffer = io.BytesIO()
    data.to_parquet(buffer, index=False)
    write_aside(stem.with_suffix(".parquet"), buffer.getvalue())
    write_aside(stem.with_suffix(".csv"), data.to_csv(index=False, lineterminator="\n"))


def _write_figure(figure: Figure, stem: Path) -> None:
    import matplotlib as mpl
    import matplotlib.pyplot as plt

    # Files contain neither the time nor random names: the same data make the same bytes.
    with mpl.rc_context({"svg.hashsalt": "ellzero"}):
        for kind, extra in (("png", {"dpi": 150}), ("svg", {"metadata": {"Date": None}})):
            buffer = io.BytesIO()
            figure.savefig(buffer, format=kind, **extra)
            write_aside(stem.with_suffix(f".{kind}"), buffer.getvalue())
    plt.close(figure)
