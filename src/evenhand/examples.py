"""The paper's data, as counts with their sources, and the same as rows for trying things out.

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

from .cells import ConfusionMatrix
from .errors import InvalidInput

__all__ = ["compas", "compas_violent", "folktables_income", "rows"]


def compas() -> dict[str, ConfusionMatrix]:
    """COMPAS, general recidivism within two years, by race; two of the six groups have 18 and 32 people.

    Medium and high scores count as predicted positive. Counted from the file of 7,214 people that ProPublica published
    with "Machine Bias" (Angwin, Larson, Mattu and Kirchner, 2016).
    """
    return {
        "African-American": ConfusionMatrix(1369, 532, 805, 990),
        "Asian": ConfusionMatrix(6, 3, 2, 21),
        "Caucasian": ConfusionMatrix(505, 461, 349, 1139),
        "Hispanic": ConfusionMatrix(103, 129, 87, 318),
        "Native American": ConfusionMatrix(9, 1, 3, 5),
        "Other": ConfusionMatrix(43, 90, 36, 208),
    }


def compas_violent() -> dict[str, ConfusionMatrix]:
    """COMPAS, violent recidivism: the tables that the paper uses, as ProPublica published them.

    "Other" is what remains of all 6,454 defendants; the paper's tables name only Black, White and all.
    """
    black, white = ConfusionMatrix(273, 170, 1043, 1692), ConfusionMatrix(77, 129, 380, 1679)
    return {"Black": black, "White": white, "Other": ConfusionMatrix(389, 347, 1597, 4121) - black - white}


def folktables_income() -> dict[str, ConfusionMatrix]:
    """Folktables income: does a person earn more than $50,000, predicted by a random forest, by race.

    American Community Survey 2017, California; the matrices are those of the paper's experiments.
    """
    return {
        "AI and AN": ConfusionMatrix(13, 26, 31, 275),
        "Amer. Indian": ConfusionMatrix(82, 113, 149, 810),
        "Asian": ConfusionMatrix(4679, 2817, 3624, 13928),
        "Black": ConfusionMatrix(755, 730, 1028, 5574),
        "Multiracial": ConfusionMatrix(757, 609, 724, 3866),
        "Other": ConfusionMatrix(746, 930, 1700, 14713),
        "Pacific Islander": ConfusionMatrix(40, 31, 74, 341),
        "White": ConfusionMatrix(19246, 10933, 12741, 54347),
    }


def rows(groups: Mapping[str, ConfusionMatrix]) -> dict[str, np.ndarray[Any, Any]]:
    """One row a person, made from the counts: columns ``group``, ``y_true`` and ``y_pred`` (0 or 1).

    The columns go into any dataframe: ``pandas.DataFrame(rows(compas()))``.

    >>> table = rows({"A": ConfusionMatrix(1, 1, 0, 2)})
    >>> table["group"].tolist(), table["y_true"].tolist(), table["y_pred"].tolist()
    (['A', 'A', 'A', 'A'], [1, 1, 0, 0], [1, 0, 0, 0])
    """
    if not all(cm.is_whole for cm in groups.values()):
        raise InvalidInput("rows are made from whole counts, one for each person")
    names = [name for name, cm in groups.items() for _ in range(int(cm.n))]
    counts = [[int(c) for c in cm.cells] for cm in groups.values()]
    return {
        "group": np.array(names),
        "y_true": np.concatenate([np.repeat([1, 1, 0, 0], c) for c in counts]),
        "y_pred": np.concatenate([np.repeat([1, 0, 1, 0], c) for c in counts]),
    }
