"""Audits for pipelines: JUnit XML that any reader takes, and annotations that no name from the data can steer."""

from __future__ import annotations

import re
from xml.etree import ElementTree

from hostile import NAUGHTY, STEERING
from matrices import matrix
from shown_audits import AUDITS

import evenhand as eh
from evenhand.auditing import Finding
from evenhand.reports import as_annotations, as_junit

COUNTS = {"A": matrix(80, 20, 30, 70), "B": matrix(40, 60, 30, 70), "C": matrix(2, 1, 1, 3), "D": matrix(0, 0, 3, 4)}


def failing(a: eh.Audit, *kinds: str) -> list[Finding]:
    return [finding for finding in a.findings if finding.kind in kinds or "any" in kinds]


def suite_of(text: str) -> ElementTree.Element:
    """The suite, whose counts must be those of its test cases."""
    assert text.startswith('<?xml version="1.0" encoding="UTF-8"?>\n<testsuite ')
    suite = ElementTree.fromstring(text.encode())
    counts = {"tests": "testcase", "failures": "testcase[failure]", "skipped": "testcase[skipped]"}
    assert {name: int(suite.attrib[name]) for name in counts} == {n: len(suite.findall(p)) for n, p in counts.items()}
    return suite


def test_there_is_a_test_case_per_comparison_and_it_fails_by_its_findings() -> None:
    a = eh.audit_counts(COUNTS, metrics=["tpr", "fpr"], by="region")
    suite = suite_of(as_junit(a, failing(a, "beyond-margin")))
    cases = {case.attrib["name"]: case for case in suite if case.attrib["classname"] == "region"}
    assert set(cases) == {f"{row.metric} of {row.group}" for row in a.rows}
    failures = {f"tpr of {finding.group}": str(finding) for finding in failing(a, "beyond-margin")}
    assert set(failures) == {"tpr of A", "tpr of B"}
    for name, case in cases.items():
        first = case[0]
        assert first.tag == ("failure" if name in failures else "skipped")
        if name in failures:
            assert first.attrib == {"type": "EH104 beyond-margin", "message": failures[name]}
            assert first.text == failures[name]
    assert cases["tpr of D"][0].attrib["message"].startswith("no actual positives")


def test_every_finding_that_fails_is_a_failure_of_some_test_case() -> None:
    for a in AUDITS.values():
        suite = suite_of(as_junit(a, failing(a, "any")))
        assert {failure.text for failure in suite.iter("failure")} == {str(finding) for finding in a.findings}
        assert suite_of(as_junit(a)).attrib["failures"] == "0"


def test_changes_of_a_repeated_audit_are_a_test_case() -> None:
    a = eh.audit_counts(COUNTS, metrics="tpr")
    for changes, failures in (([], "0"), (["the data\nchanged", "more"], "1")):
        suite = suite_of(as_junit(a, (), changes))
        assert suite.attrib["failures"] == failures
        assert [found.text for found in suite.iter("failure")] == [change.replace("\n", "\\n") for change in changes]


def test_hostile_names_make_valid_xml_and_no_command() -> None:
    names = {f"{i}{name}": COUNTS["ABCD"[i % 4]] for i, name in enumerate([*NAUGHTY, STEERING, "\ufffe", "]]>"])}
    a = eh.audit_counts(names, metrics="tpr", by=STEERING)
    suite = suite_of(as_junit(a, failing(a, "any")))
    varies = [finding for finding in a.findings if finding.kind == "varies"]
    assert len(suite.findall("testcase")) == len(names) + len(varies)
    lines = as_annotations(a, failing(a, "any")).splitlines()
    assert all(re.fullmatch(r"::(error|warning|notice) title=[^:,\r\n]*::[^\r\n]*", line) for line in lines)


def test_annotations_are_errors_if_they_fail_and_are_escaped() -> None:
    a = eh.audit_counts({"50%, a:b": matrix(80, 20, 30, 70), "B": matrix(40, 60, 30, 70)}, metrics=["tpr", "prev"])
    errors = as_annotations(a, failing(a, "beyond-margin")).splitlines()
    assert errors[0].startswith("::error title=EH104 beyond-margin 50%25%2C a%3Ab::50%25, a:b: true positive rate ")
    levels = [line.split()[0] for line in as_annotations(a).splitlines()]
    assert levels == ["::warning"] * 2 + ["::notice"] * 2


def test_no_more_annotations_are_printed_than_github_shows() -> None:
    few = {f"g{i}": matrix(2, 1, 1, 3) for i in range(30)}
    lines = as_annotations(eh.audit_counts(few, metrics="tpr")).splitlines()
    assert len(lines) == 10
    assert lines[-1] == "::notice title=evenhand::21 more findings like these are in the audit"
