"""Exact l0 in time: changepoints and spikes."""

from ellzero.segmentation._cross_validation import PenaltyCurve
from ellzero.segmentation._decay import estimate_decay
from ellzero.segmentation._denoiser import L0SegmentDenoiser
from ellzero.segmentation._noise import NoiseEstimate, estimate_noise
from ellzero.segmentation._path import SegmentationPath, segment_path
from ellzero.segmentation._penalty import lam_for_jump
from ellzero.segmentation._segment import segment
from ellzero.segmentation._segmentation import Segmentation

__all__ = [
    "L0SegmentDenoiser",
    "NoiseEstimate",
    "PenaltyCurve",
    "Segmentation",
    "SegmentationPath",
    "estimate_decay",
    "estimate_noise",
    "lam_for_jump",
    "segment",
    "segment_path",
]
