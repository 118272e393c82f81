"""Whatever the world sends to a door, the answer is one that plain Python confirms, or a refusal in one sentence.

``benchmarks/fuzz.py`` runs the same tests for as long as one likes, with other seeds each time.
"""

from __future__ import annotations

import csv
import hashlib
import io
import json
import os
import re
import tempfile
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import chdir, contextmanager
from decimal import Decimal
from html.parser import HTMLParser
from inspect import signature
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from urllib.parse import quote, urlencode

import click
import hostile
import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from hostile import COLUMNS, names, values
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
one_of, some = st.one_of, st.sampled_from


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


class Refused(str):
    """The sentence of a refusal."""


def answered(call: Callable[[], Any]) -> Any:
    """The answer of a call, or how it was refused; nothing else is caught, and a warning is an error."""
    tried()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.filterwarnings("ignore", ".*(is undefined: |a gap needs two|has no ratio|left out$)", UserWarning)
        try:
            return call()
        except eh.EvenhandError as refusal:
            refused = Refused(refusal)
    assert refused.strip() and "Traceback" not in refused
    return refused


def shown(call: Callable[[], Any]) -> Any:
    """What a call returned, of which every output is mere text; None if it was refused."""
    result = answered(call)
    if isinstance(result, Refused):
        return None
    shows_only_text(result)
    return result


def tags_of(page: str) -> set[tuple[str, ...]]:
    """The tags of a page, each with the names of its attributes."""
    found: set[tuple[str, ...]] = set()
    parser = HTMLParser()
    parser.handle_starttag = lambda tag, attrs: found.add((tag, *(name for name, _ in attrs)))  # type: ignore[method-assign]
    parser.feed(page)
    return found


def is_text(text: str) -> bool:
    return all(sign.isprintable() or sign == "\n" for sign in text)


FORMULA = re.compile(r"[=+@\t\r]|-(?!(?:[\d.]+(?:e[-+]?\d+)?|inf|nan)$)")


def shows_only_text(result: Any) -> None:
    """No output of a result steers a terminal, a page or a spreadsheet, and what is written can be read again."""
    text = answered(lambda: str(result))
    assert isinstance(text, Refused) or is_text(text), text
    for tag, *attributes in tags_of(answered(result._repr_html_)) if hasattr(result, "_repr_html_") else ():
        assert tag not in ("script", "img", "a") and not any(name.startswith("on") for name in attributes)
    if isinstance(result, eh.Audit):
        assert is_text(result.to_markdown())
        for row in csv.reader(io.StringIO(result.to_csv(), newline="")):
            assert not any(map(FORMULA.match, row)), row
        assert eh.Audit.from_json(result.to_json()) == result


@contextmanager
def file_of(content: bytes, suffix: str = ".csv") -> Iterator[Path]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, f"d{suffix}")
        path.write_bytes(content)
        yield path


# Columns, frames and arguments.

CALLS: dict[str, Callable[..., Any]] = {
    "from_labels": lambda t, p, g, w, one: eh.ConfusionMatrix.from_labels(t, p, positive=one),
    "multiclass": lambda t, p, g, w, one: eh.MulticlassConfusion.from_labels(t, p),
    "counts": lambda t, p, g, w, one: confusion_counts(t, p, positive=one),
    "gap": lambda t, p, g, w, one: equalized_odds_difference(t, p, sensitive_features=g, positive=one),
    "audit": lambda t, p, g, w, one: eh.audit(None, y_true=t, y_pred=p, groups=g, positive=one, metrics=["tpr", "ppr"]),
    "scores": lambda t, p, g, w, one: eh.audit(y_true=t, y_score=w, groups=g, threshold=one, metrics="ppr"),
    "two columns": lambda t, p, g, w, one: eh.audit(y_true=t, y_pred=p, groups={"g": g, "h": w}, metrics="ppr"),
    "classes": lambda t, p, g, w, one: eh.audit(y_true=t, y_pred=p, groups=g, classes="all", metrics=["tpr", "acc"]),
    "report": lambda t, p, g, w, one: small_sample_report(t, p),
}


@given(data=st.data(), name=some(list(CALLS)))
@few(150)
def test_columns_of_anything_are_counted_or_refused(data: Data, name: str) -> None:
    size = data.draw(st.integers(0, 6))
    columns = [data.draw(hostile.columns(size)).value for _ in range(4)]
    one = data.draw(one_of(st.none(), some([1, "yes", True]), values))
    shown(lambda: CALLS[name](*columns, one))


