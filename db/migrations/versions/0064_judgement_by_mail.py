"""A mail may say what a regression is."""

from __future__ import annotations

from alembic import op

revision = "0064"
down_revision = "0063"


def upgrade() -> None:
    _kinds("'test', 'fix', 'stop', 'regression', 'unclear'")


def downgrade() -> None:
    # What came of them stands in the histories of regressions.
    op.execute("UPDATE series_request SET asked = 'unclear' WHERE asked = 'regression'")
    _kinds("'test', 'fix', 'stop', 'unclear'")


def _kinds(words: str) -> None:
    op.execute("ALTER TABLE series_request DROP CONSTRAINT ck_series_request_asked")
    op.execute(
        "ALTER TABLE series_request"
        f" ADD CONSTRAINT ck_series_request_asked CHECK (asked IN ({words}))"
    )
