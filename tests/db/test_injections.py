"""Slow-downs of known size: when they are due, their host, their score, and who reads of them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import Engine, select, text
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from mitigauge.core.clock import Clock
from mitigauge.core.effect import Effect, Verdict
from mitigauge.core.settings import Settings, get_settings
from mitigauge.jobs.abilities import Abilities
from mitigauge.jobs.states import Ability, JobKind
from mitigauge.jobs.tables import Job
from mitigauge.kernels.recipe import PLAIN
from mitigauge.measurement.fleet import absence_repository as absences
from mitigauge.measurement.fleet.repository import host_named, locked_host, upsert_host
from mitigauge.measurement.runs.states import RunState
from mitigauge.measurement.runs.tables import Run
from mitigauge.reporting.pages.error_rates import error_rates
from mitigauge.storage.database import embedded_server
from mitigauge.storage.database.engine import transaction
from mitigauge.tracking.bisect.tables import Bisection
from mitigauge.tracking.injections import repository, service
from mitigauge.tracking.injections.draw import paths
from mitigauge.tracking.injections.states import InjectionState
from mitigauge.tracking.injections.tables import Injection
from mitigauge.tracking.series.tables import Series
from pipelines.blind_service import BlindService
from pipelines.jobs import begin_standing_jobs, runners_of
from pipelines.jobs.engine import JobAdvancer
from tests.db.test_kernels import build_in
from tests.trends_made import week

PATH = paths()["system-call"]
WORSE = Effect(value=4.6, low=4.4, high=4.9)


def lab(engine: Engine, *, kernel: bool = True) -> None:
    """The path's host, three finished runs on it, and a kernel that was built before."""
    for number in range(3):
        week(engine, number)
    with transaction(engine) as session:
        upsert_host(
            session, environment=PATH.environment, name=PATH.host, host_class="lab", machine="m",
            emulated=True, clock=Clock.COUNTED, capabilities=[],
        )  # fmt: skip
        host = host_named(session, PATH.environment, PATH.host)
        session.execute(text("update run set host_id = :h"), {"h": host.id})
        if kernel:
            build_in(session, "", [], PLAIN)


def due(session: Session, every: int = 3, seed: int = 5) -> Injection | None:
    return service.begin_if_due(session, every, seed, paths())


def test_one_in_so_many_runs_is_drawn_and_one_at_a_time(engine: Engine) -> None:
    lab(engine)
    with transaction(engine) as session:
        assert due(session, every=0) is None
        assert due(session, every=4) is None
        one = due(session)
        assert one is not None
        assert (one.state, one.seed, one.host) == (InjectionState.WAITING, 5, PATH.host)
        assert one.emulated
        assert due(session) is None
    with pytest.raises(IntegrityError), transaction(engine) as session:
        session.add(Injection(
            state=InjectionState.WAITING, seed=1, path="p", instructions=1, place=1, patches=1,
            environment="e", host="h", emulated=True,
        ))  # fmt: skip
    with transaction(engine) as session:
        one = repository.open_one(session)
        assert one is not None
        service.end(session, one, InjectionState.MISSED, "")
        # The runs before it were counted for it.
        assert due(session) is None


def test_where_no_kernel_was_built_none_is_drawn(engine: Engine) -> None:
    lab(engine, kernel=False)
    with transaction(engine) as session:
        assert due(session) is None


def test_it_waits_for_its_host_and_gives_it_back(engine: Engine) -> None:
    lab(engine)
    with transaction(engine) as session:
        one = due(session)
        assert one is not None
        host = locked_host(session, host_named(session, PATH.environment, PATH.host).id)
        absences.reserve(
            session, host, until=one.began_at + service.LASTS, reason="debugging", by="mira"
        )
        assert not service.hold_host(session, one)
        absences.release(session, host, by="mira")
        assert service.hold_host(session, one)
        assert service.hold_host(session, one)
        assert host.reserved_by == "mitigauge"
        service.end(session, one, InjectionState.MISSED, "")
        assert host.reserved_by == ""


def test_a_host_that_somebody_took_meanwhile_stays_theirs(engine: Engine) -> None:
    lab(engine)
    with transaction(engine) as session:
        one = due(session)
        assert one is not None
        assert service.hold_host(session, one)
        host = locked_host(session, host_named(session, PATH.environment, PATH.host).id)
        absences.reserve(session, host, until=one.began_at + service.LASTS, reason="x", by="mira")
        assert not service.holds_host(session, one)
        service.end(session, one, InjectionState.FAILED, "its host was taken back")
        assert host.reserved_by == "mira"


