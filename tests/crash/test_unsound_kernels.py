"""A kernel that oopses before or while it is measured: chance once, the arm's own fault twice."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, ClassVar

import pytest
from sqlalchemy import Engine

from mitigauge.measurement.runs.states import BootState, RunState
from pipelines.advance import Advancer
from pipelines.host_control import Facts
from tests.crash.behaviours import Says, as_json
from tests.crash.conftest import Fleet
from tests.crash.simulated_host import SimulatedHost, changed, new_world
from tests.specs import CATALOG, SPEC

OOPS, OF_ARM = 1 << 7, "knob=on"
LINE = "BUG: kernel NULL pointer dereference, address: 0000000000000008"


class OopsingHost(SimulatedHost):
    """Its kernel oopses in the first boots of an arm, *before* it is measured or *while*."""

    when: ClassVar[str]
    oopses: ClassVar[int]

    def verify(self, *arguments: Any, **words: Any) -> Facts:
        facts = super().verify(*arguments, **words)
        if self.when == "while" or not self._oopses():
            return facts
        return {**facts, "proof": {**facts["proof"], "tainted": OOPS, "kernel_log": [LINE]}}

    def start(self, *arguments: Any, **words: Any) -> Facts:
        says = []
        if self.when == "while" and self._oopses():
            gates = {"throttled": 0, "machine_checks": 0, "tainted": OOPS, "kernel_log": [LINE]}
            says = [Says({"gates": gates})]
        with changed(self.world) as world:
            world["behaviours"] = as_json(says)
        return super().start(*arguments, **words)

    def _oopses(self) -> bool:
        of_arm = json.loads(self.world.read_text())["cmdline"].endswith(OF_ARM)
        left = of_arm and type(self).oopses > 0
        type(self).oopses -= left
        return left


@pytest.fixture
def ended(engine: Engine, home: Path, fleet: Fleet) -> Callable[[str, int], Any]:
    """A run on a host whose kernel oopses so often, over."""

    def end(at: str, times: int) -> Any:
        class Host(OopsingHost):
            when, oopses = at, times

        (home / "alpha.json").write_text(json.dumps({**new_world(), "quick": True}))
        run = fleet.show(fleet.submit(SPEC)).runs[0].id
        hosts = lambda _, name, log: Host(home / f"{name}.json", log)  # noqa: E731
        advancer = Advancer(engine, hosts, catalog=CATALOG, lease_seconds=60)
        for _ in range(200):
            if advancer.advance(run) is None:
                return run
        raise AssertionError("the run did not end")

    return end


def boots(engine: Engine, mode: str) -> list[tuple[str, str]]:
    """(state, reason) of the boots of the arm in that mode, in order."""
    with engine.connect() as connection:
        rows = connection.exec_driver_sql(
            "select boot.state, boot.reason from boot join arm on arm.id = arm_id "
            f"where arm.mode = '{mode}' order by boot.id"
        )
        return [(state, reason) for state, reason in rows]


def state_of_run(engine: Engine) -> str:
    with engine.connect() as connection:
        return str(connection.exec_driver_sql("select state from run").scalar_one())


@pytest.mark.parametrize("when", ["before", "while"])
def test_a_kernel_that_oopses_once_has_its_block_made_again(
    engine: Engine, ended: Callable[[str, int], Any], when: str
) -> None:
    ended(when, 1)
    states = [state for state, _ in boots(engine, "on")]
    assert sorted(states) == [BootState.EFFECTIVE, BootState.EFFECTIVE, BootState.INVALID]
    [reason] = [reason for state, reason in boots(engine, "on") if state == BootState.INVALID]
    assert "the kernel oopsed (taint D)" in reason
    assert LINE in reason
    assert state_of_run(engine) == RunState.FINISHED


@pytest.mark.parametrize("when", ["before", "while"])
def test_an_arm_whose_kernel_oopses_at_each_boot_is_not_booted_for_ever(
    engine: Engine, ended: Callable[[str, int], Any], when: str
) -> None:
    ended(when, 100)
    states = [state for state, _ in boots(engine, "on")]
    assert states.count(BootState.INVALID) == 1
    assert states.count(BootState.NOT_EFFECTIVE) == 1
    assert BootState.EFFECTIVE not in states
    [reason] = [why for state, why in boots(engine, "on") if state == BootState.NOT_EFFECTIVE]
    assert "the kernel oopsed (taint D)" in reason
    assert "in an earlier boot of the arm" in reason
    assert [state for state, _ in boots(engine, "off")].count(BootState.EFFECTIVE) == 2
    assert state_of_run(engine) == RunState.FINISHED
