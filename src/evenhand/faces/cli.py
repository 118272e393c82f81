"""The ``evenhand`` command: read, compute, render.

Options are named after the arguments of the library functions. Exit codes: 0 success, 1 findings that were asked for,
2 invalid input. Commands are listed once, in `COMMANDS`, and imported when they are called.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable, Sequence
from importlib import import_module
from io import TextIOWrapper
from typing import Any, ClassVar

import click

from ..errors import EvenhandError, printable
from ..records import plain_value

__all__ = ["COMMANDS", "Command", "as_json", "choice", "counts", "evenhand", "print_json", "print_table", "run"]

COMMANDS = {
    "audit": "evenhand.faces.audit_command:audit",
    "match": "evenhand.faces.count_commands:match",
    "metrics": "evenhand.faces.count_commands:metrics",
    "reproduce": "evenhand.paper.command:reproduce",
    "serve": "evenhand.faces.serve_command:serve",
    "smooth": "evenhand.faces.count_commands:smooth",
    "undefined": "evenhand.faces.count_commands:undefined",
}
"""Every command, and where it is defined."""


class Refusal(click.ClickException):
    """One sentence on standard error, and exit code 2."""

    exit_code = 2


class Command(click.Command):
    """A command that shows errors of the library as a sentence, not as a traceback."""

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command."""
        try:
            return super().invoke(ctx)
        except EvenhandError as error:
            raise Refusal(printable(self.in_options(str(error)))) from None

    def in_options(self, message: str) -> str:
        """A message of the library with options in place of arguments: ``--prediction`` for ``y_pred``."""
        for argument, option in self.renamed.items():
            message = message.replace(argument, option)
        return message

    renamed: ClassVar[dict[str, str]] = {}
    """The options for arguments of the library, longest first."""


class Group(click.Group):
    """The group of all commands, each imported when it is called."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The names."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        """The command with this name."""
        if name not in COMMANDS:
            return None
        module, _, attribute = COMMANDS[name].partition(":")
        command: click.Command = getattr(import_module(module), attribute)
        return command


@click.group(cls=Group, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="evenhand")
def evenhand() -> None:
    """Classification metrics you can trust when groups are small."""


def run() -> None:
    """Run the command, also on a terminal that cannot show all characters."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            # A character that the terminal cannot show is replaced, rather than failing.
            stream.reconfigure(errors="replace")
    evenhand(prog_name="evenhand")


as_json = click.option("--json", "as_json", is_flag=True, help="Print JSON instead of a table.")


def counts(name: str, **settings: Any) -> Callable[[Any], Any]:
    """An option that takes the four cells of a matrix."""
    return click.option(name, nargs=4, type=float, metavar="TP FN FP TN", **settings)


def choice(name: str, *values: str) -> Callable[[Any], Any]:
    """An option with a fixed set of values; the first one is the default."""
    return click.option(name, type=click.Choice(values), default=values[0], show_default=True)


def print_json(value: Any) -> None:
    """Print JSON; None for what is not a finite number."""
    click.echo(json.dumps(plain_value(value), indent=2, ensure_ascii=False, allow_nan=False))


def print_table(header: Sequence[str], rows: Iterable[Sequence[str]], right: Sequence[int] = ()) -> None:
    """Print a table; the columns ``right`` are aligned to the right."""
    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.table import Table

    # Text is shown unchanged: no markup, no emoji, no highlighting of numbers.
    console = Console(markup=False, emoji=False, highlight=False)
    table = Table(box=SIMPLE_HEAD, pad_edge=False)
    for i, title in enumerate(header):
        table.add_column(title, justify="right" if i in right else "left", overflow="fold", no_wrap=i in right)
    for row in rows:
        table.add_row(*row)
    console.print(table)
