"""Disclosure control: what may be published of tables with small cells.

The finest table of which every count of an audit is a sum is rounded before anything is computed:
combinations of groups, labels and decisions. So what is published depends on the data only through
the rounded cells and the values that columns have, and no subtraction brings back a count that was
rounded.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import product
from math import prod
from numbers import Integral

import numpy as np

from ..arrays import Floats
from ..errors import InvalidInput, UnknownName, check_cost
from .counted_rows import sort_keys
from .frames import Key

#: What provenance may say of protected data: nothing that changes with the number of cases.
PUBLIC_FACTS = ("kind", "name", "format", "separator", "library")
MAX_CELLS = 1_000_000
_MIN_LEAST, _MAX_LEAST = 3, 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """How counts are rounded.

    Attributes
    ----------
    name : str
        What it is called.
    least : int
        The smallest count that is not small.
    width, start : int
        Larger counts are published by the middle of blocks of this width, which begin here.
    shows_zero : bool
        Whether 0 is published as it is; otherwise it is small, and small counts are published as 0.
    """

    name: str
    least: int
    width: int
    start: int
    shows_zero: bool

    @property
    def small(self) -> int:
        """What small counts are published as."""
        return self.least // 2 if self.shows_zero else 0

    @property
    def sentence(self) -> str:
        """What every output says of it."""
        small = f"{int(self.shows_zero)} to {self.least - 1} as {self.small}"
        return (
            f"Counts were rounded before anything was computed, to protect small groups (rule {self.name}): {small}, "
            f"larger ones in steps of {self.width}. Scores are those of rounded counts, and intervals and verdicts "
            "allow for the rounding. Groups whose counts are all small are not shown."
        )


_RULES = (
    # Centers for Medicare & Medicaid Services, cell size suppression policy, 2017-05-08. No cell of 1
    # to 10 is published or can be derived, left-out cases included; 0 may be shown.
    Rule(name="cms", least=11, width=11, start=11, shows_zero=True),
    # OpenSAFELY, statistical disclosure control, 2025-08. Counts of 7 or fewer are redacted, others
    # are rounded to the nearest 5, and rates come from rounded counts.
    Rule(name="opensafely", least=8, width=5, start=8, shows_zero=False),
    # Office for National Statistics, the 10-5 rule of its census outputs, 2023. Counts below 10 are
    # suppressed, and all others are rounded to the nearest 5.
    Rule(name="ons", least=10, width=5, start=8, shows_zero=False),
)
RULES: dict[str, Rule] = {rule.name: rule for rule in _RULES}
"""The rules by name."""


def rule_of(protect: object) -> Rule | None:
    """The rule that a setting names; None for none.

    >>> rule_of(11).least == rule_of("cms").least
    True
    """
    if protect is None:
        return None
    if isinstance(protect, Integral) and not isinstance(protect, bool | np.timedelta64):
        least = int(protect)
        if _MIN_LEAST <= least <= _MAX_LEAST:
            return Rule(name=str(least), least=least, width=least, start=least, shows_zero=True)
    elif isinstance(protect, str) and not protect.lstrip("-").isdigit():
        if protect not in RULES:
            raise UnknownName.among("rule of protection", protect, RULES)
        return RULES[protect]
    rules = ", ".join(map(repr, RULES))
    numbers = f"a whole number from {_MIN_LEAST} to {_MAX_LEAST:,}"
    must = f"be {rules} or {numbers}, the minimum count that may be shown"
    raise InvalidInput(argument="protect", must=must, got=protect)


def list_keys(keys: Iterable[Key], rule: Rule | None = None) -> tuple[Key, ...]:
    """Keys in a stable order; if a rule hides zeros, every combination of the values in them.

    >>> list_keys([("b", 1), ("a", 2)], RULES["ons"])
    (('a', 1), ('a', 2), ('b', 1), ('b', 2))
    """
    keys = set(keys)
    if rule is not None and not rule.shows_zero:
        values = [set(column) for column in zip(*keys, strict=True)]
        subject = "`protect` rounds every combination of groups; there are {}"
        hint = "choose fewer or coarser group columns"
        check_cost(prod(map(len, values)), MAX_CELLS, subject, hint)
        keys = set(product(*values))
    return tuple(sort_keys(keys))


def round_counts(counts: Floats, rule: Rule) -> tuple[Floats, Floats, Floats]:
    """Round counts by a rule: what is published, and the least and the largest count behind it.

    >>> round_counts(np.array([0.0, 7.0, 25.0]), RULES["cms"])
    (array([ 0.,  5., 27.]), array([ 0.,  1., 22.]), array([ 0., 10., 32.]))
    """
    first = rule.start + (counts - rule.start) // rule.width * rule.width
    is_small = counts < rule.least
    published = np.where(is_small, rule.small, first + rule.width // 2)
    low = np.where(is_small, float(rule.shows_zero), np.maximum(first, rule.least))
    high = np.where(is_small, rule.least - 1.0, first + rule.width - 1)
    if rule.shows_zero:
        published, low, high = (np.where(counts == 0, 0.0, x) for x in (published, low, high))
    return published, low, high
