"""Today's numbers, frozen, so that a rewrite can be compared with them.

    python benchmarks/frozen.py                  # writes benchmarks/frozen/*.json.xz from the code beside it
    python benchmarks/frozen.py --compare        # computes them again: what differs, by kind of number; two minutes
    python benchmarks/frozen.py --compare --only results --match "'mcc'"

Numbers are equal if they differ by at most 1e-12 of max(1, |number|). `INTENDED` lists what may differ by more, by how
much and why; `REMOVED` what may be gone. Anything else ends with exit code 1. Cases are in `frozen_cases.py`, and
`frozen_adapter.py` is the only module that knows the names of the code.
"""

from __future__ import annotations

import argparse
import json
import lzma
import subprocess
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field
from math import hypot, inf
from pathlib import Path
from typing import Any, NamedTuple

from frozen_adapter import Line, Tables, namespace, read_result
from frozen_cases import AUDITS, SEVERAL_RATES, calls, data

from evenhand import EvenhandError

FOLDER = Path(__file__).parent / "frozen"
TOLERANCE = 1e-12
SMALLEST = 1e-200
TAILS = ("p-value", "adjusted p", "probability", "e-value")
"""Kinds whose small numbers are numbers too: the largest relative difference is shown beside."""
SHOWN = 5
Cases = dict[str, Tables]
AUDITING = ("audit(", "audit_counts(", "compare(", "monitor(")

# What kind of number a column holds; a column that is not listed is of the kind "other"

KINDS = {
    "score": "score reference_score statistic estimate true_score group_score before reference_before baseline",
    "interval end": "low high impact_low impact_high odds_low odds_high half_width",
    "gap": "gap driver_gap impact_ratio crude_odds_ratio crude_estimate lower higher gaps",
    "gap end": "gap_low gap_high driver_gap_low driver_gap_high",
    "bound": "at_least at_most impact_at_most",
    "p-value": "pvalue change_pvalue crude_pvalue smallest_pvalue homogeneity",
    "adjusted p": "p_adjusted",
    "stated error": "p_error",
    "smoothed": "smoothed shrinkage strength_all strength_prev strength_tpr strength_fpr strength",
    "probability": "percentile p_undefined probability cdf sf pmf chances advantages gain p_stopping hidden",
    "quantile": "quantiles",
    "moment": "mean std bias variance mse likelihood_ratio divergence correlation mean_ratio worst_ratio total "
    "movement decay",
    "e-value": "e_value e_value_joint e_values",
    "range over unknown groups": "unknown_score_low unknown_score_high unknown_difference_low unknown_difference_high "
    "unknown_ratio_low unknown_ratio_high",
    "cells": "tp fn fp tn reference_tp reference_fn reference_fp reference_tn",
    "size": "n n_effective support reference_n count required_n tipping_point unknown_n impact_n strata_higher "
    "strata_lower strata_silent batches undefined_batches best exploitable",
    "verdict": "verdict driver driver_verdict alarm",
    "finding": "finding",
    "row": "row",
    "refusal": "refused",
    "name": "reason method question reference reference_kind gap_kind impact_group metrics improved worsened "
    "worst_group worst_metric",
}
KIND_OF = {column: kind for kind, columns in KINDS.items() for column in columns.split()}
VALUES = {
    **{"metric": "score", "f_beta": "score", "difference": "score", "ratio": "score"},
    **{"count_matrices": "size", "count_cell_value": "size", "enumerate_matrices": "size", "count_undefined": "size"},
    **{"undefined_probability": "probability", "power": "probability", "sample_size": "probability"},
    **{"cross_prior_smooth": "smoothed", "additive_smooth": "smoothed", "learn_strengths": "smoothed"},
    **{"optimal_strength": "smoothed", "detectable_difference": "probability", "distribution": "probability"},
    **{"class_scores": "score", "fairlearn": "gap", "from_labels": "cells", "one_vs_rest": "cells"},
}
"""The kind of the column "value", by function."""

