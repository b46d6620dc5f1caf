"""Live news of experiments: one reader in the process, handed on to all who follow.

PostgreSQL tells the reader which experiment has news. It then reads that experiment's new
events and progress once, however many follow.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Final

import psycopg
from sqlalchemy import Engine
from sqlalchemy.exc import SQLAlchemyError

from api.problems import TooMany
from mitigauge.core.errors import MitigaugeError
from mitigauge.measurement.experiments.event_log import CHANNEL
from mitigauge.reporting.pages import experiments as views
from mitigauge.reporting.pages.schemas import EventView, ProgressView
from mitigauge.storage.database.engine import transaction

PAGE: Final = 500
# In case a notification was lost.
LOOK_ANYWAY_S: Final = 15.0
# However often an experiment announces itself, it is read no more often than this.
REST_S: Final = 0.2
# Frames that wait for one follower. Who has more waiting does not read.
MOST_WAITING: Final = 1_000
RECONNECT_S: Final = (0.5, 1.0, 2.0, 5.0, 10.0)
KEEPALIVES: Final = {
    "keepalives": 1,
    "keepalives_idle": 10,
    "keepalives_interval": 5,
    "keepalives_count": 3,
    "tcp_user_timeout": 20_000,
    "connect_timeout": 10,
    "application_name": "mitigauge followers",
}

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class News:
    """One server-sent event, ready to be sent."""

    text: str
    event_id: int = 0
    """Of a line of the log, else 0."""


@dataclass(eq=False, slots=True)
class Follower:
    """One page that follows an experiment."""

    after: int
    """The last line of the log that it has."""
    queue: asyncio.Queue[News | None] = field(
        default_factory=lambda: asyncio.Queue(MOST_WAITING + 1)
    )
    dropped: asyncio.Event = field(default_factory=asyncio.Event)

    def hand(self, news: News | None) -> None:
        """Give it news, or with None the end. Who reads nothing is dropped."""
        if self.queue.qsize() >= MOST_WAITING and news is not None:
            self.dropped.set()
        elif not self.queue.full():
            self.queue.put_nowait(news)


@dataclass(eq=False, slots=True)
class Topic:
    """An experiment that somebody follows."""

    seen: int
    """The last line of the log that was handed on."""
    progress: str
    followers: set[Follower] = field(default_factory=set)


class Followers:
    """All who follow in this process. Used from its event loop only."""

    def __init__(self, engine: Engine, limit: int) -> None:
        self.engine = engine
        self.limit = limit
        self.count = 0
        self.closed = False
        self._topics: dict[int, Topic] = {}
        self._news: set[int] = set()
        self._woken = asyncio.Event()
        self._tasks: list[asyncio.Task[None]] = []

    async def join(self, experiment_id: int, after: int | None) -> Follower:
        """Begin to follow, from the log's line *after* on, or from its end with None.

        Raises :class:`TooMany` at the limit, :class:`NotFound` for no such experiment.
        """
        if self.count >= self.limit or self.closed:
            raise TooMany(
                f"{self.count} pages follow experiments already"
                if not self.closed
                else "the service is being stopped",
                hint="Close some, or raise MITIGAUGE_FOLLOWERS_LIMIT.",
            )
        # Counted before anything is waited for, so that the limit holds for many at once.
        self.count += 1
        try:
            progress = await asyncio.to_thread(self._progress, experiment_id)
        except BaseException:
            self.count -= 1
            raise
        self._start()
        fresh = Topic(progress.last_event_id, _progress_news(progress))
        topic = self._topics.setdefault(experiment_id, fresh)
        # An id of the future would keep all that comes from the follower.
        known = after is not None and after <= progress.last_event_id
        follower = Follower(after if known and after is not None else progress.last_event_id)
        topic.followers.add(follower)
        # Of the topic, not what was just read: that may be older than what others have.
        follower.hand(News(topic.progress))
        # What came between reading and joining is looked for at once.
        self._wake(experiment_id)
        return follower

    def leave(self, experiment_id: int, follower: Follower) -> None:
        """Follow no more."""
        topic = self._topics.get(experiment_id)
        if topic is None or follower not in topic.followers:
            return
        topic.followers.discard(follower)
        self.count -= 1
        if not topic.followers:
            del self._topics[experiment_id]

    async def missed(self, experiment_id: int, follower: Follower) -> AsyncIterator[News]:
        """The lines of the log that were written before the follower joined."""
        while True:
            events = await asyncio.to_thread(self._events, experiment_id, follower.after)
            for event in events:
                yield _event_news(event)
                follower.after = event.id
            if len(events) < PAGE:
                return

    def close(self) -> None:
        """Let all go: the process is about to end."""
        self.closed = True
        for topic in self._topics.values():
            for follower in topic.followers:
                follower.hand(None)
        for task in self._tasks:
            task.cancel()

    async def ended(self) -> None:
        """Wait until nothing of this runs any more."""
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def _start(self) -> None:
        if not self._tasks:
            self._tasks = [
                asyncio.create_task(self._listen(), name="followers: listen"),
                asyncio.create_task(self._hand_on(), name="followers: hand on"),
            ]

    def _wake(self, *experiment_ids: int) -> None:
        self._news.update(experiment_ids)
        self._woken.set()

    async def _listen(self) -> None:
        """Hear which experiments have news, for ever, over a connection of its own."""
        failures = 0
        while True:
            try:
                async with await self._connect() as connection:
                    await connection.execute(f"listen {CHANNEL}")
                    failures = 0
                    # Whatever was announced while nobody listened.
                    self._wake(*self._topics)
                    await self._hear(connection)
            except (psycopg.Error, OSError, TimeoutError) as error:
                wait_s = RECONNECT_S[min(failures, len(RECONNECT_S) - 1)]
                failures += 1
                log.warning("no news from the database, next try in %s s: %s", wait_s, error)
                await asyncio.sleep(wait_s)

    async def _connect(self) -> psycopg.AsyncConnection[tuple[object, ...]]:
        _, options = self.engine.dialect.create_connect_args(self.engine.url)
        return await psycopg.AsyncConnection.connect(
            **{**options, **KEEPALIVES, "autocommit": True}
        )

    async def _hear(self, connection: psycopg.AsyncConnection[tuple[object, ...]]) -> None:
        while True:
            async for notification in connection.notifies(timeout=LOOK_ANYWAY_S):
                if notification.payload.isdecimal():
                    experiment_id = int(notification.payload[:19])
                    if experiment_id in self._topics:
                        self._wake(experiment_id)
            # A connection that is silent may be dead; nothing else would show that.
            async with asyncio.timeout(LOOK_ANYWAY_S):
                await connection.execute("select 1")
            self._wake(*self._topics)

    async def _hand_on(self) -> None:
        while True:
            with suppress(TimeoutError):
                async with asyncio.timeout(LOOK_ANYWAY_S):
                    await self._woken.wait()
            self._woken.clear()
            wanted = self._news & self._topics.keys() or set(self._topics)
            self._news.clear()
            for experiment_id in sorted(wanted):
                try:
                    await self._read(experiment_id)
                except (SQLAlchemyError, MitigaugeError) as error:
                    log.warning("experiment %s cannot be read: %s", experiment_id, error)
                except Exception:
                    # Others are still to be told; this one is looked at again.
                    log.exception("experiment %s cannot be read", experiment_id)
            await asyncio.sleep(REST_S)

    async def _read(self, experiment_id: int) -> None:
        topic = self._topics.get(experiment_id)
        while topic is not None and topic.followers:
            progress, events = await asyncio.to_thread(self._load, experiment_id, topic.seen)
            for event in events:
                topic.seen = event.id
                _to_all(topic, _event_news(event))
            if len(events) == PAGE:
                continue
            text = _progress_news(progress)
            if text != topic.progress:
                topic.progress = text
                _to_all(topic, News(text))
            if progress.is_over:
                _to_all(topic, None)
            return

    def _load(self, experiment_id: int, after: int) -> tuple[ProgressView, list[EventView]]:
        with transaction(self.engine) as session:
            # Progress first: what it shows as final has its events written.
            progress = views.show_progress(session, experiment_id)
            return progress, views.list_events(session, experiment_id, after, PAGE)

    def _progress(self, experiment_id: int) -> ProgressView:
        with transaction(self.engine) as session:
            return views.show_progress(session, experiment_id)

    def _events(self, experiment_id: int, after: int) -> list[EventView]:
        with transaction(self.engine) as session:
            return views.list_events(session, experiment_id, after, PAGE)


def _to_all(topic: Topic, news: News | None) -> None:
    for follower in topic.followers:
        follower.hand(news)


def _event_news(event: EventView) -> News:
    return News(f"id: {event.id}\nevent: log\ndata: {event.model_dump_json()}\n\n", event.id)


def _progress_news(progress: ProgressView) -> str:
    return f"event: progress\ndata: {progress.model_dump_json()}\n\n"
