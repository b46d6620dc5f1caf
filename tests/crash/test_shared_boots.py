"""Arms that are applied at run time: a block is one boot, however it goes."""

from __future__ import annotations

from sqlalchemy import text

from mitigauge.measurement.fleet.boot_method import BootMethod
from mitigauge.measurement.runs.states import BootState
from mitigauge.storage.database.engine import transaction
from pipelines.decision import Step
from tests.crash.behaviours import RebootsAfterJob
from tests.crash.conftest import Fleet
from tests.crash.simulated_host import write_world
from tests.specs import SPEC

DIAL = SPEC.replace("knob/", "dial/").replace("size: [1, 2]", "size: [1]")


def boots_made(fleet: Fleet) -> int:
    return sum(count for did, count in fleet.did().items() if did.startswith("boot "))


def test_a_block_is_one_boot_and_each_arm_is_applied_in_it(fleet: Fleet) -> None:
    experiment = fleet.submit(DIAL)
    with transaction(fleet.engine) as session:
        planned = session.scalar(text("select text from event where kind = 'submitted'"))
    assert "4 boots planned, those of a block that need no reboot as one" in planned
    fleet.worker()
    view = fleet.until_over(experiment)
    assert [boot.state for boot in view.boots] == [BootState.EFFECTIVE] * 4
    assert [boot.method for boot in view.boots] == [BootMethod.RESET, BootMethod.WITHIN] * 2
    did = fleet.did()
    assert boots_made(fleet) == 2
    assert (did["apply 0"], did["apply 1"]) == (2, 2)
    assert len({boot.kernel_boot_id for boot in view.boots}) == 2
    assert "dial" not in _command_lines(fleet)


def test_an_arm_that_asks_for_a_boot_gets_it(fleet: Fleet) -> None:
    experiment = fleet.submit(DIAL.replace("mode: dial/on}", "mode: dial/on, boot: reset}"))
    with transaction(fleet.engine) as session:
        planned = session.scalar(text("select text from event where kind = 'submitted'"))
    assert "4 boots planned, seed" in planned
    fleet.worker()
    fleet.until_over(experiment)
    assert boots_made(fleet) == 4
    assert fleet.did()["apply 0"] == 0


def test_a_host_that_reboots_within_a_block_gives_the_arm_a_boot_of_its_own(fleet: Fleet) -> None:
    write_world(fleet.worlds / "alpha.json", RebootsAfterJob(1))
    experiment = fleet.submit(DIAL.replace("blocks: 2", "blocks: 1"))
    fleet.worker()
    view = fleet.until_over(experiment)
    told = [(boot.method, boot.state) for boot in view.boots]
    assert told == [
        (BootMethod.RESET, BootState.EFFECTIVE),
        (BootMethod.WITHIN, BootState.LAB_FAULT),
        (BootMethod.RESET, BootState.EFFECTIVE),
    ]
    assert "rebooted by itself within block 1" in view.boots[1].reason


def test_a_worker_killed_while_it_applies_leaves_each_arm_proven(fleet: Fleet) -> None:
    experiment = fleet.submit(DIAL)
    fleet.worker(f"{Step.VERIFY}:before")
    fleet.worker()
    view = fleet.until_over(experiment)
    assert [boot.state for boot in view.boots] == [BootState.EFFECTIVE] * 4
    assert boots_made(fleet) == 2


def _command_lines(fleet: Fleet) -> str:
    with transaction(fleet.engine) as session:
        return str(session.execute(text("select proof->>'cmdline' from boot")).all())
