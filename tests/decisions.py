"""A small table of decisions in every container, and the cells that counting it gives."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import duckdb
import pandas as pd
import pytest
from engines import dd, ibis, modin, pa, pl, spark, with_arrow

import evenhand as eh
from evenhand.data import count_rows

TABLE: dict[str, list[Any]] = {"y": [1, 0, 1, 0, 1], "p": [1, 1, 0, 0, 1], "g": ["a", "a", "b", "b", "b"]}
CELLS = {("a",): (1, 0, 1, 0), ("b",): (1, 1, 0, 1)}

HELD: dict[str, Callable[[dict[str, list[Any]]], Any]] = {
    "pandas": pd.DataFrame,
    "pandas with arrow": lambda c: with_arrow(lambda: pd.DataFrame(c).convert_dtypes(dtype_backend="pyarrow")),
    "pandas nullable": lambda c: pd.DataFrame(c).convert_dtypes(),
    "polars": pl.DataFrame,
    "lazy polars": pl.LazyFrame,
    "pyarrow": pa.table,
    "duckdb": lambda c: duckdb.from_arrow(pa.table(c)),
    "dask": lambda c: dd.from_pandas(pd.DataFrame(c), npartitions=2),  # type: ignore[no-untyped-call, unused-ignore]
}
ELSEWHERE: dict[str, Callable[[dict[str, list[Any]]], Any]] = {"pyspark": spark, "ibis": ibis, "modin": modin}


def write_csv(table: Mapping[str, Any], path: Path) -> None:
    pd.DataFrame(table).to_csv(path, index=False)


def write_parquet(table: Mapping[str, Any], path: Path) -> None:
    duckdb.from_df(pd.DataFrame(table)).write_parquet(str(path))


def cells(data: Any, **given: Any) -> dict[Any, tuple[int, ...]]:
    """TP, FN, FP and TN of each group; scores are positive from one half, and rows without an answer are left out."""
    asked: dict[str, Any] = {"y_true": "y", "y_pred": "p", "groups": "g"} | given
    groups = asked.pop("groups")
    cuts = {"y_score": (0.5,)} if "y_score" in asked else {}
    rows = count_rows(data, groups, asked, cuts=cuts).rows
    found: dict[Any, list[int]] = {}
    for (*group, label, prediction), n in rows.items():
        if label is not None and prediction is not None:
            actual, predicted = (str(answer).casefold() in ("1", "true", "yes") for answer in (label, prediction))
            found.setdefault(tuple(group), [0, 0, 0, 0])[2 * (not actual) + (not predicted)] += n
    return {group: tuple(cm) for group, cm in found.items()}


def refusal(data: Any, **given: Any) -> str:
    """What is said of data that cannot be counted."""
    with pytest.raises(eh.EvenhandError) as found:
        cells(data, **given)
    return str(found.value)
