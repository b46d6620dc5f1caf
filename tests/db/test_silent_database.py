"""A database that says nothing, and hangs up on nobody, holds no run for ever."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from uuid import uuid4

import pytest
from sqlalchemy import Engine, text
from sqlalchemy.exc import OperationalError

from mitigauge.measurement.experiments.spec import read_spec
from mitigauge.measurement.runs import lease_repository as leases
from mitigauge.measurement.runs.submission import submit
from mitigauge.storage.database import engine as database
from mitigauge.storage.database.engine import is_away, new_engine, transaction
from pipelines.lease import HeldLease, clock
from tests.crash.proxy import Proxy
from tests.postgres import Databases
from tests.specs import CATALOG, HOSTS, SPEC, inventory


@pytest.fixture
def proxy(databases: Databases, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Proxy]:
    monkeypatch.setattr(database, "SILENCE_MARGIN_S", 0.5)
    upstream = Path(database.make_url(databases.url).query["host"]) / ".s.PGSQL.5432"
    with Proxy(upstream, tmp_path).running() as proxy:
        yield proxy


def test_a_statement_without_an_answer_is_given_up_and_its_connection_closed(
    proxy: Proxy, database_url: str
) -> None:
    engine = new_engine(proxy.url(database_url), statement_limit_s=0.5)
    with engine.connect() as connection:
        connection.execute(text("select 1"))
        proxy.silence()
        began = time.monotonic()
        with pytest.raises(OperationalError, match="said nothing for") as caught:
            connection.execute(text("select 2"))
    assert time.monotonic() - began < 60
    assert is_away(caught.value)
    proxy.heal()
    with engine.connect() as connection:
        assert connection.execute(text("select 3")).scalar_one() == 3
    engine.dispose()


def test_a_commit_without_an_answer_is_given_up_too(proxy: Proxy, database_url: str) -> None:
    engine = new_engine(proxy.url(database_url), statement_limit_s=0.5)

    def silenced() -> None:
        with transaction(engine) as session:
            session.execute(text("create table kept (id int)"))
            proxy.silence()

    with pytest.raises(OperationalError) as caught:
        silenced()
    assert is_away(caught.value)
    engine.dispose()


def test_a_lease_that_a_silent_database_does_not_renew_lets_its_step_stop_in_time(
    proxy: Proxy, database_url: str, engine: Engine
) -> None:
    spec = read_spec(SPEC, name="spec", catalog=CATALOG, hosts=HOSTS)
    with transaction(engine) as session:
        submit(session, spec, SPEC, catalog=CATALOG, hosts=inventory("alpha"))
        run, host = session.execute(text("select id, host_id from run")).one()
        lease = leases.acquire(session, host_id=host, run_id=run, holder=uuid4(), seconds=2)
    assert lease is not None
    renewals = new_engine(proxy.url(database_url), statement_limit_s=0.2, pooled=False)
    with HeldLease(
        "a run",
        renewals,
        lambda session, seconds: leases.renew(session, lease, seconds),
        2,
        since=clock(),
    ) as held:
        time.sleep(1)
        assert held.alive()
        proxy.silence()
        time.sleep(2.5)
        assert not held.alive()
        # The thread that renews has outlived it, and goes on once the server speaks again.
        proxy.heal()
        deadline = time.monotonic() + 10
        while not held.alive() and time.monotonic() < deadline:
            time.sleep(0.1)
        assert held.alive()
