"""The audit: what is said of groups, and that it is true."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from oracle import ONE_GROUP

import evenhand as eh
from evenhand import Verdict
from evenhand.auditing import KINDS
from evenhand.auditing.adjust import benjamini_hochberg, holm

ROOT = Path(__file__).parent.parent
# The group that well-known tools call unfair: two positives, both missed, against 300 of 400.
MISSED: Any = {"small": (0, 2, 8, 30), "rest": (300, 100, 120, 480)}


def row(a: eh.Audit, group: str, metric: str) -> eh.Row:
    return next(r for r in a.rows if r.group == group and r.metric == metric)


def test_two_missed_positives_are_too_few_to_tell() -> None:
    found = row(eh.audit_counts(MISSED, metrics=["tpr"]), "small", "tpr")

    assert found.verdict is Verdict.TOO_FEW
    assert found.pvalue == pytest.approx(0.128, abs=5e-4)
    assert found.percentile == pytest.approx(0.064, abs=5e-4)
    assert found.high == pytest.approx(0.67, abs=5e-3)
    assert (found.numerator, found.denominator, found.n) == (0, 2, 40)
    assert found.difference == pytest.approx(-0.75)


def test_a_row_holds_the_cells_of_the_group_and_of_its_reference() -> None:
    found = row(eh.audit_counts({"A": (1, 2, 3, 4), "B": (5, 6, 7, 8)}, metrics=["tpr"]), "A", "tpr")
    assert (found.tp, found.fn, found.fp, found.tn, found.n) == (1, 2, 3, 4, 10)
    theirs = found.reference_tp, found.reference_fn, found.reference_fp, found.reference_tn, found.reference_n
    assert theirs == (5, 6, 7, 8, 26)


def test_with_a_strength_per_split_each_rate_keeps_the_share_of_its_own() -> None:
    """TPR keeps P/(P + λ), FPR and TNR keep N/(N + λ), prevalence n/(n + λ); no rule holds for the rest."""
    counts = {"A": (1, 2, 3, 4), "B": (50, 60, 70, 80)}
    keys = ["tpr", "fpr", "tnr", "prev", "ppv", "acc", "mcc"]
    a = eh.audit_counts(counts, metrics=keys, strength={"prev": 10, "tpr": 20, "fpr": 30})
    expected = [3 / 23, 7 / 37, 7 / 37, 10 / 20, None, None, None]
    assert [row(a, "A", key).shrinkage for key in keys] == [share and pytest.approx(share) for share in expected]


def test_the_sketch_of_a_gap_is_twice_as_wide_as_its_interval() -> None:
    """Both have the same middle, and about 95 of 100 parts of the bars stand within the interval."""
    found = row(eh.audit_counts({"A": (10, 20, 30, 40), "B": (50, 60, 70, 80)}, metrics=["mcc"]), "A", "mcc")
    low, high, sketch = found.difference_low, found.difference_high, found.sketch
    assert low is not None and high is not None and sketch is not None
    assert (sketch.low, sketch.high) == pytest.approx(((3 * low - high) / 2, (3 * high - low) / 2))
    assert (sketch.of, sketch.at, max(sketch.heights)) == ("gap", 0, 99)
    step = (sketch.high - sketch.low) / len(sketch.heights)
    inside = [h for i, h in enumerate(sketch.heights) if low < sketch.low + (i + 0.5) * step < high]
    assert sum(inside) / sum(sketch.heights) == pytest.approx(0.95, abs=0.04)


def test_the_same_rows_say_more_of_a_metric_that_rests_on_more_of_them() -> None:
    """Judged on the metric's own denominator: the 40 cases have 38 negatives."""
    a = eh.audit_counts(MISSED, metrics=["tpr", "fpr"], margin=0.2)
    assert row(a, "small", "tpr").verdict is Verdict.TOO_FEW
    assert row(a, "small", "fpr").verdict is Verdict.ALIKE
    assert (row(a, "small", "tpr").basis, row(a, "small", "fpr").basis) == (2, 38)


