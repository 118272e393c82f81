"""The ``evenhand`` command; ``python -m evenhand`` is the same."""

from __future__ import annotations

import sys


def main() -> None:
    """Run the ``evenhand`` command."""
    try:
        from .cli import run
    except KeyboardInterrupt:
        sys.exit(130)
    run()


if __name__ == "__main__":
    main()
