"""Saved models: plain JSON, whose every field is checked when it is read.

Nothing in such a file is run, so one from a stranger is safe to load. A checksum over the rest
tells a file that was cut or edited from one that was saved.
"""

from __future__ import annotations

import hashlib
import json
import math
from itertools import pairwise
from pathlib import Path
from typing import Any

from ellzero._messages import Argument
from ellzero.regression._losses import LOSSES, Loss
from ellzero.selection._intervals import Distances
from ellzero.selection._kept_draws import KeptDraws
from ellzero.selection._linear_model import LinearModel
from ellzero.tables import DataError, DatePart, Feature, Pool, write_aside
from ellzero.tables._date_parts import PARTS
from ellzero.tables._source import read_limited

__all__ = ["load_model", "save_model"]

_FORMAT = "ellzero-model"
_VERSION = 4
_MOST_BYTES = 100_000_000
_KEYS = {
    "format",
    "version",
    "ellzero",
    "target",
    "intercept",
    "fills_missing",
    "features",
    "levels",
    "pools",
    "parts",
    "distances",
    "draws",
    "loss",
    "labels",
    "fit",
    "sha256",
}
# What versions before this one did not have. In version 1 no levels were pooled, no dates taken
# apart, and it did not know how far predictions are off; version 2 had no averages of posteriors;
# until version 3 all were fitted by least squares.
_NEW_KEYS = {
    1: {"pools", "parts", "distances", "draws", "loss", "labels"},
    2: {"draws", "loss", "labels"},
    3: {"loss", "labels"},
    _VERSION: set[str](),
}
_DRAW_KEYS = ("sizes", "places", "coefficients", "intercepts", "deviations")
_STUDENT_KEYS = (*_DRAW_KEYS, "degrees")  # of draws under Student's noise
_FEATURE_KEYS = {"name", "kind", "column", "level", "factors", "coefficient", "mean"}
_KINDS = {"number", "level", "missing", "product"}


def save_model(model: LinearModel, path: Path) -> None:
    """Write a model as JSON, aside and then renamed.

    Parameters
    ----------
    model : LinearModel
        The model.
    path : Path
        Where to.
    """
    write_aside(path, model_text(model))


def model_text(model: LinearModel) -> str:
    """Return what `save_model` writes."""
    from ellzero import __version__

    content: dict[str, Any] = {
        "format": _FORMAT,
        "version": _VERSION,
        "ellzero": __version__,
        "target": model.target,
        "intercept": model.intercept,
        "fills_missing": model.fills,
        "features": [
            {
                "name": feature.name,
                "kind": feature.kind,
                "column": feature.column,
                "level": feature.level,
                "factors": list(feature.factors),
                "coefficient": coefficient,
                "mean": mean,
            }
            for feature, coefficient, mean in zip(
                model.features, model.coefficients, model.means, strict=True
            )
        ],
        "levels": model.levels,
        "pools": {
            name: {"level": pool.level, "rare": list(pool.rare)}
            for name, pool in model.pools.items()
        },
        "parts": {
            name: {"column": part.column, "part": part.part, "day_first": part.day_first}
            for name, part in model.parts.items()
        },
        "distances": None
        if model.distances is None
        else {
            "rows": model.distances.rows,
            "distances": list(model.distances.distances),
            "shares": list(model.distances.shares),
        },
        "draws": None
        if model.draws is None
        else {
            key: list(getattr(model.draws, key))
            for key in (_STUDENT_KEYS if model.draws.degrees else _DRAW_KEYS)
        },
        "loss": model.loss.value,
        "labels": None if model.labels is None else list(model.labels),
        "fit": model.facts,
    }
    content["sha256"] = _checksum(content)
    text = json.dumps(content, indent=1, ensure_ascii=False, allow_nan=False) + "\n"
    if len(text.encode("utf-8", "backslashreplace")) > _MOST_BYTES:
        raise DataError(
            f"The model takes more than {_MOST_BYTES / 1e6:.0f} MB, too many to be saved: leave "
            "out columns with ",
            Argument("drop"),
            ".",
        )
    return text


