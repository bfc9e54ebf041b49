"""Whether chains have mixed, by ArviZ's rank-normalised R-hat and effective sample sizes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["coefficient_problem", "diagnose", "mixing_problem", "standard_deviations"]

_R_HAT = 1.05
_SPREAD = 0.05


def diagnose(series: list[tuple[str, NDArray[np.floating]]]) -> pd.DataFrame:
    """Tabulate R-hat, effective sample sizes and Monte Carlo errors of (chain, draw) arrays."""
    import pandas as pd
    from arviz_stats.base import array_stats

    rows = []
    for _, draws in series:
        values = np.asarray(draws, dtype=np.float64)
        if np.ptp(values) == 0:  # a variable that is always, or never, in
            rows.append((1.0, float(values.size), float(values.size), 0.0))
            continue
        with np.errstate(all="ignore"):  # chains that stand still
            rows.append(
                (
                    float(array_stats.rhat(values)) if values.shape[0] > 1 else np.nan,
                    float(array_stats.ess(values, method="bulk")),
                    float(array_stats.ess(values, method="tail", prob=(0.05, 0.95))),
                    float(array_stats.mcse(values, method="mean")),
                )
            )
    index = pd.Index([name for name, _ in series], dtype=object)
    return pd.DataFrame(rows, columns=["r_hat", "ess_bulk", "ess_tail", "mcse"], index=index)


def standard_deviations(draws: NDArray[np.float64], axis: int) -> NDArray[np.float64]:
    """Return those over one axis, of numbers whose squares may be beyond all numbers."""
    _, exponent = np.frexp(np.abs(draws).max(axis=axis, keepdims=True))
    deviations = np.ldexp(draws, -exponent).std(axis=axis, keepdims=True)
    return np.asarray(np.ldexp(deviations, exponent).squeeze(axis))


def mixing_problem(
    conditional: NDArray[np.float32], size: NDArray[np.int64], names: list[str]
) -> str:
    """Say in words what has not mixed; nothing if all looks well.

    Looks at the model size and at those few variables whose inclusion probability differs most
    between chains.
    """
    from arviz_stats.base import array_stats

    n_chains, n_draws = size.shape
    if n_chains < 2 or n_draws < 4:
        return ""
    by_chain = conditional.mean(axis=1, dtype=np.float64)
    apart = np.ptp(by_chain, axis=0)

    def rank_r_hat(draws: NDArray[Any]) -> float:
        with np.errstate(all="ignore"):  # chains that stand still
            return float(array_stats.rhat(draws.astype(np.float64)))

    for j in np.argsort(-apart)[:3]:
        if apart[j] <= _SPREAD:
            break
        r_hat = rank_r_hat(conditional[:, :, j])
        if r_hat > _R_HAT:
            low, high = by_chain[:, j].min(), by_chain[:, j].max()
            return (
                f"the chains disagree on {names[j]!r}, whose inclusion probability is {low:.2f} in "
                f"one and {high:.2f} in another (R-hat {r_hat:.2f})"
            )
    if np.ptp(size) > 0:
        r_hat = rank_r_hat(size)
        if r_hat > 2 * _R_HAT - 1:
            return f"the chains disagree on the number of variables (R-hat {r_hat:.2f})"
    return ""


def coefficient_problem(
    coef: NDArray[np.float64], others: dict[str, NDArray[np.float64]], names: list[str]
) -> str:
    """Say in words what has not mixed of coefficients, by chain, draw and column, and of others.

    Looks at those few coefficients whose means differ most between chains, in units of their
    standard deviation within.
    """
    from arviz_stats.base import array_stats

    n_chains, n_draws, n_columns = coef.shape
    if n_chains < 2 or n_draws < 4:
        return ""
    within = standard_deviations(coef, axis=1).mean(axis=0)
    apart = np.ptp(coef.mean(axis=1), axis=0) / np.where(within > 0, within, np.inf)
    worst = np.argsort(-apart)[: min(3, n_columns)]
    series = [(repr(names[j]), coef[:, :, j]) for j in worst]
    for name, values in [*series, *others.items()]:
        if np.ptp(values) > 0:
            with np.errstate(all="ignore"):  # chains that stand still
                r_hat = float(array_stats.rhat(values))
            if r_hat > 2 * _R_HAT - 1:
                return f"the chains disagree on {name} (R-hat {r_hat:.2f})"
    return ""
