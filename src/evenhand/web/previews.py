"""Previews of files: columns with a sample, values with their counts, histograms of scores, bins of numbers.

The engine that reads a file counts; nothing else of it is kept.
"""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import lru_cache
from io import StringIO
from math import ceil, floor, inf, log10, nextafter
from pathlib import Path
from typing import Any

from .. import examples
from ..confusion import CELLS, read_labels
from ..data import (
    count,
    count_rows,
    first_rows,
    guess_positive,
    guess_roles,
    kind_of,
    read_counts,
    read_first_columns,
    sort_values,
)
from ..errors import EvenhandError, InvalidInput
from ..records import plain_value
from .form import FIELD_NAMES

__all__ = ["bin_sizes", "column_values", "counts_preview", "file_preview", "score_histogram"]

_SAMPLED, _PREVIEWED, _LONGEST = 200, 8, 80
_MOST_VALUES, _MOST_PREVIEWED_COLUMNS = 50, 200
_BARS = 24


Files = str | list[str]


def file_preview(data: Files) -> dict[str, Any]:
    """The columns of a file with a sample of their values, and what each seems to be."""
    columns = read_first_columns(data)
    _count.cache_clear()
    if not columns:
        raise InvalidInput(f"{data if isinstance(data, str) else data[0]} has no rows; there is nothing to audit")
    kinds = {name: kind_of(values) for name, values in columns.items()}
    rows = zip(*(values[:_PREVIEWED] for values in list(columns.values())[:_MOST_PREVIEWED_COLUMNS]), strict=True)
    return {
        "columns": [
            {"name": name, "kind": kind.kind, "values": [_shown(v) for v in kind.examples]}
            for name, kind in kinds.items()
        ],
        "rows": [[_shown(v) for v in row] for row in rows],
        "guesses": guess_roles(columns),
    }


def counts_preview(data: str, example: str | None = None) -> dict[str, Any]:
    """The group columns of a table of counts with their values; the table itself, if it is an example."""
    if example is not None:
        table = StringIO(newline="")
        writer = csv.writer(table)
        writer.writerow(["race", *CELLS])
        writer.writerows([group, *map(int, cm.cells)] for group, cm in getattr(examples, example)().items())
        Path(data).write_text(table.getvalue(), "utf-8", newline="")
    by, matrices, _ = read_counts(data)
    found = {}
    for i, name in enumerate(by[:_MOST_PREVIEWED_COLUMNS]):
        sizes: Counter[Any] = Counter()
        for group, cm in matrices.items():
            sizes[group[i]] += int(cm.n)
        found[name] = _listed(sizes)
    text = Path(data).read_text("utf-8") if example is not None else None
    return {"name": data, "groups": found, "cases": int(sum(cm.n for cm in matrices.values())), "text": text}


def _shown(value: Any) -> str | None:
    # A value may have gigabytes.
    text = None if value is None else str(value[: 4 * _LONGEST] if isinstance(value, (str, bytes)) else value)
    return text if text is None or len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"


@lru_cache(maxsize=64)
def _count(files: tuple[str, ...], column: str, folder: Path) -> Counter[Any]:
    """How often each value of a column occurs."""
    return Counter({key[0]: n for key, n in count(list(files), [(column, column)], {}).rows.items()})


def column_values(data: Files, columns: Mapping[str, str]) -> dict[str, Any]:
    """The values of columns by role, each with how often it occurs; those of labels and predictions with their meaning.

    Positive values are those that the library would infer from both columns or, where it cannot, from one.
    """
    numbers: dict[str, Counter[Any]] = {}
    found: dict[str, Any] = {}
    for role, column in columns.items():
        try:
            numbers[role] = _count((data,) if isinstance(data, str) else tuple(data), column, Path.cwd())
            found[role] = _listed(numbers[role])
        except EvenhandError as refusal:
            found[role] = {"error": refusal.spelled(FIELD_NAMES)}
    answers = {role: set(counts) for role, counts in numbers.items() if role in ("y_true", "y_pred")}
    for role in answers:
        found[role] |= _meanings(answers, role, numbers[role])
    return found


def _listed(counts: Mapping[Any, int]) -> dict[str, Any]:
    """The values that occur most often, in their order, and how many there are."""
    most = {value for value, _ in Counter(counts).most_common(_MOST_VALUES)}
    return {
        "values": [{"value": plain_value(v), "n": counts[v]} for v in sort_values(most) if v is not None],
        "distinct": len(counts) - (None in counts),
        "missing": counts.get(None, 0),
    }


