"""fairscope: gaps of two groups without intervals, and AUC with DeLong's."""

from __future__ import annotations

from functools import partial
from typing import Any

from fairscope.core.metrics import equalized_odds_difference
from talk import answer, by_group, outcome


def newcomer(job: dict[str, Any]) -> list[tuple[str, str, str]]:
    y, p, names = by_group({"A": job["groups"]["A"], "B": (0, 0, 2, 6)})
    empty = outcome(partial(equalized_odds_difference, y, p, names, "A", "B"))
    y, p, names = by_group({"A": (30, 10, 12, 48), "B": (30, 10, 48, 12)})
    odds = equalized_odds_difference(y, p, names, "A", "B")
    return [
        ("`equalized_odds_difference` with a group without positives", f"`{empty.get('error', empty.get('value'))}`",
         "undefined: it says so"),
        ("`equalized_odds_difference` where TPRs are 0.75 and 0.75, FPRs 0.2 and 0.8", f"{odds:g}",
         "0.6 by the usual definition; it compares TPR only, as its documentation says"),
    ]  # fmt: skip


if __name__ == "__main__":
    answer("fairscope", (newcomer,))
