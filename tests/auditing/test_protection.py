"""What is published depends on rounded counts only, and what is said holds for all tables behind them."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from scipy.stats import hypergeom

import evenhand as eh
from evenhand.data import rule_of
from evenhand.data.disclosure import round_counts
from evenhand.examples import compas
from evenhand.reports import as_annotations, as_junit


def published(audit: eh.Audit) -> dict[str, Any]:
    """Everything that can be published."""
    methods = ("to_text", "to_html", "to_json", "to_csv", "to_markdown", "_repr_html_")
    frames = [audit.to_frame("pandas"), audit.by_group]
    texts = {name: getattr(audit, name)() for name in methods} | {"rows": repr(audit.rows)}
    texts["frames"] = repr([frame.to_dict("list") for frame in frames])
    return texts | {"junit": as_junit(audit), "github": as_annotations(audit)}


def block(count: int, rule: Any) -> tuple[int, int, int]:
    """What a count is published as, and the least and the largest count that are published so."""
    value, low, high = (int(one[0]) for one in round_counts(np.array([float(count)]), rule_of(rule)))  # type: ignore[arg-type]
    return value, low, high


def blocks(rule: Any) -> st.SearchStrategy[int]:
    """Counts of a table: nothing, small ones, and larger ones."""
    least = rule_of(rule).least  # type: ignore[union-attr]
    return st.one_of(st.just(0), st.integers(1, least - 1), st.integers(least, 12 * least))


def elsewhere(draw: Any, count: int, rule: Any) -> int:
    """Another count of the same block."""
    return int(draw(st.integers(*block(count, rule)[1:])))


def test_the_rounded_table_is_that_of_counts_rounded_by_hand() -> None:
    audit = eh.audit_counts({"a": (25, 7, 12, 40), "b": (0, 30, 11, 90)}, metrics="tpr", protect="cms")
    assert {row.group: row.cells for row in audit.rows} == {"a": (27, 5, 16, 38), "b": (0, 27, 16, 93)}
    assert audit.n == sum((27, 5, 16, 38, 0, 27, 16, 93))


@pytest.mark.slow
@given(data=st.data(), rule=st.sampled_from(["cms", "opensafely", "ons", 5]))
@settings(max_examples=10, deadline=None)
def test_tables_of_the_same_blocks_are_published_as_the_same_bytes(data: Any, rule: Any) -> None:
    """All groups vary, with crossings and cases of unknown groups."""
    keys = [*itertools.product(("a", "b", "c"), ("f", "m")), (None, "f")]
    table = {key: tuple(data.draw(blocks(rule)) for _ in range(4)) for key in keys}
    table |= {("a", "f"): (40, 30, 20, 60), ("b", "m"): (14, 80, 33, 25)}
    other = {key: tuple(elsewhere(data.draw, n, rule) for n in cells) for key, cells in table.items()}
    how: Any = {"protect": rule, "favourable": "positive", "metrics": ["ppr", "tpr", "f1", "mcc", "tpr_ratio"]}
    first, second = (eh.audit_counts(counts, by=["race", "sex"], **how) for counts in (table, other))
    assert published(first) == published(second)


@pytest.mark.slow
@given(data=st.data(), rule=st.sampled_from(["cms", 4]), has_thresholds=st.booleans())
@settings(max_examples=6, deadline=None)
def test_rows_of_the_same_blocks_are_published_as_the_same_bytes(data: Any, rule: Any, has_thresholds: bool) -> None:
    """Label (missing is a value) by score band, at two thresholds or with selections."""
    scores = (0.1, 0.5, 0.9) if has_thresholds else (0.1, 0.9)
    keys = list(itertools.product(("a", "b", None), (0, 1, None), scores))
    table = {key: data.draw(blocks(rule)) for key in keys}
    table |= {key: 3 * rule_of(rule).least + len(str(key)) for key in itertools.product("ab", (0, 1), (0.1, 0.9))}  # type: ignore[union-attr]
    other = {key: elsewhere(data.draw, n, rule) for key, n in table.items()}
    audits = []
    for counts in (table, other):
        rows = [key for key, n in counts.items() for _ in range(n)]
        columns = {name: [row[i] for row in rows] for i, name in enumerate(("race", "y", "s"))}
        more: Any = {"threshold": [0.3, 0.7]} if has_thresholds else {}
        audits.append(eh.audit(columns, y_true="y", y_score="s", groups="race", protect=rule,
                               metrics=["ppr", "tpr", "kappa"], **more))  # fmt: skip
    assert published(audits[0]) == published(audits[1])


@pytest.mark.slow
def test_an_attacker_who_lists_all_tables_excludes_no_value_of_a_small_cell() -> None:
    """All tables of two groups, of which one is known: each hidden cell takes every value."""
    target = {"a": (1, 4, 2, 9), "b": (30, 10, 12, 40)}
    bytes_of = published(eh.audit_counts(target, metrics=["tpr", "ppr"], protect=3))
    seen: list[set[int]] = [set() for _ in range(4)]
    spans = [range(low, high + 1) for _, low, high in (block(n, 3) for n in target["a"])]
    for cells in itertools.product(*spans):
        if published(eh.audit_counts({**target, "a": cells}, metrics=["tpr", "ppr"], protect=3)) == bytes_of:
            for values, n in zip(seen, cells, strict=True):
                values.add(n)
    assert [sorted(values) for values in seen] == [list(span) for span in spans]
    outside = eh.audit_counts({**target, "a": (1, 4, 3, 9)}, metrics=["tpr", "ppr"], protect=3)
    assert published(outside) != bytes_of


def test_neither_spellings_nor_files_nor_their_time_are_told(tmp_path: Any) -> None:
    """The same cases with one label spelled otherwise, and a file of counts that differs in small ones."""
    y, groups = ["yes"] * 60 + ["no"] * 60, ["a", "b"] * 60
    given: Any = {"y_pred": y, "groups": groups, "protect": "cms", "positive": ["yes", "Yes"]}
    audits = [eh.audit(None, y_true=[first, *y[1:]], **given) for first in ("yes", "Yes")]
    assert audits[0].rows == audits[1].rows
    for audit in audits:
        assert audit.provenance["negative"] == {} and not any("absent" in finding.kind for finding in audit.findings)
    path, texts = tmp_path / "c.csv", []
    for line in ("c,12,2,3,5", "c,13,9,1,8"):
        path.write_text(f"g,tp,fn,fp,tn\na,40,30,20,60\nb,14,80,33,25\n{line}\n")
        texts.append(published(eh.audit_counts(path, protect="cms", metrics="ppr")))
    assert texts[0] == texts[1]
    path.write_text("g,y,p\n" + "a,1,1\na,0,0\nb,1,0\nb,0,0\n" * 30)
    audit, exact = (eh.audit(path, y_true="y", y_pred="p", groups="g", protect=rule, count=1) for rule in ("cms", None))
    assert audit.provenance["made"] == "2023-11-14"
    assert set(audit.provenance["source"]) <= {"kind", "name", "format", "separator", "library", "paths"}
    assert {"sha256", "size", "rows"} <= set(exact.provenance["source"])
    assert not any(exact.provenance["source"]["sha256"] in str(output) for output in published(audit).values())
    pairs = itertools.permutations([(9, 3, 40, 30), (2, 3, 10, 30)])
    for black, other in pairs:
        counts = {"Black": black, "black": other, "w": (40, 50, 60, 70)}
        assert {r.group for r in eh.audit_counts(counts, protect="cms", merge_variants=True).rows} == {"Black", "w"}


RATES = {
    "tpr": ((0,), (1,)),
    "fpr": ((2,), (3,)),
    "ppv": ((0,), (2,)),
    "ppr": ((0, 2), (1, 3)),
    "acc": ((0, 3), (1, 2)),
    "f1": ((0,), (1, 2)),
}
"""The cells that each metric counts as successes and as failures."""


def p_of(own: Any, other: Any, metric: str) -> tuple[float, bool]:
    """Fisher's test, twice the smaller tail, and whether the group is higher."""
    good, bad = RATES[metric]
    a, b = (sum(cells[i] for i in good) for cells in (own, other))
    n, m = (a + sum(own[i] for i in bad), b + sum(other[i] for i in bad))
    if not n or not m:
        return 1.0, False
    lower, upper = hypergeom.cdf(a, n + m, n, a + b), hypergeom.sf(a - 1, n + m, n, a + b)
    return min(1.0, 2 * min(lower, upper)), bool(upper < lower)


