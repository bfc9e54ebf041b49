"""PLINK's three files."""

import numpy as np
import pandas as pd
import pytest
from reference.genotypes import read_bed

from ellzero import Genotypes, read_genotypes


@pytest.fixture
def written(rng, tmp_path):
    copies = rng.choice([0, 1, 2, np.nan], size=(11, 6), p=[0.4, 0.3, 0.2, 0.1])
    variants = pd.DataFrame(
        {
            "chromosome": ["1", "1", "2", "X", "X", "MT"],
            "id": ["rs1", "NA", "rs3", '"4', "rs5", "."],
            "centimorgans": [0, 0.5, 0, 0, 0, 0],
            "position": [10, 20, 5, 7, 9, 1],
            "allele1": ["A", "C", "0", "ACGT", "T", "NA"],
            "allele2": list("GTGTGT"),
        }
    )
    samples = pd.DataFrame(
        {"id": [f"s{i}" for i in range(11)], "phenotype": [*rng.normal(size=10), np.nan]}
    )
    path = tmp_path / "small.bed"
    Genotypes.from_array(copies, variants, samples).write(path)
    return path, copies, variants, samples


def test_what_is_written_is_read_again(written):
    path, copies, variants, samples = written
    for name in (path, path.with_suffix("")):
        genotypes = read_genotypes(name)
        np.testing.assert_array_equal(genotypes.to_array(missing="nan"), copies)
        found = genotypes.variants.astype({"chromosome": str, "allele1": str, "allele2": str})
        for column in variants:
            assert found[column].tolist() == variants[column].tolist()
        assert genotypes.samples["id"].tolist() == samples["id"].tolist()
        np.testing.assert_array_equal(
            genotypes.samples["phenotype"][:10], samples["phenotype"][:10]
        )
        assert genotypes.samples["phenotype"][10] == -9
    np.testing.assert_array_equal(read_bed(path.read_bytes(), 11), copies)
    # Bytes of a file begin after its first three: nowhere in particular
    V = np.arange(22.0).reshape(11, 2)
    args = (genotypes.means, np.ones(6), None, V, 1)
    expected = V.T @ (genotypes.to_array() - genotypes.means)
    np.testing.assert_allclose(genotypes._columns().products(*args), expected, atol=1e-12)
    assert isinstance(genotypes._packed, np.memmap)
    assert sorted(p.name for p in path.parent.iterdir()) == ["small.bed", "small.bim", "small.fam"]


def test_bed_reader_agrees(written, rng):
    reader = pytest.importorskip("bed_reader", reason="bed-reader is not installed")
    path, copies, _, _ = written
    with reader.open_bed(path) as bed:
        np.testing.assert_array_equal(bed.read(dtype="float64"), copies)
        assert bed.sid.tolist() == read_genotypes(path).variants["id"].tolist()
        np.testing.assert_array_equal(bed.bp_position, read_genotypes(path).variants["position"])
    other = path.with_name("theirs.bed")
    table = rng.choice([0, 1, 2, np.nan], size=(42, 9))
    reader.to_bed(other, table, properties={"sid": [f"rs{i}" for i in range(9)]})
    genotypes = read_genotypes(other)
    np.testing.assert_array_equal(genotypes.to_array(missing="nan"), table)
    assert genotypes.feature_names.tolist() == [f"rs{i}" for i in range(9)]


def test_files_that_are_not_what_they_should_be(written):
    path = written[0]
    content = path.read_bytes()
    bim = path.with_suffix(".bim").read_text()
    for words, broken in (
        ("one sample after the other", content[:2] + b"\x00" + content[3:]),
        ("no .bed file", b"PK" + content[2:]),
        ("no .bed file", b""),
        ("has 20 bytes, but 11 samples and 6 variants take 21", content[:-1]),
        ("cut off", content + b"\x00"),
    ):
        path.write_bytes(broken)
        with pytest.raises(ValueError, match=words):
            read_genotypes(path)
    path.write_bytes(content)
    for words, lines in (
        ("cut off, or its .bim and .fam", bim + bim),
        ("is empty", ""),
        ("can't be read as chromosome, id", bim.replace("\t10\t", "\tten\t")),
        ("can't be read as chromosome, id", "1 rs1 0\n" * 6),
    ):
        path.with_suffix(".bim").write_text(lines)
        with pytest.raises(ValueError, match=words):
            read_genotypes(path)
    path.with_suffix(".fam").unlink()
    path.with_suffix(".bim").write_text(bim)
    with pytest.raises(FileNotFoundError, match=r"small\.fam"):
        read_genotypes(path)


def test_names_that_a_file_can_not_hold(tmp_path):
    for variants in (["a b"], [""]):
        genotypes = Genotypes.from_array([[0], [1]], variants=variants)
        with pytest.raises(ValueError, match="variants: 'id' must have no spaces"):
            genotypes.write(tmp_path / "x.bed")
    with pytest.raises(ValueError, match=r"end in \.bed"):
        Genotypes.from_array([[0]]).write(tmp_path / "x.txt")
    assert not list(tmp_path.iterdir())
