"""Runs that are killed in the middle and go on from their checkpoint: the same bits."""

import errno
import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
from lasting_posteriors import (
    KINDS,
    TABLE,
    Y,
    assert_same,
    fitted,
    make,
    quietly,
    results,
)
from patience import PATIENCE

from ellzero.posterior import _checkpoint, _lasting
from ellzero.posterior._checkpoint import Checkpoint
from ellzero.posterior._run import ChainRun

CHAINS = [kind for kind in KINDS if "enumerate" not in kind]


class Killed(BaseException):
    """What stops a run in these tests."""


@pytest.fixture
def stopped(monkeypatch):
    """Makes runs write after every stretch, and stop after so many of them."""
    draw, write = ChainRun.draw, Checkpoint.write

    def stop_after(count):
        written = []

        def write_and_stop(self, run):
            write(self, run)
            written.append(run.iteration)
            if len(written) == count:
                raise Killed

        monkeypatch.setattr(Checkpoint, "write", write_and_stop)
        monkeypatch.setattr(
            ChainRun,
            "draw",
            lambda self, schedule, sample, keep=None: draw(self, schedule, sample, keep, 0.0),
        )
        return written

    return stop_after


@pytest.mark.parametrize("kind", CHAINS)
def test_a_run_goes_on_from_its_checkpoint(kind, tmp_path, stopped):
    _, _, table, response = KINDS[kind]
    path = tmp_path / "run"
    long = {"n_chains": 2, "n_warmup": 1100, "n_draws": 900}
    whole = fitted(kind, **long)
    for count in (1, 2):  # while it warms up, and later
        stopped(count)
        with pytest.raises(Killed):
            quietly(make(kind, **long, checkpoint=path).fit, table, response)
        assert path.exists()
    written = stopped(99)
    model = quietly(make(kind, **long, checkpoint=str(path), n_jobs=2).fit, table, response)
    assert len(written) < 7
    assert_same(results(model, table), results(whole, table))
    assert not path.exists()
    quietly(model.extend, 20, table, response)
    assert model.draws_.n_draws == 920


def test_without_a_seed_it_goes_on_with_that_of_the_file(tmp_path, stopped):
    path = tmp_path / "run"
    stopped(1)
    with pytest.raises(Killed):
        make("gibbs", n_draws=700, checkpoint=path, random_state=None).fit(TABLE, Y)
    run = Checkpoint(path, make("gibbs", random_state=None)).resume(
        ChainRun(0, 700, _data(path), _parameters(path))
    )
    stopped(99)
    model = make("gibbs", n_draws=700, checkpoint=path, random_state=None)
    assert quietly(model.fit, TABLE, Y)._run.seed == run.seed
    # More draws than the run was to have are a run that goes on
    stopped(1)
    with pytest.raises(Killed):
        make("gibbs", n_draws=700, checkpoint=path).fit(TABLE, Y)
    stopped(99)
    model = quietly(make("gibbs", n_draws=800, checkpoint=path).fit, TABLE, Y)
    assert_same(results(model, TABLE), results(fitted("gibbs", n_draws=800), TABLE))


def _run_of(path):
    return _checkpoint.unpack(path, "ellzero checkpoint", 1, "one", (ChainRun,))["checkpoint"][
        "run"
    ]


def _data(path):
    return _run_of(path).data


def _parameters(path):
    return _run_of(path).parameters


@pytest.mark.parametrize(
    ("change", "data", "message"),
    [
        ({"random_state": 5}, (TABLE, Y), "its random_state is another"),
        ({"theta": 0.3}, (TABLE, Y), "its theta is another"),
        ({"n_draws": 20}, (TABLE, Y), "it has n_draws=700"),
        ({}, (TABLE, Y * 2), "its X, y or sample_weight are others"),
        ({}, (TABLE, Y, np.full(len(Y), 2.0)), "its X, y or sample_weight are others"),
    ],
)
def test_the_file_of_another_run_is_refused(change, data, message, tmp_path, stopped):
    path = tmp_path / "run"
    stopped(1)
    with pytest.raises(Killed):
        make("gibbs", n_draws=700, checkpoint=path).fit(TABLE, Y)
    before = path.read_bytes()
    other = make("gibbs", **{"n_draws": 700, "checkpoint": path, **change})
    with pytest.raises(ValueError, match=f"belongs to another run, {message}: remove it, or name"):
        other.fit(*data)
    assert path.read_bytes() == before


