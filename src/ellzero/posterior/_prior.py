"""From the parameters of a spike-and-slab model to the prior that the core samples under."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import betaln, gammaln

from ellzero import _core
from ellzero._columns import column_name
from ellzero.posterior._by_unit import Kind, positions_of, resolve_by_unit
from ellzero.posterior._flat import FlatTerms
from ellzero.regression._units import Units

__all__ = [
    "PriorSettings",
    "check_ratio",
    "check_scaled_ratio",
    "check_sigma",
    "expected_size_of",
    "gaussian_twin",
    "log_evidence_constant",
    "log_likelihood_constant",
    "make_prior",
    "noise_prior",
    "resolve_slab_scale",
    "resolve_theta",
]

# Those of BoomSpikeSlab: the noise prior is worth this many rows, and expects this share of the
# variance of y to be explained.
_DEGREES = 0.01
_EXPECTED_R2 = 0.5
# BoomSpikeSlab's slab: the prior is worth this many rows, and half of it is diagonal.
_BOOM_ROWS = 0.01
_BOOM_DIAGONAL = 0.5
# A Laplace slab has more of its mass near zero: the prior of its variance is so many times wider.
_LAPLACE_WIDER = 2.0
# How many variables are expected before the data: at most, and as a share of the columns.
_SIZES = {"selection": (2.0, 0.25), "zellner-siow": (2.0, 0.25), "prediction": (10.0, 0.5)}
_THETA = Kind("theta", 0, 1, "probability", "probabilities")
# Beyond these a Gram matrix could not tell a slab from none, or from a flat one.
_SCALE = Kind("slab_scale", 1e-3, 1e3, "scale", "scales")


class PriorSettings(NamedTuple):
    """What the user said, checked."""

    theta: NDArray[np.float64] | None  # by column; None if it is learned
    sigma_beta: float | None  # None if learned, or not part of the slab
    sigma_e: float | None  # None if learned
    expected_size: float
    slab: str
    g: float | None
    scale_prior: str
    slab_scale: NDArray[np.float64] | None = None  # by unit; None if all are one


def expected_size_of(
    expected_size: float | None,
    n_columns: int,
    scale_prior: str = "prediction",
    what: str = "columns of X",
) -> float:
    """Return the number of variables expected before the data.

    If it is not given: 2, or a quarter of fewer than 8; for prediction 10, or half of fewer than
    20.
    """
    if expected_size is None:
        most, share = _SIZES[scale_prior]
        return min(most, share * n_columns)
    if isinstance(expected_size, bool) or not expected_size >= 1e-6:
        raise ValueError(f"expected_size must be at least 1e-6; got {expected_size!r}.")
    if not expected_size < n_columns:
        raise ValueError(
            f"expected_size={expected_size!r} must be less than the number of {what}, {n_columns}."
        )
    return float(expected_size)


def resolve_theta(
    theta: Any,
    n_columns: int,
    names: Any,
    otherwise: float,
    *,
    position: Mapping[Any, int] | None = None,
) -> NDArray[np.float64] | None:
    """Turn a number, an array, a mapping or a Series into one probability per column.

    Or per group: then ``position`` says which one each name means.
    """
    if isinstance(theta, str):  # "learn", the only one that parameters are checked to be
        return None
    return resolve_by_unit(_THETA, theta, n_columns, names, otherwise, position=position)


def resolve_slab_scale(
    slab_scale: Any,
    slab: str,
    n_columns: int,
    names: Any,
    units: Units | None,
    flat: NDArray[np.int64],
) -> NDArray[np.float64] | None:
    """Return the scale of the slab of each column, or group; None if all are one."""
    if slab_scale is None:
        return None
    if slab in ("zellner", "boom"):
        raise ValueError(f"slab_scale is not part of slab={slab!r}; leave it out.")
    labels, count, position = names, n_columns, None
    if units is not None:
        labels, count, position = units.names, units.count, positions_of(units, names)
    scale = resolve_by_unit(_SCALE, slab_scale, count, labels, 1.0, position=position)
    named = flat[scale[flat] != 1]
    if named.size and np.ndim(slab_scale) == 0:  # a mapping: an array has to have something there
        name = column_name(int(named[0]), labels)
        raise ValueError(f"slab_scale names {name!r}, which is flat: it has no slab.")
    return scale


def make_prior(
    design: _core.Quadratic,
    settings: PriorSettings,
    forced: NDArray[np.int64],
    *,
    fit_intercept: bool,
    names: Any = None,
    theta_b: float | None = None,
    flat: FlatTerms | None = None,
    total: float | None = None,
) -> _core.SpikeSlabPrior:
    """Make the core's prior; defaults are scaled to the data: to ``total``, or to y'y.

    With s^2 the variance of y, sigma_e^2 ~ IG(.005, .0025 s^2) as in BoomSpikeSlab. ``forced``,
    ``names`` and theta are of units: columns, unless ``names`` are those of groups. A theta that is
    learned is Beta(1, theta_b), by default with a mean of ``expected_size`` columns. ``flat`` are
    terms that were taken out of the design.
    """
    rank, n_flat = (0, 0) if flat is None else (flat.rank, flat.units.size)
    prior = _core.SpikeSlabPrior()
    prior.slab = getattr(_core.Slab, settings.slab)
    prior.noise, degrees, total = noise_prior(
        design, settings.sigma_e, fit_intercept=fit_intercept, rank=rank, total=total
    )
    left = 1.0 if flat is None else flat.mean_square_share()
    prior.slab_variance = _slab_variance(settings, total, design, prior.noise, left)
    prior.degrees = degrees
    if settings.slab == "zellner":
        prior.g = design.weight if settings.g is None else settings.g
    if settings.slab == "boom":
        prior.information = _BOOM_ROWS / design.weight
        prior.diagonal = _BOOM_DIAGONAL
        prior.degrees = design.weight - rank  # its intercept has a prior too
    log_odds = np.zeros(design.columns if names is None else len(names))
    if settings.theta is None:
        prior.learn_theta = True
        prior.theta_a = 1.0
        count = log_odds.size - n_flat
        prior.theta_b = count / settings.expected_size - 1 if theta_b is None else theta_b
    else:
        with np.errstate(divide="ignore"):
            log_odds = np.log(settings.theta) - np.log1p(-settings.theta)
    named = {"always_include": forced}
    if flat is not None:
        named["flat"] = flat.units
    for argument, units in named.items():
        contrary = units[log_odds[units] == -np.inf]
        if contrary.size:
            raise ValueError(
                f"{argument} names column {column_name(int(contrary[0]), names)!r}, but theta is 0 "
                "there."
            )
        log_odds[units] = np.inf
    prior.log_odds = log_odds.tolist()
    if settings.slab in ("gaussian", "laplace"):
        prior.scales = _scales(settings.slab_scale, flat)
    return prior


def _scales(slab_scale: NDArray[np.float64] | None, flat: FlatTerms | None) -> list[float]:
    """Return the scales of the slabs as the core has them: of what flat terms leave of a unit.

    What is left of a column has norm a, and is scaled to unit norm: its coefficient is a times as
    large, and so is its slab.
    """
    if slab_scale is None and flat is None:
        return []
    given = 1.0 if slab_scale is None else slab_scale
    left = 1.0 if flat is None else flat.shares()
    return [float(scale) for scale in np.asarray(given * left)]


def _slab_variance(
    settings: PriorSettings,
    total: float,
    design: _core.Quadratic,
    noise: _core.Variance,
    left: float,
) -> _core.Variance:
    """Return the prior of sigma_beta^2, for y with a sum of squares ``total``.

    "selection": IG(1, v) with v such that one variable explains half of y; "prediction": such that
    ``expected_size`` of them do. "zellner-siow": sigma_beta^2 / sigma_e^2 ~ IG(1/2, n/2). Where
    flat terms leave a share ``left`` of the squares of a column, on average, it explains so much
    less than its coefficient would have it, and the coefficient is expected to be as much larger.
    """
    if settings.scale_prior == "zellner-siow" and settings.sigma_beta is None:
        rows = design.weight / left
        out = _variance(None, 0.5, 0.5 * rows, rows * noise.value)
        out.relative = True
        return out
    share = _EXPECTED_R2 * total / left
    if settings.slab in ("zellner", "boom"):  # the search for a start has its ridge from here
        share /= expected_size_of(None, design.columns)
    elif settings.scale_prior == "prediction":
        share /= settings.expected_size
    elif settings.slab == "laplace":
        share *= _LAPLACE_WIDER
    return _variance(settings.sigma_beta, 1.0, share, share)


def noise_prior(
    design: _core.Quadratic,
    sigma_e: float | None,
    *,
    fit_intercept: bool,
    rank: int = 0,
    total: float | None = None,
) -> tuple[_core.Variance, float, float]:
    """Return the prior of sigma_e^2, the degrees of freedom of y, and its sum of squares.

    ``rank`` is that of what was taken out of y beside the intercept. The sum of squares is y'y, or
    the ``total`` given.
    """
    degrees = design.weight - rank - (1 if fit_intercept else 0)
    if total is None:
        total = design.yy if design.yy > 0 else max(degrees, 1.0)
    variance = total / degrees if degrees > 0 else total
    left = (1 - _EXPECTED_R2) * variance
    return _variance(sigma_e, 0.5 * _DEGREES, 0.5 * _DEGREES * left, left), degrees, total


def gaussian_twin(prior: _core.SpikeSlabPrior) -> _core.SpikeSlabPrior:
    """Return the same prior with a Gaussian slab, for searches that know no Laplace."""
    twin = _core.SpikeSlabPrior()
    for name in (
        "noise",
        "slab_variance",
        "learn_theta",
        "theta_a",
        "theta_b",
        "log_odds",
        "scales",
        "degrees",
    ):
        setattr(twin, name, getattr(prior, name))
    return twin


def _variance(sigma: float | None, shape: float, rate: float, start: float) -> _core.Variance:
    """Return what is given, or the prior of what is learned, with the value to start from."""
    out = _core.Variance()
    out.learned = sigma is None
    if sigma is None:
        out.shape, out.rate, out.value = shape, rate, start
    else:
        out.value = sigma**2
    return out


def check_sigma(name: str, value: Any) -> float | None:
    """Return a standard deviation as a float; None for "learn"."""
    if isinstance(value, str):
        return None
    sigma = math.nan if isinstance(value, bool) else float(value)
    if sigma == math.inf and name == "sigma_beta":
        raise ValueError(
            "sigma_beta must be finite: under a flat slab the posterior is the empty model, "
            "whatever the data."
        )
    if not 1e-120 < sigma < 1e120:
        raise ValueError(f"{name} must be a number between 1e-120 and 1e120; got {value!r}.")
    return sigma


def check_ratio(sigma_e: float | None, sigma_beta: float | None) -> None:
    """Refuse a ratio at which the slab, numerically, is flat or absent."""
    if sigma_e is None or sigma_beta is None:
        return
    if not 1e-5 <= sigma_e / sigma_beta <= 1e5:
        raise ValueError(
            f"sigma_beta={sigma_beta:g} is too far from sigma_e={sigma_e:g}: their ratio must be "
            "between 1e-5 and 1e5."
        )


def check_scaled_ratio(
    sigma_e: float | None, sigma_beta: float | None, slab_scale: NDArray[np.float64] | None
) -> None:
    """Do the same for slabs with scales of their own."""
    if sigma_e is None or sigma_beta is None or slab_scale is None:
        return
    for scale in (float(slab_scale.min()), float(slab_scale.max())):
        if not 1e-5 <= sigma_e / (scale * sigma_beta) <= 1e5:
            raise ValueError(
                f"slab_scale={scale:g} times sigma_beta={sigma_beta:g} is too far from "
                f"sigma_e={sigma_e:g}: their ratio must be between 1e-5 and 1e5."
            )


def log_evidence_constant(
    prior: _core.SpikeSlabPrior, theta: NDArray[np.float64] | None, n_free: int
) -> float:
    """Return what the core leaves out of the log density of y: what is the same for all models.

    The density is of y up to shifts, if there is an intercept: that of n - 1 contrasts.
    """
    if theta is not None:
        return log_likelihood_constant(prior, float(np.log1p(-theta).sum()))
    a, b = prior.theta_a, prior.theta_b
    return log_likelihood_constant(prior, -float(betaln(a, b) + gammaln(a + b + n_free)))


def log_likelihood_constant(prior: _core.SpikeSlabPrior, of_models: float = 0.0) -> float:
    """Return that of it which is no part of the prior over models, and add what is."""
    value = -0.5 * prior.degrees * math.log(2 * math.pi) + of_models
    noise, slab_variance = prior.noise, prior.slab_variance
    gaussian = prior.slab == _core.Slab.gaussian
    if noise.learned:
        value += noise.shape * math.log(noise.rate) - float(gammaln(noise.shape))
        if not gaussian or slab_variance.learned:  # sigma_e was integrated out
            slab = slab_variance.shape if gaussian and not slab_variance.relative else 0.0
            value += float(gammaln(noise.shape + slab + 0.5 * prior.degrees))
    else:
        value -= 0.5 * prior.degrees * math.log(noise.value)
    if gaussian and slab_variance.learned:
        value += slab_variance.shape * math.log(slab_variance.rate) - float(
            gammaln(slab_variance.shape)
        )
        if not noise.learned and not slab_variance.relative:
            value -= slab_variance.shape * math.log(noise.value)
    return value
