"""What is said of chains that have not mixed, and of errors that are too great."""

import numpy as np
import pytest
from arviz_stats.base import array_stats
from spike_slab_priors import autoregressive
from traps import make_traps

from ellzero import SpikeSlabRegressor
from ellzero._warnings import MixingWarning
from ellzero.posterior._diagnostics import coefficient_problem, mixing_problem, probability_errors


def slow(rng, shape, memory):
    """Series with autocorrelation memory^lag, of variance one."""
    out = np.empty(shape)
    out[:, 0] = rng.standard_normal(shape[:1] + shape[2:])
    for t in range(1, shape[1]):
        fresh = rng.standard_normal(shape[:1] + shape[2:])
        out[:, t] = memory * out[:, t - 1] + np.sqrt(1 - memory**2) * fresh
    return out


def probabilities(rng, shape, memory=0.0, centre=0.0):
    return (1 / (1 + np.exp(-centre - 2 * slow(rng, shape, memory)))).astype(np.float32)


NAMES = [*"abcdef"]


def test_nothing_is_said_of_good_chains(rng):
    conditional = probabilities(rng, (4, 1000, 6))
    assert mixing_problem(conditional, {"size": rng.integers(0, 6, (4, 1000))}, NAMES) == ""
    assert coefficient_problem(slow(rng, (4, 1000, 6), 0.5), {}, NAMES) == ""
    assert coefficient_problem(np.zeros((4, 1000, 0)), {"sigma": slow(rng, (4, 1000), 0)}, []) == ""


def test_the_sets_of_chains_that_disagree_are_named(rng):
    conditional = np.full((4, 1000, 6), 0.01, dtype=np.float32)
    conditional[:2, :, [0, 3]] = conditional[2:, :, [1, 2, 5]] = 0.99
    conditional[:, :, 4] = 0.98  # in all of them
    conditional += 0.005 * rng.random(conditional.shape).astype(np.float32)
    said = mixing_problem(conditional, {}, NAMES)
    assert "inclusion probability is 0.01 in one and 0.99 in another" in said
    assert "{a, d}" in said
    assert "{b, c, f}" in said
    assert "e" not in said[said.index("where") + 5 :].replace("one", "").replace("another", "")


def test_errors_above_two_hundredths(rng):
    # All chains agree, for each of them has the same few values in another order
    conditional = probabilities(rng, (4, 1000, 6))
    steps = np.repeat(probabilities(rng, (1, 20)), 50)
    conditional[:, :, 2] = [np.roll(steps, 250 * chain) for chain in range(4)]
    error = probability_errors(conditional)[2]
    assert error > 0.02
    said = mixing_problem(conditional, {}, NAMES)
    assert said.startswith("the inclusion probability of 'c', 0.")
    assert f"has a Monte Carlo error of {error:.3f}" in said


def test_few_effective_draws(rng):
    conditional = probabilities(rng, (4, 1000, 6))
    scale = slow(rng, (4, 1000), 0.9)
    worth = array_stats.ess(scale, method="bulk")
    assert 50 < worth < 400
    said = mixing_problem(conditional, {"size": slow(rng, (4, 1000), 0), "sigma": scale}, NAMES)
    assert said == f"the 4000 draws of sigma are worth {worth:.0f} independent ones"
    assert mixing_problem(conditional, {}, NAMES, scales={"sigma": scale}) == ""
    scale[0] += 3  # and now they disagree
    said = mixing_problem(conditional, {}, NAMES, scales={"sigma": scale})
    assert said.startswith("the chains disagree on sigma (R-hat")
    scale[0] -= 3
    coef = slow(rng, (4, 1000, 6), 0.2)
    coef[:, :, 4] = 1e-3 * scale
    assert coefficient_problem(coef, {}, NAMES).startswith("the 4000 draws of 'e' are worth")


def test_short_runs_are_held_to_their_length(rng):
    # 400 independent draws are not worth 400 in each and every respect: that is no fault.
    conditional = probabilities(rng, (2, 200, 6))
    assert mixing_problem(conditional, {"sigma": slow(rng, (2, 200), 0.5)}, NAMES) == ""
    assert mixing_problem(conditional, {"sigma": slow(rng, (2, 200), 0.97)}, NAMES) != ""
    assert mixing_problem(conditional[:, :2], {}, NAMES) == ""