FAITHFUL = ["list", "tuple", "array of objects", "array", "pandas", "pandas nullable", "pandas arrow", "polars",
            "pandas categorical", "pandas index", "pyarrow", "pyarrow chunks", "pyarrow dictionary",
            "iterator"]  # fmt: skip


@given(
    rows=st.lists(st.tuples(st.booleans(), st.booleans(), some("abc")), min_size=1, max_size=12),
    labels=some(hostile.LABELS),
    held=st.lists(some(FAITHFUL), min_size=3, max_size=3),
)
@few(60)
def test_two_labels_are_counted_as_a_loop_counts_them(rows: Any, labels: Any, held: list[str]) -> None:
    """However a column is held. (A label that does not occur cannot be inferred.)"""

    def made() -> list[Any]:
        columns = [[labels[row[0]] for row in rows], [labels[row[1]] for row in rows], [row[2] for row in rows]]
        return [COLUMNS[how](column) for how, column in zip(held, columns, strict=True)]

    places = [(True, True), (True, False), (False, True), (False, False)]
    counts = {g: tuple(Counter(row[:2] for row in rows if row[2] == g)[place] for place in places) for *_, g in rows}
    true, pred, _ = made()
    cm = eh.ConfusionMatrix.from_labels(true, pred, positive=labels[1])
    assert cm.cells == tuple(map(sum, zip(*counts.values(), strict=True)))
    true, pred, group = made()
    audit = answered(lambda: eh.audit(y_true=true, y_pred=pred, groups=group, positive=labels[1], metrics="acc"))
    if len(counts) == 1:
        assert "only one group" in audit
    else:
        assert {row.group: row.cells for row in audit.rows} == counts


@given(data=st.data())
@few(120)
def test_frames_of_anything_are_audited_or_refused(data: Data) -> None:
    frame, titles = data.draw(hostile.frames())
    column = one_of(some(titles), names)
    asked: dict[str, Any] = {name: data.draw(column) for name in ("y_true", "y_pred")}
    groups = data.draw(one_of(column, st.lists(column, min_size=1, max_size=2)))
    if result := shown(lambda: eh.audit(frame.value, groups=groups, metrics=["acc", "ppr"], **asked)):
        assert sum({row.group: row.n for row in result.rows if row.by == result.rows[0].by}.values()) == result.n


SOUND: dict[str, list[Any]] = {
    "g": ["a", "b", "a", "b", "c"] * 3,
    "y": [1, 0, 0, 1, 1] * 3,
    "p": [1, 0, 1, 1, 0] * 3,
    "s": [0.5, 0.1] * 7 + [1.0],
}
COUNTS = {"A": (0, 2, 8, 30), "B": (300, 100, 120, 480)}

ARGUMENTS = [name for name in signature(eh.audit).parameters if name not in ("data", "y_true", "y_pred", "groups")]
plain_json = st.recursive(
    one_of(st.none(), st.booleans(), st.integers(), st.floats(), names, some([10**30, 10**400, 12345678.5, 0.5])),
    lambda inner: one_of(st.lists(inner, max_size=2), st.dictionaries(names, inner, max_size=2)),
    max_leaves=3,
)


@given(name=some(ARGUMENTS), value=plain_json)
@few(60)
def test_an_argument_of_anything_is_used_or_refused(name: str, value: Any) -> None:
    given: dict[str, Any] = {"y_true": "y", "y_pred": "p", "groups": "g", "metrics": "acc"} | {name: value}
    shown(lambda: eh.audit(SOUND, **given))


def can_be_a_key(value: Any) -> bool:
    try:
        return value in {value: 0}
    except (TypeError, ArithmeticError):
        return False


cell = one_of(st.integers(0, 9), values)


@given(
    counts=one_of(
        st.dictionaries(hostile.scalars.filter(can_be_a_key), st.tuples(*[st.integers(0, 9)] * 4), max_size=4),
        st.dictionaries(names, one_of(st.lists(cell, max_size=5), cell), max_size=3),
    ),
    by=one_of(st.just("g"), names, values),
)
@few(120)
def test_counts_of_anything_are_audited_or_refused(counts: Any, by: Any) -> None:
    if result := shown(lambda: eh.audit_counts(counts, by=by, metrics=["acc", "f1"])):
        assert result.n == sum(map(sum, counts.values()))


# Files.


