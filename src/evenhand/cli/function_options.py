"""What commands of single functions share: options for their arguments, counts and JSON."""

from __future__ import annotations

import json
from collections.abc import Callable
from inspect import Parameter, signature
from math import isfinite
from typing import Any, Literal, get_args, get_origin

import click

from ..confusion import ConfusionMatrix
from ..records import plain_value

Cells = tuple[float, ...]
Decorator = Callable[[Any], Any]
_CELLS: dict[str, Any] = {"nargs": 4, "type": float, "metavar": "TP FN FP TN"}
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


class SizeRange(click.ParamType):  # type: ignore[type-arg, unused-ignore]
    """One size, or a range of them: 40, 5:50 (both included), 5:50:5."""

    name = "sizes"

    def convert(self, value: object, param: object, ctx: object) -> range:
        """The sizes as a range."""
        try:
            first, *others = map(int, str(value).split(":"))
            last, step = (*others, *[first, 1][len(others) :])
            return range(first, last + 1, step)
        except ValueError:
            self.fail(f"{value!r} is not a size such as 40 or a range such as 5:50")


def function_options(function: Callable[..., object], *names: str) -> list[click.Parameter]:
    """Options for the arguments of a function, or some of them, with their defaults."""
    parameters = signature(function, eval_str=True).parameters
    chosen = names or [name for name in parameters if name in _HELP]
    return [_make_option(name, parameters[name]) for name in chosen]


def _make_option(name: str, parameter: Parameter) -> click.Option:
    default, annotation = parameter.default, parameter.annotation
    kinds = (annotation, *get_args(annotation))
    choices = [value for kind in kinds if get_origin(kind) is Literal for value in get_args(kind)]
    settings: dict[str, Any] = {"help": _HELP[name], "required": True}
    if default is not Parameter.empty:
        settings |= {"required": False, "default": default, "show_default": True}
    if name in ("reference", "truth"):
        settings |= _CELLS
    elif isinstance(default, range):
        settings |= {"type": SizeRange(), "default": f"{default[0]}:{default[-1]}"}
    elif isinstance(default, bool):
        settings["is_flag"] = True
    elif choices:
        settings["type"] = click.Choice(choices)
    elif float in kinds or int in kinds:
        settings["type"] = float if float in kinds else int
    return click.Option([f"--{name.replace('_', '-')}"], **settings)


def cells_option(name: str, text: str) -> Decorator:
    """An option for the four cells of a matrix that is required."""
    return click.option(name, required=True, help=text, **_CELLS)


json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON, not a table.")


def counts_or_rates(values: Cells) -> ConfusionMatrix | list[float]:
    """A confusion matrix if all four numbers are whole, else four probabilities."""
    is_counted = all(value.is_integer() or not isfinite(value) for value in values)
    return ConfusionMatrix.from_array(values) if is_counted else list(values)


def print_json(value: object) -> None:
    """Print JSON; None for what is not a finite number."""
    content = plain_value(value)
    click.echo(json.dumps(content, indent=2, ensure_ascii=False, allow_nan=False))
