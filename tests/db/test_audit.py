"""The audit log in the database: append-only, bounded, and one with the change it is about."""

from __future__ import annotations

import getpass
import json
import platform
from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import Engine, select, text
from sqlalchemy.exc import DBAPIError
from typer.testing import CliRunner

from cli.audit import app
from mitigauge.access.audit import repository, schema_upgrade, service, tables, views
from mitigauge.access.audit.actions import Action, Subject, SubjectKind
from mitigauge.access.audit.repository import AuditFilter
from mitigauge.access.audit.tables import AuditEntry
from mitigauge.access.audit.values import CUT, LARGEST, bounded
from mitigauge.core import actor as actors
from mitigauge.core.actor import Actor, Way, acting, acting_by_mail
from mitigauge.core.settings import get_settings
from mitigauge.jobs import service as jobs
from mitigauge.jobs.states import JobState
from mitigauge.measurement.runs import outcomes
from mitigauge.measurement.runs import service as runs
from mitigauge.measurement.runs.preparation import Preparation
from mitigauge.measurement.runs.tables import Run
from mitigauge.storage.database.engine import transaction
from mitigauge.storage.files.blobs import blob_store
from mitigauge.tracking.bisect import service as bisections
from pipelines.advance import Advancer
from pipelines.jobs.context import JobContext, JobDone
from tests import next_version
from tests.api.conftest import planned
from tests.audit_entries import entries
from tests.bisections import begun, patches
from tests.db.test_jobs import ASKED, Scripted, advancer

HOST = Subject(SubjectKind.HOST, "lab/alpha")
SECRET = "mgt_" + 43 * "s"


def note(engine: Engine, **values: object) -> AuditEntry:
    with transaction(engine) as session:
        service.record(session, Action.HOST_RESUME, HOST, after=values)
    return entries(engine)[-1]


@pytest.mark.parametrize(
    "statement",
    [
        "update audit_entry set actor = 'somebody else'",
        "update audit_entry set actor = actor where false",
        "delete from audit_entry",
        "delete from audit_entry where id = 1",
        "truncate audit_entry",
        "with gone as (delete from audit_entry returning 1) select * from gone",
        "insert into audit_entry select * from audit_entry "
        "on conflict (id) do update set actor = 'x'",
    ],
)
@pytest.mark.parametrize("before", ["select 1", "set local session_replication_role = replica"])
def test_the_services_own_user_can_alter_no_entry(
    engine: Engine, statement: str, before: str
) -> None:
    first = note(engine)
    with engine.connect() as connection:
        connection.execute(text(before))
        with pytest.raises(DBAPIError, match="the audit log is append-only"):
            connection.execute(text(statement))
    [same] = entries(engine)
    assert (same.id, same.actor, same.at) == (first.id, first.actor, first.at)


def ask_and_fail(engine: Engine) -> None:
    with transaction(engine) as session:
        jobs.ask(session, ASKED)
        session.flush()
        raise RuntimeError("after the change")


def test_an_entry_is_stored_with_its_change_or_neither_is(engine: Engine) -> None:
    with pytest.raises(RuntimeError):
        ask_and_fail(engine)
    assert entries(engine) == []
    with transaction(engine) as session:
        number = jobs.ask(session, ASKED).id
    [entry] = entries(engine)
    assert (entry.action, entry.subject) == ("job.ask", str(number))
    # Asked for again, nothing changes.
    with transaction(engine) as session:
        jobs.ask(session, ASKED)
    assert len(entries(engine)) == 1


def test_whatever_is_said_an_entry_is_short_and_can_be_stored(engine: Engine) -> None:
    long = "\x00\x1b[31m\N{SNOWMAN}" * 5000
    who = Actor(long, Way.MAIL, long, long, long)
    many = {f"{name}{long}": [long] * 100 for name in range(100)}
    with acting(who), transaction(engine) as session:
        subject = Subject(SubjectKind.MAIL, long)
        service.record(session, Action.MAIL_SEND, subject, before=many, after={"text": long})
        service.record_refusal(session, Action.MAIL_SEND, subject, long)
    first, second = entries(engine)
    assert len(first.actor) == tables.LONGEST_ACTOR
    assert first.before == CUT
    assert len(first.after["text"]) == 300
    assert len(second.refused) == tables.LONGEST_REFUSED
    assert not any(c in str(first.after) + first.actor for c in "\x00\x1b\n")


def test_values_keep_their_kinds_and_what_is_not_said_is_left_out() -> None:
    said = bounded({"a": 1, "b": True, "c": None, "d": 0.123456789, "e": ["x", 2], "f": "y"})
    assert said == {"a": 1, "b": True, "d": 0.123457, "e": ["x", "2"], "f": "y"}
    assert bounded(None) == {}
    assert len(json.dumps(bounded({str(n): "x" * 300 for n in range(20)}))) < LARGEST


