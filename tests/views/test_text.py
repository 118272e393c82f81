"""An audit in a terminal: nothing cut, nothing hidden, nothing from data that acts, whatever the axes."""

from __future__ import annotations

import html
import re
import unicodedata
from collections import Counter
from itertools import takewhile
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from matrices import matrix
from shown_audits import (
    AUDITS,
    BEST,
    BOTH,
    CLASSES,
    COMPAS,
    HOLES,
    MANY,
    MODELS,
    OWN,
    RANKED,
    SCORED,
    SIGNS,
    STRANGE,
    STRATA,
    THRESHOLDS,
    Rows,
    at_thresholds,
    classified,
    counted,
    decided,
    of_classes,
)

import evenhand as eh
from evenhand.auditing import place_text
from evenhand.views import as_text
from evenhand.views.audit_document import document_of
from evenhand.views.document import Table
from evenhand.views.narrative import headlines, untold
from evenhand.views.record_facts import facts

CODES = re.compile(r"\x1b\[\d+m")


def across(text: str) -> int:
    """The columns that a terminal needs."""
    drawn = [c for c in text if unicodedata.category(c) not in ("Mn", "Me")]
    return len(drawn) + sum(unicodedata.east_asian_width(c) in "WF" for c in drawn)


def table_of(text: str) -> list[str]:
    """The lines from the heading of the table to the next empty line."""
    lines = text.splitlines()
    start = next(i for i, line in enumerate(lines) if re.match(r"group +metric", line))
    return lines[start : lines.index("", start)]


def first_words(lines: list[str], width: int, between: str = " ") -> list[str]:
    """The names in the first column, put together again from the lines that they are wrapped to."""
    names: list[str] = []
    for line in lines:
        end = max(i for i in range(len(line) + 1) if across(line[:i]) <= width)
        name, others = line[:end].strip(), line[end:]
        if others.strip():
            names.append(name)
        else:
            names[-1] += between + name
    return names


def test_the_summary_says_who_is_compared_with_whom_before_the_table() -> None:
    lines = str(COMPAS).splitlines()
    assert lines[:4] == [
        "Audit of 7,214 cases in 6 groups by race",
        "Each group is compared with all cases outside it; cases are taken as",
        "independent.",
        "▲ 7 higher   ▼ 19 lower   ✕ 0 undefined   □ 16 inconclusive   ● 6 equivalent",
    ]
    summary = " ".join(" ".join(lines[4 : lines.index(table_of(str(COMPAS))[0])]).split())
    overall = "Overall: ppr 0.460, tpr 0.626, "
    assert f" {len(COMPAS.findings)} findings in all {overall}" in summary


@pytest.mark.parametrize(
    ("reference", "sentence"),
    [
        ("rest", "Each group is compared with all cases outside it; cases are taken as independent."),
        ("all", "Each group is compared with all cases; cases are taken as independent."),
        ("Other", "Each group is compared with the group Other; cases are taken as independent."),
        (
            matrix(3, 4, 5, 6),
            "Each group is compared with the counts that were given as reference; cases are taken as independent.",
        ),
    ],
)
def test_the_reference_is_named(reference: Any, sentence: str) -> None:
    a = eh.audit_counts(eh.examples.compas(), metrics="tpr", reference=reference)
    assert f" by group {sentence} ▲" in " ".join(str(a).split())


def test_several_references_are_named_each() -> None:
    counts = {("a", "x"): (9, 6, 4, 21), ("b", "x"): (30, 10, 12, 48), ("a", "y"): (3, 4, 5, 6)}
    a = eh.audit_counts(counts, by=["one", "two"], metrics="tpr", reference={"one": "a"})
    said = " ".join(str(a).split())
    assert "compared with the reference of its column: the group a (one), all cases outside it (one & two), " in said
    assert said.startswith("Audit of 158 cases in 7 groups by one, two, one & two")


