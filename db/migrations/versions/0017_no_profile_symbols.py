"""No table of functions by profile: each profile has the same figures packed."""

from __future__ import annotations

import itertools
import struct

import numpy as np
import sqlalchemy as sa
import zstandard
from alembic import op
from numpy.typing import NDArray

revision = "0017"
down_revision = "0016"
branch_labels = None
depends_on = None

HEADER = struct.Struct("<4sII")
ESCAPE = 255


def upgrade() -> None:
    op.drop_table("profile_symbol")


def downgrade() -> None:
    table = op.create_table(
        "profile_symbol",
        sa.Column("profile_id", sa.Integer(), nullable=False),
        sa.Column("symbol_id", sa.Integer(), nullable=False),
        sa.Column("self_weight", sa.BigInteger(), nullable=False),
        sa.Column("total_weight", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("profile_id", "symbol_id", name=op.f("pk_profile_symbol")),
        sa.ForeignKeyConstraint(
            ["profile_id"], ["profile.id"], name=op.f("fk_profile_symbol_profile_id_profile"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["symbol_id"], ["frame_symbol.id"],
            name=op.f("fk_profile_symbol_symbol_id_frame_symbol"),
        ),
    )  # fmt: skip
    profile = sa.table(
        "profile", sa.column("id", sa.Integer()), sa.column("functions", sa.LargeBinary())
    )
    connection = op.get_bind()
    for number in connection.scalars(sa.select(profile.c.id)).all():
        packed = sa.select(profile.c.functions).where(profile.c.id == number)
        symbols, own, total = (
            column.tolist() for column in _unpacked(connection.scalars(packed).one())
        )
        rows = zip(itertools.repeat(number), symbols, own, total)
        op.bulk_insert(table, [dict(zip(table.c.keys(), row, strict=True)) for row in rows])


def _unpacked(data: bytes) -> list[NDArray[np.int64]]:
    """Symbols, what they cost themselves, and with all they call."""
    _, size, count = HEADER.unpack_from(data)
    body = zstandard.ZstdDecompressor().decompress(data[HEADER.size :])
    ends = np.cumsum((4 * count, *struct.unpack_from(f"<{count}I", body)))
    gaps, *columns = (
        _full(body[a : a + size], body[a + size : b]) for a, b in itertools.pairwise(ends)
    )
    return [np.cumsum(gaps + 1) - 1, *columns]


def _full(small: bytes, large: bytes) -> NDArray[np.int64]:
    in_bytes = np.frombuffer(small, np.uint8)
    values = in_bytes.astype(np.int64)
    values[in_bytes == ESCAPE] = np.frombuffer(large, "<i8")
    return values
