r"""Formulas as MathML, which browsers draw by themselves: no script, no font, no request.

>>> as_mathml("n^2", display="inline").startswith("<math")
True
>>> as_mathml(r"\nosuchcommand{n}", display="inline")
Traceback (most recent call last):
sphinx.errors.ExtensionError: this formula has a command that latex2mathml does not know: \nosuchcommand{n}
"""

from __future__ import annotations

from typing import Any, Literal

from docutils.nodes import SkipNode, math_block
from latex2mathml.converter import convert
from sphinx.errors import ExtensionError

__all__ = ["as_mathml", "setup"]


def as_mathml(formula: str, display: Literal["inline", "block"]) -> str:
    """The formula as a MathML element; a command that cannot be converted is an error."""
    made = convert(formula, display=display)
    if "\\" in made:
        raise ExtensionError(f"this formula has a command that latex2mathml does not know: {formula}")
    return made


def write(translator: Any, node: Any) -> None:
    """Write a formula, and skip the text that it consists of."""
    if isinstance(node, math_block):
        translator.body.append(f'<div class="math">{as_mathml(node.astext(), "block")}</div>')
    else:
        translator.body.append(as_mathml(node.astext(), "inline"))
    raise SkipNode


def setup(app: Any) -> dict[str, bool]:
    """Register the renderer."""
    app.add_html_math_renderer("mathml", inline_renderers=(write, None), block_renderers=(write, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
