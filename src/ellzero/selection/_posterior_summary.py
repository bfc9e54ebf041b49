"""What a posterior says, as plain numbers and texts: for JSON, the terminal and the report."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from ellzero.posterior import SpikeSlabClassifier, SpikeSlabRegressor

__all__ = ["finite", "summarise_posterior"]

_MOST_VARIABLES = 40
_MOST_SETS = 12


def summarise_posterior(posterior: SpikeSlabClassifier | SpikeSlabRegressor) -> dict[str, Any]:
    """Return what is shown of a posterior.

    Parameters
    ----------
    posterior : SpikeSlabClassifier or SpikeSlabRegressor
        Fitted.

    Returns
    -------
    dict
        The most probable variables and models, sets of variables of which at least one is in, and
        how far these move under half and twice the expected size.
    """
    rows = _posterior_rows(posterior)
    models = posterior.models_.head(8)
    sizes, noise = posterior.draws_.size, posterior.draws_.sigma_e
    content = {
        "solver": posterior.solver_,
        "exact": posterior.solver_ == "enumerate",
        "draws": int(posterior.draws_.intercept.size),
        "sigma_e": None if noise is None else float(np.mean(noise)),
        "size": float(sum(row["inclusion"] for row in rows)),
        "size_low": float(np.quantile(sizes, 0.025)),
        "size_high": float(np.quantile(sizes, 0.975)),
        "variables": rows[:_MOST_VARIABLES],
        "n_variables": len(rows),
        "models": [
            {"variables": list(variables), "size": int(size), "mass": float(mass)}
            for variables, size, mass in zip(
                models["groups" if "groups" in models else "variables"],
                models["size"],
                models["mass"],
                strict=True,
            )
        ],
        "credible_sets": [
            {
                "variables": found.variables,
                "inclusion": found.inclusion.tolist(),
                "probability": found.probability,
                "together": [list(group) for group in found.together],
                "purity": found.purity,
            }
            for found in posterior.credible_sets_[:_MOST_SETS]
        ],
        "sensitivity": _sensitivity(posterior),
    }
    return finite(content)


def _posterior_rows(posterior: SpikeSlabClassifier | SpikeSlabRegressor) -> list[dict[str, Any]]:
    """Return a row for every variable, the most probable first, with those of its features."""
    table = posterior.summary()
    records = [{str(key): value for key, value in row.items()} for row in table.to_dict("records")]
    if table.index.nlevels == 1:
        return [
            {"name": name, **row, "features": []}
            for name, row in zip(table.index, records, strict=True)
        ]
    rows: list[dict[str, Any]] = []
    for (group, variable), row in zip(table.index, records, strict=True):
        if math.isnan(row["inclusion"]):
            rows[-1]["features"].append({"name": variable, **row, "inclusion": None})
        else:
            rows.append({"name": group, **row, "features": []})
    return rows


def _sensitivity(posterior: SpikeSlabClassifier | SpikeSlabRegressor) -> dict[str, Any] | None:
    """Return how far the answer moves under half and twice the expected size.

    Numbers that too few draws tell are None; so is ``ess`` where all models were visited.
    """
    found = posterior.sensitivity_
    if found is None:
        return None
    found = replace(found, what="variables")  # as everything else calls them here
    half, twice = found.expected
    out: dict[str, Any] = {"expected_size": found.expected_size, "half": half, "twice": twice}
    told = found.reliable
    return {
        **out,
        "size_half": found.size[0] if told else None,
        "size_twice": found.size[1] if told else None,
        "move": found.move if told else None,
        "variable": found.variable if told else None,
        "ess": found.ess,
        "sentence": str(found),
    }


def finite(content: dict[str, Any]) -> dict[str, Any]:
    """Turn NumPy's numbers into Python's, and what is not finite into None."""
    return {str(key): _finite(entry) for key, entry in content.items()}


def _finite(value: Any) -> Any:
    """Turn NumPy's numbers into Python's, and what is not finite into None."""
    if isinstance(value, dict):
        return finite(value)
    if isinstance(value, (list, tuple)):
        return [_finite(entry) for entry in value]
    if isinstance(value, (bool, str)) or value is None:
        return value
    if isinstance(value, np.bool_):
        return bool(value)
    if isinstance(value, (int, np.integer)):
        return int(value)
    number = float(value)
    return number if math.isfinite(number) else None
