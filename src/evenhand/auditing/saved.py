"""Reading saved audits of any kind."""

from __future__ import annotations

import json

from .class_result import CLASSES_SCHEMA, ClassAudit
from .result import Audit
from .sweep import SWEEP_SCHEMA, Sweep

__all__ = ["saved_audit"]

_KINDS: dict[str, type[Sweep | ClassAudit]] = {SWEEP_SCHEMA: Sweep, CLASSES_SCHEMA: ClassAudit}


def saved_audit(text: str) -> Audit | Sweep | ClassAudit:
    """Read an audit, or audits at several thresholds or of several classes, that ``to_json`` wrote.

    Parameters
    ----------
    text : str
        The JSON text.

    Returns
    -------
    Audit, Sweep or ClassAudit
        What was saved.

    Examples
    --------
    >>> from evenhand import audit_counts
    >>> a = audit_counts({"A": (0, 2, 8, 30), "B": (300, 100, 120, 480)}, metrics="tpr")
    >>> saved_audit(a.to_json()) == a
    True
    """
    try:
        content = json.loads(text)
    except (ValueError, RecursionError):
        content = None
    schema = content.get("schema") if isinstance(content, dict) else None
    return _KINDS.get(str(schema), Audit).from_json(text)
