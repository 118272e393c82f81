"""Whatever the world sends to a door, the answer is one that plain Python confirms, or a refusal in one sentence.

``benchmarks/fuzz.py`` runs the same tests for as long as one likes, with other seeds each time.
"""

from __future__ import annotations

import csv
import hashlib
import io
import json
import os
import tempfile
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import chdir, contextmanager
from decimal import Decimal
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import click
import hostile
import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from hypothesis import HealthCheck, Phase, given, settings, strategies as st
from starlette.testclient import TestClient

import evenhand as eh
from evenhand.cli import COMMANDS, evenhand
from evenhand.data import rule_of
from evenhand.data.disclosure import round_counts
from evenhand.fairlearn import confusion_counts, equalized_odds_difference
from evenhand.sklearn import small_sample_report
from evenhand.web import create_app
from evenhand.web.tasks import TASKS

Data = st.DataObject


def few(examples: int) -> settings:
    """The same few examples in every run; so many others if ``EVENHAND_FUZZ`` says so, as a campaign does."""
    campaign = os.environ.get("EVENHAND_FUZZ")
    return settings(
        max_examples=int(campaign or examples),
        derandomize=campaign is None,
        database=None,
        deadline=None,
        suppress_health_check=list(HealthCheck),
        phases=(Phase.explicit, Phase.generate, Phase.shrink),
    )


def tried() -> None:
    """Tell a campaign that one more example was tried: a byte in a file."""
    if os.environ.get("EVENHAND_FUZZ_TRIED"):
        with Path(os.environ["EVENHAND_FUZZ_TRIED"]).open("ab") as file:
            file.write(b".")


class Refused:
    """The sentence of a refusal."""

    def __init__(self, sentence: str) -> None:
        self.sentence = sentence


def answered(call: Callable[[], Any]) -> Any:
    """The answer of a call, or how it was refused; nothing else is caught, and a warning is an error."""
    tried()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            return call()
        except eh.EvenhandError as refusal:
            refused = Refused(str(refusal))
    assert refused.sentence.strip()
    assert "Traceback" not in refused.sentence
    return refused


@contextmanager
def file_of(content: bytes, suffix: str) -> Iterator[Path]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, f"d{suffix}")
        path.write_bytes(content)
        yield path


CALLS: dict[str, Callable[[Any, Any, Any, Any, Any], Any]] = {
    "from_labels": lambda t, p, g, w, one: eh.ConfusionMatrix.from_labels(t, p, positive=one),
    "multiclass": lambda t, p, g, w, one: eh.MulticlassConfusion.from_labels(t, p),
    "confusion_counts": lambda t, p, g, w, one: confusion_counts(t, p, positive=one),
    "equalized_odds_difference": lambda t, p, g, w, one: equalized_odds_difference(
        t, p, sensitive_features=g, positive=one
    ),
    "audit": lambda t, p, g, w, one: eh.audit(None, y_true=t, y_pred=p, groups=g, positive=one, metrics=["tpr", "ppr"]),
    "audit of scores at a threshold": lambda t, p, g, w, one: eh.audit(
        None, y_true=t, y_score=w, groups=g, threshold=one, metrics="ppr"
    ),
    "audit of two columns": lambda t, p, g, w, one: eh.audit(
        None, y_true=t, y_pred=p, groups={"g": g, "h": w}, metrics="ppr"
    ),
    "audit of classes": lambda t, p, g, w, one: eh.audit(
        None, y_true=t, y_pred=p, groups=g, classes="all", metrics=["tpr", "acc"]
    ),
    "small_sample_report": lambda t, p, g, w, one: small_sample_report(t, p),
}


@given(data=st.data(), name=st.sampled_from(list(CALLS)))
@few(150)
def test_columns_of_anything_are_counted_or_refused(data: Data, name: str) -> None:
    size = data.draw(st.integers(0, 6))
    true, pred, groups, other = (data.draw(hostile.columns(size)).value for _ in range(4))
    one = data.draw(st.one_of(st.none(), st.sampled_from([1, "yes", True]), hostile.values))
    result = answered(lambda: CALLS[name](true, pred, groups, other, one))
    if not isinstance(result, Refused):
        shows_only_text(result)


FAITHFUL = ["list", "tuple", "array of objects", "array", "pandas", "pandas nullable", "pandas arrow", "polars",
            "pandas categorical", "pandas index", "pyarrow", "pyarrow chunks", "pyarrow dictionary",
            "iterator"]  # fmt: skip


