"""Hosts that were up and do not answer: asked again, and given up in the end."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from sqlalchemy import Engine

from mitigauge.measurement.experiments import repository as experiment_rows
from mitigauge.measurement.runs import attempt_repository
from mitigauge.measurement.runs.states import BootState
from mitigauge.storage.database.engine import transaction
from pipelines.advance import Advancer
from pipelines.steps import context
from tests.crash.conftest import Fleet, nothing_lost_nothing_twice
from tests.crash.simulated_host import new_world, opener
from tests.specs import CATALOG


def carried_out(engine: Engine, home: Path, fleet: Fleet, *, silent: int) -> int:
    """An experiment, over, whose host's first *silent* polls heard nothing."""
    (home / "alpha.json").write_text(json.dumps({**new_world(), "silent": silent}))
    experiment = fleet.submit()
    run = fleet.show(experiment).runs[0].id
    advancer = Advancer(engine, opener(home), catalog=CATALOG, lease_seconds=60)
    steps = 0
    while advancer.advance(run) is not None:
        steps += 1
        assert steps < 60
    return experiment


def outcomes_of_polls(engine: Engine, boot: int) -> list[str]:
    with transaction(engine) as session:
        steps = attempt_repository.steps_of(session, boot)
    return [step.outcome for step in steps if step.step == "measure.poll"]


def test_a_host_that_is_silent_for_a_moment_costs_no_boot(
    engine: Engine, home: Path, fleet: Fleet
) -> None:
    experiment = carried_out(engine, home, fleet, silent=3)
    view = fleet.show(experiment)
    nothing_lost_nothing_twice(view, fleet.did())
    polls = outcomes_of_polls(engine, view.boots[0].id)
    assert polls == ["unanswered"] * 3 + ["finished"]
    with transaction(engine) as session:
        told = [event.text for event in experiment_rows.events_after(session, experiment, 0)]
    heard = "measure.poll: no answer, asked again in 5 s: poll.yml on alpha: unreachable: Conn"
    assert sum(text.startswith(heard) for text in told) == 3


def test_a_host_that_stays_silent_has_its_boot_made_again(
    engine: Engine, home: Path, fleet: Fleet, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(context, "SILENCE_LIMIT_S", 0.0)
    experiment = carried_out(engine, home, fleet, silent=2)
    view = fleet.show(experiment)
    assert view.state == "finished", view.runs[0].error
    [given_up] = [boot for boot in view.boots if boot.state is BootState.LAB_FAULT]
    assert "Connection reset" in given_up.reason
    assert outcomes_of_polls(engine, given_up.id) == ["unanswered", "lab_fault"]
    counted = [boot for boot in view.boots if boot.state is BootState.EFFECTIVE]
    assert len(counted) == view.boots_total == len(view.boots) - 1
