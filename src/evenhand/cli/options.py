"""Options of commands from the records of settings, and arguments of the library from their values."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import click

from ..auditing import Setting, Settings, flat_settings, join_parts, read_texts

Options = dict[str, Any]
Request = type[Settings]
_TYPES = {"number": float, "whole": int}


def setting_options(
    request: Request, names: Iterable[str] = (), *, hidden: bool = False
) -> list[click.Parameter]:
    """An option for each setting of a request, or some, that has one."""
    settings = flat_settings(request)
    return [
        _make_option(name, *settings[name], hidden)
        for name in names or settings
        if settings[name][1].option
    ]


def _make_option(name: str, default: object, setting: Setting, hidden: bool) -> click.Option:
    """The option of a setting; without it, the library uses its default."""
    is_flag, text = setting.reads == "flag", setting.brief
    if default is not None and not (setting.many or is_flag):
        text += f"  [default: {default}]"
    choices = click.Choice(setting.choices) if setting.choices else None
    return click.Option(
        [str(setting.option), name],
        type=choices or _TYPES.get(setting.reads or "text"),
        is_flag=is_flag or None,
        multiple=setting.many,
        metavar=setting.metavar,
        help=text,
        hidden=hidden,
    )


def read_arguments(
    request: Request, options: Mapping[str, Any], columns: Sequence[str] = ()
) -> Options:
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
