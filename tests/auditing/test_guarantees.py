"""What an audit claims of many numbers together: simulated and listed, at settings where it was once untrue."""

from __future__ import annotations

from collections.abc import Callable
from math import isnan
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner
from pytest import approx
from scipy.stats import binom

import evenhand as eh
from evenhand.auditing import Verdict
from evenhand.cli.main import evenhand as command

Counts = dict[str, tuple[int, int, int, int]]


def selected(rng: np.random.Generator, sizes: dict[str, int], rates: dict[str, float]) -> Counts:
    """Counts of predicted positives, without labels that matter."""
    drawn = {name: int(rng.binomial(n, rates[name])) for name, n in sizes.items()}
    return {name: (0, 0, k, sizes[name] - k) for name, k in drawn.items()}


def share(runs: int, happens: Callable[[np.random.Generator], bool], seed: int) -> float:
    return float(np.mean([happens(np.random.default_rng((seed, i))) for i in range(runs)]))


@pytest.mark.slow
def test_a_named_reference_keeps_the_level() -> None:
    """20 groups of 20 against one of 60, all with a rate of .05: 9% of audits once found a difference."""
    sizes = {f"g{i}": 20 for i in range(20)} | {"reference": 60}

    def alarmed(rng: np.random.Generator) -> bool:
        counts = selected(rng, sizes, dict.fromkeys(sizes, 0.05))
        return any(row.differs for row in eh.audit_counts(counts, metrics="ppr", reference="reference").rows)

    assert share(150, alarmed, 1) <= 0.03


def test_nothing_is_tested_against_a_reference_that_was_chosen_by_its_rate() -> None:
    """Against the highest of ten equal rates 6 to 18% of audits once found a difference, in other rates too."""
    counts = {f"g{i}": (20 + i, 30 - i, 25, 25) for i in range(6)}
    metrics = ["ppr", "pnr", "tpr", "fpr", "acc", "prev"]
    a = eh.audit_counts(counts, reference="best", metrics=metrics, favourable="positive")
    assert {row.verdict for row in a.rows} == {Verdict.REFERENCE, Verdict.NOT_TESTED}
    assert all(isnan(row.at_least) and isnan(row.pvalue) and row.method is None for row in a.rows)
    assert "Nothing could be tested" in str(a)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("groups", "apart", "gap", "runs"), [(6, 1, 0.1, 60), (20, 1, 0.0, 40), (20, 3, 0.3, 40), (60, 60, 0.3, 12)]
)
def test_every_at_least_of_an_audit_is_true_in_95_of_100(groups: int, apart: int, gap: float, runs: int) -> None:
    """Groups of 40, of which some have a higher rate; once up to two thirds of the first sentences were untrue."""
    sizes = {f"g{i}": 40 for i in range(groups)} | {"others": 400}
    rates = {name: 0.3 + gap * (name in [f"g{i}" for i in range(apart)]) for name in sizes}
    cases = sum(sizes.values())

    def untrue(rng: np.random.Generator) -> bool:
        total = sum(sizes[name] * rates[name] for name in sizes)
        for row in eh.audit_counts(selected(rng, sizes, rates), metrics="ppr", bounds="simultaneous").rows:
            n, rate = sizes[row.group], rates[row.group]
            truth = rate - (total - n * rate) / (cases - n)
            if not isnan(row.at_least):
                signed = row.at_least if row.verdict is Verdict.HIGHER else -row.at_least
                if signed * truth < 0 or abs(signed) > abs(truth) + 1e-12:
                    return True
        return False

    assert share(runs, untrue, 2) <= 0.06


def test_simultaneous_bounds_hold_for_all_comparisons_that_could_have_been_printed() -> None:
    """The bound of a gap is the end of its melded interval at 1 - alpha / m, with m the number of all claims.

    Three groups and two metrics, and three impact ratios if a prediction is favourable.
    """
    counts = {"A": (0, 0, 30, 10), "B": (0, 0, 90, 200), "C": (0, 0, 100, 220)}
    group, rest = eh.ConfusionMatrix.from_array(counts["A"]), eh.ConfusionMatrix(tp=0, fn=0, fp=190, tn=420)
    asked: Any = {"metrics": ["ppr", "acc"], "bounds": "simultaneous"}
    for favourable, claims in (("positive", 9), (None, 6)):
        a = eh.audit_counts(counts, favourable=favourable, **asked)  # type: ignore[arg-type]
        row = next(r for r in a.rows if (r.group, r.metric) == ("A", "ppr"))
        wide = eh.disparity(group, rest, "ppr", confidence_level=1 - 0.05 / claims)
        assert (row.at_least, row.at_most) == approx((wide.low, wide.high), abs=1e-7)
        assert row.simultaneous_bound == row.at_least < row.gap_low


