"""Which cases are profiled."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None


def upgrade() -> None:
    _capture()


def _capture() -> None:
    op.add_column("benchmark_case", sa.Column("profile_hz", sa.Integer()))


def downgrade() -> None:
    op.drop_column("benchmark_case", "profile_hz")
