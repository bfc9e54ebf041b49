"""Logistic regression under a spike-and-slab prior, whole posterior."""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping
from functools import partial
from numbers import Integral, Real
from os import PathLike
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from joblib import effective_n_jobs
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning

from ellzero import _core
from ellzero._columns import column_name, resolve_columns
from ellzero._engine import make_columns, make_design_on, thread_count
from ellzero._sklearn import Interval, StrOptions, check_classifier_input, unchanged_on_error
from ellzero._warnings import DependentColumnWarning, MixingWarning
from ellzero.likelihood._fitted import ratios
from ellzero.posterior._averaged_classes import AveragedClasses
from ellzero.posterior._counts import count_rows
from ellzero.posterior._credible_sets import correlate
from ellzero.posterior._diagnostics import mixing_problem
from ellzero.posterior._draws import PosteriorDraws, collect_logit_draws
from ellzero.posterior._draws_given import restrict
from ellzero.posterior._jointness import pairs_from_masses
from ellzero.posterior._logit_groups import make_logit_groups
from ellzero.posterior._logit_prior import (
    check_logit_settings,
    check_unit_settings,
    log_prior_constant,
    make_logit_prior,
    unit_log_odds,
)
from ellzero.posterior._logit_prior_draws import draw_classifier_prior
from ellzero.posterior._logit_starts import LogitStarts, make_logit_starts
from ellzero.posterior._models import models_from_masses
from ellzero.posterior._problems import correlate_groups
from ellzero.posterior._run import ChainRun, fingerprint
from ellzero.posterior._sensitivity import SizePrior, by_size
from ellzero.posterior._solvers import choose_logit_solver, deal_to_chains
from ellzero.posterior._spike_slab_results import MADE_LATER, SpikeSlabResults
from ellzero.posterior._unit_prior import units_of
from ellzero.regression._units import UNIT_CONSTRAINTS, Units

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["SpikeSlabClassifier"]

# What the table may take that the sampler multiplies by; a larger one is made anew every time.
_ROOM_BYTES = 2e9
# Enumeration goes on until inclusion probabilities are known to this, a standard error, or for a
# second or so; worse than the other it is warned of.
_TOLERANCE, _TOO_ROUGH = 1e-3, 0.01
_UNIT_PARAMETERS = ("feature_groups", "heredity", "parents", "penalty_factor")