@given(
    rows=st.lists(st.tuples(st.booleans(), st.booleans(), st.sampled_from("abc")), min_size=1, max_size=12),
    labels=st.sampled_from(hostile.LABELS),
    held=st.lists(st.sampled_from(FAITHFUL), min_size=3, max_size=3),
)
@few(60)
def test_two_labels_are_counted_as_a_loop_counts_them(rows: Any, labels: Any, held: list[str]) -> None:
    """However a column is held. (A label that does not occur cannot be inferred.)"""
    makers = [hostile.COLUMNS[how] for how in held]
    columns = [[labels[row[0]] for row in rows], [labels[row[1]] for row in rows], [row[2] for row in rows]]

    def made() -> list[Any]:
        return [make(column) for make, column in zip(makers, columns, strict=True)]

    cells = Counter((group, true, pred) for true, pred, group in rows)
    total = [sum(cells[g, t, p] for g in "abc") for t, p in ((1, 1), (1, 0), (0, 1), (0, 0))]
    true, pred, _ = made()
    assert answered(lambda: eh.ConfusionMatrix.from_labels(true, pred, positive=labels[1])).cells == tuple(total)
    true, pred, group = made()
    audit = answered(lambda: eh.audit(None, y_true=true, y_pred=pred, groups=group, positive=labels[1], metrics="acc"))
    names = {row[2] for row in rows}
    if len(names) == 1:
        assert "only one group" in audit.sentence
    else:
        found = {row.group: row.cells for row in audit.rows}
        assert found == {
            g: tuple(cells[g, t, p] for t, p in ((True, True), (True, False), (False, True), (False, False)))
            for g in names
        }


@given(data=st.data())
@few(120)
def test_frames_of_anything_are_audited_or_refused(data: Data) -> None:
    frame, titles = data.draw(hostile.frames())
    some = st.one_of(st.sampled_from(titles), hostile.names)
    groups = data.draw(st.one_of(some, st.lists(some, min_size=1, max_size=2)))
    columns: dict[str, Any] = {"y_true": data.draw(some), "y_pred": data.draw(some)}
    result = answered(lambda: eh.audit(frame.value, **columns, groups=groups, metrics=["acc", "ppr"]))
    if not isinstance(result, Refused):
        assert sum({row.group: row.n for row in result.rows if row.by == result.rows[0].by}.values()) == result.n
        shows_only_text(result)


def as_csv_says(content: bytes) -> list[dict[str, str]] | None:
    """The rows of a text file by Python's csv module; None if no separator gives a table with g, y and p."""
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        return None
    for separator in ",;\t|":
        try:
            rows = [row for row in csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True) if row]
        except csv.Error:
            continue
        if rows and {"g", "y", "p"} <= set(rows[0]) and all(len(row) == len(rows[0]) for row in rows):
            return [dict(zip(rows[0], row, strict=True)) for row in rows[1:]]
    return None


@given(content=st.one_of(hostile.csv_bytes(), hostile.with_damage(hostile.csv_bytes())))
@few(90)
def test_text_files_have_the_rows_that_the_csv_module_reads(content: bytes) -> None:
    with file_of(content, ".csv") as path:
        result = answered(lambda: eh.audit(path, y_true="y", y_pred="p", groups="g", metrics="ppr"))
    if not isinstance(result, Refused):
        rows = as_csv_says(content)
        assert rows is not None
        assert result.n + sum(result.left_out.values()) == len(rows)
        assert {row.group for row in result.rows} <= {row["g"] or "(missing)" for row in rows}
        shows_only_text(result)


SOUND: dict[str, list[Any]] = {
    "g": ["a", "b", "a", "b", "c"] * 3,
    "y": [1, 0, 0, 1, 1] * 3,
    "p": [1, 0, 1, 1, 0] * 3,
    "s": [0.5, 0.1] * 7 + [1.0],
}
FILES = {suffix: hostile.FORMATS[suffix](SOUND) for suffix in hostile.WRITTEN}


@pytest.mark.slow
@pytest.mark.parametrize("suffix", FILES)
@given(data=st.data())
@few(15)
def test_damaged_files_are_audited_or_refused(data: Data, suffix: str) -> None:
    content = hostile.damaged(FILES[suffix], data.draw)
    with file_of(content, suffix) as path:
        for columns in ({"y_pred": "p"}, {"y_score": "s"}):
            result = answered(lambda c=columns: eh.audit(path, y_true="y", groups="g", metrics="acc", **c))  # type: ignore[misc]
            if not isinstance(result, Refused):
                assert sum(row.n for row in result.rows) + sum(result.unknown.values()) == result.n
                shows_only_text(result)


cells = st.one_of(st.integers(0, 9), hostile.values)
HEADS = ["g,tp,fn,fp,tn", "g;TP;FN;FP;TN", "tp\tfn\tfp\ttn\tg", "g,h,tp,fn,fp,tn", "tp,fn,fp,tn", "g,g,tp,fn,fp,tn"]


@given(data=st.data())
@few(80)
def test_tables_of_counts_are_audited_or_refused(data: Data) -> None:
    head = data.draw(st.sampled_from(HEADS))
    sign = next(c for c in ",;\t" if c in head)
    wide = head.count(sign) + 1
    rows = data.draw(
        st.lists(
            st.lists(st.sampled_from([*"0123abc", "10", "", *hostile.NAUGHTY]), min_size=wide, max_size=wide),
            max_size=4,
        )
    )
    text = "\n".join([head, *(sign.join(row) for row in rows)])
    content = text.encode("utf-8", "surrogatepass")
    if data.draw(st.booleans()):
        content = hostile.damaged(content, data.draw)
    with file_of(content, ".csv") as path:
        result = answered(lambda: eh.audit_counts(path, metrics=["acc", "tpr"]))
    if not isinstance(result, Refused):
        shows_only_text(result)


def can_be_a_key(value: Any) -> bool:
    try:
        return value in {value: 0}
    except (TypeError, ArithmeticError):
        return False


