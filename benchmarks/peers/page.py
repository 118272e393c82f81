"""The page docs/reference/peers.md: tables with the sentences that they need, all from the results of one run."""

from __future__ import annotations

import os
import platform
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

from alarms import JUDGES, LOOKED_AT, alarm_table
from beyond import (
    CORRELATION,
    EACH,
    GAP,
    MARGIN,
    OTHERS,
    PEOPLE,
    UNKNOWN,
    alike_table,
    better_alike,
    index_line,
    newcomer_table,
    unit_table,
    unknown_table,
)
from conformance import conformance_tables, gap_table
from covering import LISTED_WHOLE, ROWS, Coverage, coverage_tables
from groups import DIFFERENT, FPR, MAJORITY, METRICS, PREVALENCE, TPR
from looks import BEGINS, FEWEST, GAP as WEEKLY_GAP, MOST, RATE, TIMES, better_looks, look_table
from registry import PEERS, Desk
from speeds import RACERS, draw_table, speed_table, times
from wrong import wrong_table

__all__ = ["APART", "COUNT", "Results", "page", "with_sections"]

COUNT = 20_000
# A coverage counts as nearer to 95 % than another from this difference on.
POINT = 0.01


@dataclass(frozen=True)
class Results:
    """What one run found."""

    speed: dict[str, Any]
    conformance: dict[str, Any]
    gaps: dict[str, Any]
    wrong: dict[str, Any]
    alarms: dict[str, Any]
    coverage: dict[str, Any]
    looks: dict[str, Any]
    beyond: dict[str, Any]
    sizes: tuple[int, ...]
    groups: tuple[int, ...]
    desk: Desk
    quick: bool


def machine() -> str:
    """The kind of machine, without its name."""
    model, info = platform.machine(), Path("/proc/cpuinfo")
    if info.exists():
        models = [line.split(":", 1)[1].strip() for line in info.read_text().splitlines() if "model name" in line]
        model = " ".join(models[0].split()[:2]) if models else model
    return f"{model} ({os.cpu_count()} cores, {platform.system()})"


