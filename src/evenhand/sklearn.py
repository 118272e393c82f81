"""For scikit-learn: metrics as scorers of searches, and a classification report for small samples."""

from .adapters import scorer, small_sample_report

__all__ = ["scorer", "small_sample_report"]
