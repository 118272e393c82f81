"""Separators, quotes and line ends of a text, found in blocks of bytes.

A byte is inside quotes if the number of quotes up to it is odd, and that number is wanted for every byte: 64 bytes at
a time, by shifts of the bits that mark quotes. It says where values are quoted as long as every quote that opens stands
at the beginning of a value, and every quote that closes at its end. ``""`` closes and opens again.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["ByteScan"]

Bits = NDArray[np.uint64]

_BOM = b"\xef\xbb\xbf"
_QUOTE, _RETURN, _NEWLINE = b'"\r\n'


class ByteScan:
    r"""What has been seen of a text so far.

    Attributes
    ----------
    separators : int
        How many separators there are, without those inside quotes.
    regular : bool
        Whether quotes are at the beginning and at the end of values, and doubled inside.
    lone_return : bool
        Whether a CR is not followed by LF.
    inside : bool
        Whether the text seen so far ends inside quotes.
    last : bytes
        Its last byte.

    >>> scan = ByteScan(b",")
    >>> scan.add(b'name,"a, ""b""')
    >>> scan.inside, scan.regular, scan.separators
    (True, True, 1)
    >>> scan.add(b'",c"d"\n')
    >>> scan.inside, scan.regular, scan.separators
    (False, False, 2)
    """

    __slots__ = ("inside", "last", "lone_return", "regular", "separators", "sign")

    def __init__(self, sign: bytes) -> None:
        self.sign = sign[0]
        self.separators, self.regular, self.lone_return = 0, True, False
        self.inside, self.last = False, b""

    def add(self, block: bytes) -> None:
        """Read on."""
        if not self.last:
            block = block.removeprefix(_BOM)
        if not block:
            return
        text = np.frombuffer(block, dtype=np.uint8)
        self._look_at_returns(block, text)
        if b'"' in block or self.last == b'"':
            self._look_at_quotes(text)
        elif not self.inside:
            self.separators += int(np.count_nonzero(text == self.sign))
        self.last = block[-1:]

    def _look_at_returns(self, block: bytes, text: NDArray[np.uint8]) -> None:
        if self.last == b"\r" and block[:1] != b"\n":
            self.lone_return = True
        elif b"\r" in block:
            self.lone_return |= bool(((text[:-1] == _RETURN) > (text[1:] == _NEWLINE)).any())

    def _look_at_quotes(self, text: NDArray[np.uint8]) -> None:
        quotes, separators, ends = (_marked(text == sign) for sign in (_QUOTE, self.sign, _NEWLINE))
        inside = _odd_so_far(quotes, self.inside)
        before = separators | ends | quotes
        opening = quotes & inside & ~_one_later(before, self.last in (b"", b"\n", b'"', bytes([self.sign])))
        after = before | _marked(text == _RETURN)
        after[-1] |= _beyond(len(text))
        closing = _one_later(quotes & ~inside, self.last == b'"' and not self.inside) & ~after
        self.regular &= not (opening.any() or closing.any())
        self.separators += int(np.count_nonzero(np.unpackbits((separators & ~inside).view(np.uint8))))
        self.inside = bool(inside[-1] >> np.uint64(63))


def _marked(where: NDArray[np.bool_]) -> Bits:
    """One bit for each byte, the first byte in the lowest bit."""
    bits = np.zeros(-(-len(where) // 64) * 8, dtype=np.uint8)
    bits[: -(-len(where) // 8)] = np.packbits(where, bitorder="little")
    found: Bits = bits.view("<u8")
    return found


def _odd_so_far(bits: Bits, odd: Any) -> Bits:
    """Whether the number of bits up to each is odd, with ``odd`` of them before the first."""
    found = bits.copy()
    for by in (1, 2, 4, 8, 16, 32):
        found ^= found << np.uint64(by)
    odd_before = np.bitwise_xor.accumulate(np.append(np.uint64(odd), found[:-1] >> np.uint64(63)))
    return found ^ -odd_before


def _one_later(bits: Bits, first: Any) -> Bits:
    """Each bit at the place of the next."""
    found = bits << np.uint64(1)
    found[1:] |= bits[:-1] >> np.uint64(63)
    found[0] |= np.uint64(first)
    return found


def _beyond(many: int) -> np.uint64:
    """The bits of the last 64 bytes that are beyond the text."""
    return np.uint64((1 << 64) - (1 << (many - 1) % 64 + 1))
