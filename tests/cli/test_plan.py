"""The commands that plan: a block with a chart or JSON, and messages that speak of options."""

from __future__ import annotations

import json
import re
from inspect import signature

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
    """Eighths, from the lowest value to the highest; of more than 48, those at regular distances."""
    for words, axis in (
        ("jagged --metric acc --n 5:20", "n from 5 to 20"),
        ("size --metric ppr --difference -0.2", "n from 1 to 128"),
    ):
        text, found = (
            CliRunner().invoke(command, ["plan", *words.split(), *REFERENCE, *more]).output for more in ([], ["--json"])
        )
        facts = json.loads(found)
        values = facts["values"] if "values" in facts else [row[2] for row in facts["quantiles"]]
        bars, caption = (line.strip() for line in text.split("\n\n")[1].splitlines())
        low, high = min(values), max(values)
        assert caption.endswith(f", {low:.3g} to {high:.3g}; {axis}")
        steps = max(1, (len(values) - 1) / 47)
        shown = [values[round(i * steps)] for i in range(len(bars))]
        assert len(bars) == min(48, len(values))
        assert ["▁▂▃▄▅▆▇█".index(bar) for bar in bars] == [round((v - low) / (high - low) * 7) for v in shown]


def test_what_is_not_said_is_what_the_library_takes() -> None:
    for name, function in (("power", eh.power), ("size", eh.sample_size), ("detect", eh.detectable_difference)):
        found = CliRunner().invoke(command, ["plan", name, "--help"], terminal_width=300).output
        known = signature(function).parameters.items()
        defaults = {name: p.default for name, p in known if type(p.default) in (int, float, str)}
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
