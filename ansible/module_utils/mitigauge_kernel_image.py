"""What a bzImage says of itself. Pure."""

from __future__ import annotations

import struct


def is_signed(image: bytes) -> bool:
    """Whether a program of EFI has a signature, whoever's; *image*: its first 4 KiB at least."""
    if image[:2] != b"MZ" or len(image) < 0x200:
        return False
    (head,) = struct.unpack_from("<I", image, 0x3C)
    if image[head : head + 4] != b"PE\0\0" or len(image) < head + 0xB0:
        return False
    # The fifth data directory of a PE32+: its certificates; place and size.
    _, size = struct.unpack_from("<II", image, head + 24 + 112 + 4 * 8)
    return bool(size)


def image_version(image: bytes) -> str | None:
    """What ``uname -v`` says once this bzImage is up; None where it has no such header."""
    if image[0x202:0x206] != b"HdrS":
        return None
    (offset,) = struct.unpack_from("<H", image, 0x20E)
    text = image[offset + 0x200 :].partition(b"\0")[0].decode(errors="replace")
    _, number, rest = text.partition(" #")
    return f"#{rest}" if number else None
