"""Posteriors saved to a file and loaded: the same to the bit, and nothing else gets in."""

import json
import subprocess
import sys
import zipfile
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from lasting_posteriors import KINDS, TABLE, X, Y, assert_same, fitted, make, quietly, results

from ellzero import SpikeSlabClassifier, SpikeSlabRegressor
from ellzero.posterior._archive import _checksum, pack, unpack


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_loaded_is_what_was_saved(kind, tmp_path):
    cls, _, table, response = KINDS[kind]
    model = fitted(kind, n_draws=40)
    path = tmp_path / "fit.npz"
    model.save(path)
    loaded = cls.load(path)
    assert_same(loaded.get_params(), model.get_params())
    assert_same(results(loaded, table), results(model, table))
    assert_same(vars(loaded).keys() - {"n_jobs"}, vars(model).keys() - {"n_jobs"})
    # And goes on as if it had never been away
    quietly(model.extend, 30, table, response)
    quietly(loaded.extend, 30, table, response)
    assert_same(results(loaded, table), results(model, table))
    again = tmp_path / "again.npz"
    model.save(path)
    loaded.save(again)
    assert path.read_bytes() == again.read_bytes()


def test_another_process_extends_it(tmp_path):
    path = tmp_path / "fit.npz"
    fitted("gibbs", n_draws=30).save(str(path))
    np.savez(tmp_path / "data.npz", X=X, y=Y)
    script = f"""
import numpy as np, pandas as pd, warnings
from ellzero import SpikeSlabRegressor
warnings.simplefilter("ignore")
with np.load({str(tmp_path / "data.npz")!r}) as data:
    X = pd.DataFrame(data["X"], columns=[f"x{{j}}" for j in range(12)])
    SpikeSlabRegressor.load({str(path)!r}).extend(90, X, data["y"]).save({str(path)!r})
"""
    subprocess.run([sys.executable, "-c", script], check=True)
    whole = fitted("gibbs", n_draws=120)
    assert_same(results(SpikeSlabRegressor.load(path), TABLE), results(whole, TABLE))


@pytest.mark.parametrize(
    "parameters",
    [
        {"theta": pd.Series({"x1": 0.5, "x3": 0.9})},
        {"theta": {"x1": 0.5}, "always_include": {"x0", "x2"}},
        {"theta": np.full(12, 0.25), "n_draws": np.int64(20)},
        {"random_state": np.random.RandomState(3), "sigma_e": np.float64(1.0)},
        {"feature_groups": ["a", "a", None, *[None] * 9], "checkpoint": Path("somewhere")},
    ],
)
def test_parameters_of_every_kind(parameters, tmp_path):
    model = make("gibbs", **{"n_draws": 20, **parameters, "checkpoint": None})
    quietly(model.fit, TABLE, Y)
    model.set_params(**{k: v for k, v in parameters.items() if k == "checkpoint"})
    model.save(tmp_path / "fit.npz")
    loaded = SpikeSlabRegressor.load(tmp_path / "fit.npz")
    one, two = loaded.get_params(), model.get_params()
    states = [own.pop("random_state") for own in (one, two)]
    assert_same(one, two)
    if isinstance(states[0], np.random.RandomState):
        assert_same(states[0].get_state(), states[1].get_state())
    quietly(loaded.extend, 10, TABLE, Y)


def test_what_can_not_be_saved(tmp_path):
    model = fitted("gibbs", n_draws=20)
    model.set_params(theta=iter([]))
    with pytest.raises(TypeError, match=r"theta: a list_iterator can't be saved\."):
        model.save(tmp_path / "fit.npz")
    assert not list(tmp_path.iterdir())
    with pytest.raises(ValueError, match="can't be written: no such file or directory"):
        fitted("gibbs", n_draws=20).save(tmp_path / "nowhere" / "fit.npz")


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    path = tmp_path_factory.mktemp("saved") / "fit.npz"
    fitted("gibbs", n_draws=20).save(path)
    return path.read_bytes()


def refused(tmp_path, raw):
    path = tmp_path / "fit.npz"
    path.write_bytes(raw)
    with pytest.raises(ValueError, match=r"fit\.npz") as caught:
        SpikeSlabRegressor.load(path)
    return str(caught.value).replace(str(path), "FILE")


CHANGED = "FILE was cut off or changed since it was written."
STRANGE = "FILE is not a saved posterior."


