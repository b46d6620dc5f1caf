"""Make a host ready for a run: kernels, workloads, tuning."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from sqlalchemy.orm import Session

from mitigauge.core.errors import InvalidInput
from mitigauge.core.settings import get_settings
from mitigauge.core.wire.case import AS_HOST
from mitigauge.kernels import repository as kernel_rows
from mitigauge.kernels.recipe import is_ours
from mitigauge.measurement.experiments.tables import Arm
from mitigauge.measurement.fleet.boot_method import BootMethod
from mitigauge.measurement.modes.settings import GUEST_KERNEL
from mitigauge.measurement.runs import outcomes
from mitigauge.measurement.runs.kernel_build import KernelBuild
from mitigauge.measurement.runs.preparation import Preparation
from mitigauge.measurement.runs.tables import Run
from mitigauge.storage.database.engine import transaction
from mitigauge.storage.files.blobs import blob_store
from pipelines.answers import parse_answer
from pipelines.host_control import Needs
from pipelines.steps.context import Done, StepContext


def prepare(context: StepContext) -> Done:
    """Install what the run needs; done again it changes nothing on the host."""
    comparison = context.run.comparison
    workloads = sorted({case.workload for case in comparison.cases})
    builds = _builds(context)
    with tempfile.TemporaryDirectory(prefix="mitigauge-kernels-") as scratch:
        packages = _packages(builds, Path(scratch))
        needs = replace(_needs(context, workloads), packages=packages, builds=builds)
        facts = context.host.prepare(needs)
    preparation = parse_answer(Preparation, facts, "what was prepared")

    def apply(session: Session, run: Run) -> None:
        outcomes.prepared(session, run, preparation, builds)

    return Done(apply, event=f"host prepared for {', '.join(workloads)}")


def _builds(context: StepContext) -> dict[str, KernelBuild]:
    """The builds of the arms' kernels that our table has, by release.

    Raises InvalidInput where a release is one of ours and has no build, or another one than the
    run began with: an arm must not mix two binaries.
    """
    wanted = {each for arm in context.run.comparison.arms for each in arm.releases}
    with transaction(context.engine) as session:
        rows = kernel_rows.built(session, wanted)
        now = {
            release: KernelBuild(
                build_id=str(kernel.build_id), package_sha256=str(kernel.package_sha256)
            )
            for release, kernel in rows.items()
        }
    for release in sorted(wanted):
        begun_with = context.run.kernels.get(release, now.get(release))
        if begun_with != now.get(release) or (begun_with is None and is_ours(release)):
            raise InvalidInput(
                f"kernel {release} was {'built anew' if release in now else 'removed'} since the "
                "run was submitted",
                hint="Submit the experiment again: one arm is one binary.",
            )
    return now


def _packages(builds: Mapping[str, KernelBuild], scratch: Path) -> dict[str, Path]:
    """Files of the builds' packages, by release."""
    blobs = blob_store(get_settings())
    files: dict[str, Path] = {}
    for release, build in builds.items():
        files[release] = scratch / f"linux-image-{release}.deb"
        files[release].write_bytes(blobs.read(build.package_sha256))
    return files


def _needs(context: StepContext, workloads: Sequence[str]) -> Needs:
    comparison = context.run.comparison
    releases = {each for arm in comparison.arms for each in arm.releases}
    guests = {each for arm in comparison.arms for each in _guest_kernels(arm)}
    return Needs(
        kernels=sorted(releases | guests),
        workloads=workloads,
        booted=sorted(releases),
        guest_kernels=sorted(guests),
        guest=any(context.catalog.workloads[name].guest for name in workloads),
        profiled=any(case.profile_hz for case in comparison.cases),
        guest_profiled=any(case.profile_guest for case in comparison.cases),
        kexec=any(boot.method == BootMethod.KEXEC for boot in context.run.boots),
    )


def _guest_kernels(arm: Arm) -> Sequence[str]:
    """The releases that an arm's guests are to run; none where they run what all arms' do."""
    asked = arm.settings.guest().get(GUEST_KERNEL, "")
    if asked == AS_HOST:
        return arm.releases
    return [asked] if asked else []
