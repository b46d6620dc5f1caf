"""Series and bisections keep the text of their config profile."""

from __future__ import annotations

from alembic import op

revision = "0074"
down_revision = "0073"

_COLUMNS = {"series": "profile_sha256", "bisection": "profile_sha256"}


def upgrade() -> None:
    for table, column in _COLUMNS.items():
        op.execute(f"ALTER TABLE {table} ADD COLUMN {column} character varying")
    # It was the default, and no real host boots it: their hosts decide from now on.
    op.execute("UPDATE series SET profile = '' WHERE profile = 'lab'")


def downgrade() -> None:
    op.execute("UPDATE series SET profile = 'lab' WHERE profile = ''")
    for table, column in _COLUMNS.items():
        op.execute(f"ALTER TABLE {table} DROP COLUMN {column}")
