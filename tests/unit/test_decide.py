"""What a run does next, from where it stands."""

from __future__ import annotations

from dataclasses import replace

import pytest

from mitigauge.measurement.runs.states import BootState
from pipelines.decision import (
    DID_NOT_BOOT_LIMIT,
    FAULTS_IN_A_ROW_LIMIT,
    Action,
    BootSituation,
    RunSituation,
    Step,
    decide,
)

OFF, LOOP = 1, 2


def boot(
    number: int, arm: int, state: BootState = BootState.PLANNED, **facts: object
) -> BootSituation:
    return replace(BootSituation(number, arm, state), **facts)  # type: ignore[arg-type]


def run(*boots: BootSituation, **facts: object) -> RunSituation:
    plain = RunSituation(
        cancelled=False,
        prepared=True,
        preparation_begun=True,
        restored=False,
        faults_in_a_row=0,
        baseline_arm_id=OFF,
        boot_timeout_s=240,
        boots=boots,
    )
    return replace(plain, **facts)  # type: ignore[arg-type]


def test_the_host_is_prepared_first() -> None:
    assert decide(run(boot(1, OFF), prepared=False)) == Action(Step.PREPARE)


def test_the_first_planned_boot_is_armed() -> None:
    done = boot(1, OFF, BootState.EFFECTIVE)
    assert decide(run(done, boot(2, LOOP))) == Action(Step.ARM, 2)


@pytest.mark.parametrize(
    ("facts", "step"),
    [
        ({"rebooted_for_s": 10.0}, Step.AWAIT),
        ({"rebooted_for_s": 10.0, "up": True}, Step.VERIFY),
        ({"rebooted_for_s": 241.0}, Step.POWER_CYCLE),
        ({"rebooted_for_s": 20.0, "power_cycled": True}, Step.AWAIT),
        ({"rebooted_for_s": 500.0, "up": True}, Step.VERIFY),
    ],
)
def test_a_booting_arm_is_awaited_verified_or_cycled(facts: dict[str, object], step: Step) -> None:
    assert decide(run(boot(1, OFF, BootState.BOOTING, **facts))).step is step


def test_a_host_silent_even_after_a_power_cycle_ends_the_run() -> None:
    silent = boot(1, OFF, BootState.BOOTING, rebooted_for_s=241.0, power_cycled=True)
    action = decide(run(silent))
    assert (action.step, action.boot_id) == (Step.LOST, 1)
    assert "host lost" in action.reason


def test_a_proven_boot_is_measured_then_polled() -> None:
    assert decide(run(boot(1, OFF, BootState.MEASURING))).step is Step.START
    assert decide(run(boot(1, OFF, BootState.MEASURING, job_started=True))).step is Step.POLL


def test_an_arm_found_not_effective_is_not_booted_again() -> None:
    action = decide(run(boot(1, LOOP, BootState.NOT_EFFECTIVE), boot(2, LOOP)))
    assert action.step is Step.SKIP
    assert "not effective" in action.reason


def test_an_arm_may_fail_to_boot_once() -> None:
    failed = [boot(n, LOOP, BootState.DID_NOT_BOOT) for n in range(DID_NOT_BOOT_LIMIT)]
    assert decide(run(*failed[:-1], boot(9, LOOP))).step is Step.ARM
    assert decide(run(*failed, boot(9, LOOP))).step is Step.SKIP


def test_without_a_baseline_in_force_nothing_else_is_booted() -> None:
    action = decide(run(boot(1, OFF, BootState.NOT_EFFECTIVE), boot(2, LOOP)))
    assert action.step is Step.SKIP
    assert "baseline" in action.reason


def test_a_lab_fault_drops_no_arm() -> None:
    faults = [boot(n, LOOP, BootState.LAB_FAULT) for n in range(5)]
    assert decide(run(*faults, boot(9, LOOP))).step is Step.ARM


def test_many_lab_faults_in_a_row_end_the_run_with_the_host_restored() -> None:
    broken = run(boot(1, OFF), faults_in_a_row=FAULTS_IN_A_ROW_LIMIT)
    assert decide(broken).step is Step.RESTORE
    assert decide(replace(broken, restored=True)).step is Step.FINISH


def test_the_end_restores_then_finishes() -> None:
    done = boot(1, OFF, BootState.EFFECTIVE)
    assert decide(run(done)) == Action(Step.RESTORE)
    assert decide(run(done, restored=True)) == Action(Step.FINISH)


def test_cancelling_leaves_open_boots_and_restores() -> None:
    assert decide(run(boot(1, OFF, BootState.BOOTING), cancelled=True)).step is Step.RESTORE
    begun = run(boot(1, OFF), cancelled=True, prepared=False)
    assert decide(begun).step is Step.RESTORE
    untouched = replace(begun, preparation_begun=False)
    assert decide(untouched) == Action(Step.FINISH, reason="cancelled")


def test_once_everything_is_decided_no_further_block_is_begun() -> None:
    done = boot(1, OFF, BootState.EFFECTIVE)
    action = decide(run(done, boot(2, LOOP), decided_after=4))
    assert action == Action(Step.STOP, reason="every primary metric was decided after 4 blocks")


def test_a_boot_that_is_under_way_is_finished_all_the_same() -> None:
    assert decide(run(boot(1, OFF, BootState.MEASURING), decided_after=4)).step is Step.START


def test_an_interim_analysis_comes_before_the_next_block() -> None:
    done = boot(1, OFF, BootState.EFFECTIVE)
    assert decide(run(done, boot(2, LOOP), unjudged_blocks=4)) == Action(Step.JUDGE)


def test_what_was_restored_is_measured_on_no_more() -> None:
    assert decide(run(boot(1, OFF), restored=True)) == Action(Step.FINISH)


def test_a_run_that_is_brought_to_its_end_restores_and_says_why() -> None:
    ending = run(boot(1, OFF, BootState.MEASURING), ending="block 1 was invalid 4 times")
    assert decide(ending) == Action(Step.RESTORE, reason="block 1 was invalid 4 times")
    over = replace(ending, restored=True)
    assert decide(over) == Action(Step.FINISH, reason="block 1 was invalid 4 times")


def test_a_cancel_that_comes_after_the_last_boot_changes_nothing() -> None:
    done = boot(1, OFF, BootState.EFFECTIVE)
    assert decide(run(done, cancelled=True, restored=True)) == Action(Step.FINISH)


def failing(*arms: int) -> list[BootSituation]:
    """Each of the arms booted once or twice, of which nothing ever came up."""
    return [boot(n, arm, BootState.DID_NOT_BOOT) for n, arm in enumerate(arms, 1)]


def test_where_baseline_and_candidate_fail_alike_what_they_share_is_suspected() -> None:
    action = decide(run(*failing(OFF, LOOP, OFF, LOOP), boot(9, LOOP)))
    assert action.step is Step.SKIP
    assert action.reason == (
        "no boot of this run came up, the baseline's neither: what all have in common may be at "
        "fault, the host, the kernels' configuration or the modes' options"
    )


@pytest.mark.parametrize(
    "others",
    [
        [],
        [boot(5, LOOP, BootState.DID_NOT_BOOT)],
        [boot(5, LOOP, BootState.EFFECTIVE)],
        [boot(5, LOOP, BootState.INVALID)],
    ],
)
def test_where_another_arm_came_up_or_was_never_tried_it_is_the_baselines(
    others: list[BootSituation],
) -> None:
    action = decide(run(*failing(OFF, OFF), *others, boot(9, LOOP)))
    assert action.step is Step.SKIP
    assert action.reason == "nothing to compare with: the baseline did not boot 2 times"
