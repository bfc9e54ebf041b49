"""Pictures of results; matplotlib is imported in this package and in paper, nowhere else."""

from ellzero.plotting._cv_curve import draw_cv_curve
from ellzero.plotting._inclusion import draw_inclusion
from ellzero.plotting._intervals import draw_intervals
from ellzero.plotting._jointness import draw_jointness
from ellzero.plotting._path import draw_path
from ellzero.plotting._segmentation import (
    draw_penalty_curve,
    draw_segmentation,
    draw_segmentation_path,
)
from ellzero.plotting._shrinkage import (
    draw_curves,
    draw_penalties,
    draw_posterior_means,
    shrinkage_curves,
)
from ellzero.plotting._stability import draw_stability

__all__ = [
    "draw_curves",
    "draw_cv_curve",
    "draw_inclusion",
    "draw_intervals",
    "draw_jointness",
    "draw_path",
    "draw_penalties",
    "draw_penalty_curve",
    "draw_posterior_means",
    "draw_segmentation",
    "draw_segmentation_path",
    "draw_stability",
    "shrinkage_curves",
]
