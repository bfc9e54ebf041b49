"""Every figure and table of the paper, remade.

Each has a module, in which ``compute`` makes the data, ``draw`` a figure of them, ``tabulate`` a
summary, and ``claims`` compares what the paper says with them. :func:`reproduce` does all that and
writes a folder, as ``ellzero reproduce`` does.

Examples
--------
>>> from ellzero.paper import posterior_means
>>> data = posterior_means.compute()
>>> [claim.verdict for claim in posterior_means.claims(data)]
['confirmed', 'confirmed', 'confirmed']
"""

from ellzero.paper import (
    accuracy,
    diabetes,
    discoveries,
    paths,
    penalties,
    posterior_means,
    timing,
)
from ellzero.paper._claims import Claim
from ellzero.paper._reproduce import PARTS, reproduce

__all__ = [
    "PARTS",
    "Claim",
    "accuracy",
    "diabetes",
    "discoveries",
    "paths",
    "penalties",
    "posterior_means",
    "reproduce",
    "timing",
]
