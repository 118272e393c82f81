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
_EARNED = ("earned more than $50,000", "earned at most $50,000")
_PREDICTED = ("were predicted to earn more than $50,000", "were predicted to earn at most $50,000")
_INCOMES = {"cases": "people", "outcome": _EARNED, "decision": _PREDICTED}
_VIOLENCE = _CHARGES | {"outcome": "charged with violence"}
WORDS: dict[str, dict[str, Any]] = {
    "compas": {"favourable": "negative", "wording": _CHARGES},
    "compas_violent": {"favourable": "negative", "wording": _VIOLENCE},
    "folktables_income": {"favourable": "positive", "wording": _INCOMES},
}
"""The settings of an audit of each example: what is favourable, and what to call things."""


def _matrices(counts: dict[str, tuple[int, int, int, int]]) -> dict[str, ConfusionMatrix]:
    return {name: ConfusionMatrix.from_array(cells) for name, cells in counts.items()}


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
    return _matrices(
        {
            "African-American": (1369, 532, 805, 990),
            "Asian": (6, 3, 2, 21),
            "Caucasian": (505, 461, 349, 1139),
            "Hispanic": (103, 129, 87, 318),
            "Native American": (9, 1, 3, 5),
            "Other": (43, 90, 36, 208),
        }
    )


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
    black, white = (273, 170, 1043, 1692), (77, 129, 380, 1679)
    return _matrices({"Black": black, "White": white, "Other": (39, 48, 174, 750)})


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
    return _matrices(
        {
            "AI and AN": (13, 26, 31, 275),
            "Amer. Indian": (82, 113, 149, 810),
            "Asian": (4679, 2817, 3624, 13928),
            "Black": (755, 730, 1028, 5574),
            "Multiracial": (757, 609, 724, 3866),
            "Other": (746, 930, 1700, 14713),
            "Pacific Islander": (40, 31, 74, 341),
            "White": (19246, 10933, 12741, 54347),
        }
    )


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