def test_strangers_are_refused(tmp_path, saved):
    assert refused(tmp_path, b"") == STRANGE
    assert refused(tmp_path, b"hello") == STRANGE
    np.savez(tmp_path / "other.npz", a=np.arange(3))
    assert refused(tmp_path, (tmp_path / "other.npz").read_bytes()) == STRANGE
    np.save(tmp_path / "other.npy", np.arange(3))
    assert refused(tmp_path, (tmp_path / "other.npy").read_bytes()) == STRANGE
    with pytest.raises(ValueError, match="can't be read: no such file or directory"):
        SpikeSlabRegressor.load(tmp_path / "nothing")
    path = tmp_path / "fit.npz"
    path.write_bytes(saved)
    with pytest.raises(ValueError, match="holds a SpikeSlabRegressor: it is loaded by"):
        SpikeSlabClassifier.load(path)


def test_nothing_is_unpickled(tmp_path):
    class Trap:
        def __reduce__(self):
            return (Path.touch, (tmp_path / "sprung",))

    np.savez(tmp_path / "trap.npz", header=np.array([Trap()], dtype=object))
    assert refused(tmp_path, (tmp_path / "trap.npz").read_bytes()) in (STRANGE, CHANGED)
    assert not (tmp_path / "sprung").exists()


def test_files_that_were_cut_or_changed_are_refused(tmp_path, saved):
    for length in range(10, len(saved), len(saved) // 60):
        assert refused(tmp_path, saved[:length]) == CHANGED
    rng = np.random.default_rng(0)
    for place in rng.integers(0, len(saved), 60):
        changed = bytearray(saved)
        changed[place] ^= 1
        path = tmp_path / "fit.npz"
        path.write_bytes(bytes(changed))
        said = ""
        try:  # bytes that say nothing, such as times of files, may differ
            loaded = SpikeSlabRegressor.load(path)
        except ValueError as error:
            said = str(error).replace(str(path), "FILE")
        if said:
            assert said in (CHANGED, STRANGE)
        else:
            path.write_bytes(saved)
            assert_same(results(loaded, TABLE), results(SpikeSlabRegressor.load(path), TABLE))


def rewritten(saved, tmp_path, change):
    """The file with other arrays, packed as carefully as it was."""
    path = tmp_path / "source.npz"
    path.write_bytes(saved)
    with np.load(path) as file:
        arrays = {name: file[name] for name in file.files}
    change(arrays)
    np.savez(path, **arrays)
    return path.read_bytes()


def test_files_that_were_edited_are_refused(tmp_path, saved):
    def other_number(arrays):
        name = next(n for n, a in arrays.items() if a.dtype == np.float64 and a.size > 1)
        arrays[name] = arrays[name] + 1

    def other_header(arrays):
        header = json.loads(arrays["header"].tobytes())
        header["content"]["parameters"]["n_draws"] = 21
        arrays["header"] = np.frombuffer(json.dumps(header).encode(), dtype=np.uint8)

    def lost(arrays):
        del arrays["a0"]

    def later(arrays):
        header = json.loads(arrays["header"].tobytes())
        header["version"], header["ellzero"] = 99, "77.0"
        arrays["header"] = np.frombuffer(json.dumps(header).encode(), dtype=np.uint8)

    assert refused(tmp_path, rewritten(saved, tmp_path, other_number)) == CHANGED
    assert refused(tmp_path, rewritten(saved, tmp_path, other_header)) == CHANGED
    assert refused(tmp_path, rewritten(saved, tmp_path, lost)) == CHANGED
    message = "FILE was written by ellzero 77.0, which is later than this one."
    assert refused(tmp_path, rewritten(saved, tmp_path, later)) == message


def test_unknown_kinds_and_records_are_refused(tmp_path):
    path = tmp_path / "fit.npz"
    for value in ({"array": 7}, {"record": ["Path", {}]}, {"__class__": 1}, {"a": 1, "b": 2}):
        raw = pack("kind", 1, {"section": {"value": 1}}, ())
        path.write_bytes(raw)
        with np.load(path) as file:
            arrays = {name: file[name] for name in file.files}
        header = json.loads(arrays["header"].tobytes())
        header["content"]["section"]["value"] = value
        # With a checksum that fits
        arrays["header"] = np.frombuffer(json.dumps(header).encode(), dtype=np.uint8)
        arrays["sha256"] = np.array(_checksum(arrays["header"]))
        np.savez(path, **arrays)
        with pytest.raises(ValueError, match="was cut off or changed"):
            unpack(path, "kind", 1, "one", ())


def test_the_file_is_what_numpy_reads(tmp_path, saved):
    path = tmp_path / "fit.npz"
    path.write_bytes(saved)
    with zipfile.ZipFile(path) as file:
        assert file.testzip() is None
    with np.load(path, allow_pickle=False) as file:
        header = json.loads(file["header"].tobytes())
    assert header["format"] == "ellzero posterior"
    assert header["content"]["estimator"] == {"class": "SpikeSlabRegressor"}
    assert header["content"]["parameters"]["n_draws"] == 20
