"""Slow-downs of known size, and the job that measures them."""

from __future__ import annotations

from alembic import op

revision = "0063"
down_revision = "0062"

_BEFORE = "'kernel', 'revision', 'bisection', 'archives', 'mailbox', 'weekly', 'backup', 'digests'"


def upgrade() -> None:
    _kinds(f"{_BEFORE}, 'injection'")
    op.execute("""
        CREATE TABLE injection (
            id SERIAL NOT NULL CONSTRAINT pk_injection PRIMARY KEY,
            state VARCHAR NOT NULL CONSTRAINT ck_injection_state CHECK (state IN (
                'waiting', 'measuring', 'searching', 'found', 'missed', 'not-named', 'failed')),
            why VARCHAR NOT NULL DEFAULT '',
            seed BIGINT NOT NULL,
            path VARCHAR NOT NULL,
            instructions INTEGER NOT NULL,
            place INTEGER NOT NULL,
            patches INTEGER NOT NULL,
            environment VARCHAR NOT NULL,
            host VARCHAR NOT NULL,
            emulated BOOLEAN NOT NULL,
            bisection_id INTEGER,
            effect_percent DOUBLE PRECISION,
            ci_low_percent DOUBLE PRECISION,
            ci_high_percent DOUBLE PRECISION,
            true_percent DOUBLE PRECISION,
            named INTEGER,
            began_at TIMESTAMP WITH TIME ZONE NOT NULL DEFAULT clock_timestamp(),
            ended_at TIMESTAMP WITH TIME ZONE
        )
    """)
    op.execute("""
        CREATE UNIQUE INDEX uq_injection_open ON injection ((ended_at IS NULL))
        WHERE ended_at IS NULL
    """)


def downgrade() -> None:
    op.execute("DROP TABLE injection")
    op.execute("DELETE FROM job WHERE kind = 'injection'")
    _kinds(_BEFORE)


def _kinds(words: str) -> None:
    op.execute("ALTER TABLE job DROP CONSTRAINT ck_job_kind")
    op.execute(f"ALTER TABLE job ADD CONSTRAINT ck_job_kind CHECK (kind IN ({words}))")
