"""Files as they came, unpacked where they are packed. Pure."""

from __future__ import annotations

import bz2
import lzma
import zlib
from typing import Protocol

MEMORY_BYTES = 100 << 20
# How packed files begin, and what they are called.
_GZIP, _BZIP2, _XZ = b"\x1f\x8b", b"BZh", b"\xfd7zXZ\0"
_OTHERS = {
    b"\x28\xb5\x2f\xfd": "zstd",
    b"PK\x03\x04": "zip",
    b"7z\xbc\xaf\x27\x1c": "7-Zip",
    b"\xff\xfe": "UTF-16",
    b"\xfe\xff": "UTF-16",
}


class NotUnpacked(ValueError):
    """Why a file cannot be unpacked."""


class _Unpacker(Protocol):
    @property
    def eof(self) -> bool: ...
    @property
    def unused_data(self) -> bytes: ...
    def decompress(self, data: bytes, /, max_length: int = ...) -> bytes: ...


def unpacked(content: bytes, longest: int) -> bytes:
    """*content*, or what gzip, bzip2 or xz packed in it. Raises NotUnpacked."""
    for begin, name in _OTHERS.items():
        if content.startswith(begin):
            raise NotUnpacked(f"it is {name}; plain text in UTF-8, gzip, bzip2 and xz are read")
    if not content.startswith((_GZIP, _BZIP2, _XZ)):
        return content
    try:
        return _members(content, longest)
    except (OSError, EOFError, zlib.error, lzma.LZMAError, ValueError) as error:
        if isinstance(error, NotUnpacked):
            raise
        raise NotUnpacked(f"what is packed in it is damaged: {error}") from error


def _members(content: bytes, longest: int) -> bytes:
    """All files that stand behind each other, as gzip's own tool joins them."""
    parts: list[bytes] = []
    room = longest
    while content.startswith((_GZIP, _BZIP2, _XZ)):
        unpacker = _unpacker(content)
        part = unpacker.decompress(content, room + 1)
        room -= len(part)
        if room < 0:
            raise NotUnpacked(f"it holds more than {longest >> 20} MiB")
        if not unpacker.eof:
            raise NotUnpacked("what is packed in it is cut off")
        parts.append(part)
        content = unpacker.unused_data
    if content.strip(b"\0"):
        raise NotUnpacked("something else follows what is packed in it")
    return b"".join(parts)


def _unpacker(content: bytes) -> _Unpacker:
    if content.startswith(_GZIP):
        return zlib.decompressobj(wbits=31)
    if content.startswith(_BZIP2):
        return bz2.BZ2Decompressor()
    return lzma.LZMADecompressor(lzma.FORMAT_XZ, memlimit=MEMORY_BYTES)
