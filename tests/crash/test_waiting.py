"""Runs that wait: for a host's job, and for their turn on a machine that hosts share."""

from __future__ import annotations

import json
import signal
from collections import Counter
from datetime import datetime
from itertools import pairwise
from pathlib import Path

import pytest
from sqlalchemy import Engine, text

from mitigauge.measurement.runs import service
from mitigauge.storage.database.engine import transaction
from tests.crash.conftest import Fleet, nothing_lost_nothing_twice
from tests.crash.simulated_host import JOB_LASTED_S, new_world
from tests.specs import SPEC

# Longer than any test is willing to wait.
FOR_EVER_S = 10_000.0
POLL = "measure.poll"
MEASURES = ("measure.start", POLL)


def world_with(home: Path, host: str, **facts: object) -> None:
    (home / f"{host}.json").write_text(json.dumps({**new_world(), **facts}))


def waiting(fleet: Fleet, step: str) -> bool:
    with transaction(fleet.engine) as session:
        open_step = "select step from step_attempt where finished_at is null"
        return session.scalars(text(open_step)).all() == [step]


@pytest.mark.parametrize(("quick", "step"), [(True, "measure.start"), (False, "measure.poll")])
def test_a_worker_told_to_stop_waits_for_no_job_and_loses_none(
    fleet: Fleet, home: Path, quick: bool, step: str
) -> None:
    world_with(home, "alpha", job_s=FOR_EVER_S, quick=quick)
    experiment = fleet.submit()
    worker = fleet.worker()
    fleet.until(lambda: waiting(fleet, step), f"a {step} that waits")
    worker.send_signal(signal.SIGTERM)
    fleet.until(lambda: worker.poll() is not None, "the worker's end")
    assert worker.returncode == 0
    world = json.loads((home / "alpha.json").read_text())
    world_with(home, "alpha", **{**world, "job_s": 0.0})
    fleet.worker()
    nothing_lost_nothing_twice(fleet.until_over(experiment), fleet.did())


def test_a_short_job_is_over_with_the_step_that_starts_it(
    fleet: Fleet, engine: Engine, home: Path
) -> None:
    world_with(home, "alpha", quick=True)
    experiment = fleet.submit()
    fleet.worker()
    nothing_lost_nothing_twice(fleet.until_over(experiment), fleet.did())
    with transaction(engine) as session:
        assert session.scalars(text("select step from step_attempt")).all().count(POLL) == 0
        lasted = "select finished_at - job_started_at from boot"
        gaps = [gap.total_seconds() for gap in session.scalars(text(lasted))]
    assert all(JOB_LASTED_S <= gap < JOB_LASTED_S + 60 for gap in gaps)


def test_a_worker_killed_while_it_waits_for_a_short_job_loses_nothing(
    fleet: Fleet, home: Path
) -> None:
    world_with(home, "alpha", quick=True)
    experiment = fleet.submit()
    doomed = fleet.worker("measure.start:before")
    fleet.until(lambda: doomed.poll() is not None, "the worker's death")
    fleet.worker()
    nothing_lost_nothing_twice(fleet.until_over(experiment), fleet.did())


def test_a_run_that_is_cancelled_waits_for_no_job(fleet: Fleet, home: Path) -> None:
    world_with(home, "alpha", job_s=FOR_EVER_S)
    experiment = fleet.submit()
    fleet.worker()
    fleet.until(lambda: waiting(fleet, POLL), "a poll that waits")
    with transaction(fleet.engine) as session:
        service.cancel(session, experiment)
    fleet.until(lambda: fleet.show(experiment).runs[0].state == "cancelled", "the run's end")
    assert fleet.did()["restore"] == 1


def test_hosts_of_one_machine_measure_alone_and_both_get_their_turns(
    fleet: Fleet, engine: Engine, home: Path
) -> None:
    for host in ("alpha", "beta"):
        world_with(home, host, job_s=0.3)
    experiment = fleet.submit(SPEC.replace("[alpha]", "[alpha, beta]"), "alpha", "beta")
    with transaction(engine) as session:
        session.execute(text("update host set machine = 'one'"))
    fleet.worker()
    view = fleet.until_over(experiment)
    nothing_lost_nothing_twice(view, fleet.did("alpha") + fleet.did("beta"))
    assert_measured_alone(engine)
    measured = Counter(boot.host for boot in view.boots)
    assert measured == {"alpha": 4, "beta": 4}


def assert_measured_alone(engine: Engine) -> None:
    """No step of one host overlaps a measuring one of the other; measuring alternates."""
    with transaction(engine) as session:
        steps = session.execute(
            text(
                "select host.name, step_attempt.step, step_attempt.started_at,"
                " step_attempt.finished_at from step_attempt"
                " join run on run.id = run_id join host on host.id = host_id"
                " order by step_attempt.started_at"
            )
        ).all()
    spans: list[tuple[str, datetime, datetime]] = []
    for host, step, began, ended in steps:
        if step == "measure.start":
            spans.append((host, began, ended))
        elif step == POLL:
            spans[-1] = (host, spans[-1][1], ended)
    loud = [row for row in steps if row[1] not in (*MEASURES, "finish")]
    for host, began, ended in spans:
        others = [row for row in loud if row[0] != host]
        assert not [row for row in others if row[2] < ended and row[3] > began]
    assert all(one[2] <= other[1] for one, other in pairwise(spans))
    assert {one[0] for one in spans[:2]} == {"alpha", "beta"}
