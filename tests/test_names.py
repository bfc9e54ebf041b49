import pytest

import ellzero


def test_every_public_name_is_found_where_it_is_said_to_be():
    for name in [*ellzero.__all__, *ellzero._MODULES]:
        assert getattr(ellzero, name) is not None
    assert {*ellzero.__all__} == {*ellzero._HOMES, "datasets", "__version__"}
    assert {*ellzero.__all__} <= {*dir(ellzero)}
    with pytest.raises(AttributeError, match="no attribute 'L1Regressor'"):
        ellzero.L1Regressor  # noqa: B018
