"""The worker: Procrastinate wakes it, the advancers of runs and jobs do the work.

The queue may lose, repeat or delay an entry without harm: each only says "look at this run", or
"at this job". What is true stands in our tables, and the reconciler wakes what no entry would.
This is the one file that knows the queue.

A worker takes what it can do: runs on hosts that its inventory and keys reach, and jobs that its
machine has the programs for. What it lacks is never a host's fault.
"""

from __future__ import annotations

import asyncio
import os
import platform
import signal
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from uuid import UUID, uuid4

from procrastinate import App, PsycopgConnector
from procrastinate.exceptions import AlreadyEnqueued
from procrastinate.jobs import Status
from psycopg import AsyncConnection

from mitigauge.analysis.profiles.exact.operation_service import store_operations_quietly
from mitigauge.analysis.verdicts.conclusions import conclude_closed
from mitigauge.core.actor import Actor, Way, acting
from mitigauge.core.logs.logger import get_logger
from mitigauge.core.settings import Settings, get_settings
from mitigauge.core.version import VERSION
from mitigauge.jobs import repository as job_rows
from mitigauge.jobs import worker_repository as worker_rows
from mitigauge.jobs.abilities import Abilities
from mitigauge.jobs.tables import WorkerProcess
from mitigauge.measurement.runs import repository as run_rows
from mitigauge.measurement.runs import service
from mitigauge.storage.database.engine import (
    KEEPALIVE,
    in_words,
    is_away,
    schema_revisions,
    transaction,
)
from mitigauge.storage.database.schema_revision import wanted_revision
from mitigauge.tracking.regressions.confirmation_service import confirm_quietly
from mitigauge.tracking.regressions.service import take_in_quietly
from mitigauge.tracking.trends.update import update_quietly
from mitigauge.upkeep.retention.service import prune_if_due
from pipelines.abilities import find_abilities
from pipelines.advance import Advancer
from pipelines.jobs import begin_standing_jobs
from pipelines.jobs.engine import JobAdvancer

log = get_logger(__name__)

# Beside those of runs and jobs: the reconciler, its announcements, pruning and trends.
OWN_THREADS = 4
# Steps of runs at the same time; each may be an Ansible of some 100 MB. A run that waits for its
# host takes part only where no plain ssh call can wait for it.
CONCURRENCY = 16
# Of jobs, most of which wait for experiments; kernels are built one after the other.
JOB_THREADS = 8
# How often a worker says that it lives, and how often it looks what it can do.
SEEN_EVERY_S = 5.0
LOOK_AT_ABILITIES_S = 30.0
RECONCILE_S = 1.0
# A run whose step has just ended is gone on with by whoever took it.
WAKE_GRACE_S = 1.0
# Jobs whose worker died stay "doing" for ever; they are only litter, since the lease decides.
STALLED_S = 60.0
RESTART_S = 2.0
# One that was to end by itself ends after so long without its database.
GIVES_UP_S = 120.0
# What the queue takes for all its statements of one look; it needs milliseconds.
QUEUE_LIMIT_S = 60.0
# Shorter pauses are slept through; after a longer one the reconciler wakes the run.
SHORT_PAUSE_S = 2.0
# How often a worker looks whether a day has passed since somebody pruned.
LOOK_FOR_OLD_S = 600.0
# How often a worker looks whether a run ended whose values are in no trend yet.
LOOK_FOR_VALUES_S = 10.0
# How often a worker looks whether boots were counted whose operation is not stored yet.
LOOK_FOR_COUNTS_S = 10.0
# A run that no step could even be begun for is left alone for so long.
TROUBLE_RETRY_S = 30.0


def name_of_this(settings: Settings) -> str:
    """By what name a worker of this process is known."""
    return f"{settings.worker_name or platform.node()}:{os.getpid()}"


# Where workers of an older version put all runs.
ANY_RUNS = "runs"
RUN_TASK, JOB_TASK = "advance", "advance-job"


@dataclass(frozen=True, slots=True)
class QueueEntry:
    """A run or a job, by its id, and the queue that wakes it."""

    task: str
    queue: str
    id: int


