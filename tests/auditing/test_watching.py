"""Watches: the same evidence as that of plain batches, states that cannot be changed, and few false alarms."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from click.testing import CliRunner
from pytest import approx

import evenhand as eh
from evenhand.cli.main import evenhand as command
from evenhand.errors import InvalidInput
from evenhand.inference.evidence import Gathered, log_ratios

WEEK = {"A": (4, 8, 1, 9), "B": (80, 20, 10, 90)}


def _batch(seed: int, n: int = 120, gap: float = 0.0) -> pl.DataFrame:
    rng = np.random.default_rng(seed)
    group = rng.choice(["a", "b", "c"], n, p=[0.2, 0.4, 0.4])
    y = rng.integers(0, 2, n)
    right = rng.random(n) < np.where(group == "a", 0.8 - gap, 0.8)
    return pl.DataFrame({"region": group, "y": y, "p": np.where(right, y, 1 - y)})


def _watch(weeks: int, gap: float = 0.0, **how: Any) -> eh.Watch:
    watch = eh.Watch(**how)
    for week in range(weeks):
        watch.add(_batch(week, gap=gap), at=week, y_true="y", y_pred="p", groups="region")
    return watch


def test_evidence_is_that_of_the_counts_of_each_batch() -> None:
    watch = _watch(3, metrics=["tpr", "acc"])
    plain = Gathered()
    for week in range(3):
        batch = _batch(week)
        own, other = (batch.filter(keep) for keep in (pl.col("region") == "a", pl.col("region") != "a"))
        counts = [float(value) for part in (own, other) for value in ((part["y"] == part["p"]).sum(), len(part))]
        plain.add(log_ratios(*(np.array([value]) for value in counts))[0])
    row = next(row for row in watch.rows if (row.group, row.metric) == ("a", "acc"))
    assert row.evidence == approx(plain.value)
    assert (row.batches, row.undefined, row.reference) == (3, 0, "rest")


def test_an_alarm_stays_with_the_batch_that_raised_it() -> None:
    watch = eh.Watch(metrics="tpr")
    for week in range(6):
        watch.add_counts(WEEK, at=f"week {week}")
    first = {row.group: row.alarm for row in watch.alarms}
    assert set(first) == {"A", "B"} and len(set(first.values())) == 1
    for week in range(6, 40):
        watch.add_counts({"A": (10, 2, 1, 9), "B": (75, 25, 10, 90)}, at=f"week {week}")
    assert {row.group: row.alarm for row in watch.alarms} == first


def test_no_difference_raises_no_alarm_for_long() -> None:
    assert not _watch(40).alarms


def test_batches_are_added_once_and_never_changed() -> None:
    watch = eh.Watch(metrics="tpr")
    assert watch.add_counts(WEEK, at=1)
    before = watch.to_json()
    assert not watch.add_counts(WEEK, at=1)
    assert watch.to_json() == before
    with pytest.raises(InvalidInput, match=r"was added with other counts; .* once its labels are complete"):
        watch.add_counts({**WEEK, "A": (5, 8, 1, 9)}, at=1)
    with pytest.raises(InvalidInput, match="must have the group columns of the first"):
        watch.add_counts(WEEK, at=2, by="race")
    with pytest.raises(InvalidInput, match="at must say which batch it is"):
        watch.add_counts(WEEK, at=" ")
    assert watch.to_json() == before


def test_what_the_first_batch_fixed_stays() -> None:
    watch = _watch(1)
    assert watch.add(_batch(1), at=1)
    assert watch.batches == ("0", "1")
    with pytest.raises(InvalidInput, match="y_pred was 'p' in the first batch and must stay; got 'q'"):
        watch.add(_batch(2), at=2, y_pred="q")


def test_a_batch_of_one_class_is_read_as_the_first_was() -> None:
    words = {"y": pl.col("y").replace_strict({0: "no", 1: "yes"}), "p": pl.col("p").replace_strict({0: "no", 1: "yes"})}
    watch = eh.Watch(metrics="tpr")
    watch.add(_batch(0).with_columns(**words), at=0, y_true="y", y_pred="p", groups="region")
    later = _batch(1).with_columns(**words).with_columns(y=pl.lit("yes"))
    assert watch.add(later, at=1)
    assert sum(row.cases for row in watch.rows) == 120 + _batch(0)["y"].sum()


def test_a_group_that_appears_later_begins_at_1_and_weeks_without_it_are_no_evidence() -> None:
    watch = eh.Watch(metrics="tpr")
    watch.add_counts(WEEK, at=1)
    watch.add_counts({**WEEK, "C": (0, 0, 4, 4)}, at=2)
    row = next(row for row in watch.rows if row.group == "C")
    assert row.evidence == approx(1.0)
    assert (row.batches, row.undefined, row.cases, row.score) == (1, 1, 0, None)
    assert "Batches without a score: C tpr in 1 of 1." in str(watch)


@pytest.mark.parametrize(
    ("how", "says"),
    [({"metrics": "mcc"}, "mcc cannot be watched"), ({"metrics": "tpr_difference"}, "cannot be watched"),
     ({"reference": "best"}, "which no outcome chooses"), ({"reference": "all"}, "which no outcome chooses"),
     ({"alpha": 2}, "alpha")],
)  # fmt: skip
def test_what_cannot_be_watched_is_refused(how: Any, says: str) -> None:
    with pytest.raises(InvalidInput, match=says):
        eh.Watch(**how)


def test_a_named_reference() -> None:
    watch = eh.Watch(metrics="tpr", reference="B")
    watch.add_counts({**WEEK, "C": (9, 3, 2, 2)}, at=1)
    assert {row.group for row in watch.rows} == {"A", "C"}
    assert next(row for row in watch.rows if row.group == "A").versus == 0.8


def test_a_state_is_read_as_it_was_written_and_refused_if_it_was_changed() -> None:
    watch = _watch(5, gap=0.4, metrics=["acc", "ppr"])
    again = eh.Watch.from_json(watch.to_json())
    assert (again.rows, again.batches) == (watch.rows, watch.batches)
    assert again.add(_batch(9), at=9)
    state = json.loads(watch.to_json())
    assert set(state["batches"][0]["counts"]) == {"region"}
    state["batches"][0]["counts"]["region"]["a"][0] += 1
    for text in (json.dumps(state), "{}", "[]", "not json", watch.to_json()[:-40]):
        with pytest.raises(InvalidInput, match=r"damaged or edited|no state of a watch"):
            eh.Watch.from_json(text)


def test_false_alarms_of_many_groups_and_metrics() -> None:
    """20 groups, the metrics of an audit, 30 weeks, no difference: at most one watch in twenty."""
    rng = np.random.default_rng(3)
    alarms = 0
    for _ in range(12):
        watch = eh.Watch(metrics=["tpr", "fpr", "ppr"])
        for week in range(30):
            cells = rng.multinomial(rng.integers(2, 12, 20), [0.3, 0.1, 0.15, 0.45])
            watch.add_counts({f"g{i}": tuple(map(int, row)) for i, row in enumerate(cells)}, at=week)
        alarms += bool(watch.alarms)
    assert alarms <= 2


def _run(*words: str) -> Any:
    return CliRunner().invoke(command, ["watch", *words])


def test_the_command_keeps_a_state(tmp_path: Path) -> None:
    state = tmp_path / "state.json"
    for week in range(4):
        _batch(week, gap=0.6).write_csv(tmp_path / f"{week}.csv")
    assert _run(str(state)).exit_code == 2
    columns = ["--label", "y", "--prediction", "p", "--group", "region", "--metric", "acc"]
    first = _run(str(state), str(tmp_path / "0.csv"), "--at", "W0", *columns)
    assert first.exit_code == 0 and first.output.startswith("1 batch, ")
    kept = state.read_text("utf-8")
    assert "0.csv" not in kept and "W0" in kept
    again = _run(str(state), str(tmp_path / "0.csv"), "--at", "W0")
    assert again.output.startswith("W0 was added before, with the same counts; nothing changed.\n1 batch, ")
    assert _run(str(state), str(tmp_path / "1.csv"), "--at", "W0").exit_code == 2
    assert _run(str(state), str(tmp_path / "1.csv")).exit_code == 2
    changed = _run(str(state), str(tmp_path / "1.csv"), "--at", "W1", "--alpha", "0.2")
    assert changed.exit_code == 2 and "must stay" in changed.output
    assert state.read_text("utf-8") == kept
    for week in range(1, 4):
        last = _run(str(state), str(tmp_path / f"{week}.csv"), "--at", f"W{week}", "--fail-on", "alarm")
    assert last.exit_code == 1 and "alarm" in last.output
    shown = _run(str(state))
    assert shown.exit_code == 0 and shown.output == last.output


def test_the_command_takes_counts(tmp_path: Path) -> None:
    table = tmp_path / "counts.csv"
    table.write_text("race,tp,fn,fp,tn\nA,4,8,1,9\nB,80,20,10,90\n", "utf-8")
    found = _run(str(tmp_path / "state.json"), str(table), "--counts", "--at", "W1", "--metric", "tpr")
    assert found.exit_code == 0 and "A      tpr" in found.output
