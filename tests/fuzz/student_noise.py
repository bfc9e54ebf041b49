"""Student's noise on hostile tables: whatever they are, a fit is refused in a sentence or sound."""

import warnings

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from ellzero import SpikeSlabRegressor
from fuzz import hostile


def check_student(rng):
    """Results are finite, and say the same to the last bit of y in units a power of two apart."""
    table = hostile.table(rng, most_rows=20)
    y = table.y.copy()
    if rng.random() < 0.5:
        y[rng.integers(len(y))] += np.ptp(y) * 10 ** rng.uniform(0, 10)
    settings = {"noise": "student", "n_chains": 2, "n_draws": 30, "n_warmup": 20, "random_state": 0}
    if rng.random() < 0.3:
        settings["noise_df"] = float(10 ** rng.uniform(0, 6))
    if rng.random() < 0.3:
        settings["scale_prior"] = ["prediction", "zellner-siow"][rng.integers(2)]
    model = SpikeSlabRegressor(
        fit_intercept=table.intercept, always_include=table.forced, **settings
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # of so few draws
        warnings.simplefilter("ignore", UserWarning)  # a forced column that depends on others
        try:
            model.fit(table.X, y, table.weights)
        except ValueError as error:
            if "the same number in half of the rows" not in str(error):
                raise
            return
        first = {name: getattr(model, name) for name in ("coef_", "row_weights_")}
        inclusion = model.inclusion_probabilities_
        model.fit(table.X, y * 2.0**-7, table.weights)
    for name, value in first.items():
        assert np.isfinite(value).all(), name
    assert (first["row_weights_"] >= 0).all()
    assert ((inclusion >= 0) & (inclusion <= 1)).all()
    np.testing.assert_array_equal(model.inclusion_probabilities_, inclusion)
    np.testing.assert_array_equal(model.coef_, first["coef_"] * 2.0**-7)
    lower, upper = model.predict_interval(table.X)
    assert (lower <= upper).all()
