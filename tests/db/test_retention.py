"""Pruning: what is old and serves nobody goes; no value, verdict or proof ever does."""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
import threading
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Engine, select, text
from sqlalchemy.orm import Session

from mitigauge.core.settings import Settings
from mitigauge.measurement.experiments.tables import Event
from mitigauge.measurement.runs.tables import StepAttempt
from mitigauge.storage.database.metadata import whole_metadata
from mitigauge.storage.files.blobs import blob_store
from mitigauge.upkeep.retention import repository
from mitigauge.upkeep.retention.schemas import Pruned, Removed
from mitigauge.upkeep.retention.service import prune, prune_if_due
from tests import recording, zygote
from tests.postgres import filled

NOTHING_KEPT: dict[str, Any] = {
    name: 0 for name in Settings.model_fields if name.startswith("retention_")
}
# Whatever else is a table holds values, verdicts, what proves them, or what was asked.
MAY_LOSE_ROWS = {"event", "step_attempt", "pruning"}


@pytest.fixture
def settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Settings:
    """Settings that keep nothing, with directories of the test's own."""
    temporary = tmp_path / "tmp"
    temporary.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(temporary))
    return Settings(home=tmp_path / "home", **NOTHING_KEPT)


@pytest.fixture
def recorded(engine: Engine) -> Engine:
    """The recorded demo: one experiment that ended, with two runs."""
    filled(engine, recording.load)
    return engine


def rows_of(engine: Engine) -> dict[str, list[Any]]:
    with engine.connect() as connection:
        return {
            table.name: list(connection.execute(select(table).order_by(*table.primary_key)))
            for table in whole_metadata().sorted_tables
        }


def kinds_of_events(engine: Engine) -> set[str]:
    with Session(engine) as session:
        return set(session.scalars(select(Event.kind)))


def count(engine: Engine, table: type[Event | StepAttempt]) -> int:
    with Session(engine) as session:
        return len(session.scalars(select(table.id)).all())


def of_kind(pruned: Pruned, kind: str) -> Removed:
    return next(removed for removed in pruned.removed if removed.kind == kind)


def failures(pruned: Pruned) -> dict[str, str]:
    return {removed.kind: removed.error for removed in pruned.removed if removed.error}


def make_old(path: Path, days: float) -> None:
    moment = time.time() - days * 86400
    os.utime(path, (moment, moment))


def name_blob(engine: Engine, digest: str) -> None:
    with engine.begin() as connection:
        connection.execute(
            text("update result set raw_sha256 = :d where ctid = (select min(ctid) from result)"),
            {"d": digest},
        )


def test_with_every_limit_at_zero_no_value_verdict_or_proof_goes(
    recorded: Engine, settings: Settings
) -> None:
    store = blob_store(settings)
    kept = store.put(b"what a tool printed")
    name_blob(recorded, kept)
    gone = store.put(b"of a boot that was made again")
    before = rows_of(recorded)
    pruned = prune(recorded, settings)
    after = rows_of(recorded)
    # That something was deleted is recorded; nothing of what was recorded goes.
    assert [entry.action for entry in after.pop("audit_entry")] == ["database.prune"]
    assert before.pop("audit_entry") == []
    assert failures(pruned) == {}
    assert {name: after[name] for name in before.keys() - MAY_LOSE_ROWS} == {
        name: before[name] for name in before.keys() - MAY_LOSE_ROWS
    }
    assert store.read(kept) == b"what a tool printed"
    assert [s.digest for page in store.listed() for s in page] == [kept] != [gone]
    assert after["step_attempt"] == []
    stayed = [event for event in before["event"] if event.kind not in repository.CHATTER]
    assert after["event"] == stayed
    assert {"submitted", "finished", "boot.verify", "measure.poll"} <= kinds_of_events(recorded)
    assert of_kind(pruned, "events").count == len(before["event"]) - len(stayed) > 0
    assert of_kind(pruned, "step attempts").count == len(before["step_attempt"]) > 0
    assert of_kind(pruned, "events").bytes > 1000


def test_every_table_that_may_lose_rows_is_named_here_and_every_other_holds_what_counts() -> None:
    values = {
        "boot",
        "result",
        "measurement",
        "verdict",
        "profile",
        "fingerprint",
        "claim",
        "aa_outcome",
    }
    assert values | MAY_LOSE_ROWS <= set(whole_metadata().tables)


