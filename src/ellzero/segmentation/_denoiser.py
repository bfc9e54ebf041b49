"""Denoising as a step of a scikit-learn pipeline."""

from __future__ import annotations

from numbers import Integral
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ellzero._estimators import RowTransformer
from ellzero._sklearn import StrOptions
from ellzero.segmentation._choose import How
from ellzero.segmentation._noise import CORRELATION, NOISE
from ellzero.segmentation._segment import LAM, segment_series
from ellzero.segmentation._series import DECAY, JUMPS, PRICE, Series, check_size, threads_for

__all__ = ["L0SegmentDenoiser"]


class L0SegmentDenoiser(RowTransformer):
    r"""Replace every row, a series in time, by its segments.

    Each row y becomes the signal c that minimises

    .. math:: \tfrac12 \sum_t (y_t - c_t)^2
              + \mathrm{lam} \sum_{t > 0} I(c_t \ne \mathrm{decay}\; c_{t-1})

    exactly, or the corresponding one for correlated noise: see :func:`segment`. Rows are
    independent, and nothing is learned from those of ``fit`` but their length.

    Parameters
    ----------
    lam : float, "auto", "bic" or "cv", default="auto"
        The price of a jump, in squared units of the rows, or how to choose it for each row.
    decay : float, default=1.0
        What the signal is multiplied by from one column to the next, above 0 and up to 1.
    jumps : {"free", "positive"}, default="free"
        Whether jumps may go down.
    noise : {"auto", "white", "ar1"} or float, default="auto"
        Whether the noise is correlated from column to column; see :func:`segment`.
    solver : {"functional", "pelt", "dp"}, default="functional"
        All are exact; the first is the fastest.
    rule : {"min", "1se"}, default="min"
        For ``lam="cv"``.
    n_jobs : int, default=None
        How many rows are solved at a time; see :func:`segment`.

    Attributes
    ----------
    n_features_in_ : int
        The number of samples in a row.
    feature_names_in_ : ndarray of str
        The names of the columns, if they have names that are all strings.

    Examples
    --------
    >>> import numpy as np
    >>> from ellzero import L0SegmentDenoiser
    >>> rows = np.array([[0.1, -0.1, 0.0, 3.1, 2.9], [1.0, np.nan, 1.0, 1.0, 1.0]])
    >>> L0SegmentDenoiser(lam=0.5).fit_transform(rows)
    array([[0., 0., 0., 3., 3.],
           [1., 1., 1., 1., 1.]])
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "lam": [PRICE, LAM],
        "decay": [DECAY],
        "jumps": [JUMPS],
        "noise": [NOISE, CORRELATION],
        "solver": [StrOptions({"functional", "pelt", "dp"})],
        "rule": [StrOptions({"min", "1se"})],
        "n_jobs": [Integral, None],
    }

    def __init__(
        self,
        lam: float | str = "auto",
        *,
        decay: float = 1.0,
        jumps: str = "free",
        noise: str | float = "auto",
        solver: str = "functional",
        rule: str = "min",
        n_jobs: int | None = None,
    ) -> None:
        self.lam = lam
        self.decay = decay
        self.jumps = jumps
        self.noise = noise
        self.solver = solver
        self.rule = rule
        self.n_jobs = n_jobs

    def _transform_rows(self, X: NDArray[np.float64]) -> NDArray[np.float64]:
        check_size(X, X.shape[1], "X")
        found = segment_series(
            [Series(row, None, None) for row in np.ascontiguousarray(X)],
            self.lam,
            self.decay,
            How(
                self.jumps == "positive",
                self.noise,
                self.solver,
                self.rule,
                threads_for(self.n_jobs),
            ),
            type(self).__name__,
        )
        return np.array([one.signal for one in found])
