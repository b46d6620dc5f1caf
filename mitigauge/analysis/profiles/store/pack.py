"""Ascending numbers with counts, in a few bytes each. Pure.

Gaps and counts below 255 take one byte; a larger one is marked by 255 there and
stands in full behind. numpy undoes that without a loop, which a varint does not allow.
"""

from __future__ import annotations

import itertools
import struct
import threading
from typing import Any

import numpy as np
import zstandard
from numpy.typing import NDArray

Longs = NDArray[np.int64]

_HEADER = struct.Struct("<4sII")
_MAGIC = b"MGP1"
_ESCAPE = 255
# Bytes of the largest profile or tree there can be, unpacked.
LARGEST = 1 << 30
_FULL = "<i8"
_local = threading.local()


def packed(numbers: Longs, *columns: Longs) -> bytes:
    """*numbers*, ascending without repeats, and *columns* of counts of the same length."""
    before = np.concatenate([[-1], numbers[:-1]]).astype(np.int64)
    gaps = numbers.astype(np.int64) - before - 1
    parts = [b"".join(escaped(values, _FULL)) for values in (gaps, *columns)]
    lengths = struct.pack(f"<{len(parts)}I", *(len(part) for part in parts))
    body = zstandard.ZstdCompressor(level=12).compress(lengths + b"".join(parts))
    return _HEADER.pack(_MAGIC, len(numbers), len(parts)) + body


def unpacked(data: bytes) -> list[Longs]:
    """The numbers and the columns. Raises ``ValueError`` for what is not ours, or damaged."""
    try:
        magic, size, count = _HEADER.unpack_from(data)
        if magic != _MAGIC:
            raise ValueError("no packed counts")
        body = inflated(data[_HEADER.size :])
        lengths = struct.unpack_from(f"<{count}I", body)
    except struct.error as error:
        raise ValueError(f"damaged counts: {error}") from error
    if count == 0:
        raise ValueError("damaged counts: no numbers")
    ends = np.cumsum((4 * count, *lengths))
    parts = [
        unescaped(body[a : a + size], body[a + size : b], _FULL)
        for a, b in itertools.pairwise(ends)
    ]
    return [np.cumsum(parts[0] + 1) - 1, *parts[1:]]


def inflated(body: bytes | memoryview) -> bytes:
    """One zstd frame of ours. Raises ``ValueError`` for what is none or says it is too large."""
    try:
        size = zstandard.frame_content_size(body)
        if not 0 <= size <= LARGEST:
            raise ValueError(f"a frame of {size} bytes is none of ours")
        return _decompressor().decompress(body)
    except zstandard.ZstdError as error:
        raise ValueError(f"damaged: {error}") from error


def _decompressor() -> zstandard.ZstdDecompressor:
    """This thread's own: making one costs more than a profile, and two threads cannot share it."""
    if not hasattr(_local, "decompressor"):
        _local.decompressor = zstandard.ZstdDecompressor()
    found: zstandard.ZstdDecompressor = _local.decompressor
    return found


def escaped(values: NDArray[Any], full: str) -> tuple[bytes, bytes]:
    """*values*, not negative, a byte each; and those that need more, as *full*."""
    large = values[values >= _ESCAPE].astype(full).tobytes()
    return np.minimum(values, _ESCAPE).astype(np.uint8).tobytes(), large


def unescaped(small: bytes | memoryview, large: bytes | memoryview, full: str) -> NDArray[Any]:
    """What :func:`escaped` was given."""
    in_bytes = np.frombuffer(small, np.uint8)
    values = in_bytes.astype(full)
    values[in_bytes == _ESCAPE] = np.frombuffer(large, full)
    return values
