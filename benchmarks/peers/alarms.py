"""How often peers say that a group differs, where none does and where one does.

An audit has a large group and 6 or 20 small ones. Some peers name the groups that differ, others judge the audit as a
whole: then an alarm counts as found.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from groups import audits
from registry import Desk, Refused

__all__ = ["JUDGES", "Judge", "alarm_table", "raise_alarms"]

COUNTS = (6, 20)
LOOKED_AT = {"ppr": "selection rate", "tpr": "TPR"}


@dataclass(frozen=True)
class Judge:
    """A way to the verdict that a group differs, and how many audits it judges here."""

    name: str
    what: str
    count: int
    names_groups: bool = True
    settings: dict[str, Any] = field(default_factory=dict)


JUDGES = (
    Judge("evenhand", "`audit_counts`: exact test of each group against the rest, discrete Holm, p at most 0.05", 300),
    Judge("statsmodels", "`test_proportions_2indep` (its default) of each group against the rest, `multipletests` "
          "(Holm); put together by the user", 300),
    Judge("fairpipe", "permutation p of the largest gap at most 0.05, groups of 30 or more; for TPR that of equalized "
          "odds, which looks at FPR too; judges the audit, names no group", 200, names_groups=False),
    Judge("equiboots", "chi-square (Fisher's if counts are few) against the largest group, Holm, after an omnibus "
          "test; groups of 10 or more", 30),
    Judge("prob_conf_mat", "95 % HDI of the difference from the largest group excludes 0; not adjusted for several "
          "groups", 20),
    Judge("aequitas", "`check_significance` at 0.05 against the largest group; not adjusted for several groups", 30),
    Judge("vfairness", 'verdict "unfair": the bootstrap interval of the largest gap (`n_bootstrap=1000`) is above its '
          "threshold of 0.1, groups of 30 or more; judges the audit, names no group", 10, names_groups=False,
          settings={"rounds": 1000}),
)  # fmt: skip


@dataclass(frozen=True)
class Rate:
    """A share of audits."""

    share: float
    count: int
    refused: int = 0

    @property
    def error(self) -> float:
        """The standard error; a share of 0 or 1 among few audits has one too."""
        near = (self.share * self.count + 1) / (self.count + 2)
        return float(np.sqrt(near * (1 - near) / self.count))

    def __str__(self) -> str:
        refused = f" ({self.refused} refused)" if self.refused else ""
        return f"{100 * self.share:.0f} ± {100 * self.error:.0f} %{refused}"


def rates_of(judge: Judge, desk: Desk, count: int, groups: tuple[int, ...]) -> dict[tuple[str, int, bool], Rate]:
    cases = [(key, number, differ) for key in LOOKED_AT for number in groups for differ in (False, True)]
    made = [audits(key, number, count, differ) for key, number, differ in cases]
    jobs = [{"metric": case[0], "audits": each, **judge.settings} for case, (each, _) in zip(cases, made, strict=True)]
    found = {}
    for case, (_, who), said in zip(cases, made, desk.ask(judge.name, "audits", *jobs), strict=True):
        if judge.names_groups:
            right = [
                name in each["groups"] if case[2] else bool(each["groups"])
                for name, each in zip(who, said, strict=True)
            ]
        else:
            right = [each["alarm"] for each in said]
        refused = sum(each.get("refused", False) for each in said)
        found[case] = Rate(float(np.mean(right)), count, refused)
    return found


def raise_alarms(
    desk: Desk, groups: tuple[int, ...] = COUNTS, count: Callable[[int], int] = lambda c: c
) -> dict[str, Any]:
    """The rates of all judges, or the reason why one has none."""

    def one(judge: Judge) -> Any:
        try:
            return rates_of(judge, desk, count(judge.count), groups)
        except Refused as reason:
            return str(reason)

    with ThreadPoolExecutor(2) as pool:
        slowest_first = JUDGES[::-1]
        found = dict(zip([j.name for j in slowest_first], pool.map(one, slowest_first), strict=True))
    return {judge.name: found[judge.name] for judge in JUDGES}


def alarm_table(found: dict[str, Any], groups: tuple[int, ...] = COUNTS) -> Iterator[str]:
    heads = [f"{name}, {number} groups: {what}" for name in LOOKED_AT.values() for number in groups
             for what in ("false alarm", "found")]  # fmt: skip
    yield "| peer | audits | " + " | ".join(heads) + " |"
    yield "|" + "---|" * (len(heads) + 2)
    for judge in JUDGES:
        results = found[judge.name]
        if isinstance(results, str):
            continue
        cells = [results[key, number, differ] for key in LOOKED_AT for number in groups for differ in (False, True)]
        yield f"| {judge.name} | {cells[0].count} | " + " | ".join(map(str, cells)) + " |"
