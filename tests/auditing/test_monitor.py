"""Monitors: the same evidence as that of plain batches, states that cannot be changed, and few false alarms."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from pytest import approx

import evenhand as eh
from evenhand.auditing.monitor_batches import digest
from evenhand.cli.main import evenhand as command
from evenhand.errors import InvalidInput
from evenhand.inference.e_process import EProcess, log_likelihood_ratios

WEEK = {"A": (4, 8, 1, 9), "B": (80, 20, 10, 90)}


def _batch(seed: int, n: int = 120, gap: float = 0.0) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    group = rng.choice(["a", "b", "c"], n, p=[0.2, 0.4, 0.4])
    y = rng.integers(0, 2, n)
    right = rng.random(n) < np.where(group == "a", 0.8 - gap, 0.8)
    return pd.DataFrame({"region": group, "y": y, "p": np.where(right, y, 1 - y)})


def _monitor(weeks: int, gap: float = 0.0, **how: Any) -> eh.Monitor:
    monitor = eh.Monitor(**how)
    for week in range(weeks):
        monitor = monitor.add(_batch(week, gap=gap), at=week, y_true="y", y_pred="p", groups="region")
    return monitor


def test_evidence_is_that_of_the_counts_of_each_batch() -> None:
    monitor = _monitor(3, metrics=["tpr", "acc"])
    plain = EProcess.start()
    for week in range(3):
        batch = _batch(week)
        own, other = (batch[keep] for keep in (batch["region"] == "a", batch["region"] != "a"))
        counts = [float(value) for part in (own, other) for value in ((part["y"] == part["p"]).sum(), len(part))]
        plain.add(log_likelihood_ratios(*(np.array([value]) for value in counts))[0])
    row = next(row for row in monitor.rows if (row.group, row.metric) == ("a", "acc"))
    assert row.evidence == approx(float(plain.evalues))
    assert (row.batches, row.undefined, row.reference) == (3, 0, "rest")


def test_an_alarm_stays_with_the_batch_that_raised_it() -> None:
    monitor = eh.Monitor(metrics="tpr")
    for week in range(6):
        monitor = monitor.add_counts(WEEK, at=f"week {week}")
    first = {row.group: row.alarm for row in monitor.alarms}
    assert set(first) == {"A", "B"} and len(set(first.values())) == 1
    for week in range(6, 40):
        monitor = monitor.add_counts({"A": (10, 2, 1, 9), "B": (75, 25, 10, 90)}, at=f"week {week}")
    assert {row.group: row.alarm for row in monitor.alarms} == first


def test_no_difference_raises_no_alarm_for_long() -> None:
    assert not _monitor(40).alarms


def test_batches_are_added_once_and_never_changed() -> None:
    monitor = eh.Monitor(metrics="tpr")
    monitor = monitor.add_counts(WEEK, at=1)
    before = monitor.to_json()
    assert monitor.add_counts(WEEK, at=1) is monitor
    assert monitor.to_json() == before
    with pytest.raises(InvalidInput, match=r"was added with other counts; .* once its labels are complete"):
        monitor.add_counts({**WEEK, "A": (5, 8, 1, 9)}, at=1)
    with pytest.raises(InvalidInput, match="must have the group columns of the first"):
        monitor.add_counts(WEEK, at=2, by="race")
    for nothing in (" ", None):
        with pytest.raises(InvalidInput, match="at must say which batch it is, such as its week; got "):
            monitor.add_counts(WEEK, at=nothing)
    assert monitor.to_json() == before


def test_what_the_first_batch_fixed_stays() -> None:
    monitor = _monitor(1)
    monitor = monitor.add(_batch(1), at=1)
    assert monitor.batches == ("0", "1")
    for given, says in [
        ({"y_pred": "q"}, "y_pred was 'p' in the first batch and must stay; got 'q'"),
        ({"groups": ["region", "y"]}, "groups was 'region' in the first batch and must stay; got ['region', 'y']"),
        ({"positive": 0}, "positive was [1] in the first batch and must stay; got 0"),
        ({"positive": {"label": [0, 1]}}, "positive['label'] was [1] in the first batch and must stay; got [0, 1]"),
        ({"threshold": 0.7}, "threshold was not given with the first batch and cannot be; got 0.7"),
        ({"bins": {"region": [1]}}, "bins was not given with the first batch and cannot be; got {'region': [1]}"),
        ({"cluster": "region"}, "cluster was not given with the first batch and cannot be; got 'region'"),
    ]:
        with pytest.raises(InvalidInput, match=f"^{re.escape(says)}$"):
            monitor.add(_batch(2), at=2, **given)  # type: ignore[arg-type]
    monitor = monitor.add(_batch(2), at=2, y_pred="p", groups="region", positive=1, count=1)


def test_values_of_columns_are_passed_with_every_batch() -> None:
    monitor = eh.Monitor(metrics="acc")
    for week in range(2):
        y, p, region = (_batch(week)[name].to_numpy() for name in ("y", "p", "region"))
        monitor = monitor.add(at=week, y_true=y, y_pred=p, groups=region)
    assert [row.evidence for row in monitor.rows] == approx([row.evidence for row in _monitor(2, metrics="acc").rows])
    with pytest.raises(
        InvalidInput, match=r"^y_true was given as values with the first batch; pass those of this one, too$"
    ):
        monitor.add(at=2, y_pred=p, groups=region)


def test_what_cannot_be_monitored_is_refused_with_a_reason() -> None:
    cases: list[tuple[dict[str, Any], str]] = [
        ({"classes": "all"}, "classes cannot be monitored: evidence is gathered of two classes; say which are positive"
         ", and keep a monitor of each class"),
        ({"strata": "y"}, "strata cannot be monitored: evidence pooled over strata is not known; make the strata the "
         "groups, or keep a monitor of each stratum"),
        ({"sample_weight": "y"}, "sample_weight cannot be monitored: evidence is gathered of whole cases; rows that "
         "stand for several can have a count"),
        ({"intersections": 2}, "intersections cannot be monitored: each column of groups is monitored by itself; to "
         "monitor an intersection, pass it as a column"),
        ({"threshold": [0.3, 0.6]}, "threshold must be one number: decisions at several thresholds are those of "
         "several systems, each of which needs a monitor of its own; got [0.3, 0.6]"),
    ]  # fmt: skip
    for given, says in cases:
        with pytest.raises(InvalidInput, match=f"^{re.escape(says)}$"):
            eh.Monitor().add(_batch(0), at=0, y_true="y", y_pred="p", groups="region", **given)
    made: list[tuple[dict[str, Any], str]] = [
        ({"metrics": "mcc"}, "mcc cannot be monitored"),
        ({"metrics": "tpr_difference"}, "cannot be monitored"),
        ({"reference": "best"}, "which no outcome chooses"),
        ({"reference": "all"}, "which no outcome chooses"),
        ({"alpha": 2}, "alpha"),
    ]
    for how, says in made:
        with pytest.raises(InvalidInput, match=says):
            eh.Monitor(**how)
    with pytest.raises(TypeError, match="unexpected keyword argument 'colour'"):
        eh.Monitor(colour="blue")


def _visits(persons: Sequence[int], seed: int = 0) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    who = np.array(persons)
    return pd.DataFrame(
        {"person": who, "region": np.where(who % 3, "a", "b"), "y": np.ones(len(who), int),
         "p": rng.integers(0, 2, len(who))}
    )  # fmt: skip


COLUMNS: dict[str, Any] = {"y_true": "y", "y_pred": "p", "groups": "region", "positive": 1}


def test_a_cluster_counts_once_over_all_batches() -> None:
    monitor = eh.Monitor(metrics="tpr")
    monitor = monitor.add(_visits([1, 1, 1, 2, 3]), at=1, cluster="person", **COLUMNS)
    monitor = monitor.add(_visits([2, 3, 3, 4, 5, 5]), at=2)
    first, second = monitor.history.values()
    assert (first.cases, first.repeated, first.before, len(first.clusters)) == (3, 2, 0, 3)
    assert (second.cases, second.repeated, second.before, len(second.clusters)) == (2, 1, 3, 2)
    assert (
        "Each person counts once, with a case drawn at random: 3 cases of those seen in an earlier batch and 3 further "
        "cases of the same person in a batch were left out." in " ".join(str(monitor).split())
    )
    (every,) = eh.Monitor(metrics="tpr").add(_visits([1, 1, 1, 2, 3]), at=1, **COLUMNS).history.values()
    assert (every.cases, every.repeated, every.before, len(every.clusters)) == (5, 0, 0, 0)
    assert "Each case is taken as new and independent." in " ".join(str(_monitor(1)).split())


def test_the_case_of_a_cluster_is_drawn_with_equal_chances_whatever_its_outcomes() -> None:
    """A cluster with one success among four cases succeeds with a probability of 1/4, over clusters and over salts."""
    visits = pd.DataFrame({"person": np.repeat(np.arange(2_000), 4), "p": [0, 0, 1, 0] * 2_000})
    batch = visits.assign(region="a", y=1)
    drawn = []
    for _ in range(2):
        monitor = eh.Monitor(metrics="tpr")
        monitor = monitor.add(batch, at=1, cluster="person", **COLUMNS)
        drawn.append(monitor.history["1"].counts["region"]["a"][0])
    assert drawn[0] != drawn[1] and drawn == approx([500, 500], abs=80)


def test_a_batch_of_clusters_is_recognised_when_it_comes_again() -> None:
    monitor = eh.Monitor(metrics="tpr")
    for at, persons in ((1, [1, 1, 2, 3, 3, 3]), (2, [2, 4, 4]), (3, [5, 6])):
        monitor = monitor.add(_visits(persons, at), at=at, cluster="person", **COLUMNS)
    kept = monitor.to_json()
    again = eh.Monitor.from_json(kept)
    for at, persons in ((1, [1, 1, 2, 3, 3, 3]), (2, [2, 4, 4]), (3, [5, 6])):
        assert again.add(_visits(persons, at), at=at) is again
    assert again.to_json() == kept and again.rows == monitor.rows
    # The same counts of others are another batch.
    with pytest.raises(InvalidInput, match="the batch '3' was added with other counts"):
        again.add(_visits([5, 9], 3), at=3)
    again = again.add(_visits([1, 2, 3], 4), at=4)
    assert (again.history["4"].cases, again.history["4"].before) == (0, 3)


def test_the_state_keeps_salted_hashes_of_clusters_and_nothing_else() -> None:
    names = ["Ada Lovelace", "Alan Turing", "Grace Hopper"]
    batch = _visits([1, 2, 3]).assign(person=names)
    states = []
    for _ in range(2):
        monitor = eh.Monitor(metrics="tpr")
        monitor = monitor.add(batch, at=1, cluster="person", **COLUMNS)
        states.append(json.loads(monitor.to_json()))
    one, other = (set(state["batches"][0]["clusters"].split()) for state in states)
    assert not one & other and all(re.fullmatch("[0-9a-f]{16}", text) for text in one)
    assert not any(name.split()[0] in json.dumps(states) for name in names)
    assert "salt" not in json.loads(_monitor(1).to_json())


def test_clusters_as_numbers_and_as_texts_are_the_same() -> None:
    monitor = eh.Monitor(metrics="tpr")
    monitor = monitor.add(_visits([1, 2]), at=1, cluster="person", **COLUMNS)
    monitor = monitor.add(_visits([1, 3]).astype({"person": str}), at=2)
    assert monitor.history["2"].before == 1


def test_clusters_are_fixed_by_the_first_batch() -> None:
    monitor = eh.Monitor(metrics="tpr")
    monitor = monitor.add(_visits([1, 2]), at=1, cluster="person", **COLUMNS)
    with pytest.raises(
        InvalidInput,
        match=r"^counts do not name their clusters, and this monitor counts each person once; add the rows$",
    ):
        monitor.add_counts(WEEK, at=2, by="region")
    counted = eh.Monitor(metrics="tpr")
    counted = counted.add_counts(WEEK, at=1, by="region")
    with pytest.raises(
        InvalidInput,
        match=r"^cluster must be given with the first batch: nobody knows which clusters that one counted$",
    ):
        counted.add(_visits([1, 2]), at=2, cluster="person", **COLUMNS)
    values = eh.Monitor(metrics="tpr")
    batch = _visits([1, 2, 2])
    who, region, y, p = (batch[name].to_numpy() for name in ("person", "region", "y", "p"))
    values = values.add(at=1, y_true=y, y_pred=p, groups=region, cluster=who, positive=1)
    assert values.cluster == "cluster" and values.history["1"].repeated == 1


def test_late_labels_are_refused_and_cases_without_one_are_said() -> None:
    late = _batch(0).assign(y=lambda batch: batch["y"].where(batch.index < 100))
    monitor = eh.Monitor(metrics="tpr")
    monitor = monitor.add(late, at="W1", y_true="y", y_pred="p", groups="region")
    assert "Left out: 20 cases without a label, prediction or cluster." in str(monitor)
    with pytest.raises(
        InvalidInput,
        match=r"^the batch 'W1' was added with other counts; what was counted cannot be changed, since labels that "
        r"arrive late may depend on outcomes: add a batch once its labels are complete, or monitor selection rates "
        r"meanwhile$",
    ):
        monitor.add(_batch(0), at="W1")
    selected = eh.Monitor(metrics="ppr")
    selected = selected.add(_batch(0), at="W1", y_pred="p", groups="region")


def test_the_path_ends_with_the_joint_evidence_and_reaches_the_threshold_first_at_the_alarm() -> None:
    monitor = _monitor(6, gap=0.5, metrics=["acc", "tpr"])
    again = eh.Monitor.from_json(monitor.to_json())
    for row in monitor.rows:
        path = monitor.path(row)
        assert len(path) == 6 and path[-1] == row.joint and again.path(row) == path
        reached = [name for name, value in zip(monitor.batches, path, strict=True) if value is not None and value >= 20]
        assert row.alarm == (reached[0] if reached else None)
    assert monitor.alarms


def test_a_batch_of_one_class_is_read_as_the_first_was() -> None:
    spelled = {0: "no", 1: "yes"}
    first, second = (_batch(week).assign(**_batch(week)[["y", "p"]].replace(spelled)) for week in (0, 1))
    monitor = eh.Monitor(metrics="tpr")
    monitor = monitor.add(first, at=0, y_true="y", y_pred="p", groups="region")
    monitor = monitor.add(second.assign(y="yes"), at=1)
    assert sum(row.cases for row in monitor.rows) == 120 + _batch(0)["y"].sum()


def test_a_group_that_appears_later_begins_at_1_and_weeks_without_it_are_no_evidence() -> None:
    monitor = eh.Monitor(metrics="tpr")
    monitor = monitor.add_counts(WEEK, at=1)
    monitor = monitor.add_counts({**WEEK, "C": (0, 0, 4, 4)}, at=2)
    row = next(row for row in monitor.rows if row.group == "C")
    assert row.evidence == approx(1.0)
    assert (row.batches, row.undefined, row.cases, row.score) == (1, 1, 0, None)
    assert "Batches without a score: C tpr in 1 of 1." in str(monitor)


def test_a_named_reference() -> None:
    monitor = eh.Monitor(metrics="tpr", reference="B")
    monitor = monitor.add_counts({**WEEK, "C": (9, 3, 2, 2)}, at=1)
    assert {row.group for row in monitor.rows} == {"A", "C"}
    assert next(row for row in monitor.rows if row.group == "A").versus == 0.8


def test_a_state_is_read_as_it_was_written_and_refused_if_it_was_changed() -> None:
    monitor = _monitor(5, gap=0.4, metrics=["acc", "ppr"])
    again = eh.Monitor.from_json(monitor.to_json())
    assert (again.rows, again.batches) == (monitor.rows, monitor.batches)
    again = again.add(_batch(9), at=9)
    state = json.loads(monitor.to_json())
    assert set(state["batches"][0]["counts"]) == {"region"}
    state["batches"][0]["counts"]["region"]["a"][0] += 1
    for text in (json.dumps(state), "{}", "[]", "not json", monitor.to_json()[:-40]):
        with pytest.raises(InvalidInput, match=r"damaged or edited|no state of a monitor"):
            eh.Monitor.from_json(text)


def test_a_state_that_was_made_up_is_refused() -> None:
    """Also with the digest that belongs to it, which anybody can compute."""
    kept = {name: value for name, value in json.loads(_monitor(1).to_json()).items() if name != "digest"}
    changes: list[dict[str, Any]] = [{"metrics": None}, {"positive": None}, {"positive": {"label": [[1]]}}]
    changes += [{"read": read} for read in ({"groups": {"a": 1}}, {"nonsense": "x"}, {"threshold": float("inf")})]
    for first in (-1, 1.5, 10**400):
        changes.append({"batches": [{"at": "W1", "counts": {"region": {"a": [first, 2, 3, 4]}}}]})
    changes.append({"batches": [{"at": "W1", "counts": {"region": {"a": [1, 2, 3, 4]}}, "clusters": 5}]})
    states = [kept | change for change in changes]
    for text in (*(json.dumps(state | {"digest": digest(state)}) for state in states), "[" * 100_000):
        with pytest.raises(InvalidInput, match=r"^this is no state of a monitor; pass one that a monitor wrote$"):
            eh.Monitor.from_json(text)


def test_large_batches_are_monitored_and_larger_ones_refused() -> None:
    many = 10**11
    monitor = eh.Monitor(metrics="tpr").add_counts({"A": (many, many, 0, 0), "B": (many, many + 10**4, 0, 0)}, at=1)
    # Half of the weight is not begun; of the other half, all is lost but that of equal rates.
    assert monitor.rows[0].evidence == approx(0.5 + 0.5 * 0.0374, abs=1e-4)
    with pytest.raises(
        InvalidInput, match=r"^a batch must have at most 1,000,000,000,000 cases; got 4,000,000,000,000$"
    ):
        monitor.add_counts({"A": (10 * many, 10 * many, 0, 0), "B": (20 * many, 0, 0, 0)}, at=2)


def test_false_alarms_of_many_groups_and_metrics() -> None:
    """20 groups, the metrics of an audit, 30 weeks, no difference: at most one monitor in twenty."""
    rng = np.random.default_rng(3)
    alarms = 0
    for _ in range(12):
        monitor = eh.Monitor(metrics=["tpr", "fpr", "ppr"])
        for week in range(30):
            cells = rng.multinomial(rng.integers(2, 12, 20), [0.3, 0.1, 0.15, 0.45])
            monitor = monitor.add_counts({f"g{i}": tuple(map(int, row)) for i, row in enumerate(cells)}, at=week)
        alarms += bool(monitor.alarms)
    assert alarms <= 2


def _run(*words: str) -> Any:
    return CliRunner().invoke(command, ["monitor", *words])


def test_the_command_keeps_a_state(tmp_path: Path) -> None:
    state = tmp_path / "state.json"
    for week in range(4):
        _batch(week, gap=0.6).to_csv(tmp_path / f"{week}.csv", index=False)
    assert _run(str(state)).exit_code == 2
    columns = ["--label", "y", "--prediction", "p", "--group", "region", "--metric", "acc"]
    first = _run(str(state), str(tmp_path / "0.csv"), "--at", "W0", *columns)
    assert first.exit_code == 0 and first.output.startswith("Monitor of 1 batch: ")
    kept = state.read_text("utf-8")
    assert "0.csv" not in kept and "W0" in kept
    again = _run(str(state), str(tmp_path / "0.csv"), "--at", "W0")
    assert again.output.startswith("W0 was added before, with the same counts; nothing changed.\nMonitor of 1 batch: ")
    assert _run(str(state), str(tmp_path / "1.csv"), "--at", "W0").exit_code == 2
    assert _run(str(state), str(tmp_path / "1.csv")).exit_code == 2
    for option, says in (
        (["--alpha", "0.2"], "--alpha was 0.05 when the monitor began and must stay; got 0.2"),
        (["--metric", "tpr"], "--metric was ['acc'] when the monitor began and must stay; got ['tpr']"),
        (["--reference", "b"], "--reference was rest when the monitor began and must stay; got b"),
        (["--strata", "y"], "--strata cannot be monitored: evidence pooled over strata is not known"),
        (["--class", "all"], "--class cannot be monitored: evidence is gathered of two classes"),
        (["--intersections", "2"], "--intersections cannot be monitored: each column of groups is monitored by itself"),
    ):
        changed = _run(str(state), str(tmp_path / "1.csv"), "--at", "W1", *option)
        assert changed.exit_code == 2 and says in " ".join(changed.output.split())
    same = _run(str(state), str(tmp_path / "0.csv"), "--at", "W0", "--metric", "accuracy", "--alpha", "0.05")
    assert same.exit_code == 0
    assert state.read_text("utf-8") == kept
    for week in range(1, 4):
        last = _run(str(state), str(tmp_path / f"{week}.csv"), "--at", f"W{week}", "--fail-on", "alarm")
    assert last.exit_code == 1 and "alarm" in last.output
    shown = _run(str(state))
    assert shown.exit_code == 0 and shown.output == last.output


TABLE = "race,tp,fn,fp,tn\nA,4,8,1,9\nB,80,20,10,90\n"


def test_the_command_takes_counts_and_does_not_write_to_a_hard_link(tmp_path: Path) -> None:
    state, table = tmp_path / "state.json", tmp_path / "counts.csv"
    table.write_text(TABLE, "utf-8")
    found = _run(str(state), str(table), "--counts", "--at", "W1", "--metric", "tpr")
    assert found.exit_code == 0 and "A     tpr" in found.output
    (tmp_path / "link").hardlink_to(state)
    refused = _run(str(state), "--html", str(tmp_path / "link"))
    assert refused.stderr == f"Error: --html {tmp_path}/link would overwrite STATE; choose another file\n"


def test_a_batch_may_come_from_standard_input(tmp_path: Path) -> None:
    state = tmp_path / "state.json"
    words = ["monitor", str(state), "-", "--counts", "--at", "W1", "--metric", "tpr"]
    assert CliRunner().invoke(command, words, input=TABLE).exit_code == 0
    assert eh.Monitor.from_json(state.read_text("utf-8")).batches == ("W1",)
    words = ["monitor", str(tmp_path / "rows.json"), "-", "--at", "W1", "--metric", "acc"]
    words += ["--label", "y", "--prediction", "p", "--group", "g"]
    rows = "g,y,p\n" + "a,1,1\nb,0,1\nb,1,0\na,0,0\n" * 5
    assert CliRunner().invoke(command, words, input=rows).exit_code == 0
    assert CliRunner().invoke(command, words, input="g,y,p\na,1\n").stderr == (
        "Error: line 2 of standard input must have 3 values, as its header has; got 2 values\n"
    )


def test_the_command_writes_a_page_and_counts_clusters_once(tmp_path: Path) -> None:
    state, page = tmp_path / "state.json", tmp_path / "monitor.html"
    for week, persons in enumerate(([1, 2, 3, 3], [3, 4, 5])):
        file = tmp_path / f"{week}.csv"
        _visits(persons).to_csv(file, index=False)
        columns = ["--label", "y", "--prediction", "p", "--group", "region", "--metric", "tpr", "--cluster", "person"]
        columns += ["--positive", "1"]
        found = _run(str(state), str(file), "--at", f"W{week}", *(columns if not week else []), "--html", str(page))
        assert found.exit_code == 0, found.output
    assert "Each person counts once" in found.output
    assert page.read_text("utf-8") == eh.Monitor.from_json(state.read_text("utf-8")).to_html()
    assert _run(str(state), "--html", "-").output == page.read_text("utf-8")
    before = state.read_text("utf-8")
    for words, says in (
        ([str(state), "--html", str(state)], "would overwrite STATE"),
        ([str(state), str(file), "--at", "W2", "--html", str(file)], "would overwrite FILE"),
        ([str(state), str(state), "--at", "W2"], "STATE and FILE must be different files"),
    ):
        refused = _run(*words)
        assert refused.exit_code == 2 and says in " ".join(refused.output.split())
    assert state.read_text("utf-8") == before


def test_a_batch_that_another_process_would_lose_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two processes add batches to the same state; the one that comes last says so, and writes nothing."""
    module: Any = import_module("evenhand.cli.monitor")
    state, table = tmp_path / "state.json", tmp_path / "counts.csv"
    table.write_text(TABLE, "utf-8")
    words = [str(state), str(table), "--counts", "--metric", "tpr", "--at"]
    read: Any = module.read_counts

    def meanwhile(path: Any) -> Any:
        monkeypatch.setattr(module, "read_counts", read)
        assert _run(*words, "W1").exit_code == 0
        return read(path)

    monkeypatch.setattr(module, "read_counts", meanwhile)
    refused = _run(*words, "W2")
    assert (refused.exit_code, refused.stderr) == (
        2, f"Error: {state} changed in the meantime, so the batch was not added; add it again\n"
    )  # fmt: skip
    assert eh.Monitor.from_json(state.read_text("utf-8")).batches == ("W1",)
    assert _run(*words, "W2").exit_code == 0
    assert eh.Monitor.from_json(state.read_text("utf-8")).batches == ("W1", "W2")


