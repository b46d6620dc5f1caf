"""Every kind of job with faults at its commits: nothing is lost, done twice or stuck."""

from __future__ import annotations

import mailbox
import os
import random
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Engine, func, select, text

from mitigauge.core.settings import get_settings
from mitigauge.jobs import service as jobs
from mitigauge.jobs.service import SERVICE, JobRequest
from mitigauge.jobs.states import JobKind, JobState
from mitigauge.jobs.tables import Job, JobAttempt
from mitigauge.kernels.config_profile import profile_of
from mitigauge.kernels.order import KernelOrder
from mitigauge.kernels.order_service import ask_kernel
from mitigauge.kernels.states import KernelState
from mitigauge.kernels.tables import Kernel
from mitigauge.measurement.experiments.tables import Experiment
from mitigauge.reporting.letters.weekly.tables import WeeklyReport
from mitigauge.storage.database.engine import transaction
from mitigauge.storage.files.blobs import BlobStore, blob_store
from mitigauge.tracking.bisect.tables import Bisection, BisectionStep
from mitigauge.tracking.series import service as series_service
from mitigauge.tracking.series.order_service import ask_revision
from mitigauge.tracking.series.states import RevisionState
from mitigauge.tracking.series.tables import SeriesRequest, SeriesRevision
from mitigauge.tracking.studies import service as studies
from mitigauge.tracking.studies.schemas import PatchCosts
from mitigauge.tracking.studies.states import StudyKind, StudyState
from mitigauge.tracking.studies.tables import Study
from pipelines.jobs import runners_of
from pipelines.jobs.bisection import BisectionRunner
from pipelines.jobs.context import JobContext
from pipelines.jobs.engine import JobAdvancer
from pipelines.jobs.kernel import KernelRunner
from pipelines.jobs.revision import RevisionRunner
from pipelines.jobs.study import StudyRunner
from tests.bisections import Pretended, begun, eight, run_open_experiments
from tests.confirmations_made import run_experiments
from tests.crash.job_faults import Faulty, random_faults
from tests.db.test_bisections import slow_from
from tests.db.test_series import approved
from tests.weeks_made import Fleet, fill

# Of each kind; JOB_FAULTS=200 makes 1,000 in all.
SMALL = Fleet(hosts=3, cases=4, weeks=3)
FAULTS = int(os.environ.get("JOB_FAULTS", "40"))
MAIL = b"""From: One <one@example.org>
To: robot@example.org
Subject: Re: [PATCH v1 0/1] toys
Message-ID: <%d@example.org>
In-Reply-To: <v1-0@example.org>
Date: Tue, 24 Nov 2026 10:00:00 +0000
Content-Type: text/plain; charset=utf-8

#mitigauge test
"""


@pytest.fixture
def blobs(home: Path) -> BlobStore:
    return blob_store(get_settings())


@pytest.fixture
def faulty(engine: Engine, blobs: BlobStore, tmp_path: Path) -> Faulty:
    def pretended(context: JobContext) -> Pretended:
        return Pretended(
            tmp_path,
            engine,
            blobs,
            report=context.say,
            detail=context.progress,
            why_to_stop=context.why_to_stop,
            fence=context.fence,
        )

    mails = tmp_path / "mails"
    mailbox.Maildir(mails, create=True)
    settings = get_settings().model_copy(update={"maildir": str(mails), "home": tmp_path})
    runners = {
        **runners_of(settings),
        JobKind.KERNEL: KernelRunner(pretended),
        JobKind.REVISION: RevisionRunner(pretended),
        JobKind.BISECTION: BisectionRunner(pretended),
        JobKind.STUDY: StudyRunner(pretended),
    }
    return Faulty(engine, JobAdvancer(engine, runners, "w1", lease_seconds=60.0))


def count(engine: Engine, table: Any, *where: Any) -> int:
    with transaction(engine) as session:
        return session.scalar(select(func.count()).select_from(table).where(*where)) or 0


def require_sound(engine: Engine) -> None:
    """Every job is over and done, each epoch has one attempt, and none is open."""
    with transaction(engine) as session:
        open_ones = select(Job).where(Job.subject != "", Job.state != JobState.DONE)
        assert [(job.kind, job.state, job.error) for job in session.scalars(open_ones)] == []
        unended = select(func.count()).where(JobAttempt.finished_at.is_(None))
        ended = select(Job.id).where(Job.subject != "")
        assert session.scalar(unended.where(JobAttempt.job_id.in_(ended))) == 0