def as_csv_says(content: bytes) -> list[dict[str, str]] | None:
    """The rows of a text file by Python's csv module; None if no separator gives a table with g, y and p."""
    text = content.decode("utf-8-sig")
    for separator in ",;\t|":
        try:
            rows = [row for row in csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True) if row]
        except csv.Error:
            continue
        if rows and {"g", "y", "p"} <= set(rows[0]) and all(len(row) == len(rows[0]) for row in rows):
            return [dict(zip(rows[0], row, strict=True)) for row in rows[1:]]
    return None


@given(content=one_of(hostile.csv_bytes(), hostile.with_damage(hostile.csv_bytes())))
@few(90)
def test_text_files_have_the_rows_that_the_csv_module_reads(content: bytes) -> None:
    with file_of(content) as path:
        result = shown(lambda: eh.audit(path, y_true="y", y_pred="p", groups="g", metrics="ppr"))
    if result:
        rows = as_csv_says(content)
        assert rows is not None and result.n + sum(result.left_out.values()) == len(rows)
        assert {row.group for row in result.rows} <= {row["g"] or "(missing)" for row in rows}


FILES = {suffix: hostile.FORMATS[suffix](SOUND) for suffix in hostile.WRITTEN}
PROTECTED = {suffix: hostile.FORMATS[suffix]({name: held * 12 for name, held in SOUND.items()}) for suffix in FILES}
rules = some(["cms", "opensafely", "ons", 3])


@pytest.mark.parametrize("suffix", FILES)
@given(data=st.data(), protect=one_of(st.none(), rules), decided=some([{"y_pred": "p"}, {"y_score": "s"}]))
@few(12)
def test_damaged_files_are_audited_or_refused(data: Data, suffix: str, protect: Any, decided: dict[str, str]) -> None:
    asked: dict[str, Any] = {"y_true": "y", "groups": "g", "metrics": "acc", "protect": protect, **decided}
    with file_of(hostile.damaged((PROTECTED if protect else FILES)[suffix], data.draw), suffix) as path:
        result = shown(lambda: eh.audit(path, **asked))
    rule = rule_of(protect)
    if result is not None and rule is None:
        assert sum(row.n for row in result.rows) + sum(result.unknown.values()) == result.n
    elif result is not None and rule is not None:
        cells = [row.cells for row in result.rows if row.cells is not None]
        assert all(round_counts(np.array(counts), rule)[0].tolist() == list(counts) for counts in cells)
        assert not {"sha256", "rows", "bytes"} & set(result.provenance["source"])


HEADS = ["g,tp,fn,fp,tn", "g;TP;FN;FP;TN", "tp\tfn\tfp\ttn\tg", "g,h,tp,fn,fp,tn", "tp,fn,fp,tn", "g,g,tp,fn,fp,tn"]


@given(data=st.data(), head=some(HEADS))
@few(80)
def test_tables_of_counts_are_audited_or_refused(data: Data, head: str) -> None:
    sign = next(c for c in ",;\t" if c in head)
    row = st.lists(some([*"0123abc", "10", "", *hostile.NAUGHTY]), min_size=len(head.split(sign)))
    lines = [head, *map(sign.join, data.draw(st.lists(row.map(lambda r: r[: head.count(sign) + 1]), max_size=4)))]
    content = "\n".join(lines).encode("utf-8", "surrogatepass")
    with file_of(hostile.damaged(content, data.draw) if data.draw(st.booleans()) else content) as path:
        shown(lambda: eh.audit_counts(path, metrics=["acc", "tpr"]))


# Names.


@pytest.mark.slow
@given(naughty=st.lists(names, min_size=2, max_size=3, unique=True), by=names, at=one_of(names, values))
@few(25)
def test_names_are_text_wherever_they_are_shown(naughty: list[str], by: str, at: Any) -> None:
    """The pages have the same tags and scripts whatever groups are called; names that look alike are a finding."""
    tables: list[Any] = [[(0, 0, 2, 3), (9, 1, 2, 8), (1, 1, 1, 1)][: len(naughty)]] * 3
    named, plain, similar = (
        dict(zip(called, counts, strict=False))
        for called, counts in zip((naughty, "abc", ("a", "A", "a ")), tables, strict=True)
    )
    for made in (
        lambda counts, by: eh.audit_counts(counts, by=by, metrics=["tpr", "mcc"]),
        lambda counts, by: eh.Monitor(metrics="tpr").add_counts(counts, at=at, by=by),
    ):
        result = shown(lambda make=made: make(named, by))  # type: ignore[misc]
        page = answered(result.to_html) if result else Refused()
        if not isinstance(page, Refused):
            usual = [made(counts, "g").to_html() for counts in (plain, similar)]
            assert {tag for tag, *_ in tags_of(page)} <= {tag for tag, *_ in tags_of("".join(usual))}
            assert page.count("<script") == usual[0].count("<script")
        if isinstance(result, eh.Monitor):
            again = answered(result.to_json)
            assert isinstance(again, Refused) or eh.Monitor.from_json(again).rows == result.rows


