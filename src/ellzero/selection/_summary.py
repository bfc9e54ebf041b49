"""What a selection says, as plain numbers and texts: for JSON, the terminal and the report."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ellzero._messages import Argument, Message
from ellzero.likelihood._scores import brier
from ellzero.regression import FrontierModel
from ellzero.regression._group_frontier import GroupFrontier, GroupModel
from ellzero.regression._losses import Loss
from ellzero.selection._likelihoods import calibration, roc
from ellzero.selection._posterior_summary import finite, summarise_posterior
from ellzero.selection._prepare import PreparedTable
from ellzero.selection._select import Selection
from ellzero.selection._variables import names_in
from ellzero.tables import Plan

if TYPE_CHECKING:
    from ellzero.streams import PreparedStream

__all__ = ["summarise"]

_MOST_NEIGHBOURS = 15
_STAND_INS = 3
_RULES = {
    "ebic": Message(
        "Chosen by EBIC, which answers which variables matter: one is kept if the evidence for it "
        "is strong. ",
        Argument("criterion", "cv"),
        " answers what predicts best, and often keeps more",
    ),
    "bic": Message(
        "Chosen by BIC, which keeps variables on weak evidence, more of them by chance the more "
        "columns there are; ",
        Argument("criterion", "ebic"),
        " asks for strong evidence.",
    ),
    "ric": Message(
        "Chosen by RIC, whose price of a variable grows with the number of columns, not of rows; ",
        Argument("criterion", "ebic"),
        " looks at both.",
    ),
    "cv": Message(
        "Chosen by cross-validation, which answers what predicts best: the error on rows held out "
        "is least. It keeps variables that may not matter; ",
        Argument("criterion", "ebic"),
        " asks for strong evidence.",
    ),
    "1se": Message(
        "Chosen by cross-validation, for prediction with few variables: the error on rows held out "
        "is within one standard error of the least. ",
        Argument("criterion", "ebic"),
        " asks for strong evidence.",
    ),
}


def summarise(
    selection: Selection, command: str, spell: Callable[[str], str] = str
) -> dict[str, Any]:
    """Return everything that is shown of a selection.

    Parameters
    ----------
    selection : Selection
        A chosen model.
    command : str
        What was typed.
    spell : callable, default=str
        Makes a text of a message: where arguments have other names, as on the command line, it
        spells these.

    Returns
    -------
    dict
        Numbers, texts, lists and dicts only; None for what is infinite or not known.
    """
    from ellzero import __version__

    settings, data = selection.settings, selection.data
    n = data.weight
    squared = data.loss is Loss.SQUARED
    total = data.total if squared else selection.frontier._total
    content = {
        "ellzero": __version__,
        "command": command,
        "seed": settings.seed,
        "target": settings.target,
        "family": _family(data),
        "criterion": _criterion(selection),
        "rule": spell(_rule(selection)),
        "data": _data(data, selection.plan, len(selection.variables), spell),
        "warnings": [spell(warning) for warning in selection.warnings],
        "notes": [spell(note) for note in selection.notes],
        "model": _model(selection, n, total),
        "cross_validation": _cross_validation(selection),
        "path": _path(selection, n, total),
        "curve": _curve(selection),
        "sizes": _by_size(selection),
        "sureness": _sureness(selection),
        "neighbours": _neighbours(selection),
        "stand_ins": _stand_ins(selection, total),
        "held_out": selection.held_out,
        "posterior": summarise_posterior(selection.posterior) if selection.posterior else None,
    }
    return finite(content)


def _family(data: PreparedTable | PreparedStream) -> dict[str, Any]:
    """Say what the target was taken for, and what share of what is explained."""
    names = {Loss.SQUARED: "gaussian", Loss.LOGISTIC: "binomial", Loss.POISSON: "poisson"}
    errors = {Loss.SQUARED: "squared error", Loss.LOGISTIC: "log loss", Loss.POISSON: "deviance"}
    return {
        "name": names[data.loss],
        "labels": None if data.labels is None else list(data.labels),
        "measure": "R²" if data.loss is Loss.SQUARED else "D²",
        "error": errors[data.loss],
        "ratio": {Loss.LOGISTIC: "odds ratio", Loss.POISSON: "rate ratio"}.get(data.loss),
        "share": data.mean,
    }


def _root(selection: Selection, error: float) -> float | None:
    """Return the root of a mean squared error; None of another."""
    return math.sqrt(max(error, 0)) if selection.data.loss is Loss.SQUARED else None


def _per_row(selection: Selection, rss: float, n: float) -> float:
    """Return the mean error of the rows fitted, given twice the loss of all."""
    return rss / (2 * n) if selection.data.loss is Loss.LOGISTIC else rss / n


def _criterion(selection: Selection) -> str:
    settings = selection.settings
    if settings.size is not None:
        return "size"
    return "lam" if settings.lam is not None else settings.criterion


def _rule(selection: Selection) -> str:
    """Say how the model was chosen, and what to ask for instead."""
    criterion = _criterion(selection)
    if criterion not in _RULES:
        return ""
    squared = selection.data.loss is Loss.SQUARED
    if criterion == "ebic" and selection.posterior is None and squared:
        return Message(_RULES[criterion], "; ", Argument("posterior", True), " says how sure.")
    return Message(_RULES[criterion], "." if criterion == "ebic" else "")


def _data(
    data: PreparedTable | PreparedStream, plan: Plan, n_variables: int, spell: Callable[[str], str]
) -> dict[str, Any]:
    return {
        "name": data.table.name,
        "sha256": data.table.sha256,
        "parts": None if isinstance(data, PreparedTable) else len(data.layout.parts),
        "rows_read": data.n_read,
        "rows_fitted": data.n_fitted,
        "features": len(plan.features),
        "variables": n_variables,
        "missing": plan.missing,
        "columns": [
            {
                "name": remark.name,
                "kind": remark.kind,
                "use": remark.use,
                "details": spell(remark.details),
                "missing": remark.n_missing,
            }
            for remark in data.remarks
        ],
    }


def _model(selection: Selection, n: float, total: float) -> dict[str, Any]:
    model = selection.model
    low, high = model.interval or (math.nan, math.nan)
    return {
        "size": model.size,
        "intercept": model.intercept,
        "lam": selection.lam,
        "lam_low": low,
        "lam_high": high,
        "ridge": selection.ridge,
        "rescaling": selection.frontier.rescaling,
        "kept": selection.kept,
        "shrinkage": _shrinkage(selection),
        "r2": 1 - model.rss / total,
        "rmse": _root(selection, model.rss / n),
        "error": _per_row(selection, model.rss, n),
        "certificate": selection.certificate.as_sentences(),
        "proof": _proof(selection),
        "variables": _variables(selection),
    }


def _variables(selection: Selection) -> list[dict[str, Any]]:
    """Return the variables of the model, and under those that have several features these."""
    model, variables = selection.model, selection.variables
    lost = selection.frontier._r2_lost(model)
    costs = variables.costs(model)
    members, forced = variables.of(model), set(variables.forced.tolist())
    out = []
    for place in np.argsort(-costs, kind="stable"):
        variable = int(members[place])
        parts = variables.parts(model, variable)
        several = variables.columns[variable].size > 1
        features = [_feature(selection, int(j)) for j in parts]
        out.append(
            {
                "name": variables.names[variable],
                **(_of_several(selection, variable) if several else features[0]),
                "removal_cost": costs[place],
                "r2_lost": lost[place],
                "forced": variable in forced,
                "df": _df(model, int(place)),
                "features": features if several else [],
            }
        )
    return out


def _feature(selection: Selection, place: int) -> dict[str, Any]:
    """Return the coefficient of a feature of the model."""
    model = selection.model
    column = int(model.support[place])
    feature = selection.plan.features.features[column]
    return {
        "name": feature.name,
        "coefficient": model.coef[column],
        "standardised": model.standardised[place],
        "ratio": _ratio(selection, float(model.coef[column])),
        "ratio_per_sd": _ratio(selection, float(model.standardised[place])),
        "sd": selection.standard_deviations[place],
        "reference": selection.plan.references.get(feature.column)
        if feature.kind == "level"
        else None,
    }


def _of_several(selection: Selection, variable: int) -> dict[str, Any]:
    """Return what stands for the coefficient of a variable that has one for each feature."""
    features = [selection.plan.features.features[j] for j in selection.variables.columns[variable]]
    columns = {feature.column for feature in features if feature.kind == "level"}
    size = _strengths(selection, selection.model)[variable]
    return {
        "coefficient": None,
        "standardised": size,
        "ratio": None,
        "ratio_per_sd": _ratio(selection, size),
        "sd": None,
        "reference": selection.plan.references.get(*columns) if len(columns) == 1 else None,
    }


def _strengths(selection: Selection, model: FrontierModel) -> dict[int, float]:
    """Return the standardised coefficient of each variable; of several features, how much they add.

    That is the standard deviation of their part of the fit, in those of the target; it has no sign.
    """
    frontier, members = selection.frontier, selection.variables.of(model)
    values = model.standardised
    if isinstance(frontier, GroupFrontier) and isinstance(model, GroupModel):
        values = frontier._strengths(model)
    return dict(zip(members.tolist(), values.tolist(), strict=True))


def _df(model: FrontierModel, place: int) -> int:
    return int(model.df[place]) if isinstance(model, GroupModel) else 1


def _ratio(selection: Selection, log: float) -> float | None:
    """Return what odds, or a mean, are multiplied by; None of least squares."""
    if selection.data.loss is Loss.SQUARED:
        return None
    return math.exp(log) if abs(log) < 700 else (math.inf if log > 0 else 0.0)


def _proof(selection: Selection) -> dict[str, Any] | None:
    """Return what is proved of the model, if that was asked for."""
    certificate = selection.certificate
    if certificate.tolerance is None:
        return None
    every = selection.plan.features.features
    return {
        "proved": certificate.proved,
        "objective": certificate.objective,
        "bound": certificate.bound,
        "gap": certificate.gap,
        "tolerance": certificate.tolerance,
        "nodes": certificate.nodes,
        "seconds": certificate.seconds,
        "always_in": [every[j].name for j in certificate.always_in],
        "always_out": len(certificate.always_out),
        "sizes_certified": list(certificate.sizes_certified),
    }


def _shrinkage(selection: Selection) -> str:
    """Say how much coefficients are shrunk; nothing if there are none, or nobody asked."""
    ridge, factor = selection.ridge, selection.frontier.rescaling
    if not selection.model.size or selection.data.loss is not Loss.SQUARED:
        return ""
    if not ridge:
        return (
            "Coefficients are not shrunk: no ridge was best." if selection.settings.shrinks else ""
        )
    chosen = ", chosen by cross-validation" if selection.settings.shrinks else ""
    stretched = f" and stretched again by {factor:.3g}" if factor != 1 else ""
    return (
        f"Coefficients are shrunk to {100 * selection.kept:.0f}% of those by least squares, taken "
        f"together: by a ridge of {ridge:.3g}{stretched}{chosen}."
    )


def _cross_validation(selection: Selection) -> dict[str, Any] | None:
    """Return how well models chosen in the same way predict rows held out."""
    score = selection.score
    if score is None:
        return None
    return {
        "folds": selection.judged_by,
        "r2": score.r2,
        "r2_se": score.r2_se,
        "error": score.error,
        "error_se": score.error_se,
        "rmse": _root(selection, score.error),
        **_of_probabilities(selection),
        "predicts": score.predicts,
        "size_low": min(score.sizes),
        "size_high": max(score.sizes),
    }


def _of_probabilities(selection: Selection) -> dict[str, Any]:
    """Return how probabilities do on rows held out: their ranks, and whether they come true."""
    score, data = selection.score, selection.data
    if score is None or data.loss is not Loss.LOGISTIC or not isinstance(data, PreparedTable):
        return {"auc": None, "brier": None, "calibration": None, "roc": None}
    y, weights = data.y[score.rows], score.weights
    auc, curve = roc(score.outcomes, y, weights, score.folds)
    return {
        "auc": auc,
        "brier": float(brier(score.outcomes[None, :], y, weights)[0]),
        "calibration": calibration(score.outcomes, y, weights),
        "roc": curve,
    }


def _sureness(selection: Selection) -> dict[str, Any]:
    """Return what other ways of choosing say of each variable."""
    sureness = selection.sureness
    return {
        "halves": 0 if sureness.halves is None else len(sureness.halves.halves),
        "size": sureness.size,
        "one_se_size": None if sureness.one_se is None else sureness.one_se.size,
        "least_error_size": None if sureness.least is None else sureness.least.size,
        "variables": sureness.rows(),
        "disagreements": sureness.words(),
    }


def _by_size(selection: Selection) -> dict[str, Any] | None:
    """Return the error on rows held out of the best model of each size."""
    score = selection.score
    if score is None or selection.curve is not None:
        return None
    first = int(selection.frontier.sizes[0])
    return {
        "root": selection.data.loss is Loss.SQUARED,
        "size": list(range(first, first + len(score.size_errors))),
        "mean_error": score.size_errors.tolist(),
        "se_error": score.size_ses.tolist(),
    }


def _path(selection: Selection, n: float, total: float) -> list[dict[str, Any]]:
    """Return the models along the path, and the chosen one even if it is not on it."""
    frontier, chosen = selection.frontier, selection.model
    largest = max(2 * chosen.size + 10, 20)
    out = []
    for model in _along_path(selection, largest):
        low, high = model.interval or (math.nan, math.nan)
        out.append(
            {
                "size": model.size,
                "lam_low": low,
                "lam_high": high,
                "r2": 1 - model.rss / total,
                "rmse": _root(selection, model.rss / n),
                "error": _per_row(selection, model.rss, n),
                "intercept": model.intercept,
                "chosen": np.array_equal(model.support, chosen.support),
                "held_out": _error_at(selection, model.size, low, high),
                "variables": _path_variables(selection, model, frontier._r2_lost(model)),
            }
        )
    return out


def _along_path(selection: Selection, largest: int) -> list[FrontierModel]:
    """Return the solutions of up to a size, and the model chosen in its place if it is none."""
    frontier, chosen = selection.frontier, selection.model
    if isinstance(frontier, GroupFrontier):
        models: list[FrontierModel] = [m for m in frontier.hull_models if m.size <= largest]
    else:
        models = [frontier.at(size=int(k)) for k in frontier.hull_sizes if k <= largest]
    if not any(np.array_equal(model.support, chosen.support) for model in models):
        models.append(chosen)
    return sorted(models, key=lambda model: (model.size, -model.rss))


def _path_variables(
    selection: Selection, model: FrontierModel, lost: NDArray[np.float64]
) -> list[dict[str, Any]]:
    variables = selection.variables
    members, size = variables.of(model), _strengths(selection, model)
    return [
        {
            "name": variables.names[members[place]],
            "coefficient": variables.value(int(members[place]), model.coef),
            "standardised": size[int(members[place])],
            "r2_lost": lost[place],
            "features": _path_features(selection, model, int(members[place])),
        }
        for place in np.argsort(-variables.costs(model), kind="stable")
    ]


def _path_features(
    selection: Selection, model: FrontierModel, variable: int
) -> list[dict[str, Any]]:
    """Return the features of a variable that has several."""
    variables, features = selection.variables, selection.plan.features.features
    if variables.columns[variable].size == 1:
        return []
    return [
        {
            "name": features[model.support[j]].name,
            "coefficient": model.coef[model.support[j]],
            "standardised": model.standardised[j],
        }
        for j in variables.parts(model, variable)
    ]


def _error_at(selection: Selection, size: int, low: float, high: float) -> list[float] | None:
    """Return the error of the folds for a size, the root of a mean squared one.

    If models were chosen by the price: the least and the greatest in its interval.
    """
    curve, score = selection.curve, selection.score
    squared = selection.data.loss is Loss.SQUARED
    if curve is None:
        place = size - int(selection.frontier.sizes[0])
        if score is None or place >= len(score.size_errors):
            return None
        error = float(score.size_errors[place])
        return [math.sqrt(error) if squared else error] * 2
    if math.isnan(low):
        return None
    inside = (curve.lam_low < high) & (curve.lam_high > low)
    if not inside.any():
        return None
    errors = curve.mean_error[inside]
    errors = np.sqrt(errors) if squared else errors
    return [float(errors.min()), float(errors.max())]


def _curve(selection: Selection) -> dict[str, Any] | None:
    curve = selection.curve
    if curve is None:
        return None
    cautious = selection.settings.shrinks and selection.data.loss is Loss.SQUARED
    marks = {
        "least": curve.best(cautious=cautious),
        "one_se": curve.within_one_se(cautious=cautious),
    }
    return {
        "folds": selection.folds,
        "root": selection.data.loss is Loss.SQUARED,
        "lam_low": curve.lam_low.tolist(),
        "lam_high": curve.lam_high.tolist(),
        "mean_error": curve.mean_error.tolist(),
        "se_error": curve.se_error.tolist(),
        "mean_size": curve.mean_size.tolist(),
        **{
            name: {
                "lam": curve.middle(place),
                "error": curve.mean_error[place],
                "rmse": _root(selection, float(curve.mean_error[place])),
                "se": curve.se_error[place],
                "size": curve.mean_size[place],
            }
            for name, place in marks.items()
        },
    }


def _neighbours(selection: Selection) -> list[dict[str, Any]]:
    lam, frontier, model = selection.lam, selection.frontier, selection.model
    if lam is not None and not 0 < lam < math.inf:
        lam = None
    if isinstance(frontier, GroupFrontier) and isinstance(model, GroupModel):
        table = frontier._neighbours_of(frontier._unit_model(model), lam, None)
    else:
        table = frontier.neighbours(model.size, lam=lam)
    return table.head(_MOST_NEIGHBOURS).to_dict("records")  # type: ignore[return-value]


def _stand_ins(selection: Selection, total: float) -> list[dict[str, Any]]:
    frontier, model, variables = selection.frontier, selection.model, selection.variables
    if isinstance(frontier, GroupFrontier) and isinstance(model, GroupModel):
        table = frontier._stand_ins_of(frontier._unit_model(model), _STAND_INS)
    else:
        table = frontier.stand_ins(model.size, _STAND_INS)
    table["r2_lost"] = 2 * table["rise"] / total
    if selection.ridge and len(table) and selection.data.loss is Loss.SQUARED:
        places = {name: j for j, name in enumerate(variables.names)}
        pairs = zip(table["leaves"].map(places), table["enters"].map(places), strict=True)
        members = variables.of(model)
        swapped = [np.append(members[members != out], into) for out, into in pairs]
        fits = frontier._r2_of([members, *map(np.sort, swapped)])
        table["r2_lost"] = fits[0] - fits[1:]
    removal = dict(zip(names_in(model), variables.costs(model), strict=True))
    cost = table["leaves"].map(removal).astype(float)
    table["regained"] = 1 - table["rise"] / cost.where(cost > 0, 1.0)
    rows: list[dict[str, Any]] = table.to_dict("records")  # type: ignore[assignment]
    return rows
