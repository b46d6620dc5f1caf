"""A regression has several tries of fresh boots; two builds that differ confirm nothing."""

from __future__ import annotations

from alembic import op

revision = "0071"
down_revision = "0070"

_BEFORE = "'waiting', 'measuring', 'confirmed', 'refuted', 'undecided', 'impossible'"
# What was confirmed in real time by one build of each kernel.
_OF_TWO_BUILDS = """
    UPDATE confirmation SET state = 'slower-builds' FROM regression
    WHERE regression.id = confirmation.regression_id AND confirmation.state = 'confirmed'
    AND regression.clock <> 'counted' AND NOT EXISTS (
        SELECT FROM comparison WHERE comparison.experiment_id = confirmation.experiment_id
        AND comparison.layouts >= 3)
"""


def upgrade() -> None:
    op.execute("ALTER TABLE confirmation DROP CONSTRAINT uq_confirmation_regression_id")
    op.execute("DROP INDEX ix_confirmation_open")
    op.execute(
        "CREATE UNIQUE INDEX uq_confirmation_open ON confirmation (regression_id) "
        "WHERE state IN ('waiting', 'measuring')"
    )
    op.execute("CREATE INDEX ix_confirmation_regression_id ON confirmation (regression_id, id)")
    _states(f"{_BEFORE}, 'slower-builds'")
    op.execute(_OF_TWO_BUILDS)
    op.execute("ALTER TABLE verdict_stability ADD COLUMN experiments integer NOT NULL DEFAULT 1")
    op.execute(
        "ALTER TABLE regression ADD COLUMN bound varchar NOT NULL DEFAULT 'exact' CONSTRAINT "
        "ck_regression_bound CHECK (bound IN ('exact', 'at_least', 'at_most', 'nothing'))"
    )
    op.execute(
        "UPDATE regression SET bound = verdict.bound FROM verdict WHERE regression.origin = 'cell' "
        "AND (verdict.run_id, verdict.case_id, verdict.arm_id, verdict.metric) = "
        "(regression.run_id, regression.case_id, regression.arm_id, regression.metric) "
        "AND verdict.superseded_at IS NULL"
    )


def downgrade() -> None:
    op.execute("ALTER TABLE regression DROP COLUMN bound")
    op.execute("ALTER TABLE verdict_stability DROP COLUMN experiments")
    op.execute("UPDATE confirmation SET state = 'undecided' WHERE state = 'slower-builds'")
    _states(_BEFORE)
    op.execute(
        "DELETE FROM confirmation AS one USING confirmation AS other "
        "WHERE one.regression_id = other.regression_id AND one.id < other.id"
    )
    op.execute("DROP INDEX ix_confirmation_regression_id")
    op.execute("DROP INDEX uq_confirmation_open")
    op.execute(
        "CREATE INDEX ix_confirmation_open ON confirmation (id) "
        "WHERE state IN ('waiting', 'measuring')"
    )
    op.execute(
        "ALTER TABLE confirmation ADD CONSTRAINT uq_confirmation_regression_id "
        "UNIQUE (regression_id)"
    )


def _states(words: str) -> None:
    op.execute("ALTER TABLE confirmation DROP CONSTRAINT ck_confirmation_state")
    op.execute(
        f"ALTER TABLE confirmation ADD CONSTRAINT ck_confirmation_state CHECK (state IN ({words}))"
    )
