"""The ``evenhand`` command: ``python -m evenhand`` is the same."""

from __future__ import annotations

import sys

from .errors import MissingExtra

__all__ = ["main"]


def main() -> None:
    """Run the ``evenhand`` command."""
    try:
        from .cli import run
    except ModuleNotFoundError as missing:
        if missing.name != "click":
            raise
        sys.stderr.write(f"evenhand: {MissingExtra.named('cli', 'the command line')}\n")
        sys.exit(2)
    except KeyboardInterrupt:
        sys.exit(130)
    run()


if __name__ == "__main__":
    main()
