"""Ctrl-C in the midst of long work, however busy the machine is."""

import _thread
import sys
import threading
from contextlib import contextmanager
from pathlib import Path

import pytest

import ellzero

PACKAGE = str(Path(ellzero.__file__).parent)


@contextmanager
def interrupted(after=None):
    """Interrupt what the block does, which has to raise: a while after it has begun, or an event.

    A fixed delay might end before the work begins. So another thread looks every 20 ms at where the
    main thread is, and interrupts it when it has been found at one call of the package for long.
    """
    with pytest.raises(KeyboardInterrupt), _watched(after):
        yield


@contextmanager
def _watched(after):
    main, over = threading.get_ident(), threading.Event()

    def watch():
        before, seen = None, 0
        while not over.wait(0.02):
            frame = sys._current_frames()[main]
            now = frame.f_code.co_filename, frame.f_code.co_name, frame.f_lasti
            seen = seen + 1 if now == before and now[0].startswith(PACKAGE) else 0
            before = now
            if after.is_set() if after is not None else seen == 10:
                _thread.interrupt_main()
                return

    watcher = threading.Thread(target=watch)
    watcher.start()
    try:
        yield
    finally:
        over.set()
        watcher.join()