class SpikeSlabClassifier(AveragedClasses, SpikeSlabResults):
    r"""Logistic regression under a spike-and-slab prior: which variables are in, and how surely.

    .. math:: P(y_i = 1) = \frac{1}{1 + e^{-\psi_i}}, \quad \psi = \mu + X\beta, \quad
              \mu \sim N(0, 10^2),

    .. math:: \beta_j \sim (1 - \theta)\, \delta_0 + \theta\, N(0, \sigma_\beta^2)

    where y is 1 for the second of two classes, and the columns of X are centred (if there is an
    intercept) and scaled to unit l2 norm inside. The whole posterior is computed: by the evidence
    of every model where they are few, else by Markov chains with exact Polya-Gamma weights (Polson,
    Scott and Windle 2013), in which the coefficients, the intercept and :math:`\theta` are
    integrated out whenever models are compared. What comes back is in the user's units.

    Parameters
    ----------
    theta : "learn", float, array of shape (p,), mapping or Series, default="learn"
        Prior probability that a variable is in. "learn" gives it the prior
        ``Beta(1, p / expected_size - 1)``, whose mean is ``expected_size / p``. By column, 0 keeps
        a variable out and 1 in; a mapping or a Series goes by name, and columns that it leaves out
        have ``expected_size / p``.
    sigma_beta : "learn" or float, default="learn"
        Standard deviation of the slab, in log-odds, for columns of unit l2 norm: from 1e-5 to 1e5.
        It depends on n: ``sigma_beta = s sqrt(n)`` for a standard deviation of s in log-odds per
        standard deviation of a column (:func:`ellzero.posterior.from_standardised`). "learn" gives
        it the prior ``s^2 ~ InvGamma(2, 1 / (m (1 - m)))``, m the share of ones, of mean 4 where
        classes are balanced: an effect is expected to be large, so that in data with nothing in
        them nothing is found. Coefficients have a finite variance under it even where classes are
        separated.
    expected_size : float, default=None
        How many variables are expected before the data: more than 0, less than p. None means 2, or
        a quarter of p where that is less.
    solver : {"auto", "enumerate", "gibbs"}, default="auto"
        "enumerate" takes the evidence of all models, up to 14 columns that may go either way, by
        importance sampling about their modes, until no inclusion probability has a standard error
        of more than .001, or for a second or so: ``probability_errors_`` says what they are.
        "gibbs" makes sweeps of single flips and swaps given Polya-Gamma weights. "auto" enumerates
        up to 8 columns if that error is below .01, and is Gibbs otherwise: ``solver_`` says which.
    n_chains, n_draws, n_warmup : int, default=4, 1000, 500
        Chains, draws kept of each, and iterations before them. Enumeration makes as many draws, of
        proposals chosen by their weights.
    thin : int, default=1
        Iterations for every draw kept. Probabilities and means average over all of them; what is
        saved is memory.
    always_include : sequence of names, integers, or mask, default=None
        Columns that are in every model, under the same slab; they don't count for theta.
    feature_groups : sequence of labels, or mapping, default=None
        Columns that are in or out together, such as the indicators of a factor: a label for each
        column (None for a column by itself), or a mapping from names to columns. There is one
        indicator per group; theta and expected_size count groups. The slab is on an orthonormal
        basis of what the r independent columns of a group span, of variance
        ``sigma_beta^2 / r`` each, so that coding changes nothing. Sparse X is made dense.
    heredity : {"strong", "weak"}, default=None
        Strong: a product has probability zero without all its parents; weak: without one of them.
        See :class:`ellzero.SpikeSlabRegressor`.
    parents : mapping, default=None
        From a product to the names of its parents, columns or groups.
    penalty_factor : sequence of floats, or mapping, default=None
        By group: multiplies the log-odds of a theta that is given.
    fit_intercept : bool, default=True
        Whether to fit an intercept, and to centre the columns of X.
    random_state : int, RandomState instance or None, default=None
        Seed. The same seed gives the same draws, whatever ``n_jobs``.
    checkpoint : str or os.PathLike, default=None
        A file that chains are kept in while they run, every half minute or so: if the process is
        killed, the same fit goes on from there and has the same bits. It is removed when the fit is
        done.
    n_jobs : int, default=None
        Threads over chains; None means 1.
    verbose : int, default=0
        If positive, report on standard error how the draws are getting on.

    Attributes
    ----------
    classes_ : ndarray of shape (2,)
        The classes; probabilities and coefficients are about the second.
    inclusion_probabilities_ : ndarray of shape (p,)
        Posterior probability that each variable is in.
    coef_ : ndarray of shape (1, p)
        Posterior mean of the coefficients, in log-odds per unit of the column; zeros of models
        without the variable count. Like the two beside it, an average of conditional expectations
        (Rao-Blackwell), not of draws.
    coef_sd_ : ndarray of shape (1, p)
        Posterior standard deviation of the coefficients.
    intercept_ : ndarray of shape (1,)
        Posterior mean of the intercept, in log-odds.
    support_ : ndarray of int
        The median model: variables with probability above one half.
    models_ : pandas.DataFrame
        The models met, with their posterior mass, best first: ``variables`` (a tuple of names),
        ``size`` and ``mass``, by the models' evidence for "enumerate" and a share of draws
        otherwise.
    groups_ : list of str
        With groups, or rules for columns: those with probability above one half.
    group_probabilities_ : pandas.Series
        The same: the probability of each group.
    credible_sets_ : list of CredibleSet
        Sets of variables of which, with probability at least .95, at least one is in the model:
        where collinear variables stand in for each other, none need be likely by itself. They say
        which of their members are usually in together.
    sensitivity_ : Sensitivity or None
        How far the answer moves under half and twice the expected size: a sentence if printed. None
        if theta is given.
    draws_ : PosteriorDraws
        Draws of coefficients, intercept and hyperparameters.
    diagnostics_ : pandas.DataFrame
        By variable, for the inclusion probabilities, and for the intercept and the hyperparameters:
        ``r_hat`` (rank-normalised), ``ess_bulk``, ``ess_tail``, and ``mcse``, the Monte Carlo
        error.
    probability_errors_ : ndarray of shape (p,)
        Standard errors of the inclusion probabilities: of importance sampling, or of the chains.
    solver_ : str
        The solver used.
    log_evidence_ : float
        With "enumerate" only: log of the probability of the classes under the prior, rows told
        apart, for comparing priors, or sets of columns, on the same rows; good to about .005.
    n_features_in_ : int
        Columns seen during fit.
    feature_names_in_ : ndarray of str
        Their names, if X had names that are all strings.

    Warns
    -----
    ConvergenceWarning
        If the chains disagree.

    See Also
    --------
    ellzero.L0Classifier : The joint mode of models and coefficients.
    ellzero.SpikeSlabRegressor : The same for a response that is a number.

    Notes
    -----
    ``sample_weight`` counts rows: a row of weight 2 is the row twice, to the last digit, and
    weights that are not whole are refused. Equal rows are merged into counts before anything is
    drawn, and a count of n has one weight PG(n, psi), the sum of n draws: time goes with the sum of
    the counts, none of which may exceed a million.

    A constant column can't be told from the intercept and is left out. A learned ``sigma_beta`` is
    between 1e-5 and 1e5. A table that takes less than 2 GB is copied, as numbers of double
    precision: sparse ones too.

    Examples
    --------
    Thirty measurements of tumours, many of which tell the same:

    >>> from ellzero import SpikeSlabClassifier
    >>> from sklearn.datasets import load_breast_cancer
    >>> cancer = load_breast_cancer(as_frame=True)
    >>> model = SpikeSlabClassifier(n_draws=3000, random_state=0).fit(cancer.data, cancer.target)
    >>> bool(model.inclusion_probabilities_[21] > 0.9)  # worst texture
    True
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "theta": [
            StrOptions({"learn"}),
            Interval(Real, 0, 1, closed="both"),
            "array-like",
            Mapping,
        ],
        "sigma_beta": [StrOptions({"learn"}), Interval(Real, 0, math.inf, closed="right")],
        "expected_size": [Interval(Real, 0, None, closed="neither"), None],
        "solver": [StrOptions({"auto", "enumerate", "gibbs"})],
        "n_chains": [Interval(Integral, 1, None, closed="left")],
        "n_draws": [Interval(Integral, 1, None, closed="left")],
        "n_warmup": [Interval(Integral, 0, None, closed="left")],
        "thin": [Interval(Integral, 1, None, closed="left")],
        "always_include": ["array-like", str, set, None],
        **{name: UNIT_CONSTRAINTS[name] for name in _UNIT_PARAMETERS},
        "fit_intercept": ["boolean"],
        "random_state": ["random_state"],
        "checkpoint": [str, PathLike, None],
        "n_jobs": [Integral, None],
        "verbose": ["verbose"],
    }

    def __init__(
        self,
        *,
        theta: Any = "learn",
        sigma_beta: Any = "learn",
        expected_size: float | None = None,
        solver: str = "auto",
        n_chains: int = 4,
        n_draws: int = 1000,
        n_warmup: int = 500,
        thin: int = 1,
        always_include: Any = None,
        feature_groups: Any = None,
        heredity: str | None = None,
        parents: Any = None,
        penalty_factor: Any = None,
        fit_intercept: bool = True,
        random_state: Any = None,
        checkpoint: str | PathLike[str] | None = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.theta = theta
        self.sigma_beta = sigma_beta
        self.expected_size = expected_size
        self.solver = solver
        self.n_chains = n_chains
        self.n_draws = n_draws
        self.n_warmup = n_warmup
        self.thin = thin
        self.always_include = always_include
        self.feature_groups = feature_groups
        self.heredity = heredity
        self.parents = parents
        self.penalty_factor = penalty_factor
        self.fit_intercept = fit_intercept
        self.random_state = random_state
        self.checkpoint = checkpoint
        self.n_jobs = n_jobs
        self.verbose = verbose

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> SpikeSlabClassifier:
        """Compute the posterior.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, p)
            The columns to choose from.
        y : array-like of shape (n,)
            The class of each row: any two labels.
        sample_weight : array-like of shape (n,), default=None
            How often each row was met: whole numbers from 0.

        Returns
        -------
        SpikeSlabClassifier
            The fitted estimator.
        """
        with unchanged_on_error(self):
            self._fit(*check_classifier_input(self, X, y, sample_weight))
        return self

    def _extend(self, more: int, X: Any, y: Any, sample_weight: Any) -> None:
        self._fit(*check_classifier_input(self, X, y, sample_weight), more=more)

    def _fit_named(self, X: Any, y: Any, sample_weight: Any, names: NDArray[np.object_]) -> None:
        """Fit an array whose columns have names, as :meth:`fit` does a data frame."""
        with unchanged_on_error(self):
            checked = check_classifier_input(self, X, y, sample_weight)
            self.feature_names_in_ = names
            self._fit(*checked)

    def _fit(
        self,
        X: Any,
        y: NDArray[np.float64],
        sample_weight: NDArray[np.float64] | None,
        more: int = 0,
    ) -> None:
        names, p = getattr(self, "feature_names_in_", None), X.shape[1]
        units = units_of(self, p, names)
        if units is not None:
            return self._fit_groups(X, y, sample_weight, units, names, more)
        settings = check_logit_settings(self.theta, self.sigma_beta, self.expected_size, p, names)
        if self.n_jobs == 0:
            raise ValueError("n_jobs must not be 0.")
        forced = resolve_columns("always_include", self.always_include, p, names)
        table, counts, successes = count_rows(X, y, sample_weight)
        columns = make_columns(table)
        share = successes / counts
        design = make_design_on(columns, share, counts, self.fit_intercept, thread_count())
        mean = float(successes.sum() / counts.sum())
        prior = make_logit_prior(design, settings, forced, names, mean)
        log_odds = np.where(design.inverse_scale > 0, prior.log_odds, -np.inf)
        always, free = np.flatnonzero(log_odds == np.inf), np.flatnonzero(np.isfinite(log_odds))
        self._certain = np.isinf(log_odds)
        run = self._begin(fingerprint(design, counts, successes), more)
        self.solver_ = choose_logit_solver(self.solver, free.size, always.size)
        if run.chains:  # it goes on
            self.solver_ = "gibbs"
        for name in (*MADE_LATER, "log_evidence_"):
            self.__dict__.pop(name, None)  # of an earlier fit
        starts = make_logit_starts(
            columns,
            design,
            counts,
            share,
            fit_intercept=self.fit_intercept,
            n_chains=self.n_chains,
        )
        rows = _core.make_logit_rows(
            columns, design, counts, successes, self.fit_intercept, _ROOM_BYTES
        )
        self._home, self._group_names = None, None  # columns alone
        self._models, self._pairs, self._by_size, self._size_prior = None, None, None, None
        if settings.theta is None:
            self._size_prior = SizePrior(settings.expected_size, p, free, always, None)
        self._errors = None
        if self.solver_ == "enumerate":
            chains, masses = self._enumerate(rows, prior, starts, run)
            if self.solver == "auto" and self._too_rough():
                self.solver_, self._errors = "gibbs", None
                del self.log_evidence_
        if self.solver_ == "enumerate":
            self._models = models_from_masses(masses, free, always)
            self._pairs = pairs_from_masses(masses, free, always, p)
            if self._size_prior is not None:
                self._by_size = by_size(masses, self._size_prior)
            self.log_evidence_ += log_prior_constant(prior, settings, free)
        else:
            sample = partial(
                _core.sample_logit_spike_slab,
                rows,
                prior,
                starts.starts,
                starts.reference,
                seed=run.seed,
            )
            chains = self._draw(run, sample)
        self._store(design, chains, starts, run)
        self._correlations = correlate(design, self.inclusion_probabilities_)
        self._warn(forced, names, np.array([chain["intercept"] for chain in chains]))
        self._finish(run)

    def _fit_groups(
        self,
        X: Any,
        y: NDArray[np.float64],
        sample_weight: NDArray[np.float64] | None,
        units: Units,
        names: Any,
        more: int,
    ) -> None:
        """Compute the posterior over sets of groups, or of columns under rules."""
        if self.n_jobs == 0:
            raise ValueError("n_jobs must not be 0.")
        if self.solver == "enumerate":
            raise ValueError(
                "solver='enumerate' is for single columns without rules; groups have 'gibbs'."
            )
        settings = check_unit_settings(self, units, names)
        table, counts, successes = count_rows(X, y, sample_weight)
        columns = make_columns(table)
        share = successes / counts
        design = make_design_on(columns, share, counts, self.fit_intercept, thread_count())
        nothing = np.empty(0, dtype=np.int64)
        mean = float(successes.sum() / counts.sum())
        given = None if settings.theta is None else np.full(X.shape[1], 0.5)
        prior = make_logit_prior(design, settings._replace(theta=given), nothing, names, mean)
        log_odds = unit_log_odds(settings.theta, units)
        groups = make_logit_groups(
            table,
            counts,
            successes,
            units,
            prior,
            log_odds,
            settings.expected_size,
            fit_intercept=self.fit_intercept,
            room_bytes=_ROOM_BYTES,
        )
        self.solver_ = "gibbs"
        run = self._begin(fingerprint(design, counts, successes), more)
        for name in (*MADE_LATER, "log_evidence_", "groups_"):
            self.__dict__.pop(name, None)  # of an earlier fit
        possible = groups.possible
        free = np.flatnonzero(np.isfinite(log_odds) & possible)
        always = np.flatnonzero(np.isposinf(log_odds) & possible)
        self._home, self._group_names = units.home, units.names
        self._certain = ~(np.isfinite(log_odds) & possible)
        self._models, self._pairs, self._by_size, self._size_prior = None, None, None, None
        self._errors = None
        if settings.theta is None:
            self._size_prior = SizePrior(
                settings.expected_size,
                units.count,
                free,
                always,
                None,
                units.parents,
                units.strong,
                "groups",
            )
        drawn = self._draw(run, partial(groups.sample, self.n_chains, run.seed))
        chains = [groups.in_columns(chain) for chain in drawn]
        self._store(design, chains, LogitStarts([], [0.0] * X.shape[1]), run)
        self.groups_ = [units.names[u] for u in np.flatnonzero(self._unit_probabilities > 0.5)]
        self._correlations = correlate_groups(design, units, self._unit_probabilities)
        missing = units.forced_units[~possible[units.forced_units]]
        if missing.size:
            name = units.names[missing[0]]
            warnings.warn(DependentColumnWarning("always_include", name), stacklevel=4)
        self._warn_of_mixing(np.array([chain["intercept"] for chain in chains]), 5)
        self._finish(run)

    def _draw_prior(
        self, X: Any, y: Any, sample_weight: Any, n_draws: int, rng: np.random.Generator
    ) -> tuple[PosteriorDraws, Any]:
        X, y, sample_weight = check_classifier_input(self, X, y, sample_weight)
        return draw_classifier_prior(self, X, y, sample_weight, n_draws, rng), X

    def _enumerate(
        self, rows: _core.LogitRows, prior: _core.LogitPrior, starts: LogitStarts, run: ChainRun
    ) -> tuple[list[dict[str, Any]], NDArray[np.float64]]:
        found = _core.enumerate_logit_spike_slab(
            rows,
            prior,
            starts.reference,
            draws=self.n_chains * run.n_draws,
            seed=run.seed,
            tolerance=_TOLERANCE,
            threads=effective_n_jobs(self.n_jobs),
        )
        self.log_evidence_, self._errors = found.log_evidence, found.error
        rng = np.random.default_rng(run.seed)
        return deal_to_chains(found.draws, self.n_chains, rng), found.masses

    def _too_rough(self) -> bool:
        """Whether importance sampling knows an inclusion probability too badly."""
        return self._errors is not None and bool(self._errors.max() > _TOO_ROUGH)

    def _store(
        self,
        design: _core.Quadratic,
        chains: list[dict[str, Any]],
        starts: LogitStarts,
        run: ChainRun,
    ) -> None:
        exact = self.solver_ == "enumerate"
        count = 1 if exact else self.n_chains * run.n_draws
        inclusion, mean, square, intercept = (
            sum(chain[name] for chain in chains) / count
            for name in ("inclusion", "mean", "square", "intercept_sum")
        )
        home = self._home
        self._unit_probabilities = np.clip(inclusion, 0, 1)
        by_column = self._unit_probabilities if home is None else self._unit_probabilities[home]
        self.inclusion_probabilities_ = by_column
        unit = design.inverse_scale if home is None else np.ones(design.columns)
        coef = mean * unit
        sd = np.sqrt(np.maximum(square - (mean - np.array(starts.reference)) ** 2, 0))
        self.coef_, self.coef_sd_ = coef[None, :], (sd * unit)[None, :]
        self.intercept_ = np.array([0.0])
        if self.fit_intercept:
            self.intercept_ = np.array([intercept - float(design.mean @ coef)])
        self.support_ = np.flatnonzero(self.inclusion_probabilities_ > 0.5)
        self.draws_ = collect_logit_draws(
            chains, design, fit_intercept=self.fit_intercept, home=home
        )
        self._conditional = None
        if not exact:
            shape = (self.n_chains, run.n_draws, self._unit_probabilities.size)
            self._conditional = np.empty(shape, dtype=np.float32)
            for own, chain in zip(self._conditional, chains, strict=True):
                own[:] = chain.pop("conditional")  # a large one is not held twice for long
        self._weight = design.weight
        # Standard deviations of the columns, for odds ratios
        with np.errstate(divide="ignore"):
            spread = 1 / (design.inverse_scale * np.sqrt(design.weight))
        self._column_sd = np.where(design.inverse_scale > 0, spread, 0.0)

    def _warn(self, forced: NDArray[np.int64], names: Any, centred: NDArray[np.float64]) -> None:
        left_out = forced[self.inclusion_probabilities_[forced] == 0]
        if left_out.size:
            column = column_name(left_out[0], names)
            warnings.warn(DependentColumnWarning("always_include", column), stacklevel=4)
        if self._conditional is None:
            if self._too_rough():
                warnings.warn(
                    "SpikeSlabClassifier: importance sampling leaves inclusion probabilities with "
                    f'errors of up to {self.probability_errors_.max():.3f}; solver="gibbs" may do '
                    "better.",
                    ConvergenceWarning,
                    stacklevel=4,
                )
            return
        self._warn_of_mixing(centred, 5)

    def _warn_of_mixing(self, centred: NDArray[np.float64], stacklevel: int) -> None:
        """Say which chains disagree; ``centred`` are the draws of the intercept."""
        assert self._conditional is not None
        others: dict[str, NDArray[Any]] = {"the number of variables": self.draws_.size}
        if self.fit_intercept:  # rare classes can hold it up
            others["the intercept"] = centred
        scales = self.draws_.hyperparameters()
        problem = mixing_problem(self._conditional, others, self._unit_names(), scales=scales)
        if problem:
            warnings.warn(MixingWarning("SpikeSlabClassifier", problem), stacklevel=stacklevel)

    def _restricted(self, model: Any) -> Self:
        out: Self = restrict(self, self._inside(), self._support_of(model), model)
        return out

    def _other_series(self) -> dict[str, NDArray[np.float64]]:
        intercept = {"intercept": self.draws_.intercept} if self.fit_intercept else {}
        return {**intercept, **self.draws_.hyperparameters()}

    def summary(self) -> pd.DataFrame:
        """Tabulate the variables, the most probable first.

        Returns
        -------
        pandas.DataFrame
            Indexed by variable. ``inclusion``: posterior probability that it is in; ``mcse``: its
            Monte Carlo error, or that of importance sampling. ``coefficient``, ``sd``, ``low`` and
            ``high``: posterior mean, standard deviation and 95% interval of its coefficient, in
            log-odds of ``classes_[1]`` per unit of the
            variable, zeros of models without it included. ``if_included``: the mean over models
            that have it. ``odds_ratio``, ``odds_ratio_low`` and ``odds_ratio_high``: exponentials
            of the mean and the ends of the interval, what a unit of the variable multiplies the
            odds by; ``odds_ratio_per_sd``: that of the mean for one standard deviation of the
            variable. ``attrs["solver"]`` says how it was computed; ``attrs["sensitivity"]``, where
            theta is learned, how far it moves under half and twice the expected size.

        Examples
        --------
        >>> from ellzero import SpikeSlabClassifier
        >>> from sklearn.datasets import load_breast_cancer
        >>> cancer = load_breast_cancer(as_frame=True)
        >>> model = SpikeSlabClassifier(n_draws=3000, random_state=0)
        >>> model = model.fit(cancer.data, cancer.target)
        >>> print(model.summary().index[0])
        worst texture
        """
        return super().summary()

    def _variable_table(self) -> pd.DataFrame:
        import pandas as pd

        interval = self.credible_interval()
        inclusion, coef = self.inclusion_probabilities_, self.coef_[0]
        with np.errstate(invalid="ignore", divide="ignore"):
            if_included = np.where(inclusion > 0, coef / inclusion, 0.0)
        return pd.DataFrame(
            {
                "inclusion": inclusion,
                "mcse": self.probability_errors_,
                "coefficient": coef,
                "sd": self.coef_sd_[0],
                "low": interval["low"],
                "high": interval["high"],
                "if_included": if_included,
                "odds_ratio": ratios(coef),
                "odds_ratio_low": ratios(interval["low"].to_numpy()),
                "odds_ratio_high": ratios(interval["high"].to_numpy()),
                "odds_ratio_per_sd": ratios(coef * self._column_sd),
            },
            index=interval.index,
        )
