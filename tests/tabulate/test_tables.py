"""Dataframes of any library: a name means its own column in every engine, or is refused in one sentence."""

from __future__ import annotations

from collections import Counter
from typing import Any

import dask.dataframe as dd
import pandas as pd
import pytest
from decisions import CELLS, ELSEWHERE, HELD, TABLE, cells, refusal

from evenhand.tabulate import counted, first_columns, frames

HOSTILE = ["*", "^a.*$", "a.b", "a`b", 'a"b', "a'b", "x\ny", " ", "evenhand_0", "evenhand_c1", "evenhand_n", "index",
           "count", "名", "`x`", "select", "a b.c d", "$1", "\\", "{x}", "%s", ":p", "?"]  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("held", [*HELD, *ELSEWHERE])
@pytest.mark.filterwarnings("ignore")
def test_a_name_means_its_own_column_in_every_engine(held: str) -> None:
    wide: dict[str, list[Any]] = {name: [i, i + 1, i] for i, name in enumerate(HOSTILE)}
    frame = (HELD | ELSEWHERE)[held](wide)
    for i in range(0, len(HOSTILE), 3 if held in ELSEWHERE else 1):
        asked = [HOSTILE[i], HOSTILE[i - 1]]
        wanted = Counter(zip(*(wide[name] for name in asked), strict=True))
        assert frames.count_frame(frame, asked, {}).rows == wanted, asked
        assert frames.count_frame(frame, asked[:1], {0: (i + 1.0,)}).rows == Counter({(0,): 2, (1,): 1})


@pytest.mark.parametrize("names", [[0, 1, 2], [1.5, pd.Timestamp("2020"), True]])
def test_names_of_columns_need_not_be_texts(names: list[Any]) -> None:
    frame = pd.DataFrame(TABLE)
    frame.columns = pd.Index(names, dtype=object)
    label, prediction, group = names
    assert cells(frame, y_true=label, y_pred=prediction, groups=group) == CELLS
    assert cells(frame, y_true=label, y_pred=prediction, groups=[group]) == CELLS
    assert cells(frame, y_true=label, y_pred=TABLE["p"], groups=group) == CELLS
    assert counted(frame, [group, label], {}).columns == (str(group), str(label))
    mapped = dict(zip(names, TABLE.values(), strict=True))
    assert cells(mapped, y_true=label, y_pred=prediction, groups=group) == CELLS


@pytest.mark.filterwarnings("ignore")
def test_integers_are_names_in_dask_too() -> None:
    frame = pd.DataFrame(dict(zip([0, 1, 2], TABLE.values(), strict=True)))
    lazy = dd.from_pandas(frame, npartitions=2)  # type: ignore[no-untyped-call]
    assert cells(lazy, y_true=0, y_pred=1, groups=2) == CELLS


def test_names_with_levels_and_names_of_the_index_are_refused() -> None:
    frame = pd.DataFrame(TABLE)
    assert refusal(frame.set_index("g")) == "no column is called 'g', but the index is; pass data with reset_index()"
    assert cells(frame.set_index("g").reset_index()) == CELLS
    assert cells(frame.set_index("g", drop=False)) == CELLS
    assert refusal(frame.set_index("g"), groups="h") == "no column is called 'h'; known: y, p"
    nested = frame.set_axis(pd.MultiIndex.from_tuples([("y", ""), ("p", ""), ("g", "x")]), axis=1)
    assert refusal(nested) == "data has 2 levels of column names; pass a dataframe with one"


@pytest.mark.filterwarnings("ignore")
def test_the_name_of_an_index_is_refused_in_dask() -> None:
    frame = dd.from_pandas(pd.DataFrame(TABLE).set_index("g"), npartitions=2)  # type: ignore[no-untyped-call]
    assert refusal(frame) == "no column is called 'g', but the index is; pass data with reset_index()"


@pytest.mark.filterwarnings("ignore")
def test_a_lazy_frame_is_not_asked_for_its_length(monkeypatch: pytest.MonkeyPatch) -> None:
    lazy = dd.from_pandas(pd.DataFrame(TABLE), npartitions=2)  # type: ignore[no-untyped-call]

    def refuse(self: Any) -> int:
        raise AssertionError

    monkeypatch.setattr(type(lazy), "__len__", refuse)
    assert cells(lazy, groups=["g"]) == CELLS


def test_of_two_columns_of_one_name_neither_is_taken() -> None:
    twice = pd.DataFrame([[1, 0, "a"]], columns=["y", "y", "g"])
    assert refusal(twice) == "data has 2 columns called 'y', which differ; rename all but one"
    assert counted(twice, "g", {}).rows == {("a",): 1}


def test_columns_of_one_name_that_are_equal_are_one() -> None:
    """As in a file: pandas writes both."""
    twice = pd.DataFrame(TABLE)[["g", "y", "p", "y"]]
    assert cells(twice, groups=["g"]) == CELLS
    assert list(first_columns(twice)) == ["g", "y", "p"]
    assert first_columns(twice.set_axis(["g", "p", "y", "y"], axis=1)) == {}


@pytest.mark.filterwarnings("ignore")
def test_columns_of_one_name_are_not_computed_to_compare_them() -> None:
    lazy = dd.from_pandas(pd.DataFrame(TABLE)[["g", "y", "p", "y"]], npartitions=2)  # type: ignore[no-untyped-call]
    assert refusal(lazy) == "data has 2 columns called 'y'; rename all but one"


def test_a_column_may_be_called_like_a_method() -> None:
    """A column of a pandas frame is also its attribute."""
    names = ["dims", "columns", "compute", "collect", "nlevels", "unify_dictionaries"]
    frame = pd.DataFrame({name: ["a", "b"] for name in names})
    for name in names:
        assert counted(frame, name, {}).rows == {("a",): 1, ("b",): 1}
    assert counted(None, frame, {}).columns == tuple(names)
    labelled = pd.Series(["a", "b"], index=["columns", "collect"])
    assert counted(None, labelled, {}).rows == {("a",): 1, ("b",): 1}