@pytest.mark.slow
@given(data=st.data(), protect=rules, by=names)
@few(15)
def test_names_tell_nothing_more_of_protected_counts(data: Data, protect: Any, by: str) -> None:
    """Two tables of the same blocks are the same bytes, and text, in every output whatever their groups are called."""
    called = data.draw(st.lists(names, min_size=2, max_size=4, unique=True))
    table = {name: tuple(data.draw(st.integers(0, 60)) for _ in range(4)) for name in called}

    def elsewhere(count: int) -> int:
        _, low, high = round_counts(np.array(count), rule_of(protect))  # type: ignore[arg-type]
        return data.draw(st.integers(int(low), int(high)))

    other = {name: tuple(map(elsewhere, counts)) for name, counts in table.items()}
    asked: dict[str, Any] = {"by": by, "protect": protect, "metrics": ["tpr", "mcc"]}
    first = answered(lambda: eh.audit_counts(table, **asked))
    second = answered(lambda: eh.audit_counts(other, **asked))
    if isinstance(first, Refused):
        assert first == second
        return
    shows_only_text(first)
    for output in ("to_json", "to_csv", "to_markdown", "to_html", "to_text"):
        one, two = (answered(getattr(audit, output)) for audit in (first, second))
        assert one == two or isinstance(one, Refused)


# Saved audits and states of monitors.


def changed(document: Any, draw: Any) -> Any:
    """A document with some parts removed, replaced, added or exchanged."""
    document = json.loads(json.dumps(document))
    for _ in range(draw(st.integers(1, 3))):
        inside = document
        while inside:
            key = draw(some(list(inside) if isinstance(inside, dict) else range(len(inside))))
            if not isinstance(inside[key], (dict, list)) or not inside[key] or draw(st.integers(0, 3)) == 0:
                break
            inside = inside[key]
        else:
            break
        how = draw(some(["replace", "remove", "add", "swap"]))
        if how == "remove":
            inside.pop(key)
        elif how == "add" and isinstance(inside, dict):
            inside[draw(names)] = draw(plain_json)
        elif how == "swap" and isinstance(inside, dict):
            other = draw(some(list(inside)))
            inside[key], inside[other] = inside[other], inside[key]
        else:
            inside[key] = draw(plain_json)
    return document


def written(document: Any) -> str:
    """A document as JSON, with one number that is larger than any float."""
    return json.dumps(document).replace("12345678.5", "1e999")


def broken(text: str, draw: Any) -> str:
    return hostile.damaged(text.encode(), draw).decode("utf-8", "surrogateescape")


AUDIT = eh.audit_counts(COUNTS, metrics=["tpr", "mcc"])
SWEEP = eh.audit(SOUND, y_true="y", y_score="s", groups="g", threshold=[0.2, 0.5], metrics="tpr")


@given(data=st.data(), whole=some([AUDIT, SWEEP]))
@few(120)
def test_a_changed_document_is_refused_or_loads_as_what_it_says(data: Data, whole: eh.Audit) -> None:
    """from_json(to_json(x)) == x also for an x that was read from a document that nobody wrote."""
    edited = data.draw(st.integers(0, 3))
    text = written(changed(whole.to_dict(), data.draw)) if edited else broken(whole.to_json(), data.draw)
    loaded = answered(lambda: eh.Audit.from_json(text))
    if not isinstance(loaded, Refused):
        again = answered(loaded.to_json)
        assert isinstance(again, Refused) or eh.Audit.from_json(again) == loaded
        for name in ("to_text", "to_markdown", "to_html", "to_csv", "repeat"):
            answered(getattr(loaded, name))
        answered(lambda: loaded.changes(whole))


WATCH = eh.Monitor(metrics=["tpr", "acc"], reference={"g": "a"})
for week in ("W1", "W2"):
    people = [f"{week} {i}" for i in range(15)]
    WATCH = WATCH.add({**SOUND, "u": people}, at=week, y_true="y", y_pred="p", groups="g", cluster="u")