def test_no_group_is_dropped_for_being_small() -> None:
    a = eh.audit_counts({"none": (0, 0, 0, 1), "all": (30, 10, 12, 48)})
    assert {r.group for r in a.rows} == {"none", "all"}
    assert row(a, "none", "tpr").reason == "no actual positives (TP + FN = 0)"
    assert row(a, "none", "tpr").status == "undefined: no actual positives (TP + FN = 0)"
    assert row(a, "none", "tpr").score is None


def test_every_row_is_what_the_library_says() -> None:
    groups = eh.examples.compas()
    everybody = sum(groups.values(), eh.ConfusionMatrix(0, 0, 0, 0))
    a = eh.audit_counts(groups, by="race")
    assert len(a.rows) == 6 * 8
    for r in a.rows:
        cm = groups[r.group]
        rest = everybody - cm
        score = ONE_GROUP[r.metric](*map(int, cm.cells))
        assert r.score == pytest.approx(float(score))
        assert r.reference_score == pytest.approx(float(ONE_GROUP[r.metric](*map(int, rest.cells))))
        assert r.difference == pytest.approx(float(eh.difference(r.metric)(cm, rest)))
        gap = eh.disparity(cm, rest, r.metric, test="fisher")
        assert r.pvalue == pytest.approx(gap.pvalue, rel=1e-12, abs=1e-300)
        assert (r.test, gap.method) == ("fisher", "fisher")
        assert (r.difference_low, r.difference_high) == pytest.approx((gap.low, gap.high))
        assert r.percentile == pytest.approx(eh.match_test(cm, rest, r.metric).percentile, abs=1e-12)
        assert r.smoothed == pytest.approx(float(eh.metric(r.metric)(eh.cross_prior_smooth(cm, rest, 10))))
        base = eh.metric(r.metric).base
        if base.is_rate:
            # A rate is steadied by as many of the 10 cases as the rest has in its denominator.
            added = 10 * float(base.basis(np.array(rest.cells))) / rest.n
            assert r.shrinkage == pytest.approx(r.basis / (r.basis + added))
        else:
            assert r.shrinkage is None
        assert (r.tp, r.fn, r.fp, r.tn, r.n) == (*cm.cells, cm.n)


@pytest.mark.parametrize("metric", [m.key for m in eh.list_metrics()])
def test_any_metric_of_the_catalogue_can_be_audited(metric: str) -> None:
    reference = eh.ConfusionMatrix(30, 10, 12, 48)
    a = eh.audit_counts({"A": (9, 6, 4, 21)}, metrics=[metric], reference=reference)
    assert len(a.rows) == 1
    assert all(r.score is not None and r.pvalue is not None for r in a.rows)
    assert eh.Audit.from_json(a.to_json()) == a


def test_holm_and_benjamini_hochberg_against_their_definitions() -> None:
    p = np.array([0.001, 0.04, 0.03, 0.2, 0.011, 0.04])
    ranks = np.sort(p)
    assert sorted(holm(p.tolist())) == pytest.approx(
        [min(1.0, max((len(p) - j) * ranks[j] for j in range(i + 1))) for i in range(len(p))]
    )
    assert sorted(benjamini_hochberg(p.tolist())) == pytest.approx(
        [min(len(p) / (j + 1) * ranks[j] for j in range(i, len(p))) for i in range(len(p))]
    )
    assert holm([]) == []


def test_p_values_are_adjusted_over_the_groups_of_each_metric() -> None:
    groups = eh.examples.compas()
    rules: dict[Any, Any] = {"bh": benjamini_hochberg, "none": list}
    for name, adjust in rules.items():
        a = eh.audit_counts(groups, adjust=name)
        for metric in ("tpr", "ppv"):
            rows = [r for r in a.rows if r.metric == metric]
            assert [r.p_adjusted for r in rows] == pytest.approx(adjust([r.pvalue for r in rows if r.pvalue]))
            assert len(rows) == len(groups)