@dataclass
class Worker:
    """One worker process: any number may run against one database."""

    advancer: Advancer
    database_url: str
    concurrency: int = CONCURRENCY
    jobs: JobAdvancer | None = None
    look: Callable[[], Abilities] = lambda: find_abilities(get_settings())
    """What it can do now."""
    name: str = ""
    until_idle: bool = False
    """Whether it ends once nothing that it can do is left."""
    no_runs: bool = False
    id: UUID = field(default_factory=uuid4)
    _can: Abilities = field(default_factory=Abilities)

    def run(self, stop: threading.Event | None = None) -> None:
        """Work until *stop* is set (or SIGINT/SIGTERM arrives); outlives a database restart."""
        # Threads and tasks that it starts take it over.
        with acting(Actor(self.name or platform.node(), Way.WORKER, platform.node())):
            asyncio.run(self._run(stop or threading.Event()))

    async def _run(self, stop: threading.Event) -> None:
        _stop_on_signals(stop)
        threads = ThreadPoolExecutor(self.concurrency + JOB_THREADS + OWN_THREADS, "advance")
        asyncio.get_running_loop().set_default_executor(threads)
        failing_since = time.monotonic()
        while not stop.is_set():
            began = time.monotonic()
            try:
                await self._serve(stop)
            except Exception:
                # The queue's connection is gone, mostly. Whatever it was: runs depend on it
                # that the worker goes on.
                log.exception("worker begins anew")
                now = time.monotonic()
                failing_since = now if now - began > GIVES_UP_S / 4 else failing_since
                if self.until_idle and now - failing_since > GIVES_UP_S:
                    break  # its database is gone for good, and nobody else would end it
                await asyncio.sleep(RESTART_S)
        await asyncio.to_thread(_quietly, self._say_stopped, "not noted that the worker stops")

    async def _serve(self, stop: threading.Event) -> None:
        connector = PsycopgConnector(
            conninfo=self.database_url.replace("postgresql+psycopg://", "postgresql://", 1),
            min_size=1,
            max_size=4,
            timeout=10,
            kwargs={"connect_timeout": 10, **KEEPALIVE},
            configure=_without_transactions,
        )
        app = App(connector=connector)
        self._register(app, stop)
        can = await asyncio.to_thread(self._announce)
        async with app.open_async():
            work = asyncio.create_task(
                app.run_worker_async(
                    queues=_queues_of(can),
                    concurrency=self.concurrency + JOB_THREADS,
                    fetch_job_polling_interval=1.0,
                    listen_notify=True,
                    install_signal_handlers=False,
                    delete_jobs="always",
                    shutdown_graceful_timeout=5,
                )
            )
            watch = asyncio.create_task(self._reconcile(app, stop, can))
            changed = asyncio.create_task(self._until_it_can_do_other(stop, can))
            regular = (
                self._every(LOOK_FOR_OLD_S, stop, self._prune, "nothing was pruned"),
                self._every(LOOK_FOR_VALUES_S, stop, self._update_trends, "trends not updated"),
                self._every(
                    LOOK_FOR_COUNTS_S,
                    stop,
                    lambda: self._store_operations(stop),
                    "exact counts not stored as they are shown",
                ),
            )
            tasks = {work, watch, changed, *map(asyncio.create_task, regular)}
            done, pending = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            for task in pending:
                task.cancel()
            await asyncio.gather(*pending, return_exceptions=True)
            for task in done:
                task.result()

    def _register(self, app: App, stop: threading.Event) -> None:
        job_slots = asyncio.Semaphore(JOB_THREADS)

        @app.task(name=RUN_TASK)
        async def advance(run_id: int) -> None:
            await _go_on(lambda: self._step(run_id, stop), stop)

        @app.task(name=JOB_TASK)
        async def advance_job(job_id: int) -> None:
            async with job_slots:
                await _go_on(lambda: self._job_step(job_id, stop), stop)

    def _job_step(self, job_id: int, stop: threading.Event) -> float | None:
        """One step of the job. Raises nothing; its lease lapses where a step failed so."""
        assert self.jobs is not None
        try:
            return self.jobs.advance(job_id, stopping=stop.is_set)
        except Exception:
            log.exception("no step of a job could be taken", job=f"job {job_id}")
            return None

    def _step(self, run_id: int, stop: threading.Event) -> float | None:
        """One step of the run. Raises nothing: what fails here would fail again at once."""
        try:
            if not self._reaches(run_id):
                return None  # another worker's; the reconciler of that one comes to it
            return self.advancer.advance(run_id, stopping=stop.is_set)
        except Exception as error:
            log.exception("no step could be taken", run=run_id)
            self._postpone(run_id, error)
            return None

    def _postpone(self, run_id: int, error: Exception) -> None:
        if is_away(error):
            return  # nothing was committed; the reconciler comes back to the run
        try:
            with transaction(self.advancer.engine) as session:
                service.postpone(session, run_id, TROUBLE_RETRY_S, in_words(error))
        except Exception:
            log.exception("run not postponed", run=run_id)

    def _reaches(self, run_id: int) -> bool:
        with transaction(self.advancer.engine) as session:
            found = run_rows.place_of(session, run_id)
        return found is None or self._can.reaches(*found)

    async def _reconcile(self, app: App, stop: threading.Event, can: Abilities) -> None:
        queues = _queues_of(can)
        while not stop.is_set():
            due = await asyncio.to_thread(self._to_wake, can)
            # A queue whose connection says nothing is begun anew.
            async with asyncio.timeout(QUEUE_LIMIT_S):
                for entry in due:
                    await _wake(app, entry)
                for queue in queues:
                    await _forget_stalled(app, queue)
            await asyncio.sleep(RECONCILE_S)

    async def _until_it_can_do_other(self, stop: threading.Event, can: Abilities) -> None:
        """Say that it lives, until the machine can do other things than when it began."""
        looked = time.monotonic()
        while not stop.is_set():
            await asyncio.sleep(SEEN_EVERY_S)
            await asyncio.to_thread(_quietly, self._say_seen, "not noted that the worker lives")
            if self.until_idle and await asyncio.to_thread(self._is_idle, can):
                stop.set()
            if time.monotonic() - looked > LOOK_AT_ABILITIES_S:
                looked = time.monotonic()
                await asyncio.to_thread(_quietly, lambda: self._stop_if_outdated(stop), "no schema")
                if await asyncio.to_thread(self._look) != can:
                    log.info("this worker can do other things than before")
                    return

    def _look(self) -> Abilities:
        can = self.look()
        return can.model_copy(update={"hosts": {}}) if self.no_runs else can

    def _announce(self) -> Abilities:
        """Say what this worker can do; the service's own jobs among it are begun."""
        can = self._can = self._look()
        for lack in can.lacks:
            log.warning("this worker lacks something", what=lack.what, why=lack.why)
        with transaction(self.advancer.engine) as session:
            worker_rows.announce(session, self._row(can))
            if self.jobs is not None:
                begin_standing_jobs(session, can)
        return can

    def _row(self, can: Abilities) -> WorkerProcess:
        return WorkerProcess(
            id=self.id,
            name=self.name or platform.node(),
            machine=platform.node(),
            pid=os.getpid(),
            version=VERSION,
            schema=wanted_revision(),
            abilities=can if self.jobs is not None else can.model_copy(update={"jobs": []}),
        )

    def _stop_if_outdated(self, stop: threading.Event) -> None:
        """Stop where the schema is another version's: what this one would write may be wrong."""
        current, _ = schema_revisions(self.advancer.engine)
        if current != wanted_revision():
            log.error("this worker stops: the schema is another version's", schema=current,
                      wanted=wanted_revision(), version=VERSION)  # fmt: skip
            stop.set()

    def _is_idle(self, can: Abilities) -> bool:
        """Whether there is nothing left of what it can do."""
        with transaction(self.advancer.engine) as session:
            jobs = job_rows.any_open(session, can.jobs)
            return not jobs and not run_rows.any_unfinished(session, can.hosts)

    def _say_seen(self) -> None:
        with transaction(self.advancer.engine) as session:
            known = worker_rows.seen(session, self.id)
        if not known:
            self._announce()

    def _say_stopped(self) -> None:
        watched = self.advancer.watch.close()
        with transaction(self.advancer.engine) as session:
            worker_rows.stopped(session, self.id)
            for run_id in watched:
                run_rows.wake_later(session, run_id, 0.0)

    async def _every(
        self, seconds: float, stop: threading.Event, do: Callable[[], object], otherwise: str
    ) -> None:
        """Do it now and every so many *seconds*; where it fails, the log says *otherwise*."""
        while not stop.is_set():
            await asyncio.to_thread(_quietly, do, otherwise)
            await asyncio.sleep(seconds)

    def _prune(self) -> None:
        """Delete what is old, once a day whichever worker comes first."""
        prune_if_due(self.advancer.engine, get_settings())

    def _update_trends(self) -> None:
        """Take values of runs that ended into trends, and what became worse into regressions.

        What trends show is a suspicion: boots are ordered that confirm or refute it.
        """
        update_quietly(self.advancer.engine)
        take_in_quietly(self.advancer.engine)
        confirm_quietly(self.advancer.engine)

    def _store_operations(self, stop: threading.Event) -> None:
        """Work out what operations run by exact counts, where that is not stored."""
        store_operations_quietly(
            self.advancer.engine, self.advancer.catalog.events, stopping=stop.is_set
        )

    def _to_wake(self, can: Abilities) -> list[QueueEntry]:
        """Put right what nobody else would; the runs and jobs whose time has come."""
        try:
            with transaction(self.advancer.engine) as session:
                for host_id in run_rows.free_final_runs(session):
                    log.warning("a run that is over held its host", host=host_id)
            conclude_closed(self.advancer.engine)
        except Exception as error:
            if is_away(error):
                raise
            log.exception("not reconciled")
        with transaction(self.advancer.engine) as session:
            runs = run_rows.runs_to_wake(session, can.hosts, grace_s=WAKE_GRACE_S)
            jobs = job_rows.jobs_to_wake(session, can.jobs, grace_s=WAKE_GRACE_S)
        runs = [*runs, *self.advancer.watch.come()]
        due = [QueueEntry(RUN_TASK, f"runs-{environment}", run) for run, environment in runs]
        if self.jobs is not None:
            due += [QueueEntry(JOB_TASK, f"jobs-{need}", job) for job, need in jobs]
        return due


