"""Arrow data that come in batches: streams, data sets and IPC files.

Each batch is counted and forgotten, so that memory is bounded by what arrives at once.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from ..errors import InvalidInput
from ..progress import watch
from .frames import MOST_ROWS, Counted, Cuts, count_frame, gathered
from .tables import first_line, unknown_column

__all__ = ["Stream", "arrow_stream", "as_stream", "count_stream", "first_stream_rows", "is_stream", "sql_type"]

# Batches are gathered to this many rows before they are counted.
_BLOCK = 1 << 18


class Stream(NamedTuple):
    """Batches of Arrow data.

    Attributes
    ----------
    schema : pyarrow.Schema
        The columns and their types.
    batches : callable
        Takes the positions of columns and returns an iterator of batches that have these columns in this order.
    what : str
        What error messages call it.
    """

    schema: Any
    batches: Any
    what: str


def is_stream(data: Any) -> bool:
    """Return whether data come in batches; nothing is read.

    Parameters
    ----------
    data : object
        Any data.

    Returns
    -------
    bool
        True for a RecordBatch, RecordBatchReader or data set of pyarrow, and for any object with
        ``__arrow_c_stream__`` that is not a dataframe known to narwhals.

    Examples
    --------
    >>> is_stream([1, 2])
    False
    """
    import narwhals.dependencies as known

    if _is_of_pyarrow(data):
        import pyarrow as pa

        return isinstance(data, (pa.RecordBatch, pa.RecordBatchReader)) or _is_dataset(data)
    if any(is_one(data) for is_one in (known.is_into_series, known.is_into_dataframe, known.is_into_lazyframe)):
        return False
    if not hasattr(data, "__arrow_c_stream__"):
        return False
    # Ibis and Spark can be streamed, and are frames all the same: they count better than we do.
    import narwhals.stable.v2 as nw

    return nw.from_native(data, pass_through=True) is data


def as_stream(data: Any) -> Stream:
    """Open data that come in batches.

    Parameters
    ----------
    data : object
        Something for which `is_stream` is true. What can be read only once is used up by counting it.

    Returns
    -------
    Stream
        Its batches.

    Examples
    --------
    >>> import pyarrow as pa
    >>> as_stream(pa.table({"race": ["A", "B"]}).to_reader()).schema.names
    ['race']
    """
    try:
        import pyarrow as pa
    except ModuleNotFoundError:
        raise InvalidInput("reading an Arrow stream needs pyarrow; install it, or pass a dataframe") from None
    if isinstance(data, pa.RecordBatch):
        return Stream(data.schema, lambda places: iter([data.select(places)]), "data")
    if isinstance(data, pa.RecordBatchReader):
        return _of_reader(data, "data")
    if _is_dataset(data):
        return Stream(data.schema, lambda places: _scanned(data, places), "data")
    try:
        return _of_reader(pa.RecordBatchReader.from_stream(data), "data")
    except (pa.ArrowException, TypeError, ValueError) as error:
        raise InvalidInput(f"data cannot be read: {first_line(error)}") from None


def _is_of_pyarrow(data: Any) -> bool:
    return type(data).__module__.partition(".")[0] == "pyarrow"


def _is_dataset(data: Any) -> bool:
    return _is_of_pyarrow(data) and hasattr(data, "scanner") and hasattr(data, "schema")


def _of_reader(reader: Any, what: str, check: bool = False) -> Stream:
    return Stream(reader.schema, lambda places: (_checked(batch.select(places), check) for batch in reader), what)


def _checked(batch: Any, check: bool) -> Any:
    """A batch whose offsets and indices are valid: pyarrow trusts them, and a damaged file would end the process."""
    if check:
        batch.validate(full=True)
    return batch


def _scanned(data: Any, places: list[int]) -> Iterator[Any]:
    import pyarrow.dataset as ds

    # A plain name with a dot would be read as the path to a nested field.
    wanted = {name: ds.field(name) for name in (data.schema.names[place] for place in places)}
    return iter(data.scanner(columns=wanted).to_batches())


@contextmanager
def arrow_stream(path: Path) -> Iterator[Stream]:
    """Open a Feather file or another Arrow IPC file.

    Parameters
    ----------
    path : Path
        The file, in the format for files or for streams.

    Yields
    ------
    Stream
        Its batches.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from pyarrow.feather import write_feather
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     write_feather(pa.table({"race": ["A", "B"]}), f"{folder}/d.feather")
    ...     with arrow_stream(Path(folder, "d.feather")) as stream:
    ...         first_stream_rows(stream, 1)
    [('A',)]
    """
    try:
        import pyarrow as pa
    except ModuleNotFoundError:
        raise InvalidInput(f"reading {path.name} needs pyarrow; install it, or save the table as Parquet") from None
    try:
        with pa.memory_map(str(path)) as source:
            if source.read(6) == b"ARROW1":
                schema = pa.ipc.open_file(source).schema
                yield Stream(schema, lambda places: _of_file(source, places), str(path))
            else:
                source.seek(0)
                yield _of_reader(pa.ipc.open_stream(source), str(path), check=True)
    except (pa.ArrowException, OSError) as error:
        raise InvalidInput(f"{path} cannot be read: {first_line(error)}") from None


def _of_file(source: Any, places: list[int]) -> Iterator[Any]:
    import pyarrow as pa

    included = sorted(set(places))
    reader = pa.ipc.open_file(source, options=pa.ipc.IpcReadOptions(included_fields=included))
    for i in range(reader.num_record_batches):
        yield _checked(reader.get_batch(i).select([included.index(place) for place in places]), check=True)


def count_stream(stream: Stream, columns: Sequence[str], cuts: Cuts) -> Counted:
    """Count the combinations of values in some columns of a stream.

    Parameters
    ----------
    stream : Stream
        The batches, which are used up.
    columns : sequence of str
        The names of the columns; one may occur several times.
    cuts : mapping of int to tuple of float
        By position in ``columns``, the ascending cuts of columns of numbers, which are counted by level.

    Returns
    -------
    Counted
        How often each combination occurs.

    Examples
    --------
    >>> import pyarrow as pa
    >>> stream = as_stream(pa.table({"race": ["A", "B", "A"], "score": [0.4, 0.9, 0.7]}).to_reader())
    >>> sorted(count_stream(stream, ["race", "score"], {1: (0.5,)}).rows.items())
    [(('A', 0), 1), (('A', 1), 1), (('B', 1), 1)]
    """
    import pyarrow as pa

    names = list(stream.schema.names)
    for name in columns:
        if name not in names:
            raise unknown_column(name, names)
        if names.count(name) > 1:
            raise InvalidInput(f"{stream.what} has {names.count(name)} columns called {name!r}; rename all but one")
    counts: Counter[Any] = Counter()
    try:
        with watch(f"counting {Path(stream.what).name}", lambda: -1.0):
            for block in _blocks(stream.batches([names.index(name) for name in dict.fromkeys(columns)])):
                counts += count_frame(block, columns, cuts).rows
                if len(counts) > MOST_ROWS:
                    break
    except (pa.ArrowException, OSError) as error:
        raise InvalidInput(f"{stream.what} cannot be read: {first_line(error)}") from None
    source = {"kind": "frame", "library": "pyarrow", "shape": [None, len(names)]}
    return Counted(gathered((*key, n) for key, n in counts.items()), "pyarrow", source)


def first_stream_rows(stream: Stream, most: int) -> list[tuple[Any, ...]]:
    """Read the first rows of a stream.

    Parameters
    ----------
    stream : Stream
        The batches.
    most : int
        How many rows to read at most.

    Returns
    -------
    list of tuple
        The rows.

    Examples
    --------
    >>> import pyarrow as pa
    >>> first_stream_rows(as_stream(pa.table({"race": ["A", "B"], "label": [1, 0]}).to_reader()), 1)
    [('A', 1)]
    """
    rows: list[tuple[Any, ...]] = []
    for batch in stream.batches(list(range(len(stream.schema.names)))):
        found = batch.slice(0, most - len(rows))
        rows += zip(*(column.to_pylist() for column in found.columns), strict=True)
        if len(rows) >= most:
            break
    return rows


def sql_type(arrow_type: Any) -> str:
    """The type of a column in the words of SQL, which tell texts, numbers and others apart.

    Parameters
    ----------
    arrow_type : pyarrow.DataType
        The type.

    Returns
    -------
    str
        ``"VARCHAR"``, ``"DOUBLE"``, or Arrow's own name for other types.

    Examples
    --------
    >>> import pyarrow as pa
    >>> sql_type(pa.dictionary(pa.int8(), pa.string())), sql_type(pa.int64()), sql_type(pa.bool_())
    ('VARCHAR', 'DOUBLE', 'bool')
    """
    from pyarrow import types

    if types.is_dictionary(arrow_type):
        return sql_type(arrow_type.value_type)
    if any(is_text(arrow_type) for is_text in (types.is_string, types.is_large_string, types.is_string_view)):
        return "VARCHAR"
    numeric = types.is_integer(arrow_type) or types.is_floating(arrow_type) or types.is_decimal(arrow_type)
    return "DOUBLE" if numeric else str(arrow_type)


def _blocks(batches: Iterable[Any]) -> Iterator[Any]:
    """Tables of many rows, since a stream may have batches of one."""
    import pyarrow as pa

    held: list[Any] = []
    rows = 0
    for batch in batches:
        held.append(batch)
        rows += batch.num_rows
        if rows >= _BLOCK:
            yield pa.Table.from_batches(held)
            held, rows = [], 0
    if rows:
        yield pa.Table.from_batches(held)
