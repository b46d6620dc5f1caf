"""Until when an archive's search is asked after mails may have come and gone between two looks."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0027"
down_revision = "0026"
branch_labels = None
depends_on = None


def upgrade() -> None:
    moment = sa.DateTime(timezone=True)
    op.add_column("list_archive", sa.Column("search_until", moment, nullable=True))


def downgrade() -> None:
    op.drop_column("list_archive", "search_until")