def rounds(seed: int) -> Iterator[int]:
    """Numbers for as many rounds as the faults of one kind take, some five a round."""
    yield from range(seed, seed + max(FAULTS // 5, 1))


def test_kernels(engine: Engine, faulty: Faulty, blobs: BlobStore) -> None:
    asked = list(rounds(1))
    for number in asked:
        with transaction(engine) as session:
            order = KernelOrder(base=f"linux-source-{number}", layouts=2)
            ask_kernel(session, blobs, order, profile_of("lab"), (), asked_by="ann")
        faulty.finish(random_faults(number, 5))
    require_sound(engine)
    assert count(engine, Kernel, Kernel.state == KernelState.BUILT) == 2 * len(asked)
    with transaction(engine) as session:
        for job in session.scalars(select(Job)):
            assert len(set(job.result["kernels"])) == 2
    assert set(faulty.made) == {"before", "after", "asleep"}


@pytest.mark.parametrize("seed", range(max(FAULTS // 12, 1)))
def test_revisions(engine: Engine, faulty: Faulty, blobs: BlobStore, seed: int) -> None:
    labels = approved(engine, blobs)
    for at, label in enumerate(labels):
        with transaction(engine) as session:
            revision = series_service.find_revision(session, "bhb", label, lock=True)
            ask_revision(session, revision)
        faulty.finish(random_faults(100 * seed + at, 3))
    require_sound(engine)
    with transaction(engine) as session:
        found = list(session.scalars(select(SeriesRevision)))
    assert {revision.state for revision in found} == {RevisionState.MEASURING}
    experiments = {revision.experiment_id for revision in found}
    assert len(experiments) == len(labels) == count(engine, Experiment)


@pytest.mark.parametrize("seed", range(max(FAULTS // 20, 1)))
def test_a_study(engine: Engine, faulty: Faulty, blobs: BlobStore, seed: int) -> None:
    approved(engine, blobs)
    with transaction(engine) as session:
        revision = series_service.find_revision(session, "bhb", "v1", lock=True)
        revision.series.spec = "syscall"
        studies.ask(session, revision, StudyKind.PATCH_COST)
    faulty.between = lambda: _count_nothing(engine)
    faulty.finish(random_faults(seed, 20, most_commits=5))
    require_sound(engine)
    with transaction(engine) as session:
        study = session.scalars(select(Study)).one()
        assert isinstance(study.body, PatchCosts)
        assert study.state is StudyState.DONE, study.why
        # The experiment was submitted once, over kernels that were each built once.
        assert study.body.experiments == list(session.scalars(select(Experiment.id)))
        assert [each.name for each in study.body.sets] == ["base", *(f"p{n}" for n in range(1, 9))]
    assert count(engine, Kernel, Kernel.state == KernelState.BUILT) == 9


def _count_nothing(engine: Engine) -> None:
    """Every experiment that is open came to its end, without exact counts."""
    run_experiments(engine, defaultdict(lambda: 100.0))


@pytest.mark.parametrize("seed", range(max(FAULTS // 20, 1)))
def test_a_bisection(engine: Engine, faulty: Faulty, blobs: BlobStore, seed: int) -> None:
    number = begun(engine, blobs, eight())
    level = slow_from(6)
    faulty.between = lambda: _measure(engine, level)
    faulty.finish(random_faults(seed, 20, most_commits=5))
    require_sound(engine)
    with transaction(engine) as session:
        bisection = session.get_one(Bisection, number)
        assert bisection.answer is not None
        assert (str(bisection.state), bisection.answer.candidates) == ("finished", [6])
    steps = count(engine, BisectionStep)
    # No step was submitted twice, and none without its experiment.
    assert count(engine, Experiment) == steps


def _measure(engine: Engine, level: Any) -> None:
    run_open_experiments(engine, level)


def test_mails(engine: Engine, faulty: Faulty, tmp_path: Path) -> None:
    box = mailbox.Maildir(tmp_path / "mails")
    asked = 0
    for number in rounds(3):
        for _ in range(2):
            asked += 1
            box.add(MAIL % asked)
        with transaction(engine) as session:
            jobs.ask(session, JobRequest(JobKind.MAILBOX, "", "mails", SERVICE))
        faulty.finish(random_faults(number, 5))
        with transaction(engine) as session:
            jobs.ask(session, JobRequest(JobKind.MAILBOX, "", "mails", SERVICE))
            [job] = session.scalars(select(Job.id))
        faulty.advancer.advance(job)
    assert list((tmp_path / "mails" / "new").iterdir()) == []
    assert count(engine, SeriesRequest) == asked


def test_weekly_letters(engine: Engine, faulty: Faulty) -> None:
    fill(engine, SMALL)
    for number in rounds(4):
        with transaction(engine) as session:
            jobs.ask(session, JobRequest(JobKind.WEEKLY, "", "weekly", SERVICE))
        faulty.finish(random_faults(number, 5))
        with transaction(engine) as session:
            [job] = session.scalars(select(Job.id))
        faulty.advancer.advance(job)
        made = count(engine, WeeklyReport)
        with transaction(engine) as session:
            weeks = session.scalar(select(func.count(func.distinct(WeeklyReport.week))))
        assert made == weeks
        assert made
        with transaction(engine) as session:
            session.execute(text("truncate weekly_report cascade"))


def test_faults_of_one_seed_are_the_same() -> None:
    assert list(random_faults(7, 9)) == list(random_faults(7, 9))
    assert len({random.Random(seed).random() for seed in range(9)}) == 9
