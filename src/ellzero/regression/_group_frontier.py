"""The solution path through the best sets of groups."""

from __future__ import annotations

import math
import threading
from dataclasses import dataclass
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

import numpy as np
from numpy.typing import NDArray

from ellzero import _core
from ellzero._columns import column_name
from ellzero._engine import make_engine, thread_count
from ellzero._sklearn import Interval, check_parameters
from ellzero.regression._criteria import CRITERIA
from ellzero.regression._frontier import Frontier, _check_criterion, _one_at_a_time
from ellzero.regression._frontier_model import FrontierModel
from ellzero.regression._group_criterion import least_criterion
from ellzero.regression._group_neighbours import best_group_swaps, neighbouring_groups
from ellzero.regression._group_rows import lost_without_each_group
from ellzero.regression._group_search import GroupSearch, UnitModel
from ellzero.regression._losses import Loss
from ellzero.regression._path_lines import PathLines
from ellzero.regression._problem import to_float
from ellzero.regression._removal import correlations_by

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

__all__ = ["GroupFrontier", "GroupModel", "UserTerms"]


@dataclass(frozen=True)
class GroupModel(FrontierModel):
    """One model of a frontier over groups of columns.

    Attributes
    ----------
    support, names, coef, intercept, energy, rss, standardised, interval
        As of :class:`FrontierModel`: of columns.
    removal_cost : ndarray
        For each column of the support: by how much the energy would rise without its group.
    groups : list of str
        The names of its groups.
    units : ndarray of int
        Their places among all groups.
    df : ndarray of int
        For each group: the independent columns that it brought.
    group_cost : ndarray
        For each group: by how much the energy would rise without it, the others refitted.
    price : float
        What ``lam`` is multiplied by: the sum of the factors of groups (or of columns, with
        ``size_in="columns"``) that are not always included.
    counted : int
        Its size, as the frontier counts.
    """

    groups: list[str]
    units: NDArray[np.int64]
    df: NDArray[np.int64]
    group_cost: NDArray[np.float64]
    price: float
    counted: int

    @property
    def size(self) -> int:
        """Its size, in groups or, with ``size_in="columns"``, in columns."""
        return self.counted


class UserTerms(NamedTuple):
    """What turns the fit of some groups into a model in the user's terms."""

    n: float
    total: float
    loss: Loss
    n_columns: int
    names: Any  # of columns, or None
    group_names: list[str]
    home: NDArray[np.int64]  # the group of each column
    rescaling: float

    @classmethod
    def of(cls, search: GroupSearch, names: Any, rescaling: float) -> UserTerms:
        """Return those of the rows that are searched."""
        design, units = search.design, search.units
        how = (design.weight, search.total, search.loss, design.columns)
        return cls(*how, names, units.names, units.home, rescaling)

    def describe(self, model: UnitModel, interval: tuple[float, float] | None) -> GroupModel:
        """Return a model; ``interval`` is where it is the solution."""
        model = model.rescaled(self.rescaling, self.total)
        coef = np.zeros(self.n_columns)
        coef[model.support] = model.beta * model.inverse_scale
        scale = self.loss.scale_of(self.total, self.n) if self.total > 0 else math.inf
        cost = dict(zip(model.units.tolist(), model.costs.tolist(), strict=True))
        return GroupModel(
            support=model.support,
            names=[column_name(j, self.names) for j in model.support],
            coef=coef,
            intercept=model.intercept - float(model.mean @ coef[model.support]),
            energy=model.energy,
            rss=model.rss,
            standardised=model.beta / scale,
            removal_cost=np.array([cost[self.home[j]] for j in model.support]),
            interval=interval,
            groups=[self.group_names[unit] for unit in model.units],
            units=model.units,
            df=model.ranks,
            group_cost=model.costs,
            price=model.price,
            counted=model.size,
        )


