"""When nothing more comes of an experiment. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol

from mitigauge.measurement.experiments.states import FINAL_STATES
from mitigauge.measurement.experiments.tables import Experiment
from mitigauge.measurement.runs.states import UNFINISHED_RUN_STATES, RunState


class _Run(Protocol):
    """A run, as stored or as shown."""

    state: RunState
    started_at: datetime | None


def is_judged(experiment: Experiment, runs: Sequence[_Run]) -> bool:
    """Whether an experiment is over and its verdicts are written, where anything of it ran."""
    if experiment.state not in FINAL_STATES:
        return False
    if any(run.state in UNFINISHED_RUN_STATES for run in runs):
        return False
    return experiment.concluded_at is not None or all(run.started_at is None for run in runs)
