"""Which revision of a series costs least: a study, and the mails that ask for it."""

from __future__ import annotations

from alembic import op

revision = "0067"
down_revision = "0066"

_KINDS = "'patch-cost', 'selection'"
_ASKED = "'test', 'fix', 'stop', 'regression', 'unclear', 'which-patch', 'select'"


def upgrade() -> None:
    _only("study", "kind", f"{_KINDS}, 'variants'")
    _only("series_request", "asked", f"{_ASKED}, 'variants'")


def downgrade() -> None:
    op.execute("DELETE FROM study WHERE kind = 'variants'")
    op.execute("UPDATE series_request SET asked = 'unclear' WHERE asked = 'variants'")
    _only("series_request", "asked", _ASKED)
    _only("study", "kind", _KINDS)


def _only(table: str, column: str, words: str) -> None:
    op.execute(f"ALTER TABLE {table} DROP CONSTRAINT ck_{table}_{column}")
    op.execute(
        f"ALTER TABLE {table} ADD CONSTRAINT ck_{table}_{column} CHECK ({column} IN ({words}))"
    )
