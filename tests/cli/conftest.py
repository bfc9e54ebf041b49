import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

sys.path.insert(0, str(Path(__file__).parent))
if sys.platform == "win32":  # no terminals, signals or limits of the kind that are tested
    collect_ignore = ["test_select.py", "test_reproduce.py"]


@pytest.fixture(scope="session")
def people(tmp_path_factory):
    """A table with everything in it: 120 people, of two kinds, in groups, over time."""
    rng = np.random.default_rng(5)
    n = 120
    frame = pd.DataFrame(
        {
            "id": np.arange(n),
            "age": rng.integers(20, 80, n),
            "height": rng.normal(170, 10, n).round(1),
            "smoker": rng.integers(0, 2, n),
            "city": rng.choice(["Oslo", "Rome", "Bonn"], n, p=[0.5, 0.3, 0.2]),
            "grade": rng.integers(1, 4, n),
            "school": rng.integers(0, 15, n),
            "day": pd.date_range("2024-01-01", periods=n).strftime("%Y-%m-%d"),
            "weight": rng.integers(1, 4, n),
            "planet": "Earth",
        }
    )
    noise = rng.normal(0, 2, n)
    frame["score"] = 0.5 * frame["age"] + 6 * (frame["city"] == "Rome") + 3 * frame["smoker"]
    frame["score"] = (frame["score"] + noise).round(3)
    path = tmp_path_factory.mktemp("people") / "people.csv"
    frame.to_csv(path, index=False)
    return path