def _quietly(do: Callable[[], object], otherwise: str) -> None:
    try:
        do()
    except Exception:
        log.exception(otherwise)


async def _without_transactions(connection: AsyncConnection) -> None:
    """The queue's statements stand alone, so that a worker that sleeps keeps nobody out."""
    await connection.set_autocommit(True)


async def _go_on(step: Callable[[], float | None], stop: threading.Event) -> None:
    """Take steps while the next one is wanted soon; then leave it to the reconciler."""
    while not stop.is_set():
        pause = await asyncio.to_thread(step)
        if pause is None or pause > SHORT_PAUSE_S:
            return
        await asyncio.sleep(pause)


def _queues_of(can: Abilities) -> list[str]:
    """The queues that a worker of these abilities takes from."""
    runs = [f"runs-{environment}" for environment in sorted(can.hosts)]
    return [ANY_RUNS, *runs, *(f"jobs-{each}" for each in can.jobs)]


async def _forget_stalled(app: App, queue: str) -> None:
    for job in await app.job_manager.get_stalled_jobs(
        queue=queue, seconds_since_heartbeat=STALLED_S
    ):
        await app.job_manager.finish_job(job, status=Status.FAILED, delete_job=True)


async def _wake(app: App, entry: QueueEntry) -> None:
    """Put it into the queue, for now: an entry for later would stand in the way of this one.

    When the next step is wanted stands in its row, by the database's clock.
    """
    is_run = entry.task == RUN_TASK
    lock = f"run-{entry.id}" if is_run else f"job-{entry.id}"
    task = app.configure_task(entry.task, queue=entry.queue, queueing_lock=lock)
    try:
        await task.defer_async(**{"run_id" if is_run else "job_id": entry.id})
    except AlreadyEnqueued:
        log.debug("queued already", lock=lock)


def _stop_on_signals(stop: threading.Event) -> None:
    """SIGTERM and SIGINT end the worker after the step in hand."""
    if threading.current_thread() is not threading.main_thread():
        return
    loop = asyncio.get_running_loop()
    on_stop: Callable[[], None] = stop.set
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, on_stop)