@given(
    counts=st.one_of(
        st.dictionaries(
            hostile.scalars.filter(can_be_a_key), st.lists(st.integers(0, 9), min_size=4, max_size=4), max_size=4
        ),
        st.dictionaries(hostile.names, st.one_of(st.lists(cells, max_size=5), cells), max_size=3),
    ),
    by=st.one_of(st.just("g"), hostile.names, hostile.values),
)
@few(120)
def test_counts_of_anything_are_audited_or_refused(counts: Any, by: Any) -> None:
    result = answered(lambda: eh.audit_counts(counts, by=by, metrics=["acc", "f1"]))
    if not isinstance(result, Refused):
        assert result.n == sum(sum(given) for given in counts.values())
        shows_only_text(result)


class Tags(HTMLParser):
    """The tags of a page and the names of their attributes."""

    def __init__(self) -> None:
        super().__init__()
        self.found: set[tuple[str, tuple[str, ...]]] = set()

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        self.found.add((tag, tuple(sorted(name for name, _ in attrs))))


def tags_of(page: str) -> set[tuple[str, tuple[str, ...]]]:
    parser = Tags()
    parser.feed(page)
    return parser.found


def is_text(text: str, beside: str = "\n") -> bool:
    return all(sign.isprintable() or sign in beside for sign in text)


def shows_only_text(result: Any) -> None:
    """No output of a result steers a terminal, a page or a spreadsheet, and what is written can be read again."""
    shown = answered(lambda: str(result))
    assert isinstance(shown, Refused) or is_text(shown), shown
    for tag, attributes in tags_of(answered(result._repr_html_)) if hasattr(result, "_repr_html_") else ():
        assert tag not in ("script", "img", "a"), tag
        assert not any(name.startswith("on") for name in attributes)
    if not isinstance(result, eh.Audit):
        return
    assert is_text(result.to_markdown())
    for row in csv.reader(io.StringIO(result.to_csv(), newline="")):
        assert not any(cell.startswith(("=", "+", "@", "\t", "\r")) for cell in row), row
        assert not any(cell.startswith("-") and not is_number(cell) for cell in row), row
    assert eh.Audit.from_json(result.to_json()) == result


def is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


@pytest.mark.slow
@given(naughty=st.lists(hostile.names, min_size=2, max_size=3, unique=True), by=hostile.names)
@few(12)
def test_names_are_text_on_the_page(naughty: list[str], by: str) -> None:
    """The page of an audit has the same tags and attributes whatever its groups are called."""
    counts = [(0, 0, 2, 3), (9, 1, 2, 8), (1, 1, 1, 1)][: len(naughty)]
    # Names that look alike are a finding of their own.
    plain, similar = (
        eh.audit_counts(dict(zip(names, counts, strict=False)), metrics=["tpr", "mcc"]).to_html(title="t")
        for names in ("abc", ("a", "A", "a "))
    )
    named = answered(lambda: eh.audit_counts(dict(zip(naughty, counts, strict=True)), by=by, metrics=["tpr", "mcc"]))
    if isinstance(named, Refused):
        return
    page = answered(named.to_html)
    if not isinstance(page, Refused):
        assert {tag for tag, _ in tags_of(page)} <= {tag for tag, _ in tags_of(plain) | tags_of(similar)}
        assert page.count("<script") == plain.count("<script")
    shows_only_text(named)


