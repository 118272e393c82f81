"""An audit for pipelines: JUnit XML, which most of them show as tests, and the annotations of GitHub's."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import Any
from xml.etree import ElementTree

from ..auditing import Audit, Finding, Row, Verdict, place_text
from ..errors import printable
from ..wording import several

_UNTOLD = (Verdict.UNDEFINED, Verdict.INCONCLUSIVE, Verdict.NOT_TESTED, Verdict.REFERENCE)
# GitHub shows so many annotations of each level per step.
_MOST_ANNOTATIONS = 10
_LEVELS = {"alert": "warning", "warning": "warning", "note": "notice"}


def as_junit(
    audit: Audit, failing: Collection[Finding] = (), changes: Sequence[str] | None = None
) -> str:
    """The audit as JUnit XML: a test case per comparison, which fails if one of some findings is about it.

    Comparisons about which nothing can be said are skipped. A finding about none of them is a test case of its own, and
    so is whether a repeated audit changed.
    """
    suite = ElementTree.Element(
        "testsuite", name=f"evenhand: {_title(audit)}", timestamp=str(audit.provenance.get("made"))
    )
    about: dict[Any, list[Finding]] = {}
    for finding in audit.findings:
        for metric in finding.metrics:
            about.setdefault((*_place(finding), metric), []).append(finding)
    told: set[int] = set()
    fails = set(map(id, failing))
    for row in audit.rows:
        findings = about.get((*_place(row), row.metric), [])
        told.update(map(id, findings))
        name = f"{row.metric} of {row.group}{f' ({place_text(row.at)})' if row.at else ''}"
        case = _case(suite, row.by, name, findings, fails)
        if row.verdict in _UNTOLD and case.find("failure") is None:
            case.insert(
                0,
                ElementTree.Element("skipped", message=printable(row.reason or row.verdict.value)),
            )
    for finding in audit.findings:
        if id(finding) not in told:
            _case(
                suite, "data", " ".join(filter(None, (finding.kind, finding.by))), [finding], fails
            )
    if changes is not None:
        case = ElementTree.SubElement(
            suite, "testcase", classname="repeat", name="nothing changed", time="0"
        )
        for change in changes:
            _add(case, "failure", "changed", change)
    counts = {"tests": "testcase", "failures": "testcase[failure]", "skipped": "testcase[skipped]"}
    suite.attrib |= {name: str(len(suite.findall(path))) for name, path in counts.items()} | {
        "errors": "0"
    }
    ElementTree.indent(suite)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{ElementTree.tostring(suite, encoding="unicode")}\n'


def _title(audit: Audit) -> str:
    source = audit.provenance.get("source") or {}
    return printable(str(source.get("name") or several(audit.n, "case")))


def _place(found: Row | Finding) -> tuple[Any, ...]:
    return tuple(found.at.items()), found.by, found.group


def _case(
    suite: ElementTree.Element,
    where: str,
    name: str,
    findings: Collection[Finding],
    fails: Collection[int],
) -> ElementTree.Element:
    """A test case with its findings: failures, by their identity, or what is printed beside it."""
    case = ElementTree.SubElement(
        suite, "testcase", classname=printable(where), name=printable(name), time="0"
    )
    for finding in findings:
        if id(finding) in fails:
            _add(case, "failure", f"{finding.code} {finding.kind}", str(finding))
    said = [str(finding) for finding in findings if id(finding) not in fails]
    if said:
        ElementTree.SubElement(case, "system-out").text = "\n".join(said)
    return case


def _add(case: ElementTree.Element, tag: str, kind: str, text: str) -> None:
    # A message is on one line; XML has no place for characters that control a terminal.
    shown = printable(text)
    ElementTree.SubElement(case, tag, type=kind, message=shown).text = shown


def as_annotations(audit: Audit, failing: Collection[Finding] = ()) -> str:
    """The findings as workflow commands of GitHub: errors if they fail the pipeline, else warnings and notices."""
    by_level: dict[str, list[Finding]] = {"error": [], "warning": [], "notice": []}
    fails = set(map(id, failing))
    for finding in audit.findings:
        by_level["error" if id(finding) in fails else _LEVELS[finding.severity]].append(finding)
    return "".join(
        line for level, findings in by_level.items() for line in _annotations(level, findings)
    )


def _annotations(level: str, findings: Sequence[Finding]) -> Iterator[str]:
    """At most so many lines as are shown; the last says how many are left out."""
    most = len(findings) if len(findings) <= _MOST_ANNOTATIONS else _MOST_ANNOTATIONS - 1
    for finding in findings[:most]:
        title = " ".join(filter(None, (finding.code, finding.kind, finding.group)))
        place = f"{place_text(finding.at)}: " if finding.at else ""
        yield _annotation(level, title, f"{place}{finding.sentence}")
    if findings[most:]:
        yield _annotation(
            level, "evenhand", f"{len(findings) - most:,} more findings like these are in the audit"
        )


def _annotation(level: str, title: str, message: Any) -> str:
    return f"::{level} title={_escaped(printable(title), ',:')}::{_escaped(printable(message))}\n"


def _escaped(text: str, more: str = "") -> str:
    """Text with the characters that would end a command or one of its properties by their codes."""
    return "".join(f"%{ord(c):02X}" if c in f"%\r\n{more}" else c for c in text)
