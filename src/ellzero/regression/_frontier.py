"""The solution path through the best subsets of every size."""

from __future__ import annotations

import math
import threading
from collections.abc import Callable
from functools import wraps
from itertools import pairwise
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, TypeVar

import numpy as np
from numpy.typing import NDArray

from ellzero._certificate import Certificate
from ellzero._columns import column_name
from ellzero._sklearn import Interval, StrOptions, check_parameters
from ellzero.proof._certify import Certifier, line_printer
from ellzero.regression._criteria import CRITERIA, information_criterion
from ellzero.regression._frontier_model import FrontierModel
from ellzero.regression._growth import GrowingFrontier
from ellzero.regression._hull import middle
from ellzero.regression._losses import Loss
from ellzero.regression._neighbours import best_swaps, neighbouring_models
from ellzero.regression._path_lines import PathLines
from ellzero.regression._problem import to_float
from ellzero.regression._removal import correlations, lost_of, r2_at

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

__all__ = ["Frontier"]

_PRICE = Interval(Real, 0, None, closed="left")
_P = ParamSpec("_P")
_R = TypeVar("_R")
_F = TypeVar("_F", bound="Frontier")


def _check_criterion(argument: str, name: str) -> None:
    check_parameters("Frontier", {argument: [StrOptions(set(CRITERIA))]}, **{argument: name})


def _one_at_a_time(
    method: Callable[Concatenate[_F, _P], _R],
) -> Callable[Concatenate[_F, _P], _R]:
    """Let one thread at a time in: most methods move the engine, and growing replaces models."""

    @wraps(method)
    def locked(frontier: _F, /, *args: _P.args, **kwargs: _P.kwargs) -> _R:
        with frontier._lock:
            return method(frontier, *args, **kwargs)

    return locked


