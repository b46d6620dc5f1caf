"""The service's own backups: taken by a worker when they are due, and removed by a rule."""

from __future__ import annotations

import os
import time
from datetime import timedelta
from pathlib import Path

import pytest
from sqlalchemy import Engine, select, text

from mitigauge.core.errors import InvalidInput, StaleEpoch
from mitigauge.core.settings import Settings
from mitigauge.jobs.service import SERVICE, JobRequest, ask, find
from mitigauge.jobs.states import Ability, JobKind, JobState
from mitigauge.storage.database.engine import database_now, transaction
from mitigauge.upkeep.backups import service
from mitigauge.upkeep.backups.manifest import OLD_SUFFIX, SUFFIX, read_manifest
from mitigauge.upkeep.backups.repository import last_finished
from mitigauge.upkeep.backups.tables import Backup
from pipelines.abilities import find_abilities
from pipelines.jobs import begin_standing_jobs, runners_of
from pipelines.jobs.engine import JobAdvancer
from tests.audit_entries import entries


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    (tmp_path / "kept").mkdir()
    (tmp_path / "home").mkdir()
    return Settings(
        home=tmp_path / "home", backup_directory=str(tmp_path / "kept"), backup_keep_days=14
    )


@pytest.fixture
def advancer(engine: Engine, settings: Settings) -> JobAdvancer:
    return JobAdvancer(engine, runners_of(settings), "w1", 30.0)


@pytest.fixture
def job(engine: Engine) -> int:
    with transaction(engine) as session:
        return ask(session, JobRequest(JobKind.BACKUP, "", "take backups", SERVICE)).id


def backups(engine: Engine) -> list[Backup]:
    with transaction(engine) as session:
        return list(session.scalars(select(Backup).order_by(Backup.id)))


def make_older(engine: Engine, days: float) -> None:
    with engine.begin() as connection:
        connection.execute(
            text("update backup set taken_at = taken_at - make_interval(secs => :s)"),
            {"s": days * 86400},
        )


def files(settings: Settings) -> list[str]:
    return sorted(path.name for path in Path(settings.backup_directory).iterdir())


def test_one_is_taken_when_none_was_and_the_next_when_it_is_old_enough(
    engine: Engine, advancer: JobAdvancer, settings: Settings, job: int
) -> None:
    assert advancer.advance(job) == pytest.approx(600)
    [first] = backups(engine)
    path = Path(first.path)
    assert files(settings) == [path.name]
    manifest = read_manifest(path)
    assert (first.scheduled, first.verified, first.bytes) == (True, True, manifest.bytes)
    assert first.taken_at == manifest.taken_at
    assert first.finished_at is not None
    assert advancer.advance(job) == pytest.approx(600)
    assert len(backups(engine)) == 1
    make_older(engine, 0.999)
    assert advancer.advance(job) < 100
    assert len(backups(engine)) == 1
    make_older(engine, 0.002)
    time.sleep(1.1)  # A name has the time in seconds.
    advancer.advance(job)
    assert len(files(settings)) == len(backups(engine)) == 2
    with transaction(engine) as session:
        assert find(session, job).state is JobState.RUNNING


def test_a_clock_that_was_a_year_ahead_puts_off_no_backup(
    engine: Engine, advancer: JobAdvancer, settings: Settings, job: int
) -> None:
    advancer.advance(job)
    make_older(engine, -365)
    assert service.seconds_until_due(engine, 24) == 0
    time.sleep(1.1)  # A name has the time in seconds.
    advancer.advance(job)
    assert len(backups(engine)) == 2
    # The next one is due by the one that was taken last, not by the one from the future.
    assert service.seconds_until_due(engine, 24) == pytest.approx(24 * 3600, abs=60)


def test_a_persons_backup_puts_off_none_of_the_services_and_is_never_removed(
    engine: Engine, settings: Settings
) -> None:
    out = Path(settings.backup_directory) / f"mine{SUFFIX}"
    service.take_backup(engine, settings, out)
    assert service.seconds_until_due(engine, 24) == 0
    make_older(engine, 1000)
    assert service.remove_old(engine, settings) == []
    assert out.exists()
    with transaction(engine) as session:
        last = last_finished(session)
    assert last is not None
    assert last.path == str(out)


def add(engine: Engine, path: Path, days: float, *, finished: bool = True) -> None:
    with transaction(engine) as session:
        at = database_now(session) - timedelta(days=days)
        session.add(
            Backup(
                path=str(path), scheduled=True, taken_at=at, finished_at=at if finished else None
            )
        )


