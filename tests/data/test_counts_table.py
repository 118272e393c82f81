"""Tables of confusion matrices, one row per group."""

from __future__ import annotations

from hashlib import sha256
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from decisions import write_parquet
from engines import pl
from matrices import matrix

import evenhand as eh
from evenhand.data import read_counts

ONE = matrix(1, 2, 3, 4)


FILES: list[tuple[str, tuple[str, ...], dict[Any, Any]]] = [
    ("\ufeffsex;TP;FN;FP;TN;race\nF;1;2;3;4;a\nM;5;6;7;8;\n", ("sex", "race"),
     {("F", "a"): ONE, ("M", None): matrix(5, 6, 7, 8)}),
    ("g, x\ttp\tfn\tfp\ttn\n\na, b\t1\t2\t3\t4\n", ("g, x",), {("a, b",): ONE}),
    ("g , tp, fn, fp, tn\n a , 1, 2, 3, 4\n  , 1, 2, 3, 4\n", ("g",), {("a",): ONE, (None,): ONE}),
    ('g,tp,fn,fp,tn\n"a\nb",1,2,3,4\n"a\r\nb",1,2,3,4\na\u2028b,1,2,3,4\n', ("g",),
     dict.fromkeys([("a\nb",), ("a\r\nb",), ("a\u2028b",)], ONE)),
]  # fmt: skip
REFUSED: list[tuple[str, str]] = [
    ("g,tp,fn,fp,tn\n", "{} has no rows; there is nothing to audit"),
    ("g,tp,fn,fp\na,1,2,3\n", "{} must have the columns tp, fn, fp and tn; got g, tp, fn, fp"),
    ("tp,fn,fp,tn\n1,2,3,4\n", "{} must have a column of groups besides tp, fn, fp and tn; got none"),
    ("g,G,tp,fn,fp,tn\na,b,1,2,3,4\n", "{} must have distinct column names; got g and G"),
    ("g,tp,tp,fn,fp,tn\na,1,9,2,3,4\n", "{} must have distinct column names; got tp and tp"),
    ("g,tp,fn,fp,tn\na,1,2,3\n", "line 2 of {} must have 5 values, as its header has; got 4 values"),
    ("g,tp,fn,fp,tn\na,1,2,3,4\na,1,2,3,4\n", "row 2 of {} repeats the group a"),
    ("g,tp,fn,fp,tn\na,1,2,3,-4\n", "row 1 of {} has an invalid count: tn must not be negative; got -4"),
    ("g,tp,fn,fp,tn\na,1,2,3,4.5\n", "row 1 of {} has an invalid count: "),
]


def test_a_file_of_counts(tmp_path: Path) -> None:
    path = tmp_path / "c.csv"
    for text, by, matrices in FILES:
        path.write_text(text, "utf-8", newline="")
        columns, found, source = read_counts(path)
        assert (columns, found) == (by, matrices)
        digest = sha256(path.read_bytes()).hexdigest()
        assert (source["name"], source["format"], source["sha256"]) == ("c.csv", "counts", digest)
    for text, sentence in REFUSED:
        path.write_text(text)
        with pytest.raises(eh.errors.InvalidInput) as refused:
            read_counts(path)
        assert str(refused.value).startswith(sentence.format(path))
    with pytest.raises(eh.errors.InvalidInput, match="there is no file"):
        read_counts(tmp_path / "none.csv")


def test_counts_may_be_a_mapping_a_frame_or_a_file(tmp_path: Path) -> None:
    table = {"race": ["A", "B", "B"], "sex": ["f", "f", "m"], "TP": [3, 40, 9], "fn": [1.0, 2, 3], "fp": [4, 5, 6],
             "tn": [5, 60, 7]}  # fmt: skip
    expected = {("A", "f"): matrix(3, 1, 4, 5), ("B", "f"): matrix(40, 2, 5, 60), ("B", "m"): matrix(9, 3, 6, 7)}
    path = tmp_path / "counts.parquet"
    write_parquet(table, path)
    known = eh.audit_counts(expected, by=["race", "sex"], metrics="tpr", intersections=1)
    for data in (table, pd.DataFrame(table), pl.DataFrame(table), pl.LazyFrame(table), path):
        assert read_counts(data)[:2] == (("race", "sex"), expected)
        if not isinstance(data, dict):
            assert eh.audit_counts(data, metrics="tpr", intersections=1).rows == known.rows


def test_a_table_of_counts_that_cannot_be_read() -> None:
    changes: list[tuple[dict[str, Any], str]] = [
        ({"tp": [1.5]}, "row 1 of the table of counts has an invalid count: 1.5 is not a whole number"),
        ({"tp": [None]}, "row 1 of the table of counts has an invalid count: nothing"),
        ({"tp": [-1]}, "row 1 of the table of counts has an invalid count"),
        ({"TP": [1]}, "distinct column names"),
    ]
    for change, says in changes:
        with pytest.raises(eh.errors.InvalidInput, match=says):
            read_counts(pd.DataFrame({"race": ["A"], "tp": [1], "fn": [2], "fp": [3], "tn": [4], **change}))