@pytest.mark.parametrize(
    ("verdict", "named", "state"),
    [
        (Verdict.WORSE, True, InjectionState.FOUND),
        (Verdict.WORSE, False, InjectionState.NOT_NAMED),
        (Verdict.SAME, None, InjectionState.MISSED),
        (Verdict.UNDECIDED, None, InjectionState.MISSED),
    ],
)
def test_what_was_said_is_scored_and_counted(
    engine: Engine, verdict: Verdict, named: bool | None, state: InjectionState
) -> None:
    lab(engine)
    with transaction(engine) as session:
        one = due(session)
        assert one is not None
        service.judged(session, one, verdict, WORSE, 680.0)
        # By hand: so many instructions of 2 ns, of 680 ns.
        assert one.true_percent == pytest.approx(one.instructions * 2 / 6.8)
        if named is not None:
            assert one.state is InjectionState.SEARCHING
            service.named(session, one, one.place if named else one.place + 1, "")
        assert one.state is state
        rates = {(each.name, each.emulated): each for each in error_rates(session)}
        rate = rates["injections", True]
        assert (rate.of, rate.wrong) == (1, int(state is not InjectionState.FOUND))


def test_one_that_could_not_be_measured_is_no_miss(engine: Engine) -> None:
    lab(engine)
    with transaction(engine) as session:
        one = due(session)
        assert one is not None
        service.end(session, one, InjectionState.FAILED, "the disk is full")
        assert not any(each.of for each in error_rates(session))


@pytest.fixture
def settings(tmp_path: Path) -> Iterator[Settings]:
    own = get_settings().model_copy(update={"home": tmp_path, "inject_every": 3, "blobs_url": ""})
    yield own
    BlindService(own).end()


def test_all_that_is_measured_is_in_a_database_of_its_own(
    engine: Engine, settings: Settings
) -> None:
    lab(engine)
    with transaction(engine) as session:
        begin_standing_jobs(session, Abilities(jobs=[Ability.KERNELS]))
        job = session.scalars(select(Job.id).where(Job.kind == JobKind.INJECTION)).one()
        before = rows(session)
    pause = JobAdvancer(engine, runners_of(settings), "w").advance(job)
    assert pause is not None
    blind = BlindService(settings)
    with transaction(engine) as session:
        one = repository.open_one(session)
        assert one is not None
        assert one.state is InjectionState.MEASURING, one.why
        after = rows(session)
    assert {table: after[table] - before[table] for table in after if after[table] != before[table]
            } == {"injection": 1}  # fmt: skip
    with blind.transaction() as own:
        series = own.scalars(select(Series)).one()
        assert len(series.revisions[0].patches) == one.patches
        asked = own.scalars(select(Job).where(Job.kind == JobKind.REVISION)).one()
        assert asked.subject == str(series.revisions[0].id)
        assert own.scalar(select(Injection.id)) is None


@pytest.mark.parametrize("ending", ["taken back", "late"])
def test_one_that_ends_before_its_time_ends_its_service_too(
    engine: Engine, settings: Settings, ending: str
) -> None:
    """Else its worker would go on booting a host that is somebody else's now."""
    lab(engine)
    with transaction(engine) as session:
        begin_standing_jobs(session, Abilities(jobs=[Ability.KERNELS]))
        job = session.scalars(select(Job.id).where(Job.kind == JobKind.INJECTION)).one()
    advancer = JobAdvancer(engine, runners_of(settings), "w")
    advancer.advance(job)
    home = BlindService(settings).home
    assert embedded_server.status(home).running
    with transaction(engine) as session:
        one = repository.open_one(session)
        assert one is not None
        if ending == "late":
            one.began_at -= 2 * service.LASTS
        else:
            host = locked_host(session, host_named(session, PATH.environment, PATH.host).id)
            until = one.began_at + service.LASTS
            absences.reserve(session, host, until=until, reason="x", by="mira")
        session.execute(text("update job set wake_at = now()"))
    advancer.advance(job)
    with transaction(engine) as session:
        assert repository.open_one(session) is None
        assert session.scalars(select(Injection.state)).one() is InjectionState.FAILED
    assert not embedded_server.status(home).running


def test_nothing_of_the_environment_makes_it_do_the_service_s_own_work(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MITIGAUGE_MAILDIR", "/var/mail/team")
    monkeypatch.setenv("MITIGAUGE_DATABASE_URL", "postgresql://team/mitigauge")
    monkeypatch.setenv("MITIGAUGE_BLOBS_URL", "s3://team/blobs")
    environment = BlindService(settings).environment
    own = {name: value for name, value in environment.items() if name.startswith("MITIGAUGE_")}
    assert own["MITIGAUGE_HOME"] == str(settings.home / "blind")
    assert own["MITIGAUGE_INJECT_EVERY"] == "0"
    assert not any("team" in value for value in own.values())


def rows(session: Session) -> dict[str, int]:
    """Table → rows, but for what a host's keeping and a job's steps write."""
    kept = {"job", "job_attempt", "job_line", "host_absence", "audit_entry"}
    tables = session.scalars(text("select tablename from pg_tables where schemaname = 'public'"))
    return {
        table: session.scalar(text(f'select count(*) from "{table}"')) or 0
        for table in tables
        if table not in kept and not table.startswith("procrastinate")
    }


def test_runs_of_other_environments_do_not_count(engine: Engine) -> None:
    lab(engine)
    with transaction(engine) as session:
        assert repository.runs_since_last(session, "attic") == 0
        run = session.scalars(select(Run)).first()
        assert run is not None
        run.state = RunState.FAILED
        session.flush()
        assert repository.runs_since_last(session, PATH.environment) == 2
        assert session.scalar(select(Bisection.id)) is None
