"""The database of Compose goes back to the moment before a table was dropped, as the page says."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.deploy.compose import Composed, command

pytestmark = pytest.mark.deploy

SECTION = "To a moment in the past"
RECORDED = "/opt/mitigauge/lib/python3*/site-packages/mitigauge/share/db/recorded"


@pytest.fixture(scope="module")
def service() -> Iterator[Composed]:
    with tempfile.TemporaryDirectory(prefix="mgpitr-") as name:
        os.chmod(name, 0o755)
        composed = Composed(Path(name), f"mgpitr{os.getpid()}")
        composed.run(command("For a team", "deploy/prepare"))
        try:
            composed.run(command(SECTION, "up"), more=["--scale", "builder=0"])
            yield composed
        finally:
            whole = command(SECTION, "up")[: command(SECTION, "up").index("up")]
            composed.run([*whole, "logs", "--tail", "30", "database", "base"], fails=True)
            if not os.environ.get("KEEP"):
                down = ["down", "--volumes", "--remove-orphans", "--timeout", "5"]
                composed.run([*whole, *down], fails=True)


def sql(service: Composed, statement: str) -> str:
    words = ["exec", "database", "psql", "--username=mitigauge", "--no-psqlrc", "--tuples-only"]
    return service.compose(*words, "--no-align", "--command", statement).strip()


def experiments(service: Composed) -> str:
    return service.compose("exec", "api", "mitigauge", "experiment", "list", "--json")


def test_the_moment_before_a_table_was_dropped_comes_back(service: Composed) -> None:
    load = f"mitigauge experiment import {RECORDED}/lab-demo.mitigauge.zst"
    service.compose("exec", "api", "sh", "-c", load)
    values = int(sql(service, "SELECT count(*) FROM measurement"))
    assert values > 0
    before = experiments(service)
    moment = sql(service, "SELECT clock_timestamp()")
    sql(service, "DROP TABLE measurement CASCADE")
    dropped = sql(service, "SELECT clock_timestamp()")
    stop, restore, start = (command(SECTION, word) for word in ("stop", "restore", "start"))
    # Each is refused, and nothing is touched.
    assert "the database runs" in refused(service, restore, moment)
    service.run(stop)
    assert "no base is older" in refused(service, restore, "2001-01-01 00:00:00+00")
    assert "is no moment" in refused(service, restore, "yesterday at tea")
    said = service.run(restore, {"TIME": moment})
    print(said)
    service.run(start)
    assert int(sql(service, "SELECT count(*) FROM measurement")) == values
    assert sql(service, "SELECT pg_is_in_recovery()") == "f"
    assert experiments(service) == before
    assert "ok      database" in service.compose("exec", "api", "mitigauge", "health")
    # The timeline that was left is there as well, and what was written since is not in it.
    sql(service, "CREATE TABLE since ()")
    service.run(stop)
    service.run(restore, {"TIME": dropped})
    service.compose("up", "--detach", "--wait", "database", more=["--no-deps", "--no-recreate"])
    there = "SELECT to_regclass('measurement') IS NULL AND to_regclass('since') IS NULL"
    assert sql(service, there) == "t"


def refused(service: Composed, restore: list[str], moment: str) -> str:
    words = [moment if word == "TIME" else word for word in restore]
    return service.run(["sh", "-c", '"$@" 2>&1', "sh", *words], fails=True)