def test_every_row_shows_the_cases_that_its_score_rests_on() -> None:
    head, *lines = table_of(COMPAS.to_text())
    assert "rests on" in head
    counts = eh.examples.compas()
    bases = {"ppr": "tp fn fp tn", "tpr": "tp fn", "fpr": "fp tn", "ppv": "tp fp", "npv": "fn tn", "f1": "tp fn fp"}
    for line in lines:
        (name,) = [name for name in counts if line.startswith(name)]
        metric, cases = line[len(name) :].split()[:2]
        cells = bases.get(metric, "tp fn fp tn").split()
        assert cases == f"{sum(int(getattr(counts[name], cell)) for cell in cells):,}", line


def test_rows_left_out_are_counted_by_verdict_and_undefined_ones_say_why() -> None:
    assert "… and 36 more rows: 2 higher, 12 lower, 16 inconclusive, 6 equivalent" in " ".join(str(COMPAS).split())
    text = as_text(HOLES, None, width=132)
    wrapped = " ".join(" ".join(table_of(text)).split())
    assert wrapped.count("✕ undefined") == sum(r.verdict == "undefined" for r in HOLES.rows) == 12
    assert "no actual positives (TP + FN = 0) ✕ undefined" in wrapped
    verdicts = [line.split()[-1] for line in table_of(text) if "✕" in line or "□" in line]
    assert verdicts == ["undefined"] * 12 + ["inconclusive"] * 3, "in the order of the audit"


def test_metrics_are_explained_once_below_all_rows() -> None:
    text = as_text(COMPAS, None)
    assert "True positive rate =" not in str(COMPAS), "the short text has a legend of one line"
    for key in ("ppr", "tpr", "fpr", "ppv", "npv", "acc", "f1", "prev"):
        m = eh.metric(key)
        (line,) = [line for line in text.splitlines() if line.split()[:1] == [key] and "=" in line]
        assert f"{m.name} = {m.formula}" in line
        assert ("; better: " in line) == (m.better != "neither")


def test_the_short_text_has_what_differs_and_what_to_do_next() -> None:
    """At most 12 rows, at least 4; formulas, notes and claims only with all rows or all findings."""
    short, long, verbose = as_text(COMPAS), as_text(COMPAS, None), as_text(COMPAS, verbose=True)
    assert len(table_of(short)) == 1 + 12 + 1
    differing = [r for r in COMPAS.rows if r.differs]
    assert len(differing) > 12
    assert all(re.search("[▲▼]", line) for line in table_of(short)[1:13])
    few = eh.audit_counts({"A": (6, 3, 2, 21), "B": (280, 110, 110, 500), "C": (8, 3, 2, 21)}, metrics=["tpr", "fpr"])
    assert not any(r.differs for r in few.rows)
    assert len(table_of(as_text(few))) == 1 + 4 + 1, "where little differs, a table has four rows"
    steps = ["- A difference is no explanation: confirm it on new cases", "- Where a verdict depends on one group, "]
    last = "p: exact, adjusted over groups (Holm); intervals are not. Rests on: "
    order = ["Overall: ppr", "group metric rests on", *steps, last]
    places = [" ".join(short.split()).index(part) for part in order]
    assert places == sorted(places)
    for part in ("Where nothing differs", "better: higher", "A score is higher or lower if p"):
        assert part not in " ".join(short.split())
        assert part in " ".join(long.split())
        assert part in " ".join(verbose.split())
    assert len(short.splitlines()) < 70


@pytest.mark.parametrize("width", [60, 64, 80, 100, 132, 200])
@pytest.mark.parametrize("given", [COMPAS, HOLES], ids=["compas", "holes"])
def test_the_text_fits_the_width_and_uses_it(width: int, given: eh.Audit) -> None:
    lines = as_text(given, None, width=width).splitlines()
    assert max(map(across, lines)) <= width
    titles = table_of("\n".join(lines))[0].split()
    assert {"group", "metric", "rests", "score", "gap", "verdict"} <= set(titles)
    if width >= 100:
        assert {"versus", "interval", "p"} <= set(titles)


