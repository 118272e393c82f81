"""Where this library meets scikit-learn: scorers for its searches, and a report in the form of its own."""

from .scorers import scorer
from .small_samples import ReportedClass, SmallSampleReport, small_sample_report

__all__ = ["ReportedClass", "SmallSampleReport", "scorer", "small_sample_report"]
