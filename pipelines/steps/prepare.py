"""Make a host ready for a run: kernels, workloads, tuning."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from sqlalchemy.orm import Session

from mitigauge.blobs import blob_store
from mitigauge.boot_method import BootMethod
from mitigauge.database import transaction
from mitigauge.kernels import repository as kernel_rows
from mitigauge.runs import outcomes
from mitigauge.runs.tables import Run
from mitigauge.settings import get_settings
from pipelines.host_control import Needs
from pipelines.steps.context import Done, StepContext


def prepare(context: StepContext) -> Done:
    """Install what the run needs; done again it changes nothing on the host."""
    comparison = context.run.comparison
    workloads = sorted({case.workload for case in comparison.cases})
    with tempfile.TemporaryDirectory(prefix="mitigauge-kernels-") as scratch:
        needs = replace(_needs(context, workloads), packages=_packages(context, Path(scratch)))
        facts = context.host.prepare(needs)

    def apply(session: Session, run: Run) -> None:
        outcomes.prepared(session, run, facts)

    return Done(apply, event=f"host prepared for {', '.join(workloads)}")


def _packages(context: StepContext, scratch: Path) -> dict[str, Path]:
    """Package files of the arms' kernels that were built here, by release."""
    wanted = {each for arm in context.run.comparison.arms for each in arm.releases}
    with transaction(context.engine) as session:
        found = kernel_rows.built(session, wanted)
        digests = {release: kernel.package_sha256 for release, kernel in found.items()}
    blobs = blob_store(get_settings())
    files: dict[str, Path] = {}
    for release, digest in digests.items():
        files[release] = scratch / f"linux-image-{release}.deb"
        files[release].write_bytes(blobs.read(str(digest)))
    return files


def _needs(context: StepContext, workloads: Sequence[str]) -> Needs:
    comparison = context.run.comparison
    return Needs(
        kernels=sorted({each for arm in comparison.arms for each in arm.releases}),
        workloads=workloads,
        guest=any(context.catalog.workloads[name].guest for name in workloads),
        profiled=any(case.profile_hz for case in comparison.cases),
        guest_profiled=any(case.profile_guest for case in comparison.cases),
        kexec=any(boot.method == BootMethod.KEXEC for boot in context.run.boots),
    )
