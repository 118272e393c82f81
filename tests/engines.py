"""Libraries and engines outside the extra ``test``; a test that calls one that is not installed is skipped."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import pandas as pd
import pytest

__all__ = [
    "EXTRAS", "dd", "fm", "has", "ibis", "lacking", "missing", "modin", "needs", "optional", "pa", "pl", "spark",
    "with_arrow",
]  # fmt: skip

# What a library is called where it is installed, and the extra that has it.
EXTRAS = {
    "axe_playwright_python": "nightly", "build": "dev", "dask": "nightly", "fairlearn": "nightly",
    "grimp": "check", "hatchling": "nightly", "ibis": "nightly",
    "numpydoc": "docs", "playwright": "nightly", "polars": "nightly", "pyarrow": "nightly", "pycm": "nightly",
    "pyspark": "spark", "rich": "check", "sphinx": "docs", "statsmodels": "nightly", "twine": "dev",
}  # fmt: skip


def has(*names: str) -> bool:
    """Whether libraries are installed."""
    return all(find_spec(name.partition(".")[0]) is not None for name in names)


def missing(name: str) -> str:
    """Why a test is skipped."""
    library = name.partition(".")[0]
    return f"{library} is not installed; it is in the extra {EXTRAS[library]}"


def needs(*names: str) -> None:
    """Skip the test that runs, if a library is not installed."""
    for name in names:
        if not has(name):
            pytest.skip(missing(name))


class Missing:
    """A library that is not installed, or something of it: a test that calls it or has it as a parameter is skipped."""

    def __init__(self, path: str) -> None:
        self._path, self.__name__ = path, path.rpartition(".")[2]

    def __repr__(self) -> str:
        return self._path

    def __getattr__(self, name: str) -> Missing:
        if name.startswith("__"):
            raise AttributeError(name)
        return Missing(f"{self._path}.{name}")

    def __call__(self, *args: object, **kwargs: object) -> Any:
        if "PYTEST_CURRENT_TEST" in os.environ:
            pytest.skip(missing(self._path))
        return self

    def __instancecheck__(self, instance: object) -> bool:
        return False


def lacking(value: object) -> str | None:
    """Why a test with this parameter is skipped, if it is."""
    inside = [value, *value] if isinstance(value, (list, tuple)) else [value]
    return next((missing(one._path) for one in inside if isinstance(one, Missing)), None)


def optional(name: str) -> Any:
    """A library, if it is installed."""
    return import_module(name) if has(name) else Missing(name)


if TYPE_CHECKING:
    import dask.dataframe as dd
    import fairlearn.metrics as fm
    import polars as pl
    import pyarrow as pa
else:
    dd, fm, pl, pa = map(optional, ("dask.dataframe", "fairlearn.metrics", "polars", "pyarrow"))


def spark(table: dict[str, list[Any]]) -> Any:
    pyspark = pytest.importorskip("pyspark.sql", reason="pyspark is not installed; CONTRIBUTING says how to run this")
    if shutil.which("java") is None:
        pytest.skip("Spark needs Java; CONTRIBUTING says how to run this")
    session = (
        pyspark.SparkSession.builder.master("local[2]")
        .config("spark.ui.enabled", "false")
        .config("spark.sql.shuffle.partitions", "4")
        .config("spark.driver.bindAddress", "127.0.0.1")
        .config("spark.driver.host", "127.0.0.1")
        .getOrCreate()
    )
    return session.createDataFrame(list(zip(*table.values(), strict=True)), list(table))


def ibis(table: dict[str, list[Any]]) -> Any:
    library = pytest.importorskip("ibis", reason=missing("ibis"))
    return library.memtable(pd.DataFrame(table))


def with_arrow(make: Callable[[], Any]) -> Any:
    """What pandas makes with pyarrow."""
    return make() if has("pyarrow") else Missing("pyarrow")()


def modin(table: dict[str, list[Any]]) -> Any:
    os.environ.setdefault("MODIN_ENGINE", "python")
    library = pytest.importorskip("modin.pandas", reason="modin is not installed; CONTRIBUTING says how to run this")
    return library.DataFrame(table)
