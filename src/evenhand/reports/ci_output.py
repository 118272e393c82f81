"""An audit for pipelines: JUnit XML, which most of them show as tests, and the annotations of GitHub's."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from ..auditing import GOAL_KINDS, Audit, Finding, GateResult, Verdict, place_text
from ..errors import printable
from ..wording import several
from .narrative import line_key

_UNTOLD = (Verdict.UNDEFINED, Verdict.INCONCLUSIVE, Verdict.NOT_TESTED, Verdict.REFERENCE)
_COUNTS = {"tests": "testcase", "failures": "testcase[failure]"}
_COUNTS |= {"skipped": "testcase[skipped]", "errors": "testcase[error]"}
# GitHub shows so many annotations of each level per step.
_MOST_ANNOTATIONS = 10
_LEVELS = {"alert": "warning", "warning": "warning", "note": "notice"}


def as_junit(
    audit: Audit,
    failing: Collection[Finding] = (),
    changes: Sequence[str] | None = None,
    gates: Sequence[GateResult] = (),
) -> str:
    """The audit as JUnit XML: a test case per comparison, which fails if one of some findings is about it.

    Comparisons about which nothing can be said are skipped. A finding about none of them is a test case of its own, and
    so is whether a repeated audit changed, and every gate. A gate that could not be evaluated is an error.
    """
    source = audit.provenance.get("source") or {}
    title = printable(f"evenhand: {source.get('name') or several(audit.n, 'case')}")
    suite = Element("testsuite", name=title, timestamp=str(audit.provenance.get("made")))
    about: dict[object, list[Finding]] = {}
    for finding in audit.findings:
        for metric in finding.metrics:
            key = line_key(finding), metric, finding.kind in GOAL_KINDS
            about.setdefault(key, []).append(finding)
    fails = set(map(id, failing))
    for row in audit.rows:
        about_gap = "gap of " * row.is_gap_change
        place = f" ({place_text(row.at)})" if row.at else ""
        name = f"{about_gap}{row.metric} of {row.group}{place}"
        name = f"goal {row.reference}: {name}" if row.is_goal else name
        findings = about.get((line_key(row), row.metric, row.is_goal), [])
        findings = [one for one in findings if one.kind != "worse" or row.is_change]
        case = _add_case(suite, row.by or "all", name, findings, fails)
        if row.verdict in _UNTOLD and case.find("failure") is None:
            case.insert(0, Element("skipped", message=printable(row.reason or row.verdict)))
    for finding in audit.findings:
        if finding.group is None:
            name = " ".join(filter(None, (finding.kind, finding.by)))
            _add_case(suite, "data", name, [finding], fails)
    for gate in gates:
        case = _add_case(suite, "gate", gate.gate, [], fails)
        if gate.outcome == "not evaluated":
            SubElement(case, "error", type=gate.outcome, message=str(gate))
        elif gate.outcome == "failed":
            _add_failure(case, gate.outcome, str(gate))
    if changes is not None:
        case = _add_case(suite, "repeat", "nothing changed", [], fails)
        for change in changes:
            _add_failure(case, "changed", change)
    for name, path in _COUNTS.items():
        suite.set(name, str(len(suite.findall(path))))
    indent(suite)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{tostring(suite, encoding="unicode")}\n'


def _add_case(
    suite: Element, where: str, name: str, findings: list[Finding], fails: set[int]
) -> Element:
    """A test case with its findings: failures, by their identity, or what is printed beside it."""
    names = {"classname": printable(where), "name": printable(name)}
    case = SubElement(suite, "testcase", names, time="0")
    for finding in findings:
        if id(finding) in fails:
            _add_failure(case, f"{finding.code} {finding.kind}", str(finding))
    if said := [str(finding) for finding in findings if id(finding) not in fails]:
        SubElement(case, "system-out").text = "\n".join(said)
    return case


def _add_failure(case: Element, kind: str, text: str) -> None:
    # A message is on one line; XML has no place for characters that control a terminal.
    shown = printable(text)
    SubElement(case, "failure", type=kind, message=shown).text = shown


def as_annotations(
    audit: Audit, failing: Collection[Finding] = (), gates: Sequence[GateResult] = ()
) -> str:
    """The findings as workflow commands of GitHub: errors if they fail the pipeline, else warnings and notices.

    Gates that could not be evaluated are errors.
    """
    levels: dict[str, list[Finding]] = {"error": [*failing], "warning": [], "notice": []}
    fails = set(map(id, failing))
    for finding in audit.findings:
        if id(finding) not in fails:
            levels[_LEVELS[finding.severity]].append(finding)
    lacks = (gate for gate in gates if gate.outcome == "not evaluated")
    lines = [_command("error", f"gate {gate.gate}", str(gate)) for gate in lacks]
    lines += (line for level, some in levels.items() for line in _annotate(level, some))
    return "".join(lines)


def _annotate(level: str, findings: Sequence[Finding]) -> Iterator[str]:
    """At most so many lines as are shown; the last says how many are left out."""
    most = len(findings) if len(findings) <= _MOST_ANNOTATIONS else _MOST_ANNOTATIONS - 1
    for finding in findings[:most]:
        title = " ".join(filter(None, (finding.code, finding.kind, finding.group)))
        place = f"{place_text(finding.at)}: " if finding.at else ""
        yield _command(level, title, f"{place}{finding.sentence}")
    if left := len(findings) - most:
        yield _command(level, "evenhand", f"{left:,} more findings like these are in the audit")


def _command(level: str, title: str, message: str) -> str:
    """A command in which characters that would end it or its title stand by their codes."""
    title, message = (printable(text).replace("%", "%25") for text in (title, message))
    title = title.replace(",", "%2C").replace(":", "%3A")
    return f"::{level} title={title}::{message}\n"
