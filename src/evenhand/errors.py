"""Every error this library raises on purpose, in one tree.

    EvenhandError
    ├── InvalidInput (ValueError)      an argument cannot mean what it was given for
    │   └── UnknownName                a name that is not there; the nearest ones are offered
    ├── TooLarge (ValueError)          exact, but past the budget; the message names the way out
    └── MissingExtra (ImportError)     an optional part is not installed; the message names the extra

Messages are one sentence that names the argument, what it must be, what it is and the way out.
"""

from __future__ import annotations

from collections.abc import Iterable

__all__ = ["EvenhandError", "InvalidInput", "MissingExtra", "TooLarge", "UnknownName", "printable"]


def printable(text: str, keep: str = "") -> str:
    """``text`` with what cannot be printed, or would steer a terminal, shown as an escape; ``keep`` is left alone."""
    return "".join(
        c if c.isprintable() or c in keep else c.encode("unicode_escape").decode("ascii") for c in text
    )


class EvenhandError(Exception):
    """The root: catch this to catch everything the library refuses."""


class InvalidInput(EvenhandError, ValueError):
    """An argument cannot mean what it was given for."""


class UnknownName(InvalidInput):
    """A name that is not among those known; the message offers the nearest."""

    @classmethod
    def among(cls, what: str, name: object, known: Iterable[str], see: str = "") -> UnknownName:
        """Build the error for ``name``, offering the nearest of ``known``.

        >>> str(UnknownName.among("metric", "recal", ["recall", "precision"]))
        "no metric is called 'recal'; did you mean 'recall'?"
        """
        from difflib import get_close_matches

        choices = list(known)
        shown = str(name) if len(str(name)) <= 60 else f"{str(name)[:60]}…"
        near = get_close_matches(shown.casefold(), choices, n=3, cutoff=0.6)
        hint = f"did you mean {' or '.join(map(repr, near))}?" if near else see or f"known: {', '.join(choices)}"
        return cls(f"no {what} is called {shown!r}; {hint}")


class TooLarge(EvenhandError, ValueError):
    """The exact answer would cost more than the budget allows; nothing approximate is put in its place."""


class MissingExtra(EvenhandError, ImportError):
    """An optional part of the library is not installed."""

    @classmethod
    def named(cls, extra: str, purpose: str) -> MissingExtra:
        """Build the error that says which extra to install, and for what."""
        return cls(f"{purpose} needs the extra {extra!r}: pip install 'evenhand[{extra}]'")
