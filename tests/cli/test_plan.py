"""The commands that plan: a block with a chart or JSON, and messages that speak of options."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from inspect import signature

import pytest
from click.testing import CliRunner

import evenhand as eh
from evenhand.cli import evenhand as command

REFERENCE = ["--reference", "300", "100", "120", "480"]


def test_every_plan_prints_a_block_with_a_chart_or_json() -> None:
    for line, field in (
        ("power --metric tpr --n 40 --difference -0.2", "power"),
        ("size --metric ppr --difference -0.2", "n_stays"),
        ("detect --metric acc --n 60", "lower"),
        ("jagged --metric acc --n 5:20", "total"),
        ("exploit --metric acc --threshold 0.8 --n 5:30", "exploitable"),
    ):
        words = ["plan", *line.split(), *REFERENCE]
        text = CliRunner().invoke(command, words)
        assert text.exit_code == 0, text.output
        assert "█" in text.output and max(map(len, text.output.splitlines())) <= 100
        assert field in json.loads(CliRunner().invoke(command, [*words, "--json"]).output)


def test_the_bars_of_a_chart_are_as_high_as_their_values() -> None:
    """Eighths of a row, from the label of the lowest row to that of the highest; the goal is marked in its row."""
    blocks = " ▁▂▃▄▅▆▇█"

    def chart(*words: str) -> tuple[list[str], dict[str, list[float]]]:
        text, found = (CliRunner().invoke(command, ["plan", *words, *REFERENCE, *more]) for more in ([], ["--json"]))
        return text.output.split("\n\n")[1].splitlines()[:-1], json.loads(found.output)

    rows, found = chart("jagged", "--metric", "acc", "--n", "5:20")
    medians = [row[2] for row in found["quantiles"]]  # type: ignore[index]
    low, high = min(medians), max(medians)
    assert (rows[-1][:7].strip(), rows[0][:7].strip()) == (f"{low:.3g}", f"{high:.3g}")
    bars = [row[8:].ljust(len(medians)) for row in rows]
    heights = [sum(blocks.index(bar[k]) for bar in bars) for k in range(len(medians))]
    assert heights == [round((value - low) / (high - low) * 8 * len(rows)) for value in medians]

    rows, found = chart("size", "--metric", "ppr", "--difference", "-0.2")
    assert (rows[-1][:7].strip(), rows[0][:7].strip()) == ("0", "1")
    (goal,) = (at for at, row in enumerate(reversed(rows)) if row.endswith(" - 0.8"))
    assert goal == int(0.8 * len(rows))
    full = sum(blocks.index(row.removesuffix(" - 0.8")[-1]) for row in rows)
    assert full == round(found["values"][-1] * 8 * len(rows))


@pytest.mark.parametrize(
    ("name", "function"), [("power", eh.power), ("size", eh.sample_size), ("detect", eh.detectable_difference)]
)
def test_what_is_not_said_is_what_the_library_takes(name: str, function: Callable[..., object]) -> None:
    found = CliRunner().invoke(command, ["plan", name, "--help"], terminal_width=300).output
    defaults = {n: p.default for n, p in signature(function).parameters.items() if type(p.default) in (int, float, str)}
    assert {"alpha", "draws", "test", "null", "given", "rng"} <= set(defaults)
    for argument, default in defaults.items():
        (said,) = re.findall(rf"^  --{argument.replace('_', '-')} (?:.|\n(?!  -))*", found, re.MULTILINE)
        assert f"[default: {default}" in " ".join(said.split()), said


def test_a_plan_that_is_refused_speaks_of_options() -> None:
    match = "power --metric acc --n 5 --difference 0.1 --test match --null predictive --reference 0.5 0.2 0.1 0.2"
    for line, sentence in (
        ("size --metric tpr",
         "pass one goal: a --difference or the group's --truth, --half-width, or --undefined-below"),
        ("power --metric tpr --n 5", "pass either a --difference from the reference's score, or the group's --truth"),
        ("power --metric tpr --n 5 --difference 0.1 --alpha 2", "--alpha must lie between 0 and 1; got 2.0"),
        (match, "--null must not be 'predictive' for known rates: it needs the reference's counts"),
        ("power --metric mcc --n 9 --difference -0.1 --rng -1",
         "--rng must be a whole number of at least 0, a numpy.random.Generator or None; got -1"),
        ("exploit --metric acc --threshold 2", "--threshold must lie in the range of acc, 0 to 1; got 2.0"),
    ):  # fmt: skip
        words = line.split()
        reference = [] if "--reference" in words else REFERENCE
        refused = CliRunner().invoke(command, ["plan", *words, *reference])
        assert refused.exit_code == 2
        assert refused.output == f"Error: {sentence}\n"
    odd = CliRunner().invoke(command, ["plan", "jagged", "--metric", "acc", "--n", "5:x"])
    assert odd.exit_code == 2
    assert "'5:x' is not a size such as 40 or a range such as 5:50" in odd.output