KEYS = {
    "rows": ("threshold", "class", "stratum", "model", "against", "by", "group", "metric"),
    "overall": ("threshold", "class", "stratum", "model", "against", "metric"),
    "monitor": ("by", "group", "metric"),
    "facts": ("fact",),
}
"""The columns that tell the lines of a table apart; "call" for single results, and all columns of findings."""


class Number(NamedTuple):
    """A number that differs: in which audit or call, in which column of which line, then and now."""

    case: str
    column: str
    then: Line
    now: Line

    @property
    def call(self) -> str:
        """The call of a single result; empty for an audit."""
        return str(self.then.get("call", ""))


# What may differ by more


def of_several_rates(number: Number) -> bool:
    """Whether the score is made of several rates, so that its law is approximated."""
    if number.call:
        approximate = number.call.startswith(("interval(", "disparity("))
        return approximate and any(f"'{metric}'" in number.call for metric in SEVERAL_RATES)
    line = number.then
    return line.get("metric") in SEVERAL_RATES or line.get("method") == "mid-p" or "before" in line


def planned_of_several_rates(number: Number) -> bool:
    planned = number.call.startswith(("power(", "sample_size(", "detectable_difference("))
    return planned and any(f"'{metric}'" in number.call for metric in SEVERAL_RATES)


def planned_against_counts(number: Number) -> bool:
    planned = number.call.startswith(("power(", "sample_size(", "detectable_difference("))
    return planned and "cm(" in number.call


def of_renamed_findings(number: Number) -> bool:
    """Whether a finding is about people or decisions, or that nothing is conclusive."""
    line = number.then if number.then.get("finding") else number.now
    about = {str(line.get("metrics")).split("_")[0]} & {"prev", "nprev", "ppr", "pnr", "demographic", "disparate"}
    is_difference = line.get("finding") in ("differs", "beyond-margin") and bool(about)
    return is_difference or line.get("finding") in ("base-rate", "selection-rate", "too-few", "inconclusive")


def of_references(number: Number) -> bool:
    return number.then.get("verdict") == "reference"


def of_distributions(number: Number) -> bool:
    return number.call.startswith("distribution(")


def of_single_cells(number: Number) -> bool:
    one_case = ("tp=1, fn=0, fp=0, tn=0", "tp=0, fn=0, fp=0, tn=1")
    return "'mcc_limit'" in number.call and any(cells in number.call for cells in one_case)


def of_undefined(number: Number) -> bool:
    return number.then.get("score") is None and number.now.get("percentile") is None


def shown_or_hidden(number: Number) -> bool:
    """Whether a number of rounded counts is shown in only one of the two audits."""
    values = (line.get(number.column) for line in (number.then, number.now))
    return number.case.startswith("protect:") and None in values


def without_test(number: Number) -> bool:
    return number.now.get("pvalue") is None


def of_changes(number: Number) -> bool:
    return "before" in number.then


def drawn(number: Number) -> bool:
    """Whether one of the two numbers comes from random draws."""
    return bool(number.then.get("p_error") or number.now.get("p_error"))


def of_audits(*beginnings: str) -> Callable[[Number], bool]:
    return lambda number: number.case.startswith(beginnings)


def of_negative_kappa(number: Number) -> bool:
    if number.call.startswith("interval("):
        low = number.then.get("low")
        return "'kappa'" in number.call and isinstance(low, float) and low < 0
    score = number.then.get("score", number.then.get("value"))
    return number.then.get("metric") == "kappa" and isinstance(score, float) and score < 0


def everywhere(number: Number) -> bool:
    return True


def within_width(share: float) -> Callable[[float, float, Number], bool]:
    """Ends of an interval may move by a share of its width."""

    def allowed(then: float, now: float, number: Number) -> bool:
        prefix = number.column.removesuffix("_low").removesuffix("_high") + "_"
        names = (f"{prefix}low", f"{prefix}high") if prefix in ("gap_", "driver_gap_") else ("low", "high")
        if number.column in ("at_least", "at_most"):
            names = ("gap_low", "gap_high")
        low, high = (number.then.get(name) for name in names)
        if number.column in ("at_least", "at_most") and abs(now - then) <= 0.005 * abs(then):
            return True
        if isinstance(low, float | int) and isinstance(high, float | int):
            return abs(now - then) <= share * (high - low)
        return abs(now - then) <= share * max(1.0, abs(then))

    return allowed


