"""The group of all commands, and what every end of a run means.

Exit codes: 0 success; 1 a finding that was asked for; 2 invalid input, or output that cannot be
written; 70 a bug; 130 Ctrl-C; 141 a closed output pipe. TERM and HUP clean up as Ctrl-C does, and
then end the process as signals do. A signal that is ignored, as shells have it for Ctrl-C and
background processes, stays ignored.
"""

from __future__ import annotations

import os
import signal
import sys
import traceback
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from importlib import import_module
from io import TextIOWrapper
from types import FrameType

import click

from .. import __version__
from ..errors import UnknownName, printable
from .command import COMMANDS

_SIGNALS = {"SIGTERM", "SIGHUP", "SIGBREAK"}
_FAILED, _BUG, _INTERRUPTED, _BROKEN_PIPE = 2, 70, 130, 141
_REPORT = """evenhand failed unexpectedly ({}: {}); this is a bug. Please report it with the command \
and its traceback, which EVENHAND_TRACEBACK=1 prints."""


class Group(click.Group):
    """The group of all commands, each imported when it is called."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The names."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, name: str) -> click.Command:
        """The command with this name."""
        if name not in COMMANDS:
            raise click.UsageError(str(UnknownName.among("command", name, COMMANDS)), ctx)
        module, _ = COMMANDS[name]
        command: click.Command = getattr(import_module(f"evenhand.cli.{module}"), name)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The list of commands in the help, which imports none of them."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, summary) for name, (_, summary) in COMMANDS.items()])


@click.group(cls=Group, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__)
def evenhand() -> None:
    """Classification metrics you can trust when groups are small."""


def run() -> None:
    """Run the command and exit with its code."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            # Characters that the terminal cannot show are replaced.
            stream.reconfigure(errors="replace")
    if sys.stdout is None:
        sys.exit(_fail("the output cannot be written: standard output is closed"))
    caught: list[int] = []
    with _interrupt_on_signals(caught):
        code = _run_command()
    if caught and code == _INTERRUPTED:
        signal.raise_signal(caught[0])
    sys.exit(code)


@contextmanager
def _interrupt_on_signals(caught: list[int]) -> Iterator[None]:
    """Let signals that end a process interrupt the command as Ctrl-C does, so that it cleans up."""

    def interrupt(number: int, _: FrameType | None) -> None:
        caught.append(number)
        raise KeyboardInterrupt

    known = [one for one in signal.Signals if one.name in _SIGNALS]
    heeded = [one for one in known if signal.getsignal(one) == signal.SIG_DFL]
    for number in heeded:
        signal.signal(number, interrupt)
    try:
        yield
    finally:
        for number in heeded:
            signal.signal(number, signal.SIG_DFL)


def _run_command() -> int:
    """Run the command; return its exit code."""
    try:
        code = evenhand.main(prog_name="evenhand", standalone_mode=False)
        sys.stdout.flush()
        return int(code or 0)
    except click.ClickException as error:
        error.show()
        return error.exit_code
    except (click.Abort, KeyboardInterrupt):
        click.echo("Interrupted; nothing is left half written.", err=True)
        return _INTERRUPTED
    except (SystemExit, BrokenPipeError):
        # click exits with 1 for a closed pipe, which would be a finding.
        _discard_output()
        return _BROKEN_PIPE
    except OSError as error:
        _discard_output()
        what = (
            f"{error.filename} cannot be used" if error.filename else "the output cannot be written"
        )
        return _fail(f"{what}: {error.strerror or error}")
    except Exception as bug:
        if os.environ.get("EVENHAND_TRACEBACK"):
            traceback.print_exc()
        first, *_ = [*str(bug).splitlines(), ""]
        return _fail(_REPORT.format(type(bug).__name__, first[:200]), _BUG)


def _fail(sentence: str, code: int = _FAILED) -> int:
    click.echo(f"Error: {printable(sentence)}", err=True)
    return code


def _discard_output() -> None:
    """Send the rest of the output nowhere, so that Python does not complain about it at the end."""
    with suppress(OSError, ValueError):
        stdout = sys.__stdout__.fileno() if sys.__stdout__ else 1
        os.dup2(os.open(os.devnull, os.O_WRONLY), stdout)
