"""The commands that plan: ``evenhand plan power``, ``size``, ``detect``, ``jagged`` and ``exploit``."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import isfinite
from typing import Any

import click

from ..confusion import ConfusionMatrix
from ..errors import EvenhandError
from ..planning import Plan, detectable_difference, exploitable_sizes, jaggedness, power, sample_size
from .command import Command, Refusal, as_json, choice, counts, print_json

__all__ = ["plan"]

_BARS = " ▁▂▃▄▅▆▇█"
_WIDTH, _HEIGHT = 64, 6


class PlanCommand(Command):
    """A command whose messages name its options, which are called like the arguments."""

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command."""
        try:
            return click.Command.invoke(self, ctx)
        except EvenhandError as error:
            options = {option.name or "": option.opts[0] for option in self.params if isinstance(option, click.Option)}
            raise Refusal(error.spelled(options)) from None


@click.group()
def plan() -> None:
    """Plan an audit: power, numbers of cases, and sizes that jump or can be gamed."""


def _side(values: tuple[float, ...] | None) -> Any:
    """Counts if all four numbers are whole, else probabilities."""
    if values is None:
        return None
    counted = all(value.is_integer() or not isfinite(value) for value in values)
    return ConfusionMatrix.from_array(values) if counted else list(values)


class _SizeRange(click.ParamType):  # type: ignore[type-arg, unused-ignore]
    """One size, or a range of them: 40, 5:50 (both included), 5:50:5."""

    name = "sizes"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """The sizes as a range."""
        if isinstance(value, range):
            return value
        try:
            parts = [int(part) for part in str(value).split(":")]
            if len(parts) > 3 or (len(parts) == 3 and parts[2] < 1) or parts[0] < 0:
                raise ValueError
        except ValueError:
            self.fail(f"{value!r} is not a size such as 40 or a range such as 5:50", param, ctx)
        return range(parts[0], (parts[1] if len(parts) > 1 else parts[0]) + 1, parts[2] if len(parts) > 2 else 1)


_metric = click.option("--metric", required=True, help="A metric of one group.")
_reference = counts("--reference", required=True, help="The reference's counts, or four probabilities that are known.")


def _tested(command: Callable[..., Any]) -> Callable[..., Any]:
    """The options of a test."""
    for option in (
        click.option("--rng", type=int, default=0, show_default=True, help="The seed of simulations."),
        click.option("--draws", type=int, default=256, show_default=True, help="Simulated groups to test."),
        choice("--given", "margin", "n", explained="With --test match, what it conditions on; see match --help."),
        choice("--null", "pooled", "known", "predictive", explained="With --test match, its null; see match --help."),
        choice("--test", "fisher", "match", explained="Fisher's test, or MATCH."),
        click.option("--comparisons", type=int, default=1, show_default=True, help="How many tests share the level."),
        click.option("--alpha", type=float, default=0.05, show_default=True, help="Significance level."),
    ):
        command = option(command)
    return command


@plan.command("power", cls=PlanCommand)
@_metric
@click.option("--n", type=int, required=True, help="The group's number of cases.")
@_reference
@click.option("--difference", type=float, help="The true difference from the reference's score.")
@counts("--truth", help="The group's true rates, in place of a difference.")
@_tested
@click.option("--denominator", type=int, help="The group's denominator, if it is not random.")
@as_json
def power_command(
    metric: str, n: int, reference: tuple[float, ...], truth: tuple[float, ...] | None, as_json: bool, **settings: Any
) -> None:
    """Compute how likely a test is to find a true difference."""
    _show(power(metric, n, _side(reference), truth=_side(truth), **settings), as_json)


@plan.command("size", cls=PlanCommand)
@_metric
@_reference
@click.option("--difference", type=float, help="The true difference that is to be found.")
@counts("--truth", help="The group's true rates.")
@click.option("--half-width", type=float, help="In place of a difference: the half-width of an interval.")
@click.option("--undefined-below", type=float, help="In place of a difference: a bound on P(undefined).")
@click.option("--power", type=float, default=0.8, show_default=True, help="The power, or the probability, to reach.")
@_tested
@click.option(
    "--confidence-level", type=float, default=0.95, show_default=True, help="Confidence level of the interval."
)
@click.option("--most", type=int, default=100_000, show_default=True, help="The largest number of cases to look at.")
@as_json
def size_command(
    metric: str, reference: tuple[float, ...], truth: tuple[float, ...] | None, as_json: bool, **settings: Any
) -> None:
    """Compute how many cases find a difference, narrow an interval, or make a score exist."""
    _show(sample_size(metric, _side(reference), truth=_side(truth), **settings), as_json)


