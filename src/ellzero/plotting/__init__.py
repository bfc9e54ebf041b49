"""Pictures of results; matplotlib is imported here and nowhere above."""

from ellzero.plotting._cv_curve import draw_cv_curve
from ellzero.plotting._inclusion import draw_inclusion
from ellzero.plotting._path import draw_path
from ellzero.plotting._segmentation import (
    draw_penalty_curve,
    draw_segmentation,
    draw_segmentation_path,
)

__all__ = [
    "draw_cv_curve",
    "draw_inclusion",
    "draw_path",
    "draw_penalty_curve",
    "draw_segmentation",
    "draw_segmentation_path",
]
