"""Tables of confusion matrices, one row per group."""

from __future__ import annotations

import io
from hashlib import sha256
from pathlib import Path

import pytest

import evenhand as eh
from evenhand.tabulate import read_counts, read_counts_file


def test_a_table_of_counts() -> None:
    by, found = read_counts(["\ufeffsex;TP;FN;FP;TN;race\n", "F;1;2;3;4;a\n", "M;5;6;7;8;\n"], "counts.csv")
    assert by == ("sex", "race")
    assert found == {("F", "a"): eh.ConfusionMatrix(1, 2, 3, 4), ("M", None): eh.ConfusionMatrix(5, 6, 7, 8)}


@pytest.mark.parametrize(
    ("lines", "sentence"),
    [
        ([], "c.csv must have one row per group below its header; got no rows"),
        (["g,tp,fn,fp", "a,1,2,3"], "c.csv must have the columns tp, fn, fp and tn; got g, tp, fn, fp"),
        (["tp,fn,fp,tn", "1,2,3,4"], "c.csv must have a column of groups besides tp, fn, fp and tn; got none"),
        (["g,G,tp,fn,fp,tn", "a,b,1,2,3,4"], "c.csv must have distinct column names; got g and G"),
        (["g,tp,fn,fp,tn", "a,1,2,3"], "row 2 of c.csv must have 5 values, as its header has; got 4 values"),
        (["g,tp,fn,fp,tn", "a"], "row 2 of c.csv must have 5 values, as its header has; got 1 value"),
        (["g,tp,fn,fp,tn", "a,1,2,3,4", "a,1,2,3,4"], "row 3 of c.csv repeats the group a"),
        (["g,tp,fn,fp,tn", "a,1,2,3,-4"], "row 2 of c.csv has an invalid count: tn must not be negative; got -4"),
    ],
)
def test_a_table_of_counts_that_is_none(lines: list[str], sentence: str) -> None:
    with pytest.raises(eh.errors.InvalidInput) as found:
        read_counts(lines, "c.csv")
    assert str(found.value) == sentence


def test_a_table_of_counts_may_have_tabs_and_blank_lines() -> None:
    lines = ["g, x\ttp\tfn\tfp\ttn\n", "\n", "a, b\t1\t2\t3\t4\n"]
    assert read_counts(lines, "c.tsv") == (("g, x",), {("a, b",): eh.ConfusionMatrix(1, 2, 3, 4)})


def test_spaces_around_the_values_of_a_table_of_counts_do_not_matter() -> None:
    lines = ["g , tp, fn, fp, tn", " a , 1, 2, 3, 4", "  , 1, 2, 3, 4"]
    matrix = eh.ConfusionMatrix(1, 2, 3, 4)
    assert read_counts(lines, "c.csv") == (("g",), {("a",): matrix, (None,): matrix})


def test_a_table_of_counts_keeps_line_breaks_in_names() -> None:
    text = 'g,tp,fn,fp,tn\n"a\nb",1,2,3,4\n"a\r\nb",1,2,3,4\na\u2028b,1,2,3,4\n'
    assert list(read_counts(io.StringIO(text, newline=""), "c.csv")[1]) == [("a\nb",), ("a\r\nb",), ("a\u2028b",)]
    with pytest.raises(eh.errors.InvalidInput, match=r"^c\.csv cannot be read: unexpected end of data$"):
        read_counts(io.StringIO('g,tp,fn,fp,tn\n"a,1,2,3,4\n'), "c.csv")


def test_a_file_of_counts_is_recorded(tmp_path: Path) -> None:
    content = b"\xef\xbb\xbfrace,tp,fn,fp,tn\nA,1,2,3,4\n"
    (tmp_path / "counts.csv").write_bytes(content)
    assert read_counts_file(tmp_path / "counts.csv") == (
        ("race",),
        {("A",): eh.ConfusionMatrix(1, 2, 3, 4)},
        {"kind": "file", "name": "counts.csv", "size": 30, "sha256": sha256(content).hexdigest(), "format": "counts"},
    )


@pytest.mark.parametrize(
    ("name", "content", "sentence"),
    [
        ("none.csv", None, "there is no file {}/none.csv"),
        ("x" * 300, None, "{}/xxx"),
        ("a\0b", None, "'{}/a\\x00b' cannot be read: embedded null byte"),
        (
            "d.csv",
            b"g,tp,fn,fp,tn\n\xe9,1,2,3,4\n",
            "{}/d.csv cannot be read: it is not UTF-8 text; save it as UTF-8 (in",
        ),
    ],
)
def test_a_file_of_counts_that_cannot_be_read_is_refused(
    name: str, content: bytes | None, sentence: str, tmp_path: Path
) -> None:
    if content is not None:
        (tmp_path / name).write_bytes(content)
    with pytest.raises(eh.errors.InvalidInput) as found:
        read_counts_file(f"{tmp_path}/{name}")
    assert str(found.value).startswith(sentence.format(tmp_path))
