"""Experiments of any size, made up and put straight into the tables."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
from sqlalchemy import Engine, text

from mitigauge.core.clock import Clock
from mitigauge.measurement.experiments.metric import CaseMetric
from mitigauge.measurement.experiments.tables import Arm, Case, Comparison, Experiment
from mitigauge.measurement.fleet.repository import upsert_host
from mitigauge.measurement.modes.families import Expectation
from mitigauge.measurement.modes.settings import Settings
from mitigauge.measurement.runs.tables import Boot, Run
from mitigauge.storage.database.engine import transaction

STARTED = datetime(2026, 11, 1, tzinfo=UTC)
METRIC = "time"


@dataclass(frozen=True, slots=True)
class Size:
    """How much one experiment holds."""

    cases: int = 3000
    arms: int = 3
    blocks: int = 16
    iterations: int = 5

    @property
    def values(self) -> int:
        """Values that it stores."""
        return self.cases * self.arms * self.blocks * self.iterations


@dataclass(frozen=True, slots=True)
class Filled:
    """Ids of what was made."""

    experiment: int
    run: int
    cases: Sequence[int]


def fill(engine: Engine, size: Size, *, seed: int = 1) -> Filled:
    """Make one experiment that is over and not judged yet; boots vary by 1 %."""
    rng = np.random.default_rng(seed)
    with transaction(engine) as session:
        host = upsert_host(
            session, environment="bench", name=f"host-{seed}", host_class="bench",
            machine=f"machine-{seed}", emulated=True, clock=Clock.REAL, capabilities=[],
        )  # fmt: skip
        experiment = Experiment(
            name=f"bench {seed}", question="What does it cost?", environment="bench", seed=seed,
            spec_text="", state="finished", started_at=STARTED, finished_at=STARTED,
        )  # fmt: skip
        session.add(experiment)
        session.flush()
        comparison = Comparison(
            experiment_id=experiment.id, position=0, name="modes", blocks=size.blocks,
            arms=[_arm(i) for i in range(size.arms)],
            cases=[_case(i, size) for i in range(size.cases)],
        )  # fmt: skip
        session.add(comparison)
        session.flush()
        run = Run(
            experiment_id=experiment.id, comparison_id=comparison.id, host_id=host,
            state="finished", started_at=STARTED, finished_at=STARTED, tuning_restored=True,
            boots=list(_boots(comparison.arms, size, seed)),
        )  # fmt: skip
        session.add(run)
        session.flush()
        cases = [case.id for case in comparison.cases]
        arms = {arm.id: i for i, arm in enumerate(comparison.arms)}
        boots = [(boot.id, arms[boot.arm_id]) for boot in run.boots]
        filled = Filled(experiment.id, run.id, cases)
    _copy(engine, filled, boots, size, rng)
    return filled


def _arm(index: int) -> Arm:
    return Arm(
        position=index, name=f"mode-{index}", family="bench", mode=f"mode-{index}",
        title=f"Mode {index}", family_title="Bench", kernel="", is_baseline=index == 0,
        settings=Settings.model_validate({"cmdline": [f"bench={index}"]}), lab_cmdline="",
        expect=[Expectation(file="bench", equals=f"Mitigation: {index}")],
    )  # fmt: skip


def _case(index: int, size: Size) -> Case:
    return Case(
        position=index, workload=f"workload-{index % 12}", title=f"load {index % 12} size {index}",
        parameters={"size": index}, iterations=size.iterations, warmup=0, timeout_s=60,
        expected_s=1.0, metrics={METRIC: CaseMetric("ns", "lower", "Time a call", primary=True)},
    )  # fmt: skip


def _boots(arms: Sequence[Arm], size: Size, seed: int) -> Iterable[Boot]:
    for block in range(1, size.blocks + 1):
        for place, arm in enumerate(arms, start=1):
            begun = STARTED + timedelta(minutes=block * len(arms) + place)
            yield Boot(
                arm_id=arm.id, block=block, place=place, state="effective",
                nonce=f"{seed:x}-{arms[0].id:x}-{block:x}-{place:x}",
                proof={"kernel_release": "7.2.0"},
                started_at=begun, verified_at=begun, finished_at=begun + timedelta(seconds=50),
                job_lasted_s=20.0,
            )  # fmt: skip


def _copy(
    engine: Engine,
    filled: Filled,
    boots: Sequence[tuple[int, int]],
    size: Size,
    rng: np.random.Generator,
) -> None:
    level = np.exp(rng.normal(6.0, 1.0, size.cases))
    # A third of the cases changes in each arm but the first, by 5 %.
    effect = np.where(rng.random((size.arms, size.cases)) < 1 / 3, 1.05, 1.0)
    effect[0] = 1.0
    connection: Any = engine.raw_connection()
    try:
        with connection.cursor() as cursor:
            for boot, arm in boots:
                of_boot = level * effect[arm] * np.exp(rng.normal(0.0, 0.01, size.cases))
                noise = np.exp(rng.normal(0.0, 0.005, (size.cases, size.iterations)))
                _copy_boot(cursor, boot, filled.cases, of_boot[:, None] * noise)
        connection.commit()
    finally:
        connection.close()


def _copy_boot(cursor: Any, boot: int, cases: Sequence[int], values: Any) -> None:
    digest = f"{boot:064x}"
    with cursor.copy(
        "COPY result (boot_id, case_id, state, body_sha256, raw_sha256, lab_faults, tools,"
        " started_at, finished_at) FROM STDIN"
    ) as copy:
        for case in cases:
            copy.write_row(
                (boot, case, "measured", digest, digest, "[]", '{"perf": "6.12.0"}', STARTED,
                 STARTED + timedelta(seconds=1))
            )  # fmt: skip
    with cursor.copy(
        "COPY measurement (boot_id, case_id, metric, mean, counted) FROM STDIN"
    ) as copy:
        for case, row in zip(cases, values.tolist(), strict=True):
            copy.write_row((boot, case, METRIC, sum(row) / len(row), row))


def bytes_of(engine: Engine, *tables: str) -> int:
    """Bytes that the tables take with their indexes."""
    with engine.connect() as connection:
        return sum(
            connection.execute(text("select pg_total_relation_size(:t)"), {"t": table}).scalar_one()
            for table in tables
        )
