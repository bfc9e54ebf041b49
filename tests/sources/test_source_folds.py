"""Cross-validation on sources, in bounded memory, and searches that were killed."""

import os
import signal
import subprocess
import sys

import numpy as np
import pytest

from ellzero import L0Regressor, L0RegressorCV, l0_frontier
from ellzero.regression import _room
from ellzero.regression._fold_data import Data
from ellzero.sources import ArraySource

pytestmark = pytest.mark.filterwarnings("ignore:L0RegressorCV. max_size")

N, P = 80, 600


class Narrow(ArraySource):
    block_columns = 97


def make_table(seed=0, n=N, p=P, mean=0.0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p))
    X[:, 1:] += 0.7 * X[:, :-1]
    y = X[:, 3] - X[:, 40] + 0.5 * X[:, 300] + rng.normal(size=n)
    return X + mean, y


def answer(model):
    return model.coef_.tolist(), model.lam_, model.cv_results_["mean_error"].tolist()


def make_pools(monkeypatch):
    """Make folds in memory pools of parts, as those of a source are."""
    monkeypatch.setattr(Data, "prefers_remainders", lambda *_: False)


def assert_rounding(some, others, rtol):
    """Folds that are what is left of all rows differ by rounding."""
    for one, other in zip(some, others, strict=True):
        np.testing.assert_allclose(one, other, rtol=rtol, atol=1e-14)


@pytest.mark.parametrize("solver", ["frontier", "sbr"])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("p", [70, P])  # of few columns all products are made at once
def test_folds_of_a_source_have_the_bits_of_memory(monkeypatch, solver, dtype, p):
    X, y = make_table(mean=1000.0)
    X = X[:, :p].astype(dtype)
    weight = np.random.default_rng(1).random(N) + 0.2
    options = {"cv": 5, "n_repeats": 1, "solver": solver, "max_size": 8}
    source = Narrow(X)
    model = L0RegressorCV(**options).fit(source, y, weight)
    quick = answer(L0RegressorCV(**options).fit(X, y, weight))
    make_pools(monkeypatch)
    assert answer(model) == answer(L0RegressorCV(**options).fit(X, y, weight))
    assert source.passes < 25
    assert_rounding(quick, answer(model), rtol=1e-9)  # of float32, means are a thousand spreads off


def test_ridges_repeats_and_nested_errors(monkeypatch):
    X, y = make_table(2)
    options = {"cv": 3, "n_repeats": 2, "ridge": [0.0, 0.3], "max_size": 5, "nested": True}
    quick = L0RegressorCV(**options).fit(X, y)
    make_pools(monkeypatch)
    model, same = L0RegressorCV(**options), L0RegressorCV(**options)
    assert answer(model.fit(Narrow(X), y)) == answer(same.fit(X, y))
    assert model.nested_score_ == same.nested_score_
    assert_rounding(answer(quick), answer(same), rtol=1e-12)
    assert quick.nested_score_ == pytest.approx(same.nested_score_, rel=1e-12)


def test_threads_change_nothing():
    X, y = make_table(3)
    options = {"cv": 4, "max_size": 6}
    one = L0RegressorCV(**options).fit(Narrow(X), y)
    assert one.n_repeats_ == 1  # where passes are dear
    assert answer(L0RegressorCV(**options, n_jobs=2).fit(Narrow(X), y)) == answer(one)


@pytest.fixture
def no_base(monkeypatch):
    """Count columns of products alone, so that a small table is a large one."""
    monkeypatch.setattr(_room, "_BASE", 0.0)


@pytest.mark.usefixtures("no_base")
@pytest.mark.parametrize("kind", [Narrow, np.array])
def test_a_budget_changes_no_answer_of_few_columns(kind):
    X, y = make_table(4, p=301)
    X = X[:, :70]
    free, tight = L0RegressorCV(cv=5, n_repeats=1), L0RegressorCV(cv=5, n_repeats=1, memory=3e5)
    assert answer(tight.fit(kind(X), y)) == answer(free.fit(kind(X), y))


@pytest.mark.usefixtures("no_base")
@pytest.mark.parametrize("kind", [Narrow, np.array])
def test_a_budget_changes_no_answer(monkeypatch, kind):
    make_pools(monkeypatch)  # as they are wherever there is a budget
    X, y = make_table(4)
    options = {"cv": 5, "n_repeats": 1}
    free, tight = kind(X), kind(X)
    expected = answer(L0RegressorCV(**options).fit(free, y))
    least = 8 * P * (4 * 5 + 7 * 6 + 5 * 16 + 44) + 1
    assert answer(L0RegressorCV(**options, memory=least).fit(tight, y)) == expected
    if kind is Narrow:
        assert tight.passes > free.passes  # it had to make some again
    with pytest.raises(ValueError, match=r"memory=0\.00 GB is too little: 5 folds of 600 columns"):
        L0RegressorCV(**options, memory=least - 2).fit(X, y)


