"""What a bzImage says of itself. Pure."""

from __future__ import annotations

import struct


def image_version(image: bytes) -> str | None:
    """What ``uname -v`` says once this bzImage is up; None where it has no such header."""
    if image[0x202:0x206] != b"HdrS":
        return None
    (offset,) = struct.unpack_from("<H", image, 0x20E)
    text = image[offset + 0x200 :].partition(b"\0")[0].decode(errors="replace")
    _, number, rest = text.partition(" #")
    return f"#{rest}" if number else None
