"""Tables with everything in them, in parts and whole."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from ellzero.selection import Settings, prepare, select
from ellzero.streams import Budget, prepare_stream, select_stream
from ellzero.tables import ReadOptions, read_table
from ellzero.tables._parts import find_parts, look_at_parts


def make_frames(count=4, rows=150, seed=3):
    """Rows with an identifier, a category with a rare level, gaps, dates, and large means."""
    rng = np.random.default_rng(seed)
    frames, begin = [], 0
    for part in range(count):
        n = rows + part
        frame = pd.DataFrame(
            {
                "row": np.arange(begin, begin + n),
                "a": rng.normal(size=n),
                "b": rng.normal(size=n) + 1e4,
                "c": rng.integers(1, 4, n),
                "city": rng.choice(["Oslo", "Rome", "Bonn", "Ulm"], n, p=[0.5, 0.3, 0.194, 0.006]),
                "d": np.where(rng.random(n) < 0.1, np.nan, rng.normal(size=n)),
                "day": pd.Timestamp("2020-01-13") + pd.to_timedelta(rng.integers(0, 900, n), "D"),
                "planet": "Earth",
            }
        )
        rome = frame["city"] == "Rome"
        frame["y"] = frame["a"] - 2 * rome + 0.5 * (frame["b"] - 1e4) + rng.normal(size=n)
        frame["y"] += 0.3 * frame["d"].fillna(0.0) + 0.5 * frame["a"] * frame["b"].sub(1e4)
        begin += n
        frames.append(frame)
    return frames


def write(frame, path, **options):
    """Write a frame as what the name of the file says."""
    if path.suffix == ".csv":
        # Days first, so that they are texts to Arrow
        frame = frame.assign(day=frame["day"].dt.strftime("%d/%m/%Y")) if "day" in frame else frame
        frame.to_csv(path, index=False)
    else:
        pq.write_table(pa.Table.from_pandas(frame, preserve_index=False), path, **options)


def write_parts(folder, frames, kind="parquet", **options):
    """Write frames as parts; return their pattern."""
    for part, frame in enumerate(frames):
        write(frame, folder / f"part-{part}.{kind}", **options)
    return str(folder / f"part-*.{kind}")


def look(*places, settings, memory=1e9, threads=2, drop=(), **how):
    """Prepare parts as the command line does."""
    layout = look_at_parts(
        find_parts([str(place) for place in places]),
        ReadOptions(),
        drop,
        frozenset(settings.categorical),
    )
    return prepare_stream(layout, settings, Budget(memory, threads), **how)


def choose_in_parts(*places, settings, **how):
    """Return the selection from parts."""
    return select_stream(look(*places, settings=settings, **how), settings)


def choose_in_memory(path, settings):
    """Return the selection from one table."""
    table = read_table(path, text=frozenset(settings.categorical))
    return select(prepare(table, settings), settings)


def ask(**more):
    """Return settings for these tables."""
    cheap = {"missing": "mean", "stability": False, "folds": 3, "repeats": 1}
    return Settings("y", **{**cheap, **more})
