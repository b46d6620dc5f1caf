"""Jobs on a real database: taken, fenced, tried again, cancelled and given up."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from uuid import uuid4

import pytest
from sqlalchemy import Engine, select, text
from sqlalchemy.orm import Session

from mitigauge.core.errors import AuthorsFault, Conflict, NotFound, StaleEpoch
from mitigauge.jobs import repository, service
from mitigauge.jobs.blame import MOST_TRIES
from mitigauge.jobs.service import JobRequest
from mitigauge.jobs.states import Ability, JobKind, JobState
from mitigauge.jobs.tables import Job, JobAttempt, JobEvent
from mitigauge.storage.database.engine import transaction
from pipelines.jobs.context import JobContext, JobDone
from pipelines.jobs.engine import JobAdvancer

ASKED = JobRequest(JobKind.KERNEL, "s1", "linux-source-7.2", "ann", {"base": "x"})
Act = Callable[[JobContext], JobDone]


class Scripted:
    """Does what each call is told to, and keeps what it heard."""

    limit_s = 3600.0

    def __init__(self, *acts: Act) -> None:
        self.acts = list(acts)
        self.heard: list[str] = []

    def go_on(self, context: JobContext) -> JobDone:
        return (self.acts.pop(0) if len(self.acts) > 1 else self.acts[0])(context)

    def put_off(self, session: Session, job: Job, why: str) -> None:
        self.heard.append(f"put off: {why}")

    def end(self, session: Session, job: Job, state: JobState, why: str) -> None:
        self.heard.append(f"{state}: {why}")


@pytest.fixture
def job(engine: Engine) -> int:
    with transaction(engine) as session:
        return service.ask(session, ASKED).id


def advancer(engine: Engine, runner: Scripted, *, lease_seconds: float = 30.0) -> JobAdvancer:
    return JobAdvancer(engine, dict.fromkeys(JobKind, runner), "w1", lease_seconds)


def row(engine: Engine, job: int) -> Job:
    with transaction(engine) as session:
        return service.find(session, job)


def attempts(engine: Engine, job: int) -> list[tuple[int, str]]:
    with transaction(engine) as session:
        wanted = select(JobAttempt.epoch, JobAttempt.outcome).where(JobAttempt.job_id == job)
        return [(e, o) for e, o in session.execute(wanted.order_by(JobAttempt.epoch))]


def lines(engine: Engine, job: int) -> list[str]:
    with transaction(engine) as session:
        wanted = select(JobEvent.text).where(JobEvent.job_id == job).order_by(JobEvent.id)
        return list(session.scalars(wanted))


def raising(error: Exception) -> Act:
    def act(_context: JobContext) -> JobDone:
        raise error

    return act


def done(_context: JobContext) -> JobDone:
    def apply(_session: Session, job: Job) -> None:
        job.result = {"kernels": [*job.result.get("kernels", []), 7]}

    return JobDone(apply, state=JobState.DONE)


def test_what_is_asked_for_twice_is_one_job(engine: Engine, job: int) -> None:
    with transaction(engine) as session:
        assert service.ask(session, ASKED).id == job
    assert advancer(engine, Scripted(done)).advance(job) is None
    with transaction(engine) as session:
        assert service.ask(session, ASKED).id != job


def test_two_who_ask_at_once_get_one_job(engine: Engine) -> None:
    got: list[int] = []

    def ask() -> None:
        with transaction(engine) as session:
            got.append(service.ask(session, ASKED).id)
            time.sleep(0.05)

    threads = [threading.Thread(target=ask) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (len(set(got)), len(got)) == (1, 6)


def test_a_job_is_done_once_and_says_so(engine: Engine, job: int) -> None:
    at = advancer(engine, Scripted(lambda _: JobDone(again_in_s=3), done))
    assert at.advance(job) == 3
    assert at.advance(job) is None
    assert at.advance(job) is None
    over = row(engine, job)
    assert (over.state, over.result, over.holder) == (JobState.DONE, {"kernels": [7]}, None)
    assert over.started_at is not None
    assert over.finished_at is not None
    assert over.started_at < over.finished_at
    assert attempts(engine, job) == [(1, "done"), (2, "done")]


def test_a_step_with_nothing_to_do_leaves_no_attempt(engine: Engine, job: int) -> None:
    at = advancer(engine, Scripted(lambda _: JobDone(again_in_s=60, idle=True)))
    at.advance(job)
    at.advance(job)
    assert attempts(engine, job) == []
    assert row(engine, job).epoch == 2


def test_somebody_elses_step_is_left_alone_until_its_lease_is_over(
    engine: Engine, job: int
) -> None:
    with transaction(engine) as session:
        assert service.take(session, job, holder=uuid4(), seconds=60)
    runner = Scripted(done)
    assert advancer(engine, runner).advance(job) == 5.0
    with transaction(engine) as session:
        assert repository.jobs_to_wake(session, list(Ability), grace_s=-1) == []
        session.execute(text("update job set expires_at = now() - interval '1 second'"))
    with transaction(engine) as session:
        assert repository.jobs_to_wake(session, list(Ability), grace_s=-1) == [
            (job, Ability.KERNELS)
        ]
        assert repository.jobs_to_wake(session, [Ability.MAIL], grace_s=-1) == []
    assert advancer(engine, runner).advance(job) is None


def test_who_comes_back_late_changes_nothing(engine: Engine, job: int) -> None:
    other = advancer(engine, Scripted(done))

    def overslept(context: JobContext) -> JobDone:
        with transaction(engine) as session:
            session.execute(text("update job set expires_at = now() - interval '1 second'"))
        assert other.advance(job) is None
        return done(context)

    assert advancer(engine, Scripted(overslept)).advance(job) == 5.0
    assert row(engine, job).result == {"kernels": [7]}
    assert attempts(engine, job) == [(1, "lost"), (2, "done")]


def test_transactions_within_a_step_are_fenced(engine: Engine, job: int) -> None:
    refused = []

    def overslept(context: JobContext) -> JobDone:
        with transaction(engine) as session:
            session.execute(text("update job set epoch = epoch + 1"))
        try:
            with context.transaction() as session:
                session.execute(text("update job set title = 'mine'"))
        except StaleEpoch as error:
            refused.append(error.message)
            raise
        return JobDone()

    assert advancer(engine, Scripted(overslept)).advance(job) == 5.0
    assert refused
    assert row(engine, job).title == "linux-source-7.2"


def test_a_worker_that_never_came_back_is_counted_and_three_end_it(
    engine: Engine, job: int
) -> None:
    for _ in range(3):
        with transaction(engine) as session:
            session.execute(text("update job set expires_at = now() - interval '1 second'"))
            lease = service.take(session, job, holder=uuid4(), seconds=60)
            assert lease
            service.begin_attempt(session, lease, "w0")
    with transaction(engine) as session:
        session.execute(text("update job set expires_at = now() - interval '1 second'"))
    runner = Scripted(done)
    assert advancer(engine, runner).advance(job) is None
    over = row(engine, job)
    assert over.state is JobState.FAILED
    assert "ended its worker 3 times in a row" in over.error
    assert runner.heard == [f"failed: {over.error}"]


def test_an_authors_fault_ends_it_with_its_words(engine: Engine, job: int) -> None:
    runner = Scripted(raising(AuthorsFault("patch 2/5 does not apply")))
    assert advancer(engine, runner).advance(job) is None
    over = row(engine, job)
    assert (over.state, over.error) == (JobState.FAILED, "patch 2/5 does not apply")
    assert runner.heard == ["failed: patch 2/5 does not apply"]


def test_our_own_fault_is_tried_again_later_and_later_and_then_given_up(
    engine: Engine, job: int
) -> None:
    runner = Scripted(raising(OSError(28, "No space left on device")))
    at = advancer(engine, runner)
    pauses = [at.advance(job) or 0.0 for _ in range(MOST_TRIES)]
    assert pauses[0] == 60.0
    assert pauses == sorted(pauses)
    assert at.advance(job) is None
    over = row(engine, job)
    assert over.state is JobState.FAILED
    assert "No space left" in over.error
    assert len(runner.heard) == MOST_TRIES + 1


def test_a_step_that_went_well_forgets_what_failed_before(engine: Engine, job: int) -> None:
    runner = Scripted(raising(OSError(28, "full")), lambda _: JobDone(), done)
    at = advancer(engine, runner)
    at.advance(job)
    assert row(engine, job).failures == 1
    at.advance(job)
    now = row(engine, job)
    assert (now.failures, now.error) == (0, "")


def test_what_fails_in_the_commit_is_a_failure_too(engine: Engine, job: int) -> None:
    def broken(_session: Session, _job: Job) -> None:
        raise ZeroDivisionError("in apply")

    at = advancer(engine, Scripted(lambda _: JobDone(broken), done))
    assert at.advance(job) == 60.0
    assert row(engine, job).failures == 1
    assert at.advance(job) is None


def test_whoever_cancels_ends_it_before_it_is_begun(engine: Engine, job: int) -> None:
    with transaction(engine) as session:
        service.cancel(session, job, "bob")
    runner = Scripted(done)
    assert advancer(engine, runner).advance(job) is None
    assert row(engine, job).state is JobState.CANCELLED
    assert runner.heard == ["cancelled: cancelled by bob"]
    with transaction(engine) as session, pytest.raises(Conflict, match="cancelled already"):
        service.cancel(session, job, "bob")


def test_a_step_hears_that_it_was_cancelled(
    engine: Engine, job: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pipelines.jobs.context.ASK_EVERY_S", 0.0)

    def long(context: JobContext) -> JobDone:
        context.require_wanted()
        with transaction(engine) as session:
            service.cancel(session, job, "bob")
        context.require_wanted()
        raise AssertionError("it went on")

    runner = Scripted(long)
    at = advancer(engine, runner)
    assert at.advance(job) == 0.0
    assert at.advance(job) is None
    assert row(engine, job).state is JobState.CANCELLED


def test_a_worker_that_stops_leaves_its_job_for_the_next(engine: Engine, job: int) -> None:
    stopped = threading.Event()

    def long(context: JobContext) -> JobDone:
        stopped.set()
        context.require_wanted()
        raise AssertionError("it went on")

    at = advancer(engine, Scripted(long, done))
    assert at.advance(job, stopping=stopped.is_set) == 0.0
    now = row(engine, job)
    assert (now.state, now.failures, now.holder) == (JobState.RUNNING, 0, None)
    assert at.advance(job) is None


def test_the_services_own_cannot_be_cancelled(engine: Engine) -> None:
    with transaction(engine) as session:
        job = service.ask(session, JobRequest(JobKind.WEEKLY, "", "weekly", "mitigauge")).id
    with transaction(engine) as session, pytest.raises(Conflict, match="the service's own"):
        service.cancel(session, job, "bob")
    with transaction(engine) as session, pytest.raises(NotFound, match="no job 999"):
        service.cancel(session, 999, "bob")


def test_what_a_step_says_is_kept_even_within_a_transaction_of_its_own(
    engine: Engine, job: int
) -> None:
    def talks(context: JobContext) -> JobDone:
        with context.transaction():
            context.say("within\x1b[31m")
            context.progress("CC kernel/fork.o")
        return JobDone(state=JobState.DONE)

    began = time.monotonic()
    advancer(engine, Scripted(talks)).advance(job)
    assert time.monotonic() - began < 20  # nobody waited for a lock of its own
    assert [line for line in lines(engine, job) if "within" in line] != []
    assert "\x1b" not in "".join(lines(engine, job))


def test_progress_is_shown_while_the_step_goes_on(engine: Engine, job: int) -> None:
    seen = []

    def talks(context: JobContext) -> JobDone:
        context.progress("CC kernel/fork.o")
        seen.append(row(engine, job).progress)
        return JobDone(state=JobState.DONE)

    advancer(engine, Scripted(talks)).advance(job)
    assert seen == ["CC kernel/fork.o"]
    assert row(engine, job).progress == ""


def test_a_lease_is_kept_while_a_step_takes_longer_than_it(engine: Engine, job: int) -> None:
    other = advancer(engine, Scripted(done))

    def slow(_context: JobContext) -> JobDone:
        time.sleep(6)
        assert other.advance(job) == 5.0
        return JobDone(state=JobState.DONE)

    assert advancer(engine, Scripted(slow), lease_seconds=3.0).advance(job) is None
    assert attempts(engine, job) == [(1, "done")]


@pytest.fixture(autouse=True)
def _no_rows_of_others(engine: Engine) -> Iterator[None]:
    yield
    with transaction(engine) as session:
        session.execute(text("delete from job"))
