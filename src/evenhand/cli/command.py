"""What all commands share: errors as sentences that name options, options for counts and choices, and JSON."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import click

from ..errors import EvenhandError

__all__ = ["Command", "as_json", "choice", "counts", "print_json", "strays"]

_STRAYS = "evenhand.strays"
# What functions of the library, and arguments that another command has, are called here.
_ELSEWHERE = {"compare": "evenhand compare", "model_column": "--model-column"}


class Refusal(click.ClickException):
    """One sentence on standard error, and exit code 2."""

    exit_code = 2


class Command(click.Command):
    """A command that shows errors of the library as a sentence about its options, not as a traceback."""

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command; an option is called in the code as the argument of the library that it stands for."""
        try:
            return super().invoke(ctx)
        except EvenhandError as error:
            options = {str(p.name): p.opts[0] for p in self.params if isinstance(p, click.Option)}
            from ..auditing import AuditRequest, part_names

            parts = {part: options[name] for part, name in part_names(AuditRequest).items() if name in options}
            raise Refusal(error.spelled(_ELSEWHERE | options | parts)) from None

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse the words; an option that takes one value is given once.

        Words that follow a value of an option that may be repeated are kept for `strays`.
        """
        options = {name: p for p in self.params if isinstance(p, click.Option) and not p.is_flag for name in (*p.opts,)}
        found: dict[str, tuple[str, list[str]]] = {}
        last: tuple[str, list[str]] | None = None
        seen = set()
        words = iter(args)
        for word in words:
            if word == "--":
                break
            name, sign, value = word.partition("=")
            option = options.get(name)
            if option is None:
                if last is not None and not word.startswith("-"):
                    found[word] = last[0], list(last[1])
                    last[1].append(word)
                else:
                    last = None
                continue
            if name in seen and not option.multiple:
                raise click.UsageError(f"{name} is given more than once, but takes one value.", ctx)
            seen.add(name)
            given = [value] if sign else []
            given += [text for _ in range(option.nargs - bool(sign)) if (text := next(words, None)) is not None]
            last = (name, given) if option.multiple else None
        ctx.meta[_STRAYS] = found
        return super().parse_args(ctx, args)


def strays(ctx: click.Context) -> dict[str, tuple[str, list[str]]]:
    """The words after a value of an option that may be repeated, with the option and the values before them.

    Click takes such a word for an argument; whoever typed it may have meant one more value.
    """
    found: dict[str, tuple[str, list[str]]] = ctx.meta.get(_STRAYS, {})
    return found


as_json = click.option("--json", "as_json", is_flag=True, help="Print JSON instead of a table.")


def counts(name: str, **settings: Any) -> Callable[[Any], Any]:
    """An option that takes the four cells of a matrix."""
    return click.option(name, nargs=4, type=float, metavar="TP FN FP TN", **settings)


def choice(name: str, *values: str, explained: str | None = None) -> Callable[[Any], Any]:
    """An option with a fixed set of values; the first one is the default."""
    return click.option(name, type=click.Choice(values), default=values[0], show_default=True, help=explained)


def print_json(value: Any) -> None:
    """Print JSON; None for what is not a finite number."""
    from ..records import plain_value

    click.echo(json.dumps(plain_value(value), indent=2, ensure_ascii=False, allow_nan=False))
