"""What the world may send: strategies of values, columns, tables, bytes and words that nobody would call clean.

Nothing here is imported from the code under test.
"""

from __future__ import annotations

import csv
import datetime
import gzip
import io
import json
import tempfile
import unicodedata
import warnings
from collections.abc import Callable, Mapping
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from engines import has, optional, pa, pl
from hypothesis import strategies as st

# Texts that steer a terminal, a page, a spreadsheet, a shell, a database or a format.
NAUGHTY = [
    "", " ", "\t", "\n", "\r", "\0", "\x1b[2J", "\x9b31m", "\u202eabc", "\ud800", "\ufeff", "\u2028", "é", "名", "🙂",
    "a\u0301", "<script>alert(1)</script>", "</script>", "'\"><img src=x onerror=alert(1)>", "&amp;", "javascript:x",
    "=1+1", "+1", "-1", "@SUM(A1)", "|x", "`x`", "[x](http://x)", "*b*", "# h", "{{7*7}}", "%s", "%(x)s", "{0}", "$(x)",
    "a,b", 'a"b', "a;b", "a\nb", "a & b", "a=b", "a:b", "--json", "-", "nan", "NaN", "NA", "None", "null", "inf",
    "1e400", "1e-400", "0x10", "1_0", "１", "true", "TRUE", "False", "yes", "no", "Y", "0", "1", "1.0", "01", " 1",
    "x" * 300, "(missing)", "rest", "all", "largest", "best", "*", "?", "../x", "/", "con", "evenhand_0", "index",
]  # fmt: skip
STEERING = "a\x1b[31m\x07\u202e\u2066\x9b1m\nb"
LABELS: list[tuple[Any, Any]] = [
    (0, 1), (-1, 1), (False, True), ("no", "yes"), ("n", "y"), ("negative", "positive"), ("false", "true"), ("0", "1"),
    (0.0, 1.0), ("No", "Yes"), ("0.0", "1"),
]  # fmt: skip
names = st.one_of(st.sampled_from(NAUGHTY), st.text(max_size=8))
whole = st.one_of(st.integers(-3, 3), st.sampled_from([2**31, 2**53 + 1, 2**63, 2**64, -(2**63), 10**12, 10**400]))
numbers = st.one_of(
    whole,
    st.floats(),
    st.sampled_from([0.0, -0.0, 5e-324, 1e-300, 1e300, float("inf"), float("-inf"), float("nan"), 0.5, 1 - 2**-53]),
    st.decimals(allow_nan=True, allow_infinity=True),
    st.sampled_from([Decimal("sNaN"), Decimal("1e500"), Fraction(1, 3), Fraction(10**30, 7)]),
)


def steers(text: str) -> list[str]:
    """The characters that control a terminal or turn the direction of text, but for line breaks."""
    return [c for c in text if c != "\n" and unicodedata.category(c) in ("Cc", "Cf", "Cs", "Co", "Zl", "Zp")]


class Awkward:
    """A value that can neither be compared nor shown."""

    def __eq__(self, other: object) -> bool:
        return self is other

    def __hash__(self) -> int:
        return 1

    def __repr__(self) -> str:
        return "<b>awkward</b>"


scalars = st.one_of(
    st.none(), st.booleans(), numbers, names, st.binary(max_size=3), st.complex_numbers(), st.datetimes(),
    st.datetimes(timezones=st.just(datetime.UTC)), st.dates(), st.times(), st.timedeltas(), st.builds(Awkward),
    st.sampled_from([pd.NA, pd.NaT, np.datetime64("NaT", "s"), np.timedelta64("NaT", "s"), np.ma.masked, object]),
    st.sampled_from([np.int8(1), np.bool_(True), np.str_("a"), np.datetime64("2020-01-01"), np.float16("nan")]),
    st.sampled_from([pd.Timestamp("2020-01-01", tz="UTC"), pd.Interval(0, 1), pd.Period("2020-01"), np.float32(0.1)]),
)  # fmt: skip
values = st.one_of(
    scalars,
    st.lists(scalars, max_size=2),
    st.tuples(scalars),
    st.dictionaries(st.integers(0, 1), scalars, max_size=1),
    st.sets(st.integers(0, 2), max_size=2),
    st.builds(lambda n: np.arange(n), st.integers(0, 2)),
)

DTYPES = ["?", "i1", "u8", "i8", "f2", "f4", "f8", "g", "c16", "U3", "S3", "M8[D]", "M8[ns]", "m8[s]", "O", "V2"]


def _array(held: list[Any], dtype: str) -> Any:
    try:
        return np.array(held, dtype=dtype)
    except (TypeError, ValueError, OverflowError):
        return np.array([i % 2 for i in range(len(held))]).astype(dtype)


