"""Following experiments live: one reader for all, nothing lost, nobody waits for anybody."""

from __future__ import annotations

import json
import re
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any

import httpx2
import pytest
from fastapi import FastAPI
from sqlalchemy import Engine, event, text

from api import events, followers
from api.app import create_app
from mitigauge.core.settings import get_settings
from mitigauge.measurement.experiments.event_log import announce, record_event
from mitigauge.storage.database.engine import transaction
from tests.api.conftest import planned
from tests.clients import bearer, token_of
from tests.serving import serving


class Follower:
    """A page that follows an experiment, over a real connection."""

    def __init__(self, port: int, experiment_id: int, token: str, last: str | None = None) -> None:
        self.said = b""
        self.ended_at: float | None = None
        self.connection = socket.create_connection(("127.0.0.1", port), timeout=60)
        resume = "" if last is None else f"Last-Event-ID: {last}\r\n"
        self.connection.sendall(
            f"GET /api/experiments/{experiment_id}/events HTTP/1.1\r\nHost: localhost\r\n"
            f"Authorization: Bearer {token}\r\n{resume}\r\n".encode()
        )
        self.thread = threading.Thread(target=self._hear, daemon=True)
        self.thread.start()

    def _hear(self) -> None:
        try:
            while piece := self.connection.recv(65536):
                self.said += piece
                if self.said.endswith(b"0\r\n\r\n"):
                    break
        except OSError:
            pass
        self.ended_at = time.monotonic()

    def ids(self) -> list[int]:
        # By its fixed beginning: "^" looks at each byte of megabytes, and nothing else runs then.
        return [int(found) for found in re.findall(rb"\nid: (\d+)", self.said)]

    def progress(self) -> list[dict[str, Any]]:
        found = re.findall(rb"^event: progress\ndata: (.*)$", self.said, re.M)
        return [json.loads(body) for body in found]

    def status(self) -> int:
        until(lambda: b"\r\n\r\n" in self.said, "an answer")
        return int(self.said.split()[1])

    def close(self) -> None:
        """Break off, also while the thread hears."""
        with suppress(OSError):
            self.connection.shutdown(socket.SHUT_RDWR)
        self.thread.join(10)
        self.connection.close()


def until(true: Callable[[], object], what: str, *, within_s: float = 30.0) -> None:
    deadline = time.monotonic() + within_s
    while not true():
        assert time.monotonic() < deadline, f"{what} did not come within {within_s} s"
        time.sleep(0.02)


@contextmanager
def following(
    port: int, experiment_id: int, token: str, last: str | None = None
) -> Iterator[Follower]:
    follower = Follower(port, experiment_id, token, last)
    try:
        yield follower
    finally:
        follower.close()


@pytest.fixture
def token(engine: Engine, home: Path) -> str:
    return token_of(engine, "viewer")


def write(engine: Engine, experiment_id: int, *texts: str) -> None:
    with transaction(engine) as session:
        for line in texts:
            record_event(session, experiment_id=experiment_id, run_id=None, kind="note", text=line)


def ids_in(engine: Engine, experiment_id: int) -> list[int]:
    with engine.connect() as connection:
        wanted = text("select id from event where experiment_id = :id order by id")
        return list(connection.scalars(wanted, {"id": experiment_id}))


