"""Products of cells without rounding, and the sum of gcds that counts proportional matrices."""

from __future__ import annotations

from math import gcd
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import TooLarge

__all__ = ["determinant", "proportional_matrices", "sum_of_gcds"]

_SPLITTER = 2.0**27 + 1
_LARGEST_FACTORED = 10**24
_PLAIN_BELOW = 2**26


def determinant(tp: Any, fn: Any, fp: Any, tn: Any, *, exact: bool = True) -> Any:
    """``tp*tn - fp*fn``, without cancellation.

    For integers the result is an integer. For floats both products are split into a rounded value and its error
    (Dekker's product), so counts up to 2**53 lose nothing to cancellation. With ``exact=False``, cells below 2**26 are
    multiplied directly; if they are whole, their products are exact anyway.

    Examples
    --------
    >>> determinant(10**12, 10**12 + 1, 10**12 - 1, 10**12)
    1
    >>> determinant(1e12, 1e12 + 1, 1e12 - 1, 1e12)
    1.0
    """
    cells = (tp, fn, fp, tn)
    if not any(isinstance(x, (float, np.floating)) or _is_float(x) for x in cells):
        return tp * tn - fp * fn
    if not exact and all(np.max(x, initial=0.0) < _PLAIN_BELOW for x in cells):
        return tp * tn - fp * fn
    (high, low), (other_high, other_low) = _product(tp, tn), _product(fp, fn)
    return (high - other_high) + (low - other_low)


def _is_float(x: Any) -> bool:
    return isinstance(x, np.ndarray) and x.dtype.kind == "f"


def _product(a: Any, b: Any) -> tuple[Any, Any]:
    product = a * b
    (a1, a2), (b1, b2) = _halves(a), _halves(b)
    return product, a2 * b2 - (((product - a1 * b1) - a2 * b1) - a1 * b2)


def _halves(a: Any) -> tuple[Any, Any]:
    scaled = _SPLITTER * a
    high = scaled - (scaled - a)
    return high, a - high


def sum_of_gcds(n: int) -> int:
    """Pillai's function: the sum of gcd(k, n) over k = 1..n.

    It is multiplicative, with ``p**(a-1) * ((a+1)*p - a)`` at a prime power, and is computed from a factorisation.

    Examples
    --------
    gcd(k, 6) for k = 1..6 is 1, 2, 3, 2, 1, 6:

    >>> sum_of_gcds(6)
    15
    >>> sum_of_gcds(10**12)
    74200000000000
    """
    if n > _LARGEST_FACTORED:
        raise TooLarge(f"the sum of gcds needs the prime factors of n, so n must be at most 1e24; got {n:.3g}")
    total = 1
    for p, a in _factors(n).items():
        total *= p ** (a - 1) * ((a + 1) * p - a)
    return total


def _factors(n: int) -> dict[int, int]:
    """The prime factorisation of ``n``, as a dict of prime to exponent."""
    exponents: dict[int, int] = {}
    waiting = [n]
    while waiting:
        m = waiting.pop()
        if m == 1:
            continue
        divisor = next((p for p in _SMALL_PRIMES if m % p == 0), None)
        if divisor is None and not _is_prime(m):
            divisor = _divisor(m)
        if divisor is None or divisor == m:
            exponents[m] = exponents.get(m, 0) + 1
        else:
            waiting += [divisor, m // divisor]
    return exponents


_SMALL_PRIMES = tuple(p for p in range(2, 200) if all(p % q for q in range(2, p)))


def _is_prime(m: int) -> bool:
    """Miller-Rabin test for odd ``m`` without small factors; certain below 3.3e24."""
    odd, twos = m - 1, 0
    while odd % 2 == 0:
        odd, twos = odd // 2, twos + 1
    return not any(_is_witness(base, m, odd, twos) for base in _SMALL_PRIMES[:13])


def _is_witness(base: int, m: int, odd: int, twos: int) -> bool:
    x = pow(base, odd, m)
    if x in (1, m - 1):
        return False
    for _ in range(twos - 1):
        x = x * x % m
        if x == m - 1:
            return False
    return True


def _divisor(m: int) -> int:
    """A proper divisor of a composite ``m``, by Pollard's rho."""
    step = 1
    while True:
        slow = fast = 2
        divisor = 1
        while divisor == 1:
            slow = (slow * slow + step) % m
            fast = (fast * fast + step) % m
            fast = (fast * fast + step) % m
            divisor = gcd(slow - fast, m)
        if divisor != m:
            return divisor
        step += 1


def proportional_matrices(n: int) -> NDArray[np.int64]:
    """All matrices of ``n`` cases with no empty cell and TPR = FPR, one per row, by number of actual positives.

    With k actual positives and g = gcd(k, n), the rates can only be j/g for j = 1..g-1.

    Examples
    --------
    >>> proportional_matrices(4)
    array([[1, 1, 1, 1]])
    """
    k = np.arange(1, n, dtype=np.int64)
    g = np.gcd(k, n)
    k, g = np.repeat(k, g - 1), np.repeat(g, g - 1)
    first = np.flatnonzero(np.r_[True, k[1:] != k[:-1]]) if len(k) else np.empty(0, np.int64)
    j = np.arange(len(k)) - np.repeat(first, np.diff(np.r_[first, len(k)])) + 1
    tp, fp = k // g * j, (n - k) // g * j
    return np.stack([tp, k - tp, fp, n - k - fp], axis=1)
