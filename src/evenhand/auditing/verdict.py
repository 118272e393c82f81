"""The verdicts, each with its rank, meaning, mark and colour; views and documentation read them here."""

from __future__ import annotations

from enum import StrEnum

__all__ = ["Verdict"]

_RED, _BLUE, _PURPLE, _GREEN, _GREY, _BLACK = "#D55E00", "#0072B2", "#9A4A80", "#009E73", "#666666", "#000000"
_DARK = {_RED: "#ff8c42", _BLUE: "#6db8ff", _PURPLE: "#e08cc4", _GREEN: "#4fd1a5", _GREY: "#a0a0a0", _BLACK: "#f0f0f0"}


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
    meaning: str
    of_change: str
    marker: str
    path: str
    colour: str
    filled: bool
    sign: str

    def __new__(
        cls,
        words: str,
        rank: int = 0,
        meaning: str = "",
        marker: str = "",
        path: str = "",
        colour: str = "",
        filled: bool = False,
        sign: str = "",
        of_change: str = "",
    ) -> Verdict:
        """Create a member whose value is its words, with the rest as attributes.

        Only the words are needed to look up a member.
        """
        member = str.__new__(cls, words)
        member._value_ = words
        member.rank, member.meaning, member.marker = rank, meaning, marker
        member.of_change = of_change or meaning
        member.path, member.colour, member.filled, member.sign = path, colour, filled, sign
        return member

    HIGHER = (
        *("higher", 0, "the score is higher than the reference's (adjusted p at most {alpha:g})"),
        *("^", "M0,-6L6,5H-6Z", _RED, True, "▲"),
        "the group's score moved up relative to the reference's (adjusted p at most {alpha:g})",
    )
    LOWER = (
        *("lower", 0, "the score is lower than the reference's (adjusted p at most {alpha:g})"),
        *("v", "M0,6L6,-5H-6Z", _BLUE, True, "▼"),
        "the group's score moved down relative to the reference's (adjusted p at most {alpha:g})",
    )
    UNLIKE = (
        *(
            "unlike",
            0,
            "the group is not drawn like the reference (adjusted p at most {alpha:g}); no direction is claimed",
        ),
        *("P", "M-6,-3H6M-6,3H6M-3,6L3,-6", _PURPLE, False, "≠"),
    )
    UNDEFINED = (
        *("undefined", 1, "there is no score to compare, for the reason given"),
        *("X", "M-5,-5L5,5M-5,5L5,-5", _GREY, False, "✕"),
    )
    INCONCLUSIVE = (
        *("inconclusive", 2, "no difference was found, and there are too few cases to rule one out"),
        *("s", "M-4.5,-4.5H4.5V4.5H-4.5Z", _GREY, False, "□"),
        "no change of the gap was found, and there are too few cases to rule one out",
    )
    NOT_TESTED = (
        *("not tested", 3, "the reference was chosen by outcomes, so that a test would mislead"),
        *("_", "M-6,0H6", _GREY, False, "–"),
    )
    EQUIVALENT = (
        *(
            "equivalent",
            4,
            "no difference was found, and gaps beyond ±{margin:g} (ratios: 0.8 to 1.25) are ruled out",
        ),
        *("o", "M-5,0a5,5 0 1,0 10,0a5,5 0 1,0 -10,0Z", _GREEN, True, "●"),
        "no change of the gap was found, and changes beyond ±{margin:g} are ruled out",
    )
    REFERENCE = (
        *("reference", 5, "the group that the others are compared with"),
        *("D", "M0,-6L6,0L0,6L-6,0Z", _BLACK, True, "◆"),
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
