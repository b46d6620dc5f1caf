"""The GNU build id of a bootable kernel image, read as a stream: nothing is held whole. Pure.

Header of the image: Documentation/arch/x86/boot.rst (payload_offset, payload_length, setup_sects).
"""

from __future__ import annotations

import lzma
import struct
import zlib
from typing import IO, Protocol

import zstandard

from mitigauge.core.errors import InvalidInput

# Of what an image unpacks to, as far as it is read: some 60 MiB in a distribution's.
LARGEST_VMLINUX = 1 << 30
# What is kept of the file's begin: its tables lie there.
HEAD = 64 << 10
LONGEST_NOTES = 64 << 10
PIECE = 1 << 20
# At a time, so that what it unpacks to is bounded: four bytes of zstd may be 128 KiB.
FED = 256
_SECTOR = 512
_PT_NOTE = 4
_NT_GNU_BUILD_ID = 3
# What the kernel's own packing takes (zstd -22 --ultra): the decoder would reserve any window.
LARGEST_WINDOW = 128 << 20


def build_id_of_image(image: IO[bytes]) -> str:
    """Hex digits of the build id in a bzImage. Raises InvalidInput where it has none."""
    try:
        notes = _notes(_unpacked(image))
    except (zlib.error, lzma.LZMAError, zstandard.ZstdError, EOFError) as error:
        raise InvalidInput(f"the kernel image cannot be unpacked: {error}") from error
    at = 0
    while at + 12 <= len(notes):
        name_size, size, kind = struct.unpack_from("<III", notes, at)
        name_at = at + 12
        content = name_at + (name_size + 3) // 4 * 4
        if kind == _NT_GNU_BUILD_ID and notes[name_at : name_at + name_size] == b"GNU\0":
            return notes[content : content + size].hex()
        at = content + (size + 3) // 4 * 4
    raise InvalidInput("the kernel image has no build id", hint="Link it with --build-id.")


class _Unpacked:
    """What a packed part of a stream holds; what follows its end in that part is let lie."""

    def __init__(self, stream: IO[bytes], size: int) -> None:
        self._stream, self._left = stream, size
        head = self._packed(PIECE)
        self._packer = _packer(head)
        self._ready = self._packer.decompress(head[:FED])
        self._fed = head[FED:]

    def read(self, size: int) -> bytes:
        """At most *size* bytes; none at the end."""
        while not self._ready and not self._packer.eof:
            fed = self._fed or self._packed(PIECE)
            if not fed:
                raise EOFError("it is cut off")
            self._ready, self._fed = self._packer.decompress(fed[:FED]), fed[FED:]
        found, self._ready = self._ready[:size], self._ready[size:]
        return found

    def _packed(self, size: int) -> bytes:
        data = self._stream.read(min(size, self._left))
        self._left -= len(data)
        return data


class _Packer(Protocol):
    @property
    def eof(self) -> bool: ...

    def decompress(self, data: bytes) -> bytes: ...


def _packer(head: bytes) -> _Packer:
    """What unpacks a part that begins so."""
    if head.startswith(b"\x1f\x8b"):
        return zlib.decompressobj(wbits=31)
    if head.startswith(b"\xfd7zXZ"):
        return lzma.LZMADecompressor(memlimit=LARGEST_WINDOW + (1 << 20))
    if head.startswith(b"\x28\xb5\x2f\xfd"):
        return zstandard.ZstdDecompressor(max_window_size=LARGEST_WINDOW).decompressobj()
    raise InvalidInput(
        "the kernel image is packed in a way that is not known",
        hint="gzip, xz and zstd are (CONFIG_KERNEL_…).",
    )


def _unpacked(image: IO[bytes]) -> _Unpacked:
    """The kernel of a bzImage, which is unpacked as it is read."""
    head = image.read(0x250)
    if len(head) < 0x250 or head[0x202:0x206] != b"HdrS":
        raise InvalidInput("no x86 kernel image (bzImage)", hint="Give a package of such a kernel.")
    sectors = head[0x1F1] or 4
    offset, length = struct.unpack_from("<II", head, 0x248)
    _skip(image, (sectors + 1) * _SECTOR + offset - len(head))
    return _Unpacked(image, length)


def _skip(stream: IO[bytes] | _Unpacked, size: int) -> None:
    if not 0 <= size <= LARGEST_VMLINUX:
        raise InvalidInput("the kernel image says that a part of it lies where none can be")
    while size > 0:
        piece = stream.read(min(PIECE, size))
        if not piece:
            raise InvalidInput("the kernel image is cut off")
        size -= len(piece)


def _notes(elf: _Unpacked) -> bytes:
    """The notes of a 64-bit ELF file."""
    head = _read(elf, HEAD)
    if head[:5] != b"\x7fELF\x02" or len(head) < 64:
        raise InvalidInput("the kernel image holds no 64-bit ELF file")
    table, size, count = struct.unpack_from("<Q", head, 32)[0], *struct.unpack_from("<HH", head, 54)
    for index in range(count):
        at = table + index * size
        if at + 56 > len(head):
            break
        kind, _flags, offset, _v, _p, length = struct.unpack_from("<IIQQQQ", head, at)
        if kind == _PT_NOTE:
            return _at(elf, head, offset, min(length, LONGEST_NOTES))
    raise InvalidInput("the kernel image has no notes", hint="Link it with --build-id.")


def _at(stream: _Unpacked, head: bytes, offset: int, length: int) -> bytes:
    """Bytes of a stream of which *head* was read already."""
    if offset >= len(head):
        _skip(stream, offset - len(head))
        return _read(stream, length)
    found = head[offset : offset + length]
    return found + _read(stream, length - len(found))


def _read(stream: _Unpacked, size: int) -> bytes:
    """*size* bytes, fewer only at the end."""
    found = b""
    while len(found) < size and (piece := stream.read(size - len(found))):
        found += piece
    return found
