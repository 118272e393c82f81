"""What people touch: the command line, and later the report, the plots and the page."""

from __future__ import annotations

import sys
from io import TextIOWrapper

from ..errors import MissingExtra

__all__ = ["main"]


def main() -> None:
    """Run the ``evenhand`` command."""
    try:
        from .cli import evenhand
    except ModuleNotFoundError as missing:
        if missing.name not in ("click", "rich"):
            raise
        sys.exit(f"evenhand: {MissingExtra.named('cli', 'the command line')}")
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            # A terminal that lacks a sign shows another one rather than none of the output.
            stream.reconfigure(errors="replace")
    evenhand(prog_name="evenhand")
