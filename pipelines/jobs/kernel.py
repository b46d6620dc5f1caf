"""Kernels that somebody ordered: one job an order, whatever number of layouts it has."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from sqlalchemy.orm import Session

from mitigauge.jobs.states import JobState
from mitigauge.jobs.tables import Job
from mitigauge.kernels.order import KernelInputs, KernelOrder
from mitigauge.kernels.recipe import layouts
from pipelines.jobs.builders import builder_of
from pipelines.jobs.context import JobContext, JobDone
from pipelines.kernel_build import Builder
from pipelines.kernel_order import Order
from pipelines.kernel_work import BUILD_LIMITS

# Builds in several layouts, one after the other, and a root that has to be made first.
LIMIT_S = 12 * BUILD_LIMITS.seconds


@dataclass(frozen=True)
class KernelRunner:
    """Builds what was ordered."""

    builder: Callable[[JobContext], Builder] = builder_of
    limit_s: float = LIMIT_S

    def go_on(self, context: JobContext) -> JobDone:
        """Build each layout that is not there yet."""
        order = KernelOrder.model_validate(context.job.arguments)
        builder = self.builder(context)
        inputs = KernelInputs.read(builder.blobs, str(context.job.content_sha256))
        wanted = [
            Order(
                order.base,
                inputs.config_profile(),
                inputs.patch_list(),
                layout,
                order.label,
                loose=order.loose,
            )
            for layout in layouts(order.layouts)
        ]
        built = [builder.build(each, anew=order.anew) for each in wanted]

        def apply(_session: Session, job: Job) -> None:
            job.result = {"kernels": built}

        return JobDone(apply, state=JobState.DONE)

    def put_off(self, session: Session, job: Job, why: str) -> None:
        """The kernel's own row says so already."""

    def end(self, session: Session, job: Job, state: JobState, why: str) -> None:
        """The kernel's own row says so already."""