INTRODUCTION = """\
# evenhand beside its peers

What other libraries give for the same small groups: how often their intervals are right, how often they raise a false
alarm, what they return where a score is undefined, and how long they take. Written by one command, with the same data
and seeds for all. Times are from one run; other answers, which are seeded, may have been kept (`--keep`) when a run was
interrupted. Sections that give a date of their own may have been run apart (`--only`).

```console
$ .venv/bin/python benchmarks/peers --environments DIR > docs/reference/peers.md
```

Each peer runs in a process, and where needed an environment, of its own, with the settings that its documentation
shows and otherwise its defaults. Run on {date}, on {machine}, with Python {python}.
Versions: {versions}.
"""
INTERVALS = """\
## Truth: 95 % intervals of small groups

Groups of n cases are drawn with the rates of the paper's ten groups (two of COMPAS, eight of Folktables), so that the
true scores are known. A cell is how often the interval holds the true score, in percent, given that the group's score
is defined and the peer gives an interval: the mean over the ten groups, with the group of the smallest coverage in
parentheses. These are exact: every case is listed with its probability. Where cases are drawn, a standard error
follows in place of the smallest (cells for n up to {whole} are listed where that takes little time). "% none" are
groups with a defined score and no interval; "none" means that no group gets one. How often the score itself is
undefined is in the first line. The last columns are mean widths: an interval that covers too much is too wide.

| interval | what it is | drawn per group and n |
|---|---|---|
{kinds}

scikit-learn gives no interval. PyCM, statsmodels, fairpipe and vfairness give none for F1 and MCC.
"""
ALARMS = """\
## Truth: does a group differ?

Audits of a group of {majority} and 6 or 20 groups of 10 to 60 cases, at a level of 5 %. Every group has prevalence
{prevalence}, TPR {tpr} and FPR {fpr}. Where one of the small groups differs, it has TPR {other_tpr} and FPR {other_fpr}
if the selection rate is looked at, and TPR {tpr_only} if TPR is. "False alarm": nothing differs, and some group is said
to, or the audit to be unequal. "Found": the group that differs is said to, or the audit to be unequal. Peers that leave
out groups of fewer than 30 or 10 cases cannot find those. Simulated, with standard errors; the same audits for all, and
the first of them for slow peers. fairlearn, confidenceinterval, PyCM and scikit-learn give no verdict on a group.

| peer | says that a group differs if |
|---|---|
{judges}
"""
CONFORMANCE = """\
## Conformance: scores of degenerate matrices

What is returned, by default, for matrices (TP, FN, FP, TN) that leave something empty. Only rows where the score is
undefined for evenhand, or where a library that answers returns something else, are shown. Where evenhand returns nan,
its audits give the reason. An asterisk is a warning; a name in code type is an exception, or a string that is returned;
an empty cell means that the library has no such metric. vfairness is asked with `min_group_size=1`: by default it
leaves out groups below 30. fairpipe gives no scores of groups; its gaps are further below. The values of peers' own
tests are compared [on a page of their own](conformance.md).
"""
GAPS = """\
### The gap of TPR to a group of (30, 10, 12, 48)

evenhand: group minus reference. fairlearn and vfairness: equal opportunity difference, without a sign. fairpipe:
equalized odds difference, the larger of the gaps of TPR and FPR, so that another number is no contradiction. Groups of
any size are let in.
"""
WRONG = """\
### Numbers that are wrong or mislead

Computed by each peer in this run, beside what SciPy or the definition gives. "Seen" is decided by the numbers of this
run: a case that a release puts right says "no longer".
"""
SPEED = """\
## Speed

{count:,} rows, eight groups, labels in arrays. CPU seconds of one process, imports left out, the best of the number of
runs given. Each peer does the nearest thing to an audit that it has; most do less, and the table says what. The last
column is the time over evenhand's in this run.
"""
DRAWS = """\
### The paper's way: draws

The exact MATCH test of one score (rates known, n given), beside drawing as many groups from the same rates and scoring
them, which gives the tail with an error.
"""
BETTER = """\
## Where peers are better

Worked out from the tables above. Listed are intervals whose exact mean coverage is nearer to 95 % than evenhand's by a
point or more, and those whose smallest coverage over the ten groups is higher by a point or more, if they are at most a
tenth wider on average.
"""


LOOKS = """\
## Looking every week

{run}

Years of {weeks} weekly batches: {fewest} to {most} cases of a group and {times} times as many others, selected at a
rate of {rate}. Either nothing differs, or the group's rate is {gap} lower from the first week or from week {begins}
on. Each week someone looks at all that there is so far, and an alarm is one in any week. "Found" are years with an
alarm after the gap began, among those without an earlier one; the median counts weeks from its beginning, and years
without an alarm as longer than all others. evenhand's alarms hold for all weeks together: at most 5 % of such
watches, however long, raise a false one. vfairness's detectors look for a change of the gap, not for a gap; its
documentation gives simulated rates of false alarms for Page-Hinkley, which hold here, and none for CUSUM.
"""
BEYOND = """\
## Units, unknown groups, "alike", protection

{run}

What few libraries offer. scikit-learn, PyCM, confidenceinterval and mcmetrics know no groups of people; aequitas and
holisticai were not asked, and we know of nothing of the kind in them.
"""
UNITS_TEXT = """\
### Several cases of one person

{people} people of a group and {others} others, {each} positive cases each; the cases of a person are alike
(correlation {correlation}). The TPRs are equal ("false alarm"), or the group's is {gap} lower ("found"); one
comparison, at a level of 5 %. vfairness knows clusters in experiments only, not in its metrics.
"""
UNKNOWN_TEXT = """\
### Cases without a group

{known} cases of groups A and B, and {unknown} whose group is None. By default; vfairness can also refuse them or make
them a group (`missing_strategy`). Of these, only evenhand also says what they could change.
"""
ALIKE_TEXT = """\
### Alike

A TPR within ±{margin} of the reference's counts as alike. "Wrongly": the true gap is {margin}, and the two are called
alike, which should happen in at most 5 % of audits; "rightly": there is no gap. One comparison.
"""
PROTECTION_TEXT = """\
### Protection of small counts

evenhand rounds or hides counts before anything is computed from them (`protect=`). fairpipe's dashboard leaves out
groups of fewer than 20 cases (`k_anonymity`), which others can find by subtraction if totals are shown. vfairness,
equiboots and fairpipe withhold scores of groups below 30, 10 and 30 cases for the sake of reliability, not of
privacy. We found nothing of the kind in the other peers.
"""
NEWCOMERS = """\
### Newer packages

{index}

fairaudit (Cherian and Candès) flags groups and bounds the share of false flags; fairscope is about AUC and
calibration and gives rates no intervals. safestats, which has Turner and Grünwald's safe test of two proportions, is
a package of R; we found no package of it for Python. savvi and confseq have tests that may be looked at as often as
one likes: confseq of means, savvi among others of the rates of groups that have fixed, known shares of all cases
(`InhomogeneousBernoulliProcess`). Neither is made for audits, and neither was run.
"""