def places(document: Any, at: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    yield at
    children = (
        document.items() if isinstance(document, dict) else enumerate(document) if isinstance(document, list) else ()
    )
    for key, child in children:
        yield from places(child, (*at, key))


plain_json = st.recursive(
    st.one_of(
        st.none(),
        st.booleans(),
        st.integers(),
        st.floats(),
        hostile.names,
        st.sampled_from([10**30, 10**400, 12345678.5, 0.5]),
    ),
    lambda inner: st.one_of(st.lists(inner, max_size=2), st.dictionaries(hostile.names, inner, max_size=2)),
    max_leaves=3,
)


def changed(document: Any, data: Data) -> Any:
    """A document with some parts removed, replaced or added."""
    document = json.loads(json.dumps(document))
    for _ in range(data.draw(st.integers(1, 3))):
        *above, last = data.draw(st.sampled_from([place for place in places(document) if place] or [("x",)]))
        inside = document
        for key in above:
            inside = inside[key]
        how = data.draw(st.sampled_from(["replace", "remove", "add", "swap"]))
        if how == "remove":
            inside.pop(last)
        elif how == "add" and isinstance(inside, dict):
            inside[data.draw(hostile.names)] = data.draw(plain_json)
        elif how == "swap" and isinstance(inside, dict):
            other = data.draw(st.sampled_from(list(inside)))
            inside[last], inside[other] = inside[other], inside[last]
        else:
            inside[last] = data.draw(plain_json)
        if not document:
            break
    return document


def written(document: Any) -> str:
    """A document as JSON, with one number that is larger than any float."""
    return json.dumps(document).replace("12345678.5", "1e999")


AUDIT = eh.audit_counts({"A": (0, 2, 8, 30), "B": (300, 100, 120, 480)}, metrics=["tpr", "mcc"])
TABLE = {"y": [1, 0, 1, 0, 1, 1], "s": [0.1, 0.4, 0.8, 0.9, 0.3, 0.6], "g": list("aabbab")}
SWEEP = eh.audit(TABLE, y_true="y", y_score="s", groups="g", threshold=[0.2, 0.5], metrics="tpr")


@pytest.mark.parametrize("whole", [AUDIT, SWEEP], ids=["audit", "sweep"])
@given(data=st.data())
@few(60)
def test_a_changed_document_is_refused_or_loads_as_what_it_says(whole: Any, data: Data) -> None:
    """from_json(to_json(x)) == x also for an x that was read from a document that nobody wrote."""
    read = type(whole).from_json
    if data.draw(st.integers(0, 3)):
        text = written(changed(whole.to_dict(), data))
    else:
        text = hostile.damaged(whole.to_json().encode(), data.draw).decode("utf-8", "surrogateescape")
    loaded = answered(lambda: read(text))
    if isinstance(loaded, Refused):
        return
    again = answered(loaded.to_json)
    if not isinstance(again, Refused):
        assert read(again) == loaded
    for out in (
        loaded.to_text,
        loaded.to_markdown,
        loaded.to_html,
        loaded.to_csv,
        lambda: loaded.changes(whole),
        loaded.repeat,
    ):
        answered(out)


WATCH = eh.Monitor(metrics=["tpr", "acc"], reference={"g": "a"})
for week in ("W1", "W2"):
    WATCH = WATCH.add({**SOUND, "u": [f"{week} {i}" for i in range(15)]}, at=week, y_true="y", y_pred="p", groups="g",
                      cluster="u")  # fmt: skip


def sealed(state: Any) -> str:
    """A state with the digest that belongs to it, which anybody can compute."""
    if not isinstance(state, dict):
        return written(state)
    kept = json.loads(written({name: value for name, value in state.items() if name != "digest"}))
    text = json.dumps(kept, ensure_ascii=True, sort_keys=True)
    return json.dumps(kept | {"digest": hashlib.sha256(text.encode()).hexdigest()})


@st.composite
def states(draw: st.DrawFn) -> str:
    """The state of a monitor: damaged, or edited and sealed again."""
    if draw(st.integers(0, 3)):
        return sealed(changed(json.loads(WATCH.to_json()), draw(st.data())))
    return hostile.damaged(WATCH.to_json().encode(), draw).decode("utf-8", "surrogateescape")


@given(text=states())
@few(100)
def test_a_changed_state_of_a_monitor_is_refused_or_loads_as_what_it_says(text: str) -> None:
    loaded = answered(lambda: eh.Monitor.from_json(text))
    if isinstance(loaded, Refused):
        return
    again = eh.Monitor.from_json(answered(loaded.to_json))
    assert (again.rows, again.batches, again.columns) == (loaded.rows, loaded.batches, loaded.columns)
    shows_only_text(loaded)
    assert tags_of(answered(loaded.to_html)) <= tags_of(WATCH.to_html())
    answered(lambda: loaded.add_counts({"a": (1, 2, 3, 4), "b": (2, 2, 2, 2)}, at="W3", by="g"))
    later = answered(lambda: loaded.add({**SOUND, "u": list(range(15))}, at="W3"))
    if not isinstance(later, Refused):
        shows_only_text(later)


@given(
    names=st.lists(hostile.names, min_size=2, max_size=3, unique=True),
    at=st.one_of(hostile.names, hostile.values),
    by=hostile.names,
)
@few(40)
def test_names_are_text_wherever_a_monitor_is_shown(names: list[str], at: Any, by: str) -> None:
    counts = dict(zip(names, [(1, 9, 0, 2), (80, 20, 1, 9), (1, 1, 1, 1)], strict=False))
    monitor = answered(lambda: eh.Monitor(metrics="tpr").add_counts(counts, at=at, by=by))
    if not isinstance(monitor, Refused):
        shows_only_text(monitor)
        page = answered(monitor.to_html)
        assert isinstance(page, Refused) or page.count("<script") == WATCH.to_html().count("<script")
        again = answered(monitor.to_json)
        assert isinstance(again, Refused) or eh.Monitor.from_json(again).rows == monitor.rows


RULES = st.sampled_from(["cms", "opensafely", "ons", 3])


@pytest.mark.slow
@given(data=st.data(), protect=RULES, by=hostile.names)
@few(15)
def test_names_tell_nothing_more_of_protected_counts(data: Data, protect: Any, by: str) -> None:
    """Two tables of the same blocks are the same bytes, and text, in every output whatever their groups are called."""
    names = data.draw(st.lists(hostile.names, min_size=2, max_size=4, unique=True))
    table = {name: tuple(data.draw(st.integers(0, 60)) for _ in range(4)) for name in names}

    def elsewhere(count: int) -> int:
        _, low, high = round_counts(np.array(count), rule_of(protect))  # type: ignore[arg-type]
        return data.draw(st.integers(int(low), int(high)))

    other = {name: tuple(map(elsewhere, counts)) for name, counts in table.items()}
    first, second = (
        answered(lambda t=t: eh.audit_counts(t, by=by, protect=protect, metrics=["tpr", "mcc"]))  # type: ignore[misc]
        for t in (table, other)
    )
    if isinstance(first, Refused):
        assert isinstance(second, Refused) and first.sentence == second.sentence
        return
    for output in ("to_json", "to_csv", "to_markdown", "to_html", "to_text"):
        one, two = (answered(getattr(audit, output)) for audit in (first, second))
        assert isinstance(one, Refused) or one == two
    shows_only_text(first)


@pytest.mark.parametrize("suffix", [".csv", ".csv.gz", ".parquet", ".jsonl"])
@given(data=st.data(), protect=RULES)
@few(8)
def test_damaged_files_are_protected_or_refused(data: Data, suffix: str, protect: Any) -> None:
    table = {name: held * 12 for name, held in SOUND.items()}
    with file_of(hostile.damaged(hostile.FORMATS[suffix](table), data.draw), suffix) as path:
        result = answered(lambda: eh.audit(path, y_true="y", y_pred="p", groups="g", metrics="acc", protect=protect))
    if isinstance(result, Refused):
        return
    rule = rule_of(protect)
    assert rule is not None
    for row in result.rows:
        assert row.cells is None or round_counts(np.array(row.cells), rule)[0].tolist() == list(row.cells)
    assert not {"sha256", "rows", "bytes"} & set(result.provenance["source"])
    shows_only_text(result)


# The command line.


def leaves() -> dict[tuple[str, ...], click.Command]:
    found: dict[tuple[str, ...], click.Command] = {}
    context = click.Context(evenhand)
    for name in COMMANDS:
        command = evenhand.get_command(context, name)
        assert command is not None
        if isinstance(command, click.Group):
            found |= {(name, inner): leaf for inner, leaf in command.commands.items()}
        else:
            found[name,] = command
    return found


LEAVES = {words: command for words, command in leaves().items() if words[0] != "serve"}
small = st.integers(0, 12).map(str)
written_numbers = st.one_of(
    small,
    st.sampled_from(["-1", "nan", "inf", "-inf", "1e400", "0.05", "0.5", "1", "1e-320", "1e15", "x", "", "10**3", "٣"]),
)
metric_names = st.one_of(
    st.sampled_from(["tpr", "ppv", "acc", "f1", "mcc", "prev", "marginal_benefit", "tpr_difference", "pt", "recal"]),
    hostile.names,
)
COLUMNS = ["g", "y", "p", "s"]


def value_of(option: click.Parameter, folder: str) -> st.SearchStrategy[str]:
    """What may be typed for an option: often something valid."""
    name = str(option.name)
    if isinstance(option.type, click.Choice):
        return st.one_of(st.sampled_from(list(option.type.choices)), hostile.names)
    if name in ("metric", "names", "metrics"):
        return metric_names
    if name in ("y_true", "y_pred", "y_score", "groups", "strata", "sample_weight", "group", "cluster", "model_column"):
        return st.one_of(st.sampled_from(COLUMNS), hostile.names) if option.nargs == 1 else written_numbers
    if name in ("json", "html", "markdown", "csv"):
        return st.sampled_from(["-", f"{folder}/out.json", f"{folder}/no/out", folder, "", "/dev/null"])
    if name in ("files", "counts", "config", "repeat"):
        return st.sampled_from(
            [f"{folder}/d.csv", f"{folder}/c.csv", f"{folder}/a.json", f"{folder}/o.toml", folder, "", "no.csv"]
        )
    if name == "strength":
        return st.one_of(
            written_numbers,
            st.sampled_from(["auto", "prev=7,tpr=20,fpr=20", "prev=", "prev=1,prev=2", "x=1", "prev=nan,tpr=1,fpr=1"]),
        )
    if name == "reference":
        return (
            written_numbers
            if option.nargs > 1
            else st.one_of(st.sampled_from(["rest", "all", "largest", "best", "a", "g=a", "1,2,3,4"]), hostile.names)
        )
    if name in ("intersections", "n") and option.nargs == 1:
        return st.one_of(small, st.sampled_from(["5:9", "5:", ":", "9:5", "1:9:0", "all", "-1", "x"]))
    if name == "models":
        return st.one_of(st.sampled_from(["a=y", "b=p", "c=s", "a", "=p", '"a=b"=p']), hostile.names)
    if str(option.type) == "STRING":
        return st.one_of(hostile.names, st.sampled_from(["g=1", "g=1,2", "g:a=b", "s=0.5", "g:=x", "1", "0"]))
    return written_numbers


@st.composite
def command_lines(draw: st.DrawFn, folder: str) -> list[str]:
    words = draw(st.sampled_from(list(LEAVES)))
    command = LEAVES[words]
    line = list(words)
    for parameter in command.params:
        often = parameter.required or parameter.name in ("files", "y_true", "y_pred", "groups", "group", "models")
        if not draw(st.integers(0, 9)) < (9 if often else 1):
            continue
        many = 1 if isinstance(parameter, click.Option) and parameter.is_flag else abs(parameter.nargs)
        typed = [draw(value_of(parameter, folder)) for _ in range(many)]
        if isinstance(parameter, click.Argument):
            line += typed
        elif isinstance(parameter, click.Option) and parameter.is_flag:
            line.append(parameter.opts[0])
        else:
            line += [parameter.opts[0], *typed]
    if draw(st.integers(0, 19)) == 0:
        line.insert(draw(st.integers(0, len(line))), draw(hostile.names))
    return line


@contextmanager
def folder_of_inputs() -> Iterator[str]:
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "d.csv").write_bytes(FILES[".csv"])
        Path(folder, "c.csv").write_text("g,tp,fn,fp,tn\na,1,2,3,4\nb,4,3,2,1\n")
        Path(folder, "a.json").write_text(AUDIT.to_json())
        Path(folder, "o.toml").write_text('label = "y"\nmetric = ["tpr"]\n')
        yield folder


