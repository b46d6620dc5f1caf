"""The scheduler of interleavings: what it is told to do is what happens."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator

import pytest
from sqlalchemy import Engine, text

from mitigauge.storage.database.engine import new_engine, transaction
from tests.crash.scheduler import Scheduler, alternating


@pytest.fixture
def scheduler(engine: Engine, database_url: str) -> Iterator[Scheduler]:
    """A scheduler over the test's database, with a table of one counter."""
    with engine.begin() as connection:
        connection.execute(text("create table counter (n int)"))
        connection.execute(text("insert into counter values (0)"))
    watch = new_engine(database_url)
    scheduler = Scheduler(engine, watch)
    yield scheduler
    scheduler.close()
    watch.dispose()


def counting(engine: Engine, *, locking: bool) -> Callable[[], int]:
    """Read the counter, then write it one higher: wrong unless it locks."""
    lock = " for update" if locking else ""

    def count() -> int:
        with transaction(engine) as session:
            n = session.scalars(text(f"select n from counter{lock}")).one()
            session.execute(text("update counter set n = :n"), {"n": n + 1})
            return int(n)

    return count


def total(engine: Engine) -> int:
    with transaction(engine) as session:
        return int(session.scalars(text("select n from counter")).one())


def test_one_after_the_other_counts_right(scheduler: Scheduler, engine: Engine) -> None:
    count = counting(engine, locking=False)
    players = scheduler.play([("a", count), ("b", count)], alternating("a", []))
    assert (players["a"].result, players["b"].result) == (0, 1)
    assert total(engine) == 2


def test_a_switch_between_reading_and_writing_loses_a_count(
    scheduler: Scheduler, engine: Engine
) -> None:
    count = counting(engine, locking=False)
    # a: begin, select; then b to its end; then a.
    players = scheduler.play([("a", count), ("b", count)], alternating("a", [2]))
    assert (players["a"].result, players["b"].result) == (0, 0)
    assert total(engine) == 1
    assert [point.split()[0] for point in players["a"].points] == [
        "begin", "before_cursor_execute", "before_cursor_execute", "commit",
    ]  # fmt: skip


@pytest.mark.parametrize("points", range(6))
def test_who_waits_for_a_lock_is_left_to_wait(
    scheduler: Scheduler, engine: Engine, points: int
) -> None:
    count = counting(engine, locking=True)
    players = scheduler.play([("a", count), ("b", count)], alternating("a", [points]))
    assert {players["a"].result, players["b"].result} == {0, 1}
    assert total(engine) == 2


def test_the_same_schedule_gives_the_same_interleaving(
    scheduler: Scheduler, engine: Engine
) -> None:
    count = counting(engine, locking=False)

    def played() -> tuple[list[str], int]:
        with engine.begin() as connection:
            connection.execute(text("update counter set n = 0"))
        choices: list[str] = []
        schedule = alternating("b", [1, 2, 1])

        def choose(ready: list[str]) -> str:
            choices.append(schedule(ready))
            return choices[-1]

        scheduler.play([("a", count), ("b", count)], choose)
        return choices, total(engine)

    assert played() == played() == played()


def test_other_threads_pass_every_point(scheduler: Scheduler, engine: Engine) -> None:
    done = threading.Event()

    def look_on() -> None:
        total(engine)
        done.set()

    def act() -> bool:
        thread = threading.Thread(target=look_on)
        thread.start()
        thread.join(60)
        return done.is_set()

    players = scheduler.play([("a", act)], alternating("a", []))
    assert players["a"].result is True


def test_what_a_player_raises_is_kept(scheduler: Scheduler) -> None:
    def fail() -> None:
        raise KeyError("x")

    players = scheduler.play([("a", fail), ("b", lambda: 1)], alternating("a", [1]))
    assert isinstance(players["a"].error, KeyError)
    assert players["b"].result == 1