def test_colours_are_those_of_the_verdicts_and_change_nothing_else() -> None:
    plain, painted = as_text(COMPAS), as_text(COMPAS, colour=True)
    assert "\x1b" not in plain
    assert CODES.sub("", painted) == plain
    for sign, code in (("▲", "31"), ("▼", "34"), ("□", "2"), ("●", "32")):
        assert set(re.findall(rf"\x1b\[(\d+)m{sign}", painted)) == {code}


def test_the_summary_says_what_matters_in_council_words() -> None:
    lines = " ".join(as_text(COMPAS).split())
    for headline in headlines(COMPAS.rows, COMPAS.settings):
        assert headline.sentence in lines
    for sentence in untold(COMPAS.rows):
        assert sentence in lines
    constant = eh.audit({"y": [1, 0, 1, 0], "p": [1, 1, 1, 1], "g": list("aabb")}, y_true="y", y_pred="p", groups="g")
    assert as_text(constant).split("\n\n")[1].startswith("- Every prediction of all 4 cases is positive")


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(
    names=st.lists(st.text(min_size=0, max_size=60), min_size=2, max_size=6, unique=True),
    start=st.text(max_size=40),
    end=st.text(max_size=40),
    width=st.integers(60, 140),
)
def test_no_two_groups_look_alike_however_they_are_called(names: list[str], start: str, end: str, width: int) -> None:
    """One row per group: as many different names in the table as groups, and none wider than the terminal."""
    a = eh.audit_counts({start + name + end: (9, 6, 4, 21) for name in names}, metrics="tpr")
    text = as_text(a, None, width=width)
    head, *lines = table_of(text)
    shown = first_words(lines, head.index(" metric"), between="\n")
    assert len(set(shown)) == len(shown) == len(names)
    assert max(map(across, text.splitlines())) <= width
    assert all(c.isprintable() or c == "\n" for c in text)


def test_what_long_names_share_is_left_out_and_said_once() -> None:
    head = "Department of Health and Human Services, Region"
    names = [f"{head} {i}, office of the {where}" for i in (1, 2) for where in ("north", "south")]
    text = str(eh.audit_counts(dict.fromkeys(names, (9, 6, 4, 21)), metrics="tpr"))
    first, *lines = table_of(text)
    assert first_words(lines, first.index(" metric")) == [
        name.replace(f"{head} ", "…").replace("…", "…", 1) for name in names
    ]
    assert f"… at the start of a name stands for '{head} '." in " ".join(text.split())


def test_a_name_that_is_long_alone_is_whole() -> None:
    name = "People who answered that none of the categories of the form describes them"
    text = str(eh.audit_counts({name: (9, 6, 4, 21), "B": (30, 10, 12, 48)}, metrics="tpr"))
    first, *lines = table_of(text)
    assert set(first_words(lines, first.index(" metric"))) == {name, "B"}


@pytest.mark.parametrize(
    ("names", "shown"),
    [
        (["White", "White ", " White"], {"White", "White␣", "␣White"}),
        (["", " ", "''"], {"''", "␣", "'' (2)"}),
        (["a\x1b", "a\\x1b"], {"a\\x1b", "a\\x1b (2)"}),
        (["a\u202eb", "ab"], {"a\\u202eb", "ab"}),
        (["a  b", "a b"], {"a␣␣b", "a b"}),
        (["x", "x (2)", "x\u200b"], {"x", "x (2)", "x\\u200b"}),
    ],
)
def test_names_that_would_look_alike_are_told_apart(names: list[str], shown: set[str]) -> None:
    a = eh.audit_counts(dict.fromkeys(names, (9, 6, 4, 21)), metrics="tpr")
    first, *lines = table_of(str(a))
    assert set(first_words(lines, first.index(" metric"))) == shown


def test_a_name_that_wraps_like_another_is_numbered() -> None:
    """At some widths the break falls on the one blank that tells the two apart."""
    names = ["0" * 48, "0" * 16 + " " + "0" * 32]
    a = eh.audit_counts(dict.fromkeys(names, (9, 6, 4, 21)), metrics="tpr")
    for width in range(60, 120):
        first, *lines = table_of(as_text(a, width=width))
        assert len(set(first_words(lines, first.index(" metric"), between="\n"))) == 2


