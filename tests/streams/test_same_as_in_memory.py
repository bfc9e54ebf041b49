"""What is chosen from parts is what is chosen from the same rows in memory."""

import numpy as np
import pandas as pd
import pytest
from stream_tables import ask, choose_in_memory, choose_in_parts, make_frames, write, write_parts

from ellzero.selection import summarise

FRAMES = make_frames()


@pytest.fixture(scope="module", params=["parquet", "csv"])
def tables(request, tmp_path_factory):
    """The pattern of parts, and one file with the same rows."""
    folder = tmp_path_factory.mktemp(request.param)
    whole = folder / f"whole.{request.param}"
    write(pd.concat(FRAMES, ignore_index=True), whole)
    return write_parts(folder, FRAMES, request.param), whole


WAYS = {
    "filled": ask(dates="parts"),
    "dropped": ask(missing="drop", rare=0),
    "indicators": ask(missing="indicator", interactions=True),
    "levels": ask(levels=True, interactions=True, criterion="bic"),
    "heredity": ask(interactions=True, heredity="strong", force=("c",)),
    "weighted": ask(weights="c", dates="parts", criterion="ric"),
    "counted": ask(weights="c", frequency=True, size=3),
    "categorical": ask(categorical=("c",), lam=5.0),
}


@pytest.mark.parametrize("way", [pytest.param(way, id=name) for name, way in WAYS.items()])
def test_features_supports_and_energies_are_those_of_rows_in_memory(tables, way):
    pattern, whole = tables
    found, expected = choose_in_parts(pattern, settings=way), choose_in_memory(whole, way)
    assert found.plan.features.features == expected.plan.features.features
    assert found.plan.levels == expected.plan.levels
    assert found.plan.pools == expected.plan.pools
    assert found.plan.references == expected.plan.references
    assert [str(r) for r in found.data.remarks] == [str(r) for r in expected.data.remarks]
    assert found.data.n_read == expected.data.n_read
    assert found.data.n_fitted == expected.data.n_fitted
    np.testing.assert_array_equal(found.model.support, expected.model.support)
    np.testing.assert_allclose(found.model.energy, expected.model.energy, rtol=1e-12)
    np.testing.assert_allclose(found.model.coef, expected.model.coef, rtol=1e-9, atol=1e-12)
    energies = found.frontier.energies, expected.frontier.energies
    np.testing.assert_allclose(*(of_sizes[:20] for of_sizes in energies), rtol=1e-12)
    # The largest models have products that are all but dependent
    np.testing.assert_allclose(*energies, rtol=1e-9)
    np.testing.assert_allclose(found.linear.means, expected.linear.means, rtol=1e-12, atol=1e-15)
    np.testing.assert_allclose(found.standard_deviations, expected.standard_deviations, rtol=1e-12)
    assert summarise(found, "")["model"]["size"] == found.model.size


def test_notes_differ_only_by_what_is_said_of_rows(tables):
    pattern, whole = tables
    way = ask(stability=True)
    found, expected = choose_in_parts(pattern, settings=way), choose_in_memory(whole, way)
    more = [note for note in found.notes if note not in expected.notes]
    assert [note for note in expected.notes if note not in found.notes] == []
    assert len(more) == 2
    assert "halves" in more[0]
    assert "Means" in more[1]
