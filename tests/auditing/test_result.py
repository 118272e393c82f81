"""The result of an audit: its axes, its parts, its ways out, and what is read back."""

from __future__ import annotations

import csv
import io
import re
from typing import Any

import numpy as np
import pandas as pd
import pytest
from engines import needs, pa, pl
from pytest import approx
from shown_audits import AUDITS

import evenhand as eh
from evenhand.auditing import Audit
from evenhand.errors import MissingExtra, UnknownName

COUNTS = {"A": (1, 2, 3, 4), "B": (5, 6, 7, 8)}


def frame() -> pd.DataFrame:
    rng, n = np.random.default_rng(8), 240
    y = rng.integers(0, 2, n)
    table = pd.DataFrame({"race": rng.choice(["A", "B", "C"], n), "town": rng.choice(["east", "west"], n), "y": y})
    table["s"] = np.round(np.clip(0.3 * y + 0.6 * rng.random(n) + 0.1 * (table.race == "A"), 0, 1), 2)
    return table.assign(p=(table.s > 0.5).astype(int))


FRAME = frame()
SCORED: Any = {"y_true": "y", "y_score": "s", "groups": "race"}
METRICS = ["tpr", "ppr", "mcc", "equal_opportunity"]

# Bounds that hold for a whole audit, and what else follows from all of its rows, such as adjusted p-values.
BOUNDS = ("at_least", "at_most", "simultaneous_bound", "impact_at_most", "p_gate")
TOGETHER = (*BOUNDS, "p_adjusted", "verdict", "required_n")


def without(a: Audit, *names: str) -> list[dict[str, Any]]:
    """The rows by group and metric without some columns, with 12 digits, as sums in another order may differ."""
    rows = [r.to_dict() for r in sorted(a.rows, key=lambda r: (r.group, r.metric))]
    return [
        {k: float(f"{v:.12g}") if isinstance(v, float) else v for k, v in r.items() if not k.startswith(names)}
        for r in rows
    ]


# Axes


def test_a_threshold_is_what_an_audit_of_it_alone_measures() -> None:
    """And as each threshold is adjusted for itself, it is the same audit, but for bounds that hold for all of them."""
    swept = eh.audit(FRAME, threshold=[0.7, 0.3, 0.5], **SCORED, metrics=METRICS)
    for threshold in (0.3, 0.7):
        part, alone = swept.at(threshold=threshold), eh.audit(FRAME, threshold=threshold, **SCORED, metrics=METRICS)
        assert without(part, *BOUNDS) == without(alone, *BOUNDS)
        assert (part.n, part.axes) == (alone.n, {})


def test_a_stratum_is_what_an_audit_of_its_rows_measures() -> None:
    columns = SCORED | {"metrics": [*METRICS, "auc"], "threshold": 0.5}
    within = eh.audit(FRAME, strata="town", **columns)
    for town in ("east", "west"):
        part, alone = within.at(stratum=town), eh.audit(FRAME[FRAME.town == town], **columns)
        first, second = (without(a, *TOGETHER, "driver", "p_error") for a in (part, alone))
        for one in (r for rows in (first, second) for r in rows if r["metric"] == "auc"):
            # Drawn p-values have other draws.
            del one["pvalue"]
        assert first == second
        assert part.n == alone.n == int((FRAME.town == town).sum())


def test_several_axes_are_asked_for_one_by_one_or_together() -> None:
    a = eh.audit(FRAME, **SCORED, threshold=[0.3, 0.5], strata="town", metrics=["tpr", "auc"])
    assert a.axes == {"threshold": (0.3, 0.5), "stratum": ("east", "west", "pooled")}
    both = a.at(threshold=0.3, stratum="east")
    assert both.axes == {} and {r.metric for r in both.rows} == {"tpr"}
    assert both.rows == a.at(stratum="east").at(threshold=0.3).rows == a.at(threshold=0.3).at(stratum="east").rows
    assert both.n == int((FRAME.town == "east").sum())
    scores = [r for r in a.at(stratum="west").rows if r.metric == "auc"]
    assert [r.at for r in scores] == [{}] * 3


