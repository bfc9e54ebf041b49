"""A few cases of every family that is known to be well; `make fuzz` runs many."""

import sys

import pytest

from fuzz.broken import check_broken
from fuzz.families import FAMILIES, Family
from fuzz.runner import Case, run, run_case


@pytest.mark.parametrize("name", [name for name, family in FAMILIES.items() if family.quick])
def test_a_few_cases(name):
    for seed in range(FAMILIES[name].quick):
        run_case(Case(name, seed), FAMILIES[name].check)


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no groups of processes")
def test_what_fails_dies_or_hangs_is_named_and_the_rest_goes_on(capfd):
    assert run({"broken": Family(check_broken, 1, 0)}, 1, 6, jobs=2, limit=10) == 4
    shown = capfd.readouterr().out
    for wrong, seed in {"Died of -6": 1, "Hung for 10 s": 4, "Failed": 6}.items():
        assert f"{wrong}: make fuzz FAMILY=broken SEED={seed} CASES=1" in shown
    assert "AssertionError: wrong" in shown
    assert shown.split()[-5:] == ["broken:", "6", "cases,", "4", "bad"]
