"""Linear regression under a spike-and-slab prior, whole posterior."""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping
from functools import partial
from numbers import Integral, Real
from os import PathLike
from typing import Any, ClassVar

import numpy as np
from joblib import effective_n_jobs
from numpy.typing import NDArray
from scipy.special import gammainc

from ellzero._sklearn import Interval, StrOptions, check_fit_input, unchanged_on_error
from ellzero._warnings import DependentColumnWarning, MixingWarning
from ellzero.posterior._by_model import MADE_OF_MODELS, ByModel
from ellzero.posterior._diagnostics import mixing_problem
from ellzero.posterior._draws import PosteriorDraws, collect_draws
from ellzero.posterior._flat import FlatTerms
from ellzero.posterior._jointness import pairs_from_masses
from ellzero.posterior._models import models_from_masses
from ellzero.posterior._prior import PriorSettings
from ellzero.posterior._prior_draws import draw_regression_prior
from ellzero.posterior._problem_of import problem_of
from ellzero.posterior._problems import ColumnProblem
from ellzero.posterior._run import ChainRun, fingerprint
from ellzero.posterior._sensitivity import SizePrior, by_size
from ellzero.posterior._solvers import choose_solver, deal_to_chains
from ellzero.posterior._spike_slab_results import MADE_LATER
from ellzero.posterior._starts import Starts
from ellzero.posterior._student import StudentProblem, noise_problem
from ellzero.posterior._unit_prior import NO_UNITS
from ellzero.regression._units import UNIT_CONSTRAINTS

__all__ = ["SpikeSlabRegressor"]

_SLABS = {"gaussian", "laplace", "zellner", "boom"}
_SCALE_PRIORS = {"selection", "prediction", "zellner-siow"}
_UNIT_PARAMETERS = ("feature_groups", "heredity", "parents", "penalty_factor")