def tables_behind(cells: Any, rule: Any) -> Iterator[tuple[int, ...]]:
    """All tables that are rounded to the same one."""
    spans = (block(n, rule) for n in cells)
    return itertools.product(*(range(low, high + 1) for _, low, high in spans))


@pytest.mark.slow
@pytest.mark.parametrize("metric", RATES)
def test_the_p_value_is_the_largest_over_all_tables_behind_the_published_one(metric: str) -> None:
    for own, other in (((9, 1, 4, 4), (2, 7, 6, 1)), ((6, 3, 3, 3), (1, 9, 2, 6)), ((3, 3, 3, 3), (4, 4, 5, 3))):
        row = next(r for r in eh.audit_counts({"a": own, "b": other}, metrics=metric, protect=3).rows if r.group == "a")
        used = sorted({*RATES[metric][0], *RATES[metric][1]})
        listed = {
            (tuple(x[i] for i in used), tuple(y[i] for i in used)): p_of(x, y, metric)
            for x in tables_behind([n if i in used else 0 for i, n in enumerate(own)], 3)
            for y in tables_behind([n if i in used else 0 for i, n in enumerate(other)], 3)
        }.values()
        agree = len({higher for p, higher in listed if p < 1}) == 1
        assert row.pvalue == pytest.approx(max(p for p, _ in listed) if agree else 1.0)


