import matplotlib as mpl
import pytest

mpl.use("Agg")


@pytest.fixture(autouse=True)
def _close_figures():
    import matplotlib.pyplot as plt

    yield
    plt.close("all")


@pytest.fixture(scope="session")
def trial_file(tmp_path_factory):
    """Twelve trials of the simulation, one after the other, for whoever needs some of them."""
    from ellzero.paper import accuracy

    path = tmp_path_factory.mktemp("trials") / "simulation.jsonl"
    accuracy.compute(12, jobs=1, trial_file=path)
    return path