@st.composite
def states(draw: st.DrawFn) -> str:
    """The state of a monitor: damaged, or edited and given the digest that belongs to it, which anybody can compute."""
    if not draw(st.integers(0, 3)):
        return broken(WATCH.to_json(), draw)
    state = changed(json.loads(WATCH.to_json()), draw)
    if not isinstance(state, dict):
        return written(state)
    kept = json.loads(written({name: value for name, value in state.items() if name != "digest"}))
    digest = hashlib.sha256(json.dumps(kept, ensure_ascii=True, sort_keys=True).encode()).hexdigest()
    return json.dumps(kept | {"digest": digest})


@given(text=states())
@few(100)
def test_a_changed_state_of_a_monitor_is_refused_or_loads_as_what_it_says(text: str) -> None:
    loaded = shown(lambda: eh.Monitor.from_json(text))
    if loaded is None:
        return
    again = eh.Monitor.from_json(answered(loaded.to_json))
    assert (again.rows, again.batches, again.columns) == (loaded.rows, loaded.batches, loaded.columns)
    assert tags_of(answered(loaded.to_html)) <= tags_of(WATCH.to_html())
    answered(lambda: loaded.add_counts({"a": (1, 2, 3, 4), "b": (2, 2, 2, 2)}, at="W3", by="g"))
    shown(lambda: loaded.add({**SOUND, "u": list(range(15))}, at="W3"))


# The command line.


def leaves() -> dict[tuple[str, ...], click.Command]:
    found: dict[tuple[str, ...], click.Command] = {}
    for name in COMMANDS:
        command = evenhand.get_command(click.Context(evenhand), name)
        inner = command.commands if isinstance(command, click.Group) else {"": command}
        found |= {(name, sub) if sub else (name,): leaf for sub, leaf in inner.items() if leaf and name != "serve"}
    return found


LEAVES = leaves()
small = st.integers(0, 12).map(str)
numbers = one_of(small, some(["-1", "nan", "inf", "-inf", "1e400", "0.05", "0.5", "1", "1e-320", "1e15", "x", "",
                              "10**3", "٣", " ", "1.5", "1,000", "1_0", "0x1", "0.2, 0.7"]))  # fmt: skip
metrics = one_of(some(["tpr", "ppv", "acc", "f1", "mcc", "prev", "marginal_benefit", "tpr_difference", "recal"]), names)
column = one_of(some(["g", "y", "p", "s"]), names)
TYPED: dict[str, st.SearchStrategy[str]] = {
    **dict.fromkeys(("metric", "names", "metrics"), metrics),
    **dict.fromkeys(("y_true", "y_pred", "y_score", "groups", "strata", "sample_weight", "group", "cluster"), column),
    **dict.fromkeys(("json", "html", "markdown", "csv"), some(["-", "out.json", "no/out", ".", "", "/dev/null"])),
    **dict.fromkeys(("files", "counts", "config", "repeat"),
                    some(["d.csv", "c.csv", "a.json", "o.toml", ".", "", "no.csv"])),
    **dict.fromkeys(("intersections", "n"), one_of(small, some(["5:9", "5:", ":", "9:5", "1:9:0", "all", "-1", "x"]))),
    "strength": one_of(numbers, some(["auto", "prev=7,tpr=20,fpr=20", "prev=", "prev=1,prev=2", "prev=nan,tpr=1"])),
    "reference": one_of(some(["rest", "all", "largest", "best", "a", "g=a", "1,2,3,4"]), names),
    **dict.fromkeys(("models", "results"), one_of(some(["a=y", "b=p", "c=s", "a", "=p", '"a=b"=p']), names)),
}  # fmt: skip
texts = one_of(names, some(["g=1", "g=1,2", "g:a=b", "s=0.5", "g:=x", "1", "0"]))


def value_of(option: click.Parameter) -> st.SearchStrategy[str]:
    """What may be typed for an option: often something valid."""
    if isinstance(option.type, click.Choice):
        return one_of(some(list(option.type.choices)), names)
    usual = texts if str(option.type) == "STRING" else numbers
    return TYPED.get(str(option.name), usual) if option.nargs in (1, -1) else numbers