@plan.command("detect", cls=PlanCommand)
@_metric
@click.option("--n", type=int, required=True, help="The group's number of cases.")
@_reference
@click.option("--power", type=float, default=0.8, show_default=True, help="The power to reach.")
@_tested
@click.option("--denominator", type=int, help="The group's denominator, if it is not random.")
@as_json
def detect_command(metric: str, n: int, reference: tuple[float, ...], as_json: bool, **settings: Any) -> None:
    """Compute the smallest differences that a number of cases shows, on both sides."""
    _show(detectable_difference(metric, n, _side(reference), **settings), as_json)


@plan.command("jagged", cls=PlanCommand)
@_metric
@counts("--reference", help="The rates or counts that groups are drawn from.  [default: all configurations]")
@click.option("--n", type=_SizeRange(), default="5:50", show_default=True, help="Sample sizes, such as 5:50.")
@choice(
    "--law", "multinomial", "predictive", "without_replacement", explained="How groups are drawn from the reference."
)
@as_json
def jagged_command(metric: str, reference: tuple[float, ...] | None, n: range, law: Any, as_json: bool) -> None:
    """Compute how a score's quantiles jump with the sample size."""
    result = jaggedness(metric, _side(reference), n, law=law)
    if as_json:
        print_json(result)
        return
    click.echo(str(result))
    _chart("n", result.sizes, result.median, name="median")


@plan.command("exploit", cls=PlanCommand)
@click.option("--metric", required=True, help="A metric of one group, or a difference or a ratio of two.")
@counts("--reference", required=True, help="The group's true rates; for two groups, those of the reference.")
@click.option("--threshold", type=float, required=True, help="The threshold that a score must reach.")
@click.option("--n", type=_SizeRange(), default="5:100", show_default=True, help="Sample sizes, such as 5:100.")
@counts("--truth", help="For a metric of two groups: the group's true rates.")
@click.option("--passing", type=click.Choice(["at least", "at most"]), help="Which scores pass.")
@as_json
def exploit_command(
    metric: str,
    reference: tuple[float, ...],
    threshold: float,
    n: range,
    truth: tuple[float, ...] | None,
    passing: Any,
    as_json: bool,
) -> None:
    """Find sizes at which a score passes a threshold more often than at neighbouring sizes."""
    result = exploitable_sizes(metric, _side(reference), threshold, n, truth=_side(truth), passing=passing)
    if as_json:
        print_json(result)
        return
    click.echo(str(result))
    _chart("n", result.sizes, result.chances, low=0.0, name="passes")


def _show(plan: Plan, as_json: bool) -> None:
    """Print a plan with a chart, unless each point of it would be a simulation, or as JSON."""
    if as_json:
        print_json(plan)
        return
    click.echo(str(plan))
    if plan.question == "sample_size":
        _chart("n", plan.sizes, plan.values, low=0.0, high=1.0, line=plan.target, name=plan.goal)
    elif plan.method == "exact":
        _chart(f"true {plan.metric.key}", *plan.profile(), low=0.0, high=1.0, line=plan.target, name="power")


def _chart(
    axis: str,
    sizes: Sequence[float],
    values: Sequence[float],
    *,
    low: float | None = None,
    high: float | None = None,
    line: float | None = None,
    name: str,
) -> None:
    """Print a small chart: one column per size (or score) or, if there are many, per step of them."""
    if len(sizes) < 2:
        return
    first, last = sizes[0], sizes[-1]
    places = [first + (last - first) * i / (_WIDTH - 1) for i in range(_WIDTH)]
    if len(sizes) <= _WIDTH:
        shown = list(values)
    else:
        shown = [values[min(range(len(sizes)), key=lambda k: abs(sizes[k] - place))] for place in places]
    floor = min(shown) if low is None else low
    top = max(shown) if high is None else high
    if top <= floor:
        return
    steps = _HEIGHT * (len(_BARS) - 1)
    heights = [round((value - floor) / (top - floor) * steps) for value in shown]
    mark = None if line is None else int((line - floor) / (top - floor) * _HEIGHT)
    click.echo()
    for row in reversed(range(_HEIGHT)):
        cells = [_BARS[min(max(h - row * (len(_BARS) - 1), 0), len(_BARS) - 1)] for h in heights]
        left = f"{top:7.3g}" if row == _HEIGHT - 1 else f"{floor:7.3g}" if row == 0 else " " * 7
        goal = f" - {line:g}" if mark == row and line is not None else ""
        click.echo(f"{left} {''.join(cells)}{goal}")
    ends = f"{axis} = {_end(first)}"
    click.echo(f"{'':7} {ends}{_end(last):>{max(len(shown) - len(ends), 2)}}   {name}")


def _end(value: float) -> str:
    return f"{value:,}" if isinstance(value, int) else f"{value:.3g}"
