"""The one file that touches what scikit-learn keeps to itself."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cache
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn import get_config
from sklearn.base import BaseEstimator
from sklearn.utils._metadata_requests import _routing_enabled
from sklearn.utils._param_validation import (
    Interval,
    StrOptions,
    validate_parameter_constraints,
)
from sklearn.utils.metadata_routing import UNUSED, process_routing
from sklearn.utils.multiclass import check_classification_targets, type_of_target
from sklearn.utils.validation import (
    _check_sample_weight,
    check_consistent_length,
    validate_data,
)

from ellzero.genotypes._genotypes import Genotypes, refuse_genotypes
from ellzero.sources._column_source import ColumnSource
from ellzero.sources._statistics import refuse_statistics
from ellzero.sources._streams import take_source, take_statistics

__all__ = [
    "UNUSED",
    "Interval",
    "StrOptions",
    "check_arguments",
    "check_classifier_input",
    "check_fit_input",
    "check_parameters",
    "check_same_variants",
    "check_table",
    "routed_to_splitter",
    "unchanged_on_error",
    "validate_table",
]

_SMALL = 1_000_000  # numbers in a table
# Parameters that have passed, by class, name, type and value, and how many are remembered
_PLAIN = (int, float, bool, str)
_passed: set[tuple[Callable[..., Any], str, type, Any]] = set()
_MOST_PASSED = 1000


def _first_not_numeric(X: Any) -> Any:
    """Name the first column of a data frame that can't be read as numbers; None if all can."""
    for column in getattr(X, "columns", ()):
        values = np.asarray(X[column])
        if values.dtype.kind in "mM":  # dates and durations do turn into floats, of nanoseconds
            return column
        try:
            values.astype(np.float64)
        except (TypeError, ValueError):
            return column
    return None


# How sentences begin that NumPy and scikit-learn say of a table without a name
_OF_NO_ARGUMENT = (
    "could not convert",
    "float() argument",
    "setting an array element",
    "Complex data not supported",
    "Unable to convert array",
)


def validate_table(estimator: Any, X: Any, *y: Any, **options: Any) -> Any:
    """Check as scikit-learn's ``validate_data`` does, but name X where it is at fault."""
    refuse_statistics(type(estimator).__name__, X)
    refuse_genotypes(type(estimator).__name__, X)
    take_source(type(estimator).__name__, X, accepted=False)  # which raises if it is one
    if isinstance(X, (list, tuple)):
        with suppress(TypeError, ValueError):  # which are said below
            X = np.asarray(X)
    if getattr(getattr(X, "dtype", None), "kind", None) in ("m", "M"):
        raise ValueError("X holds dates or durations, not numbers.")
    try:
        return validate_data(estimator, X, *y, **options)
    except (TypeError, ValueError) as error:
        column = _first_not_numeric(X)
        if column is not None:
            raise ValueError(
                f"X: column {column!r} does not hold numbers; encode or drop it."
            ) from error
        words = str(error).split("\n")[0].rstrip(".")
        if not words.startswith(_OF_NO_ARGUMENT):
            raise
        raise type(error)(f"X does not hold real numbers: {words}.") from error


def _read_numbers(name: str, values: Any) -> Any:
    """Return what holds numbers as it is, and objects and texts as numbers; raise for the rest.

    Dates would turn into nanoseconds, and None into NaN after scikit-learn has looked for these.
    """
    if values is None or sparse.issparse(values):
        return values
    try:
        array = np.asarray(values)
    except ValueError:
        raise ValueError(
            f"{name} must have one dimension, but its entries differ in length."
        ) from None
    if array.dtype.kind in "mM":
        raise ValueError(f"{name} holds dates or durations, not numbers.")
    if array.dtype.kind == "c":
        raise ValueError(f"Complex data not supported: {name} must hold real numbers.")
    if array.dtype.kind not in "OSUTV":
        return values
    try:
        return array.astype(np.float64)
    except (TypeError, ValueError):
        raise _not_a_number(name, array.ravel().tolist()) from None


