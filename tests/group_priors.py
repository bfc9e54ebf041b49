"""Posteriors over groups of the core, with any hyperparameters."""

from ellzero import _core


def group_posterior(design, groups, prior, *, parents=None, strong=True, scaled=True):
    """``prior`` is the core's, with log-odds by group; ``parents`` lists by group."""
    return _core.GroupPosterior(
        design, groups, scaled, prior, parents or [], strong, cache_bytes=1e8
    )


def enumerate_groups(posterior, n_columns, draws=1, seed=0, threads=1):
    """Return draws and averages, the mass of every set, and the log of the evidence."""
    found = posterior.enumerate([0.0] * n_columns, draws, seed, threads)
    return found.draws, found.masses, found.log_evidence


def run_group_chains(
    posterior, n_columns, starts, *, draws, warmup, thin=1, seed=0, threads=1, modes=()
):
    """Between ``modes`` chains exchange sets of groups."""
    schedule = _core.Schedule()
    schedule.warmup, schedule.draws, schedule.thin = warmup, draws, thin
    zeros = [0.0] * n_columns
    return posterior.sample(
        starts,
        zeros,
        seed=seed,
        schedule=schedule,
        threads=threads,
        progress=None,
        modes=[list(mode) for mode in modes],
    )
