"""Series that are not made of pieces."""

import pickle

import numpy as np
import pytest

from ellzero import segment
from ellzero._warnings import PiecesWarning
from ellzero.datasets import make_spikes

N = 500
TIME = np.arange(N)


def with_noise(signal, seed=0):
    return signal + np.random.default_rng(seed).normal(size=len(signal))


@pytest.mark.parametrize(
    ("signal", "words"),
    [
        (20 * TIME / N, "has a trend"),
        (5 * TIME / N, "A straight line, rising by 0.0"),
        (-5 * TIME / N, "A straight line, falling by 0.0"),
        (np.repeat([0.0, 10, 0, 10, 0], 100) - 6 * TIME / N, "Within the pieces the series falls"),
        (2 * np.sin(2 * np.pi * TIME / 24), "with a period of about 2"),
        (5 * np.sin(2 * np.pi * TIME / 100), "with a period of about 99.8 samples"),
        (np.repeat([0.0, 5, -5, 5, 0], 100) + 2 * np.sin(np.pi * TIME / 6), "about 11.9 samples"),
        (5 * np.random.default_rng(1).normal(size=N).cumsum(), "cannot be told from drift"),
    ],
)
def test_what_is_not_made_of_pieces(signal, words):
    with pytest.warns(PiecesWarning, match=words) as caught:
        found = segment(with_noise(signal))
    assert len(caught) == 1
    assert caught[0].filename == __file__
    assert words in " ".join(found.cautions)
    assert found.cautions == list(caught[0].message.cautions)


def test_a_ramp_without_noise():
    with pytest.warns(PiecesWarning) as caught:
        segment(np.arange(1.0, 101.0))
    assert {warning.category for warning in caught} == {PiecesWarning}


def test_short_pieces():
    pulses = np.zeros(N)
    pulses[10::20] = pulses[11::20] = 30.0
    with pytest.warns(PiecesWarning, match="pieces 25 have 3 samples or fewer"):
        segment(with_noise(pulses), noise="white")


def test_a_price_for_white_noise():
    rng = np.random.default_rng(2)
    e = rng.normal(size=N)
    for t in range(1, N):
        e[t] += 0.7 * e[t - 1]
    for options in ({"lam": "bic"}, {"noise": "white"}):
        with pytest.warns(PiecesWarning, match="but the penalty was chosen for noise that is not"):
            segment(e, **options)
    assert segment(e).cautions == []


def test_samples_far_out():
    y = with_noise(np.zeros(2000))
    y[700] = 25
    with pytest.warns(PiecesWarning, match="make them gaps"):
        found = segment(y)
    assert found.n_segments == 1


def test_what_is_made_of_pieces_gets_no_warning():
    """Warnings are errors here, so that these lines would fail."""
    rng = np.random.default_rng(3)
    for seed in range(60):
        segment(with_noise(np.repeat([0.0, 2, -1, 1, 3], 100), seed))
        segment(with_noise(np.repeat(np.arange(10.0) * 3, 50), seed))  # stairs
        segment(with_noise(np.zeros(int(rng.integers(10, 400))), seed))
        trace = make_spikes(1000, decay=0.95, random_state=seed)[0]
        segment(trace, decay=0.95, jumps="positive")
    segment(np.round(with_noise(np.repeat([0.0, 5.0], 200))))
    segment([1.0, 2.0, 3.0])
    segment(np.repeat([0.0, 1.0], 50))


def test_a_price_that_is_given_is_left_in_peace():
    ramp = with_noise(20 * TIME / N)
    found = segment(ramp, 6.0)
    assert any("trend" in caution for caution in found.cautions)


def test_several_series_have_one_warning():
    good, ramp = with_noise(np.zeros(N)), with_noise(20 * TIME / N)
    with pytest.warns(PiecesWarning, match=r"^y\[1\]: .*\(And 1 more series.\)$") as caught:
        segment([good, ramp, ramp])
    assert len(caught) == 1
    again = pickle.loads(pickle.dumps(caught[0].message))
    assert str(again) == str(caught[0].message)


def test_gaps_and_weights():
    ramp = with_noise(20 * TIME / N)
    ramp[100:120] = np.nan
    weights = np.ones(N)
    weights[300:320] = 0
    with pytest.warns(PiecesWarning, match="trend"):
        segment(ramp, sample_weight=weights)
