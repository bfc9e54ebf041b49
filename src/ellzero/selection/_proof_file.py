"""Certificates of selections: a proof, and how the columns that it is about are made of a table."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, fields
from typing import Any

from ellzero.selection._feature_matrix import make_feature_matrix
from ellzero.selection._prepare import prepare
from ellzero.selection._select import Selection
from ellzero.selection._settings import Settings
from ellzero.tables import DataError, Table

__all__ = ["certificate_text", "check_against", "names_of", "settings_of"]

_UNCLEAR = "The certificate does not say how its columns were made."
# What may stand in a file for each type of a setting
_KINDS = {
    "str": (str,),
    "str | None": (str, type(None)),
    "int": (int,),
    "int | None": (int, type(None)),
    "float": (int, float),
    "float | None": (int, float, type(None)),
    "bool": (bool,),
    "tuple[str, ...]": (tuple,),
}


def certificate_text(selection: Selection, drop: list[str]) -> str:
    """Return what ``ellzero select --certificate`` writes."""
    record = selection.certificate.record
    if record is None or record.empty or not record.complete:
        raise DataError("There is no proof to be written: the certificate says why.")
    made = {"settings": asdict(selection.settings), "drop": drop}
    return record.text(table=made)


def names_of(content: Mapping[str, Any]) -> list[str] | None:
    """Return the names of the columns that a certificate is about; None if they have none."""
    names = content["problem"].get("names")
    if names is None:
        return None
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise DataError(_UNCLEAR)
    return names


def settings_of(
    content: Mapping[str, Any], target: str | None, weights: str | None = None
) -> tuple[Settings, list[str]]:
    """Return how the columns of a certificate were made, and what was dropped of the table.

    One that was made in Python says nothing about that: its columns are those of the table.
    """
    made = content.get("table")
    if not isinstance(made, dict):
        if target is None:
            raise DataError("The certificate does not name the target: give it.")
        keep = tuple(names_of(content) or ())
        counts = weights is not None
        return Settings(target, "gaussian", weights=weights, frequency=counts, keep=keep), []
    settings, drop = made.get("settings"), made.get("drop")
    if not isinstance(settings, dict) or not isinstance(drop, list):
        raise DataError(_UNCLEAR)
    plain: dict[str, Any] = {
        key: tuple(value) if isinstance(value, list) else value for key, value in settings.items()
    }
    kinds = {field.name: _KINDS[str(field.type)] for field in fields(Settings)}
    known = all(key in kinds and isinstance(value, kinds[key]) for key, value in plain.items())
    names = [
        *drop,
        *(name for value in plain.values() if isinstance(value, tuple) for name in value),
    ]
    if not known or "target" not in plain or not all(isinstance(name, str) for name in names):
        raise DataError(_UNCLEAR)
    return Settings(**{**plain, "family": "gaussian"}), drop  # which is all that is proved


def check_against(content: Mapping[str, Any], table: Table, settings: Settings) -> int:
    """Check that a certificate is about a table; return the number of its rows."""
    from ellzero.proof._checker import check_table

    data = prepare(table, settings)
    matrix = make_feature_matrix(data, settings, lambda words: None)
    names = names_of(content)
    if names is not None and names != list(matrix.names):
        raise DataError("The features of the table are not those that the certificate is about.")
    check_table(content, matrix.X, data.y, data.weights)
    return len(data.y)