def ran(results: Results) -> str:
    """When a part was run, and with which versions."""
    return f"Run on {date.today().isoformat()} with {versions(results)}."


def versions(results: Results) -> str:
    return ", ".join(f"{name} {results.desk.versions[name]}" for name in PEERS if name in results.desk.versions)


def looks_section(results: Results) -> Iterator[str]:
    yield LOOKS.format(
        run=ran(results), weeks=52, fewest=FEWEST, most=MOST, times=TIMES, rate=RATE, gap=WEEKLY_GAP, begins=BEGINS + 1
    )
    yield from look_table(results.looks)
    yield "\nFound sooner than by evenhand:\n"
    yield from list(better_looks(results.looks)) or ["- none."]


def beyond_section(results: Results) -> Iterator[str]:
    found = results.beyond
    yield BEYOND.format(run=ran(results))
    yield UNITS_TEXT.format(people=PEOPLE, others=OTHERS, each=EACH, correlation=CORRELATION, gap=GAP)
    yield from unit_table(found["units"])
    sizes = {name: sum(cells) for name, cells in UNKNOWN.items()}
    yield "\n" + UNKNOWN_TEXT.format(known=sizes["A"] + sizes["B"], unknown=sizes[None])
    yield from unknown_table(found["unknown"])
    yield "\n" + ALIKE_TEXT.format(margin=MARGIN)
    yield from alike_table(found["alike"])
    yield "\nCalled alike rightly more often than by evenhand, at most 5 % wrongly (within one standard error):\n"
    yield from list(better_alike(found["alike"])) or ["- none."]
    yield "\n" + PROTECTION_TEXT
    yield NEWCOMERS.format(index=index_line(found["index"]))
    yield from newcomer_table(found["newcomers"])


# Parts of the page that can be run apart from the rest.
APART: dict[str, Callable[[Results], Iterator[str]]] = {"looks": looks_section, "beyond": beyond_section}
FOLLOWED_BY = "## Conformance"


def with_sections(text: str, sections: Iterable[str]) -> str:
    """A page with these sections in place of those of the same title, or before the section on conformance."""
    for section in sections:
        title = section.splitlines()[0]
        parts = re.split(r"^(?=## )", text, flags=re.MULTILINE)
        kept = [part for part in parts if part.splitlines()[0] != title]
        if len(kept) < len(parts):
            at = next(i for i, part in enumerate(parts) if part.splitlines()[0] == title)
        else:
            at = next(i for i, part in enumerate(parts) if part.startswith(FOLLOWED_BY))
        text = "".join([*kept[:at], section.rstrip("\n") + "\n\n", *kept[at:]])
    return text


def nearer(results: Results) -> Iterator[str]:
    """Intervals with a better coverage than ours, by metric and n."""
    ours = results.coverage["evenhand"]
    for key, name in METRICS.items():
        for n in results.sizes:
            mine: Coverage = ours[key, n]
            if not mine.exact:
                continue
            mean, least = [], []
            for row in ROWS[1:]:
                found = results.coverage[row.name]
                theirs = None if isinstance(found, str) else found.get((key, n))
                if theirs is None or not theirs.exact or theirs.withheld > 0.5:
                    continue
                if abs(theirs.mean - 0.95) <= abs(mine.mean - 0.95) - POINT:
                    mean.append(f"{row.name} {100 * theirs.mean:.1f}")
                if theirs.smallest >= mine.smallest + POINT and theirs.width <= 1.1 * mine.width:
                    least.append(f"{row.name} {100 * theirs.smallest:.1f}")
            if mean:
                yield f"- {name}, n = {n}, mean: evenhand {100 * mine.mean:.1f}; {'; '.join(mean)}."
            if least:
                yield f"- {name}, n = {n}, smallest: evenhand {100 * mine.smallest:.1f}; {'; '.join(least)}."


