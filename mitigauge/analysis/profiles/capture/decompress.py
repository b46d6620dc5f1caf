"""Pieces of a file that may be compressed, within limits on what it unpacks to."""

from __future__ import annotations

import gzip
import io
import zlib
from collections.abc import Callable, Iterator
from typing import BinaryIO

import zstandard

from mitigauge.core.errors import InvalidInput

# Small enough for a processor's cache, where a piece is gone through several times.
PIECE = 256 << 10
GZIP, ZSTD = b"\x1f\x8b", b"\x28\xb5\x2f\xfd"
# perf's text shrinks by 20 to 60 times; a file of zeros by thousands.
HIGHEST_RATIO = 500
UNSUSPICIOUS = 64 << 20
# Of a file that a user imports; a host's file is allowed less.
LONGEST_TEXT = 8 << 30
# What editors and shells write before a text.
BOM, UTF_16 = b"\xef\xbb\xbf", (b"\xff\xfe", b"\xfe\xff")


class _Counted(io.RawIOBase):
    """A stream that knows how it begins, and how much was read from it."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream
        self.head = self._ahead = self._first(4)
        self.count = len(self.head)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: bytearray | memoryview) -> int:  # type: ignore[override]
        data = self.some(len(buffer))
        buffer[: len(data)] = data
        return len(data)

    def some(self, most: int) -> bytes:
        """At most *most* bytes, as the stream gives them: ``read`` would copy each twice."""
        ahead, self._ahead = self._ahead[:most], self._ahead[most:]
        more = self._stream.read(most - len(ahead))
        self.count += len(more)
        return ahead + more if ahead else more

    def _first(self, size: int) -> bytes:
        """*size* bytes, unless the stream ends sooner: a pipe may give them one by one."""
        head = b""
        while len(head) < size and (more := self._stream.read(size - len(head))):
            head += more
        return head


def pieces(stream: BinaryIO, *, name: str, longest: int = LONGEST_TEXT) -> Iterator[bytes]:
    """The text of *stream*, plain, gzip or zstd, at most a few MiB at a time.

    A byte order mark before it is left out, and all ends of lines are made alike. Plain text is
    given as soon as it arrives, so that the program at the other end of a pipe does not wait.

    Raises :class:`InvalidInput` for damaged data, and for more than *longest* bytes or a
    compression that no capture has.
    """
    return _lines_alike(_unpacked(stream, name=name, longest=longest), name)


def _lines_alike(packed: Iterator[bytes], name: str) -> Iterator[bytes]:
    """Pieces of text, each line of which ends with a line feed alone.

    A carriage return alone ends a line too, also where other lines end otherwise: files are put
    together of several.
    """
    head, held = b"", b""
    for piece in packed:
        if len(head) < len(BOM):
            # A pipe may give the bytes of a mark one by one.
            head = held = head + piece
            if len(head) < len(BOM):
                continue
            if head.startswith(UTF_16):
                raise InvalidInput(
                    f"{name} is UTF-16 text", hint="Save it as UTF-8. Nothing was stored."
                )
            piece, held = head.removeprefix(BOM), b""  # noqa: PLW2901
        text = held + piece
        # The line feed of a carriage return may come with the next piece.
        held = b"\r" if text.endswith(b"\r") else b""
        text = text.removesuffix(held).replace(b"\r\n", b"\n").replace(b"\r", b"\n")
        if text:
            yield text
    if held:
        yield held.replace(b"\r", b"\n")


def _unpacked(stream: BinaryIO, *, name: str, longest: int) -> Iterator[bytes]:
    raw = _Counted(stream)
    text = 0
    read = _reader(raw)
    while True:
        try:
            piece = read(PIECE)
        except (EOFError, gzip.BadGzipFile, zlib.error, zstandard.ZstdError) as error:
            raise InvalidInput(
                f"{name} is damaged: {error}", hint="Copy it again. Nothing was stored."
            ) from error
        if not piece:
            return
        text += len(piece)
        if text > longest or text > max(UNSUSPICIOUS, HIGHEST_RATIO * raw.count):
            raise InvalidInput(
                f"{name} unpacks to more than {text >> 20} MiB from {raw.count >> 10} KiB",
                hint="This is no capture. Nothing was stored.",
            )
        yield piece


def _reader(raw: _Counted) -> Callable[[int], bytes | None]:
    """The function that reads at most a given number of bytes of text."""
    packed = io.BufferedReader(raw, buffer_size=1 << 20)
    if raw.head.startswith(GZIP):
        return gzip.GzipFile(fileobj=packed).read
    if raw.head == ZSTD:
        return zstandard.ZstdDecompressor().stream_reader(packed, read_across_frames=True).read
    return raw.some
