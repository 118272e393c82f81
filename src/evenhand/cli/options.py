"""Options of the command from the records of settings, and arguments of the library from the values of options."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import click

from ..auditing import Setting, Settings, flat_settings, join_parts, read_texts

__all__ = ["SHARED", "arguments", "own_settings", "setting_options", "shared_settings"]

Known = Mapping[str, tuple[Any, Setting]]

SHARED = flat_settings(Settings)
"""The settings of all audits."""
_TYPES = {"number": float, "whole": int}


def own_settings(request: Any) -> Known:
    """The settings that a request has beside those of all audits."""
    return {name: known for name, known in flat_settings(request).items() if name not in SHARED}


def shared_settings(request: Any) -> Known:
    """The settings of all audits, as a request has them."""
    return {name: known for name, known in flat_settings(request).items() if name in SHARED}


def setting_options(settings: Known, hidden: bool = False) -> Callable[[Any], Any]:
    """An option for each setting that has one, in order; ``hidden`` ones are read, so that they can be refused."""

    def decorated(command: Any) -> Any:
        for name, (default, known) in reversed(list(settings.items())):
            command = _option(name, default, known, hidden)(command) if known.option else command
        return command

    return decorated


def _option(name: str, default: Any, known: Setting, hidden: bool) -> Callable[[Any], Any]:
    """The option of a setting; without it, the library takes its default."""
    option = str(known.option)
    if known.reads == "flag":
        return click.option(option, name, is_flag=True, help=known.brief, hidden=hidden)
    shown = "" if default is None or known.many else f"  [default: {default}]"
    kind = click.Choice(known.choices) if known.choices else _TYPES.get(known.reads, str)
    return click.option(
        option,
        name,
        type=kind,
        multiple=known.many,
        metavar=known.metavar,
        help=f"{known.brief}{shown}",
        hidden=hidden,
    )


def arguments(request: Any, options: Mapping[str, Any], columns: Sequence[str] = ()) -> dict[str, Any]:
    """The arguments that the options give; ``columns`` say where names of columns end in texts."""
    given = {}
    for name, (_, known) in flat_settings(request).items():
        value = options.get(name)
        if value is None or value is False or value == ():
            continue
        if known.reads == "special":
            value = read_texts(name, value if known.many else [value], columns)
        elif known.many:
            value = value[0] if len(value) == 1 and known.reads in ("number", "labels") else list(value)
        given[name] = value
    return join_parts(request, given)
