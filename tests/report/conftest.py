import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))


@pytest.fixture(scope="session")
def hostile():
    """A report on a table whose names would like to be more than text."""
    from pages import hostile_table, report

    return report(hostile_table(), posterior=True, interactions=True, test_share=0.2)
