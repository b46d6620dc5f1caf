"""The noise of each case of a run that is over, worked out once and stored.

Apart from judging, which must not wait for it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import Engine

from mitigauge.analysis.verdicts import noise_repository
from mitigauge.core.logs.logger import get_logger
from mitigauge.core.stats.noise import NoiseSplit, split_noise
from mitigauge.measurement.experiments import repository as experiment_rows
from mitigauge.measurement.results import repository as result_rows
from mitigauge.measurement.runs import repository as run_rows
from mitigauge.measurement.runs.states import BootState
from mitigauge.measurement.runs.tables import Run
from mitigauge.storage.database.engine import database_now, is_away, transaction

log = get_logger(__name__)

# (case, metric) → arm → block → iterations of the boot that counts
Values = Mapping[tuple[int, str], dict[int, dict[int, Sequence[float]]]]


def note_noise(engine: Engine) -> int:
    """Work out the noise of all runs that are concluded and have none stored; how many there were.

    Raises nothing but what :func:`mitigauge.storage.database.engine.is_away` knows: what cannot be
    worked out is not tried again.
    """
    with transaction(engine) as session:
        waiting = run_rows.without_noise(session)
    for run_id in waiting:
        try:
            _note(engine, run_id)
        except Exception as error:
            if is_away(error):
                raise
            log.exception("no noise", run=run_id)
            with transaction(engine) as session:
                session.get_one(Run, run_id).noise_at = database_now(session)
    return len(waiting)


def _note(engine: Engine, run_id: int) -> None:
    # Takes seconds for thousands of cases, so no transaction is open meanwhile.
    with transaction(engine) as session:
        run = run_rows.run_line(session, run_id)
        comparison = experiment_rows.comparison(session, run.comparison_id)
        counted = {
            boot.id: (boot.arm_id, boot.block)
            for boot in run_rows.boot_lines(session, [run_id])
            if boot.state == BootState.EFFECTIVE
        }
        baseline = next(arm.id for arm in comparison.arms if arm.is_baseline)
        units = {
            (case.id, name): declared.unit
            for case in comparison.cases
            for name, declared in case.metrics.items()
        }
        values = _by_case(result_rows.iterations_of(session, counted), counted)
    found = [
        _row(run_id, of, boots, split_noise(boots, baseline=baseline, unit=units[of]))
        for of, boots in values.items()
        if baseline in boots and of in units
    ]
    with transaction(engine) as session:
        noise_repository.store(session, found)
        session.get_one(Run, run_id, with_for_update=True).noise_at = database_now(session)


def _by_case(
    rows: Sequence[tuple[int, int, str, Sequence[float]]], counted: Mapping[int, tuple[int, int]]
) -> Values:
    found: Any = defaultdict(lambda: defaultdict(dict))
    for boot_id, case_id, metric, iterations in rows:
        arm, block = counted[boot_id]
        found[case_id, metric][arm][block] = iterations
    return dict(found)


def _row(
    run_id: int, of: tuple[int, str], boots: Mapping[int, Mapping[int, object]], split: NoiseSplit
) -> dict[str, object]:
    return {
        "run_id": run_id,
        "case_id": of[0],
        "metric": of[1],
        "boots": sum(len(blocks) for blocks in boots.values()),
        "boot_mean_percent": split.boot_mean,
        "boot_percent": split.boot,
        "iteration_percent": split.iteration,
    }
