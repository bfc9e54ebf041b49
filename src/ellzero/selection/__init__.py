"""The whole job on a table: features, cross-validation, the choice of a model and what it says."""

from ellzero.selection._linear_model import LinearModel
from ellzero.selection._model_file import load_model, save_model
from ellzero.selection._prepare import Data, prepare
from ellzero.selection._select import Selection, select
from ellzero.selection._settings import Settings
from ellzero.selection._summary import summarise, summarise_posterior

__all__ = [
    "Data",
    "LinearModel",
    "Selection",
    "Settings",
    "load_model",
    "prepare",
    "save_model",
    "select",
    "summarise",
    "summarise_posterior",
]
