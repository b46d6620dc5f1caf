"""A clock that was a year ahead for an hour: what it wrote down holds nothing up."""

from __future__ import annotations

from datetime import timedelta
from uuid import uuid4

import pytest
from sqlalchemy import Engine, text

from mitigauge.jobs import repository as job_rows
from mitigauge.jobs import service as jobs
from mitigauge.jobs.service import JobRequest
from mitigauge.jobs.states import Ability, JobKind
from mitigauge.jobs.worker_repository import alive
from mitigauge.measurement.experiments.spec import read_spec
from mitigauge.measurement.fleet import absence_repository
from mitigauge.measurement.runs import lease_repository as leases
from mitigauge.measurement.runs import repository as run_rows
from mitigauge.measurement.runs.submission import submit
from mitigauge.reporting.deliveries import service as deliveries
from mitigauge.reporting.publications import service as publications
from mitigauge.reporting.publications.service import Ended
from mitigauge.reporting.publications.states import PublicationState, TargetName
from mitigauge.storage.database.engine import database_now, transaction
from mitigauge.tracking.series import archive_watch, request_repository
from mitigauge.tracking.series import repository as series_rows
from mitigauge.tracking.series.tables import ListArchive
from mitigauge.upkeep.retention import repository as retention
from tests.confirmations_made import suspicions
from tests.requests_made import waiting_request
from tests.specs import CATALOG, HOSTS, SPEC, inventory
from tests.workers import announce

DAY = timedelta(days=1)
TARGETS = [TargetName.PATCHWORK]


def a_year_ahead(engine: Engine, table: str, *columns: str, words: str = "") -> None:
    said = ", ".join(f"{column} = now() + interval '1 year'" for column in columns)
    with engine.begin() as connection:
        assert connection.execute(text(f"update {table} set {said}{words}")).rowcount


@pytest.fixture
def published(engine: Engine) -> None:
    suspicions(engine)
    with engine.begin() as connection:
        connection.execute(
            text(
                "insert into publication (target, experiment_id)"
                " select 'patchwork', min(id) from experiment"
            )
        )


@pytest.mark.usefixtures("published")
def test_a_publication_that_waits_for_next_year_is_taken_now(engine: Engine) -> None:
    a_year_ahead(engine, "publication", "next_at", "made_at")
    with transaction(engine) as session:
        begun = publications.begin_next(session, TARGETS)
        assert begun is not None
        state = publications.end(session, begun, Ended(PublicationState.WAITING, "away"))
        assert state is PublicationState.WAITING
    # It is given up a week from now, not a year and a week.
    with engine.connect() as connection:
        assert connection.scalar(text("select made_at <= now() from publication"))
    with transaction(engine) as session:
        assert publications.begin_next(session, TARGETS) is None


@pytest.mark.usefixtures("published")
def test_a_publication_that_was_begun_next_year_is_taken_again(engine: Engine) -> None:
    a_year_ahead(engine, "publication", "begun_at", words=", state = 'begun', tries = 1")
    with transaction(engine) as session:
        begun = publications.begin_next(session, TARGETS)
    assert begun is not None
    assert begun.tries == 2


def test_a_mail_that_was_begun_next_year_is_noted_as_not_known(engine: Engine) -> None:
    with transaction(engine) as session:
        assert deliveries.begin(session, "weekly 2026-W48", ["a@b"]) == ["a@b"]
        assert deliveries.begin(session, "weekly 2026-W48", ["a@b"]) == []
    a_year_ahead(engine, "mail_delivery", "begun_at")
    with transaction(engine) as session:
        deliveries.begin(session, "weekly 2026-W48", ["a@b"])
    with engine.connect() as connection:
        assert connection.scalar(text("select state from mail_delivery")) == "unknown"


def test_an_archive_is_asked_now_and_its_search_no_more(engine: Engine) -> None:
    waiting_request(engine)
    with transaction(engine) as session:
        session.add(ListArchive(address="https://lore.example/x", seen=[], pending={}, failures=0))
        session.flush()
    with engine.begin() as connection:
        watched = "update series set watched = true, archive = 'https://lore.example/x'"
        connection.execute(text(watched))
    a_year_ahead(engine, "list_archive", "next_look_at", "search_until")
    with transaction(engine) as session:
        known = session.get_one(ListArchive, "https://lore.example/x")
        assert archive_watch.gap_until(known, False, database_now(session)) is None
        if series_rows.watched_archives(session):
            assert archive_watch.due(session, DAY) == [known]


