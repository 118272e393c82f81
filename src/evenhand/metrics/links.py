"""How a score follows from the exact fraction that orders matrices.

Each link takes the numerator and denominator of the fraction and uses only arithmetic and square roots. It works on
arrays of floats and on object arrays of `decimal.Decimal`: distributions evaluate scores in floating point, and resolve
close cases in many digits.
"""

from __future__ import annotations

from typing import Any

import numpy as np

__all__ = ["quotient", "root_share", "signed_root"]


def quotient(above: Any, below: Any) -> Any:
    """``above / below``."""
    return above / below


def signed_root(above: Any, below: Any) -> Any:
    """The square root of ``above / below``, with the sign of ``above``."""
    return np.sign(above) * np.sqrt(np.abs(above) / below)


def root_share(above: Any, below: Any) -> Any:
    """``sqrt(above) / (sqrt(above) + sqrt(below))``."""
    high, low = np.sqrt(above), np.sqrt(below)
    return high / (high + low)
