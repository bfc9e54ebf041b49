"""Credible sets to the letter: a table of all models and all columns, and every share counted anew.

A set begins with the likeliest column left. Its neighbours, correlated with it at .5 or more, may
join; if one of them is in too seldom, any columns whose odds are three times as great where none of
the set is in as elsewhere. The next to join is the one that most exceeds P(in) P(none of the set)
where none of the set is in; up to .95 in any case, up to .97 if it exceeds it at all and adds .005.
It is no set if none of it, and none of the neighbours, is in nearly as often as for columns that
come in one by one.
"""

import numpy as np

TINY = 1e-9


def probability(inside, mass, members):
    return sum(m for row, m in zip(inside, mass, strict=True) if any(row[j] for j in members))


def usually_together(inside, mass, i, j):
    p_i, p_j = (probability(inside, mass, [k]) for k in (i, j))
    both = sum(m for row, m in zip(inside, mass, strict=True) if row[i] and row[j])
    spread = np.sqrt(p_i * (1 - p_i) * p_j * (1 - p_j))
    return both > (p_i + p_j - both) / 2 and both - p_i * p_j > spread / 4 + TINY


def is_chance(inside, mass, members):
    alone = np.prod([1 - probability(inside, mass, [j]) for j in members])
    none = 1 - probability(inside, mass, members)
    return len(members) > 1 and none >= 0.9 * alone + TINY


def grown(inside, mass, first, allowed, clear, n_draws):
    """Return the members, and the probability at which the set was full."""
    share = [probability(inside, mass, [j]) for j in range(inside.shape[1])]
    full = 0.95 if share[first] >= 0.95 - TINY else 0.97
    members = [first]
    while (p := probability(inside, mass, members)) < full - TINY:
        scores = {}
        for j in allowed:
            gain = probability(inside, mass, [*members, j]) - p
            excess = gain - (1 - p) * share[j]
            if j in members or gain <= TINY / 1000:
                continue
            if p >= 0.95 - TINY and (excess <= 0 or gain < 0.005):
                continue
            out, among = gain / (1 - p), (share[j] - gain) / p
            error = np.sqrt(out / (n_draws * (1 - p)))
            odds_out, odds_among = (s / max(1 - s, 1e-15) for s in (out, among))
            if clear and not (odds_out > 3 * odds_among and out - among > 3 * error):
                continue
            scores[j] = excess
        if not scores:
            break
        members.append(max(scores, key=lambda j: (scores[j], -j)))
    return members, full


def credible_sets(inside, mass, inclusion, correlation, n_draws):
    """Return the sets as lists of columns, the likeliest first."""
    share = [probability(inside, mass, [j]) for j in range(inside.shape[1])]
    left = {j for j, p in enumerate(share) if p > 0}
    found = []
    for first in np.argsort(-inclusion, kind="stable").tolist():
        if first not in left:
            continue
        around = [j for j in sorted(left) if abs(correlation[first, j]) >= 0.5 or j == first]
        clear = probability(inside, mass, around) < 0.95 - TINY
        if clear and share[first] < 0.02:
            continue
        allowed = sorted(left) if clear else around
        members, full = grown(inside, mass, first, allowed, clear, n_draws)
        p = probability(inside, mass, members)
        if p < 0.95 - TINY or all(is_chance(inside, mass, s) for s in (members, around)):
            continue
        for j in sorted(members[1:], key=lambda j: share[j]):
            rest = [k for k in members if k != j]
            if probability(inside, mass, rest) >= min(full, p) - TINY:
                members = rest
        if len(members) > 1:
            kept = list(members)
            for j in sorted(left):
                if not any(abs(correlation[j, k]) >= 0.5 for k in kept):
                    continue
                if j not in kept and any(usually_together(inside, mass, j, k) for k in kept):
                    members.append(j)
        left -= set(members)
        found.append(sorted(members, key=lambda j: (-inclusion[j], j)))
    return found
