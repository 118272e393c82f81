"""Settings as text: what is written is read as the same value."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, strategies as st

from evenhand.auditing import AuditRequest, ModelsRequest, read_texts, settings_of, spelled
from evenhand.auditing.spelling import READERS
from evenhand.errors import InvalidInput

names = st.text(st.sampled_from('ab:=&," \\é'), min_size=1, max_size=5) | st.text(min_size=1, max_size=4)
# A quotation mark in the name of one column could be the beginning of a value of another.
columns = st.lists(names.filter(lambda name: '"' not in name), min_size=1, max_size=3, unique=True)
numbers = st.floats(allow_nan=False, allow_infinity=False)
sizes = st.floats(0, 1e6)
clauses = names.map(str.strip).filter(lambda text: text and "/" not in text)
VALUES: dict[str, Any] = {
    "averages": st.lists(st.sampled_from(["acc", "macro f1", "weighted tpr", "kappa"]), unique=True),
    "bins": st.dictionaries(names, st.lists(numbers, min_size=1, max_size=3), min_size=1, max_size=3),
    "classes": st.just("all") | st.lists(names | st.just("all"), min_size=1, max_size=3, unique=True),
    "crossings": st.integers(1, 99) | st.just("all"),
    "decision": clauses | st.lists(clauses, min_size=2, max_size=2),
    "models": st.dictionaries(names, names, min_size=2, max_size=3),
    "protect": st.sampled_from(["cms", "opensafely", "ons"]) | st.integers(3, 99),
    "outcome": clauses | st.lists(clauses, min_size=2, max_size=2),
    "strength": sizes | st.just("auto") | st.fixed_dictionaries({"prev": sizes, "tpr": sizes, "fpr": sizes}),
}


def test_every_special_setting_has_a_reader() -> None:
    special = {
        name
        for request in (AuditRequest, ModelsRequest)
        for name, (_, known) in settings_of(request).items()
        if known.reads == "special"
    }
    assert special == READERS.keys() == {*VALUES, "group_names", "reference"}


@pytest.mark.parametrize("name", VALUES)
@given(data=st.data())
def test_what_is_spelled_is_read_as_the_same_value(name: str, data: st.DataObject) -> None:
    """read_texts(spelled(value)) = value."""
    value = data.draw(VALUES[name])
    assert read_texts(name, spelled(name, value)) == value


@given(by=columns, data=st.data())
def test_names_of_groups_are_read_as_they_are_spelled(by: list[str], data: st.DataObject) -> None:
    """Also if columns, values and names contain colons, equals signs and quotation marks."""
    named = st.dictionaries(names, names, min_size=1, max_size=3)
    value = data.draw(st.dictionaries(st.sampled_from(by), named, min_size=1))
    assert read_texts("group_names", spelled("group_names", value), by) == value


@given(by=columns, data=st.data())
def test_references_are_read_as_they_are_spelled(by: list[str], data: st.DataObject) -> None:
    """One for all, or one by column or crossing; a matrix is read as its text, which the library takes for it."""
    crossing = " & ".join(by)
    groups = names | st.sampled_from([f"{column}=b" for column in by])
    value = data.draw(groups | st.dictionaries(st.sampled_from([*by, crossing]), groups, min_size=1))
    assert read_texts("reference", spelled("reference", value), by) == value
    assert read_texts("reference", spelled("reference", [1, 2.0, 3, 4]), by) == "1,2,3,4"


def test_columns_may_contain_the_signs_that_separate() -> None:
    assert read_texts("group_names", ["a:b:c=d"], ["a", "a:b"]) == {"a:b": {"c": "d"}}
    assert read_texts("group_names", ['a:"b:c"=d'], ["a", "a:b"]) == {"a": {"b:c": "d"}}
    assert read_texts("reference", ["a=b=c"], ["a", "a=b"]) == {"a=b": "c"}
    assert read_texts("reference", ['a="b=c"'], ["a", "a=b"]) == {"a": "b=c"}
    assert read_texts("reference", ['"a=b"'], ["a"]) == "a=b"


@pytest.mark.parametrize(
    ("name", "texts", "sentence"),
    [
        ("bins", ["age"], "bins must be COLUMN=CUT,CUT,... with numbers, such as age=25,45; got 'age'"),
        ("bins", ["age=x"], "bins must be COLUMN=CUT,CUT,... with numbers, such as age=25,45; got 'age=x'"),
        ("bins", ["age=1", "age=2"], "bins names 'age' twice"),
        ("models", ["old"], "models must be NAME=COLUMN, such as old=p1; got 'old'"),
        ("models", ["old=a", "old=b"], "models names 'old' twice"),
        ("reference", ["race=A", "B"], "if reference is repeated, it must be COLUMN=GROUP; got 'B'"),
        ("reference", ["race=A", "race=B"], "reference names 'race' twice"),
        ("group_names", ["race:A=a", "race:A=b"], "group_names names 'A' of 'race' twice"),
        ("group_names", ["rase:A=a"], "no group column in group_names is called 'rase'; did you mean 'race'?"),
        (
            "group_names",
            ["race=A"],
            "group_names must be COLUMN:VALUE=NAME, such as RAC1P:1=White, with a value that contains = in double "
            "quotes; got 'race=A'",
        ),
        ("strength", ["much"], "strength must be a number of cases, prev=…,tpr=…,fpr=…, or auto; got 'much'"),
    ],
)
def test_texts_that_mean_nothing_are_refused(name: str, texts: list[str], sentence: str) -> None:
    with pytest.raises(InvalidInput) as refusal:
        read_texts(name, texts, ["race"])
    assert str(refusal.value) == sentence
