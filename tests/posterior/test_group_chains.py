"""Chains over sets of groups, against all sets and against their own priors."""

import numpy as np
import pytest
from group_priors import enumerate_groups, group_posterior, run_group_chains
from scipy import stats
from spike_slab_priors import THETAS, VARIANCES, autoregressive, core_prior, design_of

OURS = [name for name in VARIANCES if not name.startswith("boom")]
GROUPS = [[0, 1], [2], [3, 4, 5], [6], [7, 8], [9], [10, 11]]
# A product of two, a product with a product, and one of a single parent
PARENTS = [[], [], [], [0, 1], [3, 2], [2], []]
HEREDITY = {"none": (None, True), "strong": (PARENTS, True), "weak": (PARENTS, False)}
N, P, CHAINS, DRAWS = 60, 12, 64, 250
# Sets to exchange, with nothing to do with the data; some are no models under heredity.
SETS = [[0, 1, 3], [2, 5], [6, 4, 2], [0], []]


@pytest.mark.parametrize("heredity", HEREDITY)
@pytest.mark.parametrize(
    ("theta", "sets"), [(name, []) for name in THETAS] + [("theta learned", SETS)]
)
@pytest.mark.parametrize("variances", OURS)
def test_agrees_with_enumeration(heredity, theta, sets, variances):
    X, y = autoregressive(N, P, 0.8, seed=0)
    parents, strong = HEREDITY[heredity]
    settings = VARIANCES[variances]
    prior = core_prior(len(GROUPS), N - 1, theta=THETAS[theta], **settings)
    posterior = group_posterior(
        design_of(X, y),
        GROUPS,
        prior,
        parents=parents,
        strong=strong,
        scaled=settings.get("slab") != "zellner",
    )
    exact, _, _ = enumerate_groups(posterior, P)
    starts = [[], [0], [2, 6]] * CHAINS
    chains = run_group_chains(posterior, P, starts[:CHAINS], draws=DRAWS, warmup=100, modes=sets)
    for name in ("inclusion", "mean", "square"):
        values = np.array([chain[name] for chain in chains]) / DRAWS
        error = values.std(axis=0, ddof=1) / np.sqrt(CHAINS)
        off = np.abs(values.mean(axis=0) - exact[name])
        # Of what is met a few times only, these chains can't tell the error of their averages; and
        # the coefficients of a rare group are another in the rare models that have it.
        rare = exact["inclusion"] < (1e-3 if name == "inclusion" else 0.02)
        if name == "inclusion":
            assert (off[rare] < 2e-3).all()
        else:
            rare = np.isin(np.arange(P), [j for unit in np.flatnonzero(rare) for j in GROUPS[unit]])
        # Some 1300 numbers are compared: one would be this far off in a thousand runs or so
        assert (off < 5 * error + 1e-9 * np.abs(exact[name]))[~rare].all(), name


def test_zellner_with_groups_that_depend_on_each_other():
    rng = np.random.default_rng(1)
    X = rng.standard_normal((30, 7))
    X[:, 6] = X[:, 0] + X[:, 3]
    y = X[:, 0] + X[:, 6] + rng.standard_normal(30)
    groups = [[0, 1], [2, 3], [4], [5, 6]]
    prior = core_prior(4, 29, slab="zellner", noise=(0.5, 1.0), theta=(1.0, 2.0), g=30.0)
    posterior = group_posterior(design_of(X, y), groups, prior, scaled=False)
    exact, _, _ = enumerate_groups(posterior, 7)
    chains = run_group_chains(posterior, 7, [[]] * CHAINS, draws=DRAWS, warmup=100)
    values = np.array([chain["inclusion"] for chain in chains]) / DRAWS
    error = values.std(axis=0, ddof=1) / np.sqrt(CHAINS)
    assert (np.abs(values.mean(axis=0) - exact["inclusion"]) < 4 * error + 1e-9).all()


