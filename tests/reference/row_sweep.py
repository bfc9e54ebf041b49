"""A sweep over prior variances with the coefficients integrated out, by inverting every time."""

import numpy as np

__all__ = ["left_out", "local_moments"]


def left_out(Z, y, h, j):
    """z_j'M^-1 z_j and z_j'M^-1 y, where M = I + Z diag(h) Z' without column j."""
    others = np.where(np.arange(len(h)) == j, 0.0, h)
    M = np.eye(len(y)) + (Z * others) @ Z.T
    return Z[:, j] @ np.linalg.solve(M, Z[:, j]), Z[:, j] @ np.linalg.solve(M, y)


def local_moments(log_density, of, low=-80.0, high=80.0, points=40_001):
    """Mean and standard deviation of a function of x under a density in x, by a sum over a grid."""
    x = np.linspace(low, high, points)
    log_mass = log_density(x)
    mass = np.exp(log_mass - log_mass.max())
    mass /= mass.sum()
    mean = mass @ of(x)
    return mean, np.sqrt(mass @ (of(x) - mean) ** 2)