# Audits with axes


def section_of(text: str, title: str) -> list[str]:
    """The lines of a table below its title."""
    (found,) = [part for part in text.split("\n\n") if part.startswith(title + "\n")]
    return found.splitlines()[1:]


def scores_of(text: str, title: str) -> list[list[str]]:
    """The lines of a table of scores, as words; a mark may stick to its score."""
    lines = takewhile(lambda line: not line.startswith(("…", "✕", "The ")), section_of(text, title))
    return [re.sub(r"([▲▼≠✕□●◆])\*?", r"\1 ", line).split() for line in lines]


@pytest.mark.parametrize("name", AUDITS)
@pytest.mark.parametrize("width", [60, 80, 140])
def test_every_audit_fits_the_width(name: str, width: int) -> None:
    text = as_text(AUDITS[name], None, width=width, verbose=True)
    assert max(map(across, text.splitlines())) <= width
    assert all(c.isprintable() or c == "\n" for c in text)
    assert "\n\n\n" not in text


@pytest.mark.parametrize("name", AUDITS)
def test_every_verdict_that_occurs_is_counted_and_meant(name: str) -> None:
    text = as_text(AUDITS[name], None)
    for verdict, n in Counter(str(row.verdict) for row in AUDITS[name].rows).items():
        assert f"{SIGNS[verdict]} {n:,} {verdict}" in text
    if any(row.verdict == "unlike" for row in AUDITS[name].rows):
        assert "no direction is claimed" in " ".join(text.split())


def test_the_title_says_where_on_the_axes() -> None:
    for audit, title in (
        (THRESHOLDS, "Audit of 500 cases in 4 groups by race at 3 thresholds"),
        (at_thresholds(SCORED, [0.5], metrics="tpr"), "Audit of 500 cases in 4 groups by race at 1 threshold"),
        (CLASSES, "Audit of 400 cases in 3 groups by race, 3 of 3 classes against the rest"),
        (of_classes(classified(), metrics="tpr", classes=["x"]),
         "Audit of 400 cases in 3 groups by race, 1 of 3 classes against the rest"),
        (STRATA, "Audit of 600 cases in 3 groups by race, within 3 strata of department"),
        (MODELS, "Audit of 600 cases in 3 groups by race: new against old"),
        (THRESHOLDS.at(threshold=0.5), "Audit of 500 cases in 4 groups by race, threshold 0.5"),
        (BOTH, "Audit of 500 cases in 4 groups by race at 2 thresholds, within 2 strata of d"),
    ):  # fmt: skip
        assert as_text(audit).splitlines()[0] == title


def test_thresholds_have_a_table_per_metric_with_every_score_and_verdict() -> None:
    """The score of tpr is TP/(TP+FN), counted by hand."""
    header, *lines = scores_of(as_text(THRESHOLDS), "True positive rate (tpr)")
    assert header == ["group", "n", "0.3", "0.5", "0.7"]
    assert {line[1] for line in lines} == {"0", "1", "2", "3"}
    for _, number, n, *cells in lines:
        group = f"group {number}"
        assert int(n) == sum(name == group for name, _, _ in SCORED)
        for threshold, sign, score in zip((0.3, 0.5, 0.7), cells[::2], cells[1::2], strict=True):
            tp, fn, _, _ = counted(SCORED, group, threshold)
            assert score == f"{tp / (tp + fn):.3f}"
            (row,) = [
                r for r in THRESHOLDS.rows
                if (r.at["threshold"], r.group, r.metric) == (threshold, group, "tpr")
            ]  # fmt: skip
            assert sign == SIGNS[row.verdict.value]


