"""Monitors: the same evidence as that of plain batches, states that cannot be changed, and few false alarms."""

from __future__ import annotations

import json
import re
from typing import Any

import numpy as np
import pandas as pd
import pytest
from monitored import make_batch, make_visits
from pytest import approx

import evenhand as eh
from evenhand.auditing.monitor import digest
from evenhand.errors import InvalidInput
from evenhand.inference.e_process import EProcess, log_likelihood_ratios
from evenhand.metrics import metric

WEEK = {"A": (4, 8, 1, 9), "B": (80, 20, 10, 90)}
CALL: dict[str, Any] = {"y_true": "y", "y_pred": "p", "groups": "region"}
COLUMNS = CALL | {"positive": 1}


def _monitor(weeks: int, gap: float = 0.0, **how: Any) -> eh.Monitor:
    monitor = eh.Monitor(**how)
    for week in range(weeks):
        monitor = monitor.add(make_batch(week, gap=gap), at=week, **CALL)
    return monitor


def test_evidence_is_that_of_the_counts_of_each_batch() -> None:
    monitor = _monitor(3, metrics=["tpr", "acc"])
    plain = EProcess.start()
    for week in range(3):
        batch = make_batch(week)
        own, other = (batch[keep] for keep in (batch["region"] == "a", batch["region"] != "a"))
        counts = [float(value) for part in (own, other) for value in ((part["y"] == part["p"]).sum(), len(part))]
        plain.add(log_likelihood_ratios(*(np.array([value]) for value in counts))[0])
    row = next(row for row in monitor.rows if (row.group, row.metric) == ("a", "acc"))
    assert row.evidence == approx(float(plain.evalues))
    assert (row.batches, row.undefined, row.reference) == (3, 0, "rest")
    many = 10**11
    large = eh.Monitor(metrics="tpr").add_counts({"A": (many, many, 0, 0), "B": (many, many + 10**4, 0, 0)}, at=1)
    # Half of the weight is not begun; of the other half, all is lost but that of equal rates.
    assert large.rows[0].evidence == approx(0.5 + 0.5 * 0.0374, abs=1e-4)


def test_an_alarm_stays_with_the_batch_at_which_the_path_first_reached_the_threshold() -> None:
    monitor = eh.Monitor(metrics="tpr")
    for week in range(40):
        later = {"A": (10, 2, 1, 9), "B": (75, 25, 10, 90)}
        monitor = monitor.add_counts(WEEK if week < 6 else later, at=f"week {week}")
    again = eh.Monitor.from_json(monitor.to_json())
    assert [row.group for row in monitor.alarms] == ["A", "B"] and monitor.rows == again.rows
    for row in monitor.rows:
        path = np.array(monitor.path(row), dtype=float)
        assert row.alarm == f"week {np.argmax(path >= 20)}" and path[-1] == row.joint < 20
        assert len(path) == 40 and again.path(row) == monitor.path(row)


def test_evidence_began_after_its_last_minimum_before_the_alarm() -> None:
    """Also with dips, for groups that come late, and for alarms whose evidence falls again."""
    rng, lags = np.random.default_rng(1), list[int]()
    for _ in range(20):
        monitor, start = eh.Monitor(metrics=["tpr", "ppr"]), int(rng.integers(0, 12))
        for week in range(25):
            shares = {"A": 0.3 if start <= week < 18 else 0.8, "B": 0.8} | ({"C": 0.8} if week > 5 else {})
            cells = {group: (k := int(rng.binomial(12, share)), 12 - k, 0, 0) for group, share in shares.items()}
            monitor = monitor.add_counts(cells, at=week)
        for row in monitor.rows:
            path = [1.0 if joint is None else joint for joint in monitor.path(row)]
            alarm = next((week for week, joint in enumerate(path) if joint >= 20), None)
            assert row.alarm == (None if alarm is None else str(alarm)) and (row.since is None) == (alarm is None)
            if alarm is not None:
                first = int(str(row.since))
                floor, rise = [1.0, *path][first], path[first : alarm + 1]
                assert all(joint > floor for joint in rise) and floor == min([1.0, *path][: alarm + 1])
                lags += [first - start] if row.group == "A" else []
    assert len(lags) == 40 and abs(np.median(lags)) <= 1


