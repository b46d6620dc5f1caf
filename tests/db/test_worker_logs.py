"""What a worker logs within a step says of which job or run it is."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest
from sqlalchemy import Engine, text

from mitigauge.core.actor import Actor, Way, acting
from mitigauge.core.logs.logger import get_logger
from mitigauge.core.logs.setup import configure_logs
from mitigauge.core.settings import Settings
from mitigauge.jobs import service as jobs
from mitigauge.storage.database.engine import transaction
from pipelines.advance import Advancer
from pipelines.jobs.context import JobContext, JobDone
from tests.api.conftest import planned
from tests.db.test_jobs import ASKED, Scripted, advancer
from tests.unit.logs.test_logs import as_it_was

__all__ = ["as_it_was"]


@pytest.fixture
def log() -> io.StringIO:
    stream = io.StringIO()
    configure_logs(Settings(log_format="json"), stream)
    return stream


def test_each_line_of_a_jobs_step_has_the_jobs_number(engine: Engine, log: io.StringIO) -> None:
    with transaction(engine) as session:
        number = jobs.ask(session, ASKED).id

    def fail(_context: JobContext) -> JobDone:
        get_logger("pipelines.elsewhere").warning("deep within")
        raise RuntimeError("the disk is full")

    advancer(engine, Scripted(fail)).advance(number)
    lines = [json.loads(line) for line in log.getvalue().splitlines()]
    assert [line["message"] for line in lines] == ["deep within", "step of a job failed"]
    assert {line["job"] for line in lines} == {f"job {number}"}
    assert "the disk is full" in lines[1]["exception"]


def test_each_line_of_a_runs_step_has_the_runs_number(
    engine: Engine, home: Path, log: io.StringIO
) -> None:
    planned(engine)
    with transaction(engine) as session:
        run = session.scalars(text("select id from run")).one()

    def away(*_: object) -> None:
        raise RuntimeError("no host")

    with acting(Actor("w1", Way.WORKER, "m")):
        Advancer(engine, away).advance(run)
    get_logger("pipelines").warning("after it")
    *within, after = [json.loads(line) for line in log.getvalue().splitlines()]
    assert within
    assert {line["job"] for line in within} == {f"run {run}"}
    assert "job" not in after
