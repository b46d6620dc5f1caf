"""What a run's host did with its time, from the rows of its boots."""

from __future__ import annotations

import pytest
from sqlalchemy import Engine, text

from mitigauge.measurement.fleet.boot_method import BootMethod
from mitigauge.measurement.runs.host_time_repository import host_times
from mitigauge.reporting.letters.report.service import gathered
from mitigauge.reporting.pages.experiments import show_experiment
from mitigauge.storage.database.engine import transaction
from tests.made import make


@pytest.fixture
def made(engine: Engine) -> tuple[int, int]:
    """Experiment and run: 1,000 s, 16 boots; those of the first block by reset."""
    found = make(engine)
    with engine.begin() as connection:
        connection.execute(
            text("""
                update boot set method = case block when 1 then 'reset' else 'kexec' end,
                rebooted_at = timestamptz '2026-11-01 12:00Z', job_lasted_s = 10,
                up_at = timestamptz '2026-11-01 12:00Z'
                    + case block when 1 then interval '60 s' else interval '20 s' end
            """)
        )
        connection.execute(
            text("""
                update run set started_at = timestamptz '2026-11-01 12:00Z',
                finished_at = timestamptz '2026-11-01 12:16:40Z'
            """)
        )
    return found.experiment, found.run


def test_a_runs_time_is_split_into_booting_measuring_and_the_rest(
    engine: Engine, made: tuple[int, int]
) -> None:
    with transaction(engine) as session:
        [time] = host_times(session, [made[1]]).values()
    assert time.total_s == 1000
    assert time.measuring_s == 160
    assert time.booting_s == 2 * 60 + 14 * 20
    assert time.other_s == 1000 - 160 - 400
    assert {method: of.boots for method, of in time.booted.items()} == {
        BootMethod.RESET: 2,
        BootMethod.KEXEC: 14,
    }


def test_where_the_clock_counts_instructions_measuring_is_what_was_waited_for(
    engine: Engine, made: tuple[int, int]
) -> None:
    with engine.begin() as connection:
        connection.execute(text("update run set clock = 'counted'"))
        connection.execute(
            text("""
                update boot set job_started_at = timestamptz '2026-11-01 12:01Z',
                finished_at = timestamptz '2026-11-01 12:01:30Z'
            """)
        )
    with transaction(engine) as session:
        [time] = host_times(session, [made[1]]).values()
    assert time.measuring_s == 16 * 30


def test_a_boot_that_never_came_up_counts_until_it_was_given_up(
    engine: Engine, made: tuple[int, int]
) -> None:
    with engine.begin() as connection:
        connection.execute(
            text("""
                update boot set up_at = null, finished_at = rebooted_at + interval '500 s'
                where id = (select min(id) from boot)
            """)
        )
    with transaction(engine) as session:
        [time] = host_times(session, [made[1]]).values()
    assert time.booting_s == 500 + 60 + 14 * 20


def test_a_report_says_what_the_host_did_with_its_time(
    engine: Engine, made: tuple[int, int]
) -> None:
    with transaction(engine) as session:
        said = gathered(session, show_experiment(session, made[0])).text()
    assert "16:40 min, of which booting 6:40" in " ".join(said.split())
    assert "14 boots by kexec of 0:20, 2 boots by reset of 1:00" in " ".join(said.split())
    assert "measuring 2:40, neither 7:20 (44 %)" in " ".join(said.split())


def test_a_run_that_goes_on_has_no_times_yet(engine: Engine, made: tuple[int, int]) -> None:
    with engine.begin() as connection:
        connection.execute(text("update run set finished_at = null"))
    with transaction(engine) as session:
        assert host_times(session, [made[1]]) == {}
