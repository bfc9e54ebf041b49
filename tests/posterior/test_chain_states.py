"""Chains that go on from their state, in the core: the same bits as chains that never stopped."""

import numpy as np
import pytest
from group_priors import group_posterior
from logit_posteriors import logit_prior, logit_rows, logit_start, simulated
from spike_slab_priors import VARIANCES, autoregressive, core_prior, design_of

from ellzero import _core
from ellzero.posterior._run import ChainRun, _state_of

X, Y = autoregressive(60, 20, 0.7, seed=1)


def columns_sampler(**prior):
    design, tempered = design_of(X, Y), prior.pop("tempered", False)
    active = prior.pop("active", [])
    own = core_prior(20, 59.0, theta=prior.pop("theta", (1.0, 3.0)), **prior)

    def sample(schedule, threads):
        schedule.tempered = tempered
        return _core.sample_spike_slab(
            design,
            own,
            [[3, 10], [], [5]],
            [0.1] * 20,
            seed=5,
            schedule=schedule,
            threads=threads,
            progress=None,
            modes=[[3, 10], [4, 11], [3, 10, 15]],
            active=active,
        )

    return sample


def groups_sampler(slab, heredity):
    prior = core_prior(8, 59.0, theta=(1.0, 3.0), noise=(0.5, 1.0), spread=(1.0, 30.0), slab=slab)
    groups = [[0, 1, 2], [3], [4, 5], [6], [7, 8], [9], [10], [11, 12]]
    parents = [[], [], [], [], [0, 1], [2, 3], [], []] if heredity else None
    posterior = group_posterior(design_of(X, Y), groups, prior, parents=parents)

    def sample(schedule, threads):
        return posterior.sample(
            [[0, 2], [], [3]],
            [0.1] * 20,
            seed=5,
            schedule=schedule,
            threads=threads,
            progress=None,
        )

    return sample


def logit_sampler(spread):
    table, successes, counts = simulated(60, 10, 0.5, 2, counts=True)
    _, rows = logit_rows(table, successes, counts)
    prior = logit_prior(10, theta=(1.0, 3.0), spread=spread)
    starts = [logit_start([1, 5], [2.0, -1.0], 0.3), logit_start(), logit_start([2])]

    def sample(schedule, threads):
        return _core.sample_logit_spike_slab(
            rows,
            prior,
            starts,
            [0.1] * 10,
            seed=5,
            schedule=schedule,
            threads=threads,
            progress=None,
        )

    return sample


def logit_groups_sampler():
    table, successes, counts = simulated(60, 10, 0.5, 2, counts=True)
    _, rows = logit_rows(table, successes, counts)
    prior = logit_prior(10, theta=(1.0, 3.0), spread=(2.0, 50.0))
    columns = [[0, 1, 2], [3], [4, 5], [6], [7, 8, 9]]

    def sample(schedule, threads):
        return _core.sample_logit_groups(
            rows,
            prior,
            columns,
            [0.0] * 5,
            [[], [], [], [], [0, 1]],
            True,
            [[0], [], [2, 3]],
            seed=5,
            schedule=schedule,
            threads=threads,
            progress=None,
        )

    return sample


def mixture_sampler(horseshoe, by_rows, sweeps=0):
    prior = _core.ScaleMixturePrior()
    prior.is_horseshoe = horseshoe
    prior.bridge.learn_alpha = True
    prior.noise.learned, prior.noise.shape, prior.noise.rate = True, 0.5, 1.0
    prior.degrees = 59.0
    design = design_of(X, Y)

    def sample(schedule, threads):
        assert schedule.thin == 1
        return _core.sample_scale_mixture(
            design,
            prior,
            chains=3,
            warmup=schedule.warmup,
            draws=schedule.draws,
            seed=5,
            threads=threads,
            by_rows=by_rows,
            sweeps=sweeps,
            stop=schedule.stop,
            states=schedule.states,
        )

    return sample


