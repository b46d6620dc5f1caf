"""The steps of a run: one function each, from context to outcome."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from pipelines.decision import Step
from pipelines.steps import boot, interim_analysis, measure, prepare, wind_up
from pipelines.steps.context import Done, StepContext

STEPS: Mapping[Step, Callable[[StepContext], Done]] = {
    Step.PREPARE: prepare.prepare,
    Step.ARM: boot.arm,
    Step.AWAIT: boot.await_answer,
    Step.POWER_CYCLE: boot.power_cycle,
    Step.LOST: boot.lost,
    Step.VERIFY: boot.verify,
    Step.SKIP: boot.skip,
    Step.START: measure.start,
    Step.POLL: measure.poll,
    Step.JUDGE: interim_analysis.judge,
    Step.STOP: wind_up.stop,
    Step.RESTORE: wind_up.restore,
    Step.FINISH: wind_up.finish,
}
