"""Options of commands from the records of settings, and arguments of the library from their values."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import click

from ..auditing import flat_settings, join_parts, read_texts
from .command import Decorator

_TYPES = {"number": float, "whole": int}


def setting_options(request: Any, names: Iterable[str] = (), hidden: bool = False) -> Decorator:
    """An option for each setting of a request, or some, that has one; hidden ones are refused."""
    settings = flat_settings(request)

    def add_options(command: Any) -> Any:
        for name in reversed(list(names or settings)):
            if settings[name][1].option:
                command = _make_option(name, *settings[name], hidden)(command)
        return command

    return add_options


def _make_option(name: str, default: Any, setting: Any, hidden: bool) -> Decorator:
    """The option of a setting; without it, the library uses its default."""
    text = setting.brief
    if setting.reads == "flag":
        return click.option(setting.option, name, is_flag=True, help=text, hidden=hidden)
    if default is not None and not setting.many:
        text += f"  [default: {default}]"
    choices = click.Choice(setting.choices) if setting.choices else None
    return click.option(
        setting.option,
        name,
        type=choices or _TYPES.get(setting.reads, str),
        multiple=setting.many,
        metavar=setting.metavar,
        help=text,
        hidden=hidden,
    )


def read_arguments(
    request: Any, options: Mapping[str, Any], columns: Sequence[str] = ()
) -> dict[str, Any]:
    """The arguments that the options give; texts may name these columns."""
    arguments = {}
    for name, (_, setting) in flat_settings(request).items():
        value = options.get(name)
        if value in (None, False, ()):
            continue
        if setting.reads == "special":
            value = read_texts(name, value if setting.many else [value], columns)
        elif setting.many:
            is_single = len(value) == 1 and setting.reads in ("number", "labels")
            value = value[0] if is_single else list(value)
        arguments[name] = value
    return join_parts(request, arguments)
