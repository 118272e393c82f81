"""What self-contained pages have in common: templates that escape all text from data, and a strict policy.

The content security policy allows exactly the script and the style of the page, by their hashes, and no request.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable
from hashlib import sha256
from importlib.resources import files
from typing import Any

from ..auditing import several
from ..errors import MissingExtra

__all__ = ["policy", "shipped", "template"]


def template(name: str, filters: dict[str, Callable[..., Any]], functions: dict[str, Callable[..., Any]]) -> Any:
    """A template with its filters and functions."""
    try:
        from jinja2 import Environment, PackageLoader, StrictUndefined
    except ModuleNotFoundError:
        raise MissingExtra.named("report", "writing an HTML report") from None
    environment = Environment(
        loader=PackageLoader("evenhand.faces"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= filters
    environment.globals |= {"several": several} | functions
    return environment.get_template(name)


def shipped(name: str) -> str:
    """The text of a file beside the templates."""
    return (files("evenhand.faces") / "templates" / name).read_text("utf-8")


def policy(style: str, script: str) -> str:
    """The content security policy of a page with this style and script."""
    return (
        f"default-src 'none'; style-src '{_hash(style)}'; script-src '{_hash(script)}'; base-uri 'none'; "
        "form-action 'none'"
    )


def _hash(text: str) -> str:
    return "sha256-" + b64encode(sha256(text.encode("utf-8")).digest()).decode("ascii")
