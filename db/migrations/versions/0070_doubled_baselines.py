"""A doubled baseline may be slowed by a known part; slow-downs put in by seed go."""

from __future__ import annotations

from alembic import context, op

from mitigauge.storage.database.dropped_rows import write_rows

revision = "0070"
down_revision = "0069"

FILE = "rows-before-0070.jsonl"
KEPT = {"injection": "select * from injection"}
_KINDS = (
    "'kernel', 'revision', 'bisection', 'archives', 'mailbox', 'weekly', 'backup', 'digests', "
    "'study', 'publications'"
)


def upgrade() -> None:
    write_rows(op.get_bind(), KEPT, FILE, context.config.attributes.get("say", lambda _: None))
    op.execute("DROP TABLE injection")
    op.execute("DELETE FROM job WHERE kind = 'injection'")
    _kinds(_KINDS)
    op.execute("ALTER TABLE arm ADD COLUMN slowed_percent integer NOT NULL DEFAULT 0")
    op.execute("ALTER TABLE aa_outcome ADD COLUMN slowed_percent integer NOT NULL DEFAULT 0")
    _unique("run_id, case_id, metric", "run_id, case_id, metric, slowed_percent")


def downgrade() -> None:
    op.execute("DELETE FROM aa_outcome WHERE slowed_percent <> 0")
    _unique("run_id, case_id, metric, slowed_percent", "run_id, case_id, metric")
    op.execute("ALTER TABLE aa_outcome DROP COLUMN slowed_percent")
    op.execute("ALTER TABLE arm DROP COLUMN slowed_percent")
    _kinds(f"{_KINDS}, 'injection'")
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


def _kinds(words: str) -> None:
    op.execute("ALTER TABLE job DROP CONSTRAINT ck_job_kind")
    op.execute(f"ALTER TABLE job ADD CONSTRAINT ck_job_kind CHECK (kind IN ({words}))")


def _unique(before: str, after: str) -> None:
    names = [f"uq_aa_outcome_{words.replace(', ', '_')}" for words in (before, after)]
    op.execute(f"ALTER TABLE aa_outcome DROP CONSTRAINT {names[0]}")
    op.execute(f"ALTER TABLE aa_outcome ADD CONSTRAINT {names[1]} UNIQUE ({after})")
