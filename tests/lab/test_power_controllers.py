"""An emulated host behind real controllers, IPMI's and Redfish's, as it would be on metal."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML
from sqlalchemy import Engine
from sqlalchemy.orm import Session

from lab import service
from lab.hosts import LabPaths
from lab.progress import Silent
from mitigauge.core.settings import get_settings
from mitigauge.measurement.catalog import Catalog
from mitigauge.measurement.fleet.check import State
from mitigauge.measurement.fleet.inventory import load_hosts
from mitigauge.measurement.runs.states import BootState
from pipelines.adapters.ansible_host import AnsibleHost, SilentLog
from pipelines.adapters.power import PowerControl, open_power
from pipelines.host_check import checked
from tests.lab import controllers
from tests.lab.broken import boots_of, submit_broken
from tests.lab.conftest import Lab
from tests.lab.following import start_worker, wait_for_end

pytestmark = pytest.mark.lab

HOST = "lab-intel"
BOOT_TIMEOUT_S = 180


@dataclass(frozen=True)
class Behind:
    """The lab's host with the controller that stands before it in the inventory."""

    driver: str
    lab: Lab
    values: dict[str, Any]

    @property
    def power(self) -> PowerControl:
        """The host's power, through its controller."""
        return open_power({"mitigauge_power": self.values})


@pytest.fixture(scope="module")
def one_host() -> Iterator[Lab]:
    """The host up, and down after the tests where they started it."""
    paths = LabPaths.of(get_settings())
    started = service.up(paths, Silent(), names=(HOST,))
    yield Lab(paths)
    if started:
        service.down(paths, Silent(), names=started)


@pytest.fixture(scope="module", params=["ipmi", "redfish"])
def behind(
    request: pytest.FixtureRequest, one_host: Lab, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Behind]:
    """The host as the inventory names it: by its controller alone, its emulator unmentioned."""
    directory = tmp_path_factory.mktemp(request.param)
    chassis = controllers.host_chassis(one_host.variables(HOST)["mitigauge_power"])
    with controllers.serial_port(one_host.paths.host(HOST).serial_socket) as port:
        if request.param == "ipmi":
            rig = controllers.ipmi(directory, chassis, port)
        else:
            rig = controllers.redfish(directory, chassis)
        with rig as values, inventory_with(one_host, controllers.console_of(values, port), values):
            yield Behind(request.param, one_host, values)


@contextmanager
def inventory_with(lab: Lab, console: dict[str, Any], power: dict[str, Any]) -> Iterator[None]:
    path, yaml = lab.paths.inventory, YAML()
    before = path.read_text()
    inventory = yaml.load(before)
    inventory["all"]["hosts"][HOST] |= {
        "mitigauge_power": power,
        "mitigauge_console": console,
        "mitigauge_boot_timeout_s": BOOT_TIMEOUT_S,
    }
    with path.open("w") as file:
        yaml.dump(inventory, file)
    try:
        yield
    finally:
        path.write_text(before)


def test_its_power_goes_and_comes(behind: Behind) -> None:
    lab, power = behind.lab, behind.power
    before = lab.boot_id(HOST)
    power.off()
    assert not power.is_on()
    assert not lab.power(HOST).is_on()
    power.on()
    assert lab.power(HOST).is_on()
    assert lab.wait_for_boot(HOST, before) != before


def test_a_check_reaches_power_and_console_through_the_controller(behind: Behind) -> None:
    host = AnsibleHost(load_hosts("lab")[HOST], SilentLog())
    for _ in range(2):  # the line was given back by the first
        found = {item.name: item for item in checked(host, Catalog(), lambda _: None)}
        assert found["power"].found == f"{behind.driver}: on"
        assert found["console"].state is State.OK, found["console"]
        assert "is open" in found["console"].found
    assert [item for item in found.values() if item.state is State.MISSING] == []


def test_a_kernel_tells_where_it_is_by_an_nmi(behind: Behind) -> None:
    if behind.driver == "ipmi":
        pytest.skip("ipmi_sim cannot send one")
    lab, line = behind.lab, behind.lab.console(HOST)
    before, offset = lab.boot_id(HOST), line.offset()
    lab.run(HOST, "sysctl -q kernel.unknown_nmi_panic=1 kernel.panic=5")
    behind.power.nmi()
    lab.wait_for_boot(HOST, before)
    assert "NMI" in line.tail(line.offset() - offset)


def test_arms_that_panic_or_hang_are_found_and_the_host_is_usable_again(
    behind: Behind, module_engine: tuple[Engine, str], tmp_path: Path
) -> None:
    """One-shot entry, reboot, panic, hang, power cycle and fallback, and nobody is told how."""
    engine, url = module_engine
    (tmp_path / "catalog").mkdir()
    experiment_id = submit_broken(engine, tmp_path / "catalog")
    worker = start_worker(url, tmp_path / "log")
    try:
        view = wait_for_end(engine, experiment_id, tmp_path / "log")
    finally:
        worker.terminate()
        worker.wait(timeout=120)
    assert [run.state for run in view.runs] == ["finished"]
    with Session(engine) as session:
        require_found(session, experiment_id)
    proof = AnsibleHost(load_hosts("lab")[HOST], SilentLog()).look()
    assert proof.nonce is None


def require_found(session: Session, experiment_id: int) -> None:
    """Each broken arm was booted twice and dropped, with what the console said of it."""
    [whole] = boots_of(session, experiment_id, HOST, "off")
    assert whole.state == BootState.EFFECTIVE, whole.reason
    for arm in ("panics", "hangs"):
        boots = boots_of(session, experiment_id, HOST, arm)
        assert [b.state for b in boots] == [BootState.DID_NOT_BOOT] * 2, [b.reason for b in boots]
        assert all(b.serial_tail for b in boots)
        # On a busy machine a panic, too, takes until its time is over; it may be cycled or not.
        assert arm == "panics" or all(b.power_cycled for b in boots)
        for boot in boots:
            print(f"  {arm}: {boot.reason}", flush=True)
    panicked = boots_of(session, experiment_id, HOST, "panics")
    assert all("Kernel panic" in boot.serial_tail for boot in panicked)
