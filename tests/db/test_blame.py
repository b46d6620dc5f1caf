"""Whose fault a failure is: the author's ends what was asked for, ours is tried again, bounded."""

from __future__ import annotations

import errno
from pathlib import Path

import pytest
from sqlalchemy import Engine, select, text
from sqlalchemy.orm import Session

from mitigauge.core.errors import InvalidInput, MitigaugeError, NotReady
from mitigauge.core.settings import get_settings
from mitigauge.jobs.blame import MOST_TRIES, Blame, blame_of, pause_s
from mitigauge.storage.database.engine import transaction
from mitigauge.storage.files.blobs import BlobStore, blob_store
from mitigauge.tracking.bisect.states import BisectionState
from mitigauge.tracking.bisect.tables import Bisection
from mitigauge.tracking.series import repository, service
from mitigauge.tracking.series.mail_thread import revisions
from mitigauge.tracking.series.service import SeriesOptions
from mitigauge.tracking.series.states import RevisionState
from mitigauge.tracking.series.tables import SeriesRevision
from pipelines import series_run
from pipelines.adapters.archive import ArchiveAway
from pipelines.bisect_run import Driver, Ticked
from pipelines.kernel_build import Builder
from pipelines.kernel_order import BuildFailed, Order
from pipelines.series_watch import Watcher
from tests import bisections
from tests.bisections import begun, eight
from tests.series_mails import diff, series

SECRET = "https://user:hunter2@mirror.inner.example"


class Failing(Builder):
    """Every build ends in the same error."""

    error: BaseException = OSError(errno.ENOSPC, "No space left on device")
    begun = 0

    def build(self, order: Order, *, anew: bool = False) -> int:
        del order, anew
        type(self).begun += 1
        raise self.error


@pytest.fixture
def blobs() -> BlobStore:
    return blob_store(get_settings())


@pytest.fixture
def revision(engine: Engine, blobs: BlobStore) -> int:
    """A revision that may run; its id."""
    with Session(engine) as session:
        found = revisions(series(1, [diff("toys/one.c", "a", "b")]))
        [added] = service.add(session, found, blobs, wanted=SeriesOptions("toys", "vmscape"))
        service.approve(session, added)
        session.commit()
        return added.id


def failing(engine: Engine, blobs: BlobStore, home: Path, error: BaseException) -> Failing:
    kind = type("Kind", (Failing,), {"error": error, "begun": 0})
    made: Failing = kind(home, engine, blobs)
    return made


def looks(engine: Engine, builder: Failing, number: int) -> tuple[int, str, str]:
    """So many looks of a watcher, as if the pauses between them were over; builds, state, why."""
    for _ in range(number):
        Watcher(builder, get_settings(), lambda _line: None).start()
        with engine.begin() as connection:
            connection.execute(text("update series_revision set again_at = now()"))
    with Session(engine) as session:
        state, why = session.execute(text("select state, why from series_revision")).one()
    return type(builder).begun, state, why


@pytest.mark.parametrize(
    ("error", "blame"),
    [
        (BuildFailed("patch 1: no such toy"), Blame.AUTHOR),
        (OSError(errno.ENOSPC, "full"), Blame.MACHINE),
        (MemoryError(), Blame.MACHINE),
        (NotReady("bwrap is not installed"), Blame.MACHINE),
        (MitigaugeError("the package: objcopy failed"), Blame.SERVICE),
        (RuntimeError("what nobody foresaw"), Blame.SERVICE),
        (InvalidInput("no host named x"), Blame.SERVICE),
    ],
)
def test_three_kinds_are_told_apart(error: BaseException, blame: Blame) -> None:
    assert blame_of(error) is blame


def test_pauses_grow_and_end() -> None:
    pauses = [pause_s(n) for n in range(1, MOST_TRIES + 1)]
    assert pauses == sorted(pauses)
    assert (pauses[0], pauses[-1]) == (60.0, 7680.0)
    assert pause_s(10**6) == 6 * 3600.0


