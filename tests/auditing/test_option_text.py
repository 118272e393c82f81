"""Settings as text: what is written is read as the same value."""

from __future__ import annotations

from typing import Any

from hypothesis import given, strategies as st
from oracle import refusal

from evenhand.auditing import AuditRequest, ModelsRequest, flat_settings, option_texts, read_texts
from evenhand.auditing.option_text import READERS

names = st.text(st.sampled_from('ab:=&," \\é'), min_size=1, max_size=5) | st.text(min_size=1, max_size=4)
# A quotation mark in the name of one column could be the beginning of a value of another.
columns = st.lists(names.filter(lambda name: '"' not in name), min_size=1, max_size=3, unique=True)
numbers = st.floats(allow_nan=False, allow_infinity=False)
sizes = st.floats(0, 1e6)
TABLES: dict[str, Any] = {
    "bins": st.dictionaries(names, st.lists(numbers, min_size=1, max_size=3), min_size=1, max_size=3),
    "models": st.dictionaries(names, names, min_size=2, max_size=3),
    "strength": st.fixed_dictionaries({"prev": sizes, "tpr": sizes, "fpr": sizes}),
}


def test_every_special_setting_has_a_reader() -> None:
    known = flat_settings(AuditRequest) | flat_settings(ModelsRequest)
    assert {name for name, (_, one) in known.items() if one.reads == "special"} == READERS.keys()


@given(data=st.data())
def test_the_text_of_a_table_is_read_as_the_same_table(data: st.DataObject) -> None:
    """read_texts(option_texts(table)) = table."""
    for name, tables in TABLES.items():
        value = data.draw(tables)
        assert read_texts(name, option_texts(name, value)) == value


@given(by=columns, data=st.data())
def test_names_of_groups_are_read_as_they_are_spelled(by: list[str], data: st.DataObject) -> None:
    """Also if columns, values and names contain colons, equals signs and quotation marks."""
    named = st.dictionaries(names, names, min_size=1, max_size=3)
    value = data.draw(st.dictionaries(st.sampled_from(by), named, min_size=1))
    assert read_texts("group_names", option_texts("group_names", value), by) == value


@given(by=columns, data=st.data())
def test_references_are_read_as_they_are_spelled(by: list[str], data: st.DataObject) -> None:
    """One by column or intersection; a matrix is read as its text, which the library takes for it."""
    crossing = " & ".join(by)
    groups = names | st.sampled_from([f"{column}=b" for column in by])
    value = data.draw(st.dictionaries(st.sampled_from([*by, crossing]), groups, min_size=1))
    assert read_texts("reference", option_texts("reference", value), by) == value
    assert read_texts("reference", option_texts("reference", {by[0]: [1, 2, 3, 4]}), by) == {by[0]: "1,2,3,4"}


def test_texts_are_read_and_names_with_signs_that_separate_stand_in_quotes() -> None:
    assert read_texts("classes", ["all", "a", "a"]) == ["all", "a"]
    for name, text, columns, value in [
        *(("strength", "auto", [], "auto"), ("strength", "2.5", [], 2.5), ("classes", "all", [], "all")),
        *(("intersections", "all", [], "all"), ("intersections", "12", [], 12), ("protect", "cms", [], "cms")),
        *(("outcome", "ill", [], "ill"), ("decision", "got a loan / got none", [], ["got a loan", "got none"])),
        ("group_names", '"a:b":c=d', ["a", "a:b"], {"a:b": {"c": "d"}}),
        ("group_names", 'a:"b=c"=d', ["a"], {"a": {"b=c": "d"}}),
        ("reference", '"a=b"=c', ["a", "a=b"], {"a=b": "c"}),
        ("reference", "a=b=c", ["a", "a=b"], {"a": "b=c"}),
        *(("reference", '"a=b"', ["a"], "a=b"), ("reference", "a=b", ["c"], "a=b"), ("reference", "A", [], "A")),
    ]:
        assert read_texts(name, [text], columns) == value


def test_texts_that_mean_nothing_are_refused() -> None:
    bins = "bins must be COLUMN=CUT,CUT,... with numbers, such as age=25,45; got"
    names = 'group_names must be COLUMN:VALUE=NAME, such as RAC1P:1=White or race:"a=b"=White; got'
    for name, texts, sentence in [
        ("bins", ["age"], f"{bins} 'age'"),
        ("bins", ["age=x"], f"{bins} 'age=x'"),
        ("bins", ["age=1", "age=2"], "bins names 'age' twice"),
        ("models", ["old"], "models must be NAME=COLUMN, such as old=p1; got 'old'"),
        ("models", ["=p"], "models must be NAME=COLUMN, such as old=p1; got '=p'"),
        ("models", ["old=a", "old=b"], "models names 'old' twice"),
        ("reference", ["race=A", "B"], "reference must be COLUMN=GROUP if it is repeated; got 'B'"),
        ("reference", ["race=A", "race=B"], "reference names 'race' twice"),
        ("group_names", ["race:A=a", "race:A=b"], "group_names names 'A' twice"),
        ("group_names", ["rase:A=a"], "no group column in group_names is called 'rase'; did you mean 'race'?"),
        ("group_names", ["race:A"], f"{names} 'A'"),
        ("strength", ["much"], "strength must be a number of cases, prev=…,tpr=…,fpr=…, or auto; got 'much'"),
    ]:
        assert refusal(read_texts, name, texts, ["race"]).partition(": ")[2] == sentence