def _meanings(asked: Mapping[str, set[Any]], name: str, counts: Mapping[Any, int]) -> dict[str, Any]:
    """Which values of a column the library infers to be positive, from all columns together or this one alone.

    Values that it takes for missing are neither. Where it infers nothing, ``guessed`` are those that seem positive.
    """
    for together, columns in ((True, asked), (False, {name: asked[name]})):
        try:
            meanings = read_labels(columns).codes[name]
        except EvenhandError:
            continue
        positive = [plain_value(v) for v in counts if meanings.get(v)]
        lacking = [plain_value(v) for v in counts if v is not None and meanings.get(v, 0) is None]
        return {"positive": positive, "guessed": [], "lacking": lacking, "together": together}
    guessed = [plain_value(v) for v in guess_positive([v for v in counts if v is not None])]
    return {"positive": None, "guessed": guessed, "lacking": [], "together": False}


def score_histogram(data: Files, column: str) -> dict[str, Any]:
    """The scores of a column as a histogram with round edges, counted by the engine."""
    steps = [digit * 10.0**power for power in range(-4, 10) for digit in (1, 2, 5)]
    # One more cut just above a number that many scales end with tells its value from those beyond it.
    ends = [nextafter(end, inf) for end in (1.0, 5.0, 10.0, 100.0, 1000.0)]
    steps += [10.0**power for power in (*range(10, 20), 30, 100, 300)]
    ladder = sorted({0.0, *steps, *(-step for step in steps), *ends, nextafter(0.0, inf)})
    levels, missing = _levels(data, column, ladder)
    if not levels:
        raise InvalidInput(f"{column!r} contains no numbers; choose another column of scores")
    low = ladder[min(levels) - 1] if min(levels) > 0 else ladder[0]
    high = ladder[max(levels)] if max(levels) < len(ladder) else ladder[-1]
    high = nextafter(high, -inf) if high in ends else high
    whole = _are_whole(data, column)
    for _ in range(4):
        edges = _round_edges(low, high, whole)
        bars, _ = _levels(data, column, [*edges[:-1], nextafter(edges[-1], inf)])
        inside = [bars.get(i, 0) for i in range(1, len(edges))]
        filled = [i for i, n in enumerate(inside) if n]
        if not filled or filled[-1] - filled[0] + 1 > len(inside) / 2 or edges[-1] - edges[0] < 1e-6:
            break
        low, high = edges[filled[0]], edges[filled[-1] + 1]
    first, last = (filled[0], filled[-1] + 1) if filled else (0, len(inside))
    return {
        "bars": [[edges[i], edges[i + 1], inside[i]] for i in range(first, last)],
        "n": sum(levels.values()),
        "missing": missing,
        "unit": all(ladder[level - 1] >= 0 and level > 0 and ladder[level - 1] <= 1 for level in levels),
    }


def _levels(data: Files, column: str, cuts: Sequence[float]) -> tuple[dict[int, int], int]:
    """How many numbers of a column lie at each level, and how many are missing."""
    levels = {key[0]: n for key, n in count(data, [(column, column)], {0: tuple(cuts)}).rows.items()}
    missing = levels.pop(None, 0)
    return levels, missing


def _are_whole(data: Files, column: str) -> bool:
    """Whether a sample of the scores contains whole numbers only, each of which then has a bin to itself or a part."""
    columns, rows = first_rows(data, _SAMPLED)
    sampled = [str(row[columns.index(column)]) for row in rows if row[columns.index(column)] is not None]
    return bool(sampled) and all(text.strip().removeprefix("-").isdecimal() for text in sampled)


def _round_edges(low: float, high: float, whole: bool) -> list[float]:
    """Edges of about 24 bins of round width; the last one includes ``high``, in a bin of its own for whole numbers."""
    width = max((high - low) / _BARS, 1.0 if whole else 1e-9)
    power = 10.0 ** floor(log10(width))
    step = next(digit * power for digit in (1, 2, 5 if whole else 2.5, 5, 10) if digit * power >= width * (1 - 1e-9))
    # Quotients that are whole but for rounding are whole.
    first, last = floor(low / step + 1e-12 * abs(low / step)), ceil(high / step - 1e-12 * abs(high / step))
    return [float(f"{i * step:.12g}") for i in range(first, max(last, first + 1) + 1 + whole)]


def bin_sizes(data: Files, column: str, cuts: list[float]) -> dict[str, Any]:
    """How many rows each bin of a column has, by its name."""
    found = count_rows(data, [column], {}, bins={column: cuts})
    sizes = {bin_name: n for (bin_name,), n in found.rows.items()}
    missing = sizes.pop(None, 0)
    return {
        "values": [{"value": name, "n": sizes[name]} for name in sort_values(sizes, found.orders[column])],
        "distinct": len(sizes),
        "missing": missing,
    }
