"""Options from a TOML file, by their names or those of settings, in a table per command."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import click

from ..auditing import option_texts
from ..errors import UnknownName


def _read_config(ctx: click.Context, _: click.Parameter, path: str | None) -> None:
    """Use the values in a TOML file as the defaults of the other options."""
    if path is None:
        return
    try:
        content = tomllib.loads(Path(path).read_text("utf-8"))
    except RecursionError:
        raise click.BadParameter(f"{path} cannot be read: it is nested too deeply") from None
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) else error
        raise click.BadParameter(f"{path[:200]} cannot be read: {why}") from None
    table = content.get(str(ctx.command.name), content)
    if not isinstance(table, dict):
        must = f"{ctx.command.name} in {path} must be a table of options"
        raise click.BadParameter(f"{must}; got {table!r}")
    options: dict[str, click.Option] = {}
    for parameter in ctx.command.params:
        if isinstance(parameter, click.Option) and parameter.name != "config":
            spelled = parameter.opts[0].lstrip("-").replace("-", "_")
            options |= {str(parameter.name): parameter, spelled: parameter}
    ctx.default_map = {}
    ctx.meta["config"] = path
    for key, value in table.items():
        option = options.get(key.replace("-", "_"))
        if option is None:
            known = sorted({name.replace("_", "-") for name in options})
            unknown = UnknownName.among(f"setting in {path}", key, known)
            raise click.BadParameter(str(unknown))
        if option.name in ctx.default_map:
            raise click.BadParameter(
                f"{path} has {option.opts[0]} twice, as {key!r} and by another name"
            )
        ctx.default_map[str(option.name)] = _as_default(option, value)


config_option = click.option(
    "--config",
    callback=_read_config,
    is_eager=True,
    expose_value=False,
    help="Read options from a TOML file.",
)


def _as_default(option: click.Option, value: Any) -> Any:
    """A value of the file as the command line would give it."""
    if isinstance(value, dict):
        tables = [isinstance(item, dict) for item in value.values()]
        if not value or set(tables) != {option.name == "group_names"}:
            must = f"{option.opts[0]} must not be a table of that form"
            raise click.BadParameter(f"{must}; got {value!r}")
        value = option_texts(str(option.name), value)
        return value if option.multiple else value[0]
    if isinstance(value, list) and not option.multiple:
        raise click.BadParameter(f"{option.opts[0]} must be one value; got {value!r}")
    values = [str(item) for item in (value if isinstance(value, list) else [value])]
    return values if option.multiple else values[0]
