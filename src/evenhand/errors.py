"""All errors that this library raises on purpose, in one tree.

    EvenhandError
    ├── InvalidInput (ValueError)      an argument has an invalid value
    │   └── UnknownName                a name is not known; the message suggests similar ones
    ├── TooLarge (ValueError)          an exact answer would exceed a limit; the message says what to do instead
    ├── MissingExtra (ImportError)     an optional dependency is not installed; the message names the extra
    └── GateFailed (AssertionError)    a gate failed or could not be evaluated; a line per gate and finding

A message is one sentence that names the argument, what it must be, what it is, and the way out. Where it is written,
arguments stand in backquotes, with a ``=`` if they are to be passed. `EvenhandError.spelled` replaces them by the words
of the command or the web app, such as ``--positive`` for ``positive``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

__all__ = ["EvenhandError", "GateFailed", "InvalidInput", "MissingExtra", "TooLarge", "UnknownName"]


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
    return "".join(
        c if c.isprintable() or c in keep else c.encode("unicode_escape").decode("ascii")
        for c in text
    )


def brief(value: object, most: int = 200) -> str:
    """A value as Python writes it, for a message; shortened if it is long, or its type if it takes several lines.

    Parameters
    ----------
    value : object
        Any value.
    most : int
        The largest number of characters.

    Returns
    -------
    str
        Its text, with an ellipsis if it was cut.

    Examples
    --------
    >>> brief("x" * 300, most=10)
    "'xxxxxxxxx…"
    """
    text = repr(value)
    if "\n" in text:
        return f"a {type(value).__name__}"
    return escaped(text if len(text) <= most else f"{text[:most]}…")


def escaped(text: object) -> str:
    r"""A text that comes from data or files, for a message, in which backquotes mark arguments.

    Parameters
    ----------
    text : object
        Anything with a text, such as a path.

    Returns
    -------
    str
        Its text, which the message shows as it is.

    Examples
    --------
    >>> print(InvalidInput(f"`data` must be a file; got {escaped('the `margin`.csv')}"))
    data must be a file; got the `margin`.csv
    """
    return str(text).replace("`", "\\`")


def format_values(values: Iterable[object], most: int = 6) -> str:
    """Format a few values for an error message, sorted by their texts.

    >>> format_values({"b", "a", "c"}, most=2)
    "'a', 'b', …"
    """
    shown = sorted(brief(value, 60) for value in values)
    return ", ".join(shown[:most]) + (", …" if len(shown) > most else "")


_ARGUMENT = re.compile(
    r"(?<!\\)`(?P<argument>[a-z][a-z_]*(?:\['[a-z]+'\])?)(?:=(?P<value>[^`\n]*))?`"
)
_NOTHING = object()


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

    def spelled(self, names: Mapping[str, str]) -> str:
        """The message with other names for arguments.

        Parameters
        ----------
        names : mapping of str to str
            What arguments are called, such as ``--label`` for ``y_true``; others keep their names.

        Returns
        -------
        str
            The message, in which a value that an argument has follows its name: ``margin=0.2`` becomes
            ``--margin 0.2``.

        Examples
        --------
        >>> InvalidInput("pass `y_pred`, or raise `margin=0.2`").spelled({"margin": "--margin"})
        'pass y_pred, or raise --margin 0.2'
        """

        def name(found: re.Match[str]) -> str:
            argument, value = found["argument"], found["value"]
            if argument not in names:
                return found[0].strip("`")
            return f"{names[argument]} {value}" if value else names[argument]

        # Names of files, columns and groups must not steer the terminal that a message is printed on.
        return printable(_ARGUMENT.sub(name, super().__str__()).replace("\\`", "`"))

    def __str__(self) -> str:
        return self.spelled({})


class InvalidInput(EvenhandError, ValueError):
    """Raised when an argument, a file or a column has an invalid value.

    It is also a ``ValueError``.

    Parameters
    ----------
    message : str
        The whole message, if it is not made of the parts below.
    argument, must, got, hint : str, str, object, str
        The argument, what it must do or be, its value, and the way out: "``argument`` must ``must``; got ``got``;
        ``hint``".

    Attributes
    ----------
    argument : str or None
        The argument that is invalid, if it is a single one.

    Examples
    --------
    >>> from evenhand import ConfusionMatrix
    >>> ConfusionMatrix(tp=-1, fn=0, fp=0, tn=0)
    Traceback (most recent call last):
    evenhand.errors.InvalidInput: tp must not be negative; got -1
    >>> error = InvalidInput(argument="margin", must="be a number above 0", got=-1)
    >>> str(error), error.spelled({"margin": "--margin"})
    ('margin must be a number above 0; got -1', '--margin must be a number above 0; got -1')
    """

    argument: str | None

    def __init__(
        self,
        message: str = "",
        *,
        argument: str | None = None,
        must: str = "",
        got: object = _NOTHING,
        hint: str = "",
    ) -> None:
        value = "" if got is _NOTHING else f"got {brief(got)}"
        parts = filter(None, (f"`{argument}` must {must}", value, hint))
        super().__init__(message or "; ".join(parts))
        self.argument = argument


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
    def among(
        cls,
        what: str,
        name: object,
        known: Iterable[str],
        see: str = "",
        argument: str | None = None,
    ) -> UnknownName:
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
        argument : str, optional
            The argument, if ``what`` is its name.

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
        hint = see or escaped(f"known: {', '.join(choices)}")
        if near:
            hint = f"did you mean {' or '.join(map(brief, near))}?"
        called = what if argument is None else what.replace(argument, f"`{argument}`")
        return cls(f"no {called} is called {brief(shown)}; {hint}", argument=argument)


class TooLarge(EvenhandError, ValueError):
    """Raised when an exact answer would need more time or memory than the library allows.

    Nothing approximate is returned instead. It is also a ``ValueError``.

    Examples
    --------
    >>> from evenhand import enumerate_matrices
    >>> enumerate_matrices(10_000)
    Traceback (most recent call last):
    evenhand.errors.TooLarge: a list of the matrices of n = 10,000 cases has 166,766,685,001 rows, more than ...
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


