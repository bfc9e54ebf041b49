"""Fitted posteriors that last: saved to a file and loaded, their chains extended."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import cached_property
from numbers import Integral
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from ellzero._progress import draw_printer
from ellzero._sklearn import unchanged_on_error
from ellzero.posterior._active import ALL, Active
from ellzero.posterior._archive import pack, unpack
from ellzero.posterior._checkpoint import Checkpoint
from ellzero.posterior._run import ChainRun, begin_run, go_on
from ellzero.posterior._solvers import how_to_draw

__all__ = ["LastingPosterior"]

_FORMAT, _VERSION = "ellzero posterior", 1


def _records() -> tuple[type, ...]:
    """Return the classes of this package that a saved posterior may have."""
    from ellzero.posterior._credible_sets import Correlations
    from ellzero.posterior._draws import PosteriorDraws
    from ellzero.posterior._jointness import Pairs
    from ellzero.posterior._marginals import KeptFlat, Marginals, VariancePrior
    from ellzero.posterior._model_odds import LogEvidence, ModelWeights
    from ellzero.posterior._model_prior import ModelPrior
    from ellzero.posterior._models import Models
    from ellzero.posterior._sensitivity import BySize, SizePrior
    from ellzero.regression._parents import Parents

    priors = (BySize, ModelPrior, Parents, SizePrior, VariancePrior)
    of_models = (KeptFlat, LogEvidence, Marginals, ModelWeights, Models, Pairs)
    return (*priors, *of_models, ChainRun, Correlations, PosteriorDraws)


class LastingPosterior:
    """A posterior known by draws, which can be saved, and extended where chains made them.

    Subclasses call ``_begin``, ``_draw`` and ``_finish`` while they are fitted.
    """

    checkpoint: Any
    n_chains: int
    verbose: int
    get_params: Callable[..., dict[str, Any]]
    _run: ChainRun

    def extend(self, n_draws: int, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Go on drawing from where the chains ended.

        The result is that of a fit with so many draws more, to the bit, whatever ``n_jobs``: draws,
        attributes and diagnostics. The parameter ``n_draws`` stays as it is; ``draws_.n_draws`` has
        the sum. Where all models were visited, probabilities and means are exact already: the
        draws, which are independent, are all made anew.

        Parameters
        ----------
        n_draws : int
            How many more draws to keep of each chain.
        X, y, sample_weight : array-likes
            Those of the fit, which does not keep them.

        Returns
        -------
        self
            The estimator.

        Raises
        ------
        ValueError
            If the data are others, or a parameter was changed since the fit.

        Examples
        --------
        >>> from ellzero import SpikeSlabRegressor
        >>> from ellzero.datasets import load_diabetes_interactions
        >>> diabetes = load_diabetes_interactions()
        >>> X, y = diabetes.data, diabetes.target
        >>> model = SpikeSlabRegressor(n_draws=200, random_state=0).fit(X, y)
        >>> model.extend(300, X, y).draws_.n_draws
        500
        """
        check_is_fitted(self)
        if isinstance(n_draws, bool) or not (isinstance(n_draws, Integral) and n_draws >= 1):
            raise ValueError(f"n_draws must be a positive integer; got {n_draws!r}.")
        with unchanged_on_error(self):
            before = [getattr(self, name, None) for name in _OF_COLUMNS]
            self._extend(int(n_draws), X, y, sample_weight)
            for one, name in zip(before, _OF_COLUMNS, strict=True):
                if not np.array_equal(one, getattr(self, name, None)):
                    raise ValueError("extend: X has other columns than that of the fit.")
        return self

    def _extend(self, more: int, X: Any, y: Any, sample_weight: Any) -> None:
        raise NotImplementedError

    def save(self, path: str | os.PathLike[str]) -> None:
        """Save the fitted estimator as one file, without pickle.

        :meth:`load` brings it back to the bit, on the same machine or another. The file is a
        ``.npz`` of plain arrays with a JSON header, see ``docs/posterior.md``; it holds draws and
        results, not the data.

        Parameters
        ----------
        path : str or os.PathLike
            The file; it is written aside and then renamed, so it is there whole or not at all.

        Raises
        ------
        TypeError
            If a parameter is of a kind that can't be saved.
        ValueError
            If the file can't be written.

        Examples
        --------
        >>> import os, tempfile
        >>> from ellzero import SpikeSlabRegressor
        >>> from ellzero.datasets import load_diabetes_interactions
        >>> diabetes = load_diabetes_interactions()
        >>> X, y = diabetes.data, diabetes.target
        >>> model = SpikeSlabRegressor(n_draws=200, random_state=0).fit(X, y)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     model.save(os.path.join(folder, "diabetes.npz"))
        ...     loaded = SpikeSlabRegressor.load(os.path.join(folder, "diabetes.npz"))
        >>> bool((loaded.predict(X) == model.predict(X)).all())
        True
        """
        from ellzero.tables import write_aside

        check_is_fitted(self)
        parameters = self.get_params(deep=False)
        # Tables that are made when they are asked for are made again; a number may have been set
        fitted = {
            name: value
            for name, value in sorted(vars(self).items())
            if name not in parameters
            and (
                isinstance(value, float)
                or not isinstance(getattr(type(self), name, None), cached_property)
            )
        }
        content = {
            "estimator": {"class": type(self).__name__},
            "parameters": parameters,
            "fitted": fitted,
        }
        write_aside(Path(path), pack(_FORMAT, _VERSION, content, _records()))

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Load an estimator that :meth:`save` wrote.

        Nothing in the file is run: one from a stranger is safe to load.

        Parameters
        ----------
        path : str or os.PathLike
            The file.

        Returns
        -------
        estimator
            The fitted estimator.

        Raises
        ------
        ValueError
            If the file is not one of this class, is from a later version, or was cut or changed.
        """
        content = unpack(Path(path), _FORMAT, _VERSION, "a saved posterior", _records())
        name = content["estimator"]["class"]
        if name != cls.__name__:
            raise ValueError(f"{path} holds a {name}: it is loaded by {name}.load.")
        try:
            loaded = cls(**content["parameters"])
        except TypeError:
            raise ValueError(f"{path} has parameters that {name} does not know.") from None
        vars(loaded).update(content["fitted"])
        return loaded

    def _begin(self, data: str, more: int) -> ChainRun:
        """Return the run of this fit: a new one, one that was stopped, or one to go on with."""
        if more:
            run = go_on(self._run, self, data, more)
            large = self._drawn() if run.chains else {}
            run.chains = [
                {**chain, **{name: values[number] for name, values in large.items()}}
                for number, chain in enumerate(run.chains)
            ]
            return run
        run = begin_run(self, data)
        return run if self.checkpoint is None else Checkpoint(self.checkpoint, self).resume(run)

    def _draw(
        self,
        run: ChainRun,
        sample: Callable[..., list[dict[str, Any]]],
        *,
        tempered: bool = False,
        active: Active = ALL,
    ) -> list[dict[str, Any]]:
        """Run the chains from where they are; ``sample`` takes a schedule, threads and progress."""
        schedule, workers = how_to_draw(self, run.n_draws)
        schedule.tempered = tempered
        schedule.batch, schedule.within = active.batch, active.within
        chains = self.n_chains
        total = chains * (schedule.warmup + schedule.draws * schedule.thin)
        verbose, begin = self.verbose, chains * run.iteration
        report = draw_printer(type(self).__name__, total, verbose, begin)

        def go(schedule: Any) -> list[dict[str, Any]]:
            before = chains * run.iteration
            progress = None if report is None else lambda done: report(before + done)
            return sample(schedule=schedule, threads=workers, progress=progress)

        if self.checkpoint is None:
            return run.draw(schedule, go)
        return run.draw(schedule, go, Checkpoint(self.checkpoint, self).write)

    def _drawn(self) -> dict[str, NDArray[Any]]:
        """Return what a run needs of the draws but leaves to the estimator to keep, by chain."""
        raise NotImplementedError

    def _finish(self, run: ChainRun) -> None:
        """Keep what is needed to go on, and no checkpoint."""
        self._run = run.without(*(self._drawn() if run.chains else ()))
        if self.checkpoint is not None:
            Checkpoint(self.checkpoint, self).remove()


_OF_COLUMNS = ("feature_names_in_", "n_features_in_", "classes_")
