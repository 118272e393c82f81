"""Making an audit again, and saying what changed."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.stats import fisher_exact

import evenhand as eh
from evenhand.auditing import Audit
from evenhand.errors import InvalidInput
from evenhand.examples import compas

COUNTS = {"A": (0, 2, 8, 30), "B": (300, 100, 120, 480)}


def data(n: int = 120) -> dict[str, Any]:
    rng = np.random.default_rng(3)
    y = rng.integers(0, 2, n)
    return {
        "race": rng.choice(["A", "B", "C"], n).tolist(),
        "town": rng.choice(["e", "w"], n).tolist(),
        "y": y.tolist(),
        "s": np.round(np.clip(0.3 * y + 0.6 * rng.random(n), 0, 1), 2).tolist(),
        "p": rng.integers(0, 2, n).tolist(),
        "kind": rng.choice(["x", "y", "z"], n).tolist(),
        "guess": rng.choice(["x", "y", "z"], n).tolist(),
    }


KINDS: dict[str, Any] = {
    "two classes": {"y_true": "y", "y_pred": "p", "metrics": ["tpr", "mcc"]},
    "thresholds": {"y_true": "y", "y_score": "s", "threshold": [0.3, 0.5], "metrics": ["tpr", "auc"]},
    "strata": {"y_true": "y", "y_pred": "p", "strata": "town", "metrics": "tpr"},
    "classes": {"y_true": "kind", "y_pred": "guess", "classes": "all", "metrics": ["tpr", "macro f1"], "rng": 4},
    "scores": {"y_true": "y", "y_score": "s", "metrics": ["auc", "brier"], "rng": 9},
    "models": {"y_true": "y", "models": {"one": "p", "two": "y"}},
}


def made(kind: str, given: Any, **settings: Any) -> Audit:
    function: Any = eh.compare if kind == "models" else eh.audit
    found: Audit = function(given, groups="race", **KINDS[kind] | settings)
    return found


@pytest.mark.parametrize("kind", KINDS)
def test_a_repeated_audit_is_the_same(kind: str) -> None:
    """Drawn p-values too: the provenance has the source of randomness."""
    a = made(kind, data())
    again = a.repeat(data())
    assert again == a
    assert a.changes(again) == []
    assert Audit.from_json(a.to_json()).changes(again) == []


@pytest.mark.parametrize("kind", ["classes", "scores"])
def test_another_source_of_randomness_draws_other_p_values(kind: str) -> None:
    a, other = made(kind, data()), made(kind, data(), rng=77)
    drawn, others = ([r.pvalue for r in one.rows if r.p_error > 0] for one in (a, other))
    assert drawn and set(drawn) != set(others)
    assert any(change.startswith("the setting rng was ") for change in a.changes(other))


def test_what_the_provenance_lacks_cannot_be_repeated() -> None:
    """P-values of a part of an audit are adjusted over the whole."""
    given = data()
    columns: Any = {"y_true": "y", "y_pred": "p", "groups": "race"}
    values = {name: given[column] for name, column in columns.items()}
    lacks = "which the provenance does not contain; audit them again"
    whole = "the provenance must be that of a whole audit; a part of one cannot be repeated by itself"
    audits: list[tuple[Audit, str]] = [
        (eh.audit(**values, metrics="tpr"), f"the audit was made from values of y_true, y_pred, groups, {lacks}"),
        (eh.audit(given, metrics=["acc", ("cost", lambda y, p: 1.0)], **columns), "the audit was made with functions "
         "(cost), which the provenance does not contain; audit the data again"),
        (made("thresholds", given, metrics="tpr").at(threshold=0.3), whole),
        (made("strata", given).at(stratum="e"), whole),
        (made("classes", given, metrics="tpr").at(**{"class": "x"}), whole),
        (eh.audit_counts(COUNTS, metrics="tpr"), "the provenance does not contain the data; pass them"),
    ]  # fmt: skip
    for rng in (np.random.default_rng(0), None):
        a = made("scores", given, rng=rng)
        assert a.settings["rng"] is None
        audits += [
            (one, f"the audit was made from values of rng, {lacks}") for one in (a, Audit.from_json(a.to_json()))
        ]
    for a, sentence in audits:
        with pytest.raises(InvalidInput) as refused:
            a.repeat(None if "pass them" in sentence else given)
        assert str(refused.value) == sentence


def test_a_file_that_moved_is_repeated_from_another_place(tmp_path: Path) -> None:
    first, second = tmp_path / "one.csv", tmp_path / "two.csv"
    given = data()
    lines = [",".join(given), *(",".join(map(str, line)) for line in zip(*given.values(), strict=True))]
    first.write_text("\n".join(lines) + "\n", "utf-8")
    a = made("two classes", first)
    assert a.changes(a.repeat()) == []
    first.rename(second)
    with pytest.raises(InvalidInput, match="there is no file"):
        a.repeat()
    assert a.changes(a.repeat(second)) == []
    second.write_text("\n".join([lines[0], *lines[2:]]) + "\n", "utf-8")
    said = a.changes(a.repeat(second))
    assert said[-1].startswith("the SHA-256 of the data was ")
    assert "; the number of rows was 120 and is 119; other numbers of " in said[-1]


def test_a_record_that_cannot_be_repeated_is_refused() -> None:
    a = made("two classes", data())
    cases: list[tuple[dict[str, Any], str]] = [
        (
            {"function": "rm"},
            "the provenance must be that of a whole audit; a part of one cannot be repeated by itself",
        ),
        ({"call": None}, "call in the provenance must be a table; got None"),
        ({"call": {"colour": "red"}}, "the provenance has an argument that the audit does not take: 'colour'"),
        ({"call": {"data": "d.csv"}}, "the provenance has an argument that the audit does not take: 'data'"),
        ({"call": {"reference": ["A"]}}, "the reference in the provenance must be a name or four counts; got ['A']"),
        ({"source": {}, "call": {}}, "groups must be the name of a group column or its values; got None"),
    ]
    for change, sentence in cases:
        with pytest.raises(InvalidInput) as refused:
            replace(a, provenance=a.provenance | change).repeat(data())
        assert str(refused.value) == sentence
    for source in (None, {"paths": 5}, {"paths": [5]}):
        with pytest.raises(InvalidInput, match=r"^paths in the provenance must be a list of texts; got "):
            replace(a, provenance=a.provenance | {"source": source}).repeat()


# What changed


def test_of_other_data_numbers_are_one_sentence() -> None:
    a = eh.audit_counts(COUNTS, metrics="tpr")
    b = eh.audit_counts(COUNTS | {"A": (0, 2, 8, 31)}, metrics="tpr")
    chance, rest = a.changes(b)
    assert chance == (
        "no score changed by more than chance, each group's then against now (smallest adjusted p = 1.000, over 2 "
        "scores)"
    )
    assert rest.startswith("the SHA-256 of the data was ")
    assert rest.endswith("; the number of rows was 1040 and is 1041; other numbers of 2 rows changed")


def test_scores_that_changed_by_more_than_chance_are_said_after_verdicts() -> None:
    """Each group's score now is tested against the same group's then, with Fisher's test and Holm's method."""
    then = {"A": (40, 10, 10, 40), "B": (300, 100, 120, 480), "C": (30, 10, 20, 60)}
    now = {"A": (20, 30, 10, 40), "B": (302, 98, 118, 482), "C": (29, 11, 21, 59)}
    a, b = (eh.audit_counts(each, metrics="tpr") for each in (then, now))
    said = a.changes(b)
    verdicts = [change for change in said if " was " in change and " and is " in change][:-1]
    assert said[: len(verdicts)] == verdicts and verdicts
    tails = [fisher_exact(np.array([then[g][:2], now[g][:2]]), alternative=side).pvalue
             for g in "ABC" for side in ("less", "greater")]  # fmt: skip
    p = 3 * 2 * min(tails)
    assert p < 0.001
    assert (
        said[len(verdicts)] == "tpr of A (group) changed from 0.800 to 0.400, by more than chance (adjusted p < 0.001)"
    )
    assert len(said) == len(verdicts) + 2


def test_changes_of_verdicts_settings_and_groups_are_said() -> None:
    a = eh.audit_counts(COUNTS, metrics="tpr")
    stricter = eh.audit_counts(COUNTS, metrics="tpr", alpha=0.2)
    assert a.changes(stricter) == [
        "tpr of A (group) was inconclusive and is lower",
        "tpr of B (group) was inconclusive and is higher",
        "the setting alpha was 0.05 and is 0.2",
    ]
    more = a.changes(eh.audit_counts(COUNTS | {"C": (1, 1, 1, 1)}, metrics=["tpr", "fpr"]))
    assert "fpr of C (group) was not audited before" in more
    assert "tpr of C (group) was not audited before" in more
    fewer = eh.audit_counts(COUNTS | {"C": (1, 1, 1, 1)}, metrics="tpr").changes(a)
    assert "tpr of C (group) is no longer audited" in fewer


def test_changes_name_their_place_on_the_axes() -> None:
    one, other = (made("thresholds", data(), threshold=some, metrics="tpr") for some in ([0.3, 0.5], [0.5, 0.7]))
    said = one.changes(other)
    assert "axes in the provenance was {'threshold': [0.3, 0.5]} and is {'threshold': [0.5, 0.7]}" in said
    assert {s for s in said if "of A" in s} == {
        "threshold 0.3: tpr of A (race) is no longer audited",
        "threshold 0.7: tpr of A (race) was not audited before",
    }
    moved = data()
    moved["s"][0] = 0.45 if moved["s"][0] != 0.45 else 0.35
    before, after = made("thresholds", data(), metrics="ppr"), made("thresholds", moved, metrics="ppr")
    assert all(s.startswith(("threshold ", "no score", "the SHA", "the counts changed")) for s in before.changes(after))


def test_errors_that_only_trade_places_are_a_change_of_the_data() -> None:
    """Every class keeps its four counts, and every average its score; the digest of the data is another."""
    columns: Any = {"y_true": "y", "y_pred": "p", "groups": "race", "classes": "all", "metrics": ["tpr", "acc"]}
    first = {"race": list("AAABBB"), "y": list("xyzxyz"), "p": list("yzxyzx")}
    a, b = eh.audit(first, **columns), eh.audit(first | {"p": list("zxyyzx")}, **columns)
    assert a.changes(a.repeat(first)) == []
    assert a.rows == b.rows


def test_rounding_is_no_change() -> None:
    a = eh.audit_counts(compas(), metrics="tpr")
    content = json.loads(a.to_json())
    content["rows"]["gap_low"] = [low * (1 + 1e-12) for low in content["rows"]["gap_low"]]
    assert a.changes(Audit.from_json(json.dumps(content))) == []
    content["rows"]["gap_low"][0] *= 1 + 1e-6
    (said,) = a.changes(Audit.from_json(json.dumps(content)))
    assert " has another gap_low: it was " in said


def test_only_audits_are_compared_and_not_their_time() -> None:
    a = eh.audit_counts(COUNTS, metrics="tpr")
    assert a.changes(replace(a, provenance=a.provenance | {"made": "never"})) == []
    with pytest.raises(InvalidInput, match=r"^other must be an Audit; got 5$"):
        a.changes(5)  # type: ignore[arg-type]