SAMPLERS = {
    **{f"columns, {name}": (columns_sampler, own) for name, own in VARIANCES.items()},
    "columns, laplace": (
        columns_sampler,
        {"slab": "laplace", "noise": (0.5, 1.0), "spread": (1.0, 60.0)},
    ),
    "columns, forced": (
        columns_sampler,
        {"noise": (0.5, 1.0), "spread": 30.0, "theta": np.repeat([0.3, 1 - 1e-16, 0.2, 0.4], 5)},
    ),
    "columns, tempered": (
        columns_sampler,
        {"noise": (0.5, 1.0), "spread": (1.0, 30.0), "tempered": True},
    ),
    "columns, active": (
        columns_sampler,
        {"noise": (0.5, 1.0), "spread": (1.0, 30.0), "active": [3, 4, 5, 10, 11, 17]},
    ),
    "columns, active, laplace": (
        columns_sampler,
        {"slab": "laplace", "noise": (0.5, 1.0), "spread": (1.0, 60.0), "active": [3, 4, 10, 11]},
    ),
    "groups": (groups_sampler, {"slab": "gaussian", "heredity": False}),
    "groups, zellner, heredity": (groups_sampler, {"slab": "zellner", "heredity": True}),
    "groups, heredity": (groups_sampler, {"slab": "gaussian", "heredity": True}),
    "logit": (logit_sampler, {"spread": 50.0}),
    "logit, slab learned": (logit_sampler, {"spread": (2.0, 50.0)}),
    "logit groups": (logit_groups_sampler, {}),
    "bridge": (mixture_sampler, {"horseshoe": False, "by_rows": False}),
    "bridge with sweeps": (mixture_sampler, {"horseshoe": False, "by_rows": False, "sweeps": 2}),
    "bridge by rows": (mixture_sampler, {"horseshoe": False, "by_rows": True}),
    "horseshoe": (mixture_sampler, {"horseshoe": True, "by_rows": False}),
    "horseshoe with sweeps": (mixture_sampler, {"horseshoe": True, "by_rows": False, "sweeps": 2}),
    "horseshoe by rows": (mixture_sampler, {"horseshoe": True, "by_rows": True}),
}


def make_schedule(warmup, thin, batch=1):
    schedule = _core.Schedule()
    schedule.warmup, schedule.thin, schedule.batch, schedule.within = warmup, thin, batch, 2
    return schedule


def assert_same_bits(one, other):
    assert len(one) == len(other)
    for first, second in zip(one, other, strict=True):
        assert first.keys() == second.keys()
        for name, values in first.items():
            np.testing.assert_array_equal(values, second[name], err_msg=name)


@pytest.mark.parametrize("name", SAMPLERS)
def test_a_chain_goes_on_as_if_it_had_not_stopped(name):
    make, arguments = SAMPLERS[name]
    sample = make(**arguments)
    schedule = (130, 1 if make is mixture_sampler else 3, 4 if "active" in arguments else 1)
    thin = schedule[1]
    before, after, end = (iterations // thin for iterations in (300, 510, 660))  # a boundary
    whole = ChainRun(5, end, "", {}).draw(make_schedule(*schedule), lambda s: sample(s, 1))
    run = ChainRun(5, before, "", {})
    run.draw(make_schedule(*schedule), lambda s: sample(s, 2))
    for n_draws in (after, end):
        run.n_draws = n_draws
        run.draw(make_schedule(*schedule), lambda s: sample(s, 3))
    assert_same_bits(run.chains, whole)


@pytest.mark.parametrize("name", ["columns, gaussian, both learned", "logit", "horseshoe"])
def test_a_run_in_slices_has_the_same_bits(name):
    make, arguments = SAMPLERS[name]
    sample = make(**arguments)
    whole = ChainRun(5, 550, "", {}).draw(make_schedule(730, 1), lambda s: sample(s, 1))
    seen = []
    run = ChainRun(5, 550, "", {})
    run.draw(make_schedule(730, 1), lambda s: sample(s, 1), lambda r: seen.append(r.iteration), 0.0)
    assert_same_bits(run.chains, whole)
    assert seen == [730, 1230]


def test_progress_counts_all_chains():
    told = []
    _core.sample_spike_slab(
        design_of(X, Y),
        core_prior(20, 59.0),
        [[], [], []],
        [0.0] * 20,
        seed=1,
        schedule=make_schedule(10, 1),
        threads=1,
        progress=told.append,
    )
    assert told == list(range(30))


def test_states_of_other_chains_are_refused():
    sample = columns_sampler(noise=1.0, spread=30.0)
    schedule = make_schedule(10, 1)
    schedule.draws = 20
    chains = sample(schedule, 1)
    states = [_state_of(chain) for chain in chains]
    for field, values in {
        "members": np.array([3, 99]),
        "tau": np.array([1.0, 2.0]),
        "random": np.array([1]),
    }.items():
        schedule.states = [{**state, field: values} for state in states]
        with pytest.raises(ValueError, match=f"not the state of such a chain: {field}"):
            sample(schedule, 1)
    schedule.states = [{**state, "probability_now": np.zeros(3)} for state in states]
    with pytest.raises(ValueError, match="not the state of such a chain: warm_states"):
        sample(schedule, 1)
    schedule.states = [{**state, "members": np.array([3, 3])} for state in states]
    with pytest.raises(ValueError, match="members"):
        sample(schedule, 1)
    schedule.states = states[:1]
    with pytest.raises(ValueError, match="one state for every chain"):
        sample(schedule, 1)