def test_two_groups_that_are_each_others_rest_are_one_comparison() -> None:
    a = eh.audit_counts({"A": (9, 6, 4, 21), "B": (30, 10, 12, 48)}, metrics=["tpr"])
    assert [r.p_adjusted for r in a.rows] == pytest.approx([r.pvalue for r in a.rows])


def test_references() -> None:
    groups = {"A": (9, 6, 4, 21), "B": (30, 10, 12, 48), "C": (20, 20, 5, 60)}
    named = eh.audit_counts(groups, metrics=["tpr"], reference="B")
    assert row(named, "B", "tpr").verdict == "reference"
    assert row(named, "B", "tpr").pvalue is None
    assert row(named, "A", "tpr").reference_n == 100
    everybody = row(eh.audit_counts(groups, metrics=["tpr"], reference="all"), "A", "tpr")
    rest = row(eh.audit_counts(groups, metrics=["tpr"]), "A", "tpr")
    assert everybody.reference_score == pytest.approx(59 / 95)
    # The gap to everybody is the share of the gap to the rest that the rest makes up of everybody.
    assert everybody.difference and rest.difference and everybody.difference_low and rest.difference_low
    assert everybody.difference / rest.difference == pytest.approx(80 / 95)
    assert everybody.difference_low / rest.difference_low == pytest.approx(80 / 95)
    assert everybody.pvalue == rest.pvalue
    given = eh.audit_counts(groups, metrics=["tpr"], reference=eh.ConfusionMatrix(300, 100, 120, 480))
    assert {r.reference for r in given.rows} == {"given matrix"}
    assert given.rows[0].reference_score == 0.75
    with pytest.raises(eh.UnknownName, match=r"^no group of 'group' is called 'D'; did you mean|groups: A, B, C"):
        eh.audit_counts(groups, reference="D")


def test_a_number_in_place_of_an_undefined_score_leaves_its_status() -> None:
    a = eh.audit_counts({"none": (0, 0, 2, 6), "all": (30, 10, 12, 48)}, metrics=["tpr"], replace_undefined_by=0.0)
    found = row(a, "none", "tpr")
    assert (found.score, found.verdict) == (0.0, "undefined")
    assert found.reason == "no actual positives (TP + FN = 0)"
    assert (found.difference, found.pvalue) == (None, None)


def test_a_reference_without_a_score_leaves_nothing_to_compare() -> None:
    a = eh.audit_counts({"A": (5, 5, 5, 5), "B": (0, 0, 2, 6)}, metrics=["tpr"])
    assert {r.verdict for r in a.rows} == {Verdict.UNDEFINED}
    assert row(a, "A", "tpr").reason == "the reference's score is undefined, no actual positives (TP + FN = 0)"
    assert "Traceback" not in str(a)


def test_an_audit_repeats_and_survives_json() -> None:
    a, b = (eh.audit_counts(eh.examples.compas(), by="race") for _ in range(2))
    assert a == b
    text = a.to_json()
    assert text == b.to_json()
    assert eh.Audit.from_json(text) == a
    content = json.loads(text)
    assert content["schema"] == "evenhand.audit/2"
    assert content["versions"]["evenhand"] == eh.__version__
    with pytest.raises(eh.InvalidInput, match=r"^the schema of the audit must be 'evenhand.audit/2'; got 'x'$"):
        eh.Audit.from_json('{"schema": "x"}')
    with pytest.raises(eh.InvalidInput, match=r"^text must be an audit written by to_json\(\): "):
        eh.Audit.from_json("[]")


def test_no_number_is_nan() -> None:
    a = eh.audit_counts({"none": (0, 0, 0, 1), "all": (30, 10, 12, 48)}, metrics=[m.key for m in eh.list_metrics()])
    numbers = [v for r in a.rows for v in asdict(r).values() if isinstance(v, float)]
    assert all(map(math.isfinite, numbers))


