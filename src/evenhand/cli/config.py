"""Options from a TOML file: values by the name of the option or the setting, in a table named after the command."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from ..auditing import option_texts
from ..errors import UnknownName

__all__ = ["config_option"]

# Settings that are tables by column, split or model; names of groups are tables by column and value.
_TABLES = ("bins", "group_names", "models", "reference", "strength")


def _configured(ctx: click.Context, _: click.Parameter, path: str | None) -> None:
    """Use the values in a TOML file as the defaults of the other options."""
    if path is None:
        return
    try:
        content = tomllib.loads(Path(path).read_text("utf-8"))
    except RecursionError:
        raise click.BadParameter(f"{path} cannot be read: it is nested too deeply") from None
    except (OSError, ValueError) as refusal:
        why = refusal.strerror if isinstance(refusal, OSError) else refusal
        raise click.BadParameter(f"{path if len(path) <= 200 else path[:200] + '…'} cannot be read: {why}") from None
    command = str(ctx.command.name)
    table = content.get(command, content)
    if not isinstance(table, dict):
        raise click.BadParameter(f"{command} in {path} must be a table of options; got {table!r}")
    known = {name: p for p in ctx.command.params for name in _names(p) if name != "config"}
    ctx.default_map = dict(_default(known, path, key, value) for key, value in table.items())


config_option = click.option(
    "--config", callback=_configured, is_eager=True, expose_value=False, help="Read options from a TOML file."
)


def _names(parameter: click.Parameter) -> list[str]:
    """The names of an option, and of the setting that it is."""
    return [str(parameter.name), *(word.lstrip("-").replace("-", "_") for word in parameter.opts)]


def _default(known: Mapping[str, click.Parameter], path: str, key: str, value: Any) -> tuple[str, Any]:
    """The name of a parameter and its value, as the command line would give it."""
    parameter = known.get(key.replace("-", "_"))
    if parameter is None:
        options = {p.opts[0].lstrip("-") for p in known.values()}
        raise click.BadParameter(str(UnknownName.among(f"setting in {path}", key, sorted(options))))
    name = str(parameter.name)
    if isinstance(parameter, click.Option) and parameter.is_flag:
        if not isinstance(value, bool):
            raise click.BadParameter(f"{key} in {path} must be true or false; got {value!r}")
        return name, value
    if isinstance(value, dict):
        nested = all(isinstance(names, dict) for names in value.values())
        if name not in _TABLES or (name == "group_names") != nested:
            raise click.BadParameter(f"{key} in {path} must not be a table of that form; got {value!r}")
        texts: Any = option_texts(name, value)
        return name, texts if parameter.multiple else texts[0]
    values = value if isinstance(value, list) else [value]
    valid = all(isinstance(v, (str, int, float)) and not isinstance(v, bool) for v in values)
    if not valid or (isinstance(value, list) and not parameter.multiple):
        wanted = "a list of values" if parameter.multiple else "one value"
        raise click.BadParameter(f"{key} in {path} must be {wanted}; got {value!r}")
    return name, values if parameter.multiple else value
