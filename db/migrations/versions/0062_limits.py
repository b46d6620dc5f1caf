"""Files of limits that are in force, and what was said of experiments by them."""

from __future__ import annotations

from alembic import op

revision = "0062"
down_revision = "0061"


def upgrade() -> None:
    op.execute("""
        CREATE TABLE limit_file (
            name VARCHAR NOT NULL CONSTRAINT pk_limit_file PRIMARY KEY,
            text VARCHAR NOT NULL,
            lines INTEGER NOT NULL,
            set_by VARCHAR NOT NULL,
            set_at TIMESTAMP WITH TIME ZONE NOT NULL DEFAULT clock_timestamp()
        )
    """)
    op.execute("""
        CREATE TABLE limit_judgement (
            experiment_id INTEGER NOT NULL
                CONSTRAINT pk_limit_judgement PRIMARY KEY
                CONSTRAINT fk_limit_judgement_experiment_id_experiment
                REFERENCES experiment (id) ON DELETE CASCADE,
            judged_at TIMESTAMP WITH TIME ZONE NOT NULL,
            broken INTEGER NOT NULL,
            cannot_tell INTEGER NOT NULL,
            kept INTEGER NOT NULL,
            trouble VARCHAR NOT NULL DEFAULT ''
        )
    """)
    op.execute("CREATE INDEX ix_limit_judgement_judged_at ON limit_judgement (judged_at)")
    op.execute("""
        CREATE TABLE limit_outcome (
            id SERIAL NOT NULL CONSTRAINT pk_limit_outcome PRIMARY KEY,
            experiment_id INTEGER NOT NULL
                CONSTRAINT fk_limit_outcome_experiment_id_experiment
                REFERENCES experiment (id) ON DELETE CASCADE,
            file VARCHAR NOT NULL,
            line INTEGER NOT NULL,
            words VARCHAR NOT NULL,
            because VARCHAR NOT NULL,
            case_id INTEGER NOT NULL
                CONSTRAINT fk_limit_outcome_case_id_benchmark_case
                REFERENCES benchmark_case (id) ON DELETE CASCADE,
            case_title VARCHAR NOT NULL,
            host VARCHAR NOT NULL,
            emulated BOOLEAN NOT NULL,
            arm VARCHAR NOT NULL,
            value DOUBLE PRECISION,
            low DOUBLE PRECISION,
            high DOUBLE PRECISION,
            unit VARCHAR NOT NULL,
            kept VARCHAR NOT NULL CONSTRAINT ck_limit_outcome_kept CHECK (kept IN (
                'pass', 'fail', 'cannot_tell')),
            why VARCHAR NOT NULL
        )
    """)
    op.execute("CREATE INDEX ix_limit_outcome_experiment_id ON limit_outcome (experiment_id)")


def downgrade() -> None:
    op.execute("DROP TABLE limit_outcome")
    op.execute("DROP TABLE limit_judgement")
    op.execute("DROP TABLE limit_file")
