"""What is said of long work, by a clock of our own."""

import pytest

from ellzero import _progress
from ellzero._progress import draw_printer, heard_by, progress_printer


@pytest.fixture
def clock(monkeypatch):
    now = [100.0]
    monkeypatch.setattr(_progress.time, "perf_counter", lambda: now[0])

    def at(seconds):
        now[0] = 100.0 + seconds

    return at


def test_time_left(clock, capsys):
    report = draw_printer("Model", 6000, 1)
    for seconds, done in ((0.5, 10), (2, 600), (2.5, 700), (60, 3000), (7200, 5000)):
        clock(seconds)
        report(done)
    assert capsys.readouterr().err.splitlines() == [
        "[Model] 10% of 6000 iterations after 2 s, about 18 s left",
        "[Model] 50% of 6000 iterations after 60 s, about 60 s left",
        "[Model] 83% of 6000 iterations after 2.0 h, about 24 min left",
    ]


def test_a_run_that_goes_on_counts_its_own_time(clock, capsys):
    report = draw_printer("Model", 1000, 1, begin=500)
    clock(1.5)
    report(500)
    clock(10)
    report(600)
    assert capsys.readouterr().err.splitlines() == [
        "[Model] 50% of 1000 iterations after 2 s",
        "[Model] 60% of 1000 iterations after 10 s, about 40 s left",
    ]


def test_who_listens(clock, capsys):
    assert draw_printer("Model", 10, 0) is None
    assert progress_printer("Model", 0) is None
    heard = []
    with heard_by(heard.append):
        report = draw_printer("Model", 10, 0)
    with heard_by(heard.append, False):
        assert draw_printer("Model", 10, 0) is None
    assert draw_printer("Model", 10, 0) is None
    clock(4)
    report(5)
    assert heard == ["50% of 10 iterations after 4 s, about 4 s left"]
    report = progress_printer("Other", 1)
    clock(6)
    report(7)
    assert capsys.readouterr().err == "[Other] 7 variables after 2 s\n"
