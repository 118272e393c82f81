"""The audit of a metric that is a function of the user's own."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from math import isfinite, isnan, nan
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import InvalidInput
from ..progress import ProgressLine
from ..tabulate import grouped_values
from .audits import mirrored, named_groups
from .checks import check_draws, check_level, check_seed
from .comparisons import ScoreTest
from .permutations import permuted_pvalue
from .rows import Compared, ScoreAudit, judged

__all__ = ["audit_callable"]

Values = NDArray[Any]
# Scores closer than this share are ties that rounding broke.
_ROUNDING = 1e-9


def audit_callable(
    metric: Callable[[Any, Any], float],
    y_true: Any,
    y_pred: Any,
    groups: Any,
    *,
    draws: int = 9_999,
    seed: int = 0,
    name: str | None = None,
    alpha: float = 0.05,
) -> ScoreAudit:
    """Compare groups by a function of labels and predictions, with a permutation test.

    Every group is compared with all cases outside it. Under the null, the group is a random part of all cases, with its
    labels and predictions. As many cases are drawn at random, and p = (r + 1) / (B + 1), where r of B draws have a
    difference at least as large as the data. A draw without a value counts as at least as large. If the null is
    rejected, the group is not drawn like the rest; that may be due to base rates alone if the function depends on them.

    Parameters
    ----------
    metric : callable
        Called with an array of labels and one of predictions; returns a number. It must not be random.
    y_true, y_pred : sequence
        Labels and predictions, or scores: whatever the function reads.
    groups : sequence, mapping of sequences or dataframe
        The values of the group column; if there are several, each is audited on its own.
    draws : int
        The number of permutations per group. The function is called twice in each.
    seed : int
        The seed of the permutations.
    name : str, optional
        What the metric is called; by default the name of the function.
    alpha : float
        The level of the p-values, adjusted over groups (Holm).

    Returns
    -------
    ScoreAudit
        One row per group. A group is undefined, with the reason, if the function returns nan or fails.

    Examples
    --------
    >>> def worst_error(y_true, y_pred):
    ...     return max(abs(y_true - y_pred))
    >>> a = audit_callable(worst_error, [1, 0, 1, 0, 1, 0], [0.9, 0.2, 0.8, 0.7, 0.1, 0.3], list("aaabbb"), draws=999)
    >>> print(a.rows[0])
    worst_error of group a: 0.200 against 0.900, too few to tell, adjusted p = 0.1... (permutation)
    """
    if not callable(metric):
        raise InvalidInput(f"metric must be a function of y_true and y_pred; got {metric!r}")
    check_draws(draws)
    check_seed(seed)
    check_level(alpha, "alpha")
    if name is not None and (not isinstance(name, str) or not name.strip()):
        raise InvalidInput(f"name must be text; got {name!r}")
    called = name or str(getattr(metric, "__name__", type(metric).__name__))
    by, values = grouped_values(groups, y_true=y_true, y_pred=y_pred)
    columns = [(column, *named_groups(column, found.tolist(), np.arange(len(found)))) for column, found in by.items()]
    total = draws * sum(len(names) - (len(names) == 2) for _, names, _ in columns)
    audited: list[Compared] = []
    with ProgressLine() as report, warnings.catch_warnings():
        # A nan is said to be undefined; a warning of the function would say so again in every draw.
        warnings.simplefilter("ignore")
        measure = _Measured(metric, values["y_true"], values["y_pred"])
        for k, (column, names, of) in enumerate(columns):
            for i, group in enumerate(names):
                if i == 1 and len(names) == 2:
                    first = audited[-1]
                    test = mirrored(first.test)
                    audited.append(first._replace(group=group, test=test, repeats=True))
                    continue

                def told(done: int, before: int = sum(not one.repeats for one in audited)) -> None:
                    report(f"permuting {called}", before * draws + done, total)

                test, without = _tested(measure, called, of == i, draws, [seed, k, i], told)
                audited.append(Compared(column, group, "rest", test, undefined_draws=without))
    return ScoreAudit(
        rows=judged(audited, alpha, {}),
        n=len(values["y_true"]),
        reference="rest",
        level=0.95,
        alpha=alpha,
        margins={},
        draws=draws,
        seed=seed,
        left_out={},
    )


class _Measured:
    """The metric on some of the cases: a number, or why there is none."""

    def __init__(self, metric: Callable[[Any, Any], Any], y_true: Values, y_pred: Values) -> None:
        self._metric, self._true, self._pred = metric, y_true, y_pred

    def __call__(self, cases: NDArray[np.bool_]) -> tuple[float, str | None]:
        try:
            returned = self._metric(self._true[cases], self._pred[cases])
        except Exception as error:
            said = _first_line(error)
            return nan, f"the function raised {type(error).__name__}{': ' * bool(said)}{said}"
        try:
            if isinstance(returned, (str, bytes)):
                raise TypeError("a text that spells a number is no number")
            found = float(returned)
        except OverflowError:
            return nan, "the function returned a number that is too large"
        except Exception:
            return nan, f"the function returned a value of type {type(returned).__name__}, not a number"
        return (found, None) if isfinite(found) else (nan, f"the function returned {found}")


def _first_line(error: Exception) -> str:
    try:
        return next(iter(str(error).strip().splitlines()), "")
    except Exception:
        return ""


def _tested(
    measure: _Measured, name: str, member: NDArray[np.bool_], draws: int, seed: list[int], told: Callable[[int], None]
) -> tuple[ScoreTest, int]:
    """The test of one group against the rest, and the number of draws without a value."""
    (score, own), (reference, other) = measure(member), measure(~member)
    reason = f"the group has no value: {own}" if own else f"the reference has no value: {other}" if other else None
    p, method, error = nan, "none", nan
    without = extreme = 0
    if reason is None:
        rng = np.random.default_rng(seed)
        observed = abs(score - reference)
        least = observed - _ROUNDING * max(abs(score), abs(reference))
        for draw in range(draws):
            drawn = rng.permuted(member)
            gap = abs(measure(drawn)[0] - measure(~drawn)[0])
            without += isnan(gap)
            extreme += isnan(gap) or gap >= least
            if draw % 100 == 0:
                told(draw)
        p, method, error = permuted_pvalue(extreme, draws)
    return (
        ScoreTest(
            metric=name,
            score=score,
            reference_score=reference,
            n=int(np.count_nonzero(member)),
            reference_n=int(np.count_nonzero(~member)),
            difference=score - reference,
            difference_low=nan,
            difference_high=nan,
            level=0.95,
            pvalue=p,
            method=method,
            draws=draws,
            error=error,
            reason=reason,
        ),
        without,
    )