def test_requests_of_next_year_are_not_of_this_day(engine: Engine) -> None:
    waiting_request(engine)
    with engine.begin() as connection:
        sender = connection.scalar(
            text("update series_request set state = 'done' returning sender")
        )
    with transaction(engine) as session:
        assert request_repository.count_of_sender(session, sender, DAY) == 1
    a_year_ahead(engine, "series_request", "received_at")
    with transaction(engine) as session:
        assert request_repository.count_of_sender(session, sender, DAY) == 0


def test_pruning_of_next_year_is_done_again(engine: Engine) -> None:
    with transaction(engine) as session:
        now = database_now(session)
    retention.record(engine, started_at=now, removed=[])
    assert not retention.due(engine, DAY)
    a_year_ahead(engine, "pruning", "finished_at")
    assert retention.due(engine, DAY)


def test_a_worker_that_was_seen_next_year_is_not_alive(engine: Engine) -> None:
    announce(engine)
    with transaction(engine) as session:
        assert len(alive(session)) == 1
    a_year_ahead(engine, "worker", "seen_at")
    with transaction(engine) as session:
        assert alive(session) == []


KERNEL = JobRequest(JobKind.KERNEL, "s1", "linux-source-7.2", "ann", {"base": "x"})


def test_a_job_of_next_year_is_taken_now(engine: Engine) -> None:
    with transaction(engine) as session:
        job = jobs.ask(session, KERNEL).id
        assert jobs.take(session, job, holder=uuid4(), seconds=60)
    a_year_ahead(engine, "job", "wake_at", "expires_at", words=" where kind = 'kernel'")
    with transaction(engine) as session:
        due = [found for found, _need in job_rows.jobs_to_wake(session, list(Ability), grace_s=1)]
        assert due == [job]
        lease = jobs.take(session, job, holder=uuid4(), seconds=60)
        assert lease is not None
        assert lease.epoch == 2
    with transaction(engine) as session:
        assert jobs.take(session, job, holder=uuid4(), seconds=60) is None


@pytest.fixture
def run(engine: Engine) -> tuple[int, int]:
    """(run, host)."""
    with transaction(engine) as session:
        spec = read_spec(SPEC, name="spec", catalog=CATALOG, hosts=HOSTS)
        submit(session, spec, SPEC, catalog=CATALOG, hosts=inventory("alpha"))
        number, host = session.execute(text("select id, host_id from run")).one()
        return number, host


def due_runs(engine: Engine) -> list[int]:
    with transaction(engine) as session:
        hosts = {
            environment: [name]
            for environment, name in session.execute(text("select environment, name from host"))
        }
        return [found for found, _of in run_rows.runs_to_wake(session, hosts, grace_s=1)]


def test_a_run_of_next_year_goes_on_now(engine: Engine, run: tuple[int, int]) -> None:
    with transaction(engine) as session:
        assert leases.acquire(session, host_id=run[1], run_id=run[0], holder=uuid4(), seconds=60)
        run_rows.wake_later(session, run[0], 3600)
    assert due_runs(engine) == []
    a_year_ahead(engine, "host_lease", "expires_at")
    a_year_ahead(engine, "run", "wake_at")
    assert due_runs(engine) == [run[0]]
    with transaction(engine) as session:
        late = leases.acquire(session, host_id=run[1], run_id=run[0], holder=uuid4(), seconds=60)
        assert late is not None
        assert late.epoch == 2


def test_a_host_that_is_probed_next_year_is_probed_now(
    engine: Engine, run: tuple[int, int]
) -> None:
    with transaction(engine) as session:
        absence_repository.set_aside(session, run[1], "no answer")
        assert run_rows.wait_for_host(session, run[0])
    a_year_ahead(engine, "host", "probe_at")
    with transaction(engine) as session:
        assert run_rows.wait_for_host(session, run[0]) is None


def test_a_run_whose_host_is_reserved_for_a_month_looks_again_within_a_day(
    engine: Engine, run: tuple[int, int]
) -> None:
    with engine.begin() as connection:
        connection.execute(
            text(
                "update host set reserved_by = 'mira', reserved_reason = 'a new disk',"
                " reserved_until = now() + interval '30 days'"
            )
        )
    with transaction(engine) as session:
        wait = run_rows.wait_for_host(session, run[0])
    assert wait == DAY.total_seconds()
