"""Tables that come with the package, for trying things out."""

from __future__ import annotations

import hashlib

import numpy as np

from ellzero.tables._columns import Column, NumberColumn
from ellzero.tables._read import Table

__all__ = ["EXAMPLES", "example_table"]

# The target of each
EXAMPLES = {"diabetes": "progression"}


def example_table(name: str) -> Table:
    """Return a table that needs no file.

    Parameters
    ----------
    name : {"diabetes"}
        442 patients, ten measurements and how the disease went on (Efron et al. 2004).

    Returns
    -------
    Table
        The table, in its original units.
    """
    from sklearn.datasets import load_diabetes

    from ellzero.datasets import DIABETES_COLUMNS

    data, target = load_diabetes(return_X_y=True, scaled=False)
    names = [*DIABETES_COLUMNS, EXAMPLES[name]]
    values = np.column_stack([data, target]).astype(np.float64)
    columns: dict[str, Column] = {
        key: NumberColumn(key, np.array(column))
        for key, column in zip(names, values.T, strict=True)
    }
    digest = hashlib.sha256(np.ascontiguousarray(values).tobytes()).hexdigest()
    return Table(columns, len(values), f"example {name}", digest)
