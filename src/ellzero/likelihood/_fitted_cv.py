"""What the cross-validated likelihoods have in common."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from joblib import effective_n_jobs
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from ellzero._columns import resolve_columns
from ellzero._engine import thread_count
from ellzero._progress import progress_printer
from ellzero._sklearn import (
    routed_to_splitter,
)
from ellzero._splits import make_splits, make_splitter, repeats_among, splitter_routing
from ellzero.likelihood._fitted import FittedLikelihood
from ellzero.likelihood._folds import make_repeats
from ellzero.likelihood._group_folds import make_group_likelihood_folds
from ellzero.likelihood._scores import Score
from ellzero.regression._cross_validation import Choice, CrossValidation, far_beyond
from ellzero.regression._cv_curve import Curve
from ellzero.regression._frontier import Frontier
from ellzero.regression._group_cv import GroupCrossValidation
from ellzero.regression._group_frontier import GroupFrontier
from ellzero.regression._l0_cv import count_repeats
from ellzero.regression._losses import Loss, check_response, default_ridge
from ellzero.regression._problem import check_ridges, largest_size
from ellzero.regression._separation import warn_of_separated_groups, warn_where_it_stands
from ellzero.regression._structured import (
    GroupData,
    check_group_parameters,
    choose_groups,
    make_search,
)
from ellzero.regression._units import Units, resolve_units, structure_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["CrossValidatedLikelihood"]


class CrossValidatedLikelihood(FittedLikelihood):
    """A likelihood whose price was chosen by cross-validation."""

    @property
    def _error_name(self) -> str:
        """What the curve is of, in words."""
        raise NotImplementedError

    def get_metadata_routing(self) -> Any:
        """Return the routing: ``groups`` go to the splitter, if it asks for them.

        Returns
        -------
        sklearn.utils.metadata_routing.MetadataRouter
            The routing.
        """
        return splitter_routing(self, make_splitter(self.cv, self.random_state))

    def _fit_by_folds(
        self,
        X: Any,
        y: NDArray[np.float64],
        sample_weight: NDArray[np.float64] | None,
        groups: Any,
        score: Score,
        *,
        classes: NDArray[np.float64] | None = None,
        offset: NDArray[np.float64] | None = None,
    ) -> None:
        """Choose a price and fit on all rows, once the input has been checked."""
        names = getattr(self, "feature_names_in_", None)
        name, p = type(self).__name__, X.shape[1]
        structure = structure_of(self)
        units = None
        if structure.is_plain:
            forced = resolve_columns("always_include", self.always_include, p, names)
            largest_size(self.max_size, forced, p)  # or an error, before any work
        else:
            units = resolve_units(structure, self.always_include, p, names)
            check_group_parameters(self.solver)
        n_repeats = count_repeats(self.n_repeats, self.cv)
        splitter = make_splitter(self.cv, self.random_state, n_repeats, classes)
        splits = make_splits(splitter, X, y, **routed_to_splitter(self, sample_weight, groups))
        if n_repeats == 1:
            n_repeats = repeats_among([test for _, test in splits], len(y))
        if units is not None:
            data = GroupData(X, y, sample_weight, self.fit_intercept, names, self._loss, offset)
            self._fit_groups_by_folds(data, units, splits, n_repeats, score)
            return
        likelihood = self._make_likelihood(X, y, sample_weight, offset)
        repeats = make_repeats(likelihood, splits, n_repeats, score)
        ridges = (
            [default_ridge(self._loss, likelihood.design.weight)]
            if self.ridge is None
            else sorted(set(check_ridges(self.ridge)))
        )
        progress = progress_printer(name, self.verbose)
        self.__dict__.pop("frontier_", None)  # of an earlier fit
        procedure = CrossValidation(
            self.solver, ridges, forced, self.max_size, effective_n_jobs(self.n_jobs), progress
        )
        choice = procedure.choose(repeats)
        mark = choice.marks[self.rule]
        self.n_repeats_, self.max_size_, self._marks = n_repeats, choice.max_size, choice.marks
        nothing = _error_of_nothing(y, likelihood.weight, offset, score, self._loss)
        self.cv_results_ = _tabulate(ridges, choice.curves, nothing)
        problem = likelihood.problem(
            mark.ridge,
            forced,
            names,
            progress,
            thread_count(),
            caller=name,
            intercept=self.fit_intercept,
        )
        growing, certificate = procedure.solve(problem, mark.lam)
        self._store(problem, mark.lam)
        if growing is not None:
            self.frontier_ = Frontier(growing)
        certificate = certificate.with_least_error(self.rule, self.max_size_, "lam_")
        self.certificate_ = certificate.with_objective(self.objective_)
        self._warn_if_held_back(choice, forced.size, 4)
        warn_where_it_stands(problem, 4)

    def _warn_if_held_back(self, choice: Choice, least: int, stacklevel: int) -> None:
        mark = choice.marks[self.rule]
        far, more = far_beyond(mark.size, least), choice.curve(self.rule).lam_low[-1] > 0
        if self.max_size is not None and more and self.max_size <= far:
            warnings.warn(
                f"{type(self).__name__}: max_size={self.max_size} is not far beyond the "
                f"{mark.size:.1f} variables that the folds chose on average; a larger one may give "
                "a better model.",
                ConvergenceWarning,
                stacklevel=stacklevel,
            )

    def _fit_groups_by_folds(
        self,
        data: GroupData,
        units: Units,
        splits: list[tuple[NDArray[np.int64], NDArray[np.int64]]],
        n_repeats: int,
        score: Score,
    ) -> None:
        check_response(self._loss, data.y, data.sample_weight)
        folds = make_group_likelihood_folds(data, splits, n_repeats, score)
        ridges = self._group_ridges(data)
        name = type(self).__name__
        progress = progress_printer(name, self.verbose)
        self.__dict__.pop("frontier_", None)  # of an earlier fit
        workers = effective_n_jobs(self.n_jobs)
        how = GroupCrossValidation(units, ridges, self.max_size, workers, progress)
        choice = how.choose(folds, 1.0)
        mark = choice.marks[self.rule]
        search = make_search(data, units, mark.ridge, progress=progress, stacklevel=5)
        size = search.largest if self.max_size is None else self.max_size
        found = choose_groups(search, lam=mark.lam, size=None, max_size=size, caller=name)
        self.n_repeats_, self.max_size_, self._marks = n_repeats, choice.max_size, choice.marks
        weight = np.ones_like(data.y) if data.sample_weight is None else data.sample_weight
        nothing = _error_of_nothing(data.y, weight, data.offset, score, self._loss)
        self.cv_results_ = _tabulate(ridges, choice.curves, nothing)
        self._store_groups(found.model, search, mark.lam, priced=True)
        self.frontier_ = GroupFrontier(search, data.names)
        certificate = found.certificate.with_least_error(self.rule, self.max_size_, "lam_")
        self.certificate_ = certificate.with_objective(self.objective_)
        self._warn_if_held_back(choice, search.least, 5)
        warn_of_separated_groups(search, [found.model], 5)

    def plot(self, *, ax: Axes | None = None) -> Axes:
        """Draw the cross-validated error against ``lam``, both rules marked.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, default=None
            Where to draw; None makes a figure.

        Returns
        -------
        matplotlib.axes.Axes
            What was drawn on.
        """
        from ellzero.plotting import draw_cv_curve  # here, so that nobody waits for matplotlib

        check_is_fitted(self)
        return draw_cv_curve(self, ax=ax, error=f"{self._error_name} on rows held out")


def _error_of_nothing(
    y: NDArray[np.float64],
    weight: NDArray[np.float64],
    offset: NDArray[np.float64] | None,
    score: Score,
    loss: Loss,
) -> float:
    """Return the error of the mean response, or rate, on all rows."""
    exposure = np.ones_like(y) if offset is None else np.exp(offset)
    rate = float(weight @ y) / float(weight @ exposure)
    eta = np.full_like(y, loss.link(rate))
    eta = eta if offset is None else eta + offset
    return float(score(eta[None, :], y, weight)[0])


def _tabulate(
    ridges: list[float], curves: Sequence[Curve], nothing: float
) -> dict[str, NDArray[np.float64]]:
    counts = [len(curve.mean_error) for curve in curves]
    names = ("lam_low", "lam_high", "mean_error", "se_error", "mean_size")
    table = {name: np.concatenate([getattr(curve, name) for curve in curves]) for name in names}
    explained = 1 - table["mean_error"] / nothing if nothing > 0 else np.zeros(sum(counts))
    errors = np.concatenate([curve.fold_errors for curve in curves], axis=1)
    splits = {f"split{i}_error": errors[i] for i in range(len(errors))}
    return {"ridge": np.repeat(ridges, counts), **table, "explained": explained, **splits}
