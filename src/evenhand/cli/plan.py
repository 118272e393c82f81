"""The commands that plan: ``evenhand plan power``, ``size``, ``detect``, ``jagged`` and ``exploit``."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import click
import numpy as np

from .. import planning
from .command import COMMANDS, Command, counts_or_rates, function_options, print_json

_BARS = " ▁▂▃▄▅▆▇█"
_WIDTH, _HEIGHT = 64, 6


@click.group(help=COMMANDS["plan"][1])
def plan() -> None:
    """Plan an audit."""


def _run(function: Callable[..., Any], as_json: bool, **arguments: Any) -> None:
    """Call a function and print its result with a chart, or as JSON."""
    for name in ("reference", "truth"):
        if name in arguments:
            arguments[name] = counts_or_rates(arguments[name])
    result = function(**arguments)
    if as_json:
        print_json(result)
        return
    click.echo(str(result))
    if isinstance(result, planning.Jaggedness):
        _print_chart("n", result.sizes, result.median, "median")
    elif isinstance(result, planning.ExploitableSizes):
        _print_chart("n", result.sizes, result.chances, "passes", low=0.0)
    elif result.question == "sample_size":
        _print_chart("n", result.sizes, result.values, result.goal, 0.0, 1.0, result.target)
    elif result.method == "exact":
        places, powers = result.profile()
        axis = f"true {result.metric.key}"
        _print_chart(axis, places, powers, "power", 0.0, 1.0, result.target)


def _print_chart(
    axis: str,
    places: Sequence[float],
    values: Sequence[float],
    name: str,
    low: float | None = None,
    high: float | None = None,
    target: float | None = None,
) -> None:
    """Print bars of values at places on an axis; of many, those at regular distances."""
    first, last, shown = places[0], places[-1], np.asarray(values)
    if len(places) > _WIDTH:
        grid = np.linspace(first, last, _WIDTH)
        shown = shown[np.abs(np.subtract.outer(grid, places)).argmin(axis=1)]
    bottom = shown.min() if low is None else low
    top = shown.max() if high is None else high
    if len(places) < 2 or top <= bottom:
        return
    heights = (shown - bottom) / (top - bottom) * _HEIGHT
    eighths = np.rint(8 * heights).astype(int)
    share = -1.0 if target is None else (target - bottom) / (top - bottom)
    labels = {_HEIGHT - 1: f"{top:.3g}", 0: f"{bottom:.3g}"}
    click.echo()
    for row in reversed(range(_HEIGHT)):
        bars = "".join(_BARS[height] for height in np.clip(eighths - 8 * row, 0, 8))
        mark = f" - {target:g}" if row == np.floor(share * _HEIGHT) else ""
        click.echo(f"{labels.get(row, ''):>7} {bars}{mark}")
    start, end = (f"{x:,}" if isinstance(x, int) else f"{x:.3g}" for x in (first, last))
    title = f"{axis} = {start}"
    click.echo(f"{'':7} {title}{end:>{max(len(shown) - len(title), 2)}}   {name}")


for _name, _function, _summary in (
    ("power", planning.power, "Compute how likely a test is to find a true difference."),
    ("size", planning.sample_size, "Compute how many cases reach a goal."),
    ("detect", planning.detectable_difference, "Compute the smallest detectable differences."),
    ("jagged", planning.jaggedness, "Compute how scores jump with the sample size."),
    ("exploit", planning.exploitable_sizes, "Find sizes at which a score passes more often."),
):
    _json = click.Option(["--json", "as_json"], is_flag=True, help="Print JSON, not a chart.")
    _options = [*function_options(_function), _json]
    plan.add_command(Command(_name, None, partial(_run, _function), _options, _summary))
