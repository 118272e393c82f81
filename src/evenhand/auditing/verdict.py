"""The verdicts, each with its rank, meaning, mark and colour; reports and documentation read them here."""

from __future__ import annotations

from enum import StrEnum
from typing import Any

# Colours on a light background, and the same on a dark one.
_DARK = {
    "#D55E00": "#ff8c42",
    "#0072B2": "#6db8ff",
    "#9A4A80": "#e08cc4",
    "#009E73": "#4fd1a5",
    "#666666": "#a0a0a0",
    "#000000": "#f0f0f0",
}
_RED, _BLUE, _PURPLE, _GREEN, _GREY, _BLACK = _DARK


class Verdict(StrEnum):
    """The verdict on a group's score compared with the reference's.

    Attributes
    ----------
    rank : int
        The order in which rows are shown, most important first.
    meaning : str
        One sentence, with ``{margin}`` and ``{alpha}`` to be filled in.
    of_change : str
        The same where models are compared, and the verdict is on the change of a gap.
    marker, path : str
        The mark in Matplotlib, and as an SVG path.
    colour : str
        The colour on a light background; no meaning is carried by colour alone.
    filled : bool
        Whether the mark is filled; hollow marks make no claim.
    sign : str
        The mark as a character.

    Examples
    --------
    >>> [verdict.value for verdict in Verdict]
    ['higher', 'lower', 'unlike', 'undefined', 'inconclusive', 'not tested', 'equivalent', 'reference']
    """

    rank: int
    sign: str
    marker: str
    path: str
    colour: str
    filled: bool
    meaning: str
    of_change: str

    def __new__(cls, value: str, *details: Any) -> Verdict:
        """Create a member whose value is its words, with the rest as attributes."""
        member = str.__new__(cls, value)
        member._value_ = value
        names = ("rank", "sign", "marker", "path", "colour", "filled", "meaning", "of_change")
        # Only some verdicts mean something else of a change.
        for name, detail in zip(names, (*details, *details[-1:]), strict=False):
            setattr(member, name, detail)
        return member

    HIGHER = (
        *("higher", 0, "▲", "^", "M0,-6L6,5H-6Z", _RED, True),
        "the score is higher than the reference's (adjusted p at most {alpha:g})",
        "the group's score moved up relative to the reference's (adjusted p at most {alpha:g})",
    )
    LOWER = (
        *("lower", 0, "▼", "v", "M0,6L6,-5H-6Z", _BLUE, True),
        "the score is lower than the reference's (adjusted p at most {alpha:g})",
        "the group's score moved down relative to the reference's (adjusted p at most {alpha:g})",
    )
    UNLIKE = (
        *("unlike", 0, "≠", "P", "M-6,-3H6M-6,3H6M-3,6L3,-6", _PURPLE, False),
        "the group is not drawn like the reference (adjusted p at most {alpha:g}); no direction is claimed",
    )
    UNDEFINED = (
        *("undefined", 1, "✕", "X", "M-5,-5L5,5M-5,5L5,-5", _GREY, False),
        "there is no score to compare, for the reason given",
    )
    INCONCLUSIVE = (
        *("inconclusive", 2, "□", "s", "M-4.5,-4.5H4.5V4.5H-4.5Z", _GREY, False),
        "no difference was found, and there are too few cases to rule one out",
        "no change of the gap was found, and there are too few cases to rule one out",
    )
    NOT_TESTED = (
        *("not tested", 3, "–", "_", "M-6,0H6", _GREY, False),
        "the reference was chosen by outcomes, so that a test would mislead",
    )
    EQUIVALENT = (
        *("equivalent", 4, "●", "o", "M-5,0a5,5 0 1,0 10,0a5,5 0 1,0 -10,0Z", _GREEN, True),
        "no difference was found, and gaps beyond ±{margin:g} (ratios: 0.8 to 1.25) are ruled out",
        "no change of the gap was found, and changes beyond ±{margin:g} are ruled out",
    )
    REFERENCE = (
        *("reference", 5, "◆", "D", "M0,-6L6,0L0,6L-6,0Z", _BLACK, True),
        "the group that the others are compared with",
    )

    @property
    def differs(self) -> bool:
        """Whether a difference from the reference was found.

        Examples
        --------
        >>> Verdict.HIGHER.differs, Verdict.INCONCLUSIVE.differs
        (True, False)
        """
        return self in (Verdict.HIGHER, Verdict.LOWER, Verdict.UNLIKE)

    @property
    def dark(self) -> str:
        """The colour on a dark background.

        Examples
        --------
        >>> Verdict.EQUIVALENT.dark
        '#4fd1a5'
        """
        return _DARK[self.colour]

    @property
    def css(self) -> str:
        """The name of its CSS class.

        Examples
        --------
        >>> Verdict.INCONCLUSIVE.css
        'v-inconclusive'
        """
        return f"v-{self.replace(' ', '-')}"
