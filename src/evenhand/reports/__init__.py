"""Reports: an audit or a monitor as text, Markdown, HTML, for notebooks and for CI, and all plots."""

from .ci_output import as_annotations, as_junit
from .html import as_page, monitor_page
from .markdown import as_markdown
from .monitor_summary import monitor_text
from .narrative import finding_sentence
from .notebook import as_html
from .plans import exploitable_text, jaggedness_text, plan_text
from .plots import (
    draw_audit,
    draw_distribution,
    draw_exploitable,
    draw_jaggedness,
    draw_match,
    draw_monitor,
    draw_plan,
    draw_risks,
)
from .text import as_text
from .words import Words
