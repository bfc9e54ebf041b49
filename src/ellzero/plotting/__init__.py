"""Pictures of results; matplotlib is imported here and nowhere above."""

from ellzero.plotting._cv_curve import draw_cv_curve
from ellzero.plotting._path import draw_path

__all__ = ["draw_cv_curve", "draw_path"]
