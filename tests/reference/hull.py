"""Which size is the solution at a price, by trying every pair of sizes."""

import math


def interval(sizes, energies, size):
    """Return the interval of lam in which size minimises energy + lam * size; None if empty."""
    values = dict(zip(sizes, energies, strict=True))
    low = max([0.0] + [(values[size] - values[k]) / (k - size) for k in sizes if k > size])
    high = min([math.inf] + [(values[k] - values[size]) / (size - k) for k in sizes if k < size])
    return (low, high) if low < high else None
