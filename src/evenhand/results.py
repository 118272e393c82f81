"""What functions return, for annotations and ``isinstance``; not constructed directly.

The names are listed once, in ``results.pyi``, and imported when first used.
"""

from __future__ import annotations

from typing import Any

from . import import_name, read_stub

_MODULE_OF = read_stub(__loader__, f"{__file__}i")  # type: ignore[name-defined]
__all__ = tuple(_MODULE_OF)


def __getattr__(name: str) -> Any:
    return import_name(globals(), _MODULE_OF, name)