@st.composite
def command_lines(draw: st.DrawFn) -> list[str]:
    line = list(draw(some(list(LEAVES))))
    for parameter in LEAVES[tuple(line)].params:
        often = parameter.required or parameter.name in ("files", "y_true", "y_pred", "groups", "group", "models")
        if draw(st.integers(0, 9)) < (9 if often else 1):
            flag = getattr(parameter, "is_flag", False)
            line += parameter.opts[:1] if isinstance(parameter, click.Option) else []
            line += [draw(value_of(parameter)) for _ in range(0 if flag else abs(parameter.nargs))]
    if draw(st.integers(0, 19)) == 0:
        line.insert(draw(st.integers(0, len(line))), draw(names))
    return line


@contextmanager
def folder_of_inputs() -> Iterator[Path]:
    with tempfile.TemporaryDirectory() as folder, chdir(folder):
        Path("d.csv").write_bytes(FILES[".csv"])
        Path("c.csv").write_text("g,tp,fn,fp,tn\na,1,2,3,4\nb,4,3,2,1\n")
        Path("a.json").write_text(AUDIT.to_json())
        Path("o.toml").write_text('label = "y"\nmetric = ["tpr"]\n')
        yield Path(folder)


def typed(line: list[str], stdin: bytes | None = None) -> Any:
    tried()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        result = CliRunner().invoke(evenhand, line, input=stdin)
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    assert result.exit_code in (0, 1, 2), (result.exit_code, result.output)
    assert "Traceback" not in result.output and is_text(result.output), result.output
    return result


@pytest.mark.slow
@given(line=command_lines())
@few(120)
def test_any_command_line_ends_with_0_1_or_2(line: list[str]) -> None:
    with folder_of_inputs() as folder:
        before = set(os.listdir(folder))
        result = typed(line)
        assert set(os.listdir(folder)) - before <= {"out.json"}
    if result.exit_code == 2 and not result.stdout:
        assert result.stderr.strip().splitlines()[-1].startswith("Error: "), result.stderr


@given(text=states(), more=st.lists(some(["--counts", "--all", "--fail-on=alarm"]), max_size=2))
@few(40)
def test_any_state_is_monitored_or_refused_and_then_left_alone(text: str, more: list[str]) -> None:
    with folder_of_inputs():
        state = Path("state.json")
        state.write_bytes(before := text.encode("utf-8", "surrogateescape"))
        typed(["monitor", "state.json", *(word for word in more if word != "--counts")])
        assert state.read_bytes() == before
        file = "c.csv" if "--counts" in more else "d.csv"
        added = typed(["monitor", "state.json", file, "--at", "W3", "--html", "w.html", *more])
        if added.exit_code == 2:
            assert state.read_bytes() == before
        else:
            assert eh.Monitor.from_json(state.read_text("utf-8")).batches[-1] == "W3"


LABELLED = ["--label", "y", "--prediction", "p", "--group", "g", "--metric", "acc"]
whole_files = some(list(FILES.values()))


@given(content=one_of(hostile.csv_bytes(), whole_files, hostile.with_damage(whole_files)))
@few(25)
def test_anything_on_standard_input_is_audited_or_refused(content: bytes) -> None:
    typed(["audit", "-", *LABELLED], content)
    typed(["audit", "--counts", "-", "--metric", "acc"], content)


OPTIONS = ["label", "group", "metric", "bins", "reference", "strength", "level", "mid-p", "quiet", "group-name",
           "fail-on", "audit", "files", "json", "intersections"]  # fmt: skip


def toml(value: Any) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{json.dumps(k)} = {toml(v)}" for k, v in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(toml, value)) + "]"
    return repr(value) if isinstance(value, float) else json.dumps("none" if value is None else value)


lines_of_toml = st.tuples(one_of(some(OPTIONS), names).map(json.dumps), plain_json.map(toml)).map(" = ".join)


@given(
    content=one_of(
        st.lists(lines_of_toml, max_size=3).map(lambda lines: "\n".join(lines).encode()), st.binary(max_size=20)
    )
)
@few(30)
def test_any_options_from_a_file_are_used_or_refused(content: bytes) -> None:
    with folder_of_inputs():
        Path("o.toml").write_bytes(content)
        typed(["audit", "d.csv", *LABELLED[:-2], "--config", "o.toml"])


# The web app.