COLUMNS: dict[str, Callable[[list[Any]], Any]] = {
    **{"list": list, "tuple": tuple, "array": np.array, "iterator": iter, "set": set, "number": len, "type": type},
    **{"pandas": pd.Series, "pandas index": pd.Index, "pyarrow": pa.array},
    "array of objects": lambda held: _objects(held),
    "masked": lambda held: np.ma.array(_objects(held), mask=[i % 3 == 1 for i in range(len(held))]),
    "2-d": lambda held: _objects(held).reshape(-1, 1),
    "3-d": lambda held: _objects(held).reshape(-1, 1, 1),
    "0-d": lambda held: np.array(len(held)),
    "pandas nullable": (lambda held: pd.Series(held).convert_dtypes()),
    "pandas arrow": (lambda held: pd.Series(held).convert_dtypes(dtype_backend="pyarrow")),
    "pandas categorical": (lambda held: pd.Series(held, dtype="category")),
    "pandas odd index": (lambda held: pd.Series(held, index=[0] * len(held))),
    "pandas sparse": (lambda held: pd.Series(pd.arrays.SparseArray(held))),
    "polars": lambda held: pl.Series("", pa.array(held)),
    "polars objects": (lambda held: pl.Series(held, dtype=pl.Object)),
    "polars categorical": lambda held: pl.Series("", pa.array(held)).cast(pl.Categorical),
    "pyarrow chunks": (lambda held: pa.chunked_array([pa.array(held)[:1], pa.array(held)[1:]])),
    "pyarrow dictionary": (lambda held: pa.array(held).dictionary_encode()),
    "mapping": lambda held: dict(enumerate(held)),
    "range": lambda held: range(len(held)),
    "text": lambda held: "".join(map(str, held))[:20],
    "bytes": lambda held: bytes(len(held)),
    "nothing": lambda held: None,
    "frame": (lambda held: pd.DataFrame({"a": held})),
    "two columns": (lambda held: pd.DataFrame({"a": held, "b": held})),
}
COLUMNS |= {f"array {dtype}": lambda held, dtype=dtype: _array(held, dtype) for dtype in DTYPES}  # type: ignore[misc]


def _objects(held: list[Any]) -> Any:
    array = np.empty(len(held), dtype=object)
    for i, value in enumerate(held):
        array[i] = value
    return array


@st.composite
def columns(draw: st.DrawFn, size: int, kinds: tuple[str, ...] | None = None) -> Drawn:
    """A column of so many values of a few kinds, held in any way: at times two labels, at times with one more value."""
    usual = draw(st.sampled_from([*LABELS, ("a", "b"), (0.25, 0.75)]))
    few = draw(st.one_of(st.just(usual), st.lists(values, min_size=1, max_size=3)))
    held = [draw(st.sampled_from(few)) for _ in range(size)]
    if held and few is usual and draw(st.booleans()):
        held[draw(st.integers(0, size - 1))] = draw(values)
    return Drawn(_made(COLUMNS[draw(st.sampled_from(kinds or tuple(COLUMNS)))], held, held))


class Drawn:
    """Something that was drawn, shown as well as it can be: pandas does not show everything that it holds."""

    def __init__(self, value: Any) -> None:
        self.value = value

    def __repr__(self) -> str:
        try:
            return repr(self.value)
        except Exception as refusal:
            return f"<{type(self.value).__name__}: {refusal}>"


