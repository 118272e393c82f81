"""The data of the paper, as counts with their sources.

`rows` turns counts into a table with one row per person, for trying out functions that read data.

>>> groups = compas()
>>> groups["Native American"]
ConfusionMatrix(tp=9, fn=1, fp=3, tn=5)
>>> sum(groups.values()).n
7214
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .confusion import ConfusionMatrix
from .errors import InvalidInput, brief

__all__ = ["WORDS", "compas", "compas_violent", "folktables_income", "rows"]

_CHARGES = {"cases": "defendants", "outcome": "charged again", "decision": "called risky"}
_INCOMES = {
    "cases": "people",
    "outcome": ("earned more than $50,000", "earned at most $50,000"),
    "decision": (
        "were predicted to earn more than $50,000",
        "were predicted to earn at most $50,000",
    ),
}
WORDS: dict[str, dict[str, Any]] = {
    "compas": {"favourable": "negative", "wording": _CHARGES},
    "compas_violent": {
        "favourable": "negative",
        "wording": _CHARGES | {"outcome": "charged with violence"},
    },
    "folktables_income": {"favourable": "positive", "wording": _INCOMES},
}
"""The settings of an audit of each example: what is favourable, and what to call things."""


def compas() -> dict[str, ConfusionMatrix]:
    """COMPAS scores against general recidivism within two years, by race.

    Medium and high scores count as predicted positive. Two of the six groups are small, with 18 and 32 people.

    Returns
    -------
    dict of str to ConfusionMatrix
        One matrix per race.

    References
    ----------
    Angwin, Larson, Mattu and Kirchner (2016), "Machine Bias", ProPublica. The counts are of the 7,214 people in the
    file that was published with the article.

    Examples
    --------
    >>> {race: cm.n for race, cm in compas().items() if cm.n < 100}
    {'Asian': 32, 'Native American': 18}
    """
    return {
        "African-American": ConfusionMatrix(tp=1369, fn=532, fp=805, tn=990),
        "Asian": ConfusionMatrix(tp=6, fn=3, fp=2, tn=21),
        "Caucasian": ConfusionMatrix(tp=505, fn=461, fp=349, tn=1139),
        "Hispanic": ConfusionMatrix(tp=103, fn=129, fp=87, tn=318),
        "Native American": ConfusionMatrix(tp=9, fn=1, fp=3, tn=5),
        "Other": ConfusionMatrix(tp=43, fn=90, fp=36, tn=208),
    }


def compas_violent() -> dict[str, ConfusionMatrix]:
    """COMPAS scores against violent recidivism, by race, as in the paper.

    Returns
    -------
    dict of str to ConfusionMatrix
        The matrices of Black and White defendants as ProPublica published them. The paper's tables cover these two
        groups and all 6,454 defendants; "Other" is the remainder.

    Examples
    --------
    >>> compas_violent()["White"]
    ConfusionMatrix(tp=77, fn=129, fp=380, tn=1679)
    """
    everybody = ConfusionMatrix(tp=389, fn=347, fp=1597, tn=4121)
    black = ConfusionMatrix(tp=273, fn=170, fp=1043, tn=1692)
    white = ConfusionMatrix(tp=77, fn=129, fp=380, tn=1679)
    return {"Black": black, "White": white, "Other": everybody - black - white}


def folktables_income() -> dict[str, ConfusionMatrix]:
    """Folktables income: predictions by a random forest of who earns more than $50,000, by race.

    The data are from the American Community Survey 2017, California.

    Returns
    -------
    dict of str to ConfusionMatrix
        One matrix per race, as in the experiments of the paper.

    Examples
    --------
    >>> folktables_income()["AI and AN"]
    ConfusionMatrix(tp=13, fn=26, fp=31, tn=275)
    """
    return {
        "AI and AN": ConfusionMatrix(tp=13, fn=26, fp=31, tn=275),
        "Amer. Indian": ConfusionMatrix(tp=82, fn=113, fp=149, tn=810),
        "Asian": ConfusionMatrix(tp=4679, fn=2817, fp=3624, tn=13928),
        "Black": ConfusionMatrix(tp=755, fn=730, fp=1028, tn=5574),
        "Multiracial": ConfusionMatrix(tp=757, fn=609, fp=724, tn=3866),
        "Other": ConfusionMatrix(tp=746, fn=930, fp=1700, tn=14713),
        "Pacific Islander": ConfusionMatrix(tp=40, fn=31, fp=74, tn=341),
        "White": ConfusionMatrix(tp=19246, fn=10933, fp=12741, tn=54347),
    }


def rows(groups: Mapping[str, ConfusionMatrix]) -> dict[str, NDArray[np.str_] | NDArray[np.int64]]:
    """Make a table with one row per person that has the given counts.

    Parameters
    ----------
    groups : mapping of str to ConfusionMatrix
        Whole counts per group.

    Returns
    -------
    dict of str to ndarray
        The columns ``group``, ``y_true`` and ``y_pred`` (0 or 1), which any dataframe library accepts:
        ``pandas.DataFrame(rows(compas()))``.

    Examples
    --------
    >>> table = rows({"A": ConfusionMatrix(tp=1, fn=1, fp=0, tn=2)})
    >>> table["group"].tolist(), table["y_true"].tolist(), table["y_pred"].tolist()
    (['A', 'A', 'A', 'A'], [1, 1, 0, 0], [1, 0, 0, 0])
    """
    if not groups:
        raise InvalidInput("`groups` must contain at least one group; got none")
    for name, cm in groups.items():
        if not cm.is_whole:
            lacks = f"group {brief(name)} has {cm!r}"
            raise InvalidInput(f"`groups` must have whole counts, one per person; {lacks}")
    counts = [list(map(int, cm.cells)) for cm in groups.values()]
    n = len(counts)
    return {
        "group": np.repeat(list(groups), np.sum(counts, axis=1)),
        "y_true": np.repeat([1, 1, 0, 0] * n, np.ravel(counts)),
        "y_pred": np.repeat([1, 0, 1, 0] * n, np.ravel(counts)),
    }
