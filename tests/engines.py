"""Frames of libraries that need an engine or much room; tests skip them, with the reason, where they are missing."""

from __future__ import annotations

import os
import shutil
from typing import Any

import pandas as pd
import pytest


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
    library = pytest.importorskip("ibis", reason="ibis is not installed; it is in the extra dev")
    return library.memtable(pd.DataFrame(table))


def modin(table: dict[str, list[Any]]) -> Any:
    os.environ.setdefault("MODIN_ENGINE", "python")
    library = pytest.importorskip("modin.pandas", reason="modin is not installed; CONTRIBUTING says how to run this")
    return library.DataFrame(table)