def test_one_chain_is_judged_too(rng):
    conditional = probabilities(rng, (1, 4000, 6))
    assert mixing_problem(conditional, {}, NAMES) == ""
    conditional[:, :, 1] = probabilities(rng, (1, 4000), 0.995)
    assert "of 'b'" in mixing_problem(conditional, {}, NAMES)


def test_what_no_draw_has_met_counts(rng):
    # A unit that is always in, as far as can be seen: it may be out in a model of mass 1 / ESS.
    sure = np.full((4, 1000, 2), 1 - 1e-9, dtype=np.float32)
    np.testing.assert_allclose(probability_errors(sure), 1 / 4000)
    np.testing.assert_array_equal(probability_errors(sure, np.array([True, False]))[0], 0)
    conditional = probabilities(rng, (4, 1000, 1), 0.9)
    values = conditional[:, :, 0].astype(float)
    plain, worth = array_stats.mcse(values, method="mean"), array_stats.ess(values, method="mean")
    share = max(values.mean(), 1 - values.mean())
    assert probability_errors(conditional)[0] == pytest.approx(np.hypot(plain, share / worth), 1e-3)


def test_a_trap_that_is_not_left_is_warned_of(monkeypatch):
    # Without the search for modes, chains stay where they are: the warning names the sets.
    monkeypatch.setattr("ellzero.posterior._starts.find_modes", lambda *_: [])
    trap = make_traps(3, 40, ["3 against 3"])
    one, other = ("{" + ", ".join(f"x{j}" for j in own) + "}" for own in trap.sets[0])
    model = SpikeSlabRegressor(random_state=0)
    with pytest.warns(MixingWarning, match="has not mixed: the chains disagree on") as caught:
        model.fit(trap.X, trap.y)
    assert one in str(caught[0].message)
    assert other in str(caught[0].message)
    assert str(caught[0].message).endswith("more n_draws, or extend, may help.")


def test_the_summary_has_errors():
    X, y = autoregressive(60, 12, 0.9, seed=1)
    chains = SpikeSlabRegressor(solver="gibbs", random_state=0, always_include=[2]).fit(X, y)
    table = chains.summary()
    assert table.columns[:2].tolist() == ["inclusion", "mcse"]
    assert table.loc["x2", "mcse"] == 0
    assert (table["mcse"].drop("x2") > 0).all()
    np.testing.assert_array_equal(
        table["mcse"].to_numpy(), chains.diagnostics_.loc[table.index, "mcse"]
    )
    np.testing.assert_array_equal(table["mcse"].sort_index(key=lambda i: i.str[1:].astype(int)),
                                  chains.probability_errors_)  # fmt: skip
    exact = SpikeSlabRegressor(solver="enumerate", random_state=0, n_draws=1).fit(X, y)
    assert (exact.summary()["mcse"] == 0).all()
    groups = SpikeSlabRegressor(
        solver="gibbs", random_state=0, feature_groups={"one": [0, 1, 2]}, n_draws=500
    ).fit(X, y)
    by_group = groups.summary()
    assert by_group.loc[("one", ""), "mcse"] > 0
    assert by_group.loc[("one", "x1")].isna()[["inclusion", "mcse"]].all()


@pytest.mark.parametrize("solver", ["gibbs", "tempered"])
def test_probabilities_are_off_by_what_their_errors_say(solver):
    # A small version of benchmarks/posterior_quality.py errors: against all models
    found = []
    for seed in range(24):
        own = np.random.default_rng([811, seed])
        X = own.normal(size=(40, 7))
        for j in range(1, 7):
            X[:, j] = 0.8 * X[:, j - 1] + 0.6 * X[:, j]
        y = X @ (own.normal(size=7) * (own.uniform(size=7) < 0.3)) + own.normal(size=40)
        prior = ({}, {"slab": "zellner"}, {"slab": "boom"}, {"theta": 0.3, "sigma_e": 1.0})[
            seed % 4
        ]
        exact = SpikeSlabRegressor(solver="enumerate", n_draws=1, **prior).fit(X, y)
        chains = SpikeSlabRegressor(solver=solver, random_state=seed, **prior).fit(X, y)
        off = chains.inclusion_probabilities_ - exact.inclusion_probabilities_
        found.append(off / chains.probability_errors_)
    z = np.concatenate(found)
    middle = np.sqrt(np.mean(z**2))
    assert 0.1 < middle < 1.3  # neither too small nor of no use
    assert np.abs(z).max() < 4.5