def test_the_text_says_what_axes_mean_and_over_what_p_is_adjusted() -> None:
    said = {name: " ".join(as_text(audit).split()) for name, audit in AUDITS.items()}
    assert "A score (column score) at or above a threshold is a positive prediction." in said["thresholds"]
    assert "P-values are adjusted over groups (Holm) within each threshold, not over thresholds." in said["thresholds"]
    cases = Counter(classified()["y"])
    each = ", ".join(f"{label} {cases[label]}" for label in "xyz")
    assert f"positive, and all others are negative. Cases of each: {each}. P-values" in said["classes"]
    assert "P-values are adjusted over groups and classes (Holm)." in said["classes"]
    strata = "P-values are adjusted over groups and strata (Holm); those pooled over strata by themselves."
    assert strata in said["strata"]
    assert "Scores are changes on the same cases, from old to new." in said["models"]
    together = at_thresholds(SCORED, [0.3, 0.5], metrics="tpr", family="audit")
    assert "adjusted over groups, thresholds and metrics (Holm)." in " ".join(as_text(together).split())
    plain = " ".join(as_text(at_thresholds(SCORED, [0.5], metrics="tpr", adjust="none")).split())
    assert "P-values are not adjusted." in plain and "within each threshold" not in plain
    placed = " ".join(as_text(CLASSES.at(**{"class": "x"})).split())
    assert "adjusted over groups and classes (Holm)" in placed


def test_an_undefined_score_is_called_so_and_is_never_0() -> None:
    """PPV = TP/(TP+FP) at a threshold above all scores is 0/0."""
    text = as_text(at_thresholds(SCORED, [0.3, 2.0], metrics="ppv"))
    for _, _, _, _, low, sign, high in scores_of(text, "Positive predictive value (ppv)")[1:]:
        assert 0 < float(low) < 1
        assert (sign, high) == ("✕", "undefined")
    assert "✕ no predicted positives (TP + FP = 0)." in text


def test_a_score_without_a_defined_reference_is_still_shown() -> None:
    rows: Rows = [("a", 1, 0.9), ("a", 0, 0.1), ("b", 0, 0.9), ("b", 0, 0.2)]
    text = as_text(at_thresholds(rows, [0.5], metrics="tpr"))
    assert ["a", "2", "✕", "1.000"] in scores_of(text, "True positive rate (tpr)")
    assert ["b", "2", "✕", "undefined"] in scores_of(text, "True positive rate (tpr)")
    own = "no actual positives (TP + FN = 0)"
    (said,) = re.findall(r"✕ (no .*|the .*)\.$", " ".join(section_of(text, "True positive rate (tpr)")[3:]))
    assert set(said.split("; ")) == {own, f"the reference's score is undefined, {own}"}


@pytest.mark.parametrize("most", [0, 1, 3, 11, 12, None])
def test_groups_that_are_left_out_are_counted(most: int | None) -> None:
    text = as_text(MANY, most)
    for key, name in (("tpr", "True positive rate (tpr)"), ("fpr", "False positive rate (fpr)")):
        shown = [" ".join(line[:2]) for line in scores_of(text, name)[1:]]
        assert len(shown) == min(12, 12 if most is None else most)
        differ = {r.group for r in MANY.rows if r.metric == key and r.verdict.value in ("higher", "lower")}
        assert {"group 1"} <= differ
        left = {f"group {i}" for i in range(12)} - set(shown)
        said = re.findall(r"^… and (.*)$", "\n".join(section_of(text, name)), re.MULTILINE)
        n, k = len(left), len(left & differ)
        groups = "1 more group" if n == 1 else f"{n} more groups"
        some = f"{k} of which {'differs' if k == 1 else 'differ'} at some threshold" if k else "without a difference"
        assert said == ([f"{groups}, {some}"] if left else [])
        assert k == 0 or len(set(shown) & differ) == len(shown), "groups that differ come first"


def test_many_thresholds_continue_below() -> None:
    thresholds = [round(0.05 * i, 2) for i in range(1, 20)]
    text = as_text(at_thresholds(SCORED, [*thresholds, 0.123456789], metrics=["tpr"]))
    rows = scores_of(text, "True positive rate (tpr)")
    shown = [word for row in rows if row[:2] == ["group", "n"] for word in row[2:]]
    assert [float(word) for word in shown] == sorted([*thresholds, 0.123456789])