@pytest.mark.parametrize(
    "text_with_secret",
    [SECRET, f"Bearer {SECRET}", "postgresql://u:hunter22@h/n", "password=hunter22 host=h"],
)
def test_no_secret_stands_in_an_entry(engine: Engine, text_with_secret: str) -> None:
    with acting(Actor(text_with_secret, Way.API, text_with_secret)):
        entry = note(engine, reason=text_with_secret, items=[text_with_secret])
    whole = f"{entry.actor} {entry.address} {entry.after}"
    assert SECRET not in whole
    assert "hunter22" not in whole


@pytest.fixture
def no_cache() -> Iterator[None]:
    actors.person_at_command.cache_clear()
    yield
    actors.person_at_command.cache_clear()


def test_a_command_is_its_callers_by_login_and_machine(
    engine: Engine, monkeypatch: pytest.MonkeyPatch, no_cache: None
) -> None:
    entry = note(engine)
    assert (entry.way, entry.address) == (Way.COMMAND, platform.node())
    monkeypatch.delenv("LOGNAME", raising=False)
    assert entry.actor.split()[0] == getpass.getuser()
    actors.person_at_command.cache_clear()
    monkeypatch.setenv("SUDO_USER", "alice")
    assert note(engine).actor.endswith("(sudo by alice)")
    actors.person_at_command.cache_clear()
    monkeypatch.delenv("SUDO_USER")
    monkeypatch.setattr("os.getuid", lambda: 2**31 - 7)
    assert note(engine).actor == f"user {2**31 - 7}"


def test_what_a_worker_does_has_its_name_and_the_jobs_number(engine: Engine) -> None:
    with transaction(engine) as session:
        number = jobs.ask(session, ASKED).id

    def build(context: JobContext) -> JobDone:
        with context.transaction() as session:
            service.record(session, Action.HOST_RESUME, HOST)
        return JobDone(state=JobState.DONE)

    advancer(engine, Scripted(build)).advance(number)
    asked, *done = entries(engine)
    assert asked.way == Way.COMMAND
    assert [(e.action, e.after.get("state")) for e in done] == [
        ("job.begin", "running"), ("host.resume", None), ("job.end", "done"),
    ]  # fmt: skip
    for entry in done:
        assert (entry.actor, entry.way, entry.job) == ("w1", Way.WORKER, f"job {number}")
        assert entry.address == platform.node()


def test_steps_and_leases_are_not_recorded(engine: Engine) -> None:
    with transaction(engine) as session:
        number = jobs.ask(session, ASKED).id
    taker = advancer(engine, Scripted(lambda _: JobDone()))
    for _ in range(3):
        taker.advance(number)
    assert [entry.action for entry in entries(engine)] == ["job.ask", "job.begin"]


def test_an_experiment_is_begun_and_ended_by_the_run_that_did_it(
    engine: Engine, home: Path
) -> None:
    experiment = planned(engine)
    with transaction(engine) as session:
        run = session.scalars(text("select id from run")).one()

    def away(*_: object) -> None:
        raise RuntimeError("no host")

    with acting(Actor("w1", Way.WORKER, "m")):
        Advancer(engine, away).advance(run)
    [begun] = entries(engine, "experiment.begin")
    assert (begun.actor, begun.job, begun.subject) == ("w1", f"run {run}", str(experiment))
    with transaction(engine) as session:
        runs.cancel(session, experiment)
    assert len(entries(engine, "experiment.cancel")) == 1
    # One whose run has no host yet ends at once.
    other = planned(engine)
    with transaction(engine) as session:
        runs.cancel(session, other)
    [ended] = entries(engine, "experiment.end")
    assert (ended.subject, ended.after) == (str(other), {"state": "cancelled"})


def test_a_rule_that_sets_a_host_aside_or_takes_it_back_is_recorded_and_logged(
    engine: Engine, home: Path, caplog: pytest.LogCaptureFixture
) -> None:
    planned(engine)
    with acting(Actor("w1", Way.WORKER, "m", job="run 1")), transaction(engine) as session:
        run = session.scalars(select(Run)).one()
        outcomes.set_aside(session, run, "it does not answer")
        outcomes.prepared(session, run, Preparation(), {})
    *_, aside, back = entries(engine)
    assert (aside.action, aside.subject, aside.way) == ("host.set-aside", "lab/alpha", Way.WORKER)
    assert aside.after["reason"] == "it does not answer"
    assert (back.action, back.before, back.job) == (
        "host.resume", {"reason": "it does not answer"}, "run 1",
    )  # fmt: skip
    assert [record.message for record in caplog.records] == ["host set aside"]


def test_a_bisection_that_ends_says_how(engine: Engine, home: Path) -> None:
    number = begun(engine, blob_store(get_settings()), patches("one", "two"))
    with transaction(engine) as session:
        bisections.fail(session, number, "our side gave it up")
    [entry] = entries(engine, "bisection.end")
    assert (entry.subject, entry.before) == (str(number), {"state": "running"})
    assert entry.after == {"state": "failed", "why": "our side gave it up"}


