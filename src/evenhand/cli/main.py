"""The ``evenhand`` command: read, compute, render.

Exit codes: 0 success, 1 findings that were asked for, 2 invalid input or output that cannot be written, 70 a bug,
130 Ctrl-C, 141 a closed output pipe. Commands are listed once, in `COMMANDS`, and imported when they are called.
A Ctrl-C that is ignored, as shells have it for what runs in the background, stays ignored.
"""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from importlib import import_module
from io import TextIOWrapper

import click

from ..errors import UnknownName, printable

__all__ = ["COMMANDS", "evenhand", "run"]

COMMANDS = {
    "audit": "evenhand.cli.audit:audit",
    "compare": "evenhand.cli.audit:compare",
    "match": "evenhand.cli.counts:match",
    "metrics": "evenhand.cli.counts:metrics",
    "plan": "evenhand.cli.plan:plan",
    "reproduce": "evenhand.paper.command:reproduce",
    "serve": "evenhand.cli.serve:serve",
    "smooth": "evenhand.cli.counts:smooth",
    "undefined": "evenhand.cli.counts:undefined",
    "watch": "evenhand.cli.watch:watch",
}
"""Every command, and where it is defined."""


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
        # A closed pipe: click turns it into exit code 1, which would be a finding.
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