@given(data=st.data())
@settings(max_examples=12, deadline=None)
def test_intervals_and_verdicts_hold_for_every_table_behind_the_published_one(data: Any) -> None:
    """The interval contains that of each table and its score, and a verdict is the one of each table."""
    groups = {name: tuple(data.draw(st.integers(0, 40)) for _ in range(4)) for name in "ab"}
    groups["b"] = tuple(10 * n + 12 for n in groups["b"])
    audit = eh.audit_counts(groups, metrics=list(RATES), protect=4, adjust="none")
    shown = {(row.group, row.metric): row for row in audit.rows}
    for row in audit.rows:
        for value, low, high in ((row.score, row.low, row.high), (row.gap, row.gap_low, row.gap_high)):
            assert not value < low and not value > high, row
    for _ in range(2):
        other = {name: tuple(elsewhere(data.draw, n, 4) for n in cells) for name, cells in groups.items()}
        for row in eh.audit_counts(other, metrics=list(RATES), adjust="none").rows:
            wide = shown.get((row.group, row.metric))
            if wide is None:
                continue
            assert not wide.low > row.low + 1e-9 and not row.high > wide.high + 1e-9
            assert not wide.gap_low > row.gap_low + 1e-9 and not row.gap_high > wide.gap_high + 1e-9
            if wide.differs:
                assert row.verdict == wide.verdict
            if wide.verdict == "equivalent":
                assert row.verdict in ("equivalent", "higher", "lower")


def test_scores_that_could_be_nearly_anything_are_ranges_and_those_of_several_rates_are_not_tested() -> None:
    audit = eh.audit_counts(compas(), by="race", protect="cms", metrics=["tpr", "ppr", "mcc"])
    rows = {(row.group, row.metric): row for row in audit.rows}
    assert rows["African-American", "ppr"].score == pytest.approx(0.588, abs=5e-4)
    asian = rows["Asian", "tpr"]
    assert np.isnan(asian.score) and asian.verdict == "inconclusive"
    assert asian.low == pytest.approx(0, abs=0.01)
    text = audit.to_text()
    assert re.search(r"African-American +ppr +3,705 +0\.588 ", str(audit))
    assert re.search(r" tpr +\[0\.005, 0\.995\] ", audit.to_text(None))
    assert "Native American" not in text and not any(row.group == "Native American" for row in audit.rows)
    assert all(row.verdict == "inconclusive" and np.isnan(row.gap_low) for row in audit.rows if row.metric == "mcc")
    assert all(np.isnan(row.required_n) for row in audit.rows)
    (said,) = [f.sentence for f in audit.findings if f.kind == "protected"]
    assert "mcc" in said and not [f for f in audit.findings if f.kind == "inconclusive" and "mcc" in f.sentence]
    again = eh.Audit.from_json(audit.to_json())
    assert again == audit and published(again) == published(audit)


