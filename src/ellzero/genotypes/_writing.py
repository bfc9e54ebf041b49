"""Genotypes as PLINK's three files."""

from __future__ import annotations

from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ellzero.genotypes._reading import HEADER, SAMPLES, VARIANTS
from ellzero.tables._files import write_aside

if TYPE_CHECKING:
    import pandas as pd

    from ellzero.genotypes._genotypes import Genotypes

__all__ = ["write_genotypes"]

# What is written of a variant or a sample of which nothing is known but its id
_UNKNOWN: dict[str, Any] = {
    "chromosome": "0",
    "centimorgans": 0,
    "position": 0,
    "allele1": "1",
    "allele2": "2",
    "father": "0",
    "mother": "0",
    "sex": "0",
    "phenotype": -9,
}


def write_genotypes(
    genotypes: Genotypes, packed: NDArray[np.uint8], path: str | PathLike[str]
) -> None:
    """Write a .bed file, and its .bim and .fam beside it."""
    bed = Path(path)
    if bed.suffix != ".bed":
        raise ValueError(f"path must end in .bed; got {str(path)!r}.")
    variants = _complete(genotypes.variants, VARIANTS, "variants")
    samples = _complete(genotypes.samples, SAMPLES, "samples")
    write_aside(bed.with_suffix(".bim"), _lines(variants))
    write_aside(bed.with_suffix(".fam"), _lines(samples))
    write_aside(bed, b"".join((HEADER, np.ascontiguousarray(packed).data)))


def _complete(table: pd.DataFrame, columns: dict[str, Any], kind: str) -> pd.DataFrame:
    import pandas as pd  # here, so that nobody else waits for it

    unknown = {**_UNKNOWN, "family": table["id"]}
    out = pd.DataFrame(
        {name: table[name] if name in table else unknown[name] for name in columns},
        index=table.index,
    )
    if "phenotype" in out:
        out["phenotype"] = out["phenotype"].fillna(-9)
    texts = out.astype(str)
    for name in columns:
        wrong = ~texts[name].str.fullmatch(r"\S+")
        if wrong.any():
            raise ValueError(
                f"{kind}: {name!r} must have no spaces and not be empty in a file of PLINK; got "
                f"{texts[name][wrong].iloc[0]!r}."
            )
    return texts


def _lines(table: pd.DataFrame) -> str:
    rows = ("\t".join(row) for row in table.itertuples(index=False, name=None))
    return "".join(f"{row}\n" for row in rows)
