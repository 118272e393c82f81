"""The page: what readers see first, and the data and the script that draw the rest.

Everything is inline and nothing is fetched. The content security policy allows exactly the script and the style that
are shipped, by their hashes. The template engine escapes all text from data, and the script writes text only. Without
JavaScript there is a plain table.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import lru_cache
from html import escape
from typing import Any

from ...auditing import Audit, Tier, Verdict, compared_with, headlines, meaning, number, of_people, untold
from ...metrics import metric as find_metric
from ..tables import adjustment
from ..templating import policy, shipped, template
from .data import Group, grouped, packed
from .facts import facts, reading, setting, title
from .names import shown

__all__ = ["as_page"]

# How many groups the page can hold, and how many the table for readers without JavaScript.
_MOST, _PLAIN = 2_000, 60
_SCRIPTS = ("parts.js", "filters.js", "map.js", "findings.js", "cards.js", "report.js")


def as_page(audit: Audit) -> str:
    """The whole page."""
    template = _template()
    everybody = grouped(audit)
    groups = everybody[:_MOST]
    settings = audit.settings
    style, script = _style(), _script()
    data = packed(audit, groups)
    places = {(one.by, one.group): i for i, one in enumerate(groups)}
    return str(
        template.render(
            audit=audit,
            settings=settings,
            title=title(audit),
            given=bool(audit.record.get("title")),
            facts=facts(audit),
            reading=reading(audit),
            against=compared_with(audit.rows),
            groups=groups,
            total=len(everybody),
            headlines=[(h, places.get((h.by, h.group))) for h in headlines(audit.rows, settings)],
            untold=untold(audit.rows, settings),
            notes=[f.sentence for f in audit.findings if f.kind in ("left-out", "missing-group", "spread")],
            meanings=[(find_metric(key), meaning(key, settings["favourable"])) for key in settings["metrics"]],
            of_people=of_people,
            verdicts=list(Verdict),
            tally=_tally(audit),
            tiers=list(Tier),
            plain=_plain(groups[:_PLAIN], settings["metrics"]),
            style=style,
            script=script,
            policy=policy(style, script),
            data=_json(data),
            ratios=any(m["ratio"] for m in data["metrics"]),
            adjusted=adjustment(audit),
            approximate=any(row.test == "posterior" for row in audit.rows),
            command=audit.record.get("command"),
        )
    )


@lru_cache(maxsize=1)
def _template() -> Any:
    return template("report.html", {"shown": shown, "setting": setting}, {})


@lru_cache(maxsize=1)
def _style() -> str:
    """The style sheet, with the colours of the verdicts on light and dark backgrounds."""
    light = "".join(f"  --{v.css}: {v.colour};\n" for v in Verdict)
    dark = "".join(f"    --{v.css}: {v.dark};\n" for v in Verdict)
    classes = "".join(
        f".{v.css} {{ --verdict: var(--{v.css}); }}\n"
        f".mark.{v.css} {{ stroke: var(--{v.css}); fill: {f'var(--{v.css})' if v.filled else 'none'}; }}\n"
        for v in Verdict
    )
    return (
        f"{shipped('base.css')}\n{shipped('report.css')}\n"
        f":root {{\n{light}}}\n@media screen and (prefers-color-scheme: dark) {{\n"
        f"  :root {{\n{dark}  }}\n}}\n{classes}"
    )


@lru_cache(maxsize=1)
def _script() -> str:
    parts = "\n".join(shipped(name) for name in _SCRIPTS)
    return f'"use strict";\n{{\n{parts}}}\n'


def _json(data: Any) -> str:
    """JSON that can stand in a script element: no tag and no comment can begin or end in it."""
    text = json.dumps(data, separators=(",", ":"), allow_nan=False)
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _tally(audit: Audit) -> list[tuple[Verdict, int]]:
    """The verdicts that occur and how many rows have each."""
    counts = dict.fromkeys(Verdict, 0)
    for row in audit.rows:
        counts[row.verdict] += 1
    return [(verdict, n) for verdict, n in counts.items() if n]


def _plain(groups: Sequence[Group], metrics: Sequence[str]) -> str:
    """The body of a table of scores, with the mark of the verdict and the cases that each is based on."""
    lines = []
    for one in groups:
        cells = []
        for key in metrics:
            row = one.rows.get(key)
            if row is None:
                cells.append("<td></td>")
                continue
            score = number(row.score) if row.reason is None else escape(shown(row.status))
            cells.append(f"<td>{row.verdict.sign} {score} ({row.basis:,})</td>")
        lines.append(
            f'<tr><th scope="row">{escape(one.name)}</th><td>{escape(shown(one.by))}</td><td>{one.first.n:,}</td>'
            f"{''.join(cells)}</tr>\n"
        )
    return "".join(lines)