def test_what_a_dry_run_says_is_what_then_goes(recorded: Engine, settings: Settings) -> None:
    store = blob_store(settings)
    name_blob(recorded, store.put(b"named"))
    store.put(b"orphan")
    scratch = settings.home / "ansible-runner" / "run-dead"
    scratch.mkdir(parents=True)
    (scratch / "secret").write_bytes(b"x" * 100)
    before = rows_of(recorded)
    said = prune(recorded, settings, dry_run=True)
    assert rows_of(recorded) == before
    assert (scratch / "secret").is_file()
    assert len([s for page in store.listed() for s in page]) == 2
    did = prune(recorded, settings)
    for would, went in zip(said.removed, did.removed, strict=True):
        assert (would.kind, would.count) == (went.kind, went.count)
        # PostgreSQL counts a few bytes of a row it deletes otherwise.
        assert would.bytes == pytest.approx(went.bytes, rel=0.01)
    assert of_kind(did, "scratch directories") == Removed(
        kind="scratch directories", count=1, bytes=100
    )
    again = prune(recorded, settings)
    assert {removed.kind for removed in again.removed if removed.count} == set()


def test_an_experiment_keeps_its_lines_as_long_as_the_settings_say(
    recorded: Engine, settings: Settings
) -> None:
    kept = settings.model_copy(
        update={
            "retention_events_days": 10,
            "retention_attempts_days": 10,
            "retention_events_per_experiment": 1000,
        }
    )
    ended(recorded, days_ago=9.9)
    pruned = prune(recorded, kept)
    assert of_kind(pruned, "events").count == of_kind(pruned, "step attempts").count == 0
    ended(recorded, days_ago=10.1)
    pruned = prune(recorded, kept)
    assert of_kind(pruned, "events").count > 0
    assert of_kind(pruned, "step attempts").count > 0


def ended(engine: Engine, *, days_ago: float) -> None:
    with engine.begin() as connection:
        for table in ("run", "experiment"):
            connection.execute(
                text(f"update {table} set finished_at = now() - make_interval(secs => :s)"),
                {"s": days_ago * 86400},
            )


def test_of_too_many_lines_the_latest_stay(recorded: Engine, settings: Settings) -> None:
    chatter = select(Event.id).where(Event.kind.in_(repository.CHATTER)).order_by(Event.id)
    with Session(recorded) as session:
        before = list(session.scalars(chatter))
    ended(recorded, days_ago=1)
    kept = settings.model_copy(
        update={"retention_events_days": 10, "retention_events_per_experiment": 7}
    )
    prune(recorded, kept)
    with Session(recorded) as session:
        assert list(session.scalars(chatter)) == before[-7:]


@pytest.mark.parametrize("state", ["queued", "running"])
def test_nothing_of_a_run_that_goes_on_goes(
    recorded: Engine, settings: Settings, state: str
) -> None:
    with recorded.begin() as connection:
        connection.execute(text(f"update run set state = '{state}'"))
    before = rows_of(recorded)
    prune(recorded, settings)
    after = rows_of(recorded)
    assert after["event"] == before["event"]
    assert after["step_attempt"] == before["step_attempt"]


def test_attempts_of_a_run_that_still_holds_its_host_stay(
    recorded: Engine, settings: Settings
) -> None:
    with recorded.begin() as connection:
        connection.execute(
            text("update host_lease set released_at = null where id = (select min(id) from"
                 " host_lease)")
        )  # fmt: skip
        holder = connection.scalar(text("select run_id from host_lease where released_at is null"))
    prune(recorded, settings)
    with Session(recorded) as session:
        assert set(session.scalars(select(StepAttempt.run_id))) == {holder}


def test_a_row_that_somebody_has_locked_is_not_waited_for(
    recorded: Engine, settings: Settings
) -> None:
    with recorded.connect() as other:
        other.execute(text("select id from step_attempt order by id limit 1 for update"))
        # It would wait until its limit, and say so.
        pruned = prune(recorded, settings)
    assert failures(pruned) == {}
    assert count(recorded, StepAttempt) == 1
    prune(recorded, settings)
    assert count(recorded, StepAttempt) == 0


def test_a_locked_table_costs_its_kind_a_second_and_the_others_nothing(
    recorded: Engine, settings: Settings
) -> None:
    with recorded.connect() as other:
        other.execute(text("lock table event"))
        pruned = prune(recorded, settings)
    assert failures(pruned).keys() == {"events"}
    assert "lock timeout" in failures(pruned)["events"]
    assert of_kind(pruned, "step attempts").count > 0
    assert failures(prune(recorded, settings)) == {}


