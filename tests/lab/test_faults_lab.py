"""Arms that panic or never return, on a host that really does so, with the orchestrator over it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from ruamel.yaml import YAML
from sqlalchemy import Engine, select
from sqlalchemy.orm import Session

from mitigauge.measurement.runs.states import BootState
from mitigauge.measurement.runs.tables import Boot, Run
from tests.lab import broken
from tests.lab.broken import SPEC, submit_broken
from tests.lab.conftest import Lab
from tests.lab.following import start_worker, wait_for_end

pytestmark = pytest.mark.lab

FOUND_WITHIN_S = 300
BOOT_TIMEOUT_S = 180

MORE = """
  - name: another-host
    hosts: [lab-amd]
    baseline: off
    arms:
      - {name: off, mode: vmscape/off}
      - {name: ibpb, mode: vmscape/ibpb}
    workloads:
      - {workload: syscall, cases: {test: getpgid}, iterations: 2}
"""


@pytest.fixture(scope="module")
def impatient_lab(lab: Lab) -> Iterator[Lab]:
    """The lab, with an inventory that gives up on a boot sooner."""
    path, yaml = lab.paths.inventory, YAML()
    before = path.read_text()
    inventory = yaml.load(before)
    for variables in inventory["all"]["hosts"].values():
        variables["mitigauge_boot_timeout_s"] = BOOT_TIMEOUT_S
    with path.open("w") as file:
        yaml.dump(inventory, file)
    yield lab
    path.write_text(before)


@pytest.fixture(scope="module")
def over(
    impatient_lab: Lab, module_engine: tuple[Engine, str], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Session]:
    """A look into the database after the experiment with its broken arms."""
    engine, url = module_engine
    root, log = tmp_path_factory.mktemp("catalog"), tmp_path_factory.mktemp("worker") / "log"
    experiment_id = submit_broken(engine, root, SPEC + MORE.lstrip("\n"))
    worker = start_worker(url, log)
    try:
        wait_for_end(engine, experiment_id, log)
    finally:
        worker.terminate()
        worker.wait(timeout=120)
    with Session(engine) as session:
        yield session


def boots_of(session: Session, host: str, *arms: str) -> list[Boot]:
    """Boots of the one experiment that the module's database holds."""
    return broken.boots_of(session, 1, host, *arms)


@pytest.mark.parametrize("arm", ["panics", "hangs"])
def test_it_is_found_within_five_minutes_booted_once_more_and_then_dropped(
    over: Session, arm: str
) -> None:
    boots = boots_of(over, "lab-intel", arm)
    assert [b.state for b in boots] == [BootState.DID_NOT_BOOT] * 2, [b.reason for b in boots]
    for boot in boots:
        assert boot.started_at is not None
        assert boot.finished_at is not None
        seconds = (boot.finished_at - boot.started_at).total_seconds()
        print(f"  {arm}: found after {seconds:.0f} s: {boot.reason}", flush=True)
        assert seconds < FOUND_WITHIN_S


def test_the_end_of_the_serial_line_is_kept(over: Session) -> None:
    assert all("Kernel panic" in boot.serial_tail for boot in boots_of(over, "lab-intel", "panics"))
    assert all(boot.serial_tail for boot in boots_of(over, "lab-intel", "hangs"))


def test_one_that_is_silent_is_power_cycled_by_us(over: Session) -> None:
    silent = boots_of(over, "lab-intel", "hangs")
    assert all(boot.power_cycled for boot in silent)
    assert not any(boot.power_cycled for boot in boots_of(over, "lab-intel", "panics", "off"))


def test_the_other_arm_and_the_other_host_go_on(over: Session) -> None:
    assert [run.state for run in over.scalars(select(Run))] == ["finished", "finished"]
    assert [b.state for b in boots_of(over, "lab-intel", "off")] == [BootState.EFFECTIVE]
    assert [b.state for b in boots_of(over, "lab-amd")] == [BootState.EFFECTIVE] * 2