def test_only_files_of_ours_in_the_directory_go_and_the_rule_decides_which(
    engine: Engine, settings: Settings, tmp_path: Path
) -> None:
    directory = Path(settings.backup_directory)
    named = [directory / f"{days}{SUFFIX}" for days in (*range(8), 400, 401)]
    elsewhere, other = tmp_path / f"500{SUFFIX}", directory / "500.other"
    strange = directory / f"unknown{SUFFIX}"
    # One of the form before was a file.
    old = directory / f"402{OLD_SUFFIX}"
    old.touch()
    add(engine, old, 402)
    for path in (*named, elsewhere, other, strange):
        path.mkdir()
    for path in (*named, elsewhere, other):
        add(engine, path, float(path.stem.split(".")[0]))
    gone = directory / f"9{SUFFIX}"
    add(engine, gone, 9)
    went = {f"400{SUFFIX}", f"401{SUFFIX}", old.name}
    assert {path.name for path in service.remove_old(engine, settings)} == went
    assert not any((directory / name).exists() for name in went)
    assert all(path.exists() for path in (*named[:8], elsewhere, other, strange))
    removed = {Path(each.path).name for each in backups(engine) if each.removed_at}
    # One that somebody took away by hand is no backup any more.
    assert removed == went | {gone.name}
    told = {Path(entry.subject).name for entry in entries(engine, "backup.remove")}
    assert told == went


def test_what_a_killed_worker_left_goes_and_what_only_was_not_noted_is(
    engine: Engine, settings: Settings
) -> None:
    directory = Path(settings.backup_directory)
    torn, whole = directory / f"torn{SUFFIX}", directory / f"whole{SUFFIX}"
    (directory / f".{torn.name}.123.part").mkdir()
    service.take_backup(engine, settings, whole)
    with engine.begin() as connection:
        connection.execute(text("delete from backup"))
    add(engine, torn, 2, finished=False)
    add(engine, whole, 2, finished=False)
    young = directory / f"young{SUFFIX}"
    add(engine, young, 0.5, finished=False)
    (directory / f".{young.name}.124.part").mkdir()
    service.remove_old(engine, settings)
    assert files(settings) == sorted([f".{young.name}.124.part", whole.name])
    left = {Path(each.path).name: each for each in backups(engine)}
    assert set(left) == {whole.name, young.name}
    assert left[whole.name].verified
    assert left[whole.name].bytes == read_manifest(whole).bytes
    assert left[young.name].finished_at is None


def test_a_backup_that_fails_is_tried_again_and_leaves_neither_file_nor_row(
    engine: Engine, advancer: JobAdvancer, settings: Settings, job: int
) -> None:
    Path(settings.backup_directory).rmdir()
    assert advancer.advance(job) == pytest.approx(60)
    with transaction(engine) as session:
        found = find(session, job)
    assert found.failures == 1
    assert "cannot be written" in found.error
    assert backups(engine) == []


def test_a_worker_that_stops_ends_its_backup(
    engine: Engine, advancer: JobAdvancer, settings: Settings, job: int
) -> None:
    advancer.advance(job, stopping=lambda: True)
    assert files(settings) == []
    assert backups(engine) == []
    with transaction(engine) as session:
        assert find(session, job).failures == 0


def test_a_worker_whose_lease_went_over_takes_none(engine: Engine, settings: Settings) -> None:
    def stale(_: object) -> None:
        raise StaleEpoch("another's")

    out = Path(settings.backup_directory) / f"a{SUFFIX}"
    with pytest.raises(StaleEpoch):
        service.take_backup(engine, settings, out, fence=stale)
    assert files(settings) == []


def test_a_worker_can_where_the_directory_is_and_says_why_it_cannot(
    engine: Engine, settings: Settings
) -> None:
    can = find_abilities(settings)
    assert Ability.BACKUPS in can.jobs
    with transaction(engine) as session:
        begin_standing_jobs(session, can)
    with engine.connect() as connection:
        assert connection.scalar(text("select need from job where kind = 'backup'")) == "backups"
    missing = settings.model_copy(update={"backup_directory": "/nowhere"})
    can = find_abilities(missing)
    assert Ability.BACKUPS not in can.jobs
    [lack] = [lack for lack in can.lacks if lack.what == "backups"]
    assert "/nowhere is missing" in lack.why
    without = find_abilities(settings.model_copy(update={"backup_directory": ""}))
    assert Ability.BACKUPS not in without.jobs
    assert not [lack for lack in without.lacks if lack.what == "backups"]


def test_where_a_backup_goes(settings: Settings, tmp_path: Path) -> None:
    directory = Path(settings.backup_directory)
    assert service.place_for(None, settings).parent == directory
    assert service.place_for(tmp_path, settings).parent == tmp_path
    assert service.place_for(tmp_path / "a", settings) == tmp_path / "a"
    with pytest.raises(InvalidInput, match="where the backup goes"):
        service.place_for(None, Settings(home=tmp_path))
    assert os.path.basename(service.place_for(None, settings)).endswith(f"Z{SUFFIX}")
