"""Trials on several processes or a cluster; the numbers do not depend on where they are run."""

from __future__ import annotations

import contextlib
import os
import threading
import warnings
from collections.abc import Callable, Generator, Iterator, Sequence
from pathlib import Path
from typing import Any

import joblib
import pandas as pd
from threadpoolctl import threadpool_limits

from ellzero.paper._trial_file import (
    Row,
    Task,
    TrialFile,
    package_versions,
    say_versions,
)

__all__ = ["Progress", "Trial", "check_cluster", "one_thread", "run_trials"]

# Maps a seed and a task to what was found. It must be a function of a module, to be pickled.
Trial = Callable[..., list[Row]]
# Called with the number of trials done and of all
Progress = Callable[[int, int], None]

_one_at_a_time = threading.Lock()
# Seconds to wait for a scheduler to answer, and for its first worker
_SCHEDULER_PATIENCE = 5
_WORKER_PATIENCE = 30


@contextlib.contextmanager
def one_thread() -> Iterator[None]:
    """Hold BLAS and our own core to one thread: the last bits of BLAS depend on their number.

    Both settings belong to the process, so its other threads wait.
    """
    with _one_at_a_time, threadpool_limits(1):
        before = os.environ.get("OMP_NUM_THREADS")
        os.environ["OMP_NUM_THREADS"] = "1"
        try:
            yield
        finally:
            if before is None:
                del os.environ["OMP_NUM_THREADS"]
            else:
                os.environ["OMP_NUM_THREADS"] = before


def run_trials(
    study: str,
    trial: Trial,
    tasks: Sequence[Task],
    seed: int,
    *,
    keys: Sequence[str],
    jobs: int | None = None,
    dask: str | None = None,
    path: Path | None = None,
    machine: str | None = None,
    progress: Progress | None = None,
) -> pd.DataFrame:
    """Run those trials that a file does not hold yet, and return all.

    Parameters
    ----------
    study : str
        Its name, for the file.
    trial : callable
        ``trial(seed, *task)`` returns rows, dicts of what JSON can hold.
    tasks : sequence of tuples
        The trials.
    seed : int
        Seed of all trials.
    keys : sequence of str
        Names for the entries of a task; columns of the result.
    jobs : int or None
        Processes; None for all cores.
    dask : str or None
        Address of a Dask scheduler, whose workers are used instead.
    path : Path or None
        Where finished trials are kept, and found again.
    machine : str or None
        The machine that trials run on, if trials of another machine must not be mixed in.
    progress : callable or None
        Called with the number of trials done, and of all.

    Returns
    -------
    pandas.DataFrame
        In the order of tasks.
    """
    with contextlib.ExitStack() as stack:
        file = None
        if path is not None:
            file = stack.enter_context(TrialFile(path, study, seed, machine))
        kept = {} if file is None else file.done
        done = {task: kept[task] for task in tasks if task in kept}
        left = [task for task in tasks if task not in done]
        if progress is not None:
            progress(len(done), len(tasks))
        finished = (
            _over_processes(trial, seed, left, -1 if jobs is None else jobs)
            if dask is None or not left
            else _over_cluster(trial, seed, left, dask)
        )
        with contextlib.closing(finished):
            for task, rows in finished:
                if file is not None:
                    file.append(task, rows)
                done[task] = rows
                if progress is not None:
                    progress(len(done), len(tasks))
    return pd.DataFrame(
        [{**dict(zip(keys, task, strict=True)), **row} for task in tasks for row in done[task]]
    )


def _run_one(
    trial: Trial, seed: int, task: Task, versions: dict[str, str] | None = None
) -> tuple[Task, list[Row]]:
    """Run a trial, if the versions of packages here are those wanted."""
    if versions is not None and versions != (mine := package_versions()):
        raise ValueError(
            f"A worker has {say_versions(mine)}, not {say_versions(versions)}: its numbers might "
            "differ."
        )
    with one_thread():
        return task, trial(seed, *task)


def _over_processes(
    trial: Trial, seed: int, tasks: Sequence[Task], jobs: int
) -> Generator[tuple[Task, list[Row]], None, None]:
    if joblib.effective_n_jobs(jobs) == 1 or len(tasks) < 2:
        for task in tasks:
            yield _run_one(trial, seed, task)
        return
    # If this process is killed, those that work for it end when they have been idle for so long.
    with (
        joblib.parallel_config(backend="loky", idle_worker_timeout=10),
        warnings.catch_warnings(),
    ):
        # Ctrl-C is meant to cancel what has not been done.
        warnings.filterwarnings("ignore", message=r"\d+ tasks which were still being processed")
        parallel = joblib.Parallel(n_jobs=jobs, return_as="generator_unordered", batch_size=1)
        yield from parallel(joblib.delayed(_run_one)(trial, seed, task) for task in tasks)


def check_cluster(address: str) -> None:
    """Raise unless there is a cluster at an address, with workers."""
    with _connect(address):
        pass


def _connect(address: str) -> Any:
    try:
        from distributed import Client
        from distributed.comm import get_address_host_port
    except ImportError:
        raise ValueError(
            "A Dask cluster needs the package distributed: pip install 'ellzero[dask]'."
        ) from None
    try:
        get_address_host_port(address)  # what is no address at all, a client would leave half-made
        client = Client(address, timeout=_SCHEDULER_PATIENCE, set_as_default=False)
    except (OSError, ValueError) as error:
        raise ValueError(f"No Dask scheduler answers at {address!r} ({error}).") from None
    try:
        client.wait_for_workers(1, timeout=_WORKER_PATIENCE)
    except TimeoutError:
        client.close()
        raise ValueError(f"The Dask scheduler at {address!r} has no workers.") from None
    return client


def _over_cluster(
    trial: Trial, seed: int, tasks: Sequence[Task], address: str
) -> Generator[tuple[Task, list[Row]], None, None]:
    with _connect(address) as client:
        from distributed import KilledWorker, as_completed

        # A worker that dies takes its trials with it: the scheduler gives them to another.
        versions = package_versions()
        futures = [
            client.submit(_run_one, trial, seed, task, versions, pure=False) for task in tasks
        ]
        try:
            done = as_completed(futures, loop=client.loop, with_results=True)
            for future, result in done:
                yield result
                future.release()
        except (ImportError, KilledWorker, RuntimeError) as error:
            reason = " ".join(str(error.__cause__ or error).split())
            raise ValueError(f"The workers at {address!r} can't run trials: {reason}") from None