def test_thresholds_that_are_close_are_told_apart() -> None:
    text = as_text(at_thresholds(SCORED, [0.3, 0.300000000001, 1234567.25], metrics="tpr"))
    assert scores_of(text, "True positive rate (tpr)")[0] == ["group", "n", "0.3", "0.300000000001", "1234567.25"]


def test_the_text_of_many_classes_has_the_most_important_ones() -> None:
    rng = np.random.default_rng(4)
    y = rng.integers(0, 40, 2_000)
    data = {"race": rng.choice(["A", "B"], 2_000), "y": y, "p": np.where(rng.random(2_000) < 0.8, y, 0)}
    found = of_classes(data, metrics=["tpr", "acc"])
    text = " ".join(as_text(found).split())
    assert "The 12 of 40 classes with most scores that differ; to_csv() has all." in text
    assert "and 28 classes more." in text


def test_scores_of_all_classes_and_of_rankings_have_a_table_of_their_own() -> None:
    header, *lines = scores_of(as_text(CLASSES), "Scores of all classes")
    assert " ".join(header) == "group n macro tpr macro ppv macro f1"
    assert {line[0] for line in lines} == {"A", "B", "C"}
    assert all(line[2] in "≠□✕" for line in lines), "no direction is claimed"
    header, *lines = scores_of(as_text(RANKED), "Scores without a threshold")
    assert header == ["group", "n", "auc", "brier"]
    assert len(lines) == 4
    said = " ".join(as_text(RANKED, None).split())
    most = max(row.p_error for row in RANKED.rows if row.p_error > 0)
    drawn = ", ".join(dict.fromkeys(row.metric for row in RANKED.rows if row.metric != "tpr"))
    assert f"p of {drawn}: from random draws, with a standard error of at most {most:.2g}." in said


def test_rows_pooled_over_strata_have_odds_ratios_and_say_what_strata_say() -> None:
    lines = section_of(as_text(STRATA, None, width=140), "Pooled over strata")
    start = next(i for i, line in enumerate(lines) if line.startswith("group metric"))
    for title in ("odds ratio", "95% interval", "strata", "crude", "verdict"):
        assert title in lines[start]
    pooled = [row for row in STRATA.rows if row.is_pooled]
    assert len(lines) - start - 1 == len(pooled) == 6
    for line, row in zip(lines[start + 1 :], pooled, strict=True):
        assert row.gap > 0 and row.gap_low > 0
        assert line.split()[:2] == [row.group, row.metric]
        for part in (
            f"{row.gap:.3f}",
            f"{row.gap_low:.3f} {row.gap_high:.3f}",
            f"{row.strata_higher:.0f} ▲ {row.strata_lower:.0f} ▼",
            f"{row.crude_odds_ratio:.3f}",
            f"{row.verdict.sign} {row.verdict}",
        ):
            assert part in line
    header, *inside = scores_of(as_text(STRATA), "True positive rate (tpr)")
    assert header == ["group", "n", "art", "law", "maths"]
    sizes = {row.group: row.n for row in pooled}
    assert {line[0]: int(line[1]) for line in inside} == sizes, "in all strata"


def test_models_show_how_scores_and_gaps_change() -> None:
    lines = section_of(as_text(MODELS, None, width=140), "new against old")
    start = next(i for i, line in enumerate(lines) if line.startswith("group metric"))
    for title in ("change", "its p", "gap change", "95% interval"):
        assert title in lines[start]
    for line, row in zip(lines[start + 1 :], MODELS.rows, strict=True):
        assert row.score is not None and row.gap is not None
        assert f" {row.score:+.3f} " in line and f" {row.gap:+.3f} " in line
        assert line.endswith(f"{row.verdict.sign} {row.verdict}")
    assert {"higher", "lower"} <= {row.verdict for row in MODELS.rows}, "of changes of gaps, directions are claimed"


