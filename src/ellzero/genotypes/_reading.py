"""PLINK's three files: .bed, the genotypes; .bim, their variants; .fam, their samples."""

from __future__ import annotations

from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ellzero.genotypes._codes import byte_count
from ellzero.genotypes._genotypes import Genotypes

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["HEADER", "SAMPLES", "VARIANTS", "read_genotypes"]

HEADER = b"\x6c\x1b\x01"  # two bytes that say what it is, and one that variants come one by one
_BY_SAMPLE = b"\x6c\x1b\x00"

VARIANTS = {
    "chromosome": "category",
    "id": "str",
    "centimorgans": "float64",
    "position": "int64",
    "allele1": "category",
    "allele2": "category",
}
SAMPLES = {
    "family": "str",
    "id": "str",
    "father": "str",
    "mother": "str",
    "sex": "str",
    "phenotype": "float64",
}


def read_genotypes(
    path: str | PathLike[str],
    *,
    bim: str | PathLike[str] | None = None,
    fam: str | PathLike[str] | None = None,
) -> Genotypes:
    """Open PLINK's binary genotypes without reading them.

    The .bed file is mapped into memory: what a fit reads of it may stay there or go again, as the
    system likes. Copies are counted of the first allele of the .bim file, as in PLINK.

    Parameters
    ----------
    path : str or path
        Of the .bed file, with or without its ending. It must not change while it is in use.
    bim, fam : str or path, default=None
        The files of variants and of samples; None means those beside it.

    Returns
    -------
    Genotypes
        With the variants' ``chromosome``, ``id``, ``centimorgans``, ``position``, ``allele1`` and
        ``allele2``, and the samples' ``family``, ``id``, ``father``, ``mother``, ``sex`` and
        ``phenotype``: as the files have them, so that a phenotype of -9 is one that is missing.

    Raises
    ------
    ValueError
        If a file is not what it should be: no .bed, one sample after the other, not as long as
        variants and samples say, or lines with too few fields.

    Examples
    --------
    >>> import os, tempfile
    >>> from ellzero import Genotypes, read_genotypes
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "three.bed")
    ...     Genotypes.from_array([[0, 1], [2, -1], [1, 0]]).write(path)
    ...     genotypes = read_genotypes(path)
    ...     genotypes.to_array([0]).ravel()
    array([0., 2., 1.])
    """
    bed = Path(path)
    if bed.suffix != ".bed" and not bed.is_file():
        bed = bed.with_name(bed.name + ".bed")
    variants = _read_table(bed.with_suffix(".bim") if bim is None else Path(bim), VARIANTS)
    samples = _read_table(bed.with_suffix(".fam") if fam is None else Path(fam), SAMPLES)
    n, p = len(samples), len(variants)
    with bed.open("rb") as file:
        start = file.read(len(HEADER))
    if start == _BY_SAMPLE:
        raise ValueError(
            f"{bed} has one sample after the other; make one with a variant after the other "
            "(plink --make-bed)."
        )
    if start != HEADER:
        raise ValueError(f"{bed} is no .bed file of PLINK: it begins with other bytes.")
    size, needed = bed.stat().st_size, len(HEADER) + p * byte_count(n)
    if size != needed:
        raise ValueError(
            f"{bed} has {size:,} bytes, but {n:,} samples and {p:,} variants take {needed:,}: it "
            "is cut off, or its .bim and .fam are those of another."
        )
    packed = np.memmap(bed, np.uint8, "r", len(HEADER), (p, byte_count(n)))
    return Genotypes(packed, n, variants, samples)


def _read_table(path: Path, columns: dict[str, Any]) -> pd.DataFrame:
    import pandas as pd  # here, so that nobody else waits for it

    try:
        table = pd.read_csv(
            path,
            sep=r"\s+",
            header=None,
            names=list(columns),
            dtype=columns,
            keep_default_na=False,
            na_values={"phenotype": ["NA", "nan"]} if "phenotype" in columns else None,
            index_col=False,
            usecols=range(len(columns)),
            quoting=3,
        )
    except (ValueError, pd.errors.ParserError) as error:
        words = str(error).split("\n")[0].rstrip(".")
        raise ValueError(f"{path} can't be read as {', '.join(columns)}: {words}.") from error
    if table.empty:
        raise ValueError(f"{path} is empty.")
    return table
