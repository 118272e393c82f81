"""fairaudit: groups flagged with a bound on the share of false flags, and simultaneous intervals of groups' gaps."""

from __future__ import annotations

from typing import Any

import numpy as np
from fairaudit.auditor import Auditor
from fairaudit.metrics import Metric
from talk import answer, by_group

RESAMPLES = {"student": "mad", "student_threshold": -np.inf, "B": 200}


def flagged(groups: dict[str, Any], kind: str) -> list[str]:
    """The groups whose selection rate is flagged at 5%, by a one- or two-sided test."""
    y, p, names = by_group(groups)
    members = names[:, None] == np.array(list(groups))[None, :]
    auditor = Auditor(np.zeros((len(y), 1)), y, p, Metric("statistical_parity"))
    flags, _ = auditor.flag_groups(members, kind, 0.05, 0, RESAMPLES)
    return [name for name, flag in zip(groups, np.ravel(flags), strict=True) if flag]


def newcomer(job: dict[str, Any]) -> list[tuple[str, str, str]]:
    alike = dict.fromkeys(("A", "B"), job["groups"]["A"])
    both, one = flagged(alike, "interval"), flagged(alike, "lower")
    return [
        (
            '`flag_groups(type="interval")` of two groups with the same counts, level 5%',
            f"flags {', '.join(both) or 'none'}",
            "none: p is `1 - 2 * cdf(abs(z))`, which is never above 0",
        ),
        ('the same, one-sided (`type="lower"`)', f"flags {', '.join(one) or 'none'}", "none"),
    ]


if __name__ == "__main__":
    answer("fairaudit", (newcomer,))