def test_news_come_by_notification_long_before_the_next_look(
    service: FastAPI,
    engine: Engine,
    experiment_id: int,
    token: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(followers, "LOOK_ANYWAY_S", 600.0)
    with serving(service) as port, following(port, experiment_id, token) as follower:
        until(follower.progress, "the first progress")
        write(engine, experiment_id, "hello")
        until(lambda: b"hello" in follower.said, "the news")
        assert follower.ids() == ids_in(engine, experiment_id)[-1:]
        newest = follower.ids()[0]
        until(lambda: follower.progress()[-1]["last_event_id"] == newest, "the progress")


def test_whoever_comes_back_misses_nothing_and_gets_nothing_twice(
    service: FastAPI, engine: Engine, experiment_id: int, token: str
) -> None:
    """Followers join, break off and resume at random while events are written."""
    got: list[int] = ids_in(engine, experiment_id)
    stop = threading.Event()

    def keep_writing() -> None:
        for number in range(300):
            write(engine, experiment_id, *[f"{number}.{part}" for part in range(1 + number % 4)])
            time.sleep(0.005)
        stop.set()

    with serving(service) as port, following(port, experiment_id, token):
        writer = threading.Thread(target=keep_writing)
        writer.start()
        rounds = 0
        while not stop.is_set() or got != ids_in(engine, experiment_id):
            rounds += 1
            assert rounds < 400
            with following(port, experiment_id, token, str(got[-1])) as follower:
                time.sleep(0.01 * (rounds % 20) + (0.5 if stop.is_set() else 0.0))
            # What was cut off within a line was not received.
            whole = re.findall(rb"^id: (\d+)\nevent: log\ndata: .*\n\n", follower.said, re.M)
            got += map(int, whole)
        writer.join()
    assert rounds > 5
    assert got == ids_in(engine, experiment_id)


def test_a_page_of_lines_and_more_comes_whole(
    service: FastAPI, engine: Engine, experiment_id: int, token: str
) -> None:
    write(engine, experiment_id, *map(str, range(followers.PAGE + 3)))
    with serving(service) as port, following(port, experiment_id, token, "0") as follower:
        wanted = ids_in(engine, experiment_id)
        until(lambda: len(follower.ids()) >= len(wanted), "every line")
        assert follower.ids() == wanted


@pytest.mark.parametrize(
    "last",
    [
        "9223372036854775808",
        "9" * 400,
        "-1",
        "x",
        "",
        "1e3",
        "\u0663".encode().decode("latin-1"),
        "999999",
    ],
)
def test_an_id_that_is_none_of_ours_is_ignored(
    service: FastAPI, engine: Engine, experiment_id: int, token: str, last: str
) -> None:
    with serving(service) as port, following(port, experiment_id, token, last) as follower:
        assert follower.status() == 200
        until(follower.progress, "the first progress")
        assert follower.ids() == []
        write(engine, experiment_id, "hello")
        until(lambda: b"hello" in follower.said, "the news")


def test_a_lost_notification_is_made_up_for(
    service: FastAPI,
    engine: Engine,
    experiment_id: int,
    token: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(followers, "LOOK_ANYWAY_S", 0.5)
    with serving(service) as port, following(port, experiment_id, token) as follower:
        until(follower.progress, "the first progress")
        with engine.begin() as connection:
            # Past the code that announces.
            connection.execute(
                text("insert into event (experiment_id, kind, text) values (:id, 'note', 'quiet')"),
                {"id": experiment_id},
            )
        until(lambda: b"quiet" in follower.said, "the news")


def test_a_connection_that_breaks_is_made_again_and_nothing_is_lost(
    service: FastAPI, engine: Engine, experiment_id: int, token: str
) -> None:
    with serving(service) as port, following(port, experiment_id, token) as follower:
        for number in range(3):
            until(lambda: listening(engine) == 1, "a listening connection")
            with engine.begin() as connection:
                connection.execute(
                    text(
                        "select pg_terminate_backend(pid) from pg_stat_activity "
                        "where application_name = 'mitigauge followers'"
                    )
                )
            write(engine, experiment_id, f"while away {number}")
            until(lambda n=number: f"while away {n}".encode() in follower.said, "the news")
        assert follower.ids() == ids_in(engine, experiment_id)[-3:]


def listening(engine: Engine) -> int:
    with engine.connect() as connection:
        count = text(
            "select count(*) from pg_stat_activity where application_name = 'mitigauge followers' "
            "and state = 'idle'"
        )
        return connection.scalar(count) or 0


def test_the_database_is_read_once_however_many_follow(
    service: FastAPI, engine: Engine, experiment_id: int, token: str
) -> None:
    with serving(service) as port, ExitStack() as stack:
        pages = [stack.enter_context(following(port, experiment_id, token)) for _ in range(20)]
        until(lambda: all(page.progress() for page in pages), "the first progress")
        # Each that joins makes the reader look once more; then it rests.
        time.sleep(1.0)
        statements: list[str] = []
        event.listen(
            engine,
            "before_cursor_execute",
            lambda _c, _k, statement, *_: statements.append(statement),
        )
        write(engine, experiment_id, "hello")
        own = len(statements)
        until(lambda: all(b"hello" in page.said for page in pages), "the news")
        # Two readings at most: of the news, and of what was announced meanwhile.
        assert len(statements) - own < 40
        assert listening(engine) == 1


def test_a_hundred_followers_make_nobody_wait(
    service: FastAPI, engine: Engine, experiment_id: int, token: str
) -> None:
    admin = bearer(token_of(engine, "admin"))
    others = [planned(engine) for _ in range(5)]
    with serving(service) as port, ExitStack() as stack:
        pages = [stack.enter_context(following(port, experiment_id, token)) for _ in range(100)]
        until(lambda: all(page.progress() for page in pages), "the first progress", within_s=60)
        with httpx2.Client(base_url=f"http://127.0.0.1:{port}", headers=admin) as client:
            for other in others:
                write(engine, experiment_id, f"news {other}")
                # One that had to wait for a follower would wait for as long as that stays.
                answer = client.post(f"/api/experiments/{other}/cancel", timeout=30)
                assert answer.status_code == 200
        last = f"news {others[-1]}".encode()
        until(lambda: all(last in page.said for page in pages), "the news", within_s=60)


def test_the_next_follower_over_the_limit_is_told_so_and_a_place_gets_free(
    engine: Engine, experiment_id: int, token: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MITIGAUGE_FOLLOWERS_LIMIT", "2")
    get_settings.cache_clear()
    with serving(create_app(engine)) as port, ExitStack() as stack:
        first = stack.enter_context(following(port, experiment_id, token))
        assert first.status() == 200
        assert stack.enter_context(following(port, experiment_id, token)).status() == 200
        third = stack.enter_context(following(port, experiment_id, token))
        assert third.status() == 503
        assert b"retry-after:" in third.said.lower()
        until(lambda: b"MITIGAUGE_FOLLOWERS_LIMIT" in third.said, "the reason")
        # One that is refused for another reason takes no place.
        assert stack.enter_context(following(port, 999_999, token)).status() in (404, 503)
        first.connection.shutdown(socket.SHUT_RDWR)

        def there_is_room() -> bool:
            with following(port, experiment_id, token) as page:
                return page.status() == 200

        until(there_is_room, "a free place")


def test_a_follower_that_reads_nothing_is_dropped_and_delays_nobody(
    engine: Engine, experiment_id: int, token: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(followers, "MOST_WAITING", 50)
    service = create_app(engine)
    with (
        serving(service) as port,
        following(port, experiment_id, token) as reader,
        socket.socket() as deaf,
    ):
        deaf.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        deaf.connect(("127.0.0.1", port))
        deaf.sendall(
            f"GET /api/experiments/{experiment_id}/events HTTP/1.1\r\nHost: localhost\r\n"
            f"Authorization: Bearer {token}\r\n\r\n".encode()
        )
        until(lambda: service.state.followers.count == 2, "both followers")
        # One is counted before it is known from which line on it follows.
        until(reader.progress, "the first progress")
        number = 0
        while service.state.followers.count == 2:
            number += 1
            assert number < 400
            write(engine, experiment_id, *[4000 * "x" for _ in range(20)])
            until(
                lambda n=number: len(reader.ids()) >= 20 * n, "the news for who reads", within_s=120
            )
        assert service.state.followers.count == 1
        write(engine, experiment_id, "afterwards")
        until(lambda: b"afterwards" in reader.said, "the news")
        assert reader.ids() == ids_in(engine, experiment_id)[1:]


def test_an_experiment_that_ends_ends_its_streams(
    service: FastAPI, engine: Engine, experiment_id: int, token: str
) -> None:
    with serving(service) as port, following(port, experiment_id, token) as follower:
        until(follower.progress, "the first progress")
        with transaction(engine) as session:
            session.execute(text("update run set state = 'finished', started_at = now()"))
            session.execute(text("update experiment set state = 'finished'"))
            record_event(
                session, experiment_id=experiment_id, run_id=None, kind="end", text="the last"
            )
        until(lambda: b"the last" in follower.said, "the last line")
        # The verdicts of its end are written later, and a page is told of them.
        with transaction(engine) as session:
            session.execute(text("update run set verdict_changes = 7"))
        with transaction(engine) as session:
            session.execute(text("update experiment set concluded_at = now()"))
            announce(session, experiment_id)
        until(lambda: follower.ended_at is not None, "the end")
        assert b"the last" in follower.said
        last = follower.progress()[-1]
        assert (last["state"], last["is_over"]) == ("finished", True)
        assert {run["verdict_changes"] for run in last["runs"]} == {7}
        # The service lets go after its last byte, which the page may have read before.
        until(lambda: service.state.followers.count == 0, "the place to be free")


def test_who_is_let_in_no_more_follows_no_more(
    service: FastAPI,
    engine: Engine,
    experiment_id: int,
    token: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(events, "KEEPALIVE_S", 0.2)
    monkeypatch.setattr(events, "RECHECK_S", 0.5)
    with serving(service) as port, following(port, experiment_id, token) as follower:
        until(lambda: follower.said.count(b": still here") > 4, "signs of life")
        with engine.begin() as connection:
            connection.execute(text("update access_token set revoked_at = now()"))
        until(lambda: follower.ended_at is not None, "the end")


def test_news_without_end_keep_nobody_in_who_is_let_in_no_more(
    service: FastAPI,
    engine: Engine,
    experiment_id: int,
    token: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(events, "RECHECK_S", 0.5)
    with serving(service) as port, following(port, experiment_id, token) as follower:
        until(follower.progress, "the first progress")
        with engine.begin() as connection:
            connection.execute(text("update access_token set revoked_at = now()"))

        def ended_while_told() -> bool:
            write(engine, experiment_id, "news")
            return follower.ended_at is not None

        until(ended_while_told, "the end")


def test_an_unknown_experiment_is_a_404_and_no_stream(client: Any) -> None:
    answer = client.get("/api/experiments/7/events")
    assert answer.status_code == 404
