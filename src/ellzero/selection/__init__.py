"""The whole job on a table: features, cross-validation, the choice of a model and what it says."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ellzero.selection._linear_model import LinearModel
    from ellzero.selection._model_file import load_model, save_model
    from ellzero.selection._posterior_summary import summarise_posterior
    from ellzero.selection._prepare import PreparedTable, prepare
    from ellzero.selection._select import Selection, select
    from ellzero.selection._settings import Settings
    from ellzero.selection._summary import summarise

__all__ = [
    "LinearModel",
    "PreparedTable",
    "Selection",
    "Settings",
    "load_model",
    "prepare",
    "save_model",
    "select",
    "summarise",
    "summarise_posterior",
]

# Looked up when first used: what is wrong with a table can be said before scikit-learn is there.
_HOMES = {
    "LinearModel": "_linear_model",
    "PreparedTable": "_prepare",
    "Selection": "_select",
    "Settings": "_settings",
    "load_model": "_model_file",
    "prepare": "_prepare",
    "save_model": "_model_file",
    "select": "_select",
    "summarise": "_summary",
    "summarise_posterior": "_posterior_summary",
}


def __getattr__(name: str) -> Any:
    from importlib import import_module

    if name not in _HOMES:
        raise AttributeError(f"module 'ellzero.selection' has no attribute {name!r}")
    return getattr(import_module(f"ellzero.selection.{_HOMES[name]}"), name)