def typed(line: list[str], stdin: bytes | None = None) -> Any:
    tried()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        result = CliRunner().invoke(evenhand, line, input=stdin)
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    assert result.exit_code in (0, 1, 2), (result.exit_code, result.output)
    assert "Traceback" not in result.output
    return result


@pytest.mark.slow
@given(data=st.data())
@few(120)
def test_any_command_line_ends_with_0_1_or_2(data: Data) -> None:
    with folder_of_inputs() as folder:
        before = {path.name for path in Path(folder).iterdir()}
        line = data.draw(command_lines(folder))
        result = typed(line)
        after = {path.name for path in Path(folder).iterdir()}
        assert after - before <= {"out.json"}
        assert is_text(result.output, "\n"), result.output
        if result.exit_code == 2 and not result.stdout:
            assert result.stderr.strip().splitlines()[-1].startswith("Error: "), result.stderr


@given(text=states(), more=st.lists(st.sampled_from(["--counts", "--all", "--fail-on=alarm"]), max_size=2))
@few(40)
def test_any_state_is_monitored_or_refused_and_then_left_alone(text: str, more: list[str]) -> None:
    with folder_of_inputs() as folder:
        state = Path(folder, "state.json")
        state.write_bytes(text.encode("utf-8", "surrogateescape"))
        before = state.read_bytes()
        shown = typed(["monitor", str(state), *(word for word in more if word != "--counts")])
        assert is_text(shown.output) and state.read_bytes() == before
        file = "c.csv" if "--counts" in more else "d.csv"
        added = typed(["monitor", str(state), f"{folder}/{file}", "--at", "W3", "--html", f"{folder}/w.html", *more])
        assert is_text(added.output)
        if added.exit_code == 2:
            assert state.read_bytes() == before
        else:
            assert eh.Monitor.from_json(state.read_text("utf-8")).batches[-1] == "W3"


