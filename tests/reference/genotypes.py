"""Genotypes read bit by bit, as the format of .bed files is described."""

import numpy as np

COPIES = {"00": 2.0, "10": 1.0, "11": 0.0, "01": np.nan}  # of the first allele; higher bit first


def read_bed(content, n_samples):
    """The table of a .bed file's bytes, NaN where a genotype is missing."""
    assert content[:3] == bytes([0b01101100, 0b00011011, 0b00000001])
    stride = -(-n_samples // 4)
    columns = []
    for start in range(3, len(content), stride):
        bits = [f"{byte:08b}" for byte in content[start : start + stride]]
        codes = [word[8 - 2 * (i + 1) : 8 - 2 * i] for word in bits for i in range(4)]
        columns.append([COPIES[code] for code in codes[:n_samples]])
    return np.array(columns).T


def filled(table):
    """The same with the mean of a column's known entries where one is missing."""
    table = table.copy()
    for column in table.T:
        known = column[~np.isnan(column)]
        column[np.isnan(column)] = known.mean() if known.size else 0.0
    return table