@pytest.mark.parametrize(
    "error",
    [
        OSError(errno.ENOSPC, "No space left on device"),
        MitigaugeError(f"the build root cannot be made: {SECRET}"),
        RuntimeError("what nobody foresaw"),
    ],
    ids=["machine", "service", "unforeseen"],
)
def test_what_is_not_the_author_s_is_tried_so_often_and_then_set_aside(
    engine: Engine, blobs: BlobStore, home: Path, revision: int, error: BaseException
) -> None:
    """It was begun 25 times in 25 looks, or ended for good at the first."""
    begun_times, state, why = looks(engine, failing(engine, blobs, home, error), 25)
    assert (begun_times, state) == (MOST_TRIES, RevisionState.SET_ASIDE)
    assert why.startswith(f"no fault of its patches, failure {MOST_TRIES} of {MOST_TRIES}: ")


def test_between_tries_there_is_a_pause(
    engine: Engine, blobs: BlobStore, home: Path, revision: int
) -> None:
    builder = failing(engine, blobs, home, OSError(errno.ENOSPC, "full"))
    for _ in range(5):
        Watcher(builder, get_settings(), lambda _line: None).start()
    assert type(builder).begun == 1
    with Session(engine) as session:
        assert repository.to_start(session) == []


def test_the_author_s_fault_ends_it_at_once(
    engine: Engine, blobs: BlobStore, home: Path, revision: int
) -> None:
    builder = failing(engine, blobs, home, BuildFailed("patch 1: no such toy"))
    assert looks(engine, builder, 5) == (1, RevisionState.FAILED, "patch 1: no such toy")


def test_a_person_may_start_again_what_was_set_aside(
    engine: Engine, blobs: BlobStore, home: Path, revision: int
) -> None:
    builder = failing(engine, blobs, home, OSError(errno.ENOSPC, "full"))
    looks(engine, builder, MOST_TRIES)
    with pytest.raises(OSError, match="full"):
        series_run.start(revision, builder)
    with Session(engine) as session:
        row = session.get_one(SeriesRevision, revision)
        assert (row.state, row.failures) == (RevisionState.APPROVED, 1)


def test_a_database_that_is_away_is_nobody_s_fault(
    engine: Engine, blobs: BlobStore, home: Path, revision: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(series_run, "is_away", lambda _error: True)
    builder = failing(engine, blobs, home, RuntimeError("server closed the connection"))
    looks(engine, builder, 3)
    with Session(engine) as session:
        assert session.get_one(SeriesRevision, revision).failures == 0


def test_an_archive_that_is_away_ends_no_revision() -> None:
    assert blame_of(ArchiveAway("503")) is not Blame.AUTHOR


def bisecting(engine: Engine, builder: Builder, times: int) -> Bisection:
    for _ in range(times):
        Driver(builder).tick_all()
        with engine.begin() as connection:
            connection.execute(text("update bisection set again_at = now()"))
    with transaction(engine) as session:
        found = session.scalars(select(Bisection)).one()
        session.expunge(found)
        return found


def test_a_bisection_whose_every_look_fails_ends(
    engine: Engine, blobs: BlobStore, home: Path
) -> None:
    """The same line was printed 108 times, and no budget was spent."""
    begun(engine, blobs, eight())
    builder = failing(engine, blobs, home, RuntimeError("what nobody foresaw"))
    found = bisecting(engine, builder, 25)
    assert (found.state, type(builder).begun) == (BisectionState.FAILED, MOST_TRIES)
    assert "our side failed 8 times, the last time by this: RuntimeError: what nobody" in found.why


def test_a_point_whose_patches_cannot_be_had_is_skipped_with_its_reason(
    engine: Engine, blobs: BlobStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A revert that is a merge of 4 MiB, a link or a submodule is so at every look."""
    number = begun(engine, blobs, eight())

    def content(_self: Driver, _bisection: Bisection, point: object, _tree: object) -> object:
        raise InvalidInput("commit 0123456789ab is larger than 4 MiB")

    monkeypatch.setattr(Driver, "_content", content)
    driver = Driver(bisections.Pretended(tmp_path, engine, blobs))
    ticks = 0
    while driver.tick(number) is Ticked.MOVED:
        ticks += 1
        assert ticks < 50
    with transaction(engine) as session:
        found = session.get_one(Bisection, number)
        skipped = [point.skipped for point in found.points if point.skipped]
        assert found.state == BisectionState.FINISHED
    assert skipped[0] == "its patches cannot be had: commit 0123456789ab is larger than 4 MiB"