def test_findings_have_stable_codes_and_come_worst_first() -> None:
    a = eh.audit_counts(eh.examples.compas(), by="race")
    order = ["constant", "differs", "four-fifths", "may-be-below-four-fifths", "undefined", "too-few", "spread"]
    order += ["left-out", "missing-group", "absent-label", "chosen-reference"]
    assert list(KINDS) == order
    places = [order.index(f.kind) for f in a.findings]
    assert places == sorted(places)
    assert {(f.kind, f.code, f.severity) for f in a.findings} == {
        ("differs", "EH101", "alert"),
        ("four-fifths", "EH102", "warning"),
        ("too-few", "EH202", "note"),
    }
    assert a.findings[0].sentence == (
        "Predicted positive rate of African-American is 0.588 (95 % interval 0.572 to 0.604), 0.263 higher than the "
        "reference's 0.325, surely by at least 0.241; adjusted p < 0.001"
    )
    for word in ("biased", "fair ", "unfair", "proves"):
        assert not any(word in f.sentence for f in a.findings)


def test_the_four_fifths_rule_is_against_the_highest_rate_of_the_column() -> None:
    hired = {"men": (0, 0, 48, 32), "women": (0, 0, 12, 28)}
    a = eh.audit(
        y_pred=[1] * 48 + [0] * 32 + [1] * 12 + [0] * 28, groups=["men"] * 80 + ["women"] * 40, metrics=["ppr"]
    )
    women = row(a, "women", "ppr")
    assert women.impact_ratio == pytest.approx(0.3 / 0.6)
    assert row(a, "men", "ppr").impact_ratio == 1.0
    assert women.tp is None
    assert [f.kind for f in a.findings] == ["differs", "differs", "four-fifths"]
    assert women.pvalue == pytest.approx(row(eh.audit_counts(hired, metrics=["ppr"]), "women", "ppr").pvalue)
    with pytest.raises(eh.InvalidInput, match=r"^tpr needs labels \(y_true\); without them only ppr, pnr, "):
        eh.audit(y_pred=[1, 0], groups=["a", "b"], metrics=["tpr"])


@pytest.mark.parametrize("name", ["x" * 200, "\x1b[31mred", "<script>alert(1)</script>", "=cmd()", "a|b\nc", "日本語"])
def test_hostile_names_are_shown_as_text(name: str) -> None:
    a = eh.audit_counts({name: (9, 6, 4, 21), "B": (30, 10, 12, 48)})
    text = str(a)
    assert max(map(len, text.splitlines())) <= 80
    assert "\x1b" not in text
    markdown = a.to_markdown()
    assert "<script>" not in markdown
    assert all(line.count("|") - line.count("\\|") == 13 for line in markdown.splitlines() if line.startswith("|"))
    assert "<script>" not in a._repr_html_()
    assert name in {r.group for r in eh.Audit.from_json(a.to_json()).rows}


def test_the_table_is_worst_first_and_says_how_many_rows_are_left() -> None:
    a = eh.audit_counts(eh.examples.compas(), by="race")
    text = str(a)
    assert "… and 24 more rows" in text
    assert "… and" not in a.to_text()
    places = [(r.verdict.rank, -r.sure_gap) for r in a.rows]
    assert places == sorted(places)
    assert [v.value for v in sorted(Verdict, key=lambda v: v.rank)] == [
        *("higher", "lower", "undefined", "too few to tell", "alike", "reference")
    ]


