"""Classification metrics you can trust when groups are small.

Public names are imported when first used, so ``import evenhand`` costs next to nothing. They are listed once, in
``__init__.pyi``, which editors and type checkers read, and which is read here too.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

__version__ = "0.1.0"


def _listed() -> dict[str, str]:
    """The public names and the modules that hold them, as the stub file beside this one lists them."""
    module, modules = "", {}
    stub = __loader__.get_data(f"{__file__}i")  # type: ignore[attr-defined, name-defined]
    for line in stub.decode().splitlines():
        words = line.replace(",", " ").split()
        if words[:1] == ["from"]:
            module = words[1]
        if "as" in words:
            modules[words[-1]] = module
    return modules


_MODULE_OF = _listed()
__all__ = tuple(_MODULE_OF)


def __getattr__(name: str) -> Any:
    if name not in _MODULE_OF:
        raise AttributeError(f"module 'evenhand' has no attribute {name!r}")
    module = _MODULE_OF[name]
    value = import_module(f".{name}", __name__) if module == "." else getattr(import_module(module, __name__), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return list(__all__)
