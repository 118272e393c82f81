"""What all commands share: their table, and errors that name options."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

import click

from ..errors import EvenhandError

COMMANDS = {
    "audit": ("audit", "Report which groups score higher or lower than the rest."),
    "compare": ("audit", "Report how the scores of models differ by group."),
    "match": ("counts", "Test whether a group is a random sample like a reference."),
    "metrics": ("counts", "List all metrics, or show the details of some."),
    "monitor": ("monitor", "Add a batch of decisions to a monitor; list its alarms."),
    "plan": ("plan", "Plan an audit: power and numbers of cases."),
    "serve": ("serve", "Serve a local web app to audit a file."),
    "smooth": ("counts", "Smooth a group's scores with a reference."),
    "undefined": ("counts", "Count the matrices on which metrics are undefined."),
}
"""Every command with its module and the first sentence of its help."""

# How messages name a function, and an argument of another command.
_ELSEWHERE = {"compare": "evenhand compare", "model_column": "--model-column", "text": "--repeat"}


class Command(click.Command):
    """A command whose errors are sentences about its options."""

    @contextmanager
    def _name_options(self) -> Iterator[None]:
        """Errors name arguments of the library; users know them as options."""
        try:
            yield
        except EvenhandError as error:
            raise click.UsageError(error.spelled(argument_words(self))) from None

    def invoke(self, ctx: click.Context) -> object:
        """Run the command."""
        with self._name_options():
            return super().invoke(ctx)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse the words; an option that takes one value must not be repeated."""
        *_, given = self.make_parser(ctx).parse_args(list(args))
        for option in self.params:
            is_repeatable = option.multiple or getattr(option, "is_flag", True)
            if not is_repeatable and given.count(option) > 1:
                raise click.UsageError(f"{option.opts[0]} must be given only once.", ctx)
        with self._name_options():
            return super().parse_args(ctx, args)


def command(
    name: str, details: str = "", params: Sequence[click.Parameter] = ()
) -> Callable[[Callable[..., None]], Command]:
    """A decorator that makes a function the command of that name."""
    text = f"{COMMANDS[name][1]}\n\n{details}"
    return click.command(name, cls=Command, help=text, params=list(params))


def argument_words(command: click.Command) -> dict[str, str]:
    """What messages of a command call the arguments of the library."""
    from ..auditing import AuditRequest, part_names

    options = option_names(command)
    parts = part_names(AuditRequest).items()
    names = {part: options[name] for part, name in parts if name in options}
    return _ELSEWHERE | options | names


def option_names(command: click.Command) -> dict[str, str]:
    """The options of a command by the names of the arguments they stand for."""
    options = [p for p in command.params if isinstance(p, click.Option)]
    return {str(option.name): option.opts[0] for option in options}
