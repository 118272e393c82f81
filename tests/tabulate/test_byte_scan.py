"""Blocks of bytes are scanned as one byte after the other would be."""

from __future__ import annotations

import random
import re
from typing import Any

import pytest

from evenhand.tabulate.byte_scan import ByteScan


def one_by_one(text: bytes, sign: int) -> tuple[Any, ...]:
    """Separators outside quotes, and whether quotes are regular, a CR stands alone, and the end is inside quotes."""
    inside, regular, separators = False, True, 0
    text = text.removeprefix(b"\xef\xbb\xbf")
    for i, byte in enumerate(text):
        before, after = text[i - 1 : i] if i else b"", text[i + 1 : i + 2]
        if byte == ord('"'):
            inside = not inside
            allowed = (b"", b"\n", b'"', bytes([sign])) + (() if inside else (b"\r",))
            regular &= (before if inside else after) in allowed
        separators += byte == sign and not inside
    return separators, regular, re.search(rb"\r[^\n]", text) is not None, inside


@pytest.mark.parametrize("seed", range(300))
def test_blocks_of_any_size_tell_what_single_bytes_tell(seed: int) -> None:
    rng = random.Random(seed)
    quotes = rng.choice([0, 0, 1, 5])
    pieces = [b"a", b"b" * 30, b" ", b",", b"\n", b"\r\n", b'"", '] + quotes * [b'"', b',"', b'",', b'""']
    text = b"".join(rng.choices([*pieces, b"\r"] if seed % 3 == 0 else pieces, k=rng.choice([1, 5, 60, 300])))
    text = rng.choice([b"", b"\xef\xbb\xbf"]) + text
    scan, at = ByteScan(b","), 0
    while at < len(text):
        size = rng.choice([3, 7, 64, 65, 200])
        scan.add(text[at : at + size])
        at += size
    assert (scan.separators, scan.regular, scan.lone_return, scan.inside) == one_by_one(text, ord(","))
    assert scan.last == text[-1:]