def test_of_many_prunings_at_once_one_does_the_work(recorded: Engine, settings: Settings) -> None:
    before = count(recorded, StepAttempt)
    done: list[Pruned] = []
    together = threading.Barrier(4)

    def work() -> None:
        together.wait()
        done.append(prune(recorded, settings))

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    worked = [pruned for pruned in done if not pruned.skipped]
    assert sum(of_kind(pruned, "step attempts").count for pruned in worked) == before
    with repository.alone(recorded) as alone:
        assert alone
        assert "another process" in prune(recorded, settings).skipped


def test_a_pruning_that_is_broken_off_is_gone_on_with(
    recorded: Engine, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(repository, "BATCH", 10)
    before = count(recorded, StepAttempt)

    def break_off(kind: str, done: int) -> None:
        if kind == "step attempts" and done >= 20:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        prune(recorded, settings, progress=break_off)
    assert count(recorded, StepAttempt) == before - 20
    pruned = prune(recorded, settings)
    assert of_kind(pruned, "step attempts").count == before - 20
    assert count(recorded, StepAttempt) == 0


def test_a_database_that_goes_away_in_between_is_said_and_nothing_is_raised(
    recorded: Engine, settings: Settings
) -> None:
    def hang_up(kind: str, done: int) -> None:
        if kind == "step attempts" and not done:
            with recorded.connect() as connection:
                connection.execute(
                    text("select pg_terminate_backend(pid) from pg_stat_activity where"
                         " datname = current_database() and pid <> pg_backend_pid()")
                )  # fmt: skip

    prune(recorded, settings, progress=hang_up)
    assert not prune(recorded, settings).skipped
    assert count(recorded, StepAttempt) == 0


def test_a_raw_file_goes_when_nothing_names_it_and_it_is_old(
    recorded: Engine, settings: Settings
) -> None:
    settings = settings.model_copy(update={"retention_blobs_days": 2})
    store = blob_store(settings)
    named, profile, old, young = (
        store.put(content) for content in (b"named", b"profile", b"old", b"young")
    )
    name_blob(recorded, named)
    with recorded.begin() as connection:
        connection.execute(text("update profile set raw_sha256 = :d"), {"d": profile})
    for digest in (named, profile, old):
        make_old(settings.blobs / digest[:2] / digest, 3)
    make_old(settings.blobs / young[:2] / young, 1.9)
    torn = settings.blobs / old[:2] / f".{old}.0123abcd.part"
    torn.write_bytes(b"o")
    pruned = prune(recorded, settings)
    assert of_kind(pruned, "raw files without an owner") == Removed(
        kind="raw files without an owner", count=1, bytes=3
    )
    left = {stored.digest for page in store.listed() for stored in page}
    assert left == {named, profile, young}
    assert torn.is_file()


def test_a_raw_file_that_is_stored_again_is_young_again(
    recorded: Engine, settings: Settings
) -> None:
    settings = settings.model_copy(update={"retention_blobs_days": 2})
    store = blob_store(settings)
    name_blob(recorded, store.put(b"named"))
    digest = store.put(b"orphan")
    make_old(settings.blobs / digest[:2] / digest, 3)
    store.put(b"orphan")
    prune(recorded, settings)
    assert store.read(digest) == b"orphan"


def test_another_databases_store_is_left_alone(recorded: Engine, settings: Settings) -> None:
    store = blob_store(settings)
    digests = {store.put(f"raw {number}".encode()) for number in range(3)}
    pruned = prune(recorded, settings)
    assert failures(pruned).keys() == {"raw files without an owner"}
    assert "may be another one's store" in failures(pruned)["raw files without an owner"]
    assert {stored.digest for page in store.listed() for stored in page} == digests


def test_every_text_column_that_ends_in_sha256_names_a_blob_unless_it_is_known_not_to() -> None:
    columns = {f"{c.table.name}.{c.name}" for c in repository.naming_columns(whole_metadata())}
    assert columns >= {"result.raw_sha256", "profile.raw_sha256"}
    assert "result.body_sha256" not in columns


def test_a_store_that_is_away_keeps_nothing_else_from_being_pruned(
    recorded: Engine, settings: Settings
) -> None:
    settings.home.mkdir()
    settings.blobs.write_text("no directory")
    pruned = prune(recorded, settings)
    assert set(failures(pruned)) == {"raw files without an owner", "raw files never finished"}
    assert "cannot be used" in failures(pruned)["raw files without an owner"]
    assert of_kind(pruned, "step attempts").count > 0


def test_only_real_directories_of_this_account_that_dead_processes_left_go(
    recorded: Engine, settings: Settings
) -> None:
    temporary = Path(tempfile.gettempdir())
    precious = settings.home / "precious"
    precious.mkdir(parents=True)
    (precious / "file").touch()
    (temporary / "mitigauge-job-abcd1234").symlink_to(precious)
    stays = ["mitigauge-pg-0123456789abcdef", "mitigauge-0-0123456789ab", "other-job-abcd1234"]
    for name in stays:
        (temporary / name).mkdir()
    goes = [temporary / "mitigauge-results-a_b1c2d3", settings.home / "ansible-runner" / "run-xyz"]
    for directory in goes:
        (directory / "below" / "it").mkdir(parents=True)
        (directory / "below" / "file").write_bytes(b"12345")
    waiting = settings.model_copy(update={"retention_scratch_days": 1})
    assert of_kind(prune(recorded, waiting), "scratch directories").count == 0
    pruned = prune(recorded, settings)
    assert of_kind(pruned, "scratch directories") == Removed(
        kind="scratch directories", count=2, bytes=10
    )
    assert not any(directory.exists() for directory in goes)
    assert (precious / "file").exists()
    assert all((temporary / name).is_dir() for name in stays)


def test_a_directory_that_cannot_go_is_named_and_the_next_one_goes(
    recorded: Engine, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = settings.home / "ansible-runner"
    for name in ("run-a", "run-b"):
        (root / name).mkdir(parents=True)
    remove = os.rmdir

    def refusing(path: Any, **more: Any) -> None:
        if str(path).endswith("run-a"):
            raise PermissionError(1, "Operation not permitted", str(path))
        remove(path, **more)

    monkeypatch.setattr(os, "rmdir", refusing)
    pruned = prune(recorded, settings)
    monkeypatch.undo()
    assert "run-a" in failures(pruned)["scratch directories"]
    assert [path.name for path in root.iterdir()] == ["run-a"]


def test_logs_are_shortened_and_consoles_keep_the_places_of_their_lines(
    recorded: Engine, settings: Settings
) -> None:
    settings = settings.model_copy(update={"retention_log_bytes": 1_000_000})
    names = ["log/demo-serve.log", "postgres/server.log", "lab/hosts/lab-amd/serial.log"]
    for name in names:
        path = settings.home / name
        path.parent.mkdir(parents=True)
        path.write_bytes(b"0123456789abcde\n" * 200_000)
    pruned = prune(recorded, settings)
    assert of_kind(pruned, "service logs cut").count == 2
    assert of_kind(pruned, "console logs cut").count == 1
    for name in names[:2]:
        assert 400_000 < (settings.home / name).stat().st_size <= 500_000
    console = settings.home / names[2]
    assert console.stat().st_size == 3_200_000
    assert console.stat().st_blocks * 512 < 600_000
    assert console.read_bytes()[-500_000:] == b"0123456789abcde\n" * 31_250


def add_job(engine: Engine, status: str, *, worker: int | None = None, run: int, days: int) -> str:
    """A job whose last news is *days* old; returns its name."""
    name = f"{status} {worker} {run} {days}"
    with engine.begin() as connection:
        number = connection.scalar(
            text(
                "insert into procrastinate_jobs (queue_name, task_name, status, worker_id, args)"
                " values ('runs', :name, 'todo', :worker, jsonb_build_object('run_id',"
                " cast(:run as int))) returning id"
            ),
            {"name": name, "worker": worker, "run": run},
        )
        connection.execute(
            text("update procrastinate_jobs set status = cast(:s as procrastinate_job_status)"
                 " where id = :id"),
            {"s": status, "id": number},
        )  # fmt: skip
        connection.execute(
            text("update procrastinate_events set at = now() - make_interval(days => :days)"
                 " where job_id = :id"),
            {"days": days, "id": number},
        )  # fmt: skip
    return name


def test_jobs_that_nobody_works_on_any_more_leave_the_queue(
    recorded: Engine, settings: Settings
) -> None:
    settings = settings.model_copy(update={"retention_queue_days": 1})
    with recorded.begin() as connection:
        living, dead = connection.scalars(
            text(
                "insert into procrastinate_workers (last_heartbeat)"
                " values (now()), (now() - interval '3 days') returning id"
            )
        ).all()
        over, going_on = connection.scalars(text("select id from run order by id")).all()
        connection.execute(
            text("update run set state = 'running' where id = :id"), {"id": going_on}
        )
    stay = {
        add_job(recorded, "todo", run=going_on, days=3),
        add_job(recorded, "todo", run=over, days=0),
        add_job(recorded, "doing", worker=living, run=going_on, days=3),
        add_job(recorded, "doing", worker=dead, run=going_on, days=0),
        add_job(recorded, "failed", run=over, days=0),
    }
    for status, worker, run in [
        ("todo", None, over),
        ("todo", None, 999),
        ("doing", dead, going_on),
        ("doing", None, going_on),
        ("failed", None, over),
    ]:
        add_job(recorded, status, worker=worker, run=run, days=3)
    pruned = prune(recorded, settings)
    assert failures(pruned) == {}
    with recorded.connect() as connection:
        names = set(connection.scalars(text("select task_name from procrastinate_jobs")))
        workers = list(connection.scalars(text("select id from procrastinate_workers")))
    assert names == stay
    assert workers == [living]
    assert of_kind(pruned, "queue rows").count == 6


def test_a_pruning_is_due_once_a_day_whoever_asks(recorded: Engine, settings: Settings) -> None:
    assert prune_if_due(recorded, settings) is not None
    assert prune_if_due(recorded, settings) is None
    prune(recorded, settings, dry_run=True)
    with recorded.begin() as connection:
        kept = connection.execute(text("select removed from pruning")).one()
        connection.execute(text("update pruning set finished_at = now() - interval '25 hours'"))
    assert {entry["kind"] for entry in kept.removed} >= {"events", "step attempts"}
    assert prune_if_due(recorded, settings) is not None


def run_command(words: list[str], url: str, home: Path) -> subprocess.CompletedProcess[str]:
    environment = {f"MITIGAUGE_{name.upper()}": "0" for name in NOTHING_KEPT}
    env = {
        **os.environ, **environment, "TMPDIR": str(home),
        "MITIGAUGE_DATABASE_URL": url, "MITIGAUGE_HOME": str(home), "COLUMNS": "200",
    }  # fmt: skip
    return zygote.run("mitigauge", words, env=env, timeout=120)


def test_the_command_says_what_would_go_and_what_went(
    recorded: Engine, database_url: str, tmp_path: Path
) -> None:
    words = ["db", "prune"]
    dry = run_command([*words, "--dry-run"], database_url, tmp_path)
    assert dry.returncode == 0, dry.stderr
    assert "would go" in dry.stdout
    assert "step attempts" in dry.stdout
    did = run_command([*words, "--json"], database_url, tmp_path)
    assert did.returncode == 0, did.stderr
    pruned = Pruned.model_validate(json.loads(did.stdout))
    assert f"{of_kind(pruned, 'step attempts').count}" in dry.stdout
    assert of_kind(pruned, "events").count > 0
    again = run_command(words, database_url, tmp_path)
    assert "nothing is old enough to go" in again.stdout
    (tmp_path / "blobs" / "00").mkdir(exist_ok=True)
    blob_store(Settings(home=tmp_path)).put(b"another database's")
    refused = run_command(words, database_url, tmp_path)
    assert refused.returncode == 1
    assert "not all of the raw files without an owner" in refused.stderr


def test_clocks_that_differ_make_no_file_older_than_it_is(
    recorded: Engine, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = settings.model_copy(update={"retention_blobs_days": 2})
    store = blob_store(settings)
    name_blob(recorded, store.put(b"named"))
    digest = store.put(b"in flight")
    ahead = datetime.now(UTC) + timedelta(days=30)
    monkeypatch.setattr(repository, "now", lambda _: ahead)
    prune(recorded, settings)
    assert store.read(digest) == b"in flight"


def test_logs_of_jobs_go_with_time_but_for_those_that_go_on(
    engine: Engine, settings: Settings
) -> None:
    with engine.begin() as connection:
        connection.execute(
            text(
                "insert into job (kind, subject, need, asked_by, state) values"
                " ('kernel', 'a', 'kernels', 'ann', 'done'),"
                " ('bisection', 'b', 'kernels', 'ann', 'running'),"
                " ('archives', '', 'archives', 'mitigauge', 'running')"
            )
        )
        for days in (1, 400):
            connection.execute(
                text(
                    f"insert into job_event (job_id, text, at)"
                    f" select id, 'x', now() - interval '{days} days' from job"
                )
            )
    kept = settings.model_copy(update={"retention_attempts_days": 180})
    assert of_kind(prune(engine, kept), "step attempts").count == 2
    with engine.connect() as connection:
        wanted = "select kind, count(*) from job_event join job on job.id = job_id group by kind"
        left = {row.kind: row.count for row in connection.execute(text(wanted))}
        assert left == {"kernel": 1, "bisection": 2, "archives": 1}
