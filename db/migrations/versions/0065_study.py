"""What a revision is asked beside its experiment, the job of that, and the mails that ask it."""

from __future__ import annotations

from alembic import op

revision = "0065"
down_revision = "0064"

_JOBS = (
    "'kernel', 'revision', 'bisection', 'archives', 'mailbox', 'weekly', 'backup', 'digests',"
    " 'injection'"
)
_ASKED = "'test', 'fix', 'stop', 'regression', 'unclear'"


def upgrade() -> None:
    _only("job", "kind", f"{_JOBS}, 'study'")
    _only("series_request", "asked", f"{_ASKED}, 'which-patch', 'select'")
    op.execute("""
        CREATE TABLE study (
            id SERIAL NOT NULL CONSTRAINT pk_study PRIMARY KEY,
            revision_id INTEGER NOT NULL
                CONSTRAINT fk_study_revision_id_series_revision REFERENCES series_revision (id),
            kind VARCHAR NOT NULL CONSTRAINT ck_study_kind CHECK (kind IN (
                'patch-cost', 'selection')),
            state VARCHAR NOT NULL CONSTRAINT ck_study_state CHECK (state IN (
                'waiting', 'building', 'measuring', 'done', 'failed', 'cancelled')),
            why VARCHAR NOT NULL DEFAULT '',
            answer JSONB NOT NULL DEFAULT '[]',
            body JSONB NOT NULL,
            asked_by VARCHAR NOT NULL,
            asked_at TIMESTAMP WITH TIME ZONE NOT NULL DEFAULT now(),
            ended_at TIMESTAMP WITH TIME ZONE,
            CONSTRAINT uq_study_revision_id_kind UNIQUE (revision_id, kind)
        )
    """)


def downgrade() -> None:
    op.execute("DROP TABLE study")
    op.execute("DELETE FROM job WHERE kind = 'study'")
    op.execute(
        "UPDATE series_request SET asked = 'unclear' WHERE asked IN ('which-patch', 'select')"
    )
    _only("series_request", "asked", _ASKED)
    _only("job", "kind", _JOBS)


def _only(table: str, column: str, words: str) -> None:
    op.execute(f"ALTER TABLE {table} DROP CONSTRAINT ck_{table}_{column}")
    op.execute(
        f"ALTER TABLE {table} ADD CONSTRAINT ck_{table}_{column} CHECK ({column} IN ({words}))"
    )
