"""What is said of arms against an arm that the spec did not name as the baseline."""

from __future__ import annotations

from alembic import op

revision = "0076"
down_revision = "0075"


def upgrade() -> None:
    op.execute(
        """
        CREATE TABLE rebased_cell (
            run_id integer NOT NULL
                CONSTRAINT fk_rebased_cell_run_id_run REFERENCES run (id),
            case_id integer NOT NULL
                CONSTRAINT fk_rebased_cell_case_id_benchmark_case REFERENCES benchmark_case (id),
            metric character varying NOT NULL,
            baseline_id integer NOT NULL
                CONSTRAINT fk_rebased_cell_baseline_id_arm REFERENCES arm (id),
            arm_id integer NOT NULL
                CONSTRAINT fk_rebased_cell_arm_id_arm REFERENCES arm (id),
            state character varying NOT NULL,
            n integer NOT NULL,
            blocks integer NOT NULL,
            mean double precision,
            effect_percent double precision,
            ci_low_percent double precision,
            ci_high_percent double precision,
            p double precision,
            q double precision,
            mde_percent double precision,
            verdict character varying,
            bound character varying NOT NULL,
            note character varying NOT NULL,
            disturbed integer NOT NULL,
            unsteady integer NOT NULL,
            CONSTRAINT pk_rebased_cell
                PRIMARY KEY (run_id, case_id, metric, baseline_id, arm_id),
            CONSTRAINT ck_rebased_cell_state
                CHECK (state IN ('measured', 'baseline', 'not_effective', 'no_data')),
            CONSTRAINT ck_rebased_cell_verdict
                CHECK (verdict IN ('better', 'worse', 'same', 'undecided')),
            CONSTRAINT ck_rebased_cell_bound
                CHECK (bound IN ('exact', 'at_least', 'at_most', 'nothing'))
        )
        """
    )


def downgrade() -> None:
    op.execute("DROP TABLE rebased_cell")
