"""What is published depends on rounded counts only, and what is said holds for all tables behind them."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner
from hypothesis import given, settings, strategies as st
from scipy.stats import hypergeom

import evenhand as eh
from evenhand.auditing.rounded_measures import corners
from evenhand.cli.main import evenhand as command
from evenhand.errors import InvalidInput, UnknownName
from evenhand.examples import compas
from evenhand.tabulate import RULES, RoundedMatrix, rule_of
from evenhand.views.pipelines import as_annotations, as_junit

OUTPUTS: dict[str, Callable[[eh.Audit], Any]] = {
    "text": lambda a: a.to_text(),
    "html": lambda a: a.to_html(),
    "json": lambda a: a.to_json(),
    "csv": lambda a: a.to_csv(),
    "wide": lambda a: a.to_csv(wide=True),
    "markdown": lambda a: a.to_markdown(),
    "notebook": lambda a: a._repr_html_(),
    "rows": lambda a: repr(a.rows),
    "frame": lambda a: a.to_frame("polars").rows(),
    "table": lambda a: a.table("polars").rows(),
    "junit": as_junit,
    "github": as_annotations,
}
"""Everything that can be published."""


@pytest.fixture(autouse=True)
def _day(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1700000000")


def published(audit: eh.Audit) -> dict[str, Any]:
    return {name: output(audit) for name, output in OUTPUTS.items()}


def blocks(rule: Any) -> st.SearchStrategy[int]:
    """Counts of a table: nothing, small ones, and larger ones."""
    least = rule_of(rule).least  # type: ignore[union-attr]
    return st.one_of(st.just(0), st.integers(1, least - 1), st.integers(least, 12 * least))


def elsewhere(draw: Any, count: int, rule: Any) -> int:
    """Another count of the same block."""
    found = rule_of(rule).rounded(count)  # type: ignore[union-attr]
    return int(draw(st.integers(found.low, found.high)))


@pytest.mark.parametrize("rule", [*RULES, 3, 11, 20])
def test_a_block_has_one_value_inside_it_and_blocks_follow_each_other(rule: Any) -> None:
    known = rule_of(rule)
    assert known is not None
    found = [known.rounded(n) for n in range(200)]
    for n, one in enumerate(found):
        assert one.low <= n <= one.high and one.low <= one.value <= one.high
        assert all(known.rounded(other) == one for other in range(one.low, one.high + 1))
    small = {known.rounded(n) for n in range(1, known.least)}
    assert len(small) == 1 and (found[0] in small) is not known.shows_zero
    assert found[0].value == 0


def test_the_rules_are_those_of_their_sources() -> None:
    """Nothing from 1 to 10; nothing up to 7 and the nearest 5; nothing below 10 and the nearest 5."""
    cms, opensafely, ons = (RULES[name] for name in ("cms", "opensafely", "ons"))
    assert {cms.rounded(n).value for n in range(1, 11)} == {5} and cms.rounded(11).low == 11
    for rule, fewest in ((opensafely, 8), (ons, 10)):
        assert {rule.rounded(n).value for n in range(fewest)} == {0}
        assert all(rule.rounded(n).value == 5 * ((n + 2) // 5) for n in range(fewest, 300))
    assert all(rule.source and rule.dated and rule.why for rule in RULES.values())


@pytest.mark.slow
@given(data=st.data(), rule=st.sampled_from(["cms", "opensafely", "ons", 5]))
@settings(max_examples=10, deadline=None)
def test_tables_of_the_same_blocks_are_published_as_the_same_bytes(data: Any, rule: Any) -> None:
    """Every group varies, with crossings and cases of unknown groups; nothing published tells the tables apart."""
    keys = [*itertools.product(("a", "b", "c"), ("f", "m")), (None, "f")]
    table = {key: tuple(data.draw(blocks(rule)) for _ in range(4)) for key in keys}
    table["a", "f"] = (40, 30, 20, 60)
    table["b", "m"] = (14, 80, 33, 25)
    other = {key: tuple(elsewhere(data.draw, n, rule) for n in cells) for key, cells in table.items()}
    first, second = (
        eh.audit_counts(
            counts, by=["race", "sex"], protect=rule, favourable="positive",
            metrics=["ppr", "tpr", "f1", "mcc", "tpr_ratio"], max_groups=100,
        )
        for counts in (table, other)
    )  # fmt: skip
    assert published(first) == published(second)


def cases(table: dict[tuple[Any, ...], int]) -> dict[str, list[Any]]:
    rows = [key for key, n in table.items() for _ in range(n)]
    return {name: [row[i] for row in rows] for i, name in enumerate(("race", "y", "s", "age"))}


@pytest.mark.slow
@given(data=st.data(), rule=st.sampled_from(["cms", 4]), how=st.sampled_from(["thresholds", "strata", "selections"]))
@settings(max_examples=6, deadline=None)
def test_rows_of_the_same_blocks_are_published_as_the_same_bytes(data: Any, rule: Any, how: str) -> None:
    """Label (missing is a value) by score band, at two thresholds, within strata, and with selections."""
    scores = (0.1, 0.5, 0.9) if how == "thresholds" else (0.1, 0.9)
    ages = ("old", "young") if how == "strata" else ("old",)
    keys = list(itertools.product(("a", "b", None), (0, 1, None), scores, ages))
    table = {key: data.draw(blocks(rule)) for key in keys}
    for key in itertools.product("ab", (0, 1), (0.1, 0.9), ages):
        table[key] = 3 * rule_of(rule).least + len(str(key))  # type: ignore[union-attr]
    other = {key: elsewhere(data.draw, n, rule) for key, n in table.items()}
    more: Any = {
        "thresholds": {"threshold": [0.3, 0.7]},
        "strata": {"within": "age"},
        "selections": {"selection": "all"},
    }[how]
    first, second = (
        eh.audit(
            cases(counts), y_true="y", y_score="s", groups="race", protect=rule, metrics=["ppr", "tpr", "kappa"], **more
        )
        for counts in (table, other)
    )
    assert published(first) == published(second)


@given(data=st.data())
@settings(max_examples=3, deadline=None)
def test_classes_of_the_same_blocks_are_published_as_the_same_bytes(data: Any) -> None:
    keys = list(itertools.product("abc", "xyz", "xyz"))
    table = {key: data.draw(blocks("cms")) for key in keys} | {("a", c, c): 50 for c in "xyz"}
    table |= {("b", c, c): 90 for c in "xyz"}
    other = {key: elsewhere(data.draw, n, "cms") for key, n in table.items()}
    first, second = (
        eh.audit(
            {"g": [k[0] for k in rows], "y": [k[1] for k in rows], "p": [k[2] for k in rows]},
            y_true="y", y_pred="p", groups="g", classes="all", protect="cms", metrics=["tpr", "ppr"],
        )
        for rows in ([key for key, n in counts.items() for _ in range(n)] for counts in (table, other))
    )  # fmt: skip
    assert published(first) == published(second)


@pytest.mark.slow
def test_an_attacker_who_lists_all_tables_excludes_no_value_of_a_small_cell() -> None:
    """All tables of two groups, of which the exact total of one is known: each hidden cell takes every value."""
    rule = rule_of(3)
    assert rule is not None
    target = {"a": (1, 4, 2, 9), "b": (30, 10, 12, 40)}
    bytes_of = published(eh.audit_counts(target, metrics=["tpr", "ppr"], protect=3))
    seen: list[set[int]] = [set() for _ in range(4)]
    spans = [range(rule.rounded(n).low, rule.rounded(n).high + 1) for n in target["a"]]
    for cells in itertools.product(*spans):
        if published(eh.audit_counts({**target, "a": cells}, metrics=["tpr", "ppr"], protect=3)) == bytes_of:
            for values, n in zip(seen, cells, strict=True):
                values.add(n)
    assert [sorted(values) for values in seen] == [list(span) for span in spans]
    outside = published(eh.audit_counts({**target, "a": (1, 4, 3, 9)}, metrics=["tpr", "ppr"], protect=3))
    assert outside != bytes_of


def test_spellings_of_labels_and_what_they_lack_are_not_told() -> None:
    """The same cases, one label spelled otherwise, are published as the same but for no spelling."""
    y = ["yes"] * 60 + ["no"] * 60
    groups = ["a", "b"] * 60
    audits = [
        eh.audit(None, y_true=[first, *y[1:]], y_pred=y, groups=groups, protect="cms", positive=["yes", "Yes"])
        for first in ("yes", "Yes")
    ]  # fmt: skip
    assert audits[0].rows == audits[1].rows
    for audit in audits:
        assert audit.record["negative"] == {} and not any("absent" in finding.kind for finding in audit.findings)


def test_the_record_has_neither_hash_nor_size_nor_time(tmp_path: Any) -> None:
    path = tmp_path / "d.csv"
    path.write_text("g,y,p\n" + "a,1,1\na,0,0\nb,1,0\nb,0,0\n" * 30)
    audit = eh.audit(path, y_true="y", y_pred="p", groups="g", protect="cms", count=1)
    assert audit.record["made"] == "2023-11-14"
    assert set(audit.record["source"]) <= {"kind", "name", "format", "separator", "library", "paths"}
    exact = eh.audit(path, y_true="y", y_pred="p", groups="g", count=1)
    assert {"sha256", "size", "rows"} <= set(exact.record["source"])
    assert not any(exact.record["source"]["sha256"] in str(output) for output in published(audit).values())


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


def within(cells: Any, rule: Any) -> Iterator[tuple[int, ...]]:
    spans = [rule.rounded(n) for n in cells]
    return itertools.product(*(range(one.low, one.high + 1) for one in spans))


@pytest.mark.slow
@pytest.mark.parametrize("metric", RATES)
def test_the_p_value_is_the_largest_over_all_tables_behind_the_published_one(metric: str) -> None:
    rule = rule_of(3)
    for own, other in (((9, 1, 4, 4), (2, 7, 6, 1)), ((6, 3, 3, 3), (1, 9, 2, 6)), ((3, 3, 3, 3), (4, 4, 5, 3))):
        row = next(r for r in eh.audit_counts({"a": own, "b": other}, metrics=metric, protect=3).rows if r.group == "a")
        listed = [p_of(x, y, metric) for x in within(own, rule) for y in within(other, rule)]
        agree = len({higher for p, higher in listed if p < 1}) == 1
        largest = max(p for p, _ in listed)
        if row.score.value is not None:
            assert row.test.pvalue == pytest.approx(largest if agree else 1.0)


@given(data=st.data(), metric=st.sampled_from(list(RATES)))
@settings(max_examples=8, deadline=None)
def test_intervals_and_verdicts_hold_for_every_table_behind_the_published_one(data: Any, metric: str) -> None:
    """The interval contains that of each table, and a verdict is the one of each table."""
    groups = {name: tuple(data.draw(st.integers(0, 40)) for _ in range(4)) for name in "ab"}
    groups["b"] = tuple(10 * n + 12 for n in groups["b"])
    audit = eh.audit_counts(groups, metrics=metric, protect=4, adjust="none")
    shown = {row.group: row for row in audit.rows}
    for _ in range(4):
        other = {name: tuple(elsewhere(data.draw, n, 4) for n in cells) for name, cells in groups.items()}
        for row in eh.audit_counts(other, metrics=metric, adjust="none").rows:
            published_row = shown.get(row.group)
            if published_row is None or row.score.value is None or published_row.score.low is None:
                continue
            for part in ("score", "gap"):
                narrow, wide = getattr(row, part), getattr(published_row, part)
                if wide.low is not None and narrow.low is not None:
                    assert wide.low <= narrow.low + 1e-9 and narrow.high <= wide.high + 1e-9
            if published_row.differs:
                assert row.verdict == published_row.verdict
            if published_row.verdict == "alike":
                assert row.verdict in ("alike", "higher", "lower")


def test_corners_have_the_smallest_and_the_largest_share() -> None:
    part = RoundedMatrix(5, 16, 5, 27, low=(1, 11, 1, 22), high=(10, 21, 10, 32))
    for key, (good, bad) in RATES.items():
        shares = [
            sum(cells[i] for i in good) / sum(cells[i] for i in (*good, *bad))
            for cells in itertools.product(*zip(part.low, part.high, strict=True))
        ]
        found = [corners(part, eh.metric(key).base, high).cells for high in (False, True)]
        ends = [sum(cells[i] for i in good) / sum(cells[i] for i in (*good, *bad)) for cells in found]
        assert ends == pytest.approx([min(shares), max(shares)])


def test_parts_of_rounded_tables_are_added_and_subtracted_with_their_ends() -> None:
    one = RoundedMatrix(5, 16, 5, 27, low=(1, 11, 1, 22), high=(10, 21, 10, 32))
    assert ((one + one) - one).high == one.high and ((one + one) - one).cells == one.cells


@pytest.mark.slow
@pytest.mark.parametrize("rule", [*RULES, 11])
def test_every_output_says_that_counts_were_rounded(rule: Any) -> None:
    audit = eh.audit_counts(compas(), by="race", protect=rule)
    sentence = rule_of(rule).sentence  # type: ignore[union-attr]
    for name, text in published(audit).items():
        flat = " ".join(str(text).replace("\\", "").split())
        assert sentence.removesuffix(".") in flat or (name in ("csv", "wide", "frame", "table", "rows")), name
    assert set(audit.to_frame("polars")["protect"]) == {str(rule)} == set(audit.table("polars")["protect"])


def test_scores_have_no_more_digits_than_the_rounding_bears_and_some_are_ranges() -> None:
    audit = eh.audit_counts(compas(), by="race", protect="cms", metrics=["tpr", "ppr", "mcc"])
    rows = {(row.group, row.metric): row for row in audit.rows}
    assert rows["African-American", "ppr"].score.value == 0.588
    assert rows["Asian", "tpr"].score.value is None
    assert rows["Asian", "tpr"].score.low == pytest.approx(0, abs=0.01)
    assert rows["Asian", "tpr"].verdict == "too few to tell"
    text = audit.to_text()
    assert re.search(r"African-American ppr +3,705 +0\.588 ", text) and re.search(r"Asian +tpr +10 0\.00–1\.00 ", text)
    assert "Native American" not in text and not any(row.group == "Native American" for row in audit.rows)
    assert all(row.verdict == "too few to tell" and row.gap.low is None for row in audit.rows if row.metric == "mcc")
    again = eh.Audit.from_json(audit.to_json())
    assert again == audit and published(again) == published(audit)


def test_groups_of_which_rounding_leaves_nothing_are_in_the_rest_of_the_others() -> None:
    counts = {"a": (40, 30, 20, 60), "b": (14, 80, 33, 25), "c": (3, 2, 1, 5)}
    rows = {row.group: row for row in eh.audit_counts(counts, metrics="ppr", protect="cms").rows}
    assert set(rows) == {"a", "b"}
    assert rows["a"].reference.n == rows["b"].n + 4 * 5


NO_RULE = (
    "protect must be 'cms', 'opensafely', 'ons' or a whole number from 3 to 1,000,000, the smallest count that is not "
    "small"
)


@pytest.mark.parametrize(
    ("how", "says"),
    [
        ({"protect": 1}, f"{NO_RULE}; got 1"),
        ({"protect": "11"}, f"{NO_RULE}; got '11'"),
        (
            {"protect": "cms", "reference": "all"},
            "protect and reference='all' cannot be combined: gaps to all cases have no bound; compare with 'rest', "
            "which asks the same",
        ),
        (
            {"protect": "cms", "test": "unconditional"},
            "protect and test='unconditional' cannot be combined: its p-values have no bound",
        ),
    ],
)
def test_what_has_no_bound_is_refused(how: Any, says: str) -> None:
    with pytest.raises(InvalidInput, match=f"^{re.escape(says)}$"):
        eh.audit_counts(compas(), **how)


EVERY_CASE = "protect rounds counts; auc, brier, log_loss and functions need every case"


@pytest.mark.parametrize(
    ("how", "says"),
    [
        ({"unit": "u"}, "protect and unit cannot be combined: what units are worth is not a matter of cells"),
        ({"weights": "w"}, "protect and weights cannot be combined: sums of weights are not rounded"),
        ({"metrics": "auc", "y_score": "w", "y_pred": None}, EVERY_CASE),
        ({"metrics": [("cost", lambda y, p: 0.0)]}, EVERY_CASE),
    ],
)
def test_what_needs_more_than_cells_is_refused(how: Any, says: str) -> None:
    data = {"y": [0, 1] * 20, "p": [0, 1] * 20, "g": ["a", "b"] * 20, "u": list(range(40)), "w": [0.5] * 40}
    with pytest.raises(InvalidInput, match=f"^{re.escape(says)}$"):
        eh.audit(data, **{"y_true": "y", "y_pred": "p", "groups": "g", "protect": "cms", **how})


def test_models_watches_and_unknown_rules_are_refused() -> None:
    data = {"y": [0, 1] * 20, "p": [0, 1] * 20, "q": [1, 1] * 20, "g": ["a", "b"] * 20}
    with pytest.raises(
        InvalidInput, match=r"^protect is for audits of one model: changes between models have no bound"
    ):
        eh.compare_models(data, y_true="y", models={"old": "p", "new": "q"}, groups="g", protect="cms")
    with pytest.raises(InvalidInput, match=r"^protect cannot be watched: rounded batches are no fair bet"):
        eh.Watch(protect="cms")
    with pytest.raises(UnknownName, match="no rule of protection is called 'cns'"):
        eh.audit_counts(compas(), protect="cns")
    with pytest.raises(InvalidInput, match=r"^rounded by the rule ons, no count is left"):
        eh.audit_counts({"a": (1, 2, 3, 4), "b": (2, 2, 2, 2)}, protect="ons")
    with pytest.raises(InvalidInput, match=r"^the counts of this audit were rounded; intervals over all groups do not"):
        eh.audit_counts(compas(), protect="cms").between_groups("tpr")


def test_an_audit_with_small_counts_says_once_that_they_can_identify_people() -> None:
    said = "Counts below 11 can identify people; to publish this, round them: --protect cms, or protect= in Python."
    small = eh.audit_counts({"a": (1, 20, 30, 40), "b": (50, 60, 70, 80)})
    for text in (small.to_text(), small.to_html(), small.to_markdown()):
        assert " ".join(text.split()).count(said) == 1
    large = eh.audit_counts({"a": (0, 20, 30, 40), "b": (50, 60, 70, 80)})
    for audit in (large, eh.audit_counts(compas(), protect="cms")):
        assert "can identify people" not in " ".join((audit.to_text() + audit.to_html()).split())


def test_the_rounded_table_is_that_of_counts_rounded_by_hand() -> None:
    audit = eh.audit_counts({"a": (25, 7, 12, 40), "b": (0, 30, 11, 90)}, metrics="tpr", protect="cms")
    assert {row.group: row.cells for row in audit.rows} == {"a": (27, 5, 16, 38), "b": (0, 27, 16, 93)}
    assert audit.n == sum((27, 5, 16, 38, 0, 27, 16, 93))
    assert np.isfinite(audit.rows[0].score.low or 0)


@pytest.mark.slow
def test_the_command_tells_its_author_what_protection_costs_and_no_file(tmp_path: Any) -> None:
    written = tmp_path / "out.html"
    result = CliRunner().invoke(command, ["audit", "--example", "compas", "--protect", "cms", "--html", str(written)])
    assert result.exit_code == 0, result.output
    exact, rounded = (eh.audit_counts(compas(), by="race", protect=rule) for rule in (None, "cms"))
    before = {(row.group, row.metric): row.verdict for row in exact.rows}
    after = {(row.group, row.metric): row.verdict for row in rounded.rows}
    hidden = sum(key not in after for key in before)
    lost = sum(after.get(key, verdict) != verdict for key, verdict in before.items())
    found = [key for key, verdict in before.items() if verdict in ("higher", "lower")]
    left = sum(after.get(key) == before[key] for key in found)
    assert result.stderr == (
        f"For you, in no file: of 48 verdicts of the exact audit, {hidden} are not shown and {lost} differ; {left} of "
        f"{len(found)} differences found are left.\n"
    )
    assert "For you" not in result.stdout + written.read_text("utf-8")
    assert CliRunner().invoke(command, ["audit", "--example", "compas", "--protect", "2"]).exit_code == 2
    watched = CliRunner().invoke(command, ["watch", str(tmp_path / "s.json"), "--protect", "cms"])
    assert watched.exit_code == 2


def test_a_protected_audit_is_repeated_with_the_data_only(tmp_path: Any) -> None:
    data = {"g": ["a", "a", "b", "b"] * 40, "y": [1, 0, 1, 0] * 40, "p": [1, 0, 0, 0] * 40}
    how: Any = {"y_true": "y", "y_pred": "p", "groups": "g", "protect": "cms", "count": 1}
    audit = eh.Audit.from_json(eh.audit(data, **how).to_json())
    with pytest.raises(InvalidInput, match=r"^a protected audit does not say which data it is of; pass them$"):
        audit.repeat()
    assert audit.changes(audit.repeat(data)) == []
    other = eh.audit({**data, "p": [1, 0, 1, 0] * 40}, **how)
    assert not any("by more than chance" in said for said in audit.changes(other))


def test_groups_that_are_small_in_a_stratum_are_not_taken_for_empty_there() -> None:
    """What is hidden in a stratum could turn what is pooled over all of them."""
    table = {("a", "s0"): (0, 0, 160, 80), ("b", "s0"): (0, 0, 120, 120)}
    for i in range(1, 5):
        table |= {("a", f"s{i}"): (0, 0, 1, 10), ("b", f"s{i}"): (0, 0, 400, 1)}
    how: Any = {"by": ["g", "s"], "within": "s", "metrics": "ppr", "reference": "b"}
    pooled = [
        next(row for row in eh.audit_counts(table, protect=rule, **how).at(stratum="pooled").rows if row.group == "a")
        for rule in (None, "cms")
    ]
    assert pooled[0].verdict == "lower" and pooled[1].verdict in ("lower", "too few to tell")
    small = {("a", s): (0, 0, 160, 80) for s in "xy"} | {("b", "x"): (0, 0, 120, 120), ("b", "y"): (0, 0, 9, 9)}
    found = eh.audit_counts(small, protect="cms", **how).at(stratum="y").rows
    assert {row.group: row.verdict.value for row in found} == {"a": "too few to tell", "b": "reference"}


def test_two_groups_beside_a_hidden_one_are_two_comparisons() -> None:
    table = {"a": (0, 0, 484, 600), "b": (0, 0, 400, 600), "c": (0, 0, 2, 2)}
    rows = eh.audit_counts(table, metrics="ppr", protect=3).rows
    values = sorted(row.test.pvalue or 0.0 for row in rows)
    assert [row.test.p_adjusted for row in rows] == pytest.approx([max(2 * values[0], values[1])] * 2)


def test_a_file_of_counts_has_no_hash_either(tmp_path: Any) -> None:
    path = tmp_path / "c.csv"
    texts = []
    for line in ("c,12,2,3,5", "c,13,9,1,8"):
        path.write_text(f"g,tp,fn,fp,tn\na,40,30,20,60\nb,14,80,33,25\n{line}\n")
        texts.append(published(eh.audit_counts(path, protect="cms", metrics="ppr")))
    assert texts[0] == texts[1]


def test_spellings_that_are_joined_are_named_by_their_order() -> None:
    first, second = (9, 3, 40, 30), (2, 3, 10, 30)
    names = [
        eh.audit_counts({"Black": a, "black": b, "w": (40, 50, 60, 70)}, protect="cms", merge_variants=True).rows
        for a, b in ((first, second), (second, first))
    ]
    assert {row.group for row in names[0]} == {row.group for row in names[1]} == {"Black", "w"}


@pytest.mark.parametrize("missing", [1, 6])
def test_few_cases_without_a_label_are_selections_where_zero_is_hidden(missing: int) -> None:
    cells = {"a": (40, 30, 20, 60), "b": (14, 80, 33, 25)}
    answers = ((1, 1), (1, 0), (0, 1), (0, 0))
    rows: list[Any] = [
        (g, *one) for g, four in cells.items() for one, n in zip(answers, four, strict=True) for _ in range(n)
    ]
    rows += [("a", None, 1)] * missing
    data = {name: [row[i] for row in rows] for i, name in enumerate("gyp")}
    audit = eh.audit(data, y_true="y", y_pred="p", groups="g", selection="all", protect="opensafely", count=1)
    assert {row.group for row in audit.rows} == {"a", "b"} and not audit.left_out


def test_a_column_of_which_nothing_is_left_is_not_shown() -> None:
    table = {("a" if i % 2 else "b", f"h{i // 2}"): (3, 3, 3, 3) for i in range(40)}
    audit = eh.audit_counts(table, by=["g", "h"], metrics="ppr", protect="cms", crossings=1)
    assert {row.by for row in audit.rows} == {"g"}
    with pytest.raises(InvalidInput, match=r"^rounded by the rule cms, no group is left that could be shown$"):
        eh.audit_counts({"a": (3, 3, 3, 3), "b": (2, 2, 2, 2)}, metrics="ppr", protect="cms")


@pytest.mark.slow
@given(data=st.data(), rule=st.sampled_from(["cms", "opensafely", 5]))
@settings(max_examples=12, deadline=None)
def test_no_score_lies_outside_its_own_interval(data: Any, rule: Any) -> None:
    """Few digits are no reason to print 0.5 beside 0.41 to 0.49."""
    counts = {who: tuple(data.draw(st.integers(11, 700)) for _ in range(4)) for who in "AB"}
    a = eh.audit_counts(counts, protect=rule, metrics=["acc", "ppr", "tpr", "ppv"])
    for row in a.rows:
        for value, low, high in (
            (row.score.value, row.score.low, row.score.high),
            (row.gap.difference, row.gap.low, row.gap.high),
        ):
            if value is not None and low is not None and high is not None:
                assert low <= value <= high, (row.metric, value, low, high)


def test_what_cannot_be_planned_or_judged_from_rounded_counts_is_said() -> None:
    a = eh.audit_counts(compas(), by="race", protect="cms", metrics=["tpr", "mcc"], favourable="negative")
    assert all(row.needed is None for row in a.rows)
    (said,) = [f.sentence for f in a.findings if f.kind == "protected"]
    assert said.endswith("mcc: not judged, as no bound holds for all tables behind rounded ones")
    assert not [f for f in a.findings if f.kind == "too-few" and "mcc" in f.sentence]
    assert "Groups whose counts are all small are not shown." in " ".join(a.to_text().split())


def test_the_exit_code_of_a_gate_is_that_of_rounded_counts(tmp_path: Any) -> None:
    """Tables of the same blocks stop a pipeline or do not, together; exactly counted, only one of these would."""
    path, codes = tmp_path / "c.csv", {}
    for protect in ([], ["--protect", "cms"]):
        for found in (34, 43):
            path.write_text(f"group,tp,fn,fp,tn\nA,{found},38,40,90\nB,300,180,150,700\n", "utf-8")
            words = ["audit", "--counts", str(path), "--metric", "tpr", "--fail-on", "differs", *protect]
            codes[found, bool(protect)] = CliRunner().invoke(command, words).exit_code
    assert (codes[34, False], codes[43, False]) == (1, 0)
    assert codes[34, True] == codes[43, True]


def test_a_gap_to_a_reference_of_small_counts_has_no_sign() -> None:
    """By opensafely's rule small counts are 0, of which a rate of 1 and a gap of the other sign would follow."""
    counts = {"A": (40, 12, 20, 130), "B": (9, 6, 4, 30), "C": (3, 5, 2, 9)}
    a = eh.audit_counts(counts, protect="opensafely", metrics=["tpr", "acc"])
    (row,) = [row for row in a.rows if (row.group, row.metric) == ("A", "tpr")]
    assert row.score.value is not None and row.gap.value is None and row.reference.score is None
    assert row.gap.low is not None and row.gap.high is not None and row.gap.low < 0 < row.gap.high
    said = " ".join(a.to_text().split())
    assert "undefined" not in said.replace("0 undefined", "") and "Overall: tpr between 0." in said
