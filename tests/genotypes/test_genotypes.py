"""Genotypes at two bits: what they hold, and parts of them."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reference.genotypes import filled, read_bed

from ellzero import Genotypes
from ellzero._engine import make_columns
from ellzero.genotypes._codes import pack_copies, unpack_copies


def draw_copies(rng, n=37, p=23, missing=0.1):
    copies = rng.binomial(2, rng.uniform(0.05, 0.95, size=p), size=(n, p)).astype(float)
    copies[rng.random((n, p)) < missing] = np.nan
    return copies


@given(st.integers(1, 40), st.integers(1, 6), st.integers(0, 2**32 - 1))
@settings(max_examples=60, deadline=None)
def test_packing_and_unpacking_are_inverse(n, p, seed):
    copies = np.random.default_rng(seed).choice([0, 1, 2, np.nan], size=(n, p))
    packed = pack_copies(copies)
    np.testing.assert_array_equal(unpack_copies(packed, n), copies)
    content = b"\x6c\x1b\x01" + packed.tobytes()
    np.testing.assert_array_equal(read_bed(content, n), copies)


@pytest.mark.parametrize("dtype", [np.int8, np.int64, np.float32])
def test_any_numbers_are_packed(rng, dtype):
    copies = draw_copies(rng)
    copies[np.isnan(copies)] = -9 if np.issubdtype(dtype, np.integer) else np.nan
    genotypes = Genotypes.from_array(copies.astype(dtype))
    expected = np.where(copies < 0, np.nan, copies)
    np.testing.assert_array_equal(genotypes.to_array(missing="nan"), expected)


@pytest.mark.parametrize("n", [1, 3, 4, 5, 255, 257, 301])
def test_counts_and_means(rng, n):
    copies = draw_copies(rng, n)
    copies[:, 0], copies[:, 1] = np.nan, 2
    genotypes = Genotypes.from_array(copies)
    np.testing.assert_array_equal(genotypes.missing_counts, np.isnan(copies).sum(axis=0))
    np.testing.assert_allclose(genotypes.to_array(), filled(copies), rtol=1e-15)
    assert genotypes.means[0] == 0
    assert genotypes.means[1] == 2


def test_bits_beyond_the_last_sample_do_not_matter(rng):
    copies = draw_copies(rng, 37)
    packed = pack_copies(copies)
    packed[:, -1] |= 0b01010100  # missing, if they were samples
    plain = Genotypes.from_array(copies)
    other = Genotypes(packed, 37, plain.variants, plain.samples)
    np.testing.assert_array_equal(other._counts, plain._counts)
    y = rng.normal(size=37)
    for V in (y[:, None], rng.normal(size=(37, 6))):
        args = (plain.means, np.ones(23), None, V, 1)
        np.testing.assert_array_equal(
            other._columns().products(*args), plain._columns().products(*args)
        )


@pytest.mark.parametrize("n", [1, 3, 4, 31, 255, 256, 258, 600])
@pytest.mark.parametrize("weighted", [True, False])
def test_products_have_the_bits_of_those_of_numbers(rng, n, weighted):
    genotypes = Genotypes.from_array(draw_copies(rng, n, 101))
    mean, scale = rng.normal(size=101), rng.normal(size=101)
    root = rng.random(n) if weighted else None
    for table in (genotypes.to_array(), np.ascontiguousarray(genotypes.to_array())):
        for width in (1, 4, 7, 16):
            args = (mean, scale, root, rng.normal(size=(n, width)), 1)
            np.testing.assert_array_equal(
                genotypes._columns().products(*args), make_columns(table).products(*args)
            )


@pytest.mark.parametrize(
    "key",
    [
        slice(3, 30, 2),
        ([5, 0, 0, -1], slice(None)),
        (slice(None), [7, -1, 3]),
        (np.arange(37) % 3 == 0, slice(4, 9)),
        ([1, 2, 36], np.arange(23) > 11),
        ([4, 8, 2], Ellipsis),
    ],
)
def test_parts(rng, key):
    copies = draw_copies(rng)
    genotypes = Genotypes.from_array(copies)
    part = genotypes[key]
    table = genotypes.to_array()
    expected = table[key] if not isinstance(key, tuple) else table[key[0]][:, key[1]]
    if isinstance(key, tuple) and key[1] is Ellipsis:
        expected = table[key[0]]
    # What is missing has the mean of the whole
    np.testing.assert_array_equal(part.to_array(), expected)
    assert len(part.variants) == part.shape[1]
    assert len(part.samples) == len(part) == part.shape[0]


def test_linked_variants(rng):
    copies = draw_copies(rng, 150, 40)
    copies[:, 17] = np.where(rng.random(150) < 0.3, copies[:, 17], copies[:, 5])
    copies[:, 30] = 1
    genotypes = Genotypes.from_array(copies)
    with np.errstate(all="ignore"):
        r2 = np.corrcoef(genotypes.to_array(), rowvar=False) ** 2
    for which in ([5], [5, 30], list(range(20))):
        for least in (0.02, 0.3):
            expected = np.flatnonzero((np.nan_to_num(r2[which]) >= least).any(axis=0))
            np.testing.assert_array_equal(genotypes.linked_to(which, r2=least), expected)


def test_names_are_the_ids_if_they_are_unique(rng):
    copies = draw_copies(rng, 5, 3)
    named = Genotypes.from_array(copies, variants=["a", "b", "c"])
    assert named.feature_names.tolist() == ["a", "b", "c"]
    assert Genotypes.from_array(copies, variants=["a", ".", "."]).feature_names is None
    assert Genotypes.from_array(copies, variants=[1, 2, 3]).feature_names is None
    assert named[:, [2, 0]].feature_names.tolist() == ["c", "a"]
    frame = pd.DataFrame(copies, columns=["x", "y", "z"])
    assert Genotypes.from_array(frame).feature_names.tolist() == ["x", "y", "z"]


def test_what_is_wrong_is_said(rng):
    copies = draw_copies(rng, 5, 3)
    genotypes = Genotypes.from_array(copies)
    frame = pd.DataFrame({"id": ["a", "b"]})
    for words, act in (
        ("0, 1 and 2.*got 3", lambda: Genotypes.from_array([[0, 3]])),
        ("0, 1 and 2.*got 0.5", lambda: Genotypes.from_array([[0.5]])),
        ("hold numbers", lambda: Genotypes.from_array([["A", "B"]])),
        ("a table", lambda: Genotypes.from_array([0, 1, 2])),
        ("variants must be as many", lambda: Genotypes.from_array(copies, variants=["a"])),
        ("variants must have 3 rows; got 2", lambda: Genotypes.from_array(copies, variants=frame)),
        (
            "column 'id'",
            lambda: Genotypes.from_array(copies, samples=frame.rename(columns=str.upper)),
        ),
        ("means must be 3 numbers", lambda: genotypes.with_means([0, 1])),
        ("means must be 3 numbers", lambda: genotypes.with_means([0, 1, 3])),
        ("missing must be", lambda: genotypes.to_array(missing="zero")),
        ("r2 must be", lambda: genotypes.linked_to([0], r2=0)),
        ("bytes for a variant", lambda: Genotypes(genotypes._packed, 9, frame, frame)),
    ):
        with pytest.raises(ValueError, match=words):
            act()
    for key in ("a", [5], [True], (0, 1, 2), 1.5):
        with pytest.raises(IndexError):
            genotypes[key]
    with pytest.raises(TypeError, match="to_array"):
        np.asarray(genotypes)
