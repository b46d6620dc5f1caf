"""Names of frames are found by their SHA-256, so that they may be of any length."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0012"
down_revision = "0011"
branch_labels = None
depends_on = None

# The longest name that an index over names certainly takes, in bytes.
INDEXED_BYTES = 2000
KEPT_CHARACTERS = 400


def upgrade() -> None:
    op.add_column("frame_symbol", sa.Column("digest", sa.LargeBinary(), nullable=True))
    op.execute("UPDATE frame_symbol SET digest = sha256(convert_to(name, 'UTF8'))")
    op.alter_column("frame_symbol", "digest", nullable=False)
    op.drop_constraint("uq_frame_symbol_name", "frame_symbol", type_="unique")
    op.create_unique_constraint("uq_frame_symbol_digest", "frame_symbol", ["digest"])


def downgrade() -> None:
    # What no index takes is cut, and told apart by its digest.
    op.execute(
        "UPDATE frame_symbol"
        f" SET name = left(name, {KEPT_CHARACTERS}) || '#' || encode(digest, 'hex')"
        f" WHERE octet_length(name) > {INDEXED_BYTES}"
    )
    op.drop_constraint("uq_frame_symbol_digest", "frame_symbol", type_="unique")
    op.create_unique_constraint("uq_frame_symbol_name", "frame_symbol", ["name"])
    op.drop_column("frame_symbol", "digest")
