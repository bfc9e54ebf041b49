"""Posteriors over groups under heredity: enumeration against sums over all sets, and chains."""

from itertools import product

import numpy as np
from reference.group_spike_slab import prior_of
from reference.spike_slab import log_density
from scipy.special import logsumexp

from ellzero import SpikeSlabRegressor
from fuzz.posteriors import quiet_fit, small_table


def bases(Z, groups):
    """Return orthonormal bases of what groups span; None if it is hard to say what that is."""
    found = []
    for group in groups:
        U, s, _ = np.linalg.svd(Z[:, group], full_matrices=False)
        share = s / max(s.max(), 1e-300)
        if ((share > 1e-8) & (share < 1e-3)).any():
            return None
        found.append(U[:, share >= 1e-3])
    return found


def check_group_posterior(rng):
    """Probabilities of groups of hostile tables, theta given or learned, under rules or none."""
    table, Z, y, _, weight = small_table(rng, 6)
    p = Z.shape[1]
    home = np.unique(rng.integers(0, p, p), return_inverse=True)[1]
    _, first = np.unique(home, return_index=True)
    order = np.argsort(first)  # groups are in the order of their first columns
    groups = [np.flatnonzero(home == g) for g in order]
    count = len(groups)
    parents = [list(rng.choice(g, min(g, 2), replace=False)) if g > 1 else [] for g in range(count)]
    rule = [None, "strong", "weak"][rng.integers(3)] if any(parents) else None
    Q = bases(Z, groups)
    slab = ["gaussian", "zellner"][rng.integers(2)]
    if Q is None or (slab == "zellner" and not independent(Q)):
        return
    sigma_e = float(np.linalg.norm(y) / np.sqrt(weight) * 10 ** rng.uniform(-1, 0.5))
    sigma_beta = sigma_e * 10 ** rng.uniform(-1, 2)
    names = [f"g{unit}" for unit in range(count)]
    members = [[int(j) for j in group] for group in groups]
    settings = {
        "feature_groups": dict(zip(names, members, strict=True)),
        "slab": slab,
        "sigma_e": sigma_e,
        "fit_intercept": table.intercept,
        "random_state": int(rng.integers(1000)),
    }
    if slab == "gaussian":
        settings["sigma_beta"] = sigma_beta
    if rule is not None:
        given = {names[u]: [names[v] for v in of] for u, of in enumerate(parents) if of}
        settings |= {"heredity": rule, "parents": given}
    learned = rule is None and rng.random() < 0.5
    theta = (1.0, 3.0) if learned else rng.uniform(0.05, 0.95, count)
    if not learned:
        settings["theta"] = dict(zip(names, theta.tolist(), strict=True))
    if learned and count == p:
        return  # the code for single columns
    if learned:
        settings["expected_size"] = count / 4
    exact = SpikeSlabRegressor(solver="enumerate", n_draws=5, **settings)
    quiet_fit(exact, table)
    logs = {}
    for inside in product([False, True], repeat=count):
        if any(inside[u] and Q[u].shape[1] == 0 for u in range(count)):
            continue
        of = None if rule is None else parents
        before = prior_of(inside, theta, of, rule == "strong")
        if before == 0:
            continue
        scaled = [Q[u] / np.sqrt(Q[u].shape[1]) for u in range(count) if inside[u]]
        W = np.column_stack([np.empty((len(y), 0)), *scaled])
        tau = sigma_e**2 / sigma_beta**2
        P = W.T @ W / weight if slab == "zellner" else tau * np.eye(W.shape[1])
        degrees = weight - table.intercept
        logs[inside] = np.log(before) + log_density(W, y, degrees, sigma_e**2, P)
    total = logsumexp(list(logs.values()))
    expected = sum(np.exp(log - total) * np.array(inside) for inside, log in logs.items())
    expected = np.clip(expected, 0, 1)
    found = exact.group_probabilities_[names].to_numpy()
    what = f"slab {slab}, heredity {rule}, theta {theta}"
    assert np.abs(found - expected).max() < 1e-5, f"{what}: {found}, not {expected}"
    chains = SpikeSlabRegressor(solver="gibbs", n_draws=800, **settings)
    if not quiet_fit(chains, table):
        return
    drawn = chains.group_probabilities_[names].to_numpy()
    error = np.sqrt(expected * (1 - expected) / 300)  # as if ten draws were worth one
    assert (np.abs(drawn - expected) < 6 * error + 0.02).all(), f"{what}: {drawn}, not {expected}"


def independent(Q):
    """Whether no group depends on the others, by far."""
    together = np.column_stack(Q)
    if together.shape[1] == 0:
        return True
    return together.shape[1] <= together.shape[0] and np.linalg.svd(together)[1].min() > 1e-3