class Frontier:
    """The best known subset of every size: made by :func:`l0_frontier`.

    It can be pickled and copied; a copy knows its models, but has no data to grow on. Threads may
    share it.

    Attributes
    ----------
    sizes : ndarray of int
        From the number of columns always included to the largest size.
    energies : ndarray
        ``1/2 RSS + 1/2 ridge |b|^2`` of the model of each size, in squared units of y.
    supports : list of ndarray of int
        The columns of each, sorted.
    lambdas : ndarray
        The breakpoints of the lower convex hull of the energies, decreasing: where the solution of
        the problem with a price ``lam`` on every variable changes. Exact among the sizes known.
    hull_sizes : ndarray of int
        The sizes between them: those that are the solution for some ``lam``.
    rescaling : float
        What coefficients are multiplied by, and hence fits: 1, but for the ``frontier_`` of an
        :class:`ellzero.L0RegressorCV` with ``ridge="cv"``. Energies are those of the coefficients
        before.
    feature_names : ndarray of str, or None
        The names of the columns of X, if it had names that are all strings.
    last_certificate : Certificate or None
        What :meth:`certify` found when it was called last, also if it was interrupted.
    """

    last_certificate: Certificate | None = None

    def __init__(self, growing: GrowingFrontier, rescaling: float = 1.0) -> None:
        self._lock = threading.RLock()
        self.rescaling = rescaling
        self._growing: GrowingFrontier | None = growing
        problem = growing.problem
        self._n, self._n_columns = problem.weight, problem.design.columns
        self._total, self.feature_names = problem.total, problem.names
        self.loss, self._evidence = problem.loss.value, problem.evidence
        self._read()

    def _read(self) -> None:
        growing = self._with_data()
        solutions = growing.solutions()
        self._solutions = solutions.rescaled(self.rescaling, self._total)
        self._refitted: set[int] = set()  # models whose costs of removal are exact
        begins = solutions.begins
        parts = pairwise(begins.tolist())
        self.supports = [solutions.support[begin:end] for begin, end in parts]
        self.sizes = begins[1:] - begins[:-1]
        self.energies = 0.5 * solutions.rss + solutions.ridge_energy
        self._hull = growing.hull_of(self.energies)
        self.lambdas, self.hull_sizes = self._hull.lambdas, self._hull.sizes

    def _losses(self) -> NDArray[np.float64]:
        """Return the RSS, or twice the negative log-likelihood, of the model of each size."""
        return self._solutions.rss

    def _with_data(self) -> GrowingFrontier:
        if self._growing is None:
            raise ValueError("A copy of a frontier has no data: make it anew with l0_frontier.")
        return self._growing

    def __getstate__(self) -> dict[str, Any]:
        state = {**self.__dict__, "_growing": None}
        del state["_lock"]
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._lock = threading.RLock()

    def __repr__(self) -> str:
        return (
            f"<Frontier: sizes {self.sizes[0]} to {self.sizes[-1]} of {self._n_columns} columns, "
            f"{len(self.hull_sizes)} of them solutions for some lam>"
        )

    def _repr_html_(self) -> str:
        from ellzero._notebook import show_frontier

        return show_frontier(self)

    def _place(self, size: int | None) -> int:
        if not isinstance(size, Integral) or not self.sizes[0] <= size <= self.sizes[-1]:
            raise ValueError(
                f"size={size!r} is not one of the sizes known, {self.sizes[0]} to "
                f"{self.sizes[-1]}: see grow."
            )
        return int(size) - int(self.sizes[0])

    def interval(self, size: int) -> tuple[float, float] | None:
        """Return the interval of ``lam`` in which the model of a size is the solution.

        That is, in which it minimises ``energy + lam size`` among the models known. The interval of
        the largest solution has a lower end that is not known: what is given is where one more
        variable is seen to pay, and a larger model may be better somewhat above it.

        Parameters
        ----------
        size : int
            One of ``sizes``.

        Returns
        -------
        tuple of two floats, or None
            The lower and upper end, in squared units of y; None if the size is the solution for no
            ``lam``: its energy is not on the lower convex hull.

        Examples
        --------
        >>> import numpy as np
        >>> from ellzero import l0_frontier
        >>> X = np.eye(4)[:, :3]
        >>> frontier = l0_frontier(X, [4.0, 2.0, 1.0, 0.0], fit_intercept=False)
        >>> frontier.interval(1)
        (2.0, 8.0)
        """
        self._place(size)
        return self._hull.interval(size)

    @_one_at_a_time
    def at(
        self, *, size: int | None = None, lam: float | None = None, criterion: str | None = None
    ) -> FrontierModel:
        """Return one model: give just one of the arguments.

        Parameters
        ----------
        size : int
            The best known model of this size.
        lam : float
            The solution at this price of a variable, in squared units of y; of two the smaller.
        criterion : {"bic", "ebic", "ric"}
            The model of least criterion: see :meth:`criterion`.

        Returns
        -------
        FrontierModel
            Support, coefficients and intercept in the user's units.

        Examples
        --------
        >>> from ellzero import l0_frontier
        >>> from ellzero.datasets import make_collinear
        >>> X, y, beta = make_collinear(random_state=0)
        >>> frontier = l0_frontier(X, y, max_size=20)
        >>> frontier.at(size=3).support.size
        3
        >>> frontier.at(criterion="ebic").support.size
        11
        """
        if sum(argument is not None for argument in (size, lam, criterion)) != 1:
            raise ValueError("at takes just one of size, lam and criterion.")
        if lam is not None:
            size = self._size_at(lam)
        elif criterion is not None:
            _check_criterion("criterion", criterion)
            size = int(self.sizes[np.argmin(self.criterion(criterion))])
        place = self._place(size)
        solutions, part = self._solutions, self._solutions.part(place)
        support, beta = solutions.support[part], solutions.beta[part]
        coef = np.zeros(self._n_columns)
        coef[support] = beta * solutions.inverse_scale[part]
        scale = Loss(self.loss).scale_of(self._total, self._n)
        return FrontierModel(
            support=support,
            names=[column_name(j, self.feature_names) for j in support],
            coef=coef,
            intercept=float(solutions.intercept[place] - solutions.mean[part] @ coef[support]),
            energy=float(self.energies[place]),
            rss=float(solutions.rss[place]),
            standardised=beta / scale if scale > 0 else np.zeros_like(beta),
            removal_cost=self._removal_cost(place),
            interval=self._hull.interval(int(self.sizes[place])),
        )

    def _removal_cost(self, place: int) -> NDArray[np.float64]:
        """Return what removing each variable costs; of a likelihood, refitted while there are data.

        Refits are not made for every size, since most are never asked for.
        """
        part = self._solutions.part(place)
        if self.loss != "squared" and place not in self._refitted and self._growing is not None:
            self._growing.visit(int(self.sizes[place]))
            self._refitted.add(place)
            self._solutions.removal_cost[part] = (
                self._growing.problem.engine.solution().removal_cost
            )
        return self._solutions.removal_cost[part].copy()

    def _size_at(self, lam: float) -> int:
        if not isinstance(lam, Real) or not lam >= 0:
            raise ValueError(f"lam must be a number from 0 to infinity; got {lam!r}.")
        price = to_float("lam", lam)
        if price < self._hull.end:
            raise ValueError(
                f"lam={price:g} is below {self._hull.end:g}, where models of more than "
                f"{self.sizes[-1]} variables begin to pay: grow(lam={price:g}) first."
            )
        return self._hull.size_at(price)

    @_one_at_a_time
    def criterion(self, name: str) -> NDArray[np.float64]:
        """Return an information criterion for every size; the least is the best.

        With n the sum of the weights, ``BIC(k) = n log(RSS_k / n) + k log n`` and
        ``RIC(k) = n log(RSS_k / n) + 2 k log p``; EBIC is in the notes on
        :class:`ellzero.L0Regressor`. They can be trusted up to about ``n / (log p log log n)``
        variables: beyond that some model of noise looks good to them.

        Parameters
        ----------
        name : {"bic", "ebic", "ric"}
            Which one.

        Returns
        -------
        ndarray
            One for each of ``sizes``; infinity where the RSS is down to rounding.

        Examples
        --------
        >>> from ellzero import l0_frontier
        >>> from ellzero.datasets import make_collinear
        >>> X, y, beta = make_collinear(random_state=0)
        >>> int(l0_frontier(X, y, max_size=20).criterion("ebic").argmin())
        11
        """
        _check_criterion("name", name)
        if self._n < 1:
            raise ValueError(
                f"sample_weight sums to {self._n:g}, but a criterion takes the sum for the number "
                "of rows: rescale it."
            )
        return information_criterion(
            name,
            self._solutions.rss,
            self.sizes,
            self._n,
            self._n_columns,
            self._total,
            int(self.sizes[0]),
            Loss(self.loss),
            self._evidence,
        )

    @_one_at_a_time
    def grow(self, max_size: int | None = None, *, lam: float | None = None) -> Frontier:
        """Extend the frontier, going on from what it knows.

        Parameters
        ----------
        max_size : int, default=None
            The largest size to grow to; fewer if there are not so many independent columns.
        lam : float, default=None
            Instead of a size: grow until the solution at this price is known, and ten sizes beyond.

        Returns
        -------
        Frontier
            This one. Interrupted, it stays as it was, and the next call goes on from there.

        Examples
        --------
        >>> from ellzero import l0_frontier
        >>> from ellzero.datasets import make_collinear
        >>> X, y, beta = make_collinear(random_state=0)
        >>> frontier = l0_frontier(X, y, max_size=5)
        >>> frontier.grow(10)
        <Frontier: sizes 0 to 10 of 100 columns, 10 of them solutions for some lam>
        """
        if (max_size is None) == (lam is None):
            raise ValueError("grow takes max_size or lam, and not both.")
        growing = self._with_data()
        if max_size is not None:
            size = Interval(Integral, 0, None, closed="left")
            check_parameters("Frontier.grow", {"max_size": [size]}, max_size=max_size)
            growing.grow(min(int(max_size), self._n_columns))
        else:
            check_parameters("Frontier.grow", {"lam": [_PRICE]}, lam=lam)
            growing.cover(to_float("lam", lam), self._n_columns)
        self._read()
        return self

    @_one_at_a_time
    def certify(
        self,
        *,
        size: int | None = None,
        lam: float | None = None,
        max_size: int | None = None,
        gap: float = 0.0,
        time_limit: float = 60.0,
        verbose: int = 0,
    ) -> Certificate:
        """Prove that nothing better exists, or say how much better it could be.

        Give just one of the first three arguments. What the proof finds that is better takes its
        place on the frontier.

        Parameters
        ----------
        size : int
            Certify the model of this size.
        lam : float
            Certify the solution at this price, among supports of any size; the frontier grows until
            it is known.
        max_size : int
            Certify the models of all sizes up to this one.
        gap : float, default=0.0
            The share of the objective that a better support may be better by.
        time_limit : float, default=60.0
            In seconds; then what is known so far is returned. Ended otherwise, the answer is the
            same whenever it is asked for.
        verbose : int, default=0
            If positive, report on standard error how long work is getting on.

        Returns
        -------
        Certificate
            Its ``objective`` and ``bound`` are energies if a size was asked for, and those of
            ``max_size`` if all sizes were. Interrupted, the frontier has kept what was found, and
            ``last_certificate`` says what was known.

        Examples
        --------
        >>> from ellzero import l0_frontier
        >>> from ellzero.datasets import make_collinear
        >>> X, y, beta = make_collinear(300, 20, random_state=0)
        >>> frontier = l0_frontier(X, y)
        >>> certificate = frontier.certify(size=3)
        >>> certificate.proved, certificate.sizes_certified
        (True, (3,))
        """
        if sum(argument is not None for argument in (size, lam, max_size)) != 1:
            raise ValueError("certify takes just one of size, lam and max_size.")
        many = Interval(Integral, 0, None, closed="left")
        check_parameters(
            "Frontier.certify",
            {
                "max_size": [many, None],
                "lam": [_PRICE, None],
                "gap": [Interval(Real, 0, 1, closed="left")],
                "time_limit": [Interval(Real, 0, math.inf, closed="both")],
                "verbose": ["verbose"],
            },
            max_size=max_size,
            lam=lam,
            gap=gap,
            time_limit=time_limit,
            verbose=verbose,
        )
        return self._certify(
            size,
            None if lam is None else to_float("lam", lam),
            max_size,
            gap=to_float("gap", gap),
            time_limit=to_float("time_limit", time_limit),
            report=line_printer("Frontier.certify", verbose),
        )

    @_one_at_a_time
    def _certify(
        self,
        size: int | None,
        lam: float | None,
        max_size: int | None = None,
        *,
        gap: float = 0.0,
        time_limit: float,
        report: Callable[[str], None] | None,
    ) -> Certificate:
        growing = self._with_data()
        if self.loss != "squared":
            raise ValueError(f"certify is for the squared loss; this frontier has {self.loss!r}.")
        if lam is not None:
            growing.cover(lam, self._n_columns)
            self._read()
        elif max_size is not None and max_size > self.sizes[-1]:
            self.grow(max_size)
        if size is not None:
            self._place(size)
        certifier = Certifier(growing, gap=gap, time_limit=time_limit, report=report)
        try:
            if lam is not None:
                return certifier.at_price(lam, self._n_columns)
            if size is not None:
                return certifier.at_size(int(size))
            return certifier.of_all_sizes(min(int(max_size or 0), int(self.sizes[-1])))
        finally:
            self.last_certificate = certifier.certificate
            self._read()

    @_one_at_a_time
    def neighbours(
        self, size: int, within: float | None = None, *, lam: float | None = None
    ) -> pd.DataFrame:
        """List the models next to that of a size that are nearly as good.

        Every swap of a variable, insertion and removal that raises ``energy + lam size`` by at most
        ``within``.

        Parameters
        ----------
        size : int
            One of ``sizes``.
        within : float, default=None
            The loss allowed, in squared units of y. None means ``lam``: what a variable costs.
        lam : float, default=None
            The price of a variable. None means the geometric middle of the interval in which the
            size is the solution or, if there is none, the breakpoint at which it comes closest.

        Returns
        -------
        pandas.DataFrame
            A row for each, the best first: ``move`` ("swap", "insert" or "remove"), the variable
            that ``enters``, the one that ``leaves``, the ``loss`` and the ``energy``.

        Examples
        --------
        Which variables could take the place of another?

        >>> from ellzero import l0_frontier
        >>> from ellzero.datasets import load_diabetes_interactions
        >>> diabetes = load_diabetes_interactions()
        >>> frontier = l0_frontier(diabetes.data, diabetes.target, max_size=12)
        >>> print(frontier.neighbours(4, within=5_000).round().to_string(index=False))
          move  enters  leaves   loss   energy
        remove         age:sex 1570.0 681354.0
          swap age:glu age:sex 2365.0 663206.0
        insert bmi:map         4712.0 646610.0
          swap      tc age:sex 4874.0 665716.0
        """
        place = self._place(size)
        growing = self._with_data()
        constraints = {"within": [_PRICE, None], "lam": [_PRICE, None]}
        check_parameters("Frontier.neighbours", constraints, lam=lam, within=within)
        if lam is None:
            ends = self._hull.interval(size)
            lam = self._hull.edge_over(size) if ends is None else middle(*ends)
        if within is None:
            within = lam
        growing.problem.engine.start_at(self.supports[place])
        return neighbouring_models(
            growing.problem,
            float(self.energies[place]),
            to_float("lam", lam),
            to_float("within", within),
        )

    @_one_at_a_time
    def stand_ins(self, size: int, count: int = 3) -> pd.DataFrame:
        """List, for each variable of a model, those that could best take its place.

        Parameters
        ----------
        size : int
            One of ``sizes``.
        count : int, default=3
            How many for each variable.

        Returns
        -------
        pandas.DataFrame
            A row for each swap, by variable and the best first: the variable that ``leaves``, the
            one that ``enters``, the ``rise`` of the energy, in squared units of y, and the
            ``correlation`` of the two columns. Columns that are always included have no row.

        Examples
        --------
        >>> from ellzero import l0_frontier
        >>> from ellzero.datasets import load_diabetes_interactions
        >>> diabetes = load_diabetes_interactions()
        >>> frontier = l0_frontier(diabetes.data, diabetes.target, max_size=12)
        >>> print(frontier.stand_ins(3, count=1).round(2).to_string(index=False))
        leaves  enters     rise  correlation
           bmi   bmi^2 73415.54         0.41
           map bmi:map  7033.45         0.12
           ltg     hdl 65697.48        -0.40
        """
        place = self._place(size)
        growing = self._with_data()
        many = Interval(Integral, 1, None, closed="left")
        check_parameters("Frontier.stand_ins", {"count": [many]}, count=count)
        growing.problem.engine.start_at(self.supports[place])
        return best_swaps(growing.problem, int(count))

    @_one_at_a_time
    def _correlations(
        self, columns: NDArray[np.int64]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the correlations of some columns with each other and with y, which varies."""
        return correlations(self._with_data().problem, columns)

    @_one_at_a_time
    def _r2_of(self, supports: list[NDArray[np.int64]]) -> NDArray[np.float64]:
        """Return the R2 of some supports, at the ridge and with the rescaling of the frontier."""
        columns = np.unique(np.concatenate(supports))
        gram, with_y = self._correlations(columns)
        ridge = self._with_data().problem.ridge
        places = [np.searchsorted(columns, support) for support in supports]
        return np.array(
            [r2_at(gram[np.ix_(at, at)], with_y[at], ridge, self.rescaling) for at in places]
        )

    @_one_at_a_time
    def _r2_lost(self, model: FrontierModel) -> NDArray[np.float64]:
        """Return by how much R2 falls without each variable of one of the models."""
        lost = lost_of(self._with_data().problem, model.support, self.rescaling)
        return 2 * model.removal_cost / (self._total or 1.0) if lost is None else lost

    @_one_at_a_time
    def to_frame(self) -> pd.DataFrame:
        """Tabulate the models, a row for each size.

        Returns
        -------
        pandas.DataFrame
            Indexed by ``size``: ``energy``, ``r2``, the interval of ``lam`` in which it is the
            solution (``lam_low`` and ``lam_high``, NaN if there is none), the criteria ``bic``,
            ``ebic`` and ``ric``, and its ``variables``.

        Examples
        --------
        >>> from ellzero import l0_frontier
        >>> from ellzero.datasets import load_diabetes_interactions
        >>> diabetes = load_diabetes_interactions()
        >>> frontier = l0_frontier(diabetes.data, diabetes.target, max_size=12)
        >>> frontier.to_frame().loc[4, "variables"]
        ['bmi', 'map', 'ltg', 'age:sex']
        """
        import pandas as pd  # here, so that `import ellzero` does not wait for it

        explained = "r2" if self.loss == "squared" else "d2"
        intervals = [self._hull.interval(int(size)) or (math.nan, math.nan) for size in self.sizes]
        total = self._total if self._total > 0 else 1.0
        table = pd.DataFrame(
            {
                "energy": self.energies,
                explained: 1 - self._solutions.rss / total if self._total > 0 else 0.0,
                "lam_low": [low for low, _ in intervals],
                "lam_high": [high for _, high in intervals],
                **({name: self.criterion(name) for name in CRITERIA} if self._n >= 1 else {}),
                "variables": [
                    [column_name(j, self.feature_names) for j in support]
                    for support in self.supports
                ],
            },
            index=pd.Index(self.sizes, name="size"),
        )
        return table

    def plot(
        self,
        *,
        max_size: int | None = None,
        standardised: bool = True,
        lam: float | None = None,
        ax: Axes | None = None,
    ) -> Axes:
        """Draw the coefficients against ``lam``, as far as they are solutions.

        Parameters
        ----------
        max_size : int, default=None
            The largest model to draw; None means all.
        standardised : bool, default=True
            Whether coefficients are in standard deviations of y for one of the variable, or in
            their own units.
        lam : float, default=None
            A price to mark.
        ax : matplotlib.axes.Axes, default=None
            Where to draw; None makes a figure.

        Returns
        -------
        matplotlib.axes.Axes
            What was drawn on. Breakpoints are marked by thin lines, sizes above them. The twelve
            variables that are seen most are named. Standardised coefficients that would make the
            others flat are beyond the axis, with an arrow, unless they are of models up to ``lam``;
            a note below says which.

        Examples
        --------
        >>> from ellzero import l0_frontier
        >>> from ellzero.datasets import make_collinear
        >>> X, y, beta = make_collinear(random_state=0)
        >>> ax = l0_frontier(X, y, max_size=12).plot()
        >>> ax.get_xlabel()
        'lam, the price of a variable'
        """
        from ellzero.plotting import draw_path  # here, so that nobody waits for matplotlib

        check_parameters(
            "Frontier.plot",
            {
                "max_size": [Interval(Integral, 0, None, closed="left"), None],
                "standardised": ["boolean"],
                "lam": [Interval(Real, 0, None, closed="neither"), None],
            },
            max_size=max_size,
            standardised=standardised,
            lam=lam,
        )
        return draw_path(self, max_size=max_size, standardised=standardised, lam=lam, ax=ax)

    def _lines(self, *, standardised: bool) -> PathLines:
        """Return what :meth:`plot` draws: a line for every variable."""
        models = [self.at(size=int(size)) for size in self.hull_sizes]
        return PathLines.of_columns(
            models, self.feature_names, self._hull.end, standardised=standardised
        )