def _not_a_number(name: str, entries: list[Any]) -> ValueError:
    """Name the first entry that is none."""
    for place, entry in enumerate(entries):
        if type(entry).__name__ in ("NAType", "NaTType"):  # pandas' own missing values
            return ValueError(f"Input {name} contains NaN.")
        try:
            float(entry)
        except (TypeError, ValueError):
            return ValueError(f"{name} must hold numbers; entry {place} is {repr(entry)[:60]}.")
    return ValueError(f"{name} must hold numbers.")


def check_parameters(caller: str, constraints: dict[str, list[Any]], **values: Any) -> None:
    """Check parameters, with scikit-learn's own wording."""
    if get_config()["skip_parameter_validation"]:
        return
    # None is checked here: scikit-learn takes longer for it than for all other values.
    to_check = {n: v for n, v in values.items() if v is not None or None not in constraints[n]}
    validate_parameter_constraints(constraints, to_check, caller_name=caller)


def check_arguments(
    called: Callable[..., Any], constraints: dict[str, list[Any]], /, **values: Any
) -> None:
    """Check those arguments of a function, or parameters of a class, that somebody has set.

    Plain numbers and words that have passed before are not checked again: on small tables it shows.
    """
    defaults = _defaults(called)
    asked = {}
    for name, value in values.items():
        if value is defaults.get(name, ...):
            continue
        if type(value) not in _PLAIN or (called, name, type(value), value) not in _passed:
            asked[name] = value
    if not asked:
        return
    check_parameters(called.__name__, constraints, **asked)
    if len(_passed) > _MOST_PASSED:
        _passed.clear()
    if not get_config()["skip_parameter_validation"]:
        _passed.update((called, n, type(v), v) for n, v in asked.items() if type(v) in _PLAIN)


@cache
def _defaults(called: Callable[..., Any]) -> dict[str, Any]:
    """Return what parameters of a class or function are unless it is told otherwise: valid."""
    parameters = inspect.signature(called).parameters
    return {name: parameter.default for name, parameter in parameters.items()}


def _check_own_parameters(estimator: BaseEstimator) -> None:
    """Check those parameters of an estimator that somebody has set."""
    constraints = estimator._parameter_constraints
    values = {name: getattr(estimator, name) for name in constraints}
    check_arguments(cast(Callable[..., Any], type(estimator)), constraints, **values)


def check_fit_input(
    estimator: BaseEstimator,
    X: Any,
    y: Any,
    sample_weight: Any,
    *,
    statistics: bool = False,
    folds: int = 0,
    random_state: Any = 0,
) -> tuple[Any, Any, NDArray[np.float64] | None]:
    """Check the parameters and what ``fit`` was given.

    X keeps its layout, and float32 stays float32. Where ``statistics`` of the rows are as good as
    rows, what is no table in memory becomes these, with ``folds`` kept apart, and y None.
    """
    # This does what scikit-learn's decorator _fit_context does for an estimator that contains no
    # other, in less than half the time: on small tables that is most of the time of a fit.
    _check_own_parameters(estimator)
    table, names = _plain_frame(X)
    target = y.to_numpy() if _is_pandas(y, "Series") else y
    plain = sample_weight is None and _is_plain(table, 2) and _is_plain(target, 1)
    if plain and len(table) == len(target):
        # What validate_data notes down
        estimator.n_features_in_ = table.shape[1]
        estimator.__dict__.pop("feature_names_in_", None)
        if names is not None:
            estimator.feature_names_in_ = names
        return table, target, None
    source = take_source(type(estimator).__name__, X, accepted=statistics)
    if source is not None:
        return source, *_check_source(estimator, source, y, sample_weight)
    known = take_statistics(
        type(estimator).__name__,
        X,
        y,
        sample_weight,
        accepted=statistics,
        folds=folds,
        random_state=random_state,
    )
    if known is not None:
        estimator.n_features_in_ = known.shape[1]
        estimator.__dict__.pop("feature_names_in_", None)
        if known.named:
            estimator.feature_names_in_ = np.array(known.names, dtype=object)
        return known, None, None
    if statistics and isinstance(X, Genotypes):
        return _check_genotypes(estimator, X, y, sample_weight)
    return _check_data(estimator, X, y, sample_weight)