MINE = {"X-Evenhand": "1"}
# A queue that does nothing, so that routes can be tried without processes.
IDLE = SimpleNamespace(
    submit=lambda job: job.change("done", {}),
    cancel=lambda job, *, overtaken=False: job.change("cancelled"),
    check_room=lambda: None,
    close=lambda: None,
)
bodies = one_of(
    st.binary(max_size=30),
    st.recursive(
        one_of(st.none(), st.booleans(), st.floats(), st.integers(), names, st.just("KEY")),
        lambda inner: one_of(
            st.lists(inner, max_size=3),
            st.dictionaries(
                one_of(some(["file", "text", "example", "columns", "column", "cuts"]), names), inner, max_size=4
            ),
        ),
    ).map(lambda body: json.dumps(body).encode()),
    some([b"[" * 50, b'{"a":' * 40, b'{"a": NaN}', b"\xff", b'{"file": "\\ud800"}', b"{" + b'"a":1,' * 99 + b'"a":1}']),
)
routes = one_of(
    some(["", "static/page.js", "file", "table", "values", "bins", "audit", "monitor", "plan"]),
    some(["job/", "report/", "static/"]).flatmap(lambda path: names.map(path.__add__)),
)


@given(
    method=some(["GET", "POST", "PUT", "DELETE", "HEAD", "OPTIONS", "PATCH", "TRACE", "X"]),
    route=routes,
    body=bodies,
    query=st.dictionaries(some(["name", "beside", "slot", "seen", "download"]), names, max_size=3),
    headers=st.dictionaries(
        some(["Content-Length", "Content-Type", "Origin", "Range", "Transfer-Encoding", "X-Evenhand"]),
        some(["1", "0", "-1", "bytes=0-", "x", "multipart/form-data"]),
        max_size=2,
    ),
)
@few(60)
def test_any_request_is_answered_with_a_sentence(
    method: str, route: str, body: bytes, query: Any, headers: Any
) -> None:
    """Never by an error of the server, and what is kept lies in the folder of the web app."""
    with tempfile.TemporaryDirectory() as above:
        (folder := Path(above, "page")).mkdir()
        app = create_app("token", {"testserver"}, folder, limit=10_000)
        app.state.store.audits = app.state.store.plans = IDLE
        client = TestClient(app, base_url="http://testserver")
        sent = client.put("/token/file?name=d.csv", content=FILES[".csv"], headers=MINE).json()["file"]
        where = f"/token/{quote(route, errors='replace')}?{urlencode(query, errors='replace')}"
        tried()
        answer = client.request(method, where, content=body.replace(b"KEY", sent.encode()), headers=MINE | headers)
        assert answer.status_code < 500 and "Traceback" not in answer.text, answer.text
        assert answer.status_code != 400 or (set(answer.json()) == {"error"} and answer.json()["error"])
        assert "default-src 'none'" in answer.headers["content-security-policy"]
        assert os.listdir(above) == ["page"]


cells_typed = st.lists(numbers, min_size=3, max_size=5).filter(lambda given: len(given) != 3 or given[0] == "")
words = one_of(names, some(["holm", "metric", "positive", "fisher", "pooled", "labelled", "all", "auto", "2"]))
groups_typed = {"groups": st.lists(column, min_size=1, max_size=2), "y_true": column}
asked_audits = st.fixed_dictionaries(
    groups_typed,
    optional={
        **dict.fromkeys(("y_pred", "y_score", "sample_weight"), column),
        **dict.fromkeys(("rng", "threshold", "alpha", "margin", "confidence_level"), numbers),
        **dict.fromkeys(("strength", "intersections", "title", "adjust"), one_of(numbers, words)),
        "strata": st.lists(column, max_size=1),
        "classes": one_of(st.just("all"), st.lists(names, max_size=2)),
        "positive_label": st.lists(names, max_size=2),
        "bins": st.dictionaries(column, numbers, max_size=1),
        "metrics": st.lists(metrics, max_size=2),
        "goal": st.lists(one_of(words, st.builds("{}>={}".format, metrics, numbers)), max_size=2),
        "group_names": st.dictionaries(column, st.dictionaries(names, names, max_size=2), max_size=1),
        "reference": st.dictionaries(column, words, min_size=1, max_size=2),
        "cells": cells_typed,
        "decided": some(["prediction", "score", "models"]),
        "repeat": some([AUDIT.to_json(), "{}", "x"]),
    },
)
asked_monitors = st.fixed_dictionaries(
    groups_typed | {"at": words},
    optional={
        **dict.fromkeys(("y_pred", "cluster"), column),
        **dict.fromkeys(("alpha", "threshold"), numbers),
        "metrics": st.lists(metrics, max_size=2),
        "state": some(["", "x", "{}", eh.Monitor().add_counts(COUNTS, at=1).to_json()]),
    },
)
asked_plans = st.fixed_dictionaries(
    {"question": some(["power", "size", "detect", "jagged", "exploit", "x"]), "metric": metrics},
    optional=dict.fromkeys(("n", "from", "to", "difference", "power", "alpha", "threshold"), numbers)
    | {"cells": one_of(cells_typed, st.lists(some(["0.5", "0.25", "0", "1"]), min_size=4, max_size=4))},
)
asked_values = st.fixed_dictionaries(dict.fromkeys(("y_true", "groups"), column) | {"y_pred": st.just("p")})
ASKED: dict[str, st.SearchStrategy[dict[str, Any]]] = {
    "file": st.just({}),
    "counts": st.just({}),
    "values": st.fixed_dictionaries({"asked": st.fixed_dictionaries({"columns": asked_values})}),
    "bins": st.fixed_dictionaries({"asked": st.fixed_dictionaries({"column": column, "cuts": numbers})}),
    "audit": st.fixed_dictionaries({"counts": st.just(False), "asked": asked_audits, "out": st.just("out")}),
    "monitor": st.fixed_dictionaries({"counts": st.just(False), "asked": asked_monitors, "out": st.just("out")}),
    "plan": st.fixed_dictionaries({"asked": asked_plans}),
}