@given(
    content=st.one_of(
        hostile.csv_bytes(),
        st.sampled_from(list(FILES.values())),
        hostile.with_damage(st.sampled_from(list(FILES.values()))),
    )
)
@few(25)
def test_anything_on_standard_input_is_audited_or_refused(content: bytes) -> None:
    result = typed(["audit", "-", "--label", "y", "--prediction", "p", "--group", "g", "--metric", "acc"], content)
    assert is_text(result.output)
    typed(["audit", "--counts", "-", "--metric", "acc"], content)


settings_of_toml = st.dictionaries(
    st.one_of(
        st.sampled_from(
            [
                "label",
                "prediction",
                "group",
                "metric",
                "bins",
                "reference",
                "strength",
                "level",
                "mid-p",
                "quiet",
                "group-name",
                "fail-on",
                "audit",
                "files",
                "json",
                "intersections",
            ]
        ),
        hostile.names,
    ),
    plain_json,
    max_size=3,
)


@given(content=st.one_of(settings_of_toml, st.binary(max_size=20)))
@few(30)
def test_any_options_from_a_file_are_used_or_refused(content: Any) -> None:
    def toml(value: Any) -> str:
        if isinstance(value, dict):
            return "{" + ", ".join(f"{json.dumps(k)} = {toml(v)}" for k, v in value.items()) + "}"
        if isinstance(value, list):
            return "[" + ", ".join(map(toml, value)) + "]"
        if isinstance(value, float):
            return repr(value)
        return '"none"' if value is None else json.dumps(value)

    text = (
        content
        if isinstance(content, bytes)
        else "\n".join(f"{json.dumps(k)} = {toml(v)}" for k, v in content.items()).encode()
    )
    with folder_of_inputs() as folder:
        Path(folder, "o.toml").write_bytes(text)
        columns = ["--label", "y", "--prediction", "p", "--group", "g"]
        # A setting can name a file to write.
        with chdir(folder):
            typed(["audit", f"{folder}/d.csv", *columns, "--config", f"{folder}/o.toml"])


# The web app.


class Idle:
    """A queue that does nothing, so that routes can be tried without processes."""

    def submit(self, job: Any) -> None:
        job.change("done", {})

    def cancel(self, job: Any, *, overtaken: bool = False) -> None:
        job.change("cancelled")

    def check_room(self) -> None:
        pass

    def close(self) -> None:
        pass