def check_table(
    caller: str, X: Any, y: Any, sample_weight: Any, *, statistics: bool = False
) -> tuple[Any, Any, NDArray[np.float64] | None, Any]:
    """Check what a function was given; also return the names of the columns, or None."""
    source = take_source(caller, X, accepted=statistics)
    if source is not None:
        holder = type(caller, (BaseEstimator,), {})()
        y, sample_weight = _check_source(holder, source, y, sample_weight)
        return source, y, sample_weight, getattr(holder, "feature_names_in_", None)
    known = take_statistics(caller, X, y, sample_weight, accepted=statistics)
    if known is not None:
        names = np.array(known.names, dtype=object) if known.named else None
        return known, None, None, names
    if y is None:
        raise ValueError(f"{caller} requires y, but it is None.")
    if sample_weight is None and _is_plain(X, 2) and _is_plain(y, 1) and len(X) == len(y) > 0:
        return X, y, None, None
    holder = type(caller, (BaseEstimator,), {})()  # messages have the name of the class in them
    check = _check_genotypes if statistics and isinstance(X, Genotypes) else _check_data
    X, y, sample_weight = check(holder, X, y, sample_weight)
    return X, y, sample_weight, getattr(holder, "feature_names_in_", None)


def _is_pandas(value: Any, kind: str) -> bool:
    """Whether something is a DataFrame or a Series of pandas, which need not be imported."""
    pandas = sys.modules.get("pandas")
    return pandas is not None and type(value) is getattr(pandas, kind)


def _plain_frame(X: Any) -> tuple[Any, Any]:
    """Return the numbers and the names of a DataFrame with names that are strings; else X, None.

    scikit-learn goes through its columns several times, one by one; in a large one that is little.
    """
    if not _is_pandas(X, "DataFrame") or X.size > _SMALL or not X.columns.is_unique:
        return X, None
    names = np.asarray(X.columns, dtype=object)
    if not all(type(name) is str for name in names.tolist()):
        return X, None
    return X.to_numpy(), names


def _is_plain(array: Any, n_dimensions: int) -> bool:
    """Whether scikit-learn's checks would pass the array unchanged; they are slow for small ones.

    The sum is finite only if all entries are.
    """
    if type(array) is not np.ndarray or array.dtype != np.float64 or array.ndim != n_dimensions:
        return False
    if array.size == 0 or (n_dimensions == 1 and not array.flags.c_contiguous):
        return False
    with np.errstate(over="ignore", invalid="ignore"):
        return bool(np.isfinite(array.sum()))


def _check_data(
    estimator: BaseEstimator, X: Any, y: Any, sample_weight: Any
) -> tuple[Any, NDArray[np.float64], NDArray[np.float64] | None]:
    X, y = validate_table(
        estimator,
        X,
        _read_numbers("y", y),
        accept_sparse="csc",
        dtype=[np.float64, np.float32],
        y_numeric=True,
    )
    y = np.ascontiguousarray(y, dtype=np.float64)
    return X, y, _check_weight(X, sample_weight)


def _check_genotypes(
    estimator: BaseEstimator, X: Genotypes, y: Any, sample_weight: Any
) -> tuple[Genotypes, NDArray[np.float64], NDArray[np.float64] | None]:
    """Check what comes with genotypes, which need no check, and say how many are missing."""
    if y is None:
        name = type(estimator).__name__
        raise ValueError(f"This {name} estimator requires y to be passed, but the target y is None")
    y = validate_data(estimator, X="no_validation", y=_read_numbers("y", y), y_numeric=True)
    check_consistent_length(X, y)
    if not X.shape[0] or not X.shape[1]:
        raise ValueError(f"X must have samples and variants; its shape is {X.shape}.")
    estimator.n_features_in_ = X.shape[1]
    estimator.__dict__.pop("feature_names_in_", None)
    names = X.feature_names
    if names is not None:
        estimator.feature_names_in_ = names
    X._warn_of_missing()
    return X, np.ascontiguousarray(y, dtype=np.float64), _check_weight(X, sample_weight)