def within(most: float) -> Callable[[float, float, Number], bool]:
    return lambda then, now, number: abs(now - then) <= most


def within_scale(most: float) -> Callable[[float, float, Number], bool]:
    return lambda then, now, number: abs(now - then) <= most * max(1.0, abs(then))


def within_share(share: float, above: float = 0.0) -> Callable[[float, float, Number], bool]:
    """Numbers may change by a share; both may be anything up to ``above``."""
    return lambda then, now, number: max(then, now) <= above or abs(now - then) <= share * abs(then)


def within_error(then: float, now: float, number: Number) -> bool:
    """Numbers may differ by four standard errors of their difference; an adjusted p-value has a multiple of them."""
    error = hypot(*(line.get("p_error") or 0.0 for line in (number.then, number.now)))
    pvalue, adjusted = number.then.get("pvalue"), number.then.get("p_adjusted")
    times = adjusted / pvalue if number.column == "p_adjusted" and pvalue and adjusted else 1.0
    return abs(now - then) <= 4 * error * max(1.0, times)


def by_anything(then: Any, now: Any, number: Number) -> bool:
    return True


class Change(NamedTuple):
    """Numbers that change on purpose: whose, which columns, by how much, and why."""

    name: str
    concerns: Callable[[Number], bool]
    columns: str
    allows: Callable[[Any, Any, Number], bool]
    reason: str


