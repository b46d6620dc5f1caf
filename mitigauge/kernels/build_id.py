"""The GNU build id of a bootable kernel image. Pure.

Header of the image: Documentation/arch/x86/boot.rst (payload_offset, payload_length, setup_sects).
"""

from __future__ import annotations

import io
import lzma
import struct
import zlib

import zstandard

from mitigauge.errors import InvalidInput

LARGEST_VMLINUX = 1 << 30
_SECTOR = 512
_PT_NOTE = 4
_NT_GNU_BUILD_ID = 3


def build_id_of_image(image: bytes) -> str:
    """Hex digits of the build id in a bzImage. Raises InvalidInput where it has none."""
    notes = _notes(_vmlinux(image))
    at = 0
    while at + 12 <= len(notes):
        name_size, size, kind = struct.unpack_from("<III", notes, at)
        name_at = at + 12
        content = name_at + (name_size + 3) // 4 * 4
        if kind == _NT_GNU_BUILD_ID and notes[name_at : name_at + name_size] == b"GNU\0":
            return notes[content : content + size].hex()
        at = content + (size + 3) // 4 * 4
    raise InvalidInput("the kernel image has no build id", hint="Link it with --build-id.")


def _vmlinux(image: bytes) -> bytes:
    """The unpacked kernel of a bzImage."""
    if len(image) < 0x250 or image[0x202:0x206] != b"HdrS":
        raise InvalidInput("no x86 kernel image (bzImage)", hint="Give a package of such a kernel.")
    sectors = image[0x1F1] or 4
    offset, length = struct.unpack_from("<II", image, 0x248)
    begins = (sectors + 1) * _SECTOR + offset
    payload = image[begins : begins + length]
    try:
        return _unpacked(payload)
    except (zlib.error, lzma.LZMAError, zstandard.ZstdError, EOFError) as error:
        raise InvalidInput(f"the kernel image cannot be unpacked: {error}") from error


def _unpacked(payload: bytes) -> bytes:
    if payload.startswith(b"\x1f\x8b"):
        return zlib.decompressobj(wbits=31).decompress(payload, LARGEST_VMLINUX)
    if payload.startswith(b"\xfd7zXZ"):
        return lzma.LZMADecompressor().decompress(payload, LARGEST_VMLINUX)
    if payload.startswith(b"\x28\xb5\x2f\xfd"):
        reader = zstandard.ZstdDecompressor().stream_reader(io.BytesIO(payload))
        return reader.read(LARGEST_VMLINUX)
    raise InvalidInput(
        "the kernel image is packed in a way that is not known",
        hint="gzip, xz and zstd are (CONFIG_KERNEL_…).",
    )


def _notes(elf: bytes) -> bytes:
    """The notes of a 64-bit ELF file."""
    if elf[:5] != b"\x7fELF\x02" or len(elf) < 64:
        raise InvalidInput("the kernel image holds no 64-bit ELF file")
    table, size, count = struct.unpack_from("<Q", elf, 32)[0], *struct.unpack_from("<HH", elf, 54)
    for index in range(count):
        at = table + index * size
        if at + 56 > len(elf):
            break
        kind, _flags, offset, _v, _p, length = struct.unpack_from("<IIQQQQ", elf, at)
        if kind == _PT_NOTE:
            return elf[offset : offset + length]
    raise InvalidInput("the kernel image has no notes", hint="Link it with --build-id.")