audited: Any = eh.audit_counts


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: eh.audit_counts({}), "counts must map groups to confusion matrices; got {}"),
        (lambda: eh.audit_counts({"A": (1, 2, 3, 4)}), "'group' has only one group with cases ('A'), so there is "
         "nothing to compare it with"),
        (lambda: eh.audit_counts({"A": (1, 2, 3)}), "group 'A' must have tp, fn, fp and tn; got (1, 2, 3)"),
        (lambda: eh.audit_counts({"A": (1, 2, 3, 0.5)}), "group 'A' must have whole counts; got ConfusionMatrix(tp=1, "
         "fn=2, fp=3, tn=0.5)"),
        (lambda: audited(MISSED, adjust="sidak"), "no adjust is called 'sidak'; known: holm, bh, none"),
        (lambda: audited(MISSED, family="all"), "no family is called 'all'; known: metric, audit"),
        (lambda: audited(MISSED, test="barnard"), "no test is called 'barnard'; known: unconditional, fisher"),
        (lambda: audited(MISSED, null="poled"), "no null is called 'poled'; did you mean 'pooled'?"),
        (lambda: audited(MISSED, favourable="no"), "no favourable is called 'no'; known: positive, negative"),
        (lambda: eh.audit_counts(MISSED, level=2), "level must be a number between 0 and 1; got 2"),
        (lambda: eh.audit_counts(MISSED, alpha=True), "alpha must be a number between 0 and 1; got True"),
        (lambda: eh.audit_counts(MISSED, margin=0), "margin must be a number above 0; got 0"),
        (lambda: eh.audit_counts(MISSED, margin=math.inf), "margin must be a number above 0; got inf"),
        (lambda: eh.audit_counts(MISSED, impact_share=1), "impact_share must be a number from 0 to below 1; "
         "got 1"),
        (lambda: eh.audit_counts(MISSED, replace_undefined_by=math.nan),
         "replace_undefined_by must be a finite number; got nan"),
        (lambda: audited(MISSED, metrics={"tpr": 1}), "metrics must be a list of metrics, such as ['tpr', "
         "'ppv']; got {'tpr': 1}"),
        (lambda: eh.audit_counts(MISSED, reference={"race": "rest"}), "no group column is called 'race'; known: group"),
        (lambda: eh.audit_counts(MISSED, metrics=[]), "metrics must contain at least one metric"),
        (lambda: eh.audit_counts(MISSED, max_groups=1), "there are 2 groups (2 by group), more than max_groups=1; "
         "choose a coarser column or fewer crossings, or raise max_groups"),
        (lambda: eh.audit(y_true=[1], y_pred=[1]), "groups must be the name of a group column or its values; got None"),
        (lambda: eh.audit(y_true=[1], groups=["a"]), "pass either y_pred (predictions) or y_score (scores); got "
         "neither"),
        (lambda: eh.audit(y_true=[1], y_pred=[1], y_score=[1], groups=["a"]),
         "pass either y_pred (predictions) or y_score (scores); got both"),
        (lambda: eh.audit(y_true=[1], y_pred=[1], groups={}),
         "groups must be the name of a column or its values; got {}"),
        (lambda: eh.audit_counts({("A",): (1, 2, 3, 4)}, by=["race", "sex"]),
         "group ('A',) must have one value per column (race, sex); got 1 value"),
        (lambda: eh.audit(y_true=[1], y_pred=[1], groups=["a"], sensitive_features=["a"]),
         "sensitive_features is an alias of groups; pass only one of them"),
    ],
)  # fmt: skip
def test_what_cannot_be_audited_is_refused_in_a_sentence(call: Any, sentence: str) -> None:
    with pytest.raises(eh.EvenhandError) as refused:
        call()
    assert str(refused.value) == sentence


SIX = {
    "A_ok": (30, 10, 12, 48),
    "B_nopos": (0, 0, 2, 6),
    "C_noneg": (3, 2, 0, 0),
    "D_nopredpos": (0, 3, 0, 5),
    "E_allTN": (0, 0, 0, 4),
    "F_single": (0, 0, 0, 1),
}