def test_a_state_that_cannot_be_written_stays_as_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    state = tmp_path / "state.json"
    for week in range(2):
        _batch(week).to_csv(tmp_path / f"{week}.csv", index=False)
    columns = ["--label", "y", "--prediction", "p", "--group", "region"]
    assert _run(str(state), str(tmp_path / "0.csv"), "--at", "W0", *columns).exit_code == 0
    before = state.read_text("utf-8")

    def full(*_: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.replace", full)
    failed = _run(str(state), str(tmp_path / "1.csv"), "--at", "W1")
    assert failed.exit_code == 2 and "cannot be written: No space left on device" in " ".join(failed.output.split())
    assert state.read_text("utf-8") == before and not list(tmp_path.glob(".evenhand*"))


def test_cases_without_a_group_are_counted_and_said() -> None:
    rows = {"y": [1, 0] * 40, "p": [1, 1, 0, 0] * 20, "g": ["A", "B", None, "A"] * 20}
    w = eh.Monitor(metrics="tpr").add(rows, y_true="y", y_pred="p", groups="g", at="1")
    said = " ".join(str(w).split())
    assert "compared with all cases outside it whose group is known." in said
    assert "20 cases have no known group in some column; there they are in no group or reference." in said
    assert eh.Monitor.from_json(w.to_json()).history["1"].unknown == 20


def test_the_same_counts_under_two_names_are_said() -> None:
    counts, others = {"A": (9, 3, 4, 20), "B": (30, 10, 8, 60)}, {"A": (9, 3, 4, 21), "B": (30, 10, 8, 60)}
    w = eh.Monitor(metrics="tpr").add_counts(counts, at="1").add_counts(others, at="2").add_counts(counts, at="3")
    said = " ".join(str(w).split())
    assert "1 and 3 have the same counts; if they are the same cases, they should be added once." in said
