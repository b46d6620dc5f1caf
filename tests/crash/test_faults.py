"""Arms that do not come up, modes that are ignored, labs that fail."""

from __future__ import annotations

import json

from mitigauge.core.effect import Verdict
from mitigauge.measurement.runs import service
from mitigauge.measurement.runs.states import BootState
from mitigauge.reporting.pages import hosts as host_views
from mitigauge.storage.database.engine import transaction
from tests.crash.conftest import Fleet
from tests.crash.simulated_host import new_world
from tests.specs import SPEC


def test_an_ignored_mode_is_booted_once_shown_and_never_compared(fleet: Fleet) -> None:
    world = {**new_world(), "says": {"knob=on": "Vulnerable"}}
    (fleet.worlds / "alpha.json").write_text(json.dumps(world))
    experiment = fleet.submit()
    fleet.worker()
    view = fleet.until_concluded(experiment)
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
    view = fleet.until_concluded(experiment)
    row = view.comparisons[0].rows[0]
    assert row.cells[0].mean is not None
    assert abs(row.cells[0].mean - 101.1) < 0.01
    assert row.cells[1].verdict is Verdict.SAME
    assert all(len(boot.values) == 2 for boot in view.boots)


def test_a_run_stops_as_soon_as_every_primary_metric_is_decided(fleet: Fleet) -> None:
    experiment = fleet.submit(SPEC.replace("blocks: 2", "blocks: 16"))
    fleet.worker()
    view = fleet.until_concluded(experiment)
    assert view.state == "finished"
    assert [run.stopped_after for run in view.runs] == [4]
    assert sum(b.state is BootState.EFFECTIVE for b in view.boots) == 8
    left = [b for b in view.boots if b.state is BootState.SKIPPED]
    assert len(left) == 24
    assert (view.boots_done, view.boots_left_out, view.boots_total) == (8, 24, 32)
    assert all("decided after 4 blocks" in boot.reason for boot in left)
    cell = view.comparisons[0].rows[0].cells[1]
    assert (cell.verdict, cell.decided_after) == (Verdict.SAME, 4)
    assert fleet.did()["restore"] == 1


def test_a_doubled_baseline_is_booted_and_its_verdicts_counted_for_the_host(fleet: Fleet) -> None:
    experiment = fleet.submit(
        SPEC.replace("blocks: 2", "blocks: 4").replace(
            "    baseline: off\n", "    baseline: off\n    aa: true\n    slowed_percent: 2\n"
        )
    )
    fleet.worker()
    view = fleet.until_concluded(experiment)
    arms = view.comparisons[0].arms
    assert [(arm.name, arm.is_aa) for arm in arms] == [
        ("off", False), ("on", False), ("off-again", True), ("off-slowed", True),
    ]  # fmt: skip
    assert len(view.boots) == 16
    with transaction(fleet.engine) as session:
        again, slowed = host_views.show_host(session, "alpha").doubled
    # Two cases of one metric. A simulated host takes the job, and nothing slows it.
    assert (again.workload, again.metric, slowed.metric) == ("spin", "time", "time")
    assert (again.comparisons, again.changed, again.rate_percent) == (2, 0, 0.0)
    assert again.sentence == "nothing changed was called changed in 0 of 2"
    assert again.ci_high_percent > 50
    assert (slowed.slowed_percent, slowed.comparisons, slowed.changed) == (2, 2, 0)
    assert slowed.sentence == "a slow-down of 2 % was found in 0 of 2"


def test_cancelling_restores_the_host_and_leaves_the_rest(fleet: Fleet) -> None:
    experiment = fleet.submit(SPEC.replace("blocks: 2", "blocks: 40"))
    fleet.worker()
    fleet.until(lambda: fleet.show(experiment).boots_done >= 1, "a boot")
    with transaction(fleet.engine) as session:
        service.cancel(session, experiment)
    fleet.until(lambda: fleet.show(experiment).runs[0].state == "cancelled", "the run's end")
    assert fleet.did()["restore"] == 1
    shown = fleet.show(experiment)
    assert shown.state == "cancelled"
    taken = shown.boots_done
    assert 1 <= taken < 80
    # One may have been on its way when it was cancelled.
    whole = sum(boot.state is not BootState.SKIPPED for boot in shown.boots)
    assert taken - 1 <= whole <= taken
    # What did not take place is not done.
    assert (shown.boots_done, shown.boots_left_out, shown.boots_total) == (taken, 80 - taken, 80)