MINE = {"X-Evenhand": "1"}
ROUTES = ["", "static/page.js", "file", "table", "values", "bins", "audit", "monitor", "plan"]
bodies = st.one_of(
    st.binary(max_size=30),
    st.recursive(
        st.one_of(st.none(), st.booleans(), st.floats(), st.integers(), hostile.names, st.just("KEY")),
        lambda inner: st.one_of(
            st.lists(inner, max_size=3),
            st.dictionaries(
                st.one_of(st.sampled_from(["file", "text", "example", "columns", "column", "cuts"]), hostile.names),
                inner,
                max_size=4,
            ),
        ),
    ).map(lambda body: json.dumps(body).encode()),
    st.sampled_from(
        [b"[" * 50, b'{"a":' * 40, b'{"a": NaN}', b"\xff", b'{"file": "\\ud800"}', b"{" + b'"a":1,' * 99 + b'"a":1}']
    ),
)


@given(
    method=st.sampled_from(["GET", "POST", "PUT", "DELETE", "HEAD", "OPTIONS", "PATCH", "TRACE", "X"]),
    route=st.one_of(
        st.sampled_from(ROUTES),
        st.sampled_from(["job/", "report/", "static/"]).flatmap(lambda p: hostile.names.map(p.__add__)),
    ),
    body=bodies,
    query=st.dictionaries(st.sampled_from(["name", "beside", "slot", "seen", "download"]), hostile.names, max_size=3),
    headers=st.dictionaries(
        st.sampled_from(["Content-Length", "Content-Type", "Origin", "Range", "Transfer-Encoding", "X-Evenhand"]),
        st.sampled_from(["1", "0", "-1", "bytes=0-", "x", "multipart/form-data"]),
        max_size=2,
    ),
)
@few(60)
def test_any_request_is_answered_with_a_sentence(
    method: str, route: str, body: bytes, query: Any, headers: Any
) -> None:
    """Never by an error of the server, and what is kept lies in the folder of the web app."""
    from urllib.parse import quote, urlencode

    with tempfile.TemporaryDirectory() as above:
        folder = Path(above, "page")
        folder.mkdir()
        app = create_app("token", {"testserver"}, folder, limit=10_000)
        app.state.store.audits = app.state.store.plans = Idle()
        client = TestClient(app, base_url="http://testserver")
        sent = client.put("/token/file?name=d.csv", content=FILES[".csv"], headers=MINE).json()["file"]
        where = f"/token/{quote(route, errors='replace')}?{urlencode(query, errors='replace')}"
        tried()
        answer = client.request(method, where, content=body.replace(b"KEY", sent.encode()), headers=MINE | headers)
        assert answer.status_code < 500, answer.text
        assert "Traceback" not in answer.text
        if answer.status_code == 400:
            assert set(answer.json()) == {"error"} and answer.json()["error"]
        assert "default-src 'none'" in answer.headers["content-security-policy"]
        assert [path.name for path in Path(above).iterdir()] == ["page"]


number_texts = st.one_of(
    st.integers(0, 20).map(str),
    st.sampled_from(["", " ", "-1", "1.5", "nan", "inf", "1e999", "1e15", "x", "1,000", "٣", "1_0", "0x1"]),
)
cells_typed = st.lists(number_texts, min_size=3, max_size=5).filter(lambda given: len(given) != 3 or given[0] == "")
texts = st.one_of(
    hostile.names, st.sampled_from(["holm", "metric", "positive", "fisher", "pooled", "labelled", "all", "auto", "2"])
)
column_typed = st.one_of(st.sampled_from(["g", "y", "p", "s"]), hostile.names)
asked_audits = st.fixed_dictionaries(
    {"groups": st.lists(column_typed, min_size=1, max_size=2), "y_true": column_typed},
    optional={
        "y_pred": column_typed,
        "y_score": column_typed,
        "strata": st.lists(column_typed, max_size=1),
        "sample_weight": column_typed,
        "classes": st.one_of(st.just("all"), st.lists(hostile.names, max_size=2)),
        "rng": number_texts,
        "threshold": st.one_of(number_texts, st.just("0.2, 0.7")),
        "positive_label": st.lists(hostile.names, max_size=2),
        "bins": st.dictionaries(column_typed, number_texts, max_size=1),
        "metrics": st.lists(metric_names, max_size=2),
        "strength": st.one_of(number_texts, texts),
        "intersections": st.one_of(number_texts, texts),
        "group_names": st.dictionaries(
            column_typed, st.dictionaries(hostile.names, hostile.names, max_size=2), max_size=1
        ),
        "alpha": number_texts,
        "margin": number_texts,
        "confidence_level": number_texts,
        "title": texts,
        "adjust": texts,
        "reference": st.dictionaries(column_typed, texts, min_size=1, max_size=2),
        "cells": cells_typed,
        "decided": st.sampled_from(["prediction", "score", "models"]),
        "repeat": st.sampled_from([AUDIT.to_json(), "{}", "x"]),
    },
)
asked_monitors = st.fixed_dictionaries(
    {"groups": st.lists(column_typed, min_size=1, max_size=2), "y_true": column_typed, "at": texts},
    optional={
        "y_pred": column_typed,
        "cluster": column_typed,
        "metrics": st.lists(metric_names, max_size=2),
        "alpha": number_texts,
        "threshold": st.one_of(number_texts, st.just("0.2, 0.7")),
        "state": st.sampled_from(
            ["", "x", "{}", eh.Monitor().add_counts({"a": (1, 2, 3, 4), "b": (2, 2, 2, 2)}, at=1).to_json()]
        ),
    },
)
asked_plans = st.fixed_dictionaries(
    {"question": st.sampled_from(["power", "size", "detect", "jagged", "exploit", "x"]), "metric": metric_names},
    optional=dict.fromkeys(("n", "from", "to", "difference", "power", "alpha", "threshold"), number_texts)
    | {"cells": st.one_of(cells_typed, st.lists(st.sampled_from(["0.5", "0.25", "0", "1"]), min_size=4, max_size=4))},
)


