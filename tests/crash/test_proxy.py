"""The proxy before PostgreSQL: it loses exactly the answers that it was asked to lose."""

from __future__ import annotations

import struct
import threading
import time
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import psycopg
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import Engine, make_url, text
from sqlalchemy.exc import OperationalError

from mitigauge.storage.database.engine import new_engine
from tests.crash.proxy import CUT, SILENCE, BrokenFrame, Frames, Proxy


def message(kind: bytes, body: bytes) -> bytes:
    return kind + struct.pack("!i", 4 + len(body)) + body


@given(
    bodies=st.lists(st.binary(max_size=40), max_size=6),
    cuts=st.lists(st.integers(0, 300), max_size=8),
)
def test_frames_are_the_same_however_the_stream_is_torn(
    bodies: list[bytes], cuts: list[int]
) -> None:
    whole = [message(b"D", body) for body in bodies]
    stream = b"".join(whole)
    places = sorted({0, len(stream), *(min(cut, len(stream)) for cut in cuts)})
    frames = Frames()
    found: list[bytes] = []
    for begin, end in pairwise(places):
        found += frames.feed(stream[begin:end])
    assert found == whole
    assert frames.waiting == b""


@pytest.mark.parametrize("length", [0, 3, -1, 2**31 - 1])
def test_a_length_that_no_message_has_is_refused(length: int) -> None:
    with pytest.raises(BrokenFrame, match=str(length)):
        list(Frames().feed(b"Q" + struct.pack("!i", length)))


@pytest.fixture
def proxy(database_url: str, tmp_path: Path) -> Iterator[Proxy]:
    """A proxy before the session's server."""
    query = make_url(database_url).query
    upstream = Path(str(query["host"])) / f".s.PGSQL.{query['port']}"
    with Proxy(upstream, tmp_path).running() as proxy:
        yield proxy


@pytest.fixture
def through(proxy: Proxy, database_url: str) -> Iterator[Engine]:
    """An engine whose connections go through the proxy."""
    engine = new_engine(proxy.url(database_url))
    yield engine
    engine.dispose()


@pytest.fixture
def table(engine: Engine) -> None:
    """A table to write into."""
    with engine.begin() as connection:
        connection.execute(text("create table told (what text)"))


def tell(engine: Engine, what: str, mark: str) -> None:
    """Write a line in a transaction that the proxy knows by its mark."""
    with engine.begin() as connection:
        connection.execute(text(f"select '{mark}'"))
        connection.execute(text("insert into told values (:what)"), {"what": what})


def told(engine: Engine) -> list[str]:
    with engine.connect() as connection:
        return list(connection.scalars(text("select what from told order by what")))


@pytest.mark.usefixtures("table")
def test_a_commit_is_executed_and_its_answer_lost(
    proxy: Proxy, through: Engine, engine: Engine
) -> None:
    with pytest.raises(OperationalError):
        tell(through, "lost answer", CUT)
    assert told(engine) == ["lost answer"]
    assert proxy.made[CUT] == 1


@pytest.mark.usefixtures("table")
def test_without_a_mark_nothing_is_lost(proxy: Proxy, through: Engine, engine: Engine) -> None:
    for number in range(3):
        with through.begin() as connection:
            connection.execute(text("insert into told values (:what)"), {"what": str(number)})
            big = connection.scalar(text("select repeat('x', 3000000)"))
            assert len(big) == 3_000_000
    assert told(engine) == ["0", "1", "2"]
    assert not proxy.made


@pytest.mark.usefixtures("table")
def test_a_transaction_that_is_rolled_back_is_not_cut(
    proxy: Proxy, through: Engine, engine: Engine
) -> None:
    with through.connect() as connection:
        connection.execute(text(f"select '{CUT}'"))
        connection.execute(text("insert into told values ('never')"))
        connection.rollback()
        assert connection.scalar(text("select 1")) == 1
    assert told(engine) == []
    assert not proxy.made


@pytest.mark.usefixtures("table")
def test_after_a_commit_a_connection_can_fall_silent(
    proxy: Proxy, through: Engine, engine: Engine
) -> None:
    def commit() -> None:
        with pytest.raises(OperationalError):
            tell(through, "silent", SILENCE)

    waiting = threading.Thread(target=commit)
    waiting.start()
    deadline = time.monotonic() + 60
    while not told(engine) and time.monotonic() < deadline:
        time.sleep(0.02)
    assert told(engine) == ["silent"]
    waiting.join(0.5)
    assert waiting.is_alive()
    assert proxy.made[SILENCE] == 1
    proxy.hang_up()
    waiting.join(60.0)
    assert not waiting.is_alive()


def test_a_silent_proxy_accepts_and_says_nothing_until_healed(
    proxy: Proxy, database_url: str
) -> None:
    address = proxy.url(database_url).replace("+psycopg", "")
    proxy.silence()
    with pytest.raises(psycopg.errors.ConnectionTimeout):
        psycopg.connect(address, connect_timeout=2)
    proxy.heal()
    with psycopg.connect(address, connect_timeout=2) as connection:
        assert connection.execute("select 1").fetchone() == (1,)


def test_a_partition_hangs_up_and_accepts_nobody(
    proxy: Proxy, through: Engine, database_url: str
) -> None:
    with through.connect() as connection:
        assert connection.scalar(text("select 1")) == 1
        proxy.partition()
        with pytest.raises(OperationalError):
            connection.execute(text("select 1"))
    with pytest.raises(OperationalError):
        through.connect()
    proxy.heal()
    with through.connect() as connection:
        assert connection.scalar(text("select 1")) == 1


def test_a_delay_is_one_of_every_message(proxy: Proxy, through: Engine) -> None:
    with through.connect() as connection:
        connection.scalar(text("select 1"))
        proxy.delay_s = 0.1
        began = time.monotonic()
        connection.scalar(text("select 1"))
        assert time.monotonic() - began >= 0.2