def test_findings_elsewhere_are_left_out_and_those_of_all_data_stay() -> None:
    table = FRAME.assign(y=FRAME.y.astype(object))
    table.loc[[0, 1], "y"] = None
    a = eh.audit(table, **SCORED, threshold=[0.3, 2.0], metrics=["ppr", "auc"])
    part = a.at(threshold=0.3)
    assert [f.kind for f in a.findings if f.kind == "constant"] == ["constant"]
    assert not any(f.kind == "constant" for f in part.findings)
    assert not any("auc" in f.metrics for f in part.findings)
    assert any("auc" in f.metrics for f in a.findings)
    assert sum(f.kind == "left-out" for f in part.findings) == 1
    assert all(not f.at for f in part.findings)
    (constant,) = [f for f in a.at(threshold=2.0).findings if f.kind == "constant"]
    assert constant.at == {}


def test_places_that_are_not_on_the_axes_are_refused_and_the_repr_counts_those_that_are() -> None:
    a = eh.audit(FRAME, **SCORED, threshold=[0.3, 0.5], metrics="tpr")
    differ = sum(r.differs for r in a.rows)
    assert repr(a) == f"<Audit: 240 cases, 3 groups, 2 on the axis threshold, 6 scores, {differ} differ>"
    assert repr(a.at(threshold=0.3)).startswith("<Audit: 240 cases, 3 groups, 3 scores, ")
    counted = eh.audit_counts(COUNTS, metrics="tpr")
    for audit, axis, value, sentence in [
        (a, "treshold", 0.3, "no axis of this audit is called 'treshold'; did you mean 'threshold'?"),
        (a, "colour", 1, "no axis of this audit is called 'colour'; axes: threshold"),
        (a, "threshold", 0.45, "no threshold of this audit is called '0.45'; did you mean "),
        (counted, "threshold", 0.3, "no axis of this audit is called 'threshold'; axes: none"),
    ]:
        with pytest.raises(UnknownName, match=f"^{re.escape(sentence)}"):
            audit.at(**{axis: value})


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_frames_have_a_line_per_row_in_the_library_of_the_data(library: str) -> None:
    needs(library)
    a = AUDITS["strata"]
    lines = a.to_frame(library)
    lines = (lines if library == "pandas" else lines.to_pandas()).to_dict("records")
    for line, r in zip(lines, a.rows, strict=True):
        assert (line["stratum"], line["group"], line["metric"]) == (r.at["stratum"], r.group, r.metric)
        assert line["verdict"] == r.verdict.value
        assert line["score"] == approx(r.score, nan_ok=True)
    with pytest.raises(UnknownName, match=r"^no dataframe library is called 'excel'; known: pandas, polars, pyarrow$"):
        a.to_frame("excel")
    data = {"pandas": FRAME, "polars": pl and pl.from_pandas(FRAME), "pyarrow": pa and pa.Table.from_pandas(FRAME)}
    a = eh.audit(data[library], y_true="y", y_pred="p", groups="race", metrics="tpr")
    for frame in (a.by_group, a.difference(), a.ratio(), a.to_frame()):
        assert type(frame).__module__.partition(".")[0] == library


def test_csv_has_the_cells_at_each_threshold() -> None:
    """TP, FN, FP and TN at t are those of score >= t, counted one row at a time."""
    a = eh.audit(FRAME, **SCORED, threshold=[0.3, 0.5], metrics=["tpr", "auc"])
    for line in csv.DictReader(io.StringIO(a.to_csv())):
        if line["metric"] == "auc":
            assert line["threshold"] == line["tp"] == ""
            continue
        own = FRAME[FRAME.race == line["group"]]
        reached = own.s >= float(line["threshold"])
        expected = [(own.y == label)[reached == decided].sum() for label, decided in ((1, 1), (1, 0), (0, 1), (0, 0))]
        assert [float(line[c]) for c in ("tp", "fn", "fp", "tn")] == expected


