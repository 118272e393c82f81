"""What is shown of audits at several thresholds."""

from __future__ import annotations

from functools import partial

from ..auditing import Sweep, several
from ..errors import printable
from .series import View, about, head_of
from .sweep_pictures import Chart, threshold_text
from .tables import adjustment

__all__ = ["view_of_sweep"]


def view_of_sweep(sweep: Sweep) -> View:
    """What is shown of audits at several thresholds."""
    first = sweep.audits[0]
    texts = tuple(map(threshold_text, sweep.thresholds))
    name = first.record.get("columns", {}).get("score")
    column = f" (column {printable(str(name))})" if name else ""
    how = adjustment(first)
    within = how if how == "not adjusted" else f"{how} within each threshold, not over thresholds"
    return View(
        audits=sweep.audits,
        noun="threshold",
        preposition="at",
        keys=texts,
        places=tuple(f"at {text}" for text in texts),
        everywhere="at every threshold",
        head=f"{head_of(first)} at {several(len(sweep), 'threshold')}",
        reading=f"A score{column} at or above a threshold is a positive prediction. P-values are {within}.",
        about=[
            *about(first.record, first),
            ("thresholds" if len(sweep) > 1 else "threshold", ", ".join(texts)),
        ],
        record=sweep.record,
        loader="Sweep",
        template="sweep.html",
        style="sweep.css",
        script="sweep.js",
        charted=partial(Chart.of, sweep.thresholds),
    )
