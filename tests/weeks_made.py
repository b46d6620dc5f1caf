"""Weeks of a fleet, made up and put straight into the tables as verdicts and noise."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

import numpy as np
from sqlalchemy import Engine
from sqlalchemy.orm import Session

from mitigauge.core.clock import Clock
from mitigauge.measurement.experiments.metric import CaseMetric
from mitigauge.measurement.experiments.tables import Arm, Case, Comparison, Experiment
from mitigauge.measurement.fleet import repository as fleet
from mitigauge.measurement.fleet.tables import Fingerprint
from mitigauge.measurement.modes.families import Expectation
from mitigauge.measurement.modes.settings import Settings
from mitigauge.measurement.runs.tables import Boot, Run
from mitigauge.reporting.letters.weekly.week import Week
from mitigauge.storage.database.engine import transaction

METRIC = "time"
MODES = ("off", "ibpb", "clear-bhb")
BLOCKS = 4


@dataclass(frozen=True, slots=True)
class Fleet:
    """How much there is of everything."""

    hosts: int = 100
    cases: int = 100
    """Cases; each has two arms beside the baseline, so twice as many series a host."""
    weeks: int = 8
    seed: int = 1

    @property
    def last(self) -> Week:
        """The newest week."""
        return Week(2026, 47)


def fill(engine: Engine, size: Fleet) -> None:
    """Make one experiment a week over all hosts, each with a verdict for each case and arm.

    Every tenth case costs more from the middle of the time on, by 3 %, and one host in twenty
    gets other microcode in the last week.
    """
    with transaction(engine) as session:
        hosts = _hosts(session, size)
    for week in range(size.weeks):
        with transaction(engine) as session:
            runs, cases, arms = _week(session, size, hosts, week)
        _copy(engine, size, week, runs, cases, arms)


def _hosts(session: Session, size: Fleet) -> list[tuple[int, int, int]]:
    """(host, its fingerprint, the one after its microcode changed) of each host."""
    made = []
    for number in range(size.hosts):
        host = fleet.upsert_host(
            session, environment="rack", name=f"host-{number:03}",
            host_class=("EPYC 9654, 96 cores", "Xeon 6780E, 144 cores")[number % 2],
            machine=f"machine-{number}", emulated=False, clock=Clock.REAL, capabilities=["kvm"],
        )  # fmt: skip
        prints = [
            Fingerprint(
                host_id=host, digest=f"{number:032x}{code:032x}", first_seen_at=_at(size, 0),
                facts={"microcode": f"0xa10{code}", "cpu_model": "bench", "governor": "performance",
                       "packages": {"libc6": "2.41-12", "linux-perf": f"7.{code}.4"}},
            )
            for code in (1, 2)
        ]  # fmt: skip
        session.add_all(prints)
        session.flush()
        made.append((host, prints[0].id, prints[1].id if number % 20 == 0 else prints[0].id))
    return made


def _at(size: Fleet, week: int) -> datetime:
    """A moment within the week of that number; the last one is ``size.last``."""
    return size.last.earlier(size.weeks - 1 - week).start + timedelta(days=2, hours=3)


def _week(
    session: Session, size: Fleet, hosts: Sequence[tuple[int, int, int]], week: int
) -> tuple[list[int], list[int], list[int]]:
    at = _at(size, week)
    experiment = Experiment(
        name=f"nightly {week + 1}", question="What do the modes cost?", environment="rack",
        seed=week, spec_text="", state="finished", started_at=at, concluded_at=at,
        finished_at=at + timedelta(hours=9),
    )  # fmt: skip
    session.add(experiment)
    session.flush()
    comparison = Comparison(
        experiment_id=experiment.id, position=0, name="modes", blocks=BLOCKS,
        arms=[_arm(place, mode) for place, mode in enumerate(MODES)],
        cases=[_case(place) for place in range(size.cases)],
    )  # fmt: skip
    session.add(comparison)
    session.flush()
    runs = []
    for host, before, after in hosts:
        fingerprint = after if week == size.weeks - 1 else before
        runs.append(
            Run(
                experiment_id=experiment.id,
                comparison_id=comparison.id,
                host_id=host,
                state="finished",
                started_at=at,
                finished_at=at + timedelta(hours=9),
                tuning_restored=True,
                concluded_at=at,
                noise_at=at,
                verdict_changes=1,
                boots=list(_boots(comparison.arms, at, fingerprint, host, week)),
            )
        )
    session.add_all(runs)
    session.flush()
    return (
        [run.id for run in runs],
        [case.id for case in comparison.cases],
        [arm.id for arm in comparison.arms],
    )


def _arm(place: int, mode: str) -> Arm:
    return Arm(
        position=place, name=mode, family="vmscape", mode=mode, title=f"vmscape={mode}",
        family_title="VMSCAPE", kernel="", is_baseline=place == 0,
        settings=Settings.model_validate({"cmdline": [f"vmscape={mode}"]}), lab_cmdline="",
        expect=[Expectation(file="vmscape", equals=f"Mitigation: {mode}")],
    )  # fmt: skip


def _case(place: int) -> Case:
    return Case(
        position=place, workload=f"workload-{place % 8}", title=f"load {place % 8} size {place}",
        parameters={"size": place}, iterations=5, warmup=1, timeout_s=60, expected_s=1.0,
        metrics={METRIC: CaseMetric("ns", "lower", "Time per call", primary=True)},
    )  # fmt: skip


def _boots(arms: Sequence[Arm], at: datetime, fingerprint: int, host: int, week: int) -> list[Boot]:
    return [
        Boot(
            arm_id=arm.id, block=block, place=place,
            state="invalid" if (host + block + week) % 97 == 0 and place == 1 else "effective",
            reason="the processor throttled" if (host + block + week) % 97 == 0 else "",
            nonce=f"{host:x}-{week:x}-{block:x}-{place:x}", fingerprint_id=fingerprint,
            proof={"kernel_release": "7.2.12"}, started_at=at + timedelta(minutes=40 * block),
            rebooted_at=at + timedelta(minutes=40 * block),
            up_at=at + timedelta(minutes=40 * block + 4), job_lasted_s=1200.0,
            verified_at=at + timedelta(minutes=40 * block + 5),
            finished_at=at + timedelta(minutes=40 * block + 30),
        )
        for block in range(1, BLOCKS + 1)
        for place, arm in enumerate(arms, start=1)
    ]  # fmt: skip


def _copy(
    engine: Engine,
    size: Fleet,
    week: int,
    runs: Sequence[int],
    cases: Sequence[int],
    arms: Sequence[int],
) -> None:
    rng = np.random.default_rng([size.seed, week])
    at = _at(size, week) + timedelta(hours=9)
    # A cost that is known from the start, and one that comes half way.
    known = np.where(np.arange(len(cases)) % 7 == 0, 6.0, 0.0)
    came = np.where((np.arange(len(cases)) % 10 == 0) & (week >= size.weeks - 1), 3.0, 0.0)
    connection: Any = engine.raw_connection()
    try:
        with connection.cursor() as cursor:
            with cursor.copy(
                "COPY verdict (run_id, case_id, metric, arm_id, version, state, n, blocks, mean,"
                " effect_percent, ci_low_percent, ci_high_percent, p, mde_percent, verdict, note,"
                " boots, disturbed, unsteady, rules, reason, given_at, written_at) FROM STDIN"
            ) as copy:
                for run in runs:
                    for place, arm in enumerate(arms[1:], start=1):
                        effects = (known + came) * place + rng.normal(0.0, 0.2, len(cases))
                        for case, effect in zip(cases, effects.tolist(), strict=True):
                            worse = effect > 1.5
                            copy.write_row(
                                (run, case, METRIC, arm, 1, "measured", BLOCKS, BLOCKS, 400.0,
                                 effect, effect - 0.6, effect + 0.6, 0.001 if worse else 0.5, 0.9,
                                 "worse" if worse else "same", "", "{}", 0, 0, 1,
                                 "the run's end", at, at)
                            )  # fmt: skip
            with cursor.copy(
                "COPY case_noise (run_id, case_id, metric, boots, boot_mean_percent, boot_percent,"
                " iteration_percent) FROM STDIN"
            ) as copy:
                for run in runs:
                    scatter = np.exp(rng.normal(-0.7, 0.4, (len(cases), 2)))
                    for case, (boot, iteration) in zip(cases, scatter.tolist(), strict=True):
                        copy.write_row((run, case, METRIC, 12, boot * 1.1, boot, iteration))
        connection.commit()
    finally:
        connection.close()
