"""A diff as bytes that a browser draws without parsing: a header in JSON, then arrays.

Little-endian: ``MGPD``, the version, the header's length, zero (each ``uint32``); the
header, padded to 8 bytes; the arrays, each at an offset that is a multiple of 8,
counted from where they begin.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, Field

from mitigauge.analysis.profiles.diff.compare import Basis
from mitigauge.analysis.profiles.diff.sides import Selection
from mitigauge.analysis.profiles.store.tables import System

MAGIC, VERSION = b"MGPD", 1
MEDIA_TYPE = "application/octet-stream"
_ALIGNED = 8

ArrayType = Literal["int32", "float32", "uint8"]


class _Part(BaseModel):
    """Closed, so that a typo in a field is an error."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class DiffArray(_Part):
    """Where one array is."""

    type: ArrayType
    offset: int = Field(description="in bytes, from the end of the header")
    length: int = Field(description="in items")


class DiffSide(_Part):
    """One side of a diff: its boots together."""

    label: str
    of: Selection | None = Field(description="null for imported profiles")
    boots: int
    samples: int
    lost: int = Field(description="samples that the recording host had to drop")
    operations: float | None
    total: float = Field(description="mean cost of everything, in the diff's unit")
    unknown_percent: float = Field(description="of the weight, with a frame without a name")
    truncated_percent: float = Field(description="of the weight, without its outer frames")
    idle_percent: float = Field(description="left out, because the processor waited")


class DiffPruned(_Part):
    """Frames that are left out for their width, and their cost on each side in the unit."""

    nodes: int
    a: float
    b: float


class DiffHeader(_Part):
    """The header of a diff's binary answer; it says where each of the arrays is that follow."""

    a: DiffSide
    b: DiffSide
    basis: Basis
    bases: list[Basis] = Field(description="those that both sides have")
    unit: str
    title: str
    host: str
    emulated: bool
    counted: bool = Field(description="time counts instructions on a side")
    event: str
    merged: bool = Field(description="threads and compiled clones are one")
    rules_version: int
    names: list[str] = Field(description="by symbol; the first is the root's")
    raw_names: dict[str, list[str]] = Field(
        description="by symbol: the names that the rules made one"
    )
    renamed: dict[str, str] = Field(
        description="by symbol: the name that the function has in side a"
    )
    pruned: DiffPruned
    experiment: int | None
    case: int | None
    where: System = Field(description="the system that was profiled")
    wheres: list[System] = Field(description="the systems of which the case has profiles")
    svg_by: str | None = Field(description="the program that can draw an SVG here")
    arrays: dict[str, DiffArray]


def laid_out(arrays: Mapping[str, NDArray[Any]]) -> tuple[dict[str, DiffArray], bytes]:
    """Where each of *arrays* is, and the bytes of all.

    Raises ``ValueError`` for an array of a type that the viewer does not read.
    """
    places, parts, offset = {}, [], 0
    for name, array in arrays.items():
        places[name] = DiffArray(type=_type_of(array), offset=offset, length=len(array))
        part = np.ascontiguousarray(array, array.dtype.newbyteorder("<")).tobytes()
        part += b"\0" * (-len(part) % _ALIGNED)
        parts.append(part)
        offset += len(part)
    return places, b"".join(parts)


def encoded(header: DiffHeader, body: bytes) -> bytes:
    """*header* and the *body* of its arrays as one answer."""
    text = header.model_dump_json().encode()
    text += b" " * (-len(text) % _ALIGNED)
    return struct.pack("<4sIII", MAGIC, VERSION, len(text), 0) + text + body


def _type_of(array: NDArray[Any]) -> ArrayType:
    for known in get_args(ArrayType):
        if array.dtype.name == known:
            found: ArrayType = known
            return found
    raise ValueError(f"the viewer reads no arrays of {array.dtype.name}")
