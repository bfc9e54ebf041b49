"""A posterior as one self-contained HTML file, with no script in it."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from ellzero.report._charts import both_widths, chart_inclusion
from ellzero.report._page import render
from ellzero.report._posterior_charts import chart_coefficients, chart_prior, chart_trace

if TYPE_CHECKING:
    import pandas as pd

    from ellzero.posterior import PosteriorDraws, SpikeSlabClassifier, SpikeSlabRegressor

__all__ = ["make_posterior_report"]

_NAMES = {
    "sigma_e": "sigma_e, the noise",
    "sigma_beta": "sigma_beta, the size of effects",
    "theta": "theta, the share that is in",
    "noise_df": "noise_df, the noise's degrees of freedom",
}


def make_posterior_report(
    posterior: SpikeSlabRegressor | SpikeSlabClassifier,
    prior: PosteriorDraws,
    content: dict[str, Any],
    deviations: dict[str, float],
) -> str:
    """Return the report of a posterior as HTML.

    Parameters
    ----------
    posterior : SpikeSlabRegressor or SpikeSlabClassifier
        Fitted.
    prior : PosteriorDraws
        What its ``sample_prior`` draws, for the same rows.
    content : dict
        What `ellzero.selection.summarise_posterior` makes of it, with ``command``, ``ellzero``,
        ``seed``, ``target``, ``labels`` (None unless there are two classes), ``warnings``,
        ``notes`` and ``data``.
    deviations : dict
        Standard deviations of the features in ``content``, by name, over that of the target where
        that is a number: coefficients are drawn in these units.

    Returns
    -------
    str
        A whole page. Its security policy allows its own style sheet, by its hash, and nothing else.
    """
    draws = posterior.draws_
    variables = content["variables"]
    drawn = [
        {
            "name": part["name"],
            "mean": part["coefficient"] * deviations[part["name"]],
            "low": part["low"] * deviations[part["name"]],
            "high": part["high"] * deviations[part["name"]],
        }
        for variable in variables[:20]
        for part in (variable["features"] or [variable])
        if part["coefficient"] is not None and part["low"] is not None
    ]
    sizes = np.asarray(draws.size)
    traces = {"number of variables": sizes, **draws.hyperparameters()}
    diagnosed = posterior.diagnostics_
    return render(
        "posterior.html",
        ("style.css", "posterior.css"),
        **{key: value for key, value in content.items() if key != "posterior"},
        posterior=content,
        chains=draws.n_chains,
        inclusion_chart=both_widths(lambda w: chart_inclusion(variables, w)),
        coefficient_chart=both_widths(lambda w: chart_coefficients(drawn, w)) if drawn else None,
        prior_chart=both_widths(lambda w: chart_prior(np.asarray(prior.size), sizes, w)),
        prior_size=float(np.mean(prior.size)),
        traces=[
            both_widths(partial(chart_trace, _NAMES.get(name, name), values))
            for name, values in traces.items()
        ],
        diagnosed=[
            {"name": _NAMES.get(str(name), str(name)), **{str(k): v for k, v in row.items()}}
            for name, row in _worst(diagnosed).iterrows()
        ],
        worst=float(diagnosed["r_hat"].max()) if len(diagnosed) and draws.n_chains > 1 else None,
    )


def _worst(table: pd.DataFrame, most: int = 8) -> pd.DataFrame:
    """Return the rows of the scales, and those of the variables that mixed worst."""
    import pandas as pd

    scales = table.index.isin(list(_NAMES))
    others = table[~scales].sort_values("ess_bulk", kind="stable").head(most)
    return pd.concat([table[scales], others])
