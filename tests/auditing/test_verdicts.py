"""The verdicts: their order, their marks and their words."""

from __future__ import annotations

from evenhand.auditing import Verdict


def test_verdicts_that_differ_come_first() -> None:
    assert [v.value for v in sorted(Verdict, key=lambda v: v.rank)] == [
        *("higher", "lower", "unlike", "undefined", "too few to tell", "not tested", "alike", "reference")
    ]
    assert {v for v in Verdict if v.differs} == {Verdict.HIGHER, Verdict.LOWER, Verdict.UNLIKE}
    assert len({v.rank for v in Verdict if v.differs}) == 1


def test_no_meaning_is_carried_by_colour_alone() -> None:
    for attribute in ("marker", "path", "sign", "css", "meaning"):
        assert len({getattr(v, attribute) for v in Verdict}) == len(Verdict), attribute


def test_only_what_claims_something_is_filled() -> None:
    """Too few to tell, undefined, not tested and unlike, which claims no direction, are hollow."""
    hollow = {v for v in Verdict if not v.filled}
    assert hollow == {Verdict.TOO_FEW, Verdict.UNDEFINED, Verdict.NOT_TESTED, Verdict.UNLIKE}


def test_meanings_are_sentences_with_the_settings_filled_in() -> None:
    for v in Verdict:
        words = v.meaning.format(alpha=0.05, margin=0.1)
        assert "{" not in words and not words.endswith(".") and words[0].islower()
        assert not any(word in words for word in ("biased", "fair", "proves", "surely"))
    assert "0.2" in Verdict.HIGHER.meaning.format(alpha=0.2, margin=0.1)
    assert "±0.3" in Verdict.ALIKE.meaning.format(alpha=0.05, margin=0.3)
    assert "direction" in Verdict.UNLIKE.meaning


def test_verdicts_on_changes_are_about_the_gap() -> None:
    """A model that raises a gap may leave the score lower than the reference's."""
    assert Verdict.HIGHER.of_change.format(alpha=0.05) == (
        "the group's score moved up relative to the reference's (adjusted p at most 0.05)"
    )
    assert Verdict.LOWER.of_change.format(alpha=0.05) == (
        "the group's score moved down relative to the reference's (adjusted p at most 0.05)"
    )
    assert Verdict.ALIKE.of_change.format(margin=0.1) == (
        "no change of the gap was found, and changes beyond ±0.1 are ruled out"
    )
    assert Verdict.UNDEFINED.of_change == Verdict.UNDEFINED.meaning


def test_colours_of_light_and_dark_pages_differ() -> None:
    for v in Verdict:
        assert v.colour.startswith("#") and v.dark.startswith("#") and v.colour != v.dark