@given(data=st.data(), task=st.sampled_from(list(TASKS)))
@few(100)
def test_whatever_is_typed_into_the_form_is_answered_or_refused(data: Data, task: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        before = os.getcwd()
        os.chdir(folder)
        try:
            suffix = data.draw(st.sampled_from(list(FILES)))
            content = FILES[suffix]
            if data.draw(st.booleans()):
                content = hostile.damaged(content, data.draw)
            Path(f"d{suffix}").write_bytes(content)
            Path("c.csv").write_text("g,tp,fn,fp,tn\na,1,2,3,4\nb,4,3,2,1\n")
            file: Any = f"d{suffix}"
            column = data.draw(column_typed)
            Path("out").mkdir()
            given: dict[str, Callable[[], dict[str, Any]]] = {
                "file": lambda: {"data": file},
                "counts": lambda: {"data": data.draw(st.sampled_from([file, "c.csv"]))},
                "values": lambda: {
                    "data": file,
                    "asked": {"columns": {"y_true": column, "groups": data.draw(column_typed), "y_pred": "p"}},
                },
                "bins": lambda: {"data": file, "asked": {"column": column, "cuts": data.draw(number_texts)}},
                "audit": lambda: {"data": file, "counts": False, "asked": data.draw(asked_audits), "out": "out"},
                "monitor": lambda: {"data": file, "counts": False, "asked": data.draw(asked_monitors), "out": "out"},
                "plan": lambda: {"asked": data.draw(asked_plans)},
            }
            arguments = given[task]()
            result = answered(lambda: TASKS[task](**arguments))
            if not isinstance(result, Refused):
                json.dumps(result, allow_nan=False)
        finally:
            os.chdir(before)


# What was found.


def sentence_of(call: Callable[[], Any]) -> str:
    found = answered(call)
    assert isinstance(found, Refused), found
    return str(found.sentence)


COUNT = lambda a, b: len(a)  # noqa: E731


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: eh.ConfusionMatrix.from_labels({0: 1}, [1]), "y_true must be a sequence of labels; got {0: 1}"),
        (lambda: eh.ConfusionMatrix.from_labels([1], {1}), "y_pred must be a sequence of labels; got {1}"),
        (lambda: eh.MulticlassConfusion.from_labels(list, [1]),  # type: ignore[arg-type]
         "y_true must be a sequence of labels; got <class 'list'>"),
        (lambda: small_sample_report(list, [1]),  # type: ignore[arg-type]
         "y_true must be a sequence of labels; got <class 'list'>"),
        (lambda: eh.ConfusionMatrix.from_labels([0, 1], [0, 1], positive=Decimal("sNaN")),
         "positive must be a label or a list of labels; got Decimal('sNaN')"),
        (lambda: eh.audit(None, y_true=[0, 1], y_score=np.empty((2, 0)), groups=[0, 1], metrics="auc"),
         "y_score must be one column; got 0"),
        (lambda: eh.audit_counts({"a": (1, 2, 3, 4)}, by=np.ma.masked),  # type: ignore[arg-type]
         "by must be the name of a group column, or several; got masked"),
    ],
)  # fmt: skip
def test_what_is_no_column_is_refused(call: Any, sentence: str) -> None:
    assert sentence_of(call) == sentence


def test_a_signalling_nan_in_a_frame_is_refused() -> None:
    frame = pd.DataFrame({"g": [Decimal("sNaN"), Decimal(1)], "y": [0, 1]}, dtype=object)
    sentence = sentence_of(lambda: eh.audit(frame, y_true="y", y_pred="y", groups="g"))
    assert sentence.startswith("columns must contain numbers, text, booleans or dates; ")


def test_a_decimal_beyond_all_floats_is_a_value() -> None:
    big = [Decimal("1e500"), Decimal("1e999999999"), Decimal("1e500"), Decimal("2")]
    found = eh.audit(None, y_true=[1, 0, 1, 0], y_pred=[1, 1, 0, 0], groups=big, metrics="acc")
    assert {row.group: row.n for row in found.rows} == {"1E+500": 2, "1E+999999999": 1, "group 2": 1}


def test_a_carriage_return_in_a_name_starts_no_row() -> None:
    """Python quotes it only from 3.13 on; and no cell begins with what a spreadsheet would act on."""
    audit = eh.audit_counts({"a\r=1+1": (1, 2, 3, 4), "\t0": (4, 3, 2, 1)}, metrics="acc")
    rows = list(csv.reader(io.StringIO(audit.to_csv(), newline="")))
    assert {row[1] for row in rows[1:]} == {"a\r=1+1", "'\t0"}
    assert {len(row) for row in rows} == {len(rows[0])}
