"""The ``evenhand`` command: read, compute, render.

Exit codes: 0 success, 1 findings that were asked for, 2 invalid input or output that cannot be written, 70 a bug,
130 Ctrl-C, 141 a closed output pipe. TERM and HUP clean up as Ctrl-C does, and then end the process as signals do.
Commands are listed once, in `COMMANDS`, and imported when they are called.
A signal that is ignored, as shells have it for Ctrl-C and what runs in the background, stays ignored.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from importlib import import_module
from io import TextIOWrapper
from types import FrameType

import click

from .. import __version__
from ..errors import UnknownName, printable

__all__ = ["COMMANDS", "evenhand", "run"]

COMMANDS = {
    "audit": "evenhand.cli.audit:audit",
    "compare": "evenhand.cli.audit:compare",
    "match": "evenhand.cli.counts:match",
    "metrics": "evenhand.cli.counts:metrics",
    "plan": "evenhand.cli.plan:plan",
    "serve": "evenhand.cli.serve:serve",
    "smooth": "evenhand.cli.counts:smooth",
    "undefined": "evenhand.cli.counts:undefined",
    "monitor": "evenhand.cli.monitor:monitor",
}
"""Every command, and where it is defined."""

SUMMARIES = {
    "audit": "Report which groups score higher or lower than the rest, which are equivalent, and which have too few "
    "cases to tell.",
    "compare": "Report how the scores of groups differ between models that decided on the same cases, and how the gaps "
    "between groups do.",
    "match": "Test whether a group is drawn like a reference, with a score as the test statistic (MATCH).",
    "metrics": "List all metrics, or show the details of some.",
    "plan": "Plan an audit: power, numbers of cases, and sizes that jump or can be gamed.",
    "serve": "Serve a web page on this machine to audit a file.",
    "smooth": "Smooth a group's scores with a reference (Cross-Prior Smoothing), and check whether it is a suitable "
    "prior.",
    "undefined": "Count the confusion matrices of N cases on which each metric is undefined.",
    "monitor": "Add batches of decisions to a monitor, and say which groups raise an alarm.",
}
"""The first sentence of the help of every command, so that they can be listed without being imported."""


_ENDING = tuple(getattr(signal, name) for name in ("SIGTERM", "SIGHUP", "SIGBREAK") if hasattr(signal, name))
_INTERRUPTED = 130


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

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The list of commands in the help, none of them imported."""
        room = formatter.width - 6 - max(map(len, COMMANDS))
        with formatter.section("Commands"):
            formatter.write_dl(
                [(name, click.Command(name, help=SUMMARIES[name]).get_short_help_str(room)) for name in COMMANDS]
            )

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """The command that was typed, or a suggestion."""
        if args and args[0] not in COMMANDS and not args[0].startswith("-"):
            raise click.UsageError(str(UnknownName.among("command", args[0], COMMANDS)), ctx)
        return super().resolve_command(ctx, args)


@click.group(cls=Group, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__)
def evenhand() -> None:
    """Classification metrics you can trust when groups are small."""


def run() -> None:
    """Run the command, also on a terminal that cannot show all characters, and exit with a code."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            # A character that the terminal cannot show is replaced, rather than failing.
            stream.reconfigure(errors="replace")
    if sys.stdout is None:
        sys.exit(_failed("the output cannot be written: standard output is closed", 2))
    caught: list[int] = []
    with _signals(caught):
        code = _ended()
    if caught and code == _INTERRUPTED:
        signal.raise_signal(caught[0])
    sys.exit(code)


@contextmanager
def _signals(caught: list[int]) -> Iterator[None]:
    """Let signals that end a process interrupt the command as Ctrl-C does, so that it leaves nothing behind."""

    def interrupt(sign: int, _: FrameType | None) -> None:
        caught.append(sign)
        raise KeyboardInterrupt

    heeded = [sign for sign in _ENDING if signal.getsignal(sign) == signal.SIG_DFL]
    for sign in heeded:
        signal.signal(sign, interrupt)
    try:
        yield
    finally:
        for sign in heeded:
            signal.signal(sign, signal.SIG_DFL)


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
        return _INTERRUPTED
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
