"""Names of groups that look alike are named, and joined if that is asked for."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from click.testing import CliRunner

import evenhand as eh
from evenhand.cli.main import evenhand
from evenhand.data.counted_rows import merge_variants, similar_names

WHITE = ["White", "White", "White ", "white", "White\u00a0", "Whit\u0435", "Ｗhite"]
CAFE = ["Caf\u00e9", "Cafe\u0301"]
SENTENCE = (
    "warning EH003: {} in 'race' look like one group, and are {}; correct the data, or pass merge_variants=True "
    "(--merge-variants), which joins those that differ in case, white space or encoding only"
)


def people() -> pd.DataFrame:
    names = [*WHITE, *CAFE, "Black"]
    cases = [(name, y, p) for name in names for y in (0, 1) for p in (0, 1)]
    return pd.DataFrame(cases, columns=["race", "y", "p"])


def similar(a: eh.Audit) -> list[str]:
    return [str(finding) for finding in a.findings if finding.kind == "similar-groups"]


def test_groups_that_look_alike_are_named() -> None:
    a = eh.audit(people(), y_true="y", y_pred="p", groups="race", metrics="acc")
    assert len({row.group for row in a.rows}) == 9
    assert similar(a) == [
        SENTENCE.format(r"'Cafe\u0301' and 'Caf\xe9'", 2),
        SENTENCE.format(r"'White', 'White ', 'White\xa0', 'Whit\u0435', 'white' and '\uff37hite'", 6),
    ]


def test_spellings_are_joined_and_letters_of_other_scripts_are_not() -> None:
    a = eh.audit(people(), y_true="y", y_pred="p", groups="race", metrics="acc", merge_variants=True)
    assert {row.group: row.n for row in a.rows} == {"White": 24, "Whit\u0435": 4, "Cafe\u0301": 8, "Black": 4}
    assert similar(a) == [SENTENCE.format(r"'White' and 'Whit\u0435'", 2)]
    assert a.provenance["call"]["merge_variants"] is True
    assert a.repeat(people()) == a


def test_the_most_frequent_spelling_is_kept() -> None:
    assert merge_variants({("a ", 1): 1, ("A", 1): 2, ("A", 0): 1, (None, 1): 1, (3, 1): 1}, 1) == {
        ("A", 1): 3, ("A", 0): 1, (None, 1): 1, (3, 1): 1,
    }  # fmt: skip


def test_names_that_differ_visibly_are_left_alone() -> None:
    assert similar_names(["A+", "A-", "18-24", "18–25", "B", "", 1, None, "1"]) == []
    assert similar_names(["zero\u200bwidth", "zerowidth"]) == [["zerowidth", "zero\u200bwidth"]]


@pytest.mark.parametrize("kind", ["counts", "models", "clusters", "command"])
def test_every_door_joins_spellings(kind: str, tmp_path: Path) -> None:
    data = people()
    given: Any = {"y_true": "y", "groups": "race", "metrics": "acc", "merge_variants": True}
    if kind == "counts":
        counts = dict.fromkeys(dict.fromkeys([*WHITE, "Black"]), (1, 1, 1, 1))
        a = eh.audit_counts(counts, merge_variants=True, metrics="acc", by="race")
        assert {row.group: row.n for row in a.rows} == {"White": 20, "Whit\u0435": 4, "Black": 4}
        return
    if kind == "models":
        a = eh.compare(data.assign(q=1), models={"old": "p", "new": "q"}, **given)
    elif kind == "clusters":
        a = eh.audit(data.assign(who=data["race"].str.strip().str.casefold()), y_pred="p", cluster="who", **given)
    else:
        path = tmp_path / "d.csv"
        data.to_csv(path, index=False)
        words = ["audit", str(path), "--label", "y", "--prediction", "p", "--group", "race", "--merge-variants"]
        a = eh.Audit.from_json(CliRunner().invoke(evenhand, [*words, "--metric", "acc", "--json", "-"]).stdout)
        assert a.provenance["call"]["merge_variants"] is True
    assert len({row.group for row in a.rows}) == 4
