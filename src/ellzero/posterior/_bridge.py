"""Linear regression under a bridge prior, whole posterior."""

from __future__ import annotations

import math
import warnings
from numbers import Real
from os import PathLike
from typing import Any, ClassVar

import numpy as np

from ellzero import _core
from ellzero._sklearn import Interval, StrOptions
from ellzero.posterior._prior import check_sigma
from ellzero.posterior._scale_mixture import ScaleMixtureRegressor

__all__ = ["BayesianBridgeRegressor"]

# With fewer columns than this the prior of nu is expected to matter.
_MANY = 10


class BayesianBridgeRegressor(ScaleMixtureRegressor):
    r"""Linear regression under a bridge prior: many effects, most of them small.

    .. math:: y = \mu + X\beta + e, \quad e \sim N(0, \sigma_e^2 I), \quad
              p(\beta_j) \propto \exp(-|\beta_j / \tau|^\alpha)

    with flat :math:`\mu` and the columns of X centred (if there is an intercept) and scaled to unit
    l2 norm inside. The power 1 is the Bayesian lasso, 2 would be ridge regression, and below 1 the
    prior has heavy tails and a sharp peak: large effects are left alone, small ones pulled to zero.
    What comes back is in the user's units.

    Parameters
    ----------
    alpha : float or "learn", default=0.5
        Power of the prior, above 0 and below 2. "learn" makes it uniform between .01 and 1:
        Beta(1, 1) but for its lower end, where numbers overflow.
    tau : "learn" or float, default="learn"
        Scale of the prior, in units of y, for columns of unit l2 norm. It depends on n:
        :func:`ellzero.posterior.from_standardised` turns it from units of y per standard deviation
        of a column. "learn" gives ``nu = tau^-alpha`` the Gamma prior ``nu_prior``.
    nu_prior : tuple of two floats, default=(2.0, 2.0)
        Shape and rate of the Gamma prior of nu. The default is what the R package BayesBridge
        documents; (.5, .5) is what its ``bridge.reg`` runs. The rate has a unit, that of
        ``|coefficient|^alpha``.
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
        Draws of coefficients, intercept, sigma_e and, where learned, tau and alpha.
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
    UserWarning
        If the prior's rate outweighs the coefficients, as it does when y is in small units.

    See Also
    --------
    HorseshoeRegressor : A prior without a power to choose.
    SpikeSlabRegressor : Which variables are in.

    Notes
    -----
    The prior does not depend on sigma_e. Gibbs sampling, with the normal mixture of Polson, Scott
    and Windle (2014): tau and alpha are drawn with the latent scales integrated out, the scales
    exactly from their tilted stable distribution (Devroye 2009), the coefficients jointly, by a
    Cholesky factor of p x p or, where rows are few, of n x n (Bhattacharya, Chakraborty and Mallick
    2016). A constant column can't be told from the intercept: its coefficient is zero.

    The draws take ``8 n_chains n_draws p`` bytes.

    References
    ----------
    Polson, Scott and Windle (2014), "The Bayesian bridge", JRSS B 76.

    Devroye (2009), "Random variate generation for exponentially and polynomially tilted stable
    distributions", ACM TOMACS 19.

    Examples
    --------
    >>> from ellzero import BayesianBridgeRegressor
    >>> from ellzero.datasets import load_diabetes_interactions
    >>> diabetes = load_diabetes_interactions()
    >>> model = BayesianBridgeRegressor(random_state=0).fit(diabetes.data, diabetes.target)
    >>> [str(name) for name in model.get_feature_names_out()]
    ['sex', 'bmi', 'map', 'ltg']
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "alpha": [StrOptions({"learn"}), Interval(Real, 0, 2, closed="neither")],
        "nu_prior": [tuple, list],
        **ScaleMixtureRegressor._parameter_constraints,
    }

    def __init__(
        self,
        *,
        alpha: float | str = 0.5,
        tau: float | str = "learn",
        nu_prior: tuple[float, float] = (2.0, 2.0),
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
        self.alpha = alpha
        self.tau = tau
        self.nu_prior = nu_prior
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
        bridge = prior.bridge
        tau = check_sigma("tau", self.tau)
        shape, rate = _check_nu_prior(self.nu_prior)
        bridge.learn_alpha, bridge.learn_tau = isinstance(self.alpha, str), tau is None
        if not isinstance(self.alpha, str):
            bridge.alpha = float(self.alpha)
        if tau is not None:
            bridge.tau = tau
        bridge.nu_shape, bridge.nu_rate = shape, rate
        learned = {"tau": bridge.learn_tau, "alpha": bridge.learn_alpha}
        return tuple(name for name, is_learned in learned.items() if is_learned)

    def _warn_of_prior(self, design: _core.Quadratic) -> None:
        """Warn where the rate of nu's prior holds it down, so that nothing is shrunk."""
        live = np.flatnonzero(design.inverse_scale)
        if self.draws_.tau is None or live.size < _MANY or design.yy == 0:
            return
        coef = np.abs(self.draws_.coef[:, live] / design.inverse_scale[live])
        alpha = self.alpha if self.draws_.alpha is None else self.draws_.alpha.reshape(-1, 1)
        total = float(np.mean(np.sum(coef**alpha, axis=1)))
        rate = float(self.nu_prior[1])
        if total < rate:
            warnings.warn(
                f"nu_prior={self.nu_prior!r} outweighs the data: its rate is {rate:g}, and the sum "
                f"of |coefficient|^alpha is {total:.2g} in the units of y. Rescale y, or give a "
                "smaller rate.",
                UserWarning,
                stacklevel=4,
            )


def _check_nu_prior(nu_prior: Any) -> tuple[float, float]:
    message = f"nu_prior must be two positive finite numbers, shape and rate; got {nu_prior!r}."
    if len(nu_prior) != 2:
        raise ValueError(message)
    for value in nu_prior:
        if isinstance(value, bool) or not isinstance(value, Real):
            raise ValueError(message)
    shape, rate = float(nu_prior[0]), float(nu_prior[1])
    if not (0 < shape < math.inf and 0 < rate < math.inf):
        raise ValueError(message)
    return shape, rate