class GroupFrontier(Frontier):
    """The best known models made of groups: made by :func:`l0_frontier` when it is given groups.

    Or heredity, prices, signs or limits. It can be pickled and copied; a copy knows its models, but
    has no data to grow on.

    Attributes
    ----------
    sizes : ndarray of int
        The sizes that have a model, in groups or, with ``size_in="columns"``, in columns. There
        may be gaps: sizes without a model, or without one that is better than all smaller ones.
    energies : ndarray
        ``1/2 RSS + 1/2 ridge sum of |X_g b_g|^2`` of the model of each size, in squared units of y;
        with another loss, the negative log-likelihood in the place of half the RSS.
    supports : list of ndarray of int
        The columns of each, sorted.
    lambdas : ndarray
        The breakpoints of the lower convex hull of (price, energy), decreasing.
    hull_sizes : ndarray of int
        The sizes of ``hull_models``, the solutions between them. With ``penalty_factor`` they need
        not be the best of their sizes.
    group_names : list of str
        The names of all groups.
    feature_names : ndarray of str, or None
        The names of the columns of X, if it had names that are all strings.
    """

    def __init__(self, search: GroupSearch, names: Any, rescaling: float = 1.0) -> None:
        self._lock = threading.RLock()
        self.rescaling = rescaling
        self._growing = None
        self._columns: _core.LeastSquares | None = None  # for correlations, if they are asked for
        self._search: GroupSearch | None = search
        self._terms = UserTerms.of(search, names, rescaling)
        self._n, self._total, self.loss = search.design.weight, search.total, search.loss.value
        self._n_columns, self.feature_names = search.design.columns, names
        self.group_names = search.units.names
        self._home = search.units.home
        self._read()

    def _read(self) -> None:
        search = self._searching()
        self._models = search.models()
        self._price_hull = search.hull()
        self.sizes = np.array([model.size for model in self._models])
        self.energies = np.array([model.energy for model in self._models])
        self.supports = [model.support for model in self._models]
        self.lambdas = self._price_hull.lambdas
        self.hull_sizes = np.array([model.size for model in self._price_hull.models])

    def _losses(self) -> NDArray[np.float64]:
        return np.array([model.rss for model in self._models])

    @property
    def hull_models(self) -> list[GroupModel]:
        """The solutions between the breakpoints, by price."""
        with self._lock:
            return [self._describe(model) for model in self._price_hull.models]

    def _searching(self) -> GroupSearch:
        if self._search is None:
            raise ValueError("A copy of a frontier has no data: make it anew with l0_frontier.")
        return self._search

    def __getstate__(self) -> dict[str, Any]:
        return {**super().__getstate__(), "_search": None, "_columns": None}

    def __repr__(self) -> str:
        return (
            f"<GroupFrontier: sizes {self.sizes[0]} to {self.sizes[-1]} of {len(self.group_names)} "
            f"groups of {self._n_columns} columns, {len(self.hull_sizes)} models are solutions for "
            "some lam>"
        )

    def _repr_html_(self) -> str:
        from ellzero._notebook import show_frontier

        return show_frontier(self)

    def _describe(self, model: UnitModel) -> GroupModel:
        return self._terms.describe(model, self._price_hull.interval(model))

    def _place(self, size: int | None) -> int:
        places = np.flatnonzero(self.sizes == size)
        if not isinstance(size, Integral) or not len(places):
            known = ", ".join(str(one) for one in self.sizes[:12])
            more = ", ..." if len(self.sizes) > 12 else ""
            raise ValueError(f"size={size!r} is not one of the sizes known: {known}{more}.")
        return int(places[0])

    def interval(self, size: int) -> tuple[float, float] | None:
        """Return the interval of ``lam`` in which the model of a size is the solution.

        Parameters
        ----------
        size : int
            One of ``sizes``.

        Returns
        -------
        tuple of two floats, or None
            The lower and upper end, in squared units of y; None if it is the solution for no
            ``lam``.

        Examples
        --------
        >>> import numpy as np
        >>> from ellzero import l0_frontier
        >>> X = np.eye(4)[:, :3]
        >>> frontier = l0_frontier(X, [4, 2, 1, 0], feature_groups=[0, 1, 1], fit_intercept=False)
        >>> frontier.interval(1)
        (2.5, 8.0)
        """
        return self._price_hull.interval(self._models[self._place(size)])

    @_one_at_a_time
    def at(
        self, *, size: int | None = None, lam: float | None = None, criterion: str | None = None
    ) -> GroupModel:
        """Return one model: give just one of the arguments.

        Parameters
        ----------
        size : int
            The best known model of this size.
        lam : float
            The solution at this price of a group (of a column, with ``size_in="columns"``), in
            squared units of y.
        criterion : {"bic", "ebic", "ric"}
            The model of least criterion, of the best of each size by groups and by columns: see
            :meth:`criterion`.

        Returns
        -------
        GroupModel
            Groups, support, coefficients and intercept in the user's units.

        Examples
        --------
        >>> import numpy as np
        >>> from ellzero import l0_frontier
        >>> rng = np.random.default_rng(0)
        >>> X = rng.normal(size=(100, 12))
        >>> y = X[:, :3].sum(axis=1) + rng.normal(size=100)
        >>> frontier = l0_frontier(X, y, feature_groups=list("aaabbbcccddd"))
        >>> frontier.at(criterion="ebic").groups
        ['a']
        """
        if sum(argument is not None for argument in (size, lam, criterion)) != 1:
            raise ValueError("at takes just one of size, lam and criterion.")
        if size is not None:
            return self._describe(self._models[self._place(size)])
        if lam is not None:
            return self._describe(self._price_hull.at(self._check_price(lam)))
        _check_criterion("criterion", str(criterion))
        self._check_weight()
        search = self._searching()
        return self._describe(least_criterion(search, str(criterion)))

    def _check_price(self, lam: Any) -> float:
        if not isinstance(lam, Real) or not float(lam) >= 0:
            raise ValueError(f"lam must be a number from 0 to infinity; got {lam!r}.")
        price = to_float("lam", lam)
        if price < self._price_hull.end:
            raise ValueError(
                f"lam={price:g} is below {self._price_hull.end:g}, where models larger than "
                f"{self.sizes[-1]} begin to pay: grow(lam={price:g}) first."
            )
        return price

    def _check_weight(self) -> None:
        if self._n < 1:
            raise ValueError(
                f"sample_weight sums to {self._n:g}, but a criterion takes the sum for the number "
                "of rows: rescale it."
            )

    @_one_at_a_time
    def criterion(self, name: str) -> NDArray[np.float64]:
        """Return an information criterion for every size; the least of these may not be the least.

        Every independent column that entered costs ``log n`` (``2 log p`` for RIC), and EBIC's
        choice is one among sets of groups. So its minimum need not be the best model of its number
        of groups: ``at(criterion=...)`` looks beyond these.

        Parameters
        ----------
        name : {"bic", "ebic", "ric"}
            Which one.

        Returns
        -------
        ndarray
            One for each of ``sizes``.
        """
        _check_criterion("name", name)
        self._check_weight()
        return self._searching().criterion(name, self._models)

    @_one_at_a_time
    def grow(self, max_size: int | None = None, *, lam: float | None = None) -> GroupFrontier:
        """Extend the frontier, going on from what it knows.

        Parameters
        ----------
        max_size : int, default=None
            The largest size to grow to.
        lam : float, default=None
            Instead of a size: grow until the solution at this price is known, and ten sizes beyond.

        Returns
        -------
        GroupFrontier
            This one.
        """
        if (max_size is None) == (lam is None):
            raise ValueError("grow takes max_size or lam, and not both.")
        search = self._searching()
        if max_size is not None:
            size = Interval(Integral, 0, None, closed="left")
            check_parameters("GroupFrontier.grow", {"max_size": [size]}, max_size=max_size)
            search.grow(int(max_size))
        else:
            price = Interval(Real, 0, None, closed="left")
            check_parameters("GroupFrontier.grow", {"lam": [price]}, lam=lam)
            search.cover(to_float("lam", lam), search.largest)
        self._read()
        return self

    @_one_at_a_time
    def to_frame(self) -> pd.DataFrame:
        """Tabulate the models, a row for each size.

        Returns
        -------
        pandas.DataFrame
            Indexed by ``size``: ``energy``, ``r2`` (of a likelihood ``d2``), ``df`` (independent
            columns), ``price``, the interval of ``lam`` in which it is the solution (NaN if there
            is none), the criteria ``bic``, ``ebic`` and ``ric``, and its ``groups``.
        """
        import pandas as pd  # here, so that `import ellzero` does not wait for it

        models = [self._describe(model) for model in self._models]
        none = (math.nan, math.nan)
        total = self._total if self._total > 0 else 1.0
        explained = "r2" if self.loss == "squared" else "d2"
        criteria = self._n >= 1 and self._search is not None
        return pd.DataFrame(
            {
                "energy": self.energies,
                explained: [1 - model.rss / total if self._total > 0 else 0.0 for model in models],
                "df": [int(model.df.sum()) for model in models],
                "price": [model.price for model in models],
                "lam_low": [(model.interval or none)[0] for model in models],
                "lam_high": [(model.interval or none)[1] for model in models],
                **({name: self.criterion(name) for name in CRITERIA} if criteria else {}),
                "groups": [model.groups for model in models],
            },
            index=pd.Index(self.sizes, name="size"),
        )

    def certify(self, **_: Any) -> NoReturn:
        """Refuse: a proof over groups is not known yet."""
        raise ValueError("certify proves models of single columns: not of groups or under rules.")

    @_one_at_a_time
    def neighbours(
        self, size: int, within: float | None = None, *, lam: float | None = None
    ) -> pd.DataFrame:
        """List the models one move away that are nearly as good, each refitted.

        A group enters with the parents that it lacks, and leaves with what needs it; swaps are for
        groups that can enter alone. All keep the rules.

        Parameters
        ----------
        size : int
            One of ``sizes``.
        within : float, default=None
            How much greater the objective may be; None means ``lam``.
        lam : float, default=None
            The price at which objectives are compared, in squared units of y; None means the middle
            of the size's interval, or where it comes nearest to having one.

        Returns
        -------
        pandas.DataFrame
            The best first: the ``move`` ("swap", "insert", "remove"), the groups that ``enters``
            and ``leaves`` (several are separated by commas), the ``loss``, by how much the
            objective is greater, and the ``energy``.

        Examples
        --------
        >>> import numpy as np
        >>> from ellzero import l0_frontier
        >>> X = np.eye(4)[:, :3]
        >>> frontier = l0_frontier(X, [4, 2, 1, 0], feature_groups=[0, 1, 1], fit_intercept=False)
        >>> frontier.neighbours(1, within=10).loc[0, ["move", "enters"]].tolist()
        ['insert', '1']
        """
        return self._neighbours_of(self._models[self._place(size)], lam, within)

    @_one_at_a_time
    def stand_ins(self, size: int, count: int = 3) -> pd.DataFrame:
        """List, for each group of a model that can leave alone, those that could take its place.

        Parameters
        ----------
        size : int
            One of ``sizes``.
        count : int, default=3
            How many for each group.

        Returns
        -------
        pandas.DataFrame
            A row for each swap, by group and the best first: the group that ``leaves``, the one
            that ``enters``, the ``rise`` of the energy, in squared units of y, and their
            ``correlation``: the largest between combinations of their columns, without a sign but
            for two groups of one column.

        Examples
        --------
        >>> import numpy as np
        >>> from ellzero import l0_frontier
        >>> rng = np.random.default_rng(0)
        >>> X = rng.normal(size=(50, 4))
        >>> frontier = l0_frontier(X, X[:, 0] + X[:, 1], feature_groups=["a", "a", "b", "b"])
        >>> frontier.stand_ins(1)[["leaves", "enters"]].values.tolist()
        [['a', 'b']]
        """
        many = Interval(Integral, 1, None, closed="left")
        check_parameters("GroupFrontier.stand_ins", {"count": [many]}, count=count)
        return self._stand_ins_of(self._models[self._place(size)], int(count))

    def _unit_model(self, model: GroupModel) -> UnitModel:
        return self._searching().fit(model.units)

    @_one_at_a_time
    def _r2_of(self, supports: list[NDArray[np.int64]]) -> NDArray[np.float64]:
        """Return the R2 of some sets of groups, at the ridge and with the rescaling."""
        search, total = self._searching(), self._total if self._total > 0 else 1.0
        fits = [search.fit(units).rescaled(self.rescaling, self._total) for units in supports]
        return np.array([1 - fit.rss / total for fit in fits])

    @_one_at_a_time
    def _neighbours_of(
        self, model: UnitModel, lam: float | None, within: float | None
    ) -> pd.DataFrame:
        search = self._searching()
        price = Interval(Real, 0, None, closed="left")
        constraints = {"within": [price, None], "lam": [price, None]}
        check_parameters("GroupFrontier.neighbours", constraints, lam=lam, within=within)
        lam = self._price_hull.fair_price(model) if lam is None else to_float("lam", lam)
        within = lam if within is None else to_float("within", within)
        return neighbouring_groups(search, model, lam, within)

    @_one_at_a_time
    def _stand_ins_of(self, model: UnitModel, count: int) -> pd.DataFrame:
        search = self._searching()
        table = best_group_swaps(search, model, count)
        place = {name: unit for unit, name in enumerate(self.group_names)}
        table["correlation"] = [
            self._correlation(place[out], place[into])
            for out, into in zip(table["leaves"], table["enters"], strict=True)
        ]
        return table.astype({"correlation": np.float64})

    def _correlation(self, unit: int, other: int) -> float:
        """Return the largest correlation of combinations of columns of two groups."""
        columns = self._searching().units.columns
        own, its = columns[unit], columns[other]
        gram, _ = self._correlations(np.concatenate([own, its]))
        k = own.size
        if gram.shape == (2, 2):
            return float(gram[0, 1])
        across = _half_inverse(gram[:k, :k]) @ gram[:k, k:] @ _half_inverse(gram[k:, k:])
        return min(float(np.linalg.norm(across, 2)), 1.0)

    @_one_at_a_time
    def _correlations(
        self, columns: NDArray[np.int64]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        search = self._searching()
        if self._columns is None:
            self._columns = make_engine(search.design, 0.0, thread_count())
        return correlations_by(self._columns, search.design, columns)

    def _r2_lost(self, model: FrontierModel) -> NDArray[np.float64]:
        """Return by how much R2 falls without each group of one of the models."""
        assert isinstance(model, GroupModel)
        search = self._searching()
        return lost_without_each_group(search.fit(model.units), search, self.rescaling)

    def _strengths(self, model: GroupModel) -> NDArray[np.float64]:
        """Return the standardised coefficient of each group; without a sign if it has several."""
        home = self._home[model.support]
        gram, _ = self._correlations(model.support) if self._total > 0 else (None, None)
        out = []
        for unit in model.units:
            own = np.flatnonzero(home == unit)
            beta = model.standardised[own]
            if own.size == 1 or gram is None:
                out.append(float(beta[0]) if own.size == 1 else 0.0)
            else:
                out.append(math.sqrt(max(float(beta @ gram[np.ix_(own, own)] @ beta), 0.0)))
        return np.array(out)

    def plot(
        self,
        *,
        max_size: int | None = None,
        standardised: bool = True,
        lam: float | None = None,
        ax: Axes | None = None,
    ) -> Axes:
        """Draw the groups against ``lam``, as far as they are solutions.

        Parameters
        ----------
        max_size : int, default=None
            The largest model to draw; None means all.
        standardised : bool, default=True
            Whether a line is drawn for every group: in standard deviations of y, its coefficient
            for one of the column or, if it has several columns, the standard deviation of what
            they add, which has no sign. Else, one for every column, in its own units.
        lam : float, default=None
            A price to mark.
        ax : matplotlib.axes.Axes, default=None
            Where to draw; None makes a figure.

        Returns
        -------
        matplotlib.axes.Axes
            What was drawn on: see :meth:`ellzero.Frontier.plot`.
        """
        return super().plot(max_size=max_size, standardised=standardised, lam=lam, ax=ax)

    def _lines(self, *, standardised: bool) -> PathLines:
        models = self.hull_models
        if not standardised:
            return PathLines.of_columns(
                models, self.feature_names, self._price_hull.end, standardised=False
            )
        return PathLines(
            [model.size for model in models],
            [model.units for model in models],
            [self._strengths(model) for model in models],
            self.group_names,
            self._price_hull.end,
        )


def _half_inverse(gram: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the inverse of the root of a matrix, leaving out what is down to rounding."""
    values, vectors = np.linalg.eigh(gram)
    sound = values > 1e-10 * values[-1]
    return np.asarray(vectors[:, sound] / np.sqrt(values[sound]) @ vectors[:, sound].T)
