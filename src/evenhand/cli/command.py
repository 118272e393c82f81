"""What all commands share: their table, errors that name options, and options from functions."""

from __future__ import annotations

import json
from collections.abc import Callable
from inspect import Parameter, signature
from math import isfinite
from typing import Any, Literal, get_args, get_origin

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
_ELSEWHERE = {"compare": "evenhand compare", "model_column": "--model-column"}
_HELP = {
    "metric": "A metric of one group; for exploit also a difference or a ratio of two.",
    "n": "The group's number of cases.",
    "reference": "The reference's counts, or four known probabilities.",
    "difference": "The true difference from the reference's score.",
    "truth": "The group's true rates.",
    "threshold": "The threshold to pass.",
    "passing": "Which scores pass.",
    "half_width": "In place of a difference: the half-width of an interval.",
    "undefined_below": "In place of a difference: a bound on P(undefined).",
    "power": "The power, or the probability, to reach.",
    "alpha": "Significance level.",
    "comparisons": "How many tests share the level.",
    "confidence_level": "Level of the interval.",
    "test": "Fisher's test, or MATCH.",
    "alternative": "Which scores are extreme.",
    "null": "The reference's rates: unknown and shared, known, or estimated.",
    "given": "Condition on the score's denominator, or only on the group's size.",
    "mid_p": "Count half of the probability of the observed score.",
    "method": "Exact, an approximation, or simulated.",
    "denominator": "The group's denominator, if it is not random.",
    "law": "How groups are drawn from the reference.",
    "draws": "Number of simulated groups.",
    "rng": "Random seed.",
    "most": "Maximum number of cases.",
}

Decorator = Callable[[Any], Any]


class InputError(click.ClickException):
    """One sentence on standard error, and exit code 2."""

    exit_code = 2


class Command(click.Command):
    """A command whose errors are sentences about its options."""

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command; options are named in the code as arguments of the library."""
        try:
            return super().invoke(ctx)
        except EvenhandError as error:
            from ..auditing import AuditRequest, part_names

            options = option_names(self)
            names = part_names(AuditRequest).items()
            parts = {part: options[name] for part, name in names if name in options}
            raise InputError(error.spelled(_ELSEWHERE | options | parts)) from None

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse the words; an option that takes one value must not be repeated."""
        *_, given = self.make_parser(ctx).parse_args(list(args))
        for option in self.params:
            is_repeatable = option.multiple or getattr(option, "is_flag", True)
            if not is_repeatable and given.count(option) > 1:
                raise click.UsageError(f"{option.opts[0]} must be given only once.", ctx)
        return super().parse_args(ctx, args)


class SizeRange(click.ParamType):  # type: ignore[type-arg, unused-ignore]
    """One size, or a range of them: 40, 5:50 (both included), 5:50:5."""

    name = "sizes"

    def convert(self, value: Any, param: Any, ctx: click.Context | None) -> range:
        """The sizes as a range."""
        try:
            first, *others = map(int, str(value).split(":"))
            last, step = (*others, *[first, 1][len(others) :])
            sizes = range(first, last + 1, step)
        except ValueError:
            self.fail(f"{value!r} is not a size such as 40 or a range such as 5:50")
        return sizes


def command(
    name: str, details: str = "", **settings: Any
) -> Callable[[Callable[..., None]], Command]:
    """A decorator that makes a function the command of that name."""
    text = f"{COMMANDS[name][1]}\n\n{details}"
    return click.command(name, cls=Command, help=text, **settings)


def option_names(command: click.Command) -> dict[str, str]:
    """The options of a command by the names of the arguments they stand for."""
    options = [p for p in command.params if isinstance(p, click.Option)]
    return {str(option.name): option.opts[0] for option in options}


def function_options(function: Callable[..., Any], *names: str) -> list[click.Parameter]:
    """Options for the arguments of a function, or some of them, with their defaults."""
    parameters = signature(function, eval_str=True).parameters
    chosen = names or [name for name in parameters if name in _HELP]
    return [_make_option(name, parameters[name]) for name in chosen]


def _make_option(name: str, parameter: Parameter) -> click.Option:
    default, annotation = parameter.default, parameter.annotation
    kinds = (annotation, *get_args(annotation))
    choices = [value for kind in kinds if get_origin(kind) is Literal for value in get_args(kind)]
    numbers = [kind for kind in (float, int) if kind in kinds]
    settings: dict[str, Any] = {"help": _HELP[name], "required": default is Parameter.empty}
    if default is not Parameter.empty:
        settings |= {"default": default, "show_default": True}
    if name in ("reference", "truth"):
        settings |= {"nargs": 4, "type": float, "metavar": "TP FN FP TN"}
    elif isinstance(default, range):
        settings |= {"type": SizeRange(), "default": f"{default[0]}:{default[-1]}"}
    elif isinstance(default, bool):
        settings |= {"is_flag": True}
    elif choices or numbers:
        settings |= {"type": click.Choice(choices) if choices else numbers[0]}
    return click.Option([f"--{name.replace('_', '-')}"], **settings)


def cells_option(name: str, text: str) -> Decorator:
    """An option for the four cells of a matrix that is required."""
    return click.option(name, nargs=4, type=float, metavar="TP FN FP TN", required=True, help=text)


json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON, not a table.")


def counts_or_rates(values: tuple[float, ...] | None) -> Any:
    """A confusion matrix if all four numbers are whole, else four probabilities."""
    from ..confusion import ConfusionMatrix

    if values is None:
        return None
    is_counted = all(value.is_integer() or not isfinite(value) for value in values)
    return ConfusionMatrix.from_array(values) if is_counted else list(values)


def print_json(value: Any) -> None:
    """Print JSON; None for what is not a finite number."""
    from ..records import plain_value

    content = plain_value(value)
    click.echo(json.dumps(content, indent=2, ensure_ascii=False, allow_nan=False))
