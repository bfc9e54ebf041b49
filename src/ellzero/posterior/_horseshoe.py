"""Linear regression under a horseshoe prior, whole posterior."""

from __future__ import annotations

import math
from numbers import Real
from os import PathLike
from typing import Any, ClassVar

from ellzero import _core
from ellzero._sklearn import Interval
from ellzero.posterior._prior import check_sigma, expected_size_of
from ellzero.posterior._scale_mixture import ScaleMixtureRegressor

__all__ = ["HorseshoeRegressor"]


class HorseshoeRegressor(ScaleMixtureRegressor):
    r"""Linear regression under a horseshoe prior: a few effects of any size, the rest near zero.

    .. math:: y = \mu + X\beta + e, \quad e \sim N(0, \sigma_e^2 I),

    .. math:: \beta_j \sim N(0, \lambda_j^2 \tau^2), \quad \lambda_j \sim C^+(0, 1), \quad
              \tau \sim C^+(0, \tau_0 \sigma_e)

    with flat :math:`\mu`, half-Cauchy scales and the columns of X centred (if there is an
    intercept) and scaled to unit l2 norm inside. What comes back is in the user's units.

    Parameters
    ----------
    tau : "learn" or float, default="learn"
        Global scale, in units of y, for columns of unit l2 norm. "learn" gives it the prior above.
    expected_size : float, default=None
        How many variables m are expected to matter: ``tau_0 = m / (p - m)`` (Piironen and Vehtari
        2017). More than 0, less than p; None means 10, or half of p where that is less.
    regularised : bool, default=False
        Whether to bound large effects by a slab (Piironen and Vehtari 2017):
        ``1 / var(beta_j) = 1 / (tau lambda_j)^2 + 1 / c^2``,
        ``c^2 ~ InvGamma(slab_df / 2, slab_df slab_scale^2 / 2)``, so that an effect that the data
        hardly bound, as of one of two nearly equal columns, has a Student-t prior rather than one
        without moments.
    slab_df : float, default=4.0
        Degrees of freedom of the slab.
    slab_scale : float, default=None
        Its scale, in units of y, for columns of unit l2 norm: like tau, it depends on n, and
        :func:`ellzero.posterior.from_standardised` turns it from units of y per standard deviation
        of a column. None means the norm of y less its mean: one standard deviation of y per
        standard deviation of a column.
    sigma_e : "learn" or float, default="learn"
        Standard deviation of the noise, in units of y. "learn" gives
        ``sigma_e^2 ~ InvGamma(.005, .0025 var(y))``: worth a hundredth of a row, and proper, as it
        has to be for p >= n.
    n_chains, n_draws, n_warmup : int, default=4, 1000, 500
        Chains, draws kept of each, and iterations before them.
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
    coef_ : ndarray of shape (p,)
        Posterior mean of the coefficients, in units of y per unit of the column.
    coef_sd_ : ndarray of shape (p,)
        Their posterior standard deviation.
    intercept_ : float
        Posterior mean of the intercept, in units of y.
    support_ : ndarray of int
        Variables whose sign has posterior probability above .975, so that the 95% interval excludes
        zero. No coefficient is exactly zero: for the probability that one is, there is
        :class:`ellzero.SpikeSlabRegressor`.
    draws_ : PosteriorDraws
        Draws of coefficients, intercept, sigma_e and, where learned, tau; c, as ``slab``, if there
        is one.
    diagnostics_ : pandas.DataFrame
        By variable, and for the hyperparameters: ``r_hat`` (rank-normalised), ``ess_bulk``,
        ``ess_tail``, and ``mcse``, the Monte Carlo error of the mean.
    n_features_in_ : int
        Columns seen during fit.
    feature_names_in_ : ndarray of str
        Their names, if X had names that are all strings.

    Warns
    -----
    ConvergenceWarning
        If the chains disagree, or the draws of a coefficient, tau or sigma_e are worth too few
        independent ones.

    See Also
    --------
    BayesianBridgeRegressor : A prior with lighter tails, and a power to choose.
    SpikeSlabRegressor : Which variables are in.

    Notes
    -----
    The sampler is that of :class:`ellzero.BayesianBridgeRegressor` but for the scales: tau and
    sigma_e are drawn with the local scales integrated out, the local scales independently and
    exactly. Where rows are few, all scales are drawn with the coefficients integrated out.

    References
    ----------
    Carvalho, Polson and Scott (2010), "The horseshoe estimator for sparse signals", Biometrika 97.

    Piironen and Vehtari (2017), "Sparsity information and regularization in the horseshoe and other
    shrinkage priors", EJS 11.

    Examples
    --------
    >>> from ellzero import HorseshoeRegressor
    >>> from ellzero.datasets import load_diabetes_interactions
    >>> diabetes = load_diabetes_interactions()
    >>> model = HorseshoeRegressor(n_draws=3000, random_state=0)
    >>> model = model.fit(diabetes.data, diabetes.target)
    >>> [str(name) for name in model.get_feature_names_out()]
    ['bmi', 'map', 'ltg']
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "expected_size": [Interval(Real, 0, None, closed="neither"), None],
        "regularised": ["boolean"],
        "slab_df": [Interval(Real, 0, None, closed="neither")],
        "slab_scale": [Interval(Real, 0, None, closed="neither"), None],
        **ScaleMixtureRegressor._parameter_constraints,
    }

    def __init__(
        self,
        *,
        tau: float | str = "learn",
        expected_size: float | None = None,
        regularised: bool = False,
        slab_df: float = 4.0,
        slab_scale: float | None = None,
        sigma_e: float | str = "learn",
        n_chains: int = 4,
        n_draws: int = 1000,
        n_warmup: int = 500,
        fit_intercept: bool = True,
        random_state: Any = None,
        checkpoint: str | PathLike[str] | None = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.tau = tau
        self.expected_size = expected_size
        self.regularised = regularised
        self.slab_df = slab_df
        self.slab_scale = slab_scale
        self.sigma_e = sigma_e
        self.n_chains = n_chains
        self.n_draws = n_draws
        self.n_warmup = n_warmup
        self.fit_intercept = fit_intercept
        self.random_state = random_state
        self.checkpoint = checkpoint
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _set_scales(self, prior: _core.ScaleMixturePrior, n_columns: int) -> tuple[str, ...]:
        prior.is_horseshoe = True
        horseshoe = prior.horseshoe
        tau = check_sigma("tau", self.tau)
        horseshoe.learn_tau = tau is None
        horseshoe.regularised = bool(self.regularised)
        horseshoe.slab_df = _check_degrees(self.slab_df)
        if self.slab_scale is not None:
            horseshoe.slab_scale = float(check_sigma("slab_scale", self.slab_scale) or 1)
            if not self.regularised:
                raise ValueError(f"slab_scale={self.slab_scale!r} is for regularised=True only.")
        slab = ("slab",) if self.regularised else ()
        if tau is not None:
            horseshoe.tau = tau
            return slab
        size = expected_size_of(self.expected_size, n_columns)
        horseshoe.tau_scale = size / (n_columns - size)
        return ("tau", *slab)

    def _set_units(self, prior: _core.ScaleMixturePrior, design: _core.Quadratic) -> None:
        if self.slab_scale is None and design.yy > 0:
            prior.horseshoe.slab_scale = math.sqrt(design.yy)


def _check_degrees(slab_df: Any) -> float:
    if not 0.01 <= slab_df <= 1e6:
        raise ValueError(f"slab_df must be a number between 0.01 and 1e6; got {slab_df!r}.")
    return float(slab_df)
