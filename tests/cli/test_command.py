"""Commands that are forked are those that are started."""

import pytest
from command import ellzero


@pytest.mark.parametrize(
    "line", [["explode"], ["select", "t.csv", "--target", "y", "--criterion", "bic", "--json", "-"]]
)
def test_a_forked_command_is_a_started_one(tmp_path, line):
    rows = (f"{i},{i * i % 7},{2 * i + i % 3}\n" for i in range(30))
    (tmp_path / "t.csv").write_text("x,z,y\n" + "".join(rows))
    started = ellzero(*line, cwd=tmp_path, ELLZERO_STARTED="in an environment of its own")
    assert ellzero(*line, cwd=tmp_path) == started
    assert ellzero(*line, cwd=tmp_path) == started
