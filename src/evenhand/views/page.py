"""A document as a self-contained page: what readers see first, and the data and the script that draw the rest.

Everything is inline and nothing is fetched. The content security policy allows exactly the script and the style that
are shipped, by their hashes. The template engine escapes all text from data, and the script writes text only. Without
JavaScript there are plain tables.
"""

from __future__ import annotations

import json
from base64 import b64encode
from functools import lru_cache
from hashlib import sha256
from importlib.resources import files
from itertools import islice
from typing import Any

from ..auditing import Audit, Monitor, Verdict
from ..errors import MissingExtra, printable
from ..wording import several
from .audit_document import adjustment, caution, document_of
from .axes import columns_of
from .charts import Picture, traces_of
from .document import Document, Table
from .monitor_document import monitor_document
from .narrative import Tier
from .page_data import grouped, packed
from .record_facts import meaning_of_positive

__all__ = ["as_page", "monitor_page"]

# Beyond so many cells, tables of a page have the most important lines only.
_MOST_CELLS, _FEWEST_LINES = 20_000, 3
_INTERACTIVE = ("parts.js", "filters.js", "map.js", "findings.js", "cards.js", "report.js")
_CONTENTS = {"map": "Map", "findings": "Findings by group", "cards": "Cards"}


def as_page(
    audit: Audit,
    most: int = 2_000,
    *,
    title: str | None = None,
    system: str | None = None,
    author: str | None = None,
) -> str:
    """The whole page: with a map of groups and metrics, of at most ``most`` groups, or with tables along the axes."""
    document = document_of(audit, system, author)
    interactive = not audit.axes
    style, script = _style(), _script(_INTERACTIVE if interactive else ("charts.js",))
    groups = grouped(audit) if interactive else {}
    held = dict(islice(groups.items(), most))
    sections = list(document.named("findings", "places", "scores"))
    return str(
        _environment()
        .get_template("page.html")
        .render(
            document=document,
            part={section.name: section for section in document.sections},
            title=title or document.title,
            reading=" ".join(filter(None, (meaning_of_positive(audit), caution(audit)))),
            contents=[{"id": name, "title": title, "blocks": ()} for name, title in _CONTENTS.items()]
            if interactive
            else [
                {"id": f"{one.name}-{i}", "title": one.title, "blocks": one.blocks} for i, one in enumerate(sections)
            ],
            cards={who: i for i, who in enumerate(held)},
            total=len(groups),
            held=len(held),
            most=_most_lines(document, "scores"),
            elsewhere="to_csv() has all rows",
            verdicts=list(Verdict),
            tiers=list(Tier),
            columns=columns_of(audit),
            settings=audit.settings,
            axes=audit.axes,
            adjusted=adjustment(audit),
            tests={str(row.method).split(" ")[0] for row in audit.rows},
            asks={row.question for row in audit.rows},
            data=_json(packed(audit, held)) if interactive else None,
            style=style,
            script=script,
            policy=_policy(style, script),
        )
    )


def monitor_page(monitor: Monitor) -> str:
    """The page of a monitor, which needs no script."""
    document = monitor_document(monitor)
    style = _style()
    return str(
        _environment()
        .get_template("monitor.html")
        .render(
            title=document.title,
            part={section.name: section for section in document.sections},
            contents=[section for section in document.sections if section.title],
            most=_most_lines(document, "rows", "batches"),
            elsewhere="the state has the rest",
            style=style,
            policy=_policy(style),
        )
    )


def _most_lines(document: Document, *names: str) -> int:
    """How many lines the tables in these sections of a page may have."""
    tables = [block for section in document.named(*names) for block in section.blocks if isinstance(block, Table)]
    return max(_MOST_CELLS // max(sum(len(table.columns) for table in tables), 1), _FEWEST_LINES)


@lru_cache(maxsize=1)
def _environment() -> Any:
    try:
        from jinja2 import Environment, PackageLoader, StrictUndefined
        from markupsafe import Markup
    except ModuleNotFoundError:
        raise MissingExtra.named("report", "writing an HTML report") from None

    def plain(value: Any) -> Any:
        """Text from data, before it is escaped, without characters that nobody could see."""
        return printable(value) if isinstance(value, str) and not isinstance(value, Markup) else value

    environment = Environment(
        loader=PackageLoader("evenhand.views"),
        auto_reload=False,
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=plain,
    )
    environment.globals |= {
        "several": several,
        "picture": Picture.of,
        "traces": traces_of,
        "kind": lambda block: type(block).__name__,
    }
    return environment


def _shipped(name: str) -> str:
    """The text of a file beside the templates."""
    return (files("evenhand.views") / "templates" / name).read_text("utf-8")


def _policy(style: str, script: str = "") -> str:
    """The content security policy of a page with this style and script."""
    scripts = f"script-src '{_hash(script)}'; " if script else ""
    return f"default-src 'none'; style-src '{_hash(style)}'; {scripts}base-uri 'none'; form-action 'none'"


def _hash(text: str) -> str:
    return "sha256-" + b64encode(sha256(text.encode("utf-8")).digest()).decode("ascii")


@lru_cache(maxsize=1)
def _style() -> str:
    """The style sheet, with the colours of the verdicts on light and dark backgrounds."""
    light = "".join(f"  --{v.css}: {v.colour};\n" for v in Verdict)
    dark = "".join(f"    --{v.css}: {v.dark};\n" for v in Verdict)
    classes = "".join(
        f".{v.css} {{ --verdict: var(--{v.css}); }}\n"
        f".mark.{v.css} {{ stroke: var(--{v.css}); fill: var(--{v.css if v.filled else 'hollow, none'}); }}\n"
        for v in Verdict
    )
    return (
        f"{_shipped('base.css')}\n{_shipped('report.css')}\n{_shipped('charts.css')}\n"
        f":root {{\n{light}}}\n@media screen and (prefers-color-scheme: dark) {{\n"
        f"  :root {{\n{dark}  }}\n}}\n{classes}"
    )


@lru_cache(maxsize=2)
def _script(names: tuple[str, ...]) -> str:
    parts = "\n".join(_shipped(name) for name in names)
    return f'"use strict";\n{{\n{parts}}}\n'


def _json(data: Any) -> str:
    """JSON that can stand in a script element: no tag and no comment can begin or end in it."""
    text = json.dumps(data, separators=(",", ":"), allow_nan=False)
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")