@given(data=st.data(), task=some(list(TASKS)), suffix=some(list(FILES)), whole=st.booleans())
@few(100)
def test_whatever_is_typed_into_the_form_is_answered_or_refused(
    data: Data, task: str, suffix: str, whole: bool
) -> None:
    with folder_of_inputs():
        Path("out").mkdir()
        file = "c.csv" if task == "counts" and whole else f"e{suffix}"
        Path(f"e{suffix}").write_bytes(FILES[suffix] if whole else hostile.damaged(FILES[suffix], data.draw))
        arguments = data.draw(ASKED[task]) | ({} if task == "plan" else {"data": file})
        result = answered(lambda: TASKS[task](**arguments))
    if not isinstance(result, Refused):
        json.dumps(result, allow_nan=False)


# What was found.


def test_what_is_no_column_is_refused() -> None:
    labels: Any = eh.ConfusionMatrix.from_labels
    sequence = "must be a sequence of labels; got"
    unreadable = pd.DataFrame({"g": [Decimal("sNaN"), Decimal(1)], "y": [0, 1]}, dtype=object)
    calls: list[tuple[Callable[[], Any], str]] = [
        (lambda: labels({0: 1}, [1]), f"y_true {sequence} {{0: 1}}"),
        (lambda: labels([1], {1}), f"y_pred {sequence} {{1}}"),
        (lambda: small_sample_report(list, [1]), f"y_true {sequence} <class 'list'>"),  # type: ignore[arg-type]
        (lambda: labels([0, 1], [0, 1], positive=Decimal("sNaN")),
         "positive must be a label or a list of labels; got Decimal('sNaN')"),
        (lambda: eh.audit(None, y_true=[0, 1], y_score=np.empty((2, 0)), groups=[0, 1], metrics="auc"),
         "y_score must be one column; got 0"),
        (lambda: eh.audit_counts({"a": (1, 2, 3, 4)}, by=np.ma.masked),  # type: ignore[arg-type]
         "by must be the name of a group column, or several; got masked"),
        (lambda: eh.audit(unreadable, y_true="y", y_pred="y", groups="g"),
         "columns must contain numbers, text, booleans or dates; "),
    ]  # fmt: skip
    for call, sentence in calls:
        refused = answered(call)
        assert isinstance(refused, Refused) and refused.startswith(sentence)


def test_a_decimal_beyond_all_floats_is_a_value() -> None:
    big = [Decimal("1e500"), Decimal("1e999999999"), Decimal("1e500"), Decimal("2")]
    found = eh.audit(None, y_true=[1, 0, 1, 0], y_pred=[1, 1, 0, 0], groups=big, metrics="acc")
    assert {row.group: row.n for row in found.rows} == {"1E+500": 2, "1E+999999999": 1, "group 2": 1}


def test_a_carriage_return_in_a_name_starts_no_row() -> None:
    """Python quotes it only from 3.13 on; and no cell begins with what a spreadsheet would act on."""
    audit = eh.audit_counts({"a\r=1+1": (1, 2, 3, 4), "\t0": (4, 3, 2, 1)}, metrics="acc")
    head, *rows = csv.reader(io.StringIO(audit.to_csv(), newline=""))
    assert {row[1] for row in rows} == {"a\r=1+1", "'\t0"}
    assert {len(row) for row in rows} == {len(head)}