def load_model(path: Path) -> LinearModel:
    """Read a saved model.

    Parameters
    ----------
    path : Path
        A file that `save_model` wrote.

    Returns
    -------
    LinearModel
        The model.

    Raises
    ------
    DataError
        If it is not whole, not a model, of another version, or has been changed.
    """
    raw = read_limited(path, _MOST_BYTES)
    if raw is None:
        raise DataError(f"{path} is too large to be a saved model.")
    try:
        content = json.loads(raw.decode("utf-8"), parse_constant=_no_constant)
    except (ValueError, RecursionError):
        raise DataError(
            f"{path} is not whole JSON: is it a saved model, and not cut off?"
        ) from None
    if not isinstance(content, dict) or content.get("format") != _FORMAT:
        raise DataError(f"{path} is not a model saved by ellzero.")
    if content.get("version") not in range(1, _VERSION + 1):
        raise DataError(
            f"{path} is a saved model of version {content.get('version')!r}; this ellzero reads "
            f"versions 1 to {_VERSION}."
        )
    given = content.get("sha256")
    if given != _checksum({key: value for key, value in content.items() if key != "sha256"}):
        raise DataError(f"{path} has been changed since it was saved: its checksum does not fit.")
    try:
        return _read(content)
    except (_InvalidError, OverflowError) as error:
        raise DataError(f"{path} is not a valid model: {error}.") from None


class _InvalidError(Exception):
    pass


def _no_constant(name: str) -> None:
    raise ValueError(name)


