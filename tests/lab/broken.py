"""Arms that panic or never return, for experiments that are to find them."""

from __future__ import annotations

from pathlib import Path

from sqlalchemy import Engine, select
from sqlalchemy.orm import Session

from mitigauge.core.settings import REPOSITORY
from mitigauge.measurement.catalog import Catalog
from mitigauge.measurement.experiments.spec import read_spec
from mitigauge.measurement.experiments.spec_faults import KnownHost
from mitigauge.measurement.fleet.inventory import load_hosts
from mitigauge.measurement.runs.states import BootState
from mitigauge.measurement.runs.submission import submit
from mitigauge.measurement.runs.tables import Boot
from mitigauge.storage.database.engine import transaction

MODES = """
family: broken
title: Command lines that do not come up
help: For tests only.
file: spectre_v2
modes:
  panics:
    title: init does not exist
    settings: {cmdline: [init=/nonexistent, rdinit=/nonexistent, root=/dev/nonexistent]}
    expect: [{field: BHI, equals: Vulnerable, source: none}]
  hangs:
    title: a system without a network, and so without SSH
    settings: {cmdline: [systemd.unit=sysinit.target]}
    expect: [{field: BHI, equals: Vulnerable, source: none}]
"""

SPEC = """
name: broken
question: What becomes of arms that do not come up?
environment: lab
seed: 3
blocks: 1
comparisons:
  - name: broken-arms
    hosts: [lab-intel]
    baseline: off
    arms:
      - {name: off, mode: spectre-bhi/off}
      - {name: panics, mode: broken/panics}
      - {name: hangs, mode: broken/hangs}
    workloads:
      - {workload: syscall, cases: {test: getpgid}, iterations: 2}
"""


def submit_broken(engine: Engine, root: Path, spec: str = SPEC) -> int:
    """Submit *spec* with a catalogue in *root* that has the broken modes too."""
    (root / "workloads").symlink_to(REPOSITORY / "workloads")
    (root / "modes").mkdir()
    for path in (REPOSITORY / "modes").glob("*.yml"):
        (root / "modes" / path.name).symlink_to(path)
    (root / "modes" / "broken.yml").write_text(MODES)
    catalog, hosts = Catalog(root), load_hosts("lab")
    known = {"lab": {h.name: KnownHost(h.name, h.capabilities) for h in hosts.values()}}
    read = read_spec(spec, name="broken.yml", catalog=catalog, hosts=known)
    with transaction(engine) as session:
        return submit(session, read, spec, catalog=catalog, hosts=hosts)


def boots_of(session: Session, experiment_id: int, host: str, *arms: str) -> list[Boot]:
    """Boots of a host that were made, in their order; a retry that was planned is skipped."""
    made = select(Boot).where(Boot.state != BootState.SKIPPED).order_by(Boot.started_at)
    return [
        b
        for b in session.scalars(made)
        if b.run.experiment_id == experiment_id
        and b.run.host.name == host
        and (not arms or b.arm.name in arms)
    ]