ENDS = "low high gap_low gap_high driver_gap_low driver_gap_high at_least at_most"
TESTS = "pvalue p_adjusted"
VERDICTS = "verdict driver driver_verdict driver_gap required_n finding row method n_effective"
EVIDENCE = f"{ENDS} {TESTS} {VERDICTS} percentile p_undefined impact_low impact_high impact_at_most"
SCORES = "score reference_score gap impact_ratio"
WEIGHTED = f"{SCORES} n reference_n support count {KINDS['cells']} {KINDS['smoothed']}"
INTENDED = (
    Change("clusters", of_audits("clusters:"), f"{EVIDENCE} p_error correlation reason direction", by_anything,
           "Gaffke's bound in place of effective counts; scores of several rates are not tested; pairs of cases"),
    Change("protection", of_audits("protect:"), EVIDENCE, by_anything,
           "bounds from two corners of the rounded counts, plain Holm, only scores of one rate are tested"),
    Change("protection: hidden scores", shown_or_hidden, f"{SCORES} {KINDS['smoothed']}", by_anything,
           "a score is hidden if its two corners are more than 0.2 apart; references and several rates are shown"),
    Change("protection: digits", of_audits("protect:"), f"{SCORES} baseline smoothed", within(0.05),
           "scores of rounded counts are not rounded once more"),
    Change("family audit", of_audits("thresholds: family audit", "settings: family='audit'"),
           f"p_adjusted at_least at_most {VERDICTS} driver_gap_low driver_gap_high", by_anything,
           "one discrete Holm adjustment of all rows together"),
    Change("findings", of_renamed_findings, "finding", by_anything,
           "base-rate and selection-rate are differs or beyond-margin, too-few is inconclusive"),
    Change("variation", lambda number: "varies" in str(number.now) + str(number.then), "finding", by_anything,
           "rates that vary between three or more groups are a finding"),
    Change("kappa below 0", of_negative_kappa, "low gap_low gap_high at_least", by_anything,
           "lower ends below the fold of its lowest scores are widened"),
    Change("te_part", lambda number: "'te_part'" in number.call, "high", by_anything,
           "its upper end is infinite, where it was 1e300"),
    Change("methods", without_test, "method", by_anything, "None where there is no p-value"),
    Change("changes of models", of_changes, "percentile p_undefined", by_anything,
           "changes have no percentile of the MATCH test"),
    Change("changes: families", of_audits("models:"), f"p_adjusted at_least at_most {VERDICTS}", by_anything,
           "changes of gaps are one family with own changes, and have no finding of their own kind"),
    Change("contrasts of changes", of_audits("models:"), "gap_low gap_high pvalue method", by_anything,
           "melded tests and intervals, as the mid-p ones had a size of up to 7%"),
    Change("own changes", of_changes, "low high", by_anything,
           "Fay and Lumbard's intervals, which agree with McNemar's test, in place of mid-p ones"),
    Change("selection rates", of_audits("rows: missing labels"),
           f"{EVIDENCE} n score reference_n reference_score gap support {KINDS['cells']} {KINDS['smoothed']}",
           by_anything, "they count every row with a prediction, also without a label"),
    Change("averages over classes", of_audits("classes:"), "row at_least at_most finding", by_anything,
           "accuracy, MCC and kappa asked for once are scores of each class and of all classes"),
    Change("weights", of_audits("weights:"), f"{EVIDENCE} {WEIGHTED}", by_anything,
           "sums of weights and the smaller of two effective sizes in place of Kish's scaled counts"),
    Change("several rates: planning", planned_of_several_rates, "n value lower higher", within_share(0.1),
           "sizes from the delta method, corrected twice; power by drawing groups"),
    Change("planning against counts", planned_against_counts, "n value lower higher", by_anything,
           "the reference's counts are drawn anew, where they were held fixed"),
    Change("random draws", drawn, f"{TESTS} percentile smallest_pvalue p_undefined value", within_error,
           "other draws, or draws in place of exact tails: within four standard errors, as stated"),
    Change("random draws: stated errors", drawn, "p_error", by_anything, "other draws have another error"),
    Change("single cells", of_single_cells, "low high", by_anything,
           "mcc_limit is undefined if all cases are in one cell, which counts to both ends; it was 0"),
    Change("several rates: intervals", of_several_rates, ENDS, within_width(0.012),
           "a lattice rule in place of tables: ends within 1.2% of the width, bounds within 0.5%"),
    Change("several rates: p-values", of_several_rates, TESTS, within_share(0.01, above=1e-4),
           "a lattice rule in place of tables: p above 1e-4 within 1%"),
    Change("several rates: order", of_audits("metrics:"), "finding", by_anything,
           "metrics of a finding are listed by their p-values"),
    Change("one rate: ends of gaps", everywhere, f"{ENDS} impact_low impact_high impact_at_most", within_scale(6e-3),
           "quadrature ends at kinks, which it crossed where x is 1, n - 1 or n; elsewhere within 1e-8"),
    Change("shared reference", of_audits("reference:"), "p_adjusted", within_share(5e-3),
           "sizes of tests that share a reference come from a more accurate sum, which exact fractions agree with"),
    Change("support", of_distributions, "support", by_anything,
           "scores with a probability below 1e-18 may be listed or not"),
    Change("undefined scores", of_undefined, "percentile", by_anything,
           "a score that is undefined has no percentile; it was 0"),
    Change("references", of_references, "reference_score", by_anything, "the score of the reference's cells, always"),
    Change("required cases", everywhere, "required_n", within_share(0.1),
           "from the 20% binomial quantile: within -8% to +4% of exact power"),
)  # fmt: skip
"""The first change that concerns a number decides whether it may differ."""

REMOVED = {
    "test='unconditional'": "Boschloo's test: use scipy.stats.boschloo_exact",
    "redraw=True": "references given as counts are always drawn anew: there is no redraw",
    "mid_p=True": "not in the interface any more",
    "count_undefined('pt', 10000000000000)": "counts of pt above 10^12",
    "classes=3": "counts of undefined matrices of several classes",
}
"""Calls that may fail or be refused, by a part of their text."""

# Computing


def compute(text: str, names: dict[str, Any]) -> Any:
    """What a text stands for: the tables of an audit, or the fields of a result. A text says why there is nothing."""
    try:
        found = eval(text, names)
        return found if text.startswith(AUDITING) else read_result(text, found)
    except EvenhandError as error:
        why = type(error).__name__
        return f"{why}: {error}" if text.startswith(AUDITING) else {"refused": why}
    except Exception as error:
        return f"{type(error).__name__}: {error}"


