"""The commands that plan: ``evenhand plan power``, ``size``, ``detect``, ``jagged`` and ``exploit``."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import click
import numpy as np

from .. import planning
from .command import COMMANDS, Command
from .function_options import counts_or_rates, function_options, print_json

_BARS = "▁▂▃▄▅▆▇█"
_WIDTH = 48
_JSON = "Print JSON, not a chart."
_FUNCTIONS: dict[str, tuple[Callable[..., object], str]] = {
    "power": (planning.power, "Compute how likely a test is to find a true difference."),
    "size": (planning.sample_size, "Compute how many cases reach a goal."),
    "detect": (planning.detectable_difference, "Compute the smallest detectable differences."),
    "jagged": (planning.jaggedness, "Compute how scores jump with the sample size."),
    "exploit": (planning.exploitable_sizes, "Find sizes at which a score passes more often."),
}


@click.group(help=COMMANDS["plan"][1])
def plan() -> None:
    """Plan an audit."""


def _run(function: Callable[..., Any], as_json: bool, **arguments: Any) -> None:
    """Call a function and print its result with a chart, or as JSON."""
    for name in ("reference", "truth"):
        if arguments.get(name) is not None:
            arguments[name] = counts_or_rates(arguments[name])
    result = function(**arguments)
    if as_json:
        print_json(result)
        return
    click.echo(str(result))
    if isinstance(result, planning.Jaggedness):
        _print_bars("median", result.median, "n", result.sizes)
    elif isinstance(result, planning.ExploitableSizes):
        _print_bars("passes", result.chances, "n", result.sizes)
    elif result.question == "sample_size":
        _print_bars(result.goal, result.values, "n", result.sizes)
    elif result.method == "exact":
        places, powers = result.profile()
        _print_bars("power", powers, f"true {result.metric.key}", places)


def _print_bars(name: str, values: Sequence[float], axis: str, places: Sequence[float]) -> None:
    """Print a bar for each value, from the lowest to the highest; of many, at regular distances."""
    if len(places) > _WIDTH:
        grid = np.linspace(places[0], places[-1], _WIDTH)
        nearest = np.abs(np.subtract.outer(grid, places)).argmin(axis=1)
        values = np.asarray(values)[nearest].tolist()
    low, high = min(values), max(values)
    if low < high:
        bars = "".join(_BARS[round((value - low) / (high - low) * 7)] for value in values)
        first, last = (f"{place:,.3g}" for place in (places[0], places[-1]))
        ends = f"{axis} from {first} to {last}"
        click.echo(f"\n  {bars}\n  {name}, {low:.3g} to {high:.3g}; {ends}")


for _name, (_function, _summary) in _FUNCTIONS.items():
    _options = [
        *function_options(_function),
        click.Option(["--json", "as_json"], is_flag=True, help=_JSON),
    ]
    plan.add_command(Command(_name, None, partial(_run, _function), _options, _summary))
