"""Models on the same cases: how the scores of each group change, and how the gaps between groups do."""

from __future__ import annotations

from typing import Any

from ..data import build_model_tally, group_columns
from ..errors import InvalidInput
from ..metrics import Metric
from .metric_selection import select_metrics
from .requests import accepting
from .result import Audit
from .run import run_audit
from .settings import MODEL_METRICS, ModelsRequest

__all__ = ["compare"]


@accepting(ModelsRequest)
def compare(request: ModelsRequest) -> Audit:
    """Compare models, or thresholds of one score, on the same cases.

    Each model is compared with the first: how much each group's score changes, and how much its gap to the reference
    changes.

    Parameters
    ----------
    data : dataframe, path, mapping of columns or None
        The table, as for `audit`; None if the columns are passed.
    {settings}

    Returns
    -------
    Audit
        In its rows, ``at`` says which ``model`` is compared ``against`` which. The ``score`` is the group's own change,
        with McNemar's exact p-value, and the ``gap`` the change of its gap to the reference; ``before`` and
        ``gap_before`` are what changes. Metrics are rates of
        people whose number is the same with all models: by default acc, ppr, tpr and fpr. Cases without a label or a
        prediction of every model are left out and counted.

    Examples
    --------
    >>> data = {"sex": list("ffffmmmm"), "y": [1, 1, 0, 0] * 2, "old": [1, 0] * 4, "new": [1, 1, 0, 0, 1, 0, 1, 0]}
    >>> c = compare(data, y_true="y", models={"old": "old", "new": "new"}, groups="sex", metrics="acc")
    >>> row = next(row for row in c.rows if row.group == "f")
    >>> row.at, row.score, row.gap
    ({'model': 'new', 'against': 'old'}, 0.5, 0.5)
    """
    if request.groups is None:
        raise InvalidInput(argument="groups", must="be the name of a group column or its values", got=None)
    metrics = select_metrics(request, labelled=True, default=MODEL_METRICS)
    for m in metrics:
        if not isinstance(m, Metric):
            raise InvalidInput(f"`metrics` must be rates such as {', '.join(MODEL_METRICS)}; got {m.key}")
    arguments: dict[str, Any] = {
        name: getattr(request, name)
        for name in (
            *("y_true", "models", "model_column", "cluster", "y_pred", "y_score", "threshold"),
            *("baseline", "positive", "bins"),
        )
    }
    arguments["merge_variants"] = request.merge_variants
    tally = build_model_tally(request.data, group_columns(request.groups, request.data), **arguments)
    return run_audit(tally, metrics, request, "compare", request.data)
