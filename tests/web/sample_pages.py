"""Series beside the recorded experiment's cases, for pages that draw them.

The processors' were read on a machine that was busy; exits are made up, a little more of them in
each further arm and boot.
"""

from __future__ import annotations

import numpy as np
from sqlalchemy import Engine

from mitigauge.measurement.collectors.samples import Samples
from mitigauge.measurement.collectors.service import Collected, read_collected, store_collected
from mitigauge.storage.database.engine import transaction
from mitigauge.measurement.experiments import repository as experiment_rows
from mitigauge.measurement.runs import repository as run_rows
from mitigauge.core.settings import REPOSITORY
from mitigauge.core.wire.collectors import Kind

RECORDED = REPOSITORY / "tests/fixtures/collected"
NAMES = ("cpu", "memory", "disk", "network")
SECONDS = 30
PER_SECOND = {"exits": 9000, "to_userspace": 1200, "userspace.2": 900, "userspace.6": 300,
              "io_exits": 2500, "halt_exits": 4000}  # fmt: skip


def collect_beside(engine: Engine, experiment_id: int = 1) -> None:
    """Store series for every case of every boot but of one comparison, which has none."""
    recorded = read_collected(RECORDED, NAMES, None)
    absent = {"power": "no RAPL in /sys/class/powercap"}
    with transaction(engine) as session:
        runs = run_rows.runs_of(session, experiment_id)
        first = experiment_rows.experiment(session, experiment_id).comparisons[0]
        for boot in run_rows.boots_of(session, [run.id for run in runs]):
            if boot.run.comparison_id != first.id:
                continue
            series = {**recorded.series, "exits": exits(boot.arm.position, boot.block)}
            for case in first.cases:
                store_collected(session, boot.id, case.id, Collected(0.21, series, absent))


def exits(arm: int, block: int) -> Samples:
    """Exits of one boot, with a quiet second now and then."""
    seconds = np.arange(SECONDS, dtype=np.int64)
    busy = np.where(seconds % 9 == block % 9, 0.4, 1.0) * (1 + 0.2 * arm + 0.02 * block)
    counts = np.array([np.cumsum(busy * rate).astype(np.int64) for rate in PER_SECOND.values()])
    columns: dict[str, Kind] = {**dict.fromkeys(PER_SECOND, "count"), "vcpus": "level"}
    values = np.vstack([counts, np.full(SECONDS, 4)])
    return Samples("exits", columns, (100 + seconds) * 10**9, values)
