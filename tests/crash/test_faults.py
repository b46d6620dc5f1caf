"""Arms that do not come up, modes that are ignored, labs that fail."""

from __future__ import annotations

import json

from mitigauge.experiments.schemas import BootState, Verdict
from tests.crash.conftest import Fleet
from tests.crash.simulated_host import new_world
from tests.specs import SPEC


def test_an_ignored_mode_is_booted_once_shown_and_never_compared(fleet: Fleet) -> None:
    world = {**new_world(), "says": {"knob=on": "Vulnerable"}}
    (fleet.worlds / "alpha.json").write_text(json.dumps(world))
    experiment = fleet.submit()
    fleet.worker()
    view = fleet.until_over(experiment)
    states = [(boot.arm, boot.state) for boot in view.boots if boot.arm == "on"]
    assert states == [("on", BootState.NOT_EFFECTIVE), ("on", BootState.SKIPPED)]
    arm = next(arm for arm in view.comparisons[0].arms if arm.name == "on")
    assert arm.observed == ["knob: Vulnerable"]
    for row in view.comparisons[0].rows:
        cell = next(cell for cell in row.cells if cell.arm_id == arm.id)
        assert (cell.state, cell.effect_percent, cell.verdict) == ("not_effective", None, None)


def test_an_arm_that_panics_once_is_booted_again_and_the_panic_kept(fleet: Fleet) -> None:
    (fleet.worlds / "alpha.json").write_text(json.dumps({**new_world(), "panics": {"knob=on": 1}}))
    experiment = fleet.submit()
    fleet.worker()
    view = fleet.until_over(experiment)
    states = [boot.state for boot in view.boots if boot.arm == "on"]
    assert sorted(states) == [BootState.DID_NOT_BOOT, BootState.EFFECTIVE, BootState.EFFECTIVE]


def test_an_arm_that_always_panics_is_dropped_and_the_rest_goes_on(fleet: Fleet) -> None:
    (fleet.worlds / "alpha.json").write_text(json.dumps({**new_world(), "panics": {"knob=on": 99}}))
    experiment = fleet.submit()
    fleet.worker()
    view = fleet.until_over(experiment)
    panicked = [boot for boot in view.boots if boot.state is BootState.DID_NOT_BOOT]
    assert [boot.arm for boot in panicked] == ["on", "on"]
    assert all("fallback" in boot.reason for boot in panicked)
    assert [b.state for b in view.boots if b.arm == "off"] == [BootState.EFFECTIVE] * 2


def test_a_baseline_that_is_not_in_force_ends_the_comparison_early(fleet: Fleet) -> None:
    world = {**new_world(), "says": {"knob=off": "Mitigation: Knob"}}
    (fleet.worlds / "alpha.json").write_text(json.dumps(world))
    experiment = fleet.submit(SPEC.replace("blocks: 2", "blocks: 8"))
    fleet.worker()
    view = fleet.until_over(experiment)
    made = [boot for boot in view.boots if boot.state is not BootState.SKIPPED]
    assert len(made) <= 2
    assert any("baseline" in boot.reason for boot in view.boots)


def test_equal_values_are_the_same_and_every_value_is_kept(fleet: Fleet) -> None:
    experiment = fleet.submit(SPEC.replace("blocks: 2", "blocks: 4"))
    fleet.worker()
    view = fleet.until_over(experiment)
    row = view.comparisons[0].rows[0]
    assert row.cells[0].mean is not None
    assert abs(row.cells[0].mean - 101.1) < 0.01
    assert row.cells[1].verdict is Verdict.SAME
    assert all(len(boot.values) == 2 for boot in view.boots)


def test_cancelling_restores_the_host_and_leaves_the_rest(fleet: Fleet) -> None:
    from mitigauge.database import transaction
    from mitigauge.experiments import service

    experiment = fleet.submit(SPEC.replace("blocks: 2", "blocks: 40"))
    fleet.worker()
    fleet.until(lambda: fleet.show(experiment).boots_done >= 1, "a boot")
    with transaction(fleet.engine) as session:
        service.cancel(session, experiment)
    fleet.until(lambda: fleet.show(experiment).runs[0].state == "cancelled", "the run's end")
    assert fleet.did()["restore"] == 1
    assert fleet.show(experiment).state == "cancelled"
