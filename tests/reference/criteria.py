"""Information criteria, spelt out."""

import math


def criterion(name, rss, k, n, p, f=0):
    """Return the criterion of k variables out of p, f of them always in, on n rows."""
    value = n * math.log(rss / n)
    if name == "bic":
        return value + k * math.log(n)
    if name == "ric":
        return value + 2 * k * math.log(p)
    chosen, choices = k - f, p - f
    value += f * math.log(n)
    if chosen == 0:
        return value
    if n <= k + 2:
        return math.inf
    price = chosen * math.log(n) + 2 * math.log(math.comb(choices, min(chosen, choices // 2)))
    return value + (1 + 2 * ((k + 2) / (n - k - 2)) ** 3) * price
