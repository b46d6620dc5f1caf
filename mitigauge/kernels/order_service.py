"""Kernels that somebody orders: one job an order, whatever number of layouts it has."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy.orm import Session

from mitigauge.jobs import service as jobs
from mitigauge.jobs.service import JobRequest
from mitigauge.jobs.states import JobKind
from mitigauge.jobs.tables import Job
from mitigauge.kernels.config_profile import Profile
from mitigauge.kernels.order import KernelInputs, KernelOrder, subject_of
from mitigauge.kernels.patch import Patch
from mitigauge.kernels.recipe import layouts
from mitigauge.storage.files.blobs import BlobStore


def ask_kernel(
    session: Session,
    blobs: BlobStore,
    order: KernelOrder,
    profile: Profile,
    patches: Sequence[Patch],
    *,
    asked_by: str,
) -> Job:
    """Order a kernel. Raises InvalidInput for more layouts than there are."""
    layouts(order.layouts)
    inputs = KernelInputs.of(profile, patches).put(blobs)
    several = "" if len(patches) == 1 else "es"
    what = f"{order.base} with {len(patches)} patch{several}" if patches else order.base
    return jobs.ask(
        session,
        JobRequest(
            JobKind.KERNEL,
            subject_of(order, inputs),
            f"{order.label}: {what}" if order.label else what,
            asked_by,
            order.model_dump(mode="json"),
            inputs,
        ),
    )
