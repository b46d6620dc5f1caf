"""Which errors of the database are worth doing the same again, and which are a step's failure."""

from __future__ import annotations

import time

import pytest
from sqlalchemy import Engine, text
from sqlalchemy.exc import DBAPIError, IntegrityError, OperationalError
from sqlalchemy.exc import TimeoutError as PoolTimeout

from mitigauge.storage.database.engine import in_words, is_away, new_engine

AWAY = {
    "08006": "connection failure",
    "57P01": "admin shutdown",
    "57P03": "cannot connect now",
    "40001": "serialization failure",
    "40P01": "deadlock detected",
    "53100": "disk full",
    "53300": "too many connections",
}
REFUSED = {
    "54000": "index row size exceeds maximum",
    "57014": "query canceled",
    "55P03": "lock not available",
    "22003": "value out of range",
    "23505": "duplicate key",
    "42P01": "undefined table",
    "P0001": "raised by a trigger",
}


def raised(engine: Engine, state: str, message: str) -> DBAPIError:
    """The error that a statement gets which the server refuses with *state*."""
    statement = f"do $$ begin raise exception '{message}' using errcode = '{state}'; end $$"
    with pytest.raises(DBAPIError) as caught, engine.connect() as connection:
        connection.execute(text(statement))
    return caught.value


@pytest.mark.parametrize("state", AWAY)
def test_a_transaction_taken_back_or_a_server_without_room_is_asked_again(
    engine: Engine, state: str
) -> None:
    assert is_away(raised(engine, state, AWAY[state]))


@pytest.mark.parametrize("state", REFUSED)
def test_a_refusal_is_none_that_waiting_mends(engine: Engine, state: str) -> None:
    error = raised(engine, state, REFUSED[state])
    assert not is_away(error)
    assert in_words(error) == REFUSED[state]


def test_what_the_driver_calls_operational_is_told_apart(engine: Engine) -> None:
    assert isinstance(raised(engine, "54000", "row too large"), OperationalError)
    assert isinstance(raised(engine, "40P01", "deadlock"), OperationalError)


def test_a_connection_that_was_ended_is_away(engine: Engine) -> None:
    with engine.connect() as one, engine.connect() as other:
        pid = one.execute(text("select pg_backend_pid()")).scalar_one()
        other.execute(text("select pg_terminate_backend(:pid)"), {"pid": pid})
        with pytest.raises(OperationalError) as caught:
            one.execute(text("select 1"))
    assert is_away(caught.value)


def test_a_server_that_nobody_serves_is_away() -> None:
    nobody = new_engine("postgresql+psycopg://nobody@127.0.0.1:1/none")
    with pytest.raises(OperationalError) as caught:
        nobody.connect()
    assert is_away(caught.value)


def test_a_pool_that_is_in_use_is_waited_for_and_an_error_of_ours_is_not() -> None:
    assert is_away(PoolTimeout("QueuePool limit reached"))
    assert not is_away(RuntimeError("a fault of ours"))
    assert not is_away(IntegrityError("insert", None, Exception("duplicate key")))


def test_a_statement_that_takes_too_long_is_ended_by_the_server(database_url: str) -> None:
    hurried = new_engine(database_url, statement_limit_s=0.3)
    began = time.monotonic()
    with (
        pytest.raises(OperationalError, match="statement timeout") as caught,
        hurried.connect() as connection,
    ):
        connection.execute(text("select pg_sleep(300)"))
    assert time.monotonic() - began < 200
    assert not is_away(caught.value)
    hurried.dispose()


def test_as_many_transactions_go_on_at_once_as_the_service_has_threads(engine: Engine) -> None:
    held = [engine.connect() for _ in range(40)]
    for connection in held:
        assert connection.execute(text("select 1")).scalar_one() == 1
        connection.close()