@pytest.mark.parametrize("variances", ["gaussian, given", "gaussian, both learned"])
def test_twins_take_turns(variances):
    # A factor coded twice, and nearly: a chain that only flips would stay with the first it met.
    rng = np.random.default_rng(4)
    X, y = autoregressive(N, 6, 0.3, seed=1)
    mix = rng.standard_normal((2, 2))
    near = X[:, 1:3] @ mix + 1e-7 * X[:, 4:6]
    X = np.column_stack([X, X[:, 1:3] @ mix, near])
    y = X[:, 1] + X[:, 2] + rng.standard_normal(N)
    groups = [[0], [1, 2], [3], [4, 5], [6, 7], [8, 9]]
    prior = core_prior(6, N - 1, theta=0.05, **VARIANCES[variances])
    posterior = group_posterior(design_of(X, y), groups, prior)
    exact, _, _ = enumerate_groups(posterior, 10)
    chains = run_group_chains(posterior, 10, [[], [1]] * (CHAINS // 2), draws=DRAWS, warmup=100)
    for name in ("inclusion", "mean", "square"):
        values = np.array([chain[name] for chain in chains]) / DRAWS
        error = values.std(axis=0, ddof=1) / np.sqrt(CHAINS)
        assert (np.abs(values.mean(axis=0) - exact[name]) < 4 * error).all(), name


def test_same_seed_same_draws_whatever_the_threads():
    X, y = autoregressive(N, P, 0.8, seed=2)
    prior = core_prior(len(GROUPS), N - 1, theta=(1.0, 3.0), **VARIANCES["gaussian, both learned"])
    found = [
        run_group_chains(
            group_posterior(design_of(X, y), GROUPS, prior, parents=PARENTS),
            P,
            [[], [0], [2]],
            draws=40,
            warmup=10,
            threads=threads,
        )
        for threads in (1, 2, 3)
    ]
    for other in found[1:]:
        for one, two in zip(found[0], other, strict=True):
            for name in one:
                np.testing.assert_array_equal(one[name], two[name])


# What follows has every hyperparameter learned and no intercept: priors have to be proper and free
# of the data.
ROWS, G = 15, 10.0
NOISE, SPREAD, THETA = (4.0, 4.0), (4.0, 12.0), (1.0, 2.0)
OWN_GROUPS, OWN_PARENTS = [[0, 1], [2], [3, 4, 5], [6]], [[], [], [0, 1], []]
RULES = {"none": (None, True), "strong": (OWN_PARENTS, True), "weak": (OWN_PARENTS, False)}
COLUMNS = 7


def fixed_design():
    Z = np.random.default_rng(11).standard_normal((ROWS, COLUMNS))
    Z[:, 2] = 0.8 * Z[:, 0] + 0.6 * Z[:, 2]
    return Z / np.linalg.norm(Z, axis=0)


def draw_prior(Z, slab, rules, rng):
    """Return theta, s2, sigma_beta^2 and beta: a coin for every group that has its parents."""
    parents, strong = RULES[rules]
    theta = rng.beta(*THETA)
    s2, spread = (rate / rng.gamma(shape) for shape, rate in (NOISE, SPREAD))
    inside = np.zeros(len(OWN_GROUPS), dtype=bool)
    for unit in range(len(OWN_GROUPS)):
        of = parents[unit] if parents else []
        may = not of or (all if strong else any)(inside[parent] for parent in of)
        inside[unit] = may and rng.random() < theta
    beta = np.zeros(COLUMNS)
    if slab == "gaussian":
        for unit in np.flatnonzero(inside):
            group = OWN_GROUPS[unit]
            R = np.linalg.qr(Z[:, group])[1]
            beta[group] = np.linalg.solve(R, rng.standard_normal(len(group)))
            beta[group] *= np.sqrt(spread / len(group))
    else:
        columns = [j for unit in np.flatnonzero(inside) for j in OWN_GROUPS[unit]]
        root = np.linalg.cholesky(Z[:, columns].T @ Z[:, columns] / G)
        beta[columns] = np.sqrt(s2) * np.linalg.solve(root.T, rng.standard_normal(len(columns)))
    return theta, s2, spread, beta


def own_posterior(Z, y, prior, slab, rules):
    parents, strong = RULES[rules]
    return group_posterior(
        design_of(Z, y, intercept=False),
        OWN_GROUPS,
        prior,
        parents=parents,
        strong=strong,
        scaled=slab == "gaussian",
    )


def own_prior(slab):
    return core_prior(
        len(OWN_GROUPS), ROWS, slab=slab, noise=NOISE, spread=SPREAD, theta=THETA, g=G
    )


def coefficients(chain):
    rows = np.repeat(np.arange(len(chain["s2"])), np.diff(chain["begins"]))
    beta = np.zeros((len(chain["s2"]), COLUMNS))
    beta[rows, chain["support"]] = chain["beta"]
    return beta


def quantities(theta, s2, spread, beta, slab):
    """By name, what is compared: one number a draw."""
    beta = np.atleast_2d(beta)
    groups = np.array([(beta[:, group] != 0).all(axis=1) for group in OWN_GROUPS])
    out = {
        "theta": theta,
        "s2": s2,
        "groups": groups.sum(axis=0).astype(float),
        "product": groups[2].astype(float),
        "beta": beta[:, 0],
        "wide": beta[:, 4],
        "sum": beta.sum(axis=1),
    }
    return out if slab == "zellner" else {**out, "spread": spread}


@pytest.mark.parametrize("rules", RULES)
@pytest.mark.parametrize("slab", ["gaussian", "zellner"])
def test_simulation_based_calibration(slab, rules):
    # Among draws of the posterior given data from the prior, the truth has every rank as often.
    # Chains make all their moves: exchanges too.
    rng = np.random.default_rng(5)
    Z, prior = fixed_design(), own_prior(slab)
    thinned, simulations = 39, 400
    ranks = {}
    for simulation in range(simulations):
        drawn = draw_prior(Z, slab, rules, rng)
        y = Z @ drawn[3] + np.sqrt(drawn[1]) * rng.standard_normal(ROWS)
        posterior = own_posterior(Z, y, prior, slab, rules)
        (chain,) = run_group_chains(
            posterior,
            COLUMNS,
            [[]],
            seed=simulation,
            warmup=100,
            draws=thinned * 10,
            modes=[[0, 1, 2], [3], [0], [1, 3], []],
        )
        found = quantities(
            chain["theta"], chain["s2"], chain["slab_variance"], coefficients(chain), slab
        )
        for name, true in quantities(*drawn, slab).items():
            draws, value = found[name][9::10], float(np.ravel(true)[0])
            ties = rng.integers(np.count_nonzero(draws == value) + 1)
            ranks.setdefault(name, []).append(np.count_nonzero(draws < value) + ties)
    for name, values in ranks.items():
        counts = np.bincount(np.array(values) * 10 // (thinned + 1), minlength=10)
        assert stats.chisquare(counts).pvalue > 1e-4, (name, counts)


@pytest.mark.parametrize("rules", RULES)
@pytest.mark.parametrize("slab", ["gaussian", "zellner"])
def test_geweke_joint(slab, rules):
    # Parameters given data and data given parameters, in turn: the parameters follow the prior.
    rng = np.random.default_rng(3)
    Z, prior = fixed_design(), own_prior(slab)
    rounds = 12_000
    _, s2, spread, beta = draw_prior(Z, slab, rules, rng)
    visited = {}
    for t in range(rounds):
        y = Z @ beta + np.sqrt(s2) * rng.standard_normal(ROWS)
        prior.noise.value, prior.slab_variance.value = s2, spread
        start = [unit for unit, group in enumerate(OWN_GROUPS) if beta[group].all()]
        posterior = own_posterior(Z, y, prior, slab, rules)
        (chain,) = run_group_chains(posterior, COLUMNS, [start], seed=t, warmup=0, draws=1)
        beta = coefficients(chain)[0]
        s2, spread = float(chain["s2"][0]), float(chain["slab_variance"][0])
        for name, value in quantities(chain["theta"], s2, spread, beta, slab).items():
            visited.setdefault(name, np.empty(rounds))[t] = np.ravel(value)[0]
    drawn = [quantities(*draw_prior(Z, slab, rules, rng), slab) for _ in range(rounds)]
    for name, values in visited.items():
        expected = np.array([np.ravel(row[name])[0] for row in drawn])
        for power in (1, 2):
            bounded = [np.arctan(x - np.median(expected)) ** power for x in (values, expected)]
            batches = bounded[0].reshape(100, -1).mean(axis=1)
            error = np.hypot(batches.std() / 10, bounded[1].std() / np.sqrt(rounds))
            assert abs(batches.mean() - bounded[1].mean()) < 4 * error, (name, power)
