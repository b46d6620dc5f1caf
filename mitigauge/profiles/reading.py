"""Pieces of a file that may be compressed, with limits that no file talks us out of."""

from __future__ import annotations

import gzip
import io
import zlib
from collections.abc import Iterator
from typing import BinaryIO

import zstandard

from mitigauge.errors import InvalidInput

PIECE = 4 << 20
GZIP, ZSTD = b"\x1f\x8b", b"\x28\xb5\x2f\xfd"
# perf's text shrinks by 20 to 60 times; a file of zeros by thousands.
HIGHEST_RATIO = 500
UNSUSPICIOUS = 64 << 20
LONGEST_TEXT = 8 << 30


class _Counted(io.RawIOBase):
    """A stream that knows how much was read from it."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream
        self.count = 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: bytearray | memoryview) -> int:  # type: ignore[override]
        data = self._stream.read(len(buffer))
        buffer[: len(data)] = data
        self.count += len(data)
        return len(data)


def pieces(stream: BinaryIO, *, name: str) -> Iterator[bytes]:
    """The text of *stream*, plain, gzip or zstd, a few MiB at a time.

    Raises :class:`InvalidInput` for damaged data, and for a size or a compression
    that no capture has.
    """
    raw = _Counted(stream)
    packed = io.BufferedReader(raw, buffer_size=1 << 20)
    text = 0
    reader = _unpacked(packed)
    while True:
        try:
            piece = reader.read(PIECE)
        except (EOFError, gzip.BadGzipFile, zlib.error, zstandard.ZstdError) as error:
            raise InvalidInput(
                f"{name} is damaged: {error}", hint="Copy it again. Nothing was stored."
            ) from error
        if not piece:
            return
        text += len(piece)
        if text > LONGEST_TEXT or text > max(UNSUSPICIOUS, HIGHEST_RATIO * raw.count):
            raise InvalidInput(
                f"{name} unpacks to more than {text >> 20} MiB from {raw.count >> 10} KiB",
                hint="This is no capture. Nothing was stored.",
            )
        yield piece


def _unpacked(packed: io.BufferedReader[_Counted]) -> BinaryIO:
    head = packed.peek(4)[:4]
    if head.startswith(GZIP):
        return gzip.GzipFile(fileobj=packed)  # type: ignore[return-value]
    if head == ZSTD:
        return zstandard.ZstdDecompressor().stream_reader(packed, read_across_frames=True)
    return packed