def degenerate_table() -> str:
    """Six matrices that tools disagree on, as the audit shows them."""
    a = eh.audit_counts(SIX, metrics=["tpr", "fpr", "ppv", "f1", "mcc"])
    lines = ["| group | tp fn fp tn | tpr | fpr | ppv | f1 | mcc |", "|---|---|---|---|---|---|---|"]
    for group, cells in SIX.items():
        shown = []
        for metric in ("tpr", "fpr", "ppv", "f1", "mcc"):
            r = row(a, group, metric)
            reason = (r.reason or "").split(" (")[0]
            score = f"{r.score:.3f}" if r.score is not None else f"undefined: {reason}"
            shown.append(f"{score}; {r.verdict}" if r.score is not None else score)
        lines.append(f"| {group} | {' '.join(map(str, cells))} | {' | '.join(shown)} |")
    return "\n".join(lines)


def test_the_degenerate_matrices_in_the_docs_are_what_the_audit_gives() -> None:
    assert degenerate_table() in (ROOT / "docs/reference/audit.md").read_text("utf-8")


def test_detection_agrees_with_the_p_value_of_a_score_that_far_away() -> None:
    """r.detects(d) is true exactly if an outcome at the reference's score ± d, or beyond, has p <= level."""
    rest = eh.ConfusionMatrix(300, 100, 120, 480)
    for k in (2, 5, 10, 20, 40, 80):
        cm = eh.ConfusionMatrix(3 * k // 4, k - 3 * k // 4, 8, 30)
        r = eh.match_test(cm, rest, "tpr")
        d = r.distribution
        for gap in (0.05, 0.1, 0.2, 0.25):
            low, high = d.cdf(0.75 - gap), d.sf(0.75 + gap) + d.pmf(0.75 + gap)
            expected = 0 < 2 * low <= 0.05 or (0.75 + gap <= 1 and 0 < 2 * high <= 0.05)
            assert r.detects(gap) == expected, (k, gap)


@pytest.mark.parametrize("metric", ["acc", "tpr", "f1"])
def test_large_groups_detect_what_exact_tails_say(metric: str) -> None:
    """Where a bound decides without the exact tail, the exact tail agrees."""
    cm, rest = eh.ConfusionMatrix(3000, 1200, 900, 7400), eh.ConfusionMatrix(21000, 8000, 6000, 53000)
    r = eh.match_test(cm, rest, metric)
    for gap in (0.002, 0.01, 0.02, 0.05):
        exact = 2 * min(r.distribution.cdf(r.reference_score - gap), r.distribution.sf(r.reference_score + gap)) <= 0.05
        assert r.detects(gap) == exact


def test_an_adjusted_p_value_is_never_below_the_raw_one_and_directions_agree_with_differences() -> None:
    """Two groups are one comparison, with one p-value for both."""
    rng = np.random.default_rng(5)
    for _ in range(8):
        a, b = (tuple(map(int, rng.integers(0, 40, 4) + 1)) for _ in range(2))
        found = eh.audit_counts({"A": a, "B": b}, metrics=["f1", "tpr", "informedness"])
        for r in found.rows:
            assert r.p_adjusted is not None and r.pvalue is not None and r.difference is not None
            assert r.p_adjusted >= r.pvalue
            if r.differs:
                assert (r.difference > 0) == (r.verdict is Verdict.HIGHER)
        for metric in ("f1", "tpr", "informedness"):
            assert row(found, "A", metric).p_adjusted == row(found, "B", metric).p_adjusted


def test_groups_of_equal_counts_are_groups_of_their_own() -> None:
    same = dict.fromkeys("ABCD", (34, 6, 10, 50))
    a = eh.audit_counts({**same, "R": (180, 100, 100, 500)}, metrics="tpr", reference="R")
    raw = row(a, "A", "tpr").pvalue
    assert raw is not None
    adjusted = row(a, "A", "tpr").p_adjusted
    # Four comparisons, each of which reaches p-values a little below its share of the level.
    assert adjusted is not None
    assert 3.9 * raw < adjusted <= 4 * raw


def test_the_reference_has_no_reference_and_chance_does_not_explain_it() -> None:
    a = eh.audit_counts({"A": (10, 90, 0, 900), "B": (800, 0, 100, 100)}, metrics="ppr", reference="A")
    found = row(a, "A", "ppr")
    assert (found.reference_score, found.difference, found.pvalue) == (None, None, None)
    assert not any("chance" in f.sentence for f in a.findings)


def test_intersections_of_like_sounding_names_are_told_apart() -> None:
    counts = {("a & b", "c"): (9, 6, 4, 21), ("a", "b & c"): (5, 5, 5, 5), ("a", "x"): (3, 4, 5, 6)}
    a = eh.audit_counts(counts, by=("r", "s"), metrics="acc")
    crossed = [r for r in a.rows if r.by == "r & s"]
    assert sum(r.n for r in crossed) == 40 + 20 + 18
    assert {r.group for r in crossed} == {"('a & b', 'c')", "('a', 'b & c')", "a & x"}


def test_a_score_lies_in_its_interval() -> None:
    a = eh.audit_counts({"none": (0, 9, 9, 0), "every": (9, 0, 0, 9), "some": (5, 6, 7, 8)})
    for r in a.rows:
        assert r.score is not None and r.low is not None and r.high is not None
        assert r.low <= r.score <= r.high


def test_many_groups_do_not_fill_the_screen() -> None:
    rng = np.random.default_rng(1)
    counts = {f"g{i}": tuple(map(int, rng.integers(0, 9, 4))) for i in range(200)}
    assert len(str(eh.audit_counts(counts, metrics="ppr")).splitlines()) < 45


@pytest.mark.parametrize(
    "groups",
    [
        [1, "1", "'1'"],
        ["'1'", "1", 1],
        [None, "(missing)", "'(missing)'"],
        [1.5, "1.5", "'1.5'", "\"'1.5'\""],
    ],
)
def test_groups_whose_names_look_alike_stay_apart(groups: list[Any]) -> None:
    matrices = {group: (10, 10, 10, 10 + i) for i, group in enumerate(groups)}
    a = eh.audit_counts(matrices, metrics="tpr")
    assert sum(row.n for row in a.rows) == a.n == sum(map(sum, matrices.values()))
    assert len({row.group for row in a.rows}) == len(groups)
    crossed = eh.audit_counts(
        {("a & b", "c"): (1, 1, 1, 1), ("a", "b & c"): (2, 2, 2, 2), ("('a'", "b & c"): (3, 3, 3, 3)}, by=("g", "h")
    )
    both = {row.group: row.n for row in crossed.rows if row.by == "g & h"}
    assert sorted(both.values()) == [4, 8, 12]


SETTINGS: list[tuple[dict[str, Any], str]] = [
    *(({what: value}, f"{what} must be a number ") for what in ("level", "alpha", "margin")
      for value in (None, "x", [0.9], True, 10**400, float("nan"))),
    *(({"max_groups": value}, "max_groups must be a whole number above 0; got ")
      for value in (None, "x", [1], 0, float("nan"))),
    ({"metrics": 5}, "metrics must be a list of metrics, such as ['tpr', 'ppv']; got 5"),
    *(({"metrics": value}, "metrics must be names of metrics; pass a function of labels and predictions to "
       "audit_callable, which compares groups by permutation") for value in (print, [print], ["tpr", print])),
    ({"metrics": [5]}, "metric must be a name or a Metric; got 5 of type int"),
    *(({what: np.array([1, 2])}, f"no {what} is called ") for what in ("adjust", "family", "test", "null")),
    *(({"strength": value}, "strength must be a number of cases from 0 to 1e9") for value in (np.ones(2), 10**400)),
    ({"replace_undefined_by": 10**400}, "replace_undefined_by must be a finite number; got "),
]  # fmt: skip


@pytest.mark.parametrize(("settings", "sentence"), SETTINGS)
def test_settings_of_a_wrong_type_are_refused_in_a_sentence(settings: dict[str, Any], sentence: str) -> None:
    with pytest.raises(eh.InvalidInput) as found:
        eh.audit_counts({"A": (1, 2, 3, 4), "B": (5, 6, 7, 8)}, **settings)
    assert str(found.value).startswith(sentence)


def test_a_level_too_large_for_a_float_is_refused() -> None:
    with pytest.raises(eh.InvalidInput, match=r"^level must lie between 0 and 1; got 10"):
        eh.interval(eh.ConfusionMatrix(1, 2, 3, 4), "tpr", level=10**400)


def test_an_infinite_label_is_written_as_text() -> None:
    label = float("inf")
    a = eh.audit(None, y_true=[label, 0, 0, label], y_pred=[label, label, 0, 0], groups=list("aabb"), positive=label)
    again = eh.Audit.from_json(a.to_json())
    assert again == a
    assert again.record["positive"] == {"label": ["inf"], "prediction": ["inf"]}


def changed(change: Callable[[dict[str, Any]], object]) -> str:
    content = eh.audit_counts({"A": (1, 2, 3, 4), "B": (5, 6, 7, 8)}, metrics=["tpr", "ppr"]).to_dict()
    change(content)
    return json.dumps(content)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (changed(lambda c: c.update(schema=["x"])), "the schema of the audit must be 'evenhand.audit/2'; got ['x']"),
        (changed(lambda c: c["rows"][0].update(n=11)), "row 1 has n = 11, but its cells add up to 10"),
        (changed(lambda c: c["rows"][0].update(reference_n=3)),
         "row 1 has reference_n = 3, but its cells add up to 26"),
        (changed(lambda c: c["rows"][0].update(tp="1")), "tp of row 1 must be int | None; got '1'"),
        (changed(lambda c: c["rows"][0].update(tp=-1)), "tp of row 1 must not be negative; got -1"),
        (changed(lambda c: c["rows"][0].update(score=True)), "score of row 1 must be float | None; got True"),
        (changed(lambda c: c["rows"][0].update(group=None)), "group of row 1 must be str; got None"),
        (changed(lambda c: c["rows"][0].update(verdict="fair")),
         "text must be an audit written by to_json(): 'fair' is not a valid Verdict"),
        (changed(lambda c: c["rows"][0].update(metric="nope")), "no metric is called 'nope'"),
        (changed(lambda c: c["rows"][0].pop("n")), "a row must have the fields "),
        (changed(lambda c: c.update(n=35)), "the groups of 'group' have 36 cases, but there are 35"),
        (changed(lambda c: c.update(n="36")), "n must be int; got '36'"),
        (changed(lambda c: c.update(rows={})), "rows must be a list; got {}"),
        (changed(lambda c: c.update(left_out={"y_true": "many"})), "left_out must map names to numbers of rows; got "),
        (changed(lambda c: c.update(versions=[])), "versions must be a table; got []"),
        (changed(lambda c: c["settings"].pop("level")), "settings must contain level"),
        (changed(lambda c: c["settings"].update(level="x")), "level must be a number between 0 and 1; got 'x'"),
        (changed(lambda c: c["findings"][0].update(code=5)), "code of finding 1 must be str; got 5"),
        (changed(lambda c: c["findings"][0].update(kind="doom")), "no kind of finding is called 'doom'"),
        (changed(lambda c: c["findings"][0].update(metrics="tpr")), "metrics of finding 1 must be tuple[str, ...]; "
         "got 'tpr'"),
        (changed(lambda c: c.pop("settings")), "text must be an audit written by to_json(): 'settings'"),
        ("{", "text must be an audit written by to_json(): "),
        ("[" * 100_000, "text must be an audit written by to_json(): "),
        ('{"schema": NaN}', "text must be an audit written by to_json(): NaN is not a number in JSON"),
        (None, "text must be an audit written by to_json(): "),
    ],
)  # fmt: skip
def test_what_is_no_audit_is_refused_in_a_sentence(text: Any, sentence: str) -> None:
    with pytest.raises(eh.InvalidInput) as found:
        eh.Audit.from_json(text)
    assert str(found.value).startswith(sentence)
