"""How often variables are chosen on halves of the rows."""

from __future__ import annotations

from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ellzero._columns import column_name
from ellzero._sklearn import Interval, check_parameters

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

__all__ = ["HalfModels", "Stability"]

_Rows = NDArray[np.int64]
_Floats = NDArray[np.float64]


class HalfModels(NamedTuple):
    """The best models of a half, one after the other."""

    begins: _Rows  # where each begins in the arrays that follow, and the end
    support: _Rows
    signs: _Floats


class Stability:
    """How often variables are chosen on halves of the rows: made by :func:`stability`.

    Attributes
    ----------
    sizes : ndarray of int
        The sizes that every half has a model of, from the number of columns always included on.
    frequencies : ndarray of shape (sizes, columns)
        Observed frequency of each variable: the share of halves whose best model of a size has it.
    signs : ndarray of shape (sizes, columns)
        The mean sign of its coefficient where it is in, from -1 to 1; NaN where it never is.
    size : int
        The size that EBIC chooses on all rows, or the largest of ``sizes`` if that is less.
    halves : list of ndarray of int
        The rows of each half; those of a pair follow each other.
    feature_names : ndarray of str, or None
        The names of the columns of X, if it had names that are all strings.
    """

    def __init__(
        self,
        halves: list[_Rows],
        models: list[HalfModels],
        forced: _Rows,
        n_columns: int,
        size: int,
        names: Any,
    ) -> None:
        count = min(len(found.begins) for found in models) - 1
        first = int(models[0].begins[1])
        self.halves, self._models = halves, models
        self.sizes = np.arange(first, first + count)
        self.size = min(size, int(self.sizes[-1]))
        self.feature_names = names
        self._forced = forced
        place = np.repeat(np.arange(count), self.sizes)
        support = np.concatenate([found.support[: len(place)] for found in models])
        signs = np.concatenate([found.signs[: len(place)] for found in models])
        where = np.tile(place * n_columns, len(models)) + support
        shape = (count, n_columns)
        chosen = np.bincount(where, minlength=count * n_columns).reshape(shape)
        signed = np.bincount(where, weights=signs, minlength=count * n_columns).reshape(shape)
        self.frequencies = chosen / len(halves)
        self.signs = np.divide(signed, chosen, out=np.full(shape, np.nan), where=chosen > 0)

    def __repr__(self) -> str:
        return (
            f"<Stability: {len(self.halves)} halves, sizes {self.sizes[0]} to {self.sizes[-1]} of "
            f"{self.frequencies.shape[1]} columns>"
        )

    def _repr_html_(self) -> str:
        from ellzero._notebook import show_stability

        return show_stability(self)

    @property
    def supports(self) -> list[list[_Rows]]:
        """The columns of the best model known, by half and size."""
        count = len(self.sizes)
        return [
            np.split(found.support[: found.begins[count]], found.begins[1:count])
            for found in self._models
        ]

    def _place(self, size: int | None) -> int:
        size = self.size if size is None else size
        if not isinstance(size, Integral) or not self.sizes[0] <= size <= self.sizes[-1]:
            raise ValueError(
                f"size={size!r} is not one of the sizes known, {self.sizes[0]} to {self.sizes[-1]}."
            )
        return int(size) - int(self.sizes[0])

    def _free(self) -> NDArray[np.bool_]:
        free = np.ones(self.frequencies.shape[1], dtype=bool)
        free[self._forced] = False
        return free

    def selected(self, threshold: float = 0.9, size: int | None = None) -> NDArray[np.int64]:
        """Return the variables that are chosen on most halves.

        Parameters
        ----------
        threshold : float, default=0.9
            The least observed frequency, above 0 and at most 1.
        size : int, default=None
            The size of the models; None means ``size``, that of EBIC on all rows.

        Returns
        -------
        ndarray of int
            Sorted column indices, without those that are always included.

        Examples
        --------
        >>> from ellzero import stability
        >>> from ellzero.datasets import load_diabetes_interactions
        >>> diabetes = load_diabetes_interactions()
        >>> found = stability(diabetes.data, diabetes.target)
        >>> [str(diabetes.feature_names[j]) for j in found.selected()]
        ['bmi', 'map', 'ltg']
        """
        check_parameters(
            "Stability.selected",
            {"threshold": [Interval(Real, 0, 1, closed="right")]},
            threshold=threshold,
        )
        often = self.frequencies[self._place(size)] >= float(threshold) - 1e-12
        return np.flatnonzero(often & self._free())

    def bound(self, threshold: float = 0.9, size: int | None = None) -> float:
        """Bound how many variables of low selection probability are expected among the selected.

        With q variables chosen out of p (those always included not counted), at most
        ``q^2 / ((2 threshold - 1) p)`` of the selected variables are expected to be such that are
        chosen on a half with probability q/p or less (Shah and Samworth 2013). These are the false
        ones if no noise variable is chosen more often than an average variable would be, and the
        bound is for a size that was fixed beforehand. It assumes nothing else; their tighter bounds
        need frequencies that are unimodal or r-concave.

        Parameters
        ----------
        threshold : float, default=0.9
            As of :meth:`selected`; above one half.
        size : int, default=None
            The size of the models; None means ``size``, which was chosen on the same rows.

        Returns
        -------
        float
            The bound.

        Examples
        --------
        >>> from ellzero import stability
        >>> from ellzero.datasets import make_collinear
        >>> X, y, beta = make_collinear(random_state=0)
        >>> round(stability(X, y, max_size=10).bound(0.9, 5), 3)
        0.312
        """
        check_parameters(
            "Stability.bound",
            {"threshold": [Interval(Real, 0.5, 1, closed="right")]},
            threshold=threshold,
        )
        q = int(self.sizes[self._place(size)]) - int(self.sizes[0])
        p = int(np.count_nonzero(self._free()))
        return q**2 / ((2 * float(threshold) - 1) * p) if p else 0.0

    def to_frame(self, size: int | None = None) -> pd.DataFrame:
        """Tabulate the variables that are chosen on some half, the most frequent first.

        Parameters
        ----------
        size : int, default=None
            The size of the models; None means ``size``, that of EBIC on all rows.

        Returns
        -------
        pandas.DataFrame
            Indexed by variable: the observed ``frequency``, the ``sign`` that its coefficient
            mostly has, 1 or -1, and ``same_sign``, the share of the halves that choose it in which
            it has that sign. Of a group of several columns, 0 and NaN.

        Examples
        --------
        >>> from ellzero import stability
        >>> from ellzero.datasets import load_diabetes_interactions
        >>> diabetes = load_diabetes_interactions()
        >>> table = stability(diabetes.data, diabetes.target).to_frame(3)
        >>> print(table.head(4))  # doctest: +NORMALIZE_WHITESPACE
                  frequency  sign  same_sign
        variable
        ltg            1.00     1        1.0
        bmi            0.99     1        1.0
        map            0.42     1        1.0
        tc             0.10    -1        1.0
        """
        import pandas as pd  # here, so that `import ellzero` does not wait for it

        place = self._place(size)
        frequency, sign = self.frequencies[place], self.signs[place]
        order = np.argsort(-frequency, kind="stable")[: np.count_nonzero(frequency)]
        index = [column_name(j, self.feature_names) for j in order]
        return pd.DataFrame(
            {
                "frequency": frequency[order],
                "sign": np.where(np.isnan(sign[order]), 0, np.where(sign[order] < 0, -1, 1)),
                "same_sign": (1 + np.abs(sign[order])) / 2,
            },
            index=pd.Index(index, name="variable", dtype=object),
        )

    def stand_ins(self, size: int | None = None, least: float = 0.1) -> pd.DataFrame:
        """List pairs of variables that take each other's place.

        Parameters
        ----------
        size : int, default=None
            The size of the models; None means ``size``, that of EBIC on all rows.
        least : float, default=0.1
            The least observed frequency of both.

        Returns
        -------
        pandas.DataFrame
            A row for each pair that is in together less often than chance would have it, the
            clearest first: ``variable``, the more frequent of the two, and ``stand_in``; how often
            ``either`` is in, at least one of them, and how often ``both`` are.

        Examples
        --------
        Cholesterols share what they know:

        >>> from ellzero import stability
        >>> from ellzero.datasets import load_diabetes_interactions
        >>> diabetes = load_diabetes_interactions()
        >>> pairs = stability(diabetes.data, diabetes.target).stand_ins()
        >>> print(pairs.head(3).to_string(index=False))
        variable stand_in  either  both
             hdl       tc    0.80  0.00
             hdl      ldl    0.68  0.00
         age:sex  bmi:map    0.77  0.13
        """
        import pandas as pd  # here, so that `import ellzero` does not wait for it

        check_parameters(
            "Stability.stand_ins", {"least": [Interval(Real, 0, 1, closed="both")]}, least=least
        )
        place = self._place(size)
        frequency = self.frequencies[place]
        often = np.flatnonzero((frequency >= max(float(least), 1e-12)) & self._free())
        often = often[np.argsort(-frequency[often], kind="stable")]
        member = np.zeros((len(self.halves), self.frequencies.shape[1]), dtype=bool)
        for half, found in enumerate(self._models):
            member[half, found.support[found.begins[place] : found.begins[place + 1]]] = True
        inside = member[:, often].astype(float)
        both = inside.T @ inside / len(self.halves)
        rows = []
        for a in range(len(often)):
            for b in range(a + 1, len(often)):
                lack = frequency[often[a]] * frequency[often[b]] - both[a, b]
                if lack > 1e-12:
                    either = frequency[often[a]] + frequency[often[b]] - both[a, b]
                    names = [column_name(often[k], self.feature_names) for k in (a, b)]
                    rows.append((lack, *names, either, both[a, b]))
        rows.sort(key=lambda row: -row[0])
        return pd.DataFrame(
            [row[1:] for row in rows], columns=["variable", "stand_in", "either", "both"]
        )

    def plot(self, *, ax: Axes | None = None) -> Axes:
        """Draw observed frequencies against the size of the models.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, default=None
            Where to draw; None makes a figure.

        Returns
        -------
        matplotlib.axes.Axes
            What was drawn on: a line for each variable, those that come to one half in colour, and
            a mark at the size that EBIC chooses on all rows.

        Examples
        --------
        >>> from ellzero import stability
        >>> from ellzero.datasets import make_collinear
        >>> X, y, beta = make_collinear(random_state=0)
        >>> stability(X, y, n_pairs=10).plot().get_ylabel()
        'observed frequency on halves'
        """
        from ellzero.plotting import draw_stability  # here, so that nobody waits for matplotlib

        return draw_stability(self, ax=ax)
