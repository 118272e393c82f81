"""The connection to DuckDB opens the files that were asked for, and nothing else."""

from __future__ import annotations

from pathlib import Path

import duckdb
import polars as pl
import pytest
from decisions import TABLE

from evenhand.tabulate import relations


def test_a_query_on_the_connection_opens_no_other_file(tmp_path: Path) -> None:
    other = tmp_path / "other.csv"
    pl.DataFrame(TABLE).write_csv(other)
    for path in (tmp_path / "d[1].csv", tmp_path / "d.parquet"):
        frame = pl.DataFrame(TABLE)
        frame.write_csv(path) if path.suffix == ".csv" else frame.write_parquet(path)
        with relations.connected([path]) as connection:
            reader = f"read_{path.suffix[1:]}({relations.literal(relations.pattern(path))})"
            assert len(connection.execute(f"FROM {reader}").fetchall()) == 5
            with pytest.raises(duckdb.PermissionException):
                connection.execute(f"SELECT * FROM read_csv('{other}')").fetchall()
            with pytest.raises(duckdb.Error):
                connection.execute(f"COPY (SELECT 1) TO '{tmp_path / 'out.csv'}'")
            with pytest.raises(duckdb.InvalidInputException):
                connection.execute("SET enable_external_access = true")


def test_nothing_is_downloaded_to_read_a_file(tmp_path: Path) -> None:
    switches = {
        "autoinstall_known_extensions": False,
        "autoload_known_extensions": False,
        "enable_progress_bar_print": False,
        "enable_progress_bar": True,
    }
    with relations.connected([tmp_path / "d.csv"]) as connection:
        for name, value in switches.items():
            assert connection.execute(f"SELECT current_setting('{name}')").fetchall() == [(value,)]