def compute_all(which: str, names: list[str]) -> tuple[Cases, dict[str, str]]:
    """Cases as tables, and what could not be computed; single results are one case with a table per function."""
    cases: Cases = {} if which == "audits" else {"results": defaultdict(list)}
    failed: dict[str, str] = {}
    known = namespace() | data()
    for done, name in enumerate(names, start=1):
        text = AUDITS.get(name, "") if which == "audits" else name
        found = compute(text, known) if text else "there is no such case any more"
        if isinstance(found, str):
            failed[name] = found
        elif which == "audits":
            cases[name] = found
        else:
            cases["results"][name.partition("(")[0]].append({"call": name, **found})
        if done % (20 if which == "audits" else 500) == 0 or done == len(names):
            print(f"{which}: {done:,} of {len(names):,}", file=sys.stderr)
    return cases, failed


# Files


def as_columns(lines: list[Line]) -> dict[str, list[Any]]:
    """Lines as columns; a column without any value is left out."""
    names = dict.fromkeys(name for line in lines for name, value in line.items() if value is not None)
    return {name: [line.get(name) for line in lines] for name in names}


def as_lines(columns: dict[str, list[Any]]) -> list[Line]:
    return [dict(zip(columns, values, strict=True)) for values in zip(*columns.values(), strict=True)]


def commit() -> str:
    """The last commit of the library, and whether files have changed since."""
    asked = (["log", "-1", "--format=%H"], ["status", "--porcelain"])
    root = FOLDER.parent.parent
    last, changed = (
        subprocess.run(
            ["git", *words, "--", "src"], cwd=root, capture_output=True, text=True, check=True
        ).stdout.strip()
        for words in asked
    )
    return f"{last}, with changes" if changed else last


def write(only: str) -> bool:
    """Compute all cases of a file and write it; nothing is written if one fails."""
    names = list(AUDITS if only == "audits" else dict.fromkeys(calls()))
    cases, failed = compute_all(only, names)
    for name, why in failed.items():
        print(f"could not be computed: {name}: {why}")
    if failed:
        return False
    tables = {case: {table: as_columns(lines) for table, lines in found.items()} for case, found in cases.items()}
    text = json.dumps({"commit": commit(), "cases": tables}, separators=(",", ":"), allow_nan=False, ensure_ascii=False)
    path = FOLDER / f"{only}.json.xz"
    FOLDER.mkdir(exist_ok=True)
    path.write_bytes(lzma.compress(text.encode(), preset=9 | lzma.PRESET_EXTREME))
    lines = sum(len(lines) for found in cases.values() for lines in found.values())
    print(f"{path.name}: {len(names):,} {only}, {lines:,} lines, {path.stat().st_size:,} bytes")
    return True


def read(only: str) -> tuple[str, Cases]:
    """The commit and the cases of a file."""
    frozen = json.loads(lzma.decompress((FOLDER / f"{only}.json.xz").read_bytes()))
    cases = frozen["cases"].items()
    return frozen["commit"], {
        case: {table: as_lines(columns) for table, columns in found.items()} for case, found in cases
    }


# Comparing


@dataclass
class Tally:
    """What was found of one kind of number."""

    compared: int = 0
    intended: int = 0
    largest: float = 0.0
    relative: float = 0.0
    differing: list[str] = field(default_factory=list)
    cases: set[str] = field(default_factory=set)


