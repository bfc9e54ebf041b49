"""The integrals behind a Laplace slab, in as many digits as asked, and the table of core/mills.hpp.

I_k(a) = integral over b > 0 of b^k exp(-a b - b^2 / 2); I_0 is Mills' ratio. Run as a script, this
prints the table: the coefficients in s = (a - 6) / (a + 6) of (a + 6)^(k+1) I_k(a), interpolated at
Chebyshev's points. It is smooth for s from -1 (a = 0) to 1 (a infinite).
"""

import mpmath as mp

SHIFT = 6
TERMS = 29


def moment(k, a):
    """I_k(a), by recurrence from erfc with digits to spare."""
    a = mp.mpf(a)
    spare = int(4 * (k + 1) * mp.log10(abs(a) + 10)) + 20
    with mp.workdps(mp.mp.dps + spare):
        before = mp.sqrt(mp.pi / 2) * mp.exp(a * a / 2) * mp.erfc(a / mp.sqrt(2))
        if k == 0:
            return +before
        now = 1 - a * before
        for j in range(1, k):
            before, now = now, j * before - a * now
        return +now


def table(k):
    """Return the coefficients of s^0, s^1, ..."""
    angles = [mp.pi * (j + mp.mpf(1) / 2) / TERMS for j in range(TERMS)]
    values = []
    for angle in angles:
        s = mp.cos(angle)
        a = SHIFT * (1 + s) / (1 - s)
        values.append(moment(k, a) * (a + SHIFT) ** (k + 1))
    chebyshev = [
        (2 if m else 1)
        * mp.fsum(v * mp.cos(m * angle) for v, angle in zip(values, angles, strict=True))
        / TERMS
        for m in range(TERMS)
    ]
    # T_0 = 1, T_1 = s, T_(m+1) = 2 s T_m - T_(m-1), as lists of coefficients.
    before, now = [mp.mpf(1)], [mp.mpf(0), mp.mpf(1)]
    out = [mp.mpf(0)] * TERMS
    for weight in chebyshev:
        for power, coefficient in enumerate(before):
            out[power] += weight * coefficient
        after = [mp.mpf(0), *(2 * c for c in now)]
        for power, coefficient in enumerate(before):
            after[power] -= coefficient
        before, now = now, after
    return out


if __name__ == "__main__":
    mp.mp.dps = 50
    for order in range(3):
        print("    {" + ", ".join(repr(float(c)) for c in table(order)) + "},")