def claimed_rows(rows: list[Any], m: int) -> tuple[list[Any], float]:
    """The rows whose size is claimed, and the level of their intervals: every r, one after the other."""
    for r in range(m, 0, -1):
        few = [row for row in rows if row.differs and row.pvalue <= 0.05 * r / m]
        if len(few) >= r:
            return few, 1 - 0.05 * r / m
    return [], 1.0


def test_sizes_are_claimed_at_the_false_coverage_rate() -> None:
    """Of three or more groups; two groups that are each other's rest are one claim. Others have no size."""
    rng, sizes_unclear, claims = np.random.default_rng(8), 0, 0
    for groups in (2, 3, 3, 4, 4, 5, 5, 9, 9):
        rates = np.clip(0.5 + 0.17 * (np.arange(groups) == 1) + 0.35 * (np.arange(groups) == 3), 0, 1)
        counts = {f"g{i}": tuple(rng.multinomial(100, [p / 2, (1 - p) / 2, 0.25, 0.25])) for i, p in enumerate(rates)}
        a = eh.audit_counts(counts, metrics=["tpr", "acc", "ppr"])
        once = [row for row in a.rows if groups > 2 or row.group == "g0"]
        few, level = claimed_rows(once, len(once))
        for row in once:
            if row not in few:
                assert isnan(row.at_least) and isnan(row.at_most)
                sizes_unclear += row.differs
                continue
            claims += 1
            group, rest = (eh.ConfusionMatrix.from_array(np.array(cells)) for cells in (row.cells, row.reference_cells))
            wide = eh.disparity(group, rest, row.metric, confidence_level=level)
            ends = (wide.low, wide.high) if row.verdict is Verdict.HIGHER else (-wide.high, -wide.low)
            assert (row.at_least, row.at_most) == approx(ends, abs=1e-7)
            assert isnan(row.simultaneous_bound) or row.simultaneous_bound <= row.at_least
    assert sizes_unclear > 1 and claims > 10


@pytest.mark.slow
@pytest.mark.parametrize(("groups", "n", "spread"), [(2, 2000, 0.0), (3, 1000, 0.0), (3, 1000, 0.02), (20, 100, 0.05)])
def test_few_sizes_are_too_large_on_average(groups: int, n: int, spread: float) -> None:
    """With r as all rows that differ, 6% of the bounds of two or three equal groups were wrong."""
    metrics = ["ppr", "tpr", "fpr", "ppv", "acc"]
    wrong = []
    for i in range(250):
        rng = np.random.default_rng((11, i))
        prev, tpr, fpr = np.clip([[0.4], [0.7], [0.3]] + spread * rng.normal(size=(3, groups)), 0.03, 0.97)
        chances = np.stack([prev * tpr, prev * (1 - tpr), (1 - prev) * fpr, (1 - prev) * (1 - fpr)], axis=1)
        counts = {f"g{j}": tuple(rng.multinomial(n, chance).tolist()) for j, chance in enumerate(chances)}
        truth = {"ppr": chances[:, [0, 2]].sum(1), "acc": chances[:, [0, 3]].sum(1), "tpr": tpr, "fpr": fpr}
        truth["ppv"] = chances[:, 0] / truth["ppr"]
        a = eh.audit_counts(counts, metrics=metrics, strength=10, margin=1.0)
        claims = [row for row in a.rows if not isnan(row.at_least) and (groups > 2 or row.group == "g0")]
        untrue = 0
        for row in claims:
            sizes = {r.group: r.support for r in a.rows if r.metric == row.metric}
            rates = dict(zip(counts, truth[row.metric], strict=True))
            others = [group for group in counts if group != row.group]
            rest = sum(sizes[g] * rates[g] for g in others) / sum(sizes[g] for g in others)
            gap = rates[row.group] - rest
            untrue += row.at_least > (gap if row.verdict is Verdict.HIGHER else -gap) + 1e-12
        wrong.append(untrue / max(1, len(claims)))
    assert np.mean(wrong) <= 0.05 + 2 * np.std(wrong) / len(wrong) ** 0.5


