"""One self-contained HTML file: no request leaves it, and no text of the data can run in it."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
from markupsafe import Markup

from ellzero._format import fixed, number, percent, plural, signed
from ellzero._shown import shown
from ellzero.report._charts import (
    both_widths,
    chart_bar,
    chart_calibration,
    chart_curve,
    chart_inclusion,
    chart_quantiles,
    chart_residuals,
    chart_roc,
    chart_sizes,
)
from ellzero.report._page import render
from ellzero.report._path_chart import chart_path, far_out
from ellzero.selection import Selection

__all__ = ["make_report"]

# A stand-in is shown if it makes up for this share of what its variable does.
_WORTH_NAMING = 0.2


def make_report(selection: Selection, content: dict[str, Any]) -> str:
    """Return the report of a selection as HTML.

    Parameters
    ----------
    selection : Selection
        The selection.
    content : dict
        What `ellzero.selection.summarise` makes of it.

    Returns
    -------
    str
        A whole page. Its security policy allows its own style sheet and script, by their hashes,
        and nothing else.
    """
    seed = content["seed"]
    model, path = content["model"], content["path"]
    fitted, residuals = selection.fitted, selection.residuals
    if content["family"]["name"] == "poisson":
        residuals = residuals / np.sqrt(np.maximum(fitted, np.finfo(float).tiny))
    judged = content["cross_validation"] or {}
    points, curve_of_ranks = judged.get("calibration"), judged.get("roc")
    error = (
        "typical error" if content["family"]["name"] == "gaussian" else content["family"]["error"]
    )
    largest = max((v["r2_lost"] for v in model["variables"]), default=1.0) or 1.0
    chosen_step = next(place for place, step in enumerate(path) if step["chosen"])
    curve, sizes, posterior = content["curve"], content["sizes"], content["posterior"]
    return render(
        "template.html",
        ("style.css",),
        "script.js",
        **content,
        bar=chart_bar,
        largest=largest,
        chosen_step=chosen_step,
        steps=Markup(_for_script(_steps(path))),
        curve_chart=curve and both_widths(lambda w: chart_curve(curve, model["lam"], error, w)),
        sizes_chart=sizes and both_widths(lambda w: chart_sizes(sizes, model["size"], error, w)),
        calibration_chart=points and both_widths(lambda w: chart_calibration(points, w)),
        roc_chart=curve_of_ranks and both_widths(lambda w: chart_roc(curve_of_ranks, w)),
        path_chart=both_widths(lambda w: chart_path(path, w)),
        far_out=far_out(path),
        inclusion_chart=posterior
        and both_widths(lambda w: chart_inclusion(posterior["variables"], w)),
        residual_chart=both_widths(lambda w: chart_residuals(fitted, residuals, seed, w)),
        quantile_chart=both_widths(lambda w: chart_quantiles(residuals, w)),
        stand_ins_of=_by_variable(content["stand_ins"]),
        alone=_alone(model["variables"], content["stand_ins"]),
        total_rows=content["data"]["rows_fitted"],
        drawn_first=len(residuals) < content["data"]["rows_fitted"],
    )


def _for_script(value: Any) -> str:
    """Write JSON that no parser of HTML can take for anything else."""
    text = json.dumps(value, ensure_ascii=True, allow_nan=False)
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _steps(path: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the models along the path as texts, ready to be shown by the slider."""

    def largest(step: dict[str, Any]) -> float:
        return max((v["r2_lost"] for v in step["variables"]), default=1.0) or 1.0

    return [
        {
            "size": plural(step["size"], "variable"),
            "price": _price(step),
            "r2": fixed(step["r2"]),
            "error": _error(step["held_out"]),
            "chosen": step["chosen"],
            "intercept": number(step["intercept"]),
            "variables": [row for v in step["variables"] for row in _rows(v, largest(step))],
        }
        for step in path
    ]


def _rows(variable: dict[str, Any], largest: float) -> list[list[Any]]:
    """Return the row of a variable, and those of its features if it has several."""
    several = bool(variable["features"])
    own = [
        shown(variable["name"]),
        "" if several else number(variable["coefficient"]),
        number(variable["standardised"], 3) if several else signed(variable["standardised"]),
        percent(variable["r2_lost"]),
        round(100 * variable["r2_lost"] / largest, 2),
    ]
    features = [
        [shown(f["name"]), number(f["coefficient"]), signed(f["standardised"]), "", None]
        for f in variable["features"]
    ]
    return [own, *features]


def _price(step: dict[str, Any]) -> str:
    low, high = step["lam_low"], step["lam_high"]
    if low is None:
        return "the solution at no price"
    if high is None:
        return f"the solution at prices above {number(low)}"
    if low == 0:
        return f"the solution at prices below {number(high)}"
    return f"the solution at prices from {number(low)} to {number(high)}"


def _error(ends: list[float] | None) -> str:
    if ends is None:
        return ""
    low, high = (number(end) for end in ends)
    return low if low == high else f"{low} to {high}"


def _by_variable(rows: list[dict[str, Any]]) -> dict[str, list[dict[str, Any]]]:
    """Group stand-ins by what they stand in for, those that make up for some of it."""
    out: dict[str, list[dict[str, Any]]] = {}
    for row in rows:
        if row["regained"] >= _WORTH_NAMING:
            out.setdefault(row["leaves"], []).append(row)
    return out


def _alone(variables: list[dict[str, Any]], rows: list[dict[str, Any]]) -> list[str]:
    """Return the variables that nothing makes up for."""
    known = _by_variable(rows)
    return [v["name"] for v in variables if v["name"] not in known and not v["forced"]]
