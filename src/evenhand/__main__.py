"""The ``evenhand`` command, put together: ``python -m evenhand`` is the same."""

from __future__ import annotations

import sys
from io import TextIOWrapper

from .errors import MissingExtra

__all__ = ["main"]


def main() -> None:
    """Run the ``evenhand`` command."""
    try:
        from .faces.audit_command import audit
        from .faces.cli import evenhand
        from .faces.serve_command import serve
        from .paper.command import reproduce
    except ModuleNotFoundError as missing:
        if missing.name not in ("click", "rich"):
            raise
        sys.exit(f"evenhand: {MissingExtra.named('cli', 'the command line')}")
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            # A terminal that lacks a sign shows another one rather than none of the output.
            stream.reconfigure(errors="replace")
    evenhand.add_command(audit)
    evenhand.add_command(reproduce)
    evenhand.add_command(serve)
    evenhand(prog_name="evenhand")


if __name__ == "__main__":
    main()
