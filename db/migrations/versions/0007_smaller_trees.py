"""Frame trees packed in fewer bytes, which takes half the time to read."""

from __future__ import annotations

import itertools
import struct
from collections.abc import Callable

import numpy as np
import sqlalchemy as sa
import zstandard
from alembic import op
from numpy.typing import NDArray

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None

Ints = NDArray[np.int32]
OLD = struct.Struct("<4sIII")
NEW = struct.Struct("<4sII8I")
ESCAPE = 255


def upgrade() -> None:
    _repack(lambda data: _new(_from_old(data)))


def downgrade() -> None:
    _repack(lambda data: _old(_from_new(data)))


def _repack(again: Callable[[bytes], bytes]) -> None:
    tree = sa.table(
        "frame_tree", sa.column("id", sa.Integer()), sa.column("layout", sa.LargeBinary())
    )
    connection = op.get_bind()
    for number in connection.scalars(sa.select(tree.c.id)).all():
        data = connection.scalars(sa.select(tree.c.layout).where(tree.c.id == number)).one()
        if data:
            connection.execute(
                sa.update(tree).where(tree.c.id == number).values(layout=again(data))
            )


def _from_old(data: bytes) -> Ints:
    """Rows place, merged place, parent, symbol, end."""
    _, size, length, _ = OLD.unpack_from(data)
    body = zstandard.ZstdDecompressor().decompress(data[OLD.size :], max_output_size=length)
    return np.cumsum(np.frombuffer(body, "<i4").reshape(5, size), axis=1, dtype=np.int32)


def _old(rows: Ints) -> bytes:
    changes = np.diff(rows, axis=1, prepend=np.int32(0)).astype("<i4").tobytes()
    body = zstandard.ZstdCompressor(level=3).compress(changes)
    return OLD.pack(b"MGT1", rows.shape[1], len(changes), 0) + body


def _new(rows: Ints) -> bytes:
    place, merged, parent, symbol, end = rows
    own = np.arange(len(place), dtype=np.int32)
    moved = np.flatnonzero(merged != place).astype("<i4")
    symbol = symbol + 1
    parts = [
        np.diff(place, prepend=np.int32(0)).astype("<i4").tobytes(),
        moved.tobytes(),
        merged[moved].astype("<i4").tobytes(),
        *_small(own - parent),
        *_small(end - own),
        b"".join(half.astype("<u2").tobytes() for half in (symbol & 0xFFFF, symbol >> 16)),
    ]
    body = zstandard.ZstdCompressor(level=3).compress(b"".join(parts))
    return NEW.pack(b"MGT2", len(place), 0, *map(len, parts)) + body


def _from_new(data: bytes) -> Ints:
    _, size, _, *lengths = NEW.unpack_from(data)
    body = zstandard.ZstdDecompressor().decompress(data[NEW.size :])
    ends = itertools.accumulate(lengths, initial=0)
    parts = [body[a:b] for a, b in itertools.pairwise(ends)]
    changes, moved, to = (np.frombuffer(part, "<i4") for part in parts[:3])
    place = np.cumsum(changes, dtype=np.int32)
    merged = place.copy()
    merged[moved] = to
    low, high = np.frombuffer(parts[7], "<u2").astype(np.int32).reshape(2, size)
    own = np.arange(size, dtype=np.int32)
    parent, end = own - _full(*parts[3:5]), own + _full(*parts[5:7])
    return np.stack([place, merged, parent, (low | high << 16) - 1, end])


def _small(values: Ints) -> tuple[bytes, bytes]:
    large = values[values >= ESCAPE].astype("<i4").tobytes()
    return np.minimum(values, ESCAPE).astype(np.uint8).tobytes(), large


def _full(small: bytes, large: bytes) -> Ints:
    in_bytes = np.frombuffer(small, np.uint8)
    values = in_bytes.astype(np.int32)
    values[in_bytes == ESCAPE] = np.frombuffer(large, "<i4")
    return values
