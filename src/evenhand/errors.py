"""All errors that this library raises on purpose, in one tree.

    EvenhandError
    ├── InvalidInput (ValueError)      an argument has an invalid value
    │   └── UnknownName                a name is not known; the message suggests similar ones
    ├── TooLarge (ValueError)          an exact answer would exceed a limit; the message says what to do instead
    └── MissingExtra (ImportError)     an optional dependency is not installed; the message names the extra

A message is one sentence that names the argument, what it must be, what it is, and the way out.
"""

from __future__ import annotations

from collections.abc import Iterable

__all__ = ["EvenhandError", "InvalidInput", "MissingExtra", "TooLarge", "UnknownName", "printable"]


def printable(text: str, keep: str = "") -> str:
    r"""Escape the characters of a text that cannot be printed or would control a terminal.

    Parameters
    ----------
    text : str
        Text that may come from data.
    keep : str
        Characters to leave alone, such as line breaks.

    Returns
    -------
    str
        The text with every such character as a backslash escape.

    Examples
    --------
    >>> print(printable("race\x1b[2J"))
    race\x1b[2J
    """
    return "".join(c if c.isprintable() or c in keep else c.encode("unicode_escape").decode("ascii") for c in text)


class EvenhandError(Exception):
    """The base class of all errors that this library raises on purpose.

    Catch it to handle any of them.

    Examples
    --------
    >>> from evenhand import count_matrices
    >>> try:
    ...     count_matrices(-1)
    ... except EvenhandError as error:
    ...     print(error)
    n must not be negative; got -1
    """

    def __str__(self) -> str:
        # Names of files, columns and groups must not steer the terminal that a traceback is printed on.
        return printable(super().__str__())


class InvalidInput(EvenhandError, ValueError):
    """Raised when an argument, a file or a column has an invalid value.

    It is also a ``ValueError``.

    Examples
    --------
    >>> from evenhand import ConfusionMatrix
    >>> ConfusionMatrix(tp=-1, fn=0, fp=0, tn=0)
    Traceback (most recent call last):
    evenhand.errors.InvalidInput: tp must not be negative; got -1
    """


class UnknownName(InvalidInput):
    """Raised when a metric, a column, a group or an option of that name does not exist.

    The message suggests similar names.

    Examples
    --------
    >>> from evenhand import metric
    >>> metric("recal")
    Traceback (most recent call last):
    evenhand.errors.UnknownName: no metric is called 'recal'; did you mean 'recall'?
    """

    @classmethod
    def among(cls, what: str, name: object, known: Iterable[str], see: str = "") -> UnknownName:
        """Create the error for an unknown name, with suggestions.

        Parameters
        ----------
        what : str
            What the name should refer to, such as ``"metric"``.
        name : object
            The unknown name.
        known : iterable of str
            The names that exist.
        see : str, optional
            What the message says if no known name is similar. By default it lists the known names.

        Returns
        -------
        UnknownName
            The error, to be raised by the caller.

        Examples
        --------
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
    """Raised when an exact answer would need more time or memory than the library allows.

    Nothing approximate is returned instead. It is also a ``ValueError``.

    Examples
    --------
    >>> from evenhand import enumerate_matrices
    >>> enumerate_matrices(10_000)
    Traceback (most recent call last):
    evenhand.errors.TooLarge: enumerating n = 10,000 takes 166,766,685,001 rows, more than the limit of 67,108,864; ...
    """


class MissingExtra(EvenhandError, ImportError):
    """Raised when a feature needs an optional dependency that is not installed.

    The message says what to install. It is also an ``ImportError``.

    Examples
    --------
    >>> raise MissingExtra.named("plots", "plotting")
    Traceback (most recent call last):
    evenhand.errors.MissingExtra: plotting needs the extra 'plots': pip install 'evenhand[plots]'
    """

    @classmethod
    def named(cls, extra: str, purpose: str) -> MissingExtra:
        """Create the error that says which extra to install, and what for.

        Parameters
        ----------
        extra : str
            The name of the extra.
        purpose : str
            What it is needed for, as the subject of the message.

        Returns
        -------
        MissingExtra
            The error, to be raised by the caller.

        Examples
        --------
        >>> str(MissingExtra.named("files", "reading Parquet files"))
        "reading Parquet files needs the extra 'files': pip install 'evenhand[files]'"
        """
        return cls(f"{purpose} needs the extra {extra!r}: pip install 'evenhand[{extra}]'")
