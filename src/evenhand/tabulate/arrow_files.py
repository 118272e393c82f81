"""Feather and other Arrow IPC files. Each batch is counted and forgotten, so that memory is bounded by the batches."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from ..errors import InvalidInput, escaped
from ..progress import watch
from .frames import MOST_ROWS, Counted, Cuts, count_frame, gathered
from .sources import Source, check_columns, check_types, unreadable

__all__ = ["ARROW_MAGIC", "count_arrow", "first_arrow_rows"]

ARROW_MAGIC = b"ARROW1"
# Batches are gathered to this many rows before they are counted.
_BLOCK = 1 << 18


class _Opened(NamedTuple):
    """The schema of a file, and a function that reads batches of the columns at some positions, in this order."""

    schema: Any
    batches: Callable[[list[int]], Iterator[Any]]


def count_arrow(source: Source, columns: Sequence[str], cuts: Cuts) -> Counted:
    """Count the combinations of values in some columns."""
    schemas = {}
    for file in source.files:
        with _opened(file) as found:
            schemas[file] = found.schema
    check_columns({file: tuple(schema.names) for file, schema in schemas.items()}, columns)
    check_types({f: {field.name: sql_type(field.type) for field in schemas[f]} for f in schemas}, columns)
    rows: Counter[Any] = Counter()
    for file in source.files:
        with _opened(file) as found, watch(f"counting {file.name}", lambda: -1.0):
            places = [found.schema.names.index(name) for name in dict.fromkeys(columns)]
            for block in _blocks(found.batches(places)):
                rows += count_frame(block, columns, cuts).rows
                if len(rows) > MOST_ROWS:
                    break
    return Counted(gathered((*key, n) for key, n in rows.items()), None, {})


def first_arrow_rows(source: Source, most: int) -> tuple[list[str], list[tuple[Any, ...]]]:
    """The names of the columns, and the first rows of the first file."""
    rows: list[tuple[Any, ...]] = []
    with _opened(source.files[0]) as found:
        for batch in found.batches(list(range(len(found.schema.names)))):
            first = batch.slice(0, most - len(rows))
            rows += zip(*(column.to_pylist() for column in first.columns), strict=True)
            if len(rows) >= most:
                break
        return list(found.schema.names), rows


@contextmanager
def _opened(path: Path) -> Iterator[_Opened]:
    """A file, in the format for files or for streams."""
    try:
        import pyarrow as pa
    except ModuleNotFoundError:
        raise InvalidInput(
            f"reading {escaped(path.name)} needs pyarrow; install it, or save the table as Parquet"
        ) from None
    try:
        with pa.memory_map(str(path)) as source:
            if source.read(len(ARROW_MAGIC)) == ARROW_MAGIC:
                yield _Opened(pa.ipc.open_file(source).schema, lambda places: _of_file(source, places))
            else:
                source.seek(0)
                reader = pa.ipc.open_stream(source)
                yield _Opened(reader.schema, lambda places: (_checked(batch.select(places)) for batch in reader))
    except (pa.ArrowException, OSError) as error:
        raise unreadable(path, error) from None


def _of_file(source: Any, places: list[int]) -> Iterator[Any]:
    import pyarrow as pa

    included = sorted(set(places))
    reader = pa.ipc.open_file(source, options=pa.ipc.IpcReadOptions(included_fields=included))
    for i in range(reader.num_record_batches):
        yield _checked(reader.get_batch(i).select([included.index(place) for place in places]))


def _checked(batch: Any) -> Any:
    """A batch whose offsets and indices are valid: pyarrow trusts them, and a damaged file would end the process."""
    batch.validate(full=True)
    return batch


def sql_type(arrow_type: Any) -> str:
    """The type of a column in the words of SQL, which tell texts, numbers and others apart.

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
    """Tables of many rows, since a file may have batches of one."""
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