@dataclass
class Report:
    """Everything that a comparison found."""

    kinds: dict[str, Tally] = field(default_factory=lambda: defaultdict(Tally))
    changes: dict[str, Tally] = field(default_factory=lambda: defaultdict(Tally))
    removed: list[str] = field(default_factory=list)
    failed: dict[str, str] = field(default_factory=dict)

    def compare(self, number: Number, then: Any, now: Any) -> None:
        """Compare two values of a column: numbers, texts, or lists and tables of them."""
        if isinstance(then, dict) and isinstance(now, dict):
            for name in then | now:
                self.compare(number, then.get(name), now.get(name))
            return
        if isinstance(then, list) and isinstance(now, list) and len(then) == len(now):
            for one, other in zip(then, now, strict=True):
                self.compare(number, one, other)
            return
        tally = self.kinds[kind_of(number, then)]
        tally.compared += 1
        apart = distance(then, now)
        tally.relative = max(tally.relative, relative_distance(then, now))
        tally.largest = max(tally.largest, apart)
        if apart <= TOLERANCE:
            return
        change = next((one for one in INTENDED if number.column in one.columns.split() and one.concerns(number)), None)
        if change and (change.allows is by_anything or (apart < inf and change.allows(then, now, number))):
            tally.intended += 1
            changed = self.changes[change.name]
            changed.intended, changed.largest = changed.intended + 1, max(changed.largest, apart)
            return
        beyond = f" (beyond {change.name})" if change else ""
        tally.cases.add(number.call or number.case)
        tally.differing.append(f"{place(number)}: {brief(then)} is now {brief(now)}{beyond}")

    def compare_tables(self, case: str, then: Tables, now: Tables) -> None:
        """Compare the tables of a case line by line."""
        for table in then | now:
            before, after = (by_key(table, tables.get(table, [])) for tables in (then, now))
            for key in before | after:
                old, new = before.get(key), after.get(key)
                if old is None or new is None:
                    column = "finding" if table == "findings" else "row"
                    line = old or new or {}
                    number = Number(case, column, line, line)
                    self.compare(number, *("there" if one else "not there" for one in (old, new)))
                elif table != "findings":
                    self.compare_lines(case, table, old, new)
                else:
                    self.kinds["finding"].compared += 1

    def compare_lines(self, case: str, table: str, then: Line, now: Line) -> None:
        """Compare two lines column by column; a call that is gone may be gone on purpose."""
        refused = then.get("refused"), now.get("refused")
        if refused[1] and not refused[0] and is_removed(str(then["call"])):
            self.removed.append(str(then["call"]))
            return
        if any(refused):
            self.compare(Number(case, "refused", then, now), *refused)
            return
        for column in then | now:
            if column not in KEYS.get(table, ("call",)) and not (then.get(column) is None and now.get(column) is None):
                self.compare(Number(case, column, then, now), then.get(column), now.get(column))

    def failing(self, failed: dict[str, str]) -> None:
        """Note what could not be computed."""
        self.removed += [name for name in failed if is_removed(name)]
        self.failed |= {name: why for name, why in failed.items() if not is_removed(name)}

    @property
    def unexplained(self) -> int:
        """The number of differences that nothing explains."""
        return sum(len(tally.differing) for tally in self.kinds.values())

    def text(self, most: int) -> str:
        """A table by kind of number, then the first differences of each."""
        lines = [f"{'kind of number':<27}{'compared':>9}{'intended':>9}{'differ':>8}{'largest':>10}{'relative':>10}"]
        tallies = [(kind, self.kinds[kind]) for kind in (*KINDS, "other") if kind in self.kinds]
        for kind, tally in tallies:
            counts = f"{tally.compared:>9,}{tally.intended:>9,}{len(tally.differing):>8,}"
            relative = f"{tally.relative:>10.2g}" if kind in TAILS else ""
            lines.append(f"{kind:<27}{counts}{tally.largest:>10.2g}{relative}")
        for kind, tally in tallies:
            where = f"in {len(tally.cases):,} audits or calls"
            lines += listed(f"{kind}: {len(tally.differing):,} differ, {where}", tally.differing, most)
        reasons = {change.name: change.reason for change in INTENDED}
        for name, tally in self.changes.items():
            lines.append(f"intended: {tally.intended:,} × {name}, by up to {tally.largest:.2g} ({reasons[name]})")
        if self.removed:
            lines.append(f"removed on purpose: {len(self.removed):,}")
            lines += [f"  {part}: {why}" for part, why in REMOVED.items() if any(part in one for one in self.removed)]
        failed = [f"{name}: {why}" for name, why in self.failed.items()]
        return "\n".join([*lines, *listed(f"could not be computed: {len(failed):,}", failed, most)])


