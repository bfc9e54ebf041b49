"""Parquet files and Arrow's batches, sound and broken."""

import shutil

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from ellzero import L0Regressor, SufficientStatistics
from ellzero.sources._reading import SourceError


def make_parts(folder, count=5, rows=200, p=6, seed=0, **options):
    rng = np.random.default_rng(seed)
    tables = []
    for part in range(count):
        X = rng.normal(size=(rows + part, p)) + 100
        y = X[:, 1] - X[:, 4] + rng.normal(size=len(X))
        table = pa.table({**{f"v{j}": X[:, j] for j in range(p)}, "y": y})
        pq.write_table(table, folder / f"part-{part:03}.parquet", row_group_size=64, **options)
        tables.append(table)
    return tables


def same_bits(one, two):
    return all(
        (a.products == b.products).all() and (a.mean == b.mean).all() and a.rows == b.rows
        for a, b in zip(one._folds, two._folds, strict=True)
    )


def test_files_are_as_their_rows_in_memory(tmp_path):
    tables = make_parts(tmp_path)
    statistics = SufficientStatistics.from_parquet(str(tmp_path / "part-*.parquet"), target="y")
    whole = pa.concat_tables(tables).to_pandas()
    assert statistics.n == len(whole)
    assert statistics.names == [f"v{j}" for j in range(6)]
    np.testing.assert_allclose(statistics.covariance(), whole.cov(), rtol=1e-11)
    known = L0Regressor().fit(statistics)
    expected = L0Regressor().fit(whole.drop(columns="y"), whole["y"])
    assert list(known.get_feature_names_out()) == list(expected.get_feature_names_out())
    np.testing.assert_allclose(known.coef_, expected.coef_, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("n_jobs", [1, 2, 3])
def test_bits_depend_on_the_parts_alone(tmp_path, n_jobs):
    tables = make_parts(tmp_path)
    paths = sorted(tmp_path.iterdir())
    files = SufficientStatistics.from_parquet(paths, target="y", folds=3, n_jobs=n_jobs)
    folder = SufficientStatistics.from_parquet(tmp_path, target="y", folds=3)
    batches = SufficientStatistics.from_arrow(tables, target="y", folds=3)
    blocks = SufficientStatistics.from_arrays(
        (
            (np.asfortranarray(table.to_pandas().drop(columns="y")), table["y"].to_numpy())
            for table in tables
        ),
        folds=3,
    )
    assert same_bits(files, folder)
    assert same_bits(files, batches)
    assert same_bits(files, blocks)


def test_all_kinds_of_arrow_input_agree(tmp_path):
    (table,) = make_parts(tmp_path, count=1)
    import pyarrow.dataset as ds

    expected = SufficientStatistics.from_arrow(table, target="y")
    for given in (
        [table],
        iter([table]),
        table.to_reader(max_chunksize=17),
        ds.dataset(tmp_path),
        pa.Table.from_batches(table.to_batches(max_chunksize=13)),
    ):
        assert same_bits(SufficientStatistics.from_arrow(given, target="y"), expected)


def test_columns_and_weights_are_taken_by_name(tmp_path):
    rng = np.random.default_rng(1)
    table = pa.table(
        {
            "a": rng.normal(size=50),
            "whole": pa.array(rng.integers(0, 9, 50), pa.int32()),
            "flag": pa.array(rng.integers(0, 2, 50).astype(bool)),
            "text": ["x"] * 50,
            "w": rng.integers(1, 3, 50),
            "y": pa.array(rng.normal(size=50).astype(np.float32)),
        }
    )
    found = SufficientStatistics.from_arrow(
        table, target="y", columns=["flag", "a", "whole"], weights="w"
    )
    assert found.names == ["flag", "a", "whole"]
    frame = table.to_pandas()
    rows = np.repeat(np.arange(50), frame["w"])
    repeated = frame.loc[rows, ["flag", "a", "whole", "y"]].astype(float)
    np.testing.assert_allclose(found.covariance(), repeated.cov(), rtol=1e-10)
    with pytest.raises(SourceError, match="batch 0: 'text' must hold numbers; it holds string"):
        SufficientStatistics.from_arrow(table, target="y")


def test_blocks_of_many_row_groups_are_cut_the_same(tmp_path, monkeypatch):
    import ellzero.sources._arrow as arrow
    import ellzero.sources._parquet as parquet

    for module in (arrow, parquet):
        monkeypatch.setattr(module, "rows_per_block", lambda columns: 50)
    (table,) = make_parts(tmp_path, count=1, rows=333)
    (path,) = tmp_path.iterdir()
    files = SufficientStatistics.from_parquet(path, target="y", folds=2)
    for size in (7, 50, 51, 1000):
        reader = table.to_reader(max_chunksize=size)
        assert same_bits(SufficientStatistics.from_arrow(reader, target="y", folds=2), files)


def rewrite(path, change):
    pq.write_table(change(pq.read_table(path)), path)


def put(table, name, column):
    return table.set_column(table.column_names.index(name), name, column)


def a_nan(table):
    values = table["v2"].to_numpy().copy()
    values[5] = np.nan
    return put(table, "v2", pa.array(values))


@pytest.mark.parametrize(
    ("change", "match"),
    [
        (a_nan, r"part-003.parquet: 'v2' is missing or infinite in row 5"),
        (
            lambda t: put(t, "y", pa.array([None, *t["y"].to_pylist()[1:]])),
            r"part-003.parquet: 'y' is missing or infinite in row 0",
        ),
        (lambda t: t.drop_columns(["v4"]), r"part-003.parquet has no column 'v4'"),
        (
            lambda t: t.append_column("new", t["v0"]),
            r"part-003.parquet has a column 'new', which .*part-000.parquet has not",
        ),
        (
            lambda t: put(t, "v1", t["v1"].cast(pa.string())),
            r"part-003.parquet: 'v1' must hold numbers; it holds string",
        ),
    ],
    ids=["nan", "null", "dropped", "added", "retyped"],
)
def test_a_broken_part_is_named(tmp_path, change, match):
    make_parts(tmp_path)
    rewrite(tmp_path / "part-003.parquet", change)
    with pytest.raises(SourceError, match=match):
        SufficientStatistics.from_parquet(tmp_path, target="y")


def test_a_truncated_part_is_found_before_any_work(tmp_path, monkeypatch):
    make_parts(tmp_path)
    path = tmp_path / "part-004.parquet"
    path.write_bytes(path.read_bytes()[:-20])
    import ellzero.sources._parquet as parquet

    monkeypatch.setattr(parquet, "read_file", lambda *_: pytest.fail("it began to read"))
    with pytest.raises(SourceError, match=r"part-004.parquet is not a whole Parquet file"):
        SufficientStatistics.from_parquet(tmp_path, target="y")


def test_a_flipped_bit_is_found_where_pages_have_checksums(tmp_path):
    how = {"write_page_checksum": True, "compression": "none", "use_dictionary": False}
    tables = make_parts(tmp_path, **how)
    path = tmp_path / "part-002.parquet"
    raw = bytearray(path.read_bytes())
    value = tables[2]["v2"].to_numpy()[10]
    raw[raw.index(value.tobytes())] ^= 4
    path.write_bytes(raw)
    with pytest.raises(SourceError, match=r"part-002.parquet can't be read: "):
        SufficientStatistics.from_parquet(tmp_path, target="y")


def test_an_empty_part_changes_nothing_but_the_numbers_of_those_after_it(tmp_path):
    tables = make_parts(tmp_path)
    pq.write_table(tables[0].slice(0, 0), tmp_path / "part-999.parquet")
    whole = SufficientStatistics.from_parquet(tmp_path, target="y")
    (tmp_path / "part-999.parquet").unlink()
    assert same_bits(whole, SufficientStatistics.from_parquet(tmp_path, target="y"))


def test_a_part_named_twice_is_refused(tmp_path):
    make_parts(tmp_path)
    path = tmp_path / "part-000.parquet"
    with pytest.raises(ValueError, match="is named twice"):
        SufficientStatistics.from_parquet([path, tmp_path / "." / path.name], target="y")
    shutil.copy(path, tmp_path / "copy.parquet")  # the same rows once more may be meant
    assert SufficientStatistics.from_parquet(tmp_path, target="y").n == 1210


def test_bad_arguments_get_one_sentence(tmp_path):
    tables = make_parts(tmp_path)
    with pytest.raises(FileNotFoundError, match="no file matches"):
        SufficientStatistics.from_parquet(str(tmp_path / "none-*"), target="y")
    with pytest.raises(FileNotFoundError, match="there is no file"):
        SufficientStatistics.from_parquet([tmp_path / "none"], target="y")
    with pytest.raises(ValueError, match="at least one file"):
        SufficientStatistics.from_parquet([], target="y")
    with pytest.raises(SourceError, match="has no column 'z'"):
        SufficientStatistics.from_parquet(tmp_path, target="z")
    with pytest.raises(TypeError, match="target must be the name"):
        SufficientStatistics.from_arrow(tables, target=3)
    with pytest.raises(TypeError, match="not a string"):
        SufficientStatistics.from_arrow(tables, target="y", columns="v1")
    with pytest.raises(ValueError, match="'y' once too often"):
        SufficientStatistics.from_arrow(tables, target="y", columns=["v1", "y"])
    with pytest.raises(SourceError, match="no columns beside"):
        SufficientStatistics.from_arrow(tables[0].select(["y"]), target="y")
    with pytest.raises(SourceError, match="there are no rows"):
        SufficientStatistics.from_arrow([], target="y")
    with pytest.raises(SourceError, match="there are no rows"):
        SufficientStatistics.from_arrow(tables[0].slice(0, 0), target="y")
    with pytest.raises(TypeError, match="must hold Arrow's tables"):
        SufficientStatistics.from_arrow([1], target="y")
