"""The diabetes data of Efron et al. (2004) with squares and products, as the paper uses it."""

from __future__ import annotations

from itertools import combinations

import numpy as np
from sklearn.utils import Bunch

# scikit-learn's s1..s6, under the names of the original data
DIABETES_COLUMNS = ("age", "sex", "bmi", "map", "tc", "ldl", "hdl", "tch", "ltg", "glu")


def load_diabetes_interactions() -> Bunch:
    """Load the 64 columns of the paper's diabetes example.

    The ten attributes are standardised; then come the squares of all but ``sex``, named ``age^2``,
    and the products of pairs, named ``age:sex``, of those standardised columns. Each of the 64
    columns is then centred and scaled to unit l2 norm.

    Returns
    -------
    sklearn.utils.Bunch
        ``data``: DataFrame of shape (442, 64); ``target``: Series, disease progression after one
        year, not centred; ``feature_names``: list of str.

    Examples
    --------
    >>> from ellzero.datasets import load_diabetes_interactions
    >>> diabetes = load_diabetes_interactions()
    >>> diabetes.data.shape, diabetes.feature_names[10], diabetes.feature_names[19]
    ((442, 64), 'age^2', 'age:sex')
    """
    # Here, so that `import ellzero` does not wait for them
    import pandas as pd
    from sklearn.datasets import load_diabetes

    raw, target = load_diabetes(return_X_y=True, scaled=False)
    columns = dict(zip(DIABETES_COLUMNS, _centred(raw).T, strict=True))
    columns = {name: values / values.std() for name, values in columns.items()}
    squares = {f"{a}^2": columns[a] ** 2 for a in DIABETES_COLUMNS if a != "sex"}
    products = {f"{a}:{b}": columns[a] * columns[b] for a, b in combinations(DIABETES_COLUMNS, 2)}
    everything = {**columns, **squares, **products}
    data = _centred(np.column_stack(list(everything.values())))
    data /= np.linalg.norm(data, axis=0)
    return Bunch(
        data=pd.DataFrame(data, columns=list(everything)),
        target=pd.Series(target, name="progression"),
        feature_names=list(everything),
    )


def _centred(values: np.ndarray) -> np.ndarray:
    return np.asarray(values - values.mean(axis=0))
