"""Results on their way to KCIDB, patchwork and GitHub, and the job of that."""

from __future__ import annotations

from alembic import op

revision = "0066"
down_revision = "0065"

_JOBS = (
    "'kernel', 'revision', 'bisection', 'archives', 'mailbox', 'weekly', 'backup', 'digests',"
    " 'injection', 'study'"
)


def upgrade() -> None:
    _kinds(f"{_JOBS}, 'publications'")
    op.execute("""
        CREATE TABLE publication (
            id SERIAL NOT NULL CONSTRAINT pk_publication PRIMARY KEY,
            target VARCHAR NOT NULL CONSTRAINT ck_publication_target CHECK (target IN (
                'kcidb', 'patchwork', 'github')),
            experiment_id INTEGER NOT NULL
                CONSTRAINT fk_publication_experiment_id_experiment
                REFERENCES experiment (id) ON DELETE CASCADE,
            state VARCHAR NOT NULL DEFAULT 'waiting'
                CONSTRAINT ck_publication_state CHECK (state IN (
                'waiting', 'begun', 'published', 'nothing', 'given_up')),
            said VARCHAR NOT NULL DEFAULT '',
            tries INTEGER NOT NULL DEFAULT 0,
            made_at TIMESTAMP WITH TIME ZONE NOT NULL DEFAULT clock_timestamp(),
            next_at TIMESTAMP WITH TIME ZONE NOT NULL DEFAULT clock_timestamp(),
            begun_at TIMESTAMP WITH TIME ZONE,
            ended_at TIMESTAMP WITH TIME ZONE,
            CONSTRAINT uq_publication_target_experiment_id UNIQUE (target, experiment_id)
        )
    """)
    op.execute("""
        CREATE INDEX ix_publication_next_at ON publication (next_at)
        WHERE state IN ('waiting', 'begun')
    """)


def downgrade() -> None:
    op.execute("DROP TABLE publication")
    op.execute("DELETE FROM job WHERE kind = 'publications'")
    _kinds(_JOBS)


def _kinds(words: str) -> None:
    op.execute("ALTER TABLE job DROP CONSTRAINT ck_job_kind")
    op.execute(f"ALTER TABLE job ADD CONSTRAINT ck_job_kind CHECK (kind IN ({words}))")
