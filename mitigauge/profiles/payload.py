"""A diff as bytes that a browser draws without parsing: a header in JSON, then arrays.

Little-endian: ``MGPD``, the version, the header's length, zero (each ``uint32``); the
header, padded to 8 bytes; the arrays, each at an offset that is a multiple of 8,
counted from where they begin.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping
from typing import Any

import numpy as np
import orjson
from numpy.typing import NDArray

MAGIC, VERSION = b"MGPD", 1
MEDIA_TYPE = "application/octet-stream"
_ALIGNED = 8


def encoded(header: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> bytes:
    """*header* gets an entry ``arrays`` that says where each array is and of which type."""
    places, parts, offset = {}, [], 0
    for name, array in arrays.items():
        little = np.ascontiguousarray(array, array.dtype.newbyteorder("<"))
        places[name] = {"type": array.dtype.name, "offset": offset, "length": len(array)}
        part = little.tobytes()
        part += b"\0" * (-len(part) % _ALIGNED)
        parts.append(part)
        offset += len(part)
    text = orjson.dumps({**header, "arrays": places})
    text += b" " * (-len(text) % _ALIGNED)
    return struct.pack("<4sIII", MAGIC, VERSION, len(text), 0) + text + b"".join(parts)
