"""Nothing speaks of harm or of four fifths until somebody says which prediction is good for a person."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Callable
from typing import Any

import pytest
from shown_audits import SCORED, at_thresholds, classified, decided, of_classes

import evenhand as eh
from evenhand.auditing import Audit
from evenhand.views import as_text
from evenhand.views.audit_document import _FAVOURABLE, _FAVOURABLE_OF_MODELS
from evenhand.views.narrative import headlines

WORDS = ("worse for", "better for", "harm", "four fifths", "four-fifths", "favour", "disadvantage")
"""What no output says by itself; "favour" includes the errors that favour a person, and favourable."""


def compas(**settings: Any) -> Audit:
    return eh.audit_counts(eh.examples.compas(), by="race", **settings)


def of_two(**settings: Any) -> Audit:
    return eh.audit(decided(), y_true="y", y_pred="old", groups="race", **settings)


MADE: dict[str, Callable[..., Audit]] = {
    "counts": compas,
    "data": of_two,
    "selection rates": lambda **s: eh.audit(decided(), y_pred="old", groups="race", **s),
    "thresholds": lambda **s: at_thresholds(SCORED, [0.3, 0.5], metrics=["ppr", "tpr"], **s),
    "classes": lambda **s: of_classes(classified(), metrics=["ppr", "tpr"], **s),
    "strata": lambda **s: of_two(strata="department", metrics=["ppr", "tpr"], **s),
    "models": lambda **s: eh.compare(decided(), y_true="y", models={"old": "old", "new": "new"}, groups="race",
                                            **s),
    "own words": lambda **s: compas(
        wording={"cases": "defendants", "outcome": "charged again", "decision": "called risky"}, **s
    ),
}  # fmt: skip


def shown_of_page(text: str) -> str:
    """What a page shows or could show: its text and its data, without its style, script and settings."""
    (data,) = re.findall(r'<script type="application/json" id="data">(.*?)</script>', text, re.DOTALL) or ["{}"]
    known = json.loads(data)
    body = re.sub(r"<(script|style)\b.*?</\1>", " ", text.partition("<body")[2], flags=re.DOTALL)
    return f"{html.unescape(re.sub(r'<[^>]+>', ' ', body))} {json.dumps(known, ensure_ascii=False)}"


VIEWS: dict[str, Callable[[Audit], str]] = {
    "text": lambda a: as_text(a),
    "all": lambda a: as_text(a, None),
    "verbose": lambda a: as_text(a, None, verbose=True),
    "markdown": lambda a: a.to_markdown(),
    "page": lambda a: shown_of_page(a.to_html()),
    "notebook": lambda a: html.unescape(re.sub(r"<[^>]+>", " ", a._repr_html_())),
    "csv": lambda a: "\n".join(a.to_csv().splitlines()[1:]),
    "wide csv": lambda a: a.to_csv(wide=True),
    "findings": lambda a: json.dumps([f.to_dict() for f in a.findings], ensure_ascii=False),
    "rows": lambda a: json.dumps([list(r.flat().values()) for r in a.rows], ensure_ascii=False),
    "headlines": lambda a: "\n".join(h.sentence for h in headlines(a.rows, a.settings)),
}


def without_hint(text: str) -> str:
    """A text on one line, without the sentence that says how to get more, and without names of settings."""
    whole = " ".join(text.split())
    for hint in (_FAVOURABLE, _FAVOURABLE_OF_MODELS):
        whole = whole.replace(hint, "").replace(hint.replace("--", "\\-\\-"), "")
    # The list of settings, the question to which "not said" is the answer, and a mean that harms nobody.
    return re.sub(r"favourable:? *(?:none|not said)|\bGood for a person\b|\bharmonic mean\b", "", whole)


@pytest.mark.many(4)
@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize("kind", MADE)
def test_nothing_is_said_of_harm_unless_somebody_said_what_is_good(kind: str, view: str) -> None:
    said = without_hint(VIEWS[view](MADE[kind]())).casefold()
    assert [word for word in WORDS if word in said] == []


@pytest.mark.parametrize("kind", MADE)
def test_no_headline_harms_and_nothing_has_an_impact(kind: str) -> None:
    a = MADE[kind]()
    assert not any(h.harms for h in headlines(a.rows, a.settings))
    assert all(r.impact_group is None for r in a.rows)
    assert not any(f.kind == "four-fifths" for f in a.findings)


@pytest.mark.slow
@pytest.mark.parametrize("view", ["text", "all", "verbose", "page"])
def test_one_line_says_how_to_get_them(view: str) -> None:
    said = " ".join(VIEWS[view](compas()).split())
    assert said.count(_FAVOURABLE) == 1
    assert _FAVOURABLE not in " ".join(VIEWS[view](compas(favourable="negative")).split())


def test_one_line_says_how_to_see_whom_changes_harm() -> None:
    hint = (
        "To see whom changes harm, say which prediction is good for a person: --favourable positive or --favourable "
        "negative; favourable= in Python."
    )
    assert " ".join(VIEWS["text"](MADE["models"]()).split()).count(hint) == 1
    assert hint not in " ".join(VIEWS["text"](MADE["models"](favourable="negative")).split())


def test_these_checks_can_fail() -> None:
    """With a favourable prediction, all of it is said."""
    for favourable, word in (("positive", "four fifths"), ("negative", "four fifths")):
        a = compas(favourable=favourable)
        for view in ("text", "verbose", "markdown", "page", "findings"):
            assert word in without_hint(VIEWS[view](a)).replace("four-fifths", "four fifths"), view
        assert any(h.harms for h in headlines(a.rows, a.settings))
    assert "harm" in VIEWS["page"](compas(favourable="positive"))