def test_groups_of_which_rounding_leaves_nothing_are_in_the_rest_of_the_others() -> None:
    """Beside such a group, two groups are two comparisons."""
    counts = {"a": (40, 30, 20, 60), "b": (14, 80, 33, 25), "c": (3, 2, 1, 5)}
    rows = {row.group: row for row in eh.audit_counts(counts, metrics="ppr", protect="cms").rows}
    assert set(rows) == {"a", "b"}
    assert rows["a"].reference_n == rows["b"].n + 4 * 5
    table = {"a": (0, 0, 484, 600), "b": (0, 0, 400, 600), "c": (0, 0, 2, 2)}
    found = eh.audit_counts(table, metrics="ppr", protect=3).rows
    values = sorted(row.pvalue for row in found)
    assert [row.p_adjusted for row in found] == pytest.approx([max(2 * values[0], values[1])] * 2)
    small = {("a" if i % 2 else "b", f"h{i // 2}"): (3, 3, 3, 3) for i in range(40)}
    audit = eh.audit_counts(small, by=["g", "h"], metrics="ppr", protect="cms", intersections=1)
    assert {row.by for row in audit.rows} == {"g"}


def test_a_gap_to_a_reference_of_small_counts_has_no_sign() -> None:
    """By opensafely's rule small counts are 0, of which a rate of 1 and a gap of the other sign would follow."""
    counts = {"A": (40, 12, 20, 130), "B": (9, 6, 4, 30), "C": (3, 5, 2, 9)}
    a = eh.audit_counts(counts, protect="opensafely", metrics=["tpr", "acc"])
    (row,) = [row for row in a.rows if (row.group, row.metric) == ("A", "tpr")]
    assert row.gap_low < 0 < row.gap_high
    assert "undefined" not in " ".join(a.to_text().split()).replace("0 undefined", "")


def test_few_cases_without_a_label_are_selections_where_zero_is_hidden() -> None:
    cells = {"a": (40, 30, 20, 60), "b": (14, 80, 33, 25)}
    answers = ((1, 1), (1, 0), (0, 1), (0, 0))
    rows: list[Any] = []
    for g, four in cells.items():
        rows += [(g, *one) for one, n in zip(answers, four, strict=True) for _ in range(n)]
    for missing in (1, 6):
        some = [*rows, *[("a", None, 1)] * missing]
        data = {name: [row[i] for row in some] for i, name in enumerate("gyp")}
        audit = eh.audit(data, y_true="y", y_pred="p", groups="g", protect="opensafely", count=1)
        assert {row.group for row in audit.rows} == {"a", "b"} and not audit.left_out


def test_what_cannot_be_protected_is_refused() -> None:
    data = {"y": [0, 1] * 20, "p": [0, 1] * 20, "g": ["a", "b"] * 20, "u": list(range(40)), "w": [0.5] * 40}

    def of_rows(**given: Any) -> Any:
        return eh.audit(data, **{"y_true": "y", "y_pred": "p", "groups": "g", "protect": "cms", **given})

    def of_counts(counts: Any = None, **given: Any) -> Any:
        return eh.audit_counts(counts or compas(), **{"protect": "cms", **given})

    must = "protect must be 'cms', 'opensafely', 'ons' or a whole number from 3 to 1,000,000, the minimum count that"
    needs_cases = "protect rounds counts; auc, brier, log_loss and functions need every case"
    apart = "protect and {} cannot be combined: only counts of groups have bounds"
    crossed = {("a", "x"): (90,) * 4, ("b", "x"): (80,) * 4, ("a", "y"): (70,) * 4, ("b", "y"): (60,) * 4}
    small = {"a": (3, 3, 3, 3), "b": (2, 2, 2, 2)}
    cases: list[tuple[Any, dict[str, Any], str]] = [
        *((of_counts, {"protect": wrong}, f"{must} may be shown; got {wrong!r}") for wrong in (1, "11")),
        (of_counts, {"protect": "cns"}, "no rule of protection is called 'cns'"),
        (of_counts, {"reference": "all"}, "protect and reference='all' cannot be combined; compare with 'rest'"),
        (of_counts, {"counts": crossed, "by": ["g", "h"], "strata": "h"}, apart.format("strata")),
        (of_counts, {"counts": small}, "rounded by the rule cms, no group is left that could be shown"),
        *((of_rows, {name: "w"}, apart.format(name)) for name in ("strata", "classes", "cluster", "sample_weight")),
        (of_rows, {"metrics": "auc", "y_score": "w", "y_pred": None}, needs_cases),
        (of_rows, {"metrics": [("cost", lambda y, p: 0.0)]}, needs_cases),
    ]
    for call, given_, sentence in cases:
        with pytest.raises(ValueError, match=f"^{re.escape(sentence)}"):
            call(**given_)
    with pytest.raises(TypeError, match="protect the audit of each model"):
        eh.compare(protect="cms")
    with pytest.raises(ValueError, match="protect what you publish"):
        eh.Monitor(protect="cms")