def _made(make: Callable[[Any], Any], given: Any, otherwise: Any) -> Any:
    """What a library makes of values, or something else if it refuses."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return make(given)
        except BaseException as refusal:
            # A panic of polars is no Exception.
            if isinstance(refusal, (KeyboardInterrupt, SystemExit)):
                raise
            return otherwise


def _pandas(table: Mapping[Any, list[Any]]) -> Any:
    return pd.DataFrame({name: pd.Series(_objects(held)).infer_objects() for name, held in table.items()})


FRAMES: dict[str, Callable[[Any], Any]] = {
    "mapping": dict,
    "pandas": _pandas,
    "pandas nullable": lambda table: _pandas(table).convert_dtypes(),
    "pandas categories": lambda table: _pandas(table).astype("category"),
    "pandas odd index": lambda table: _pandas(table).set_axis([7] * len(_pandas(table)), axis=0),
    "pandas index of names": lambda table: _pandas(table).set_index(next(iter(table)), drop=False),
    "polars": lambda table: pl.from_arrow(pa.table(table)),
    "lazy polars": lambda table: pl.DataFrame(pa.table(table)).lazy(),
    "pyarrow": pa.table,
    "pyarrow reader": lambda table: pa.table(table).to_reader(),
    "pyarrow batch": lambda table: pa.RecordBatch.from_pydict(table),
    "structured": lambda table: _pandas(table).to_records(index=False),
}


@st.composite
def frames(draw: st.DrawFn) -> tuple[Drawn, list[Any]]:
    """A frame, and the names of its columns."""
    size = draw(st.integers(0, 6))
    titles = draw(st.lists(st.one_of(names, st.integers(0, 2), st.none()), min_size=1, max_size=4, unique_by=repr))
    table: dict[Any, list[Any]] = {}
    for title in titles:
        few = draw(st.one_of(st.sampled_from(LABELS), st.lists(values, min_size=1, max_size=3)))
        table[title] = [draw(st.sampled_from(few)) for _ in range(size)]
    for held in draw(st.permutations(list(FRAMES))):
        frame = _made(FRAMES[held], table, None)
        if frame is None:
            continue
        if held == "pandas" and draw(st.booleans()):
            frame = pd.concat([frame, frame], axis=1)
        return Drawn(frame), titles
    return Drawn(table), titles


def _csv(table: Mapping[str, list[Any]], **dialect: Any) -> bytes:
    out = io.StringIO(newline="")
    writer = csv.writer(out, **dialect)
    writer.writerow(table)
    writer.writerows(zip(*table.values(), strict=True))
    return out.getvalue().encode("utf-8", "surrogatepass")


def _of(write: Callable[[Any, Path], None], suffix: str) -> Callable[[Mapping[str, list[Any]]], bytes]:
    def written(table: Mapping[str, list[Any]]) -> bytes:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, f"d{suffix}")
            write(table, path)
            return path.read_bytes()

    return written


def _arrow(table: Mapping[str, list[Any]]) -> pa.Table:
    return pa.table({name: pa.array(held) for name, held in table.items()})


def _json_lines(table: Mapping[str, list[Any]]) -> bytes:
    rows = (dict(zip(table, row, strict=True)) for row in zip(*table.values(), strict=True))
    return "".join(f"{json.dumps(row)}\n" for row in rows).encode()


FORMATS: dict[str, Callable[[Mapping[str, list[Any]]], bytes]] = {
    ".csv": _csv,
    ".tsv": lambda table: _csv(table, delimiter="\t"),
    ".csv.gz": lambda table: gzip.compress(_csv(table), mtime=0),
    ".parquet": _of(lambda table, path: optional("pyarrow.parquet").write_table(_arrow(table), path), ".parquet"),
    ".jsonl": _json_lines,
}


# Without pyarrow, fewer formats can be written.
WRITTEN = [suffix for suffix in FORMATS if has("pyarrow") or suffix != ".parquet"]


# What a text file may be put together from.
PIECES = [
    b"g", b"y", b"p", b"1", b"0", b"a", b",", b";", b"\t", b"|", b"\n", b"\r\n", b"\r", b'"', b'""', b"\0", b"\\",
    b"\xef\xbb\xbf", b"\xff\xfe", b"\xe9", b"\xc3", b"\xf0\x9f\x99\x82", b" ", b"'", b"#", b"\x1a", b"\x1b", b"\x85",
    b"\xe2\x80\xa8", b"NA", b"nan", b"1e400", b"=1+1", b"<b>", b"x" * 200, b"g,y,p\n", b"a,1,1\n", b"b,0,0\n",
    b"g;y;p\r\n", b"a;1;0\r\n",
]  # fmt: skip


@st.composite
def csv_bytes(draw: st.DrawFn) -> bytes:
    """The bytes of a text file: pieces in any order, sometimes after a sound table, sometimes in another encoding."""
    begin = draw(
        st.sampled_from([b"", b"g,y,p\n", b"g,y,p\na,1,1\nb,0,0\na,0,1\n", b"\xef\xbb\xbfg;y;p\na;1;0\n", b"g\ty\tp\n"])
    )
    content = begin + b"".join(draw(st.lists(st.sampled_from(PIECES), max_size=12)))
    coding = draw(st.sampled_from(["", "", "", "", "utf-16", "utf-32", "latin-1", "utf-7"]))
    return content.decode("latin-1").encode(coding) if coding else content


def damaged(content: bytes, draw: Any) -> bytes:
    """Bytes with a few cut out, doubled, replaced or inserted."""
    for _ in range(draw(st.integers(1, 4))):
        place = draw(st.integers(0, max(len(content) - 1, 0)))
        much = draw(st.sampled_from([1, 1, 1, 4, 8, 64]))
        how = draw(st.sampled_from(["replace", "flip", "cut", "insert", "double", "end"]))
        new = draw(st.one_of(st.binary(min_size=1, max_size=8), st.sampled_from([b"\xff" * 4, b"\0" * 8, b"\x7f"])))
        if how == "replace":
            content = content[:place] + new + content[place + len(new) :]
        elif how == "flip" and content:
            content = content[:place] + bytes([content[place] ^ (1 << draw(st.integers(0, 7)))]) + content[place + 1 :]
        elif how == "cut":
            content = content[:place] + content[place + much :]
        elif how == "insert":
            content = content[:place] + new + content[place:]
        elif how == "double":
            content = content[:place] + content[place : place + much] * 2 + content[place + much :]
        else:
            content = content[:place]
    return content


@st.composite
def with_damage(draw: st.DrawFn, contents: st.SearchStrategy[bytes]) -> bytes:
    """Bytes of a strategy with damage."""
    return damaged(draw(contents), draw)
