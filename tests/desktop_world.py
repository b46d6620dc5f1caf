"""An experiment of virtual desktops, for tests of what is stored and shown of them.

Every boot is the recorded pass of three desktops, its actions beside others shortened by a factor
of the arm, one of the boot and one of each action, and read by the workload's own parser. What is
shown of it is no measurement of anything.
"""

from __future__ import annotations

import json
import random
import shutil
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

from sqlalchemy import Engine

from mitigauge.core.clock import Clock
from mitigauge.core.settings import REPOSITORY
from mitigauge.measurement.catalog import Catalog
from mitigauge.measurement.experiments.metric import CaseMetric
from mitigauge.measurement.experiments.tables import Arm, Case, Comparison, Experiment
from mitigauge.measurement.fleet.repository import upsert_host
from mitigauge.measurement.modes.families import Expectation
from mitigauge.measurement.modes.settings import Settings
from mitigauge.measurement.results.schema import ReadResult
from mitigauge.measurement.runs.intake import TakenResult, store_results
from mitigauge.measurement.runs.states import BootState
from mitigauge.measurement.runs.tables import Boot, Run
from mitigauge.storage.database.engine import transaction
from pipelines.steps.parser import checked, timed_pass
from tests.loading import load

FIXTURE = REPOSITORY / "workloads/desktop/fixtures/three-light"
PASS = "iteration-01.json"
STARTED = datetime(2026, 11, 1, tzinfo=UTC)
# Of what actions beside others took when they were recorded, by arm: the second slows down less.
FACTORS = (0.95, 0.75)
BLOCKS = 6


@dataclass(frozen=True, slots=True)
class DesktopWorld:
    """Numbers of what was made."""

    experiment: int
    case: int
    run: int
    arms: Sequence[int]
    boots: Sequence[int]


@cache
def parser() -> ModuleType:
    """The workload's parse.py."""
    return load("workloads/desktop/parse.py")


def recorded_case(case_id: int = 1) -> Case:
    """The case of the recorded pass, as a plan has it."""
    said = json.loads((FIXTURE / "case.json").read_text())
    workload = Catalog().workloads["desktop"]
    parameters = said["parameters"]
    metrics = {
        name: CaseMetric(m.unit, m.direction, m.title, m.primary, m.delta_percent)
        for name, m in workload.metrics_of(parameters).items()
    }
    return Case(
        id=case_id, position=0, workload="desktop", title=workload.title_of(parameters),
        parameters=parameters, iterations=said["iterations"], warmup=said["warmup"],
        timeout_s=said["timeout_s"], expected_s=127.0, profile_hz=None, profile_guest=False,
        metrics=metrics,
    )  # fmt: skip


def result_of(case: Case, factor: float, rng: random.Random) -> ReadResult:
    """The recorded pass, its actions beside others so much shorter, through parser and checks."""
    with tempfile.TemporaryDirectory() as scratch:
        directory = shutil.copytree(FIXTURE, Path(scratch) / "case")
        _change(directory / "case.json", lambda said: said.update(case_id=str(case.id)))
        _change(directory / PASS, lambda done: _shorten(done["actions"], factor, rng))
        seal = parser().seal
        digests = seal.of(directory, [PASS])
        _change(directory / "run.json", lambda record: record[seal.SHA256].update(digests))
        body = json.dumps(parser().parse(directory)).encode()
    return checked(body, timed_pass(case), Catalog().workloads["desktop"].details)


def _change(path: Path, change: Any) -> None:
    content = json.loads(path.read_text())
    change(content)
    path.write_text(json.dumps(content))


def _shorten(actions: Sequence[dict[str, Any]], factor: float, rng: random.Random) -> None:
    for action in actions:
        took = action["ended_ns"] - action["began_ns"]
        if action["level"] > 1:
            took = int(took * min(1.0, factor * rng.uniform(0.97, 1.03)))
        action["ended_ns"] = action["began_ns"] + took


def make_desktops(
    engine: Engine, factors: Sequence[float] = FACTORS, *, blocks: int = BLOCKS, seed: int = 1
) -> DesktopWorld:
    """An experiment that is over: an arm for each factor, so many boots of each."""
    rng = random.Random(seed)
    with transaction(engine) as session:
        host = upsert_host(
            session, environment="lab", name=f"desktops-{seed}", host_class="lab-amd",
            machine=f"desktops-{seed}", emulated=True, clock=Clock.REAL, capabilities=["kvm"],
        )  # fmt: skip
        experiment = Experiment(
            name="desktops", question="What do desktops feel?", environment="lab", seed=seed,
            spec_text="", state="finished", started_at=STARTED, finished_at=STARTED,
        )  # fmt: skip
        session.add(experiment)
        session.flush()
        case = recorded_case()
        case.id = None  # type: ignore[assignment]
        comparison = Comparison(
            experiment_id=experiment.id, position=0, name="desktops", blocks=blocks,
            arms=[_arm(place) for place in range(len(factors))], cases=[case],
        )  # fmt: skip
        session.add(comparison)
        session.flush()
        arms = [arm.id for arm in comparison.arms]
        run = Run(
            experiment_id=experiment.id, comparison_id=comparison.id, host_id=host,
            state="finished", started_at=STARTED, finished_at=STARTED, tuning_restored=True,
            boots=list(_boots(arms, blocks, seed)),
        )  # fmt: skip
        session.add(run)
        session.flush()
        by_arm: Mapping[int, float] = dict(zip(arms, factors, strict=True))
        for boot in run.boots:
            result = result_of(case, by_arm[boot.arm_id] * rng.uniform(0.96, 1.04), rng)
            store_results(session, boot, [TakenResult(case.id, result)])
            boot.state = BootState.EFFECTIVE
        return DesktopWorld(experiment.id, case.id, run.id, arms, [boot.id for boot in run.boots])


def _arm(place: int) -> Arm:
    name = ("off", "ibpb", "clear-bhb")[place]
    return Arm(
        position=place, name=name, family="vmscape", mode=f"vmscape/{name}", title=name,
        family_title="VMSCAPE", kernel="", is_baseline=place == 0,
        settings=Settings.model_validate({"cmdline": [f"vmscape={name}"]}), lab_cmdline="",
        expect=[Expectation(file="vmscape", equals="Vulnerable")],
    )  # fmt: skip


def _boots(arms: Sequence[int], blocks: int, seed: int) -> Sequence[Boot]:
    return [
        Boot(
            arm_id=arm, block=block, place=place, state="measuring",
            nonce=f"d{seed:x}-{block:x}-{place:x}", proof={"kernel_release": "7.2.0"},
            started_at=(begun := STARTED + timedelta(minutes=10 * block + 5 * place)),
            verified_at=begun, finished_at=begun + timedelta(seconds=200), job_lasted_s=130.0,
        )
        for block in range(1, blocks + 1)
        for place, arm in enumerate(arms, start=1)
    ]  # fmt: skip