class GateFailed(EvenhandError, AssertionError):
    """Raised by `Audit.check` when a gate failed or could not be evaluated.

    It is also an ``AssertionError``, so that a test fails.

    Parameters
    ----------
    lines : iterable of str
        A sentence per gate, and the findings that made it fail.
    results : sequence of GateResult
        The results of all gates.

    Attributes
    ----------
    results : tuple of GateResult
        The results of all gates, also of those that passed.

    Examples
    --------
    >>> from evenhand import audit_counts
    >>> a = audit_counts({"A": (3, 1, 1, 3), "B": (30, 10, 12, 48)}, metrics="tpr")
    >>> a.check("four-fifths")
    Traceback (most recent call last):
    evenhand.errors.GateFailed: gate four-fifths: could not be evaluated: it needs favourable
    """

    def __init__(self, lines: Iterable[str], results: Iterable[Any] = ()) -> None:
        self.lines, self.results = tuple(lines), tuple(results)
        super().__init__(self.lines, self.results)

    def spelled(self, names: Mapping[str, str]) -> str:
        """The lines with other names for arguments."""
        return "\n".join(EvenhandError(line).spelled(names) for line in self.lines)


def check_cost(cost: float, limit: int, subject: str, hint: str) -> None:
    """Raise an error if a computation would exceed its limit; ``{}`` stands for the cost.

    >>> check_cost(9, 4, "a list of n = 3 cases has {} rows", "take fewer")
    Traceback (most recent call last):
        ...
    evenhand.errors.TooLarge: a list of n = 3 cases has 9 rows, more than the limit of 4; take fewer
    """
    if cost > limit:
        text = subject.format(f"{cost:,.0f}")
        raise TooLarge(f"{text}, more than the limit of {limit:,}; {hint}")