@pytest.mark.slow
@pytest.mark.parametrize(("n", "margin"), [(7, 0.3), (24, 0.1), (49, 0.05), (100, 0.1)])
def test_alike_is_wrong_in_one_of_forty_at_most(n: int, margin: float) -> None:
    """A true gap as large as the margin, against a reference of 500 whose count is its mean; all counts are listed.

    None of 24 against none of 500 was once alike, which a group with a rate of .1 was in 8% of cases.
    """
    for rate in (0.0, 0.02, 0.3, 0.7, 1 - margin):
        reference = round(500 * rate)
        counts = {f"{k}": (k, n - k, 0, 0) for k in range(n + 1)} | {"reference": (reference, 500 - reference, 0, 0)}
        a = eh.audit_counts(counts, metrics="tpr", reference="reference", adjust="none", margin=margin, strength=0)
        alike = [int(row.group.removeprefix("group ")) for row in a.rows if row.verdict is Verdict.EQUIVALENT]
        for truth in {reference / 500 + margin, reference / 500 - margin}:
            if 0 <= truth <= 1:
                assert np.sum(binom.pmf(alike, n, truth)) <= 0.025 + 1e-9


def test_alike_can_hold_for_the_whole_audit() -> None:
    counts = {"A": (36, 84, 0, 0), "B": (360, 840, 0, 0), "C": (300, 700, 0, 0)}
    each, whole = (eh.audit_counts(counts, metrics="tpr", margin=0.1, family=family) for family in ("metric", "audit"))
    assert {row.verdict for row in each.rows} == {Verdict.EQUIVALENT}
    assert next(row.verdict for row in whole.rows if row.group == "A") is Verdict.INCONCLUSIVE


@pytest.mark.slow
def test_a_model_that_is_better_for_everybody_alike_changes_no_gap() -> None:
    """24 against 400 people: half of such comparisons once found a changed gap."""

    def found(rng: np.random.Generator) -> bool:
        who = np.repeat(["small", "others"], [24, 400])
        y = np.r_[0, np.ones(423, dtype=int)]
        old = (rng.random(424) < 0.5).astype(int)
        moves = rng.random(424)
        new = np.where(moves < 0.35, 1, np.where(moves > 0.95, 0, old))
        a = eh.compare(y_true=y, models={"old": old, "new": new}, groups=who, metrics="tpr", positive=1, gaps=True)
        return any(row.differs for row in a.rows if row.is_gap_change)

    assert share(60, found, 3) <= 0.08


def test_a_group_in_which_nobody_changed_is_compared_with_what_changed() -> None:
    """Nobody of 12 changed and half of 2,000 did, as many up as down: nothing is known of the group's true change."""
    y = np.ones(2012, dtype=int)
    y[0] = 0
    who = np.repeat(["small", "others"], [12, 2000])
    old = np.r_[np.ones(12, dtype=int), np.tile([1, 0, 1, 0], 500)]
    new = np.r_[np.ones(12, dtype=int), np.tile([0, 1, 1, 0], 500)]
    a = eh.compare(y_true=y, models={"old": old, "new": new}, groups=who, metrics="tpr", positive=1, gaps=True)
    assert {row.verdict for row in a.rows} <= {Verdict.INCONCLUSIVE, Verdict.EQUIVALENT}
    assert next(row for row in a.rows if row.group == "small" and row.is_gap_change).score == 0


def run(*arguments: str) -> Any:
    return CliRunner().invoke(command, ["audit", *arguments])


def test_a_perfect_classifier_of_groups_with_other_base_rates_passes_the_gate(tmp_path: Any) -> None:
    path = tmp_path / "counts.csv"
    path.write_text("group,tp,fn,fp,tn\nA,300,0,0,100\nB,100,0,0,900\n")
    errors = [word for key in ("tpr", "fpr", "ppv", "acc") for word in ("--metric", key)]
    assert run("--counts", str(path), *errors, "--fail-on", "differs").exit_code == 0
    assert run("--counts", str(path), *errors, "--fail-on", "beyond-margin").exit_code == 0
    refused = run("--counts", str(path), "--metric", "prev", "--fail-on", "differs", "--quiet")
    assert refused.exit_code == 1 and "A: prevalence 0.750" in refused.stdout
    assert run("--counts", str(path), "--fail-on", "differs").exit_code == 1, "selection rates are covered by default"


def test_a_group_has_one_p_value_whatever_is_asked() -> None:
    """README's own two cases: 0.045 by `disparity` and 0.128 in an audit, before Fisher's test was both defaults."""
    counts = {"A": (0, 2, 8, 30), "B": (300, 100, 120, 480)}
    found = eh.disparity(eh.ConfusionMatrix.from_array(counts["A"]), eh.ConfusionMatrix.from_array(counts["B"]), "tpr")
    row = eh.audit_counts(counts, metrics="tpr").rows[0]
    assert found.pvalue == approx(0.1278, abs=1e-4) == row.pvalue
    assert (found.low, found.high) == approx((-0.792, 0.095), abs=1e-3)
    assert (row.gap_low, row.gap_high) == approx((found.low, found.high))