def of_three(**settings: Any) -> eh.Audit:
    """A comparison of the two models with each other, and with one that selects everybody."""
    data = decided()
    models = {"old": "old", "new": "new", "net": "net"}
    given: dict[str, Any] = {"y_true": "y", "models": models, "groups": "race", "metrics": "ppr"}
    return eh.compare(data | {"net": [1] * len(data["y"])}, **given | settings)


def test_every_output_says_what_models_are_compared_against() -> None:
    opening, reading = "by race: new and net against old", "on the same cases, from old to each other model."
    a = of_three()
    assert dict(facts(a))["Models"] == opening.removeprefix("by race: ")
    for text in (as_text(a), html.unescape(re.sub(r"<[^>]+>", " ", a.to_html())), a.to_markdown()):
        said = " ".join(text.split())
        assert opening in said and reading in said


def test_findings_of_models_are_ordered_by_severity_and_begin_with_a_capital() -> None:
    text = as_text(of_three(metrics=["acc", "ppr"]), None, verbose=True)
    found = re.findall(r"^- (alert|warning|note) EH\d+: (.)", text, re.MULTILINE)
    severities = [severity for severity, _ in found]
    assert severities == sorted(severities, key=["alert", "warning", "note"].index)
    assert len(set(severities)) > 1
    assert all(first.isupper() for _, first in found)


def test_verdicts_are_counted_by_what_the_axes_are_called() -> None:
    (places,) = [s.blocks[0] for s in document_of(of_three()).sections if s.name == "places"]
    assert isinstance(places, Table)
    assert places.columns[0].title == "model"
    (places,) = [s.blocks[0] for s in document_of(BOTH).sections if s.name == "places"]
    assert isinstance(places, Table)
    assert places.columns[0].title == "threshold, stratum"


def test_meanings_of_verdicts_on_models_are_about_gaps() -> None:
    text = " ".join(html.unescape(re.sub(r"<[^>]+>", " ", of_three().to_html())).split())
    assert "the group's score moved up relative to the reference's (adjusted p at most 0.05)" in text
    assert "the score is higher than the reference's" not in text


def test_places_on_several_axes_have_tables_of_their_own() -> None:
    text = as_text(BOTH)
    for title in ("Pooled over strata, threshold 0.3", "Pooled over strata, threshold 0.5"):
        assert section_of(text, title)
    for stratum in "xy":
        header, *_ = scores_of(text, f"True positive rate (tpr), stratum {stratum}")
        assert header == ["group", "n", "0.3", "0.5"]
    assert scores_of(text, "Area under the ROC curve (auc)")[0] == ["group", "n", "x", "y"]


def test_functions_of_ones_own_are_rows_like_others() -> None:
    _, *lines = table_of(as_text(OWN, None))
    shown = [line for line in lines if line.split()[1] == "agreement"]
    assert len(shown) == 3
    assert all(re.search("≠ unlike|□ inconclusive", line) for line in shown)
    assert "that the group is drawn like the reference" in " ".join(as_text(OWN, None).split())


def test_groups_and_classes_with_the_same_text_are_told_apart() -> None:
    data = {"race": list("0011"), "sex": list("0101"), "y": ["a\x01", "a\\x01", "b", "b"], "p": ["b"] * 4}
    text = as_text(of_classes(data, groups=["race", "sex"], metrics=["tpr", "macro tpr"], intersections=1))
    assert "Cases of each: a\\x01 1, a\\x01 (2) 1, b 2." in " ".join(text.split())
    names = {" ".join(line[:2]) for line in scores_of(text, "Scores of all classes")[1:]}
    assert names == {"race 0", "race 1", "sex 0", "sex 1"}


def test_findings_name_their_place() -> None:
    said = " ".join(as_text(STRANGE, verbose=True).split())
    for finding in STRANGE.findings:
        place = place_text(finding.at)
        assert place[0].upper() + place[1:] in said if place else True
        assert " ".join(f"{finding.sentence}.".split()) in said


