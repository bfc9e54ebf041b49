"""Genotypes at two bits each, as PLINK keeps them."""

from ellzero.genotypes._genotypes import Genotypes, MissingGenotypesWarning
from ellzero.genotypes._reading import read_genotypes

__all__ = ["Genotypes", "MissingGenotypesWarning", "read_genotypes"]
