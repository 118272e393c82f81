"""How Sphinx builds the documentation: ``sphinx-build -W -b html docs docs/_build/html``.

The pages need no network, neither to be built nor to be read: formulas become MathML, fonts are the reader's own.
"""

import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent / "extensions"))

from docutils.nodes import Text, literal_block

import evenhand

project = "evenhand"
author = "evenhand contributors"
release = version = evenhand.__version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "numpydoc",
    "mathml",
    "notebooks",
    "from_code",
]
exclude_patterns = ["_build", "extensions"]
suppress_warnings = ["misc.highlighting_failure"]
default_role = "py:obj"
smartquotes = False

myst_enable_extensions = ["dollarmath", "deflist"]
myst_heading_anchors = 3

autodoc_typehints = "none"
autodoc_member_order = "bysource"
numpydoc_show_class_members = False
python_maximum_signature_line_length = 88
toc_object_entries_show_parents = "hide"

html_theme = "furo"
html_title = f"evenhand {release}"
html_math_renderer = "mathml"
html_static_path = ["_static"]
html_css_files = ["output.css"]
html_copy_source = False
html_show_copyright = False


def strip_last_line(app, doctree):
    """Leave out the empty line that ends a doctest in Markdown."""
    for block in doctree.findall(literal_block):
        text = block.astext().rstrip("\n")
        block.rawsource = text
        block.children = [Text(text)]


def reach_by_keyboard(app, pagename, templatename, context, doctree):
    """Let the keyboard reach what is scrolled sideways: wide code and wide tables."""
    body = context.get("body", "").replace("<pre>", '<pre tabindex="0">')
    context["body"] = re.sub(r'<div class="(?=table-wrapper|math"|output")', '<div tabindex="0" class="', body)


def setup(app):
    """Connect what is done to every page."""
    app.connect("doctree-read", strip_last_line)
    app.connect("html-page-context", reach_by_keyboard)
