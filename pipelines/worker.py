"""The worker: Procrastinate wakes it, ``advance`` does the work.

The queue may lose, repeat or delay a job without harm: each job only says "look at
this run". What is true stands in our tables, and the reconciler wakes what no job
would. This is the one file that knows the queue.
"""

from __future__ import annotations

import asyncio
import signal
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import structlog
from procrastinate import App, PsycopgConnector
from procrastinate.exceptions import AlreadyEnqueued
from procrastinate.jobs import Status
from psycopg import AsyncConnection

from mitigauge.database.engine import KEEPALIVE, in_words, is_away, transaction
from mitigauge.retention.service import prune_if_due
from mitigauge.runs import repository as run_rows
from mitigauge.runs import service
from mitigauge.runs.conclusions import conclude_closed
from mitigauge.settings import get_settings
from mitigauge.trends.update import update_quietly
from pipelines.advance import Advancer
from pipelines.weekly import report_week

log = structlog.get_logger()

QUEUE = "runs"
# Beside the runs' own: the reconciler, pruning, the weekly report and trends have one each.
OWN_THREADS = 4
# A run that waits for its host's job occupies a thread and a waiting Ansible, some 100 MB.
CONCURRENCY = 16
RECONCILE_S = 1.0
# A run whose step has just ended is gone on with by whoever took it.
WAKE_GRACE_S = 1.0
# Jobs whose worker died stay "doing" for ever; they are only litter, since the lease decides.
STALLED_S = 60.0
RESTART_S = 2.0
# What the queue takes for all its statements of one look; it needs milliseconds.
QUEUE_LIMIT_S = 60.0
# Shorter pauses are slept through; after a longer one the reconciler wakes the run.
SHORT_PAUSE_S = 2.0
# How often a worker looks whether a day has passed since somebody pruned, or a week is over.
LOOK_FOR_OLD_S = 600.0
# How often a worker looks whether a run ended whose values are in no trend yet.
LOOK_FOR_VALUES_S = 10.0
# A run that no step could even be begun for is left alone for so long.
TROUBLE_RETRY_S = 30.0


@dataclass(frozen=True)
class Worker:
    """One worker process: any number may run against one database."""

    advancer: Advancer
    database_url: str
    concurrency: int = CONCURRENCY

    def run(self, stop: threading.Event | None = None) -> None:
        """Work until *stop* is set (or SIGINT/SIGTERM arrives); outlives a database restart."""
        asyncio.run(self._run(stop or threading.Event()))

    async def _run(self, stop: threading.Event) -> None:
        _stop_on_signals(stop)
        threads = ThreadPoolExecutor(self.concurrency + OWN_THREADS, "advance")
        asyncio.get_running_loop().set_default_executor(threads)
        while not stop.is_set():
            try:
                await self._serve(stop)
            except Exception:
                # The queue's connection is gone, mostly. Whatever it was: runs depend on it
                # that the worker goes on.
                log.exception("worker begins anew")
                await asyncio.sleep(RESTART_S)

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
        async with app.open_async():
            work = asyncio.create_task(
                app.run_worker_async(
                    queues=[QUEUE],
                    concurrency=self.concurrency,
                    fetch_job_polling_interval=1.0,
                    listen_notify=True,
                    install_signal_handlers=False,
                    delete_jobs="always",
                    shutdown_graceful_timeout=5,
                )
            )
            watch = asyncio.create_task(self._reconcile(app, stop))
            regular = (
                self._every(LOOK_FOR_OLD_S, stop, self._prune, "nothing was pruned"),
                self._every(LOOK_FOR_OLD_S, stop, self._report, "no weekly report"),
                self._every(LOOK_FOR_VALUES_S, stop, self._update_trends, "trends not updated"),
            )
            tasks = {work, watch, *map(asyncio.create_task, regular)}
            done, pending = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            for task in pending:
                task.cancel()
            await asyncio.gather(*pending, return_exceptions=True)
            for task in done:
                task.result()

    def _register(self, app: App, stop: threading.Event) -> None:
        @app.task(name="advance", queue=QUEUE)
        async def advance(run_id: int) -> None:
            await self._advance(run_id, stop)

    async def _advance(self, run_id: int, stop: threading.Event) -> None:
        """Advance while the run wants its next step soon; then leave it to the reconciler."""
        while not stop.is_set():
            pause = await asyncio.to_thread(self._step, run_id, stop)
            if pause is None or pause > SHORT_PAUSE_S:
                return
            await asyncio.sleep(pause)

    def _step(self, run_id: int, stop: threading.Event) -> float | None:
        """One step of the run. Raises nothing: what fails here would fail again at once."""
        try:
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

    async def _reconcile(self, app: App, stop: threading.Event) -> None:
        while not stop.is_set():
            due = await asyncio.to_thread(self._runs_to_wake)
            # A queue whose connection says nothing is begun anew.
            async with asyncio.timeout(QUEUE_LIMIT_S):
                await _wake_all(app, due)
            await asyncio.sleep(RECONCILE_S)

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

    def _report(self) -> None:
        """Make the report of a week that is over, once whichever worker comes first."""
        report_week(self.advancer.engine, get_settings())

    def _update_trends(self) -> None:
        """Take values of runs that ended into trends, whichever worker comes first."""
        update_quietly(self.advancer.engine)

    def _runs_to_wake(self) -> list[int]:
        """What nobody else would put right, and the runs whose time has come."""
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
            return run_rows.runs_to_wake(session, grace_s=WAKE_GRACE_S)


def _quietly(do: Callable[[], object], otherwise: str) -> None:
    try:
        do()
    except Exception:
        log.exception(otherwise)


async def _without_transactions(connection: AsyncConnection) -> None:
    """The queue's statements stand alone, so that a worker that sleeps keeps nobody out."""
    await connection.set_autocommit(True)


async def _wake_all(app: App, runs: Sequence[int]) -> None:
    for run_id in runs:
        await _wake(app, run_id)
    for job in await app.job_manager.get_stalled_jobs(
        queue=QUEUE, seconds_since_heartbeat=STALLED_S
    ):
        await app.job_manager.finish_job(job, status=Status.FAILED, delete_job=True)


async def _wake(app: App, run_id: int) -> None:
    """Put the run into the queue, for now: a job for later would stand in the way of this one.

    When a run wants its next step stands in its row, by the database's clock.
    """
    job = app.configure_task("advance", queue=QUEUE, queueing_lock=f"run-{run_id}")
    try:
        await job.defer_async(run_id=run_id)
    except AlreadyEnqueued:
        log.debug("run is queued already", run=run_id)


def _stop_on_signals(stop: threading.Event) -> None:
    """SIGTERM and SIGINT end the worker after the step in hand."""
    if threading.current_thread() is not threading.main_thread():
        return
    loop = asyncio.get_running_loop()
    on_stop: Callable[[], None] = stop.set
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, on_stop)
