"""The ``evenhand`` command: read, compute, render.

Options are named after the arguments of the library functions. Exit codes: 0 success, 1 findings that were asked for,
2 invalid input or output that cannot be written, 70 a bug, 130 Ctrl-C, 141 a closed output pipe. Commands are listed
once, in `COMMANDS`, and imported when they are called.
"""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from importlib import import_module
from io import TextIOWrapper
from typing import Any, ClassVar

import click

from ..errors import EvenhandError, UnknownName, printable
from ..records import plain_value

__all__ = ["COMMANDS", "Command", "as_json", "choice", "counts", "evenhand", "print_json", "print_table", "run"]

COMMANDS = {
    "audit": "evenhand.faces.audit_command:audit",
    "match": "evenhand.faces.count_commands:match",
    "metrics": "evenhand.faces.count_commands:metrics",
    "plan": "evenhand.faces.plan_commands:plan",
    "reproduce": "evenhand.paper.command:reproduce",
    "serve": "evenhand.faces.serve_command:serve",
    "smooth": "evenhand.faces.count_commands:smooth",
    "undefined": "evenhand.faces.count_commands:undefined",
}
"""Every command, and where it is defined."""


class Refusal(click.ClickException):
    """One sentence on standard error, and exit code 2."""

    exit_code = 2


# Parts of messages that list names from the data.
_OF_DATA = ("known: ", "did you mean ", "got ")


class Command(click.Command):
    """A command that shows errors of the library as a sentence, not as a traceback."""

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command."""
        try:
            return super().invoke(ctx)
        except EvenhandError as error:
            raise Refusal(printable(self.in_options(str(error)))) from None

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse the words; an option that takes one value is given once."""
        options = {name: p for p in self.params if isinstance(p, click.Option) and not p.is_flag for name in (*p.opts,)}
        seen = set()
        words = iter(args)
        for word in words:
            if word == "--":
                break
            name, sign, _ = word.partition("=")
            option = options.get(name)
            if option is None:
                continue
            if name in seen and not option.multiple:
                raise click.UsageError(f"{name} is given more than once, but takes one value.", ctx)
            seen.add(name)
            for _ in range(option.nargs - bool(sign)):
                next(words, None)
        return super().parse_args(ctx, args)

    def in_options(self, message: str) -> str:
        """A message of the library with options in place of arguments: ``--prediction`` for ``y_pred``."""
        parts = (part if part.startswith(_OF_DATA) else self._renamed(part) for part in message.split("; "))
        return "; ".join(parts)

    def _renamed(self, message: str) -> str:
        """A part of a message with options in place of arguments, but for what is quoted."""
        if not self.renamed:
            return message
        words = "|".join(map(re.escape, sorted(self.renamed, key=len, reverse=True)))

        def option(found: re.Match[str]) -> str:
            argument, sign = found["argument"], found["sign"]
            if argument is None or (not sign and argument in self.words):
                return found[0]
            # A value may follow: max_groups=2 becomes --max-groups 2.
            value = sign and re.match(r"[\w'\"]", message[found.end() :])
            return self.renamed[argument] + (" " if value else "")

        return re.sub(rf"(?<![\w=])'[^']*'(?!\w)|\b(?P<argument>{words})\b(?P<sign>=?)", option, message)

    renamed: ClassVar[dict[str, str]] = {}
    """The options for arguments of the library."""
    words: ClassVar[set[str]] = set()
    """Arguments that are also plain words, and meant only if a ``=`` follows."""


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

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """The command that was typed, or a suggestion."""
        if args and args[0] not in COMMANDS and not args[0].startswith("-"):
            raise click.UsageError(str(UnknownName.among("command", args[0], COMMANDS)), ctx)
        return super().resolve_command(ctx, args)


@click.group(cls=Group, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="evenhand")
def evenhand() -> None:
    """Classification metrics you can trust when groups are small."""


def run() -> None:
    """Run the command, also on a terminal that cannot show all characters, and exit with a code."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            # A character that the terminal cannot show is replaced, rather than failing.
            stream.reconfigure(errors="replace")
    sys.exit(_ended())


def _ended() -> int:
    """Run the command; its exit code."""
    try:
        code = evenhand.main(prog_name="evenhand", standalone_mode=False)
        sys.stdout.flush()
    except click.ClickException as refusal:
        refusal.show()
        return refusal.exit_code
    except (click.Abort, KeyboardInterrupt):
        click.echo("Interrupted; nothing is left half written.", err=True)
        return 130
    except (SystemExit, BrokenPipeError) as end:
        if isinstance(end, SystemExit) and end.code != 1:
            return end.code if isinstance(end.code, int) else 2
        # A closed pipe: click and rich turn it into exit code 1, which would be a finding.
        _close_output()
        return 141
    except OSError as error:
        _close_output()
        where = f"{error.filename} cannot be used" if error.filename else "the output cannot be written"
        return _failed(f"{where}: {error.strerror or error}", 2)
    except Exception as bug:
        if os.environ.get("EVENHAND_TRACEBACK"):
            import traceback

            traceback.print_exc()
        first = next(iter(str(bug).splitlines()), "")
        return _failed(
            f"evenhand failed unexpectedly ({type(bug).__name__}: {first[:200]}); this is a bug. Please report it with "
            "the command and its traceback, which EVENHAND_TRACEBACK=1 prints.",
            70,
        )
    return code if isinstance(code, int) else 0


def _failed(sentence: str, code: int) -> int:
    click.echo(f"Error: {printable(sentence)}", err=True)
    return code


def _close_output() -> None:
    """What is left of the output goes nowhere, so that Python does not complain about it at the end."""
    with suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.__stdout__.fileno() if sys.__stdout__ else 1)


as_json = click.option("--json", "as_json", is_flag=True, help="Print JSON instead of a table.")


def counts(name: str, **settings: Any) -> Callable[[Any], Any]:
    """An option that takes the four cells of a matrix."""
    return click.option(name, nargs=4, type=float, metavar="TP FN FP TN", **settings)


def choice(name: str, *values: str, explained: str | None = None) -> Callable[[Any], Any]:
    """An option with a fixed set of values; the first one is the default."""
    return click.option(name, type=click.Choice(values), default=values[0], show_default=True, help=explained)


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
