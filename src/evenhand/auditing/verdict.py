"""The verdicts, each with its rank, meaning, mark and colour; reports and documentation read them here."""

from __future__ import annotations

from enum import StrEnum
from typing import Any

_RED, _BLUE, _PURPLE, _GREEN = "#D55E00", "#0072B2", "#9A4A80", "#009E73"
_GREY, _BLACK = "#666666", "#000000"
_MEANINGS = {
    "higher": "the score is higher than the reference's (adjusted p at most {alpha:g})",
    "lower": "the score is lower than the reference's (adjusted p at most {alpha:g})",
    "unlike": "the group is not drawn like the reference (adjusted p at most {alpha:g}); no direction is claimed",
    "better": "the score changed for the better (adjusted p at most {alpha:g})",
    "worse": "the score changed for the worse (adjusted p at most {alpha:g})",
    "undefined": "there is no score to compare, for the reason given",
    "inconclusive": "no difference was found, and there are too few cases to rule one out",
    "not tested": "there is no test, for the reason given, or because the reference was chosen by outcomes",
    "not worse": "no change was found, and one for the worse by more than {margin:g} is ruled out",
    "equivalent": "no difference was found, and gaps beyond ±{margin:g} (ratios: 0.8 to 1.25) are ruled out",
    "reference": "the group that the others are compared with",
    "misses": "the score is worse than the goal (adjusted p at most {alpha:g})",
    "meets": "the score is better than the goal (adjusted p at most {alpha:g})",
}


class Verdict(StrEnum):
    """The verdict on a group's score compared with the reference's.

    Attributes
    ----------
    rank : int
        The order in which rows are shown, most important first.
    sign : str
        The mark as a character.
    marker : str
        The mark in Matplotlib.
    colour : str
        The colour on a light background; no meaning is carried by colour alone.
    filled : bool
        Whether the mark is filled; hollow marks make no claim.

    Examples
    --------
    >>> [verdict.value for verdict in Verdict if verdict.rank == 0]
    ['higher', 'lower', 'unlike', 'better', 'worse', 'misses']
    """

    rank: int
    sign: str
    marker: str
    colour: str
    filled: bool

    def __new__(cls, value: str, *look: Any) -> Verdict:
        """Create a member whose value is its words, with the rest as attributes."""
        member = str.__new__(cls, value)
        member._value_ = value
        member.rank, member.sign, member.marker, member.colour, member.filled = look
        return member

    HIGHER = "higher", 0, "▲", "^", _RED, True
    LOWER = "lower", 0, "▼", "v", _BLUE, True
    UNLIKE = "unlike", 0, "≠", "P", _PURPLE, False
    BETTER = "better", 0, "△", "2", _GREEN, True
    WORSE = "worse", 0, "▽", "1", _RED, True
    UNDEFINED = "undefined", 1, "✕", "X", _GREY, False
    INCONCLUSIVE = "inconclusive", 2, "□", "s", _GREY, False
    NOT_TESTED = "not tested", 3, "–", "_", _GREY, False
    NOT_WORSE = "not worse", 3, "≥", ">", _GREEN, False
    EQUIVALENT = "equivalent", 4, "●", "o", _GREEN, True
    REFERENCE = "reference", 5, "◆", "D", _BLACK, True
    MISSES = "misses", 0, "✗", "x", _RED, False
    MEETS = "meets", 4, "✓", "$\\checkmark$", _GREEN, False

    @property
    def meaning(self) -> str:
        """One sentence, with ``{margin}`` and ``{alpha}`` to be filled in.

        Examples
        --------
        >>> Verdict.REFERENCE.meaning
        'the group that the others are compared with'
        """
        return _MEANINGS[self.value]

    @property
    def differs(self) -> bool:
        """Whether a difference from the reference, or a change, was found.

        Examples
        --------
        >>> Verdict.HIGHER.differs, Verdict.INCONCLUSIVE.differs
        (True, False)
        """
        return self.rank == 0 and self is not Verdict.MISSES