def test_files_that_are_no_checkpoints_are_refused(tmp_path, stopped):
    path = tmp_path / "run"
    model = make("gibbs", n_draws=20, checkpoint=path)
    path.write_bytes(b"precious")
    with pytest.raises(ValueError, match="run is not a checkpoint"):
        model.fit(TABLE, Y)
    assert path.read_bytes() == b"precious"
    fitted("gibbs", n_draws=20).save(path)
    with pytest.raises(ValueError, match="run is not a checkpoint"):
        model.fit(TABLE, Y)
    path.unlink()
    stopped(1)
    with pytest.raises(Killed):
        make("gibbs", n_draws=700, checkpoint=path).fit(TABLE, Y)
    path.write_bytes(path.read_bytes()[:-50])
    with pytest.raises(ValueError, match="was cut off or changed"):
        make("gibbs", n_draws=700, checkpoint=path).fit(TABLE, Y)
    with pytest.raises(ValueError, match="checkpoint: there is no directory"):
        make("gibbs", checkpoint=tmp_path / "nowhere" / "run").fit(TABLE, Y)
    with pytest.raises(ValueError, match=r"checkpoint: .* is a directory"):
        make("gibbs", checkpoint=tmp_path).fit(TABLE, Y)


def test_a_full_disk_does_not_end_a_run(tmp_path, stopped, monkeypatch):
    path = tmp_path / "run"
    written = stopped(99)

    def fail(descriptor):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.warns(UserWarning, match="goes on without a checkpoint: .*no space left") as said:
        model = quietly(make("gibbs", n_draws=1700, checkpoint=path).fit, TABLE, Y)
    assert len(said) == 1
    assert len(written) > 2
    assert not list(tmp_path.iterdir())
    assert_same(results(model, TABLE), results(fitted("gibbs", n_draws=1700), TABLE))


def test_all_models_need_no_checkpoint(tmp_path):
    model = make("enumerate", n_draws=20, checkpoint=tmp_path / "run")
    model.fit(*KINDS["enumerate"][2:])
    assert not list(tmp_path.iterdir())


SCRIPT = """
import time, warnings
import numpy as np
warnings.simplefilter("ignore")
from ellzero import {name}
from ellzero.posterior._checkpoint import Checkpoint
from ellzero.posterior._run import ChainRun
draw, write = ChainRun.draw, Checkpoint.write


def write_slowly(self, run):  # so that there is time to be killed
    write(self, run)
    time.sleep(0.3)


Checkpoint.write = write_slowly
ChainRun.draw = lambda self, schedule, sample, keep=None: draw(self, schedule, sample, keep, 0.0)
X, y = np.load("X.npy"), np.load("y.npy")
model = {name}(n_draws={draws}, n_warmup=60, n_chains=3, n_jobs=2, random_state=4, checkpoint="run",
               solver="gibbs")
model.fit(X, y).save("fit.npz")
"""


@pytest.mark.skipif(sys.platform == "win32", reason="there is no SIGKILL")
def test_a_process_that_is_killed(tmp_path):
    cls, _, table, response = KINDS["gibbs"]
    np.save(tmp_path / "X.npy", np.asarray(table))
    np.save(tmp_path / "y.npy", response)
    script = SCRIPT.format(name=cls.__name__, draws=4000)
    command = [sys.executable, "-c", script]
    seen = []
    for _ in range(2):
        process = subprocess.Popen(command, cwd=tmp_path)
        deadline = time.monotonic() + PATIENCE
        before = len(seen)
        while len(seen) < before + 2 and process.poll() is None:
            assert time.monotonic() < deadline
            if (tmp_path / "run").exists():
                now = (tmp_path / "run").stat().st_mtime_ns
                if not seen or seen[-1] != now:
                    seen.append(now)
            time.sleep(0.002)
        process.send_signal(signal.SIGKILL)
        assert process.wait() == -signal.SIGKILL
        assert (tmp_path / "run").exists()
        assert not (tmp_path / "fit.npz").exists()
    subprocess.run(command, cwd=tmp_path, check=True)
    assert not (tmp_path / "run").exists()
    found = cls.load(tmp_path / "fit.npz")
    whole = cls(n_draws=4000, n_warmup=60, n_chains=3, random_state=4, solver="gibbs")
    quietly(whole.fit, np.asarray(table), response)
    assert_same(results(found, np.asarray(table)), results(whole, np.asarray(table)))


def test_progress_goes_on_where_it_stopped(capsys, tmp_path, stopped, monkeypatch):
    path = tmp_path / "run"
    stopped(1)
    with pytest.raises(Killed):
        make("gibbs", n_draws=800, checkpoint=path).fit(TABLE, Y)
    told = []
    printer = _lasting.draw_printer

    def listen(who, total, verbose, begin):
        told.append((who, total, begin))
        return printer(who, total, verbose, begin)

    monkeypatch.setattr(_lasting, "draw_printer", listen)
    stopped(99)
    quietly(make("gibbs", n_draws=800, checkpoint=path, verbose=1).fit, TABLE, Y)
    assert told == [("SpikeSlabRegressor", 3 * 860, 3 * 560)]