@pytest.mark.parametrize(
    ("audit", "said"),
    [
        (at_thresholds(SCORED, [0.5], metrics="tpr"), "at most 5% of audits find anything."),
        (
            at_thresholds(SCORED, [0.3, 0.5], metrics="tpr"),
            "at most 5% of audits find something in a given metric at a given threshold; over all 2 such families, "
            "more do. With family “audit”, at most 5% find anything.",
        ),
        (
            at_thresholds(SCORED, [0.3, 0.5], metrics="tpr").at(threshold=0.3),
            "at most 5% of audits find something in a given metric at a given threshold; over all that was audited, "
            "more do. With family “audit”, at most 5% find anything.",
        ),
        (at_thresholds(SCORED, [0.3, 0.5], metrics="tpr", family="audit"), "at most 5% of audits find anything."),
        (
            at_thresholds(SCORED, [0.3, 0.5], metrics="tpr", family="audit").at(threshold=0.3),
            "at most 5% of audits find anything.",
        ),
        # tpr and ppr in single strata and pooled, and mcc, which is not pooled.
        (
            STRATA,
            "about 5% of audits find something in a given metric within strata or pooled over them; over all 5 "
            "such families, more do. With family “audit”, about 5% find anything.",
        ),
        # tpr and ppv, and three averages.
        (
            CLASSES,
            "about 5% of audits find something in a given metric or average; over all 5 such families, more do. "
            "With family “audit”, about 5% find anything.",
        ),
        (of_classes(classified(), metrics=["tpr"]), "at most 5% of audits find anything."),
    ],
)
def test_false_alarms_are_those_of_all_families(audit: eh.Audit, said: str) -> None:
    """A family is a metric at a threshold; rows pooled over strata, and averages over classes, are families apart."""
    assert f"Where nothing differs, {said}" in " ".join(as_text(audit, None).split())
    assert "Where nothing differs" not in as_text(audit), "the short text has a legend of one line"


def test_no_false_alarms_are_counted_where_nothing_is_tested() -> None:
    """Nothing is tested against the group with the highest rate of selection."""
    assert "Where nothing differs" not in as_text(BEST, None)


def test_the_share_of_false_discoveries_is_that_of_each_family() -> None:
    text = " ".join(as_text(at_thresholds(SCORED, [0.3, 0.5], metrics="tpr", adjust="bh"), None).split())
    assert "about 5% on average are false alarms, within each metric at each threshold." in text


def test_impact_ratios_that_may_be_chance_are_said() -> None:
    a = eh.audit_counts({"A": (10, 5, 4, 31), "B": (300, 100, 120, 480)}, metrics="ppr", favourable="positive")
    (row,) = [row for row in a.rows if row.group == "A"]
    assert row.impact_ratio < 0.8 and not row.is_below_four_fifths
    assert f"Impact ratios below four fifths that may be chance: A {row.impact_ratio:.3f} (at most" in as_text(a)


def test_selections_of_few_people_can_identify_them() -> None:
    people = {"p": [1, 0, 1] * 20 + [1, 0], "g": ["A"] * 60 + ["B"] * 2}
    assert "Counts below 11 can identify people" in " ".join(as_text(eh.audit(people, y_pred="p", groups="g")).split())


def test_many_cases_without_a_group_come_first() -> None:
    counts = {"A": (10, 40, 20, 30), "B": (80, 20, 20, 80), None: (30, 20, 10, 40)}
    said = as_text(eh.audit_counts(counts, metrics=["tpr", "ppr"]))
    assert said.index("100 cases have no known group") < said.index("actual positives in")


def test_a_model_that_changes_no_gap_is_said() -> None:
    y, who = [0, 1] * 1_000, ["A", "A", "B", "B"] * 500
    data = {
        "y": y,
        "who": who,
        "old": y,
        "same": y,
        "other": [1 - v if w == "A" else v for v, w in zip(y, who, strict=True)],
    }
    models = {name: name for name in ("old", "same", "other")}
    said = " ".join(as_text(eh.compare(data, y_true="y", models=models, groups="who", metrics=["acc", "ppr"])).split())
    assert "● Model same, against old: no gap changed by more than ±0.1 (4 comparisons)." in said
    assert "Model other, against old: no gap changed" not in said