def test_an_acknowledged_alarm_is_known_and_changes_neither_evidence_nor_other_alarms() -> None:
    """So the probability of a false alarm is the same. Later, stronger evidence of it raises no second alarm."""
    plain = known = eh.Monitor(metrics=["tpr", "ppr"])
    for week in range(12):
        counts = {"A": (1, 9, 3, 7), "B": (8, 2, 3, 7), "C": (8 - week // 2, 2 + week // 2, 3, 7)}
        plain, known = plain.add_counts(counts, at=week), known.add_counts(counts, at=week)
        for row in known.alarms:
            known = eh.Monitor.from_json(known.acknowledge(row.group, row.metric).to_json())
        assert not known.unacknowledged and plain.unacknowledged == plain.alarms
        for one, other in zip(plain.rows, known.rows, strict=True):
            assert one.to_dict() | {"acknowledged": one.alarm is not None} == other.to_dict()
            assert plain.path(one) == known.path(other)
    assert len({row.alarm for row in known.alarms}) > 1
    assert known.acknowledge("A", "recall").to_json() == known.to_json()
    with pytest.raises(InvalidInput, match=r"^'A' has no alarm of 'fpr' to acknowledge$"):
        known.acknowledge("A", "fpr")


def test_groups_of_several_columns_are_acknowledged_by_column_also_with_colons_in_names() -> None:
    columns = {"y": (1, 1), "p": (1, 0), "x": ("a:b", "c"), "x:a": ("b", "c")}
    table = {name: [first] * 100 + [second] * 100 for name, (first, second) in columns.items()}
    begun = eh.Monitor(metrics="tpr").add(table, at=1, y_true="y", y_pred="p", groups=["x", "x:a"], positive=1)
    assert len(begun.alarms) == 4
    for name, key in {"x:c": ("x", "c"), "x:a:c": ("x:a", "c"), "a:b": ("x", "a:b"), "b": ("x:a", "b")}.items():
        monitor = begun.acknowledge(name, "tpr")
        assert [(row.by, row.group) for row in monitor.alarms if row.acknowledged] == [key]
    for name in ("c", "x:a:b"):
        says = f"group must be COLUMN:GROUP, since groups of several columns have this name; got {name!r}"
        with pytest.raises(InvalidInput, match=f"^{says}$"):
            begun.acknowledge(name, "tpr")


def test_scores_over_batches_are_those_of_the_counts() -> None:
    a, b = ((1, 3, 2, 2), None, (0, 0, 1, 1)), ((4, 1, 0, 9), (2, 2, 1, 0), (9, 1, 3, 3))
    monitor = eh.Monitor(metrics=["tpr", "f1"])
    for at, (first, second) in enumerate(zip(a, b, strict=True)):
        monitor = monitor.add_counts({"B": second} | ({"A": first} if first else {}), at=at)
    scores = {(row.group, row.metric): monitor.scores(row) for row in monitor.rows}
    assert scores["A", "tpr"] == ((0.25, 0.8), (None, None), (None, 0.9))
    assert [pair[0] for pair in scores["B", "f1"]] == approx([8 / 9, 4 / 7, 18 / 22])


def test_prevalence_raises_no_alarm_unless_it_is_requested() -> None:
    """Nor does it take a share of alpha: the default metrics are those of an audit, without base rates."""
    counts = {"A": (80, 20, 10, 10), "B": (16, 4, 50, 50)}
    default = eh.Monitor().add_counts(counts, at=1)
    assert default.settings["metrics"] == ["ppr", "tpr", "fpr", "ppv", "acc"]
    assert all(not metric(key).is_base_rate for key in default.settings["metrics"])
    assert {row.metric for row in eh.Monitor(metrics=["prev", "tpr"]).add_counts(counts, at=1).alarms} == {"prev"}


def test_no_difference_raises_no_alarm_for_long_and_few_monitors_raise_one() -> None:
    """20 groups, three metrics, 30 weeks, no difference: at most one monitor in twenty."""
    assert not _monitor(40).alarms
    rng, alarms = np.random.default_rng(3), 0
    for _ in range(12):
        monitor = eh.Monitor(metrics=["tpr", "fpr", "ppr"])
        for week in range(30):
            cells = rng.multinomial(rng.integers(2, 12, 20), [0.3, 0.1, 0.15, 0.45])
            monitor = monitor.add_counts({f"g{i}": tuple(map(int, row)) for i, row in enumerate(cells)}, at=week)
        alarms += bool(monitor.alarms)
    assert alarms <= 2


def test_batches_are_added_once_and_never_changed() -> None:
    monitor = eh.Monitor(metrics="tpr").add_counts(WEEK, at=1)
    before = monitor.to_json()
    assert monitor.add_counts(WEEK, at=1) is monitor
    large = {"A": (10**12, 0, 0, 0), "B": (3 * 10**12, 0, 0, 0)}
    for counts, at, by, says in [
        (WEEK | {"A": (5, 8, 1, 9)}, 1, "group", "the batch '1' was added with other counts, which cannot be changed"),
        (WEEK, 2, "race", "a batch must have the group columns of the first (group)"),
        (WEEK, " ", "group", "at must say which batch it is, such as its week; got ' '"),
        (WEEK, None, "group", "at must say which batch it is, such as its week; got None"),
        (large, 2, "group", "a batch must have at most 1,000,000,000,000 cases; got 4,000,000,000,000"),
    ]:
        with pytest.raises(InvalidInput, match=f"^{re.escape(says)}"):
            monitor.add_counts(counts, at=at, by=by)
    assert monitor.to_json() == before


def test_what_the_first_batch_fixed_stays() -> None:
    monitor = _monitor(1).add(make_batch(1), at=1)
    assert monitor.batches == ("0", "1")
    for name, was, column in [
        ("y_pred", "'p'", "q"), ("groups", "'region'", ["region", "y"]), ("threshold", None, 0.7), ("count", 1, "n"),
        ("bins", None, {"region": [1]}), ("cluster", None, "region"),
    ]:  # fmt: skip
        says = f"{name} must stay {was}, as in the first batch; got {column!r}"
        with pytest.raises(InvalidInput, match=f"^{re.escape(says)}$"):
            monitor.add(make_batch(2), at=2, **{name: column})
    again = eh.Monitor.from_json(_monitor(1).to_json())
    for other in (monitor, again):
        other.add(make_batch(2), at=2, y_pred="p", groups="region", positive=1, count=1)
    binned = eh.Monitor(metrics="acc").add(make_batch(0), at=0, y_true="y", y_pred="p", groups="y", bins={"y": (0.5,)})
    again = eh.Monitor.from_json(binned.to_json()).add(make_batch(1), at=1, groups="y", bins={"y": (0.5,)})
    assert {row.group for row in again.rows} == {row.group for row in binned.rows}


def _labelled(*labels: Any) -> dict[str, list[Any]]:
    return {"y": list(labels), "p": list(labels), "g": list("ab" * len(labels))[: len(labels)]}


def test_a_batch_of_another_coding_is_refused_and_a_new_label_is_added_with_positive() -> None:
    """Labels 1 and 2 after 0 and 1 would turn what is positive, without a trace."""
    begun = eh.Monitor(metrics="acc").add(_labelled(1, 0, 1, 0), at=1, y_true="y", y_pred="p", groups="g")
    hint = "so far; if labels are coded as before, pass positive= with all positive ones"
    for monitor in (begun, eh.Monitor.from_json(begun.to_json())):
        for labels, positive, says in [
            ((1, 2, 1, 2), None, f"the label '2' was unknown {hint}"),
            ((1, 0, 1, 0), 0, f"the label '1' was positive {hint}"),
            ((1, 0, 2, 2), [1, 0], f"the label '0' was negative {hint}"),
            ((1, 0, 2, 2), 2, f"the label '1' was positive {hint}"),
        ]:
            with pytest.raises(InvalidInput, match=f"^{says}$"):
                monitor.add(_labelled(*labels), at=2, positive=positive)
        for positive, number in ((1, 1), ([1, 2], 3)):
            later = monitor.add(_labelled(1, 0, 2, 2), at=2, positive=positive).add(_labelled(2, 2, 0, 1), at=3)
            assert sum(cells[0] for cells in later.history["2"].counts["g"].values()) == number
            assert later.add(_labelled(1, 0, 2, 2), at=2) is later
            assert later.columns["positive"]["label"] == ["1", "2"][: len(np.atleast_1d(positive))]
    for same in (("1", "0"), (1.0, 0.0), (1, 1)):
        assert begun.add(_labelled(*same), at=2).batches == ("1", "2")
    first = {"y": [1, 1], "p": [1, 0], "g": ["a", "b"]}
    begun = eh.Monitor(metrics="acc").add(first, at=1, y_true="y", y_pred="p", groups="g", positive=1)
    assert begun.add(first | {"y": [0, 1]}, at=2).batches == ("1", "2")


def test_what_cannot_be_monitored_is_refused_with_a_reason() -> None:
    a_name = "must be a name of the columns of all batches, or one number; got"
    unmonitored: list[tuple[dict[str, Any], str]] = [
        ({"classes": "all"}, "classes cannot be monitored; say which are positive, and keep a monitor of each class"),
        ({"strata": "y"}, "strata cannot be monitored; make the strata the groups"),
        ({"sample_weight": "y"}, "sample_weight cannot be monitored; rows may have a count"),
        ({"protect": "cms"}, "protect cannot be monitored; protect what you publish"),
        ({"intersections": 2}, "intersections cannot be monitored; pass an intersection as a column"),
        ({"threshold": [0.3, 0.6]}, f"threshold {a_name} [0.3, 0.6]"),
        ({"y_true": [1, 0]}, f"y_true {a_name} [1, 0]"),
    ]
    for given, says in unmonitored:
        with pytest.raises(InvalidInput, match=f"^{re.escape(says)}$"):
            eh.Monitor().add(make_batch(0), at=0, **CALL | given)
    invalid: list[tuple[str, Any, str]] = [
        ("metrics", "mcc", "mcc cannot be monitored"),
        ("metrics", "tpr_difference", "cannot be monitored"),
        ("reference", "best", "which no outcome chooses"),
        ("reference", {"g": "all"}, "which no outcome chooses"),
        ("alpha", 2, "alpha"),
    ]
    for name, value, says in invalid:
        with pytest.raises(InvalidInput, match=says):
            eh.Monitor(**{name: value})
    with pytest.raises(InvalidInput, match=r"^fpr needs labels"):
        eh.Monitor(metrics="fpr").add(make_batch(0), at=0, y_pred="p", groups="region")
    with pytest.raises(TypeError, match="unexpected keyword argument 'colour'"):
        eh.Monitor(colour="blue")


def test_a_cluster_counts_once_over_all_batches() -> None:
    monitor = eh.Monitor(metrics="tpr").add(make_visits([1, 1, 1, 2, 3]), at=1, cluster="person", **COLUMNS)
    monitor = monitor.add(make_visits([2, 3, 3, 4, 5, 5]), at=2)
    first, second = monitor.history.values()
    assert (first.cases, first.repeated, first.before, len(first.clusters.split())) == (3, 2, 0, 3)
    assert (second.cases, second.repeated, second.before, len(second.clusters.split())) == (2, 1, 3, 2)
    said = " ".join(str(monitor).split())
    assert "Each person counts once, with a case drawn at random." in said
    assert "3 cases beside another of the same person in a batch. Left out: 3 cases of a person in an earlier" in said
    with pytest.raises(InvalidInput, match=r"^this monitor counts each person once, and counts do not name them; add"):
        monitor.add_counts(WEEK, at=3, by="region")
    counted = eh.Monitor(metrics="tpr").add_counts(WEEK, at=1, by="region")
    with pytest.raises(InvalidInput, match=r"^cluster must be given with the first batch$"):
        counted.add(make_visits([1, 2]), at=2, cluster="person", **COLUMNS)
    (every,) = eh.Monitor(metrics="tpr").add(make_visits([1, 1, 1, 2, 3]), at=1, **COLUMNS).history.values()
    assert (every.cases, every.repeated, every.before, len(every.clusters.split())) == (5, 0, 0, 0)
    assert "assumes that each case is new and independent of others." in " ".join(str(_monitor(1)).split())


def test_the_case_of_a_cluster_is_drawn_with_equal_chances_whatever_its_outcomes() -> None:
    """A cluster with one success among four cases succeeds with a probability of 1/4, over clusters and over salts."""
    visits = {"person": np.repeat(np.arange(2_000), 4), "p": [0, 0, 1, 0] * 2_000}
    batch, drawn = pd.DataFrame(visits).assign(region="a", y=1), []
    for _ in range(2):
        monitor = eh.Monitor(metrics="tpr").add(batch, at=1, cluster="person", **COLUMNS)
        drawn.append(monitor.history["1"].counts["region"]["a"][0])
    assert drawn[0] != drawn[1] and drawn == approx([500, 500], abs=80)


def test_a_batch_of_clusters_is_recognised_when_it_comes_again() -> None:
    """Also if its clusters are texts; the same counts of others are another batch."""
    batches = ((1, [1, 1, 2, 3, 3, 3]), (2, [2, 4, 4]), (3, [5, 6]))
    monitor = eh.Monitor(metrics="tpr")
    for at, persons in batches:
        monitor = monitor.add(make_visits(persons, at), at=at, cluster="person", **COLUMNS)
    again = eh.Monitor.from_json(monitor.to_json())
    for at, persons in batches:
        assert again.add(make_visits(persons, at).astype({"person": str}), at=at) is again
    assert again.to_json() == monitor.to_json() and again.rows == monitor.rows
    with pytest.raises(InvalidInput, match="the batch '3' was added with other counts"):
        again.add(make_visits([5, 9], 3), at=3)
    again = again.add(make_visits([1, 2, 3], 4), at=4)
    assert (again.history["4"].cases, again.history["4"].before) == (0, 3)


def test_the_state_keeps_salted_hashes_of_clusters_and_nothing_else() -> None:
    names = ["Ada Lovelace", "Alan Turing", "Grace Hopper"]
    batch = make_visits([1, 2, 3]).assign(person=names)
    monitors = [eh.Monitor(metrics="tpr").add(batch, at=1, cluster="person", **COLUMNS) for _ in range(2)]
    one, other = (set(monitor.history["1"].clusters.split()) for monitor in monitors)
    assert not one & other and all(re.fullmatch("[0-9a-f]{16}", text) for text in one)
    assert not any(name.split()[0] in monitor.to_json() for name in names for monitor in monitors)
    assert json.loads(_monitor(1).to_json())["salt"] is None


def test_late_labels_are_refused_and_cases_without_one_are_said() -> None:
    late = make_batch(0).assign(y=lambda batch: batch["y"].where(batch.index < 100))
    monitor = eh.Monitor(metrics="tpr").add(late, at="W1", **CALL)
    assert "Left out: 20 cases without a label, prediction or cluster." in str(monitor)
    with pytest.raises(InvalidInput, match=r"since late labels .*: add a batch once its labels are complete, or .*$"):
        monitor.add(make_batch(0), at="W1")
    assert eh.Monitor().add(make_batch(0), at="W1", y_pred="p", groups="region").settings["metrics"] == ["ppr"]


def test_a_group_that_appears_later_begins_at_1_and_weeks_without_it_are_no_evidence() -> None:
    monitor = eh.Monitor(metrics="tpr").add_counts(WEEK, at=1)
    monitor = monitor.add_counts({**WEEK, "C": (0, 0, 4, 4)}, at=2)
    row = next(row for row in monitor.rows if row.group == "C")
    assert row.evidence == approx(1.0) and monitor.path(row)[0] is None
    assert (row.batches, row.undefined, row.cases, row.score) == (1, 1, 0, None)
    assert "Batches without a score: C tpr (1)." in str(monitor)


def test_a_named_reference() -> None:
    for reference in ("B", {"group": "B"}):
        monitor = eh.Monitor(metrics="tpr", reference=reference).add_counts({**WEEK, "C": (9, 3, 2, 2)}, at=1)
        assert {row.group: row.versus for row in monitor.rows} == {"A": 0.8, "C": 0.8}


def test_a_state_is_read_as_it_was_written_and_refused_if_it_was_changed() -> None:
    monitor = _monitor(5, gap=0.4, metrics=["acc", "ppr"])
    again = eh.Monitor.from_json(monitor.to_json())
    assert (again.rows, again.batches) == (monitor.rows, monitor.batches)
    assert again.add(make_batch(9), at=9).to_json() == monitor.add(make_batch(9), at=9).to_json()
    state = json.loads(monitor.to_json())
    older = {name: value for name, value in state.items() if name not in ("acknowledged", "digest")}
    assert eh.Monitor.from_json(json.dumps(older | {"digest": digest(older)})).to_json() == monitor.to_json()
    state["batches"][0]["counts"]["region"]["a"][0] += 1
    for text in (json.dumps(state), monitor.to_json()[:-40]):
        with pytest.raises(InvalidInput, match=r"damaged or edited|must be what a monitor wrote"):
            eh.Monitor.from_json(text)


def test_a_state_that_was_made_up_is_refused() -> None:
    """Also with the digest that belongs to it, which anybody can compute."""
    kept = {name: value for name, value in json.loads(_monitor(1).to_json()).items() if name != "digest"}
    changes: list[dict[str, Any]] = [{"labels": None}, {"labels": {"label": [1]}}, {"schema": "1"}, {"nonsense": 1}]
    changes += [{"columns": read} for read in ({"groups": {"a": 1}}, {"threshold": float("inf")}, {"bins": {"a": "x"}})]
    changes += [{"metrics": ["mcc"]}, {"alpha": 2}, {"reference": "best"}]
    changes += [{"columns": {"nonsense": "x"}}, {"batches": kept["batches"] * 2}]
    for change in ({"counts": {"region": {"a": [n, 2, 3, 4]}}} for n in (-1, 1.5, True, 10**400, 10**13)):
        changes.append({"batches": [kept["batches"][0] | change]})
    changes.append({"batches": [kept["batches"][0] | {"clusters": 5}]})
    changes += [{"acknowledged": keys} for keys in (5, ["a"], [["region", "a"]], [["region", "a", "tpr"]])]
    for change in changes:
        state = kept | change
        with pytest.raises(InvalidInput):
            eh.Monitor.from_json(json.dumps(state | {"digest": digest(state)}))
    for text in ("[" * 100_000, "{}", "[]", "not json"):
        with pytest.raises(InvalidInput, match=r"^the state of the monitor must be what a monitor wrote$"):
            eh.Monitor.from_json(text)


def test_cases_without_a_group_and_the_same_counts_under_two_names_are_said() -> None:
    rows = {"y": [1, 0] * 40, "p": [1, 1, 0, 0] * 20, "g": ["A", "B", None, "A"] * 20}
    monitor = eh.Monitor(metrics="tpr").add(rows, y_true="y", y_pred="p", groups="g", at="1")
    said = " ".join(str(monitor).split())
    assert "Left out: 20 cases without a known group in some column." in said
    assert eh.Monitor.from_json(monitor.to_json()).history["1"].unknown == 20
    said = " ".join(str(monitor.add(rows | {"y": [1] * 80}, at="2").add(rows, at="3")).split())
    assert "1 and 3 have the same counts; if they are the same cases, add them once." in said


def test_columns_may_be_passed_as_values_with_every_batch() -> None:
    table = make_batch(1)
    y, p, region = (table[name].tolist() for name in ("y", "p", "region"))
    named = eh.Monitor(metrics="tpr").add(table, at=1, **CALL)
    for groups in (np.array(region), {"region": region}, pd.Series(region, name="region")):
        values = eh.Monitor(metrics="tpr").add(at=1, y_true=np.array(y), y_pred=p, groups=groups)
        assert [row.evidence for row in values.rows] == [row.evidence for row in named.rows]
        again = eh.Monitor.from_json(values.to_json()).add(at=2, y_true=y, y_pred=p, groups=groups)
        assert len(again.batches) == 2
    with pytest.raises(InvalidInput, match="must be"):
        values.add(at=3, y_true=y, y_pred=p)
