"""From a spec's text to a planned experiment: stored whole before anything runs."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping

from sqlalchemy.orm import Session

from mitigauge.access.audit import service as audit
from mitigauge.access.audit.actions import Action, Subject, SubjectKind
from mitigauge.access.roles import OPERATOR
from mitigauge.kernels import repository as kernel_rows
from mitigauge.measurement.catalog import Catalog
from mitigauge.measurement.experiments.checks import check_text
from mitigauge.measurement.experiments.event_log import record_event
from mitigauge.measurement.experiments.spec_model import ExperimentSpec
from mitigauge.measurement.experiments.submit import kernel_releases, store_experiment
from mitigauge.measurement.fleet.kernel_profiles import require_bootable
from mitigauge.measurement.fleet.service import HostVars
from mitigauge.measurement.runs.plan import store_run


def submit_text(session: Session, text: str, *, name: str, submitted_by: str = OPERATOR) -> int:
    """Check a spec and store it with its plan and owner; returns the experiment's id.

    Raises :class:`InvalidInput` with file, line and known names.
    """
    catalog = Catalog()
    spec, hosts = check_text(text, name=name, catalog=catalog)
    return submit(session, spec, text, catalog=catalog, hosts=hosts, submitted_by=submitted_by)


def submit(
    session: Session,
    spec: ExperimentSpec,
    spec_text: str,
    *,
    catalog: Catalog,
    hosts: Mapping[str, HostVars],
    submitted_by: str = OPERATOR,
) -> int:
    """Store a checked spec with its whole plan; returns the experiment's id."""
    _require_bootable_kernels(session, spec, hosts)
    experiment = store_experiment(
        session, spec, spec_text, catalog=catalog, submitted_by=submitted_by
    )
    runs = [
        store_run(session, experiment, comparison, hosts[name])
        for comparison, wanted in zip(experiment.comparisons, spec.comparisons, strict=True)
        for name in wanted.hosts
    ]
    boots = sum(len(run.boots) for run in runs)
    shares = any(arm.shares_boots for each in experiment.comparisons for arm in each.arms)
    shared = ", those of a block that need no reboot as one" if shares else ""
    record_event(
        session,
        experiment_id=experiment.id,
        run_id=None,
        kind="submitted",
        text=f"{spec.name}: {boots} boots planned{shared}, seed {experiment.seed}",
    )
    audit.record(
        session,
        Action.EXPERIMENT_SUBMIT,
        Subject(SubjectKind.EXPERIMENT, experiment.id),
        after={
            "name": spec.name,
            "owner": submitted_by,
            "hosts": sorted({name for each in spec.comparisons for name in each.hosts}),
            "boots": boots,
            "spec_sha256": hashlib.sha256(spec_text.encode()).hexdigest(),
        },
    )
    return experiment.id


def _require_bootable_kernels(
    session: Session, spec: ExperimentSpec, hosts: Mapping[str, HostVars]
) -> None:
    labels = kernel_releases(session, spec)
    for comparison in spec.comparisons:
        named = {labels.get(arm.kernel, arm.kernel) for arm in comparison.arms if arm.kernel}
        for kernel in kernel_rows.of_releases(session, named):
            require_bootable(
                kernel.profile, f"kernel {kernel.release}", [hosts[n] for n in comparison.hosts]
            )
