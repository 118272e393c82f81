"""The paper's claims that can be checked with numbers.

``claims.toml`` says what the paper states, where, and how the numbers are shown. A function of the claim's name, or the
one named as its ``check``, computes the numbers and decides.
"""

from __future__ import annotations

import tomllib
from importlib.resources import files
from typing import Any

from . import counting, match, smoothing
from .claim import CheckedClaim as CheckedClaim, Claim, Verdict as Verdict, check_claim as check_claim

_CHECKS = vars(counting) | vars(match) | vars(smoothing)
_RECORDS = tomllib.loads(files(__name__).joinpath("claims.toml").read_text("utf-8"))


def _read_claim(name: str, record: dict[str, Any]) -> Claim:
    check = _CHECKS[record.pop("check", name)]
    return Claim(name, check=check, arguments=record.pop("arguments", {}), **record)


CLAIMS = tuple(_read_claim(name, record) for name, record in _RECORDS.items())
