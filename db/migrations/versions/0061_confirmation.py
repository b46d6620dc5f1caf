"""Fresh boots that confirm or refute what values over time showed."""

from __future__ import annotations

from alembic import op

revision = "0061"
down_revision = "0060"


def upgrade() -> None:
    op.execute("""
        CREATE TABLE confirmation (
            id SERIAL NOT NULL CONSTRAINT pk_confirmation PRIMARY KEY,
            regression_id INTEGER NOT NULL
                CONSTRAINT uq_confirmation_regression_id UNIQUE
                CONSTRAINT fk_confirmation_regression_id_regression
                REFERENCES regression (id) ON DELETE CASCADE,
            state VARCHAR NOT NULL CONSTRAINT ck_confirmation_state CHECK (state IN (
                'waiting', 'measuring', 'confirmed', 'refuted', 'undecided', 'impossible')),
            why VARCHAR NOT NULL,
            likely VARCHAR NOT NULL DEFAULT '',
            follows VARCHAR NOT NULL DEFAULT '',
            kernel_before VARCHAR NOT NULL DEFAULT '',
            kernel_after VARCHAR NOT NULL DEFAULT '',
            experiment_id INTEGER
                CONSTRAINT fk_confirmation_experiment_id_experiment
                REFERENCES experiment (id) ON DELETE SET NULL,
            boots INTEGER NOT NULL DEFAULT 0,
            effect_percent DOUBLE PRECISION,
            ci_low_percent DOUBLE PRECISION,
            ci_high_percent DOUBLE PRECISION,
            asked_at TIMESTAMP WITH TIME ZONE NOT NULL DEFAULT clock_timestamp(),
            ordered_at TIMESTAMP WITH TIME ZONE,
            decided_at TIMESTAMP WITH TIME ZONE
        )
    """)
    op.execute("""
        CREATE INDEX ix_confirmation_open ON confirmation (id)
        WHERE state IN ('waiting', 'measuring')
    """)
    op.execute("CREATE INDEX ix_confirmation_experiment_id ON confirmation (experiment_id)")
    op.execute("CREATE INDEX ix_confirmation_asked_at ON confirmation (asked_at)")


def downgrade() -> None:
    op.execute("DROP TABLE confirmation")
