"""Options from a TOML file, by their names or those of settings, in a table per command."""

from __future__ import annotations

import tomllib

import click

from ..auditing import option_texts
from ..errors import InvalidInput, UnknownName, brief, escaped
from .inputs import read_text


def _read_config(ctx: click.Context, _: click.Parameter, path: str | None) -> None:
    """Use the values in a TOML file as the defaults of the other options."""
    if path is None:
        return
    text, file, command = read_text(path), escaped(path), str(ctx.command.name)
    try:
        content = tomllib.loads(text)
    except (RecursionError, ValueError) as error:
        raise InvalidInput(f"{file} cannot be read: {escaped(error)}") from None
    table = content.get(command, content)
    if command in content and isinstance(table, dict):
        for key in (key for key, value in content.items() if not isinstance(value, dict)):
            raise InvalidInput(f"{brief(key)} in {file} must stand in the table [{command}]")
    if not isinstance(table, dict):
        must = "must be a table of options"
        raise InvalidInput(f"{command} in {file} {must}; got {brief(table)}")
    options: dict[str, click.Option] = {}
    for parameter in ctx.command.params:
        if isinstance(parameter, click.Option) and parameter.name != "config":
            spelled = parameter.opts[0].lstrip("-").replace("-", "_")
            options |= {str(parameter.name): parameter, spelled: parameter}
    ctx.meta["config"] = path
    ctx.default_map = {}
    for key, value in table.items():
        option = options.get(key.replace("-", "_"))
        if option is None:
            known = sorted({name.replace("_", "-") for name in options})
            raise UnknownName.among(f"setting in {file}", key, known)
        if option.name in ctx.default_map:
            raise InvalidInput(f"{file} has {option.opts[0]} twice, once as {brief(key)}")
        ctx.default_map[str(option.name)] = _as_default(option, value)


config_option = click.Option(
    ["--config"],
    callback=_read_config,
    is_eager=True,
    expose_value=False,
    help="Read options from a TOML file.",
)


def _as_default(option: click.Option, value: object) -> str | list[str]:
    """A value of the file as the command line would give it."""
    name = option.opts[0]
    if isinstance(value, dict):
        are_tables = {isinstance(item, dict) for item in value.values()}
        if are_tables != {option.name == "group_names"}:
            raise InvalidInput(f"{name} must not be a table of that form; got {brief(value)}")
        texts = option_texts(str(option.name), value)
    else:
        texts = [str(item) for item in (value if isinstance(value, list) else [value])]
    if option.multiple:
        return texts
    if len(texts) != 1:
        raise InvalidInput(f"{name} must be one value; got {brief(value)}")
    return texts[0]
