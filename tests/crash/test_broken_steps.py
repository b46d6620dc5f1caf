"""Steps that fail through neither lab nor arm: said, tried again, given up in the end."""

from __future__ import annotations

import json
from pathlib import Path

from sqlalchemy import Engine

from mitigauge.measurement.experiments import repository as experiment_rows
from mitigauge.measurement.runs.states import BootState
from mitigauge.storage.database.engine import transaction
from pipelines.advance import Advancer
from pipelines.steps.context import FAULT_RETRY_S
from tests.crash.conftest import Fleet, nothing_lost_nothing_twice
from tests.crash.simulated_host import new_world, opener
from tests.specs import CATALOG


def events(engine: Engine, experiment: int) -> list[str]:
    with transaction(engine) as session:
        return [event.text for event in experiment_rows.events_after(session, experiment, 0)]


def test_a_blob_store_that_is_away_is_said_and_waited_for(fleet: Fleet) -> None:
    (fleet.worlds / "blobs").write_text("in the directory's place")
    experiment = fleet.submit()
    fleet.worker()

    def said() -> bool:
        return any("cannot be used" in text for text in events(fleet.engine, experiment))

    fleet.until(said, "the blob store's failure in the events")
    (fleet.worlds / "blobs").unlink()
    view = fleet.until_over(experiment)
    nothing_lost_nothing_twice(view, fleet.did())


# Of the class that PostgreSQL uses for a row that is too large for an index: the driver calls
# that an OperationalError, as it does a server that is away.
REFUSING = """
create function refuse() returns trigger language plpgsql as $$
begin raise exception 'index row size 3000 exceeds maximum' using errcode = '54000'; end $$;
create trigger refuse before update on boot for each row
when (new.verified_at is not null) execute function refuse()
"""


def carried_out(engine: Engine, home: Path, run: int) -> list[float]:
    """Every step of the run, by one worker; the pauses between them."""
    advancer = Advancer(engine, opener(home), catalog=CATALOG, lease_seconds=60)
    pauses: list[float] = []
    while (pause := advancer.advance(run)) is not None:
        pauses.append(pause)
        assert len(pauses) < 60
    return pauses


def test_a_step_that_cannot_be_stored_is_tried_again_and_then_given_up(
    engine: Engine, home: Path, fleet: Fleet
) -> None:
    with engine.begin() as connection:
        connection.exec_driver_sql(REFUSING)
    experiment = fleet.submit()
    pauses = carried_out(engine, home, fleet.show(experiment).runs[0].id)
    assert [p for p in pauses if p >= FAULT_RETRY_S] == [FAULT_RETRY_S * 2**n for n in range(6)]
    view = fleet.show(experiment)
    assert view.state == "failed"
    assert view.runs[0].error.startswith("gave up after 6 faults in a row, the last: ")
    assert "index row size 3000 exceeds maximum" in view.runs[0].error
    told = [text for text in events(engine, experiment) if "boot.verify failed" in text]
    assert len(told) == 6
    assert "again in 5 s" in told[0]


def test_a_nul_byte_of_a_host_costs_neither_boot_nor_power_cycle(
    engine: Engine, home: Path, fleet: Fleet
) -> None:
    # PostgreSQL holds no NUL, not even within JSON.
    world = {**new_world(), "says": {"knob=on": "Miti\0gation\x1b[2J", "knob=off": "Vulnerable"}}
    (home / "alpha.json").write_text(json.dumps(world))
    experiment = fleet.submit()
    pauses = carried_out(engine, home, fleet.show(experiment).runs[0].id)
    assert max(pauses) < FAULT_RETRY_S
    view = fleet.show(experiment)
    assert view.state == "finished"
    [ignored] = [boot for boot in view.boots if boot.state is BootState.NOT_EFFECTIVE]
    assert (
        ignored.observed == "knob: Miti\N{REPLACEMENT CHARACTER}gation\N{REPLACEMENT CHARACTER}[2J"
    )
    assert fleet.did()["power-cycle"] == 0
