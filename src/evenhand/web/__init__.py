"""A local web app to audit a file or a table of counts (extra ``web``).

It listens on loopback only. The address contains a random token, the Host header must be that of this
machine, and requests that change something need a header that no other site can send; there is no
CORS. Files are kept in a folder that is deleted when the app ends. Everything that reads files or
computes runs in processes that can be ended at any time. Reports are shown in a sandboxed frame.
"""

from importlib import import_module
from typing import Any

from ..errors import MissingExtra
from .store import MEGABYTE

_MODULES = {"create_app": ".app", "serve": ".server"}


def __getattr__(name: str) -> Any:
    """Import Starlette only where the app is served; worker processes do not need it."""
    if name not in _MODULES:
        raise AttributeError(name)
    try:
        module = import_module(_MODULES[name], __name__)
    except ModuleNotFoundError:
        raise MissingExtra.named("web", "the web app") from None
    return getattr(module, name)
