"""Cases spread over processes, each watched: one that hangs or dies is named, the rest go on."""

import multiprocessing
import os
import signal
import time
import traceback
import warnings
from collections import Counter
from contextlib import suppress
from multiprocessing.connection import wait
from typing import NamedTuple
from zlib import crc32

import numpy as np


class Case(NamedTuple):
    """What is checked, and on what."""

    family: str
    seed: int

    def __str__(self):
        return f"make fuzz FAMILY={self.family} SEED={self.seed} CASES=1"


def run_case(case, check):
    """Run one case on random numbers that are the same whatever ran before it."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        check(np.random.default_rng([case.seed, crc32(case.family.encode())]))


def work(pipe):
    """Ask for cases until there are none; with the question goes what was wrong with the last."""
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell may have had it ignored
    os.setsid()  # so that what it starts can be ended with it
    wrong = ""
    while True:
        pipe.send(wrong)
        task = pipe.recv()
        if task is None:
            return
        try:
            run_case(*task)
            wrong = ""
        except BaseException:
            wrong = traceback.format_exc()


class Worker:
    """A process, and the case that it is at."""

    def __init__(self):
        # Not forked: what it checks should not depend on what this process has done.
        context = multiprocessing.get_context("spawn")
        self.pipe, its_end = context.Pipe()
        self.process = context.Process(target=work, args=(its_end,))
        self.process.start()
        its_end.close()
        self.case, self.since = None, 0.0  # none while it starts

    def begin(self, case, check):
        self.case, self.since = case, time.monotonic()
        self.pipe.send((case, check))

    def what_happened(self, ready, limit):
        """Return (what is wrong, details) of its case, or None while it works on it."""
        if self.pipe in ready:
            try:
                details = self.pipe.recv()
                return ("Failed" if details else "", details)
            except (EOFError, OSError):
                self.process.join()
                return (f"Died of {self.process.exitcode}", "")
        if self.case is not None and time.monotonic() - self.since > limit:
            return (f"Hung for {limit:g} s", "")
        return None

    def stop(self):
        with suppress(ProcessLookupError):  # which has no group of its own before it has begun
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.kill()
        self.process.join()
        self.pipe.close()


def run(families, seed, cases, jobs, limit):
    """Run cases of several families, seed after seed; return how many were bad."""
    names = list(families)
    shares = np.array([families[name].weight for name in names], dtype=float)
    shares /= shares.sum()
    seeds = iter(range(seed, seed + cases))
    counts, bad = Counter(), Counter()
    print(f"{cases} cases from seed {seed}, {jobs} at a time", flush=True)
    workers = [Worker() for _ in range(max(1, min(jobs, cases)))]
    try:
        while workers:
            ready = wait([worker.pipe for worker in workers], timeout=1)
            for place, worker in reversed(list(enumerate(workers))):
                happened = worker.what_happened(ready, limit)
                if happened is None:
                    continue
                wrong, details = happened
                if worker.case is not None:
                    counts[worker.case.family] += 1
                if wrong:
                    assert worker.case is not None, "A process died before its first case."
                    bad[worker.case.family] += 1
                    reason = details if cases == 1 else "\n  ".join(details.splitlines()[-1:])
                    print(f"{wrong}: {worker.case}\n  {reason}", flush=True)
                if wrong and not details:  # it can't go on
                    worker.stop()
                    workers[place] = Worker()
                    continue
                number = next(seeds, None)
                if number is None:
                    worker.stop()
                    del workers[place]
                    continue
                name = names[np.random.default_rng(number).choice(len(names), p=shares)]
                worker.begin(Case(name, number), families[name].check)
    finally:
        for worker in workers:
            worker.stop()
    for name in names:
        print(f"{name:>14}: {counts[name]:7} cases, {bad[name]} bad")
    return bad.total()
