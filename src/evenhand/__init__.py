"""Classification metrics you can trust when groups are small.

Public names are imported when first used, so ``import evenhand`` costs next to nothing. They are listed once, in
``__init__.pyi``, which editors and type checkers read, and which is read here too.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

__version__ = "0.1.0"


def read_stub(loader: Any, stub: str) -> dict[str, str]:
    """The names in a stub file and the modules that contain them."""
    module, modules = "", {}
    for line in loader.get_data(stub).decode().splitlines():
        words = line.replace(",", " ").split()
        if words[:1] == ["from"]:
            module = words[1]
        if "as" in words:
            modules[words[-1]] = module
    return modules


def import_name(namespace: dict[str, Any], modules: dict[str, str], name: str) -> Any:
    """Import a public name when it is first used."""
    if name not in modules:
        raise AttributeError(f"module {namespace['__name__']!r} has no attribute {name!r}")
    if modules[name] == ".":
        namespace[name] = import_module(f".{name}", __name__)
    else:
        namespace[name] = getattr(import_module(modules[name], __name__), name)
    return namespace[name]


_MODULE_OF = read_stub(__loader__, f"{__file__}i")  # type: ignore[name-defined]
__all__ = tuple(_MODULE_OF)


def __getattr__(name: str) -> Any:
    return import_name(globals(), _MODULE_OF, name)


def __dir__() -> list[str]:
    return list(__all__)