@pytest.mark.usefixtures("no_base")
def test_a_frontier_in_little_memory():
    X, y = make_table(5)
    supports = [
        [m.tolist() for m in l0_frontier(source, y, max_size=12, memory=memory).supports]
        for source, memory in ((X, None), (X, 8 * P * 50), (Narrow(X), 8 * P * 50))
    ]
    assert supports[0] == supports[1] == supports[2]
    with pytest.raises(ValueError, match="is too little: a search among 600 columns"):
        l0_frontier(X, y, memory=100.0)


def test_what_a_budget_may_be():
    X, y = make_table()
    with pytest.raises(ValueError, match="memory must be like 2GB or 500MB; got 'much'"):
        l0_frontier(X, y, memory="much")
    with pytest.raises(ValueError, match="memory is for one ridge"):
        L0RegressorCV(memory="2GB", ridge="cv").fit(X, y)
    with pytest.raises(ValueError, match="cv must cut the rows of a Narrow into 32 parts or fewer"):
        L0RegressorCV(cv=N).fit(Narrow(X), y)
    with pytest.raises(TypeError, match=r"L0RegressorCV over groups.*, not a Narrow"):
        L0RegressorCV(feature_groups={"a": [0, 1]}).fit(Narrow(X), y)


def with_checkpoint(X, path):
    source = Narrow(X)
    source.checkpoint = path
    return source


def test_a_checkpoint_saves_all_passes_but_one(tmp_path):
    X, y = make_table(6)
    expected = L0Regressor(size=8).fit(X, y).coef_
    for first in (True, False):
        source = with_checkpoint(X, tmp_path / "c")
        np.testing.assert_array_equal(L0Regressor(size=8).fit(source, y).coef_, expected)
        assert (source.passes > 1) == first
    other = make_table(7)[0]
    with pytest.raises(ValueError, match=r"checkpoint: .* is of other data, weights or folds\."):
        L0Regressor().fit(with_checkpoint(other, tmp_path / "c"), y)
    changed = X.copy()
    changed[5, 17] += 1e-10
    with pytest.raises(ValueError, match="is of other data"):
        L0Regressor().fit(with_checkpoint(changed, tmp_path / "c"), y)
    (tmp_path / "text").write_text("something else altogether, and long enough to be a header")
    with pytest.raises(ValueError, match="is no file of columns"):
        L0Regressor().fit(with_checkpoint(X, tmp_path / "text"), y)
    with pytest.raises(ValueError, match=r"checkpoint: .* can't be opened"):
        L0Regressor().fit(with_checkpoint(X, tmp_path / "nowhere" / "c"), y)


@pytest.mark.parametrize("damage", ["cut", "flipped"])
def test_what_is_damaged_is_made_again(tmp_path, damage):
    X, y = make_table(8)
    path = tmp_path / "c"
    expected = L0Regressor(size=8).fit(with_checkpoint(X, path), y).coef_
    content = bytearray(path.read_bytes())
    if damage == "cut":
        del content[-1000:]
    else:
        content[5000] ^= 1
    path.write_bytes(content)
    for passes in (2, 1):
        source = with_checkpoint(X, path)
        np.testing.assert_array_equal(L0Regressor(size=8).fit(source, y).coef_, expected)
        assert source.passes <= passes


SCRIPT = """
import os, signal, sys
import numpy as np
from ellzero import L0RegressorCV, l0_frontier
from ellzero.sources import ArraySource

class Dying(ArraySource):
    block_columns = 97

    def block(self, begin, stop):
        if self.passes == 5 and begin > 300:
            os.kill(os.getpid(), signal.SIGKILL)
        return super().block(begin, stop)

data = np.load(sys.argv[1])
source = Dying(data["X"])
source.checkpoint = sys.argv[2]
if sys.argv[3] == "frontier":
    l0_frontier(source, data["y"], max_size=15)
else:
    L0RegressorCV(cv=4, max_size=15).fit(source, data["y"])
"""


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="needs SIGKILL")
@pytest.mark.parametrize("what", ["frontier", "folds"])
def test_a_search_that_was_killed_goes_on(tmp_path, what):
    X, y = make_table(9)
    np.savez(tmp_path / "data.npz", X=X, y=y)
    command = [sys.executable, "-c", SCRIPT, str(tmp_path / "data.npz"), str(tmp_path / "c"), what]
    killed = subprocess.run(command, env=os.environ, capture_output=True, text=True, check=False)
    assert killed.returncode == -signal.SIGKILL, killed.stderr

    def fit(source):
        if what == "frontier":
            return [m.tolist() for m in l0_frontier(source, y, max_size=15).supports]
        return answer(L0RegressorCV(cv=4, max_size=15).fit(source, y))

    anew, resumed = Narrow(X), with_checkpoint(X, tmp_path / "c")
    assert fit(resumed) == fit(anew)
    assert resumed.passes == anew.passes - 3  # those that were made and written before