def listed(head: str, items: list[str], most: int) -> list[str]:
    """The first of some items below their head; nothing if there are none."""
    more = [f"  ... and {len(items) - most:,} more"] if len(items) > most else []
    return ["", head, *(f"  {item}" for item in items[:most]), *more] if items else []


def kind_of(number: Number, value: Any) -> str:
    """The kind of a number; scores may be texts, which say why they are undefined."""
    if number.column == "value":
        words = isinstance(value, str) and value not in ("inf", "-inf")
        return "name" if words else VALUES.get(number.call.partition("(")[0], "other")
    if number.column == "support" and number.call:
        return "quantile"
    return KIND_OF.get(number.column, "other")


def distance(then: Any, now: Any) -> float:
    """How far two values are apart, relative to max(1, |then|); infinite if they are no numbers and not equal."""
    if then == now:
        return 0.0
    if all(isinstance(value, int | float) and not isinstance(value, bool) for value in (then, now)):
        return float(abs(now - then) / max(1, abs(then)))
    return inf


def relative_distance(then: Any, now: Any) -> float:
    """How far two small probabilities are apart relative to the larger one, where one of them can be lost."""
    if not all(isinstance(value, float) for value in (then, now)) or max(abs(then), abs(now)) < SMALLEST:
        return 0.0
    return float(abs(now - then) / max(abs(then), abs(now)))


def by_key(table: str, lines: list[Line]) -> dict[tuple[Any, ...], Line]:
    """Lines by what tells them apart; equal ones are numbered."""
    seen: Counter[tuple[Any, ...]] = Counter()
    found = {}
    for line in lines:
        names = sorted(line) if table == "findings" else KEYS.get(table, ("call",))
        key = tuple((name, line[name]) for name in names if line.get(name) is not None)
        found[(*key, seen[key])] = line
        seen[key] += 1
    return found


def place(number: Number) -> str:
    """Where a number is, in words."""
    if number.call:
        return f"{number.call} {number.column}"
    names = (*KEYS["rows"], "finding", "metrics", "fact")
    words = " ".join(str(number.then[name]) for name in names if number.then.get(name) is not None)
    return f"{number.case}, {words}, {number.column}"


def brief(value: Any) -> str:
    text = json.dumps(value)
    return text if len(text) <= 60 else f"{text[:57]}..."


def is_removed(call: str) -> bool:
    return any(part in call for part in REMOVED)


def compare(only: list[str], match: str) -> Report:
    """Compute frozen cases again and compare."""
    report = Report()
    for which in only:
        made, cases = read(which)
        print(f"{which} of {made}", file=sys.stderr)
        if which == "audits":
            cases = {name: tables for name, tables in cases.items() if match in name}
            names = list(cases)
        else:
            kept = {f: [line for line in lines if match in line["call"]] for f, lines in cases["results"].items()}
            cases = {"results": kept}
            names = [line["call"] for lines in kept.values() for line in lines]
        now, failed = compute_all(which, names)
        report.failing(failed)
        for case, tables in cases.items():
            missing = {t: [x for x in lines if x.get("call") not in failed] for t, lines in tables.items()}
            if case not in failed:
                report.compare_tables(case, missing, now.get(case, {}))
    return report


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--compare", action="store_true", help="compare with the files in place of writing them")
    parser.add_argument("--only", choices=("audits", "results"))
    parser.add_argument("--match", default="", metavar="TEXT", help="with --compare, cases whose name contains it")
    parser.add_argument("--show", type=int, default=SHOWN, metavar="N", help="how many differences of each kind")
    asked = parser.parse_args()
    if asked.match and not asked.compare:
        parser.error("--match needs --compare")
    only = [asked.only] if asked.only else ["audits", "results"]
    start = time.process_time()
    if not asked.compare:
        good = all(write(one) for one in only)
    else:
        report = compare(only, asked.match)
        print(report.text(asked.show))
        good = not report.unexplained and not report.failed
        print(f"\nunexplained differences: {report.unexplained:,}, could not be computed: {len(report.failed):,}")
    print(f"{time.process_time() - start:.0f} s of CPU", file=sys.stderr)
    sys.exit(0 if good else 1)


if __name__ == "__main__":
    main()