def test_a_mails_sender_acts_by_mail_for_the_job_that_read_it(engine: Engine) -> None:
    with acting(Actor("w1", Way.WORKER, "m", job="job 7")), acting_by_mail("ann@example.org"):
        entry = note(engine)
    assert (entry.actor, entry.way, entry.job) == ("ann@example.org", Way.MAIL, "job 7")


def test_a_host_that_a_person_works_on_is_recorded(engine: Engine, home: Path) -> None:
    planned(engine)
    with transaction(engine) as session:
        assert runs.keep_out(session, "lab", "alpha", "`mitigauge host restore`")
        assert runs.bring_back(session, "lab", "alpha")
    found = [entry.action for entry in entries(engine)]
    assert found[-2:] == ["host.set-aside", "host.resume"]


def test_an_upgrade_of_the_schema_is_recorded_and_making_it_is_not(
    database_url: str, tmp_path: Path
) -> None:
    from mitigauge.storage.database.engine import new_engine

    engine = new_engine(database_url)
    assert entries(engine) == []
    with next_version.installed(tmp_path):
        schema_upgrade.upgrade(database_url)
    [entry] = entries(engine)
    assert (entry.action, entry.before) == ("database.upgrade", {"schema": next_version.NOW})
    engine.dispose()


@pytest.fixture
def listed(
    engine: Engine, database_url: str, home: Path, monkeypatch: pytest.MonkeyPatch
) -> CliRunner:
    """Runs `mitigauge audit` over three entries."""
    monkeypatch.setenv("MITIGAUGE_DATABASE_URL", database_url)
    monkeypatch.setattr("mitigauge.storage.database.engine.get_engine", lambda: engine)
    get_settings.cache_clear()
    note(engine, reason="one")
    with acting(Actor("ann", Way.API, "10.0.0.7", "r1")), transaction(engine) as session:
        service.record(
            session, Action.TREND_ACCEPT, Subject(SubjectKind.TREND, 7),
            before={"state": "open"}, after={"state": "accepted"},
        )  # fmt: skip
        service.record_refusal(session, Action.HOST_RESUME, HOST, "ann is submitter\x1b[2J")
    return CliRunner()


def test_the_command_lists_and_filters(listed: CliRunner) -> None:
    shown = listed.invoke(app, ["list"], env={"COLUMNS": "250"}).stdout
    assert "state open → accepted" in shown
    assert "refused: ann is submitter" in shown
    assert "\x1b" not in shown

    def found(*words: str) -> list[str]:
        done = listed.invoke(app, ["list", "--json", *words])
        assert done.exit_code == 0, done.output
        return [entry["action"] for entry in json.loads(done.stdout)["entries"]]

    assert found() == ["host.resume", "trend.accept", "host.resume"]
    assert found("--actor", "ann", "--done") == ["trend.accept"]
    assert found("--refused") == ["host.resume"]
    assert found("--subject-kind", "trend", "--subject", "7") == ["trend.accept"]
    assert found("--action", "trend.accept", "--since", "2020-01-01") == ["trend.accept"]
    assert found("--until", "2020-01-01T00:00") == []
    page = json.loads(listed.invoke(app, ["list", "--json", "--limit", "2"]).stdout)
    assert found("--before", str(page["next_before"])) == ["host.resume"]
    for wrong in (["--action", "x.y"], ["--since", "yesterday"], ["--subject-kind", "x"]):
        assert listed.invoke(app, ["list", *wrong]).exit_code == 1


def test_an_export_is_whole_and_replaces_nothing(
    listed: CliRunner, engine: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("mitigauge.access.audit.repository.CHUNK", 2)
    file = tmp_path / "audit.jsonl"
    done = listed.invoke(app, ["export", "-o", str(file)])
    assert done.exit_code == 0, done.output
    lines = [json.loads(line) for line in file.read_text().splitlines()]
    assert [line["id"] for line in lines] == [entry.id for entry in entries(engine)]
    assert lines[1]["request_id"] == "r1"
    again = listed.invoke(app, ["export", "-o", str(file)])
    assert (again.exit_code, len(file.read_text().splitlines())) == (1, 3)
    assert sorted(path.name for path in tmp_path.glob("*.part")) == []
    assert listed.invoke(app, ["export", "-o", str(tmp_path / "no" / "a")]).exit_code == 1


def test_an_export_ends_at_what_there_was_when_it_began(engine: Engine) -> None:
    for number in range(5):
        note(engine, number=number)
    with transaction(engine) as session:
        found = views.export_entries(session)
        first = next(found)
        note(engine, number=5)
        rest = list(found)
        assert repository.count(session, AuditFilter()) == 6
    assert [e.after["number"] for e in (first, *rest)] == [0, 1, 2, 3, 4]