def _checksum(content: dict[str, Any]) -> str:
    text = json.dumps(content, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def _require(condition: bool, what: str) -> None:
    if not condition:
        raise _InvalidError(what)


def _number(value: Any, what: str) -> float:
    plain = isinstance(value, (int, float)) and not isinstance(value, bool)
    _require(plain and math.isfinite(value), f"{what} must be a number")
    return float(value)


def _text(value: Any, what: str) -> str:
    _require(isinstance(value, str), f"{what} must be a text")
    return str(value)


def _read(content: dict[str, Any]) -> LinearModel:
    keys = _KEYS - _NEW_KEYS[content["version"]]
    _require(set(content) == keys, "its fields are not those of a model")
    _require(isinstance(content["fills_missing"], bool), "fills_missing must be true or false")
    _require(isinstance(content["features"], list), "features must be a list")
    _require(isinstance(content["levels"], dict), "levels must be a table")
    _require(isinstance(content["fit"], dict), "fit must be a table")
    features: list[Feature] = []
    coefficients: list[float] = []
    means: list[float] = []
    for place, entry in enumerate(content["features"]):
        _require(
            isinstance(entry, dict) and set(entry) == _FEATURE_KEYS,
            f"feature {place} is incomplete",
        )
        features.append(_read_feature(entry, place, features))
        coefficients.append(_number(entry["coefficient"], "a coefficient"))
        means.append(_number(entry["mean"], "a mean"))
    known: dict[str, frozenset[str]] = {}
    for name, levels in content["levels"].items():
        valid = isinstance(levels, list) and all(isinstance(level, str) for level in levels)
        _require(valid, f"the levels of {name!r} must be texts")
        known[name] = frozenset(levels)
    pools = _read_pools(content.get("pools", {}), known)
    parts = _read_parts(content.get("parts", {}))
    for feature in features:
        if feature.kind == "level":
            found = feature.level in known.get(feature.column, ())
            _require(found, f"{feature.name!r} has no such level")
    distances = _read_distances(content.get("distances"))
    draws = _read_draws(content.get("draws"), len(features))
    _require(distances is None or draws is None, "distances and draws exclude each other")
    loss, labels = _read_loss(content.get("loss", "squared"), content.get("labels"))
    plain = loss is Loss.SQUARED or (distances is None and draws is None)
    _require(plain, "a likelihood has neither distances nor draws")
    return LinearModel(
        target=_text(content["target"], "target"),
        intercept=_number(content["intercept"], "intercept"),
        features=tuple(features),
        coefficients=tuple(coefficients),
        means=tuple(means),
        fills=content["fills_missing"],
        levels=content["levels"],
        facts=content["fit"],
        pools=pools,
        parts=parts,
        distances=distances,
        draws=draws,
        loss=loss,
        labels=labels,
    )


def _read_loss(loss: Any, labels: Any) -> tuple[Loss, tuple[str, str] | None]:
    _require(loss in LOSSES, f"{loss!r} is no loss")
    kind = Loss(loss)
    if kind is not Loss.LOGISTIC:
        _require(labels is None, "labels are for a binary target")
        return kind, None
    whole = isinstance(labels, list) and len(labels) == 2 and labels[0] != labels[1]
    _require(whole, "labels must be two texts that differ")
    return kind, (_text(labels[0], "a label"), _text(labels[1], "a label"))


def _read_distances(content: Any) -> Distances | None:
    if content is None:
        return None
    whole = isinstance(content, dict) and set(content) == {"rows", "distances", "shares"}
    _require(whole, "distances are incomplete")
    columns = content["distances"], content["shares"]
    valid = all(isinstance(column, list) for column in columns)
    _require(valid and 0 < len(columns[0]) == len(columns[1]), "distances must be lists")
    distances, shares = (
        tuple(_number(value, "a distance") for value in column) for column in columns
    )
    rising = all(a <= b for column in (distances, shares) for a, b in pairwise(column))
    rows = _number(content["rows"], "rows")
    _require(rising and distances[0] >= 0 and rows > 0, "distances must be in order")
    return Distances(rows, distances, shares)


def _read_draws(content: Any, n_features: int) -> KeptDraws | None:
    if content is None:
        return None
    student = isinstance(content, dict) and "degrees" in content
    whole = isinstance(content, dict) and set(content) == set(
        _STUDENT_KEYS if student else _DRAW_KEYS
    )
    _require(whole, "draws are incomplete")
    _require(all(isinstance(column, list) for column in content.values()), "draws must be lists")
    sizes, places = content["sizes"], content["places"]
    counts = all(type(value) is int and value >= 0 for value in [*sizes, *places])
    _require(counts, "sizes and places of draws must be whole numbers")
    coefficients, intercepts, deviations, degrees = (
        tuple(_number(value, f"each of the {key} of draws") for value in content.get(key, ()))
        for key in _STUDENT_KEYS[2:]
    )
    fits = 0 < len(sizes) == len(intercepts) == len(deviations)
    fits = fits and sum(sizes) == len(places) == len(coefficients)
    fits = fits and (not student or len(degrees) == len(sizes))
    _require(fits, "the lists of draws do not fit together")
    _require(not student or min(degrees) > 0, "degrees of draws must be positive")
    _require(min(deviations) >= 0, "deviations of draws must not be negative")
    begin = 0
    for size in sizes:
        own = places[begin : begin + size]
        rising = all(a < b for a, b in pairwise(own)) and (not own or own[-1] < n_features)
        _require(rising, "places of a draw must be those of features, in order")
        begin += size
    return KeptDraws(tuple(sizes), tuple(places), coefficients, intercepts, deviations, degrees)


def _read_pools(content: Any, known: dict[str, frozenset[str]]) -> dict[str, Pool]:
    _require(isinstance(content, dict), "pools must be a table")
    pools = {}
    for name, entry in content.items():
        whole = isinstance(entry, dict) and set(entry) == {"level", "rare"}
        _require(whole, f"the pooled levels of {name!r} are incomplete")
        rare = entry["rare"]
        valid = isinstance(rare, list) and all(isinstance(level, str) for level in rare)
        _require(valid, f"the pooled levels of {name!r} must be texts")
        level = _text(entry["level"], "a pooled level")
        _require(level in known.get(name, ()), f"{name!r} has no level {level!r}")
        pools[name] = Pool(level, tuple(rare))
    return pools


def _read_parts(content: Any) -> dict[str, DatePart]:
    _require(isinstance(content, dict), "parts must be a table")
    parts = {}
    for name, entry in content.items():
        whole = isinstance(entry, dict) and set(entry) == {"column", "part", "day_first"}
        _require(whole, f"the date of {name!r} is incomplete")
        column, day_first = _text(entry["column"], "the column of a date"), entry["day_first"]
        _require(column not in content, f"the date of {name!r} is made of a date")
        _require(entry["part"] in PARTS, f"{name!r} is no part of a date")
        fine = day_first is None or isinstance(day_first, bool)
        _require(fine, f"day_first of {name!r} must be true, false or null")
        parts[name] = DatePart(column, entry["part"], day_first)
    return parts


def _read_feature(entry: dict[str, Any], place: int, before: list[Feature]) -> Feature:
    texts = {key: _text(entry[key], key) for key in ("name", "kind", "column", "level")}
    _require(texts["kind"] in _KINDS, f"{texts['kind']!r} is no kind of feature")
    factors = entry["factors"]
    whole = isinstance(factors, list) and all(type(factor) is int for factor in factors)
    _require(whole, "factors must be whole numbers")
    if texts["kind"] == "product":
        fine = len(factors) == 2 and all(
            0 <= factor < place and before[factor].kind != "product" for factor in factors
        )
        _require(fine, f"the factors of {texts['name']!r} are not features before it")
    else:
        _require(not factors and texts["column"] != "", f"{texts['name']!r} must name its column")
    return Feature(texts["name"], texts["kind"], texts["column"], texts["level"], tuple(factors))