def finds_more(results: Results) -> Iterator[str]:
    """Judges that find clearly more than we do while keeping to the level."""
    ours = results.alarms["evenhand"]
    for key, name in LOOKED_AT.items():
        for number in results.groups:
            for judge in JUDGES[1:]:
                found = results.alarms[judge.name]
                if isinstance(found, str):
                    continue
                false, power, mine = found[key, number, False], found[key, number, True], ours[key, number, True]
                apart = power.share - mine.share
                if apart > 2 * (power.error**2 + mine.error**2) ** 0.5 and false.share <= 0.05 + 2 * false.error:
                    yield (
                        f"- {name}, {number} groups: {judge.name} finds {100 * power.share:.0f} %, evenhand "
                        f"{100 * mine.share:.0f} %."
                    )


def faster(results: Results) -> Iterator[str]:
    ours = results.speed["evenhand"][0]["seconds"]
    for name in RACERS[1:]:
        found = results.speed[name]
        for each in [] if isinstance(found, str) else found:
            if each["seconds"] < ours:
                yield f"- {name} takes {times(each['seconds'] / ours)} times evenhand's time: {each['what']}."


def missing(results: Results) -> Iterator[str]:
    """Peers, and parts of them, that gave no answer."""
    yield from (f"- {name}: {reason}." for name, reason in results.desk.missing.items())
    parts = {
        "intervals": results.coverage, "verdicts": results.alarms, "scores": results.conformance,
        "gaps": results.gaps, "wrong numbers": results.wrong, "speed": results.speed,
    }  # fmt: skip
    for part, found in parts.items():
        for name, each in found.items():
            if isinstance(each, str) and name.split(",")[0] not in results.desk.missing:
                yield f"- {name}, {part}: {each}."


def page(results: Results) -> Iterator[str]:
    """The lines of docs/reference/peers.md."""
    yield INTRODUCTION.format(
        date=date.today().isoformat(), machine=machine(), python=platform.python_version(), versions=versions(results)
    )
    if results.quick:
        yield "**A quick run, to try everything out: too few draws for its numbers to mean anything.**\n"
    gone = list(missing(results))
    yield "Not run:\n\n" + "\n".join(gone) + "\n" if gone else "Every peer was run.\n"
    kinds = "\n".join(f"| {r.name} | {r.what} | {r.draws or 'all listed'} |" for r in ROWS)
    yield INTERVALS.format(whole=LISTED_WHOLE, kinds=kinds)
    yield from coverage_tables(results.coverage, results.sizes)
    judges = "\n".join(f"| {judge.name} | {judge.what} |" for judge in JUDGES)
    yield ALARMS.format(
        majority=MAJORITY, prevalence=PREVALENCE, tpr=TPR, fpr=FPR, other_tpr=DIFFERENT["ppr"][0],
        other_fpr=DIFFERENT["ppr"][1], tpr_only=DIFFERENT["tpr"][0], judges=judges,
    )  # fmt: skip
    yield from alarm_table(results.alarms, results.groups)
    for section in APART.values():
        yield ""
        yield from section(results)
    yield "\n" + CONFORMANCE
    yield from conformance_tables(results.conformance)
    yield "\n" + GAPS
    yield from gap_table(results.gaps)
    yield "\n" + WRONG
    yield from wrong_table(results.wrong)
    yield "\n" + SPEED.format(count=COUNT)
    yield from speed_table(results.speed)
    yield "\n" + DRAWS
    yield from draw_table(results.speed)
    yield "\n" + BETTER
    yield from nearer(results)
    yield "\nVerdicts that find clearly more (two standard errors) and keep to 5 %:\n"
    yield from list(finds_more(results)) or ["- none."]
    yield "\nFaster:\n"
    yield from list(faster(results)) or ["- none."]
