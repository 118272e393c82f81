"""Which labels and predictions are positive: the same labels for both, or a mapping with those of each."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from ..confusion import LabelCoding, read_labels
from ..errors import InvalidInput, UnknownName

__all__ = ["read_positive"]

_PARTS = ("label", "prediction")


def read_positive(columns: Mapping[str, Collection[Any]], positive: Any) -> LabelCoding:
    """The coding of the values of ``y_true`` and ``y_pred``.

    >>> read_positive({"y_true": {"a", "b"}, "y_pred": {"x", "y"}}, {"label": "a", "prediction": "x"}).positive
    {'y_true': ('a',), 'y_pred': ('x',)}
    """
    if not isinstance(positive, Mapping):
        arguments = {"positive": positive}
    else:
        for name in positive:
            if name not in _PARTS:
                raise UnknownName.among("part of `positive`", name, _PARTS)
        arguments = {f"positive_{name}": labels for name, labels in positive.items()}
    try:
        return read_labels(columns, **arguments)
    except InvalidInput as error:
        # Here, positive labels of one column are a part of `positive`.
        message = str(error.args[0])
        for name in _PARTS:
            message = message.replace(f"`positive_{name}=`", f"`positive['{name}']`")
            message = message.replace(f"`positive_{name}`", f"`positive['{name}']`")
        raise InvalidInput(message, argument=error.argument) from None