def check_same_variants(estimator: BaseEstimator, X: Genotypes) -> None:
    """Raise unless genotypes have the columns of ``fit``."""
    if X.shape[1] != estimator.n_features_in_:
        raise ValueError(
            f"X has {X.shape[1]} variants, but {type(estimator).__name__} was fitted on "
            f"{estimator.n_features_in_}."
        )
    names, known = X.feature_names, getattr(estimator, "feature_names_in_", None)
    if names is not None and known is not None and not np.array_equal(names, known):
        place = int(np.flatnonzero(names != known)[0])
        raise ValueError(
            f"X: variant {place} is {names[place]!r}, but was {known[place]!r} when "
            f"{type(estimator).__name__} was fitted."
        )


def _check_source(
    estimator: BaseEstimator, source: ColumnSource, y: Any, sample_weight: Any
) -> tuple[NDArray[np.float64], NDArray[np.float64] | None]:
    """Check what comes with a source, and note down its columns."""
    if y is None:
        raise ValueError(f"{type(estimator).__name__} requires y, but it is None.")
    stand_in = np.zeros((source.shape[0], 1))
    _, y, sample_weight = _check_data(estimator, stand_in, y, sample_weight)
    estimator.n_features_in_ = source.shape[1]
    estimator.__dict__.pop("feature_names_in_", None)
    if source.names is not None:
        if len(source.names) != source.shape[1]:
            raise ValueError(
                f"X: {type(source).__name__}.names has {len(source.names)} entries, but there are "
                f"{source.shape[1]} columns."
            )
        estimator.feature_names_in_ = np.array(source.names, dtype=object)
    return y, sample_weight


def _check_weight(X: Any, sample_weight: Any) -> NDArray[np.float64] | None:
    if sample_weight is None:
        return None
    sample_weight = _check_sample_weight(
        _read_numbers("sample_weight", sample_weight),
        X,
        dtype=np.float64,
        ensure_non_negative=True,
    )
    if not sample_weight.any():
        raise ValueError("sample_weight must not be zero for every row.")
    with np.errstate(over="ignore"):
        total = sample_weight.sum()
    if not np.isfinite(total):
        raise ValueError("sample_weight is too large to be summed; rescale it.")
    return np.ascontiguousarray(sample_weight)


def check_classifier_input(
    estimator: BaseEstimator, X: Any, y: Any, sample_weight: Any
) -> tuple[Any, NDArray[np.float64], NDArray[np.float64] | None]:
    """Check the parameters and what the ``fit`` of a classifier of two classes was given.

    Sets ``classes_``; y comes back as ones where a row is of the second of them, else zeros.
    """
    _check_own_parameters(estimator)
    if y is None:
        raise ValueError(
            f"This {type(estimator).__name__} estimator requires y to be passed, but the target y "
            "is None."
        )
    entries = np.asarray(y)
    if entries.dtype.kind == "O" and any(
        entry is None or type(entry).__name__ in ("NAType", "NaTType") for entry in entries.ravel()
    ):
        raise ValueError("Input y contains NaN: every row needs a class.")
    X, y = validate_table(
        estimator, X, y, accept_sparse="csc", dtype=[np.float64, np.float32], multi_output=False
    )
    check_classification_targets(y)
    kind = type_of_target(y, input_name="y", raise_unknown=True)
    if kind != "binary":
        raise ValueError(
            f"Only binary classification is supported. The type of the target is {kind}."
        )
    estimator.classes_, codes = np.unique(y, return_inverse=True)
    if len(estimator.classes_) < 2:
        only = estimator.classes_.tolist()[0]
        raise ValueError(f"y must hold two classes, but all rows are of one class, {only!r}.")
    return X, codes.reshape(-1).astype(np.float64), _check_weight(X, sample_weight)


def routed_to_splitter(estimator: BaseEstimator, sample_weight: Any, groups: Any) -> dict[str, Any]:
    """Return what a splitter is given: ``groups``, or what metadata routing says if it is on."""
    if not _routing_enabled():
        return {"groups": groups}
    given = {"sample_weight": sample_weight, "groups": groups}
    given = {name: value for name, value in given.items() if value is not None}
    routed: dict[str, Any] = process_routing(estimator, "fit", **given).splitter.split
    return routed


@contextmanager
def unchanged_on_error(estimator: BaseEstimator) -> Iterator[None]:
    """Leave an estimator as it was if fitting it fails or is interrupted."""
    before = dict(vars(estimator))
    try:
        yield
    except BaseException:
        vars(estimator).clear()
        vars(estimator).update(before)
        raise
