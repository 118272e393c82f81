"""Answers about planning in words: a sentence, and below it a line for each fact."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from ..planning import ExploitableSizes, Jaggedness, Plan
from ..wording import decided, several


def plan_text(plan: Plan) -> str:
    """The answer of `power`, `sample_size` or `detectable_difference`."""
    cases, key, value = several(plan.n, "case"), plan.metric.key, 100 * plan.value
    # With the digits that show on which side of the target it is.
    limits = [] if plan.target is None else [100 * plan.target]
    share = decided(value, limits, lambda more: f"{value:.{3 + more}g}") + "%"
    gap = f"of {plan.difference:+.4g}" if plan.difference else "where none is"
    find, s = f"a difference in {key} {gap}", "s" * (plan.n == 1)
    interval = f"a {100 * (plan.confidence_level or 0):g}% interval of {key}"
    heads = {
        "undefined": f"{cases} leave{s} {key} undefined with probability {share}",
        "half-width": f"{cases} give{s} {interval} within ±{plan.half_width} in {share} of groups",
        "power": f"Power {share} to find {find}",
        "sample_size": f"{cases} find{s} {find} with a power of {share}",
        "detectable_difference": f"Smallest differences in {key} that {cases} show{s}"
        f" with a power of {plan.target}",
    }
    head = heads[plan.question if plan.goal == "power" else plan.goal]
    return _block(head, [*_answer(plan), *_assumptions(plan)])


def _answer(plan: Plan) -> Iterator[tuple[str, str]]:
    """What is planned: the group, the goal, or the differences."""
    part, given = plan.metric.base.denominator, plan.denominator
    if plan.question == "power":
        count = f", {part.format_count(given)}" if part and given else ""
        yield "group", f"{several(plan.n, 'case')}{count}, true score {plan.true_score:.4g}"
    elif plan.question == "sample_size":
        goal = f"{'at most' if plan.goal == 'undefined' else 'at least'} {plan.target:g}"
        if plan.n_stays is not None:
            number = f"number from {plan.n_stays:,}" if plan.n_stays > plan.n else "larger number"
            goal += f"; so does every {number}"
        yield "goal", goal if plan.n_looked is None else f"{goal} up to {plan.n_looked:,}"
        if part:
            expected = round(plan.expected_denominator or 0)
            yield "of them", f"about {part.format_count(expected)}"
    else:
        ends = ("lower", plan.lower, plan.lower_score), ("higher", plan.higher, plan.higher_score)
        for side, gap, score in ends:
            yield side, f"{gap:+.4g}, to a true score of {score:.4g}" if gap else "none"


def _assumptions(plan: Plan) -> Iterator[tuple[str, str]]:
    """The reference and the test, what else can happen, and how it was computed."""
    n, is_exact = plan.reference_n, plan.method == "exact"
    reference = "known rates" if n is None else several(n, "case")
    yield "reference", f"{reference}, score {plan.reference_score:.4g}"
    shared = f" / {plan.comparisons:,}" if (plan.comparisons or 1) > 1 else ""
    limit = f"p <= {plan.alpha or 0:g}{shared}"
    if plan.test:
        yield "test", f"{plan.test_name}, {limit}"
    if plan.wrong_way is not None and plan.difference:
        share = _percent(plan.wrong_way)
        yield "wrong way", f"{share} of groups differ significantly in the wrong direction"
    if plan.p_undefined is not None and plan.question == "power":
        yield "undefined", f"{_percent(plan.p_undefined)} of groups have no score"
    yield "method", "exact" if is_exact else f"simulation, standard error {plan.error:.2g}"
    if is_exact and plan.test and plan.value == 0:
        yield "caution", f"no outcome that this truth allows reaches {limit}"


def jaggedness_text(result: Jaggedness) -> str:
    """How the quantiles of a score move with the sample size."""
    m, sizes, i = result.metric, result.sizes, int(np.argmax(np.abs(result.jumps)))
    jump = f"{result.jumps[i]:+.4g} from n = {sizes[i]} to {sizes[i + 1]}"
    facts = [
        ("total", f"{_percent(result.total)} of the spread back and forth per step"),
        ("movement", f"{result.movement:.4g} in all, in units of the score"),
        ("largest", f"the median jumps by {jump}"),
    ]
    if result.decay is not None:
        facts.append(("decay", f"about as n to the power of {-result.decay:.2g}"))
    return _block(f"Jaggedness of {m.name} ({m.key}), n = {sizes[0]} to {sizes[-1]}", facts)


def exploitable_text(result: ExploitableSizes) -> str:
    """How often a score passes a threshold, and at which sizes."""
    sizes, p_stopping = result.sizes, result.p_stopping
    mean, best = sum(result.chances) / len(sizes), max(result.chances)
    gain = f"{100 * result.gain:.3g} points"
    stopping = "not computed: too many states to follow"
    if p_stopping is not None:
        stopping = f"{_percent(p_stopping)} pass at some size, if one may stop at any of them"
    facts = [
        ("on average", f"{_percent(mean)} pass, over n = {sizes[0]} to {sizes[-1]}"),
        ("best size", f"n = {result.best}: {_percent(best)} pass, {gain} more than on average"),
        ("exploitable", _list_sizes(result.exploitable)),
        ("stopping", stopping),
        ("prefer", _list_sizes(result.preferred)),
    ]
    rule = f"{result.metric.key} of {result.passing} {result.threshold:.4g}"
    return _block(f"{rule}, where the truth is {result.true_score:.4g}", facts)


def _list_sizes(sizes: Sequence[int]) -> str:
    """The first ten sizes, and how many more there are."""
    more = f" and {len(sizes) - 10} more" if len(sizes) > 10 else ""
    return f"n = {', '.join(map(str, sizes[:10]))}{more}" if sizes else "none"


def _percent(probability: float) -> str:
    """A probability as a percentage with three digits."""
    return f"{100 * probability:.3g}%"


def _block(head: str, facts: Sequence[tuple[str, str]]) -> str:
    """A sentence, and a line with its label for each fact."""
    return "\n".join([head, *(f"  {label:<11} {text}" for label, text in facts)])