def test_no_cell_of_a_csv_file_is_a_formula() -> None:
    """A tab or CR at the start moves what follows into a cell of its own, formula or not."""
    for start in ("=1+1", "+x", "-x", "@cmd", "\t=1", "\tplain", "\rplain", " =1", "\t", "\r\n-2"):
        a = eh.audit_counts({start: (9, 6, 4, 21), "B": (30, 10, 12, 48)}, metrics="tpr")
        lines = list(csv.DictReader(io.StringIO(a.to_csv(), newline="")))
        assert sorted(line["group"] for line in lines) == sorted(["B", f"'{start}"])
        assert any(float(line["gap"]) < 0 for line in lines), "numbers stay numbers"


def test_by_group_has_a_line_per_place_and_group_in_the_declared_order() -> None:
    """Thresholds as numbers, not as text; what has no threshold last; columns one after the other."""
    a = eh.audit(FRAME.assign(s=10 * FRAME.s), y_true="y", y_score="s", groups=["town", "race"], threshold=[10, 2, 5.5],
                 metrics=["tpr", "auc"], intersections=1)  # fmt: skip
    table = a.by_group
    assert list(table.columns) == ["threshold", "by", "group", "n", "tpr", "auc"]
    keys = list(table[["threshold", "by", "group"]].itertuples(index=False, name=None))
    groups = [("town", "east"), ("town", "west"), ("race", "A"), ("race", "B"), ("race", "C")]
    assert keys[:15] == [(t, *group) for t in (2.0, 5.5, 10.0) for group in groups]
    assert [key[1:] for key in keys[15:]] == groups and all(pd.isna(key[0]) for key in keys[15:])
    assert table.dtypes["tpr"] == table.dtypes["auc"] == np.float64


def test_difference_and_ratio_are_those_of_the_extreme_scores_of_each_column() -> None:
    """max - min and min / max over groups, by pandas; nan where they do not exist."""
    a = eh.audit(FRAME, y_true="y", y_pred="p", groups=["race", "town"], metrics=["tpr", "fpr", "mcc"], intersections=1)
    scores = a.by_group.set_index(["by", "group"]).drop(columns="n").groupby("by", sort=False)
    difference, ratio = (frame.set_index("by") for frame in (a.difference(), a.ratio()))
    pd.testing.assert_frame_equal(difference, scores.max() - scores.min())
    expected = (scores.min() / scores.max()).where(scores.min() >= 0)
    pd.testing.assert_frame_equal(ratio, expected)
    lone = eh.audit_counts({"A": (0, 0, 8, 30), "B": (300, 100, 120, 480)}, metrics=["tpr", "fpr"])
    assert np.isnan(lone.difference()["tpr"][0]) and np.isnan(lone.ratio()["tpr"][0])
    assert lone.difference()["fpr"][0] == approx(8 / 38 - 0.2)
    none = eh.audit_counts({"A": (0, 5, 8, 30), "B": (0, 100, 120, 480)}, metrics="tpr")
    assert none.difference()["tpr"][0] == 0 and np.isnan(none.ratio()["tpr"][0])


def test_what_was_not_audited_cannot_be_plotted() -> None:
    a = eh.audit_counts(COUNTS, metrics=["tpr", "ppv"])
    with pytest.raises(UnknownName, match=r"^no metric of this audit is called 'mcc'; known: ppv, tpr$"):
        a.plot("mcc")
    with pytest.raises(UnknownName, match=r"^no group column of this audit is called 'sex'; known: group$"):
        a.plot("tpr", by="sex")


def test_rows_are_an_arrow_stream_made_by_pyarrow_or_polars(monkeypatch: pytest.MonkeyPatch) -> None:
    a = AUDITS["strata"]
    assert a._repr_markdown_() == a.to_markdown()
    needs("polars", "pyarrow")
    expected = a.to_frame("polars")
    assert pl.DataFrame(a).equals(expected)
    assert pa.table(a).column_names == expected.columns
    assert pd.DataFrame.from_arrow(a).shape == expected.shape
    monkeypatch.setattr("evenhand.auditing.result.find_spec", lambda name: None if name == "pyarrow" else name)
    assert pl.DataFrame(a).height == len(a.rows)
    monkeypatch.setattr("evenhand.auditing.result.find_spec", lambda name: None)
    needed = "an Arrow stream of an audit needs pyarrow or polars"
    with pytest.raises(MissingExtra, match=f"^{needed}$"):
        a.__arrow_c_stream__()