class SpikeSlabRegressor(ByModel):
    r"""Linear regression under a spike-and-slab prior: which variables are in, and how surely.

    .. math:: y = \mu + X\beta + e, \quad e \sim N(0, \sigma_e^2 I), \quad
              \beta_i \sim (1 - \theta)\, \delta_0 + \theta\, N(0, \sigma_\beta^2)

    with flat :math:`\mu` and the columns of X centred (if there is an intercept) and scaled to unit
    l2 norm inside. The whole posterior is computed: by visiting every model where they are few,
    else by Markov chains in which the coefficients, :math:`\theta` and, where the slab allows it,
    :math:`\sigma_e` are integrated out. What comes back is in the user's units.

    Parameters
    ----------
    theta : "learn", float, array of shape (p,), mapping or Series, default="learn"
        Prior probability that a variable is in. "learn" gives it the prior
        ``Beta(1, p / expected_size - 1)``, whose mean is ``expected_size / p``. By column, 0 keeps
        a variable out and 1 in; a mapping or a Series goes by name, and columns that it leaves out
        have ``expected_size / p``.
    sigma_beta : "learn" or float, default="learn"
        Standard deviation of the slab, in units of y, for columns of unit l2 norm. It depends on n:
        :func:`ellzero.posterior.from_standardised` turns it from units of y per standard deviation
        of a column. "learn" gives it the prior that ``scale_prior`` names. Not used by "zellner"
        and "boom".
    sigma_e : "learn" or float, default="learn"
        Standard deviation of the noise, in units of y. "learn" gives
        ``sigma_e^2 ~ InvGamma(.005, .0025 var(y))``: worth a hundredth of a row.
    noise : {"gaussian", "student"}, default="gaussian"
        "student" is for data with outliers: ``e_i / sigma_e`` is Student's t, so that rows far out
        count for little. ``sigma_e`` is the scale of the t then, not its standard deviation, and
        where the priors of sigma_e and sigma_beta have y'y they have ``(n - 1) s^2`` instead,
        s = 1.4826 times the median of ``|y - median(y)|``, which outliers can't blow up. For
        ``slab="gaussian"``, single columns and solver "gibbs".
    noise_df : "learn" or float, default="learn"
        Degrees of freedom of Student's noise, from 1 (Cauchy) to 1e6. "learn" gives it the prior
        ``noise_df - 1 ~ Exponential`` of mean 10: heavy tails and nearly normal noise alike.
    expected_size : float, default=None
        How many variables are expected before the data: more than 0, less than p. None means 2, or
        a quarter of p where that is less; with ``scale_prior="prediction"`` 10, or half of p.
    scale_prior : {"selection", "prediction", "zellner-siow"}, default="selection"
        Prior of a sigma_beta that is learned. "selection" is ``sigma_beta^2 ~ InvGamma(1, y'y/2)``,
        y centred: an effect is expected to be large, one variable explaining half of y, so that
        in data with nothing in them nothing is found (a Laplace slab has ``InvGamma(1, y'y)``).
        "prediction" is ``InvGamma(1, y'y / (2 expected_size))``, half of y shared by so many
        variables: with more of them expected, the better predictor where the signal is weak, but
        its probabilities are too high. "zellner-siow" is ``sigma_beta^2 / sigma_e^2 ~
        InvGamma(1/2, n/2)``, with heavier tails and in units of the noise.
    slab : {"gaussian", "laplace", "zellner", "boom"}, default="gaussian"
        "gaussian" as above. "laplace" has the same variance, with density proportional to
        ``exp(-sqrt(2) |b| / sigma_beta)``: the paper's Bernoulli-Laplace. "zellner" is
        ``N(0, g sigma_e^2 (X_S'X_S)^-1)``, S the model; columns that depend on it can't join, nor
        groups that do so in part. "boom" is the prior of BoomSpikeSlab with all its defaults, on
        centred columns and with the intercept in: ``N(0, sigma_e^2 (kappa / n (X_S'X_S / 2 +
        diag(X_S'X_S) / 2))^-1)``, kappa = .01 (that package has theta given).
    g : float, default=None
        Zellner's g; None means the number of rows.
    slab_scale : array of shape (p,), mapping or Series, default=None
        What sigma_beta, given or learned, is multiplied by for each column: its slab has standard
        deviation ``slab_scale_j * sigma_beta``, in units of y, for the column at unit l2 norm. From
        .001 to 1000; columns that a mapping or a Series leaves out have 1, as all have by default.
        For a prior of standard deviation s_j per unit of the column as it is, give
        ``s_j * norm_j / sigma_beta``, norm_j the l2 norm of the centred column. With groups by
        group. Not for "zellner" and "boom".
    solver : {"auto", "enumerate", "gibbs", "tempered"}, default="auto"
        "enumerate" visits all models, up to 22 columns (or groups) that may go either way, or 16 if
        a variance of the Gaussian slab's model is learned; not for "laplace". "gibbs" makes sweeps
        of single flips, swaps, and exchanges between modes that are found first. "tempered" is
        weighted tempered Gibbs (Zanella and Roberts 2019), run in continuous time; not for groups
        and heredity. "auto" enumerates where that takes a moment and is Gibbs otherwise:
        ``solver_`` says which.
    n_chains, n_draws, n_warmup : int, default=4, 1000, 500
        Chains, draws kept of each, and iterations before them. Enumeration makes as many draws,
        independent ones.
    thin : int, default=1
        Iterations for every draw kept. Probabilities and means average over all of them; what is
        saved is memory.
    always_include : sequence of names, integers, or mask, default=None
        Columns that are in every model, under the same slab; they don't count for theta. With
        groups it takes their names too, and a column stands for its group.
    flat : sequence of names, integers, or mask, default=None
        Columns that are in every model under a flat prior, like the intercept: confounders, a
        design's blocks, a trend. What is computed is the posterior of what they leave of y and of
        the other columns, with one degree of freedom less for each of them; their coefficients come
        back. They don't count for theta and ``expected_size``. ``sigma_beta`` is for the other
        columns at unit l2 norm as they are, centred; if it is learned, y in its prior is what flat
        columns leave, over the mean share that they leave of the squares of a column. "zellner" and
        "boom" are made of what is left of the columns. A column in the span of flat ones is left
        out. With groups it takes their names too, and a column stands for its group.
    feature_groups : sequence of labels, or mapping, default=None
        Columns that are in or out together, such as the dummies of a factor: a label for each
        column (None for a column by itself), or a mapping from the name of a group to its columns;
        columns not named are by themselves. There is one indicator per group: theta, given or
        learned, and ``expected_size`` are of groups. The Gaussian slab of a group with r
        independent columns is ``X_g b_g = Q_g c, c ~ N(0, sigma_beta^2 / r I)``, Q_g orthonormal:
        its fit is expected to be as large as that of one column, and which level of a factor is
        left out changes nothing. For the slabs "gaussian" and "zellner".
    heredity : {"strong", "weak"}, default=None
        Strong: a product has probability zero without all its parents; weak: without one of them.
        Units that may be in, given the others, are in with probability theta: Chipman (1996). A
        theta that is learned is ``Beta(1, b)``, b such that ``expected_size`` units are expected.
        Products are known by their names, ``a:b``, ``a b`` and ``a^2``, or by ``parents``.
    parents : mapping, default=None
        From a product to the names of its parents, columns or groups.
    penalty_factor : sequence of floats, or mapping, default=None
        What the log-odds of a theta that is given are multiplied by, for each group or column:
        ``theta_i = 1 / (1 + ((1 - theta) / theta)^factor_i)``. Positive; with theta below one half,
        a greater factor is a lower probability.
    fit_intercept : bool, default=True
        Whether to centre y and the columns of X and to fit an intercept.
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
    inclusion_probabilities_ : ndarray of shape (p,)
        Posterior probability that each variable is in: that of its group, if there are groups.
    group_probabilities_ : pandas.Series
        The same by group, if there are groups, or rules for columns.
    groups_ : list of str
        The names of the groups with probability above one half, if there are groups, or rules.
    coef_ : ndarray of shape (p,)
        Posterior mean of the coefficients, in units of y per unit of the column; zeros of models
        without the variable count. Like the two beside it, an average of conditional expectations
        (Rao-Blackwell), not of draws.
    coef_sd_ : ndarray of shape (p,)
        Posterior standard deviation of the coefficients; infinite for fewer than three rows with
        sigma_e learned and slab "zellner" or "boom". That of a flat column rests on draws.
    intercept_ : float
        Posterior mean of the intercept, in units of y.
    support_ : ndarray of int
        The median model: variables with probability above one half. It keeps to strong heredity;
        to weak heredity it need not.
    models_ : pandas.DataFrame
        The models met, with their posterior mass, best first: ``variables`` (a tuple of names),
        ``size`` and ``mass``, which is exact for "enumerate" and a share of draws otherwise. With
        groups, or rules for columns, ``groups`` instead of ``variables``; so it is of what follows.
        ``log_marginal`` is log p(y | model), of the same density as ``log_evidence_``, and
        ``prior`` p(model). Against the most probable of them: ``bayes_factor``, ``prior_odds`` and
        ``posterior_odds``, their product. ``renormalised`` is p(y | model) p(model) over its sum
        over these models: free of the chance in draws, and too high as far as models are missing.
        NaN beyond the first 1,000 models and the 500 most probable columns, and for "laplace" and
        Student's noise, under which p(y | model) has no closed form.
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
        By variable, for the inclusion probabilities, and for the hyperparameters: ``r_hat``
        (rank-normalised), ``ess_bulk``, ``ess_tail``, and ``mcse``, the Monte Carlo error.
    probability_errors_ : ndarray of shape (p,)
        Monte Carlo errors of the inclusion probabilities, with what draws may have missed: zeros if
        all models were visited.
    row_weights_ : ndarray of shape (n,)
        With Student's noise: posterior mean of each row's weight ``w_i``, where the variance of its
        noise is ``sigma_e^2 / w_i`` and w_i is 1 on average before the data. Near 0 for an outlier.
    solver_ : str
        The solver used.
    log_evidence_ : float
        Log of the density of y under the prior (of its n - 1 contrasts, if there is an intercept),
        for comparing priors, or sets of columns, on the same rows. The priors of learned variances
        are scaled to the data. With flat columns of rank r it is that of r contrasts fewer: compare
        what has the same flat columns. Exact for "enumerate"; of chains an estimate, or an
        AttributeError that says why there is none: for "laplace" and Student's noise, or where
        chains have met few models twice.
    log_evidence_error_ : float
        Its Monte Carlo error; zero for "enumerate".
    n_features_in_ : int
        Columns seen during fit.
    feature_names_in_ : ndarray of str
        Their names, if X had names that are all strings.

    Warns
    -----
    ConvergenceWarning
        If the chains disagree, a probability has a Monte Carlo error above .02, or the draws of
        sigma_e or of the number of variables are worth fewer than 400 independent ones. In runs of
        fewer than 4,000 draws the last two are scaled to their length.

    See Also
    --------
    ellzero.marginal_map : The single most probable model.
    ellzero.L0Regressor : The joint mode of models and coefficients.

    Notes
    -----
    A constant column can't be told from the intercept and is left out. ``sigma_e^2 / sigma_beta^2``
    is between 1e-10 and 1e10: its prior is cut off there, and given values must keep to it. Under
    ``scale_prior="zellner-siow"`` coefficients of columns that depend on each other would have no
    variance but for that: what is reported for them says where the prior ends.

    With Student's noise a table that takes less than 2 GB is copied, as numbers of double
    precision: sparse ones too.

    Examples
    --------
    The paper's diabetes example: six of 64 variables are in with probability above one half.

    >>> from ellzero import SpikeSlabRegressor
    >>> from ellzero.datasets import load_diabetes_interactions
    >>> diabetes = load_diabetes_interactions()
    >>> model = SpikeSlabRegressor(slab="boom", theta=0.5, random_state=0)
    >>> model = model.fit(diabetes.data, diabetes.target)
    >>> [str(name) for name in model.get_feature_names_out()]
    ['sex', 'bmi', 'map', 'hdl', 'ltg', 'age:sex']

    A factor of four levels is one variable, whichever level is left out.

    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> level = rng.integers(0, 4, size=200)
    >>> X = np.column_stack([level == 1, level == 2, level == 3, rng.normal(size=(200, 2))])
    >>> y = np.array([0.0, 1.0, 2.0, 0.5])[level] + rng.normal(size=200)
    >>> factor = SpikeSlabRegressor(feature_groups={"level": [0, 1, 2]}, random_state=0).fit(X, y)
    >>> factor.groups_
    ['level']
    >>> round(float(factor.group_probabilities_["level"]), 2)
    1.0

    Beside a trend that nobody doubts:

    >>> trend = np.arange(200) / 10
    >>> table = np.column_stack([trend, X[:, 3:]])
    >>> beside = SpikeSlabRegressor(flat=[0], random_state=0).fit(table, y + trend)
    >>> round(float(beside.coef_[0]), 1), beside.support_.tolist()
    (1.0, [0])
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "theta": [
            StrOptions({"learn"}),
            Interval(Real, 0, 1, closed="both"),
            "array-like",
            Mapping,
        ],
        "sigma_beta": [StrOptions({"learn"}), Interval(Real, 0, math.inf, closed="right")],
        "sigma_e": [StrOptions({"learn"}), Interval(Real, 0, math.inf, closed="right")],
        "noise": [StrOptions({"gaussian", "student"})],
        "noise_df": [StrOptions({"learn"}), Interval(Real, 0, math.inf, closed="right")],
        "expected_size": [Interval(Real, 0, None, closed="neither"), None],
        "scale_prior": [StrOptions(_SCALE_PRIORS)],
        "slab": [StrOptions(_SLABS)],
        "g": [Interval(Real, 0, None, closed="neither"), None],
        "slab_scale": ["array-like", Mapping, None],
        "solver": [StrOptions({"auto", "enumerate", "gibbs", "tempered"})],
        "n_chains": [Interval(Integral, 1, None, closed="left")],
        "n_draws": [Interval(Integral, 1, None, closed="left")],
        "n_warmup": [Interval(Integral, 0, None, closed="left")],
        "thin": [Interval(Integral, 1, None, closed="left")],
        "always_include": ["array-like", str, set, None],
        "flat": ["array-like", str, set, None],
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
        sigma_e: Any = "learn",
        noise: str = "gaussian",
        noise_df: Any = "learn",
        expected_size: float | None = None,
        scale_prior: str = "selection",
        slab: str = "gaussian",
        g: float | None = None,
        slab_scale: Any = None,
        solver: str = "auto",
        n_chains: int = 4,
        n_draws: int = 1000,
        n_warmup: int = 500,
        thin: int = 1,
        always_include: Any = None,
        flat: Any = None,
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
        self.sigma_e = sigma_e
        self.noise = noise
        self.noise_df = noise_df
        self.expected_size = expected_size
        self.scale_prior = scale_prior
        self.slab = slab
        self.g = g
        self.slab_scale = slab_scale
        self.solver = solver
        self.n_chains = n_chains
        self.n_draws = n_draws
        self.n_warmup = n_warmup
        self.thin = thin
        self.always_include = always_include
        self.flat = flat
        self.feature_groups = feature_groups
        self.heredity = heredity
        self.parents = parents
        self.penalty_factor = penalty_factor
        self.fit_intercept = fit_intercept
        self.random_state = random_state
        self.checkpoint = checkpoint
        self.n_jobs = n_jobs
        self.verbose = verbose

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> SpikeSlabRegressor:
        """Compute the posterior.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, p)
            The columns to choose from. Arrays of floats are not copied, and sparse input is not
            made dense. Or :class:`ellzero.SufficientStatistics`, with ``y=None``; arrays of Dask,
            h5py and zarr and memory-mapped files are read a stretch at a time. Or
            :class:`ellzero.Genotypes`, but not with Student's noise.
        y : array-like of shape (n,)
            The response.
        sample_weight : array-like of shape (n,), default=None
            Frequency weights, not negative: a row of weight 2 is the row twice.

        Returns
        -------
        SpikeSlabRegressor
            The fitted estimator.
        """
        with unchanged_on_error(self):
            statistics = self.noise != "student"  # whose weights are of rows
            self._fit(*check_fit_input(self, X, y, sample_weight, statistics=statistics))
        return self

    def _extend(self, more: int, X: Any, y: Any, sample_weight: Any) -> None:
        statistics = self.noise != "student"
        self._fit(*check_fit_input(self, X, y, sample_weight, statistics=statistics), more=more)

    def _fit_named(self, X: Any, y: Any, sample_weight: Any, names: NDArray[np.object_]) -> None:
        """Fit an array whose columns have names, as :meth:`fit` does a data frame."""
        with unchanged_on_error(self):
            checked = check_fit_input(self, X, y, sample_weight)
            self.feature_names_in_ = names
            self._fit(*checked)

    def _fit(
        self,
        X: Any,
        y: NDArray[np.float64],
        sample_weight: NDArray[np.float64] | None,
        more: int = 0,
    ) -> None:
        problem, settings, forced = problem_of(self, X, y, sample_weight)
        units, prior, free, always = problem.units, problem.prior, problem.free, problem.always
        flat = NO_UNITS if problem.flat is None else problem.flat.units
        learns = self.slab == "gaussian" and (prior.noise.learned or prior.slab_variance.learned)
        self.solver_ = choose_solver(
            self.solver,
            self.slab,
            learns,
            free.size,
            problem.always_width,
            what="columns" if units is None else "groups",
            width=problem.free_width,
            noise=self.noise,
        )
        given = (y,) if isinstance(y, np.ndarray) else ()  # else statistics of it
        run = self._begin(fingerprint(problem.design, *given), more)
        for name in (*MADE_LATER, *MADE_OF_MODELS, "groups_", "row_weights_"):
            self.__dict__.pop(name, None)  # of an earlier fit
        starts = problem.starts(self.n_chains, search=self.solver_ != "enumerate")
        if self.solver_ == "enumerate":
            found = problem.enumerate(
                starts.reference,
                draws=self.n_chains * run.n_draws,
                seed=run.seed,
                threads=effective_n_jobs(self.n_jobs),
            )
            chains = deal_to_chains(found.draws, self.n_chains, np.random.default_rng(run.seed))
            constant = problem.log_evidence_constant(settings.theta)
            self.log_evidence_ = found.log_evidence + constant
        else:
            tempered = self.solver_ == "tempered"
            if not tempered:
                starts = problem.activate(starts)
            sample = partial(problem.sample, starts, seed=run.seed)
            chains = self._draw(run, sample, tempered=tempered, active=starts.active)
        self._store(problem, chains, starts, run)
        if isinstance(problem, StudentProblem):
            problem.amend(self, chains)
        self._flat_units = flat
        self._correlations = problem.correlate(self._chosen_probabilities())
        self._marginals = problem.marginals(self._unit_probabilities)
        self._model_prior = problem.model_prior(settings.theta)
        always = np.union1d(always, flat)
        always = always[self._unit_probabilities[always] > 0]
        self._models = None
        self._pairs = None
        self._by_size = None
        self._size_prior = None
        if self.solver_ == "enumerate":
            self._models = models_from_masses(found.masses, free, always)
            self._pairs = pairs_from_masses(found.masses, free, always, len(problem.names))
        if settings.theta is None:
            # The scale hangs on the expected size too: then only draws know of both
            shared = self.scale_prior == "prediction"
            rate = prior.slab_variance.rate if shared else None
            self._size_prior = SizePrior(
                settings.expected_size, len(problem.names), free, always, rate, flat=flat
            )
            if units is not None:
                self._size_prior = self._size_prior._replace(
                    parents=units.parents, strong=units.strong, what="groups"
                )
            if self.solver_ == "enumerate" and not shared:
                self._by_size = by_size(found.masses, self._size_prior)
        self._check_cut(settings)
        self._warn(forced, problem.flat)
        self._finish(run)

    def _draw_prior(
        self, X: Any, y: Any, sample_weight: Any, n_draws: int, rng: np.random.Generator
    ) -> tuple[PosteriorDraws, Any]:
        X, y, sample_weight = check_fit_input(self, X, y, sample_weight)
        problem, settings, _ = problem_of(self, X, y, sample_weight)
        draws = draw_regression_prior(
            problem, settings, n_draws, rng, fit_intercept=self.fit_intercept
        )
        if isinstance(problem, StudentProblem):
            draws = problem.amend_prior(draws, rng)
        return draws, X

    def _store(
        self,
        problem: ColumnProblem,
        chains: list[dict[str, Any]],
        starts: Starts,
        run: ChainRun,
    ) -> None:
        design, prior, home = problem.design, problem.prior, problem.home
        exact = self.solver_ == "enumerate"
        count = 1 if exact else self.n_chains * run.n_draws
        inclusion, mean, square = (
            sum(chain[name] for chain in chains) / count for name in ("inclusion", "mean", "square")
        )
        flat = problem.flat
        self._unit_probabilities = np.clip(inclusion, 0, 1)
        if flat is not None:
            self._unit_probabilities[flat.present] = 1.0
        self.inclusion_probabilities_ = self._unit_probabilities
        if home is not None:
            self.inclusion_probabilities_ = self._unit_probabilities[home]
        self.coef_ = mean * design.inverse_scale
        sd = np.sqrt(np.maximum(square - (mean - np.array(starts.reference)) ** 2, 0))
        heavy = self.slab in ("zellner", "boom") and prior.noise.learned
        if heavy and prior.noise.shape + prior.degrees / 2 <= 1:
            sd[self.inclusion_probabilities_ > 0] = np.inf
        self.coef_sd_ = np.where(design.inverse_scale > 0, sd, 0.0) * design.inverse_scale
        if flat is not None:
            self.coef_ = flat.complete(self.coef_)
        self.intercept_ = design.mean_y - float(design.mean @ self.coef_)
        self.support_ = np.flatnonzero(self.inclusion_probabilities_ > 0.5)
        self.draws_ = collect_draws(
            chains,
            design,
            has_slab_variance=self.slab in ("gaussian", "laplace"),
            fit_intercept=self.fit_intercept,
            seed=run.seed,
            home=home,
            flat=flat,
        )
        if flat is not None:
            drawn = flat.standard_deviations(self.draws_.coef, self.draws_.sigma_e)
            self.coef_sd_[flat.columns] = np.inf if np.isinf(sd).any() else drawn
        self._home, self._group_names = home, None if home is None else problem.names
        if home is not None:
            likely = np.flatnonzero(self._unit_probabilities > 0.5)
            self.groups_ = [problem.names[unit] for unit in likely]
        self._conditional = None
        self._certain = ~np.isin(np.arange(len(problem.names)), problem.free)
        if not exact:
            rows = len(chains[0]["conditional"])  # for every batch of draws one
            shape = (self.n_chains, rows, len(problem.names))
            if self.n_chains == 1:
                self._conditional = chains[0].pop("conditional")[None]
            else:
                self._conditional = np.empty(shape, dtype=np.float32)
                for own, chain in zip(self._conditional, chains, strict=True):
                    own[:] = chain.pop("conditional")  # a large one is not held twice for long
            if flat is not None:
                self._conditional[:, :, flat.present] = 1.0
        self._mean, self._weight = design.mean, design.weight

    def _check_cut(self, settings: PriorSettings) -> None:
        """Refuse results that come of cutting off sigma_e^2 / sigma_beta^2."""
        given = {"sigma_beta": settings.sigma_beta, "sigma_e": settings.sigma_e}
        given = {name: value for name, value in given.items() if value is not None}
        if self.slab != "gaussian" or len(given) != 1:
            return
        assert self.draws_.sigma_beta is not None
        distance = np.abs(np.log10(self.draws_.sigma_e / self.draws_.sigma_beta))
        expected = 0.0
        if self.scale_prior == "zellner-siow":  # so much is out there before the data
            expected = float(gammainc(0.5, 0.5 * self._weight * 10 ** (-2 * 4.7)))
        if np.mean(distance > 4.7) < 0.01 + expected:
            return
        ((name, value),) = given.items()
        other = "sigma_e" if name == "sigma_beta" else "sigma_beta"
        raise ValueError(
            f"{name}={value:g} is too far from what the data say of {other}: the two may differ by "
            "a factor of 1e5 at most."
        )

    def _warn(self, forced: NDArray[np.int64], flat: FlatTerms | None) -> None:
        left_out = forced[self._unit_probabilities[forced] == 0]
        if left_out.size:
            column = self._unit_names()[left_out[0]]
            warnings.warn(DependentColumnWarning("always_include", column), stacklevel=4)
        if flat is not None and flat.dependent.size:
            column = self._names()[flat.dependent[0]]
            warnings.warn(DependentColumnWarning("flat", column), stacklevel=4)
        if self._conditional is None:
            return
        scales = self.draws_.hyperparameters()
        others = {"the number of variables": self.draws_.size, "sigma_e": scales.pop("sigma_e")}
        problem = mixing_problem(self._conditional, others, self._unit_names(), scales=scales)
        problem = problem or noise_problem(self.draws_)
        if problem:
            warnings.warn(MixingWarning("SpikeSlabRegressor", problem), stacklevel=4)
