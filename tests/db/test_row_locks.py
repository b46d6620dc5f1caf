"""Who changes an experiment or a run keeps nobody from adding what names it."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from sqlalchemy import Engine, text
from sqlalchemy.orm import Session

from mitigauge.measurement.experiments import repository as experiment_rows
from mitigauge.measurement.experiments.event_log import record_event
from mitigauge.measurement.experiments.spec import read_spec
from mitigauge.measurement.runs import outcomes
from mitigauge.measurement.runs import repository as run_rows
from mitigauge.measurement.runs.submission import submit
from mitigauge.measurement.runs.tables import Run
from mitigauge.storage.database.engine import database_now, transaction
from tests.specs import CATALOG, HOSTS, SPEC, inventory


@pytest.fixture
def experiment(engine: Engine) -> int:
    spec = read_spec(SPEC, name="spec", catalog=CATALOG, hosts=HOSTS)
    with transaction(engine) as session:
        return submit(session, spec, SPEC, catalog=CATALOG, hosts=inventory("alpha"))


def change_experiment(session: Session, run: Run) -> None:
    experiment_rows.locked_experiment(session, run.experiment_id).headline = "as changed"


def close(session: Session, run: Run) -> None:
    outcomes.close_experiment(session, run.experiment_id, database_now(session))


def change_run(session: Session, run: Run) -> None:
    run_rows.lock_run(session, run.id)
    run.step = "as changed"


def change_all_runs(session: Session, run: Run) -> None:
    run_rows.locked_runs(session, run.experiment_id)


@pytest.mark.parametrize("change", [change_experiment, close, change_run, change_all_runs])
def test_an_event_is_added_while_another_changes_what_it_names(
    engine: Engine, experiment: int, change: Callable[[Session, Run], None]
) -> None:
    """Each kept the other waiting once, where one held the events' lock and one the row's."""
    with transaction(engine) as first:
        run = run_rows.runs_of(first, experiment)[0]
        change(first, run)
        first.flush()
        with transaction(engine) as second:
            second.execute(text("SET LOCAL lock_timeout = '2s'"))
            record_event(second, experiment_id=experiment, run_id=run.id, kind="step", text="added")
            second.flush()


def test_two_do_not_change_one_experiment_at_once(engine: Engine, experiment: int) -> None:
    with transaction(engine) as first:
        experiment_rows.locked_experiment(first, experiment)
        with transaction(engine) as second:
            second.execute(text("SET LOCAL lock_timeout = '200ms'"))
            with pytest.raises(Exception, match="lock timeout"):
                experiment_rows.locked_experiment(second, experiment)
