"""Rates of the kernel: out of /proc, what perf counted, and what neither tells."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from mitigauge.analysis.prices.kernel_events import KernelEvent
from pipelines.adapters import kernel_rates
from pipelines.adapters.kernel_rates import (
    CONTROLS,
    Counted,
    Reading,
    notes_of,
    rates_of,
    rates_per_s,
    read_proc,
    read_vulnerabilities,
    sees_all_tasks,
)

STAT = """cpu  100 0 300 5000 0 20 80 0 0 0
cpu0 100 0 300 5000 0 20 80 0 0 0
intr {intr} 1 2 3
ctxt {ctxt}
btime 1
"""
STATUS = """Name:\tx
Speculation_Store_Bypass:\t{bypass}
SpeculationIndirectBranch:\t{branch}
voluntary_ctxt_switches:\t{switches}
nonvoluntary_ctxt_switches:\t5
"""
NOBODY: dict[str, dict[str, int]] = {control: {} for control in CONTROLS}
BRANCH = "SpeculationIndirectBranch"


def made_proc(
    root: Path,
    *,
    ctxt: int = 1000,
    intr: int = 500,
    faults: int = 70,
    branch: str = "conditional enabled",
) -> Path:
    task = root / "7" / "task" / "8"
    task.mkdir(parents=True)
    (root / "stat").write_text(STAT.format(ctxt=ctxt, intr=intr))
    (root / "vmstat").write_text(f"nr_free_pages 3\npgfault {faults}\npgmajfault 1\n")
    (task / "status").write_text(
        STATUS.format(bypass="thread vulnerable", branch=branch, switches=40)
    )
    return root


def reading(
    at: float, tasks: dict[str, int] | None = None, user: float = 0.0, **counts: int
) -> Reading:
    events = {KernelEvent(name.replace("_", "-")): count for name, count in counts.items()}
    return Reading(at, events, user, user, {**NOBODY, BRANCH: tasks or {}})


def counted(before: Reading, after: Reading, **of: object) -> Counted:
    return Counted(before, after, of.pop("perf", {}), **of)


BEFORE = reading(0, context_switch=100, interrupt=100, page_fault=100)
AFTER = reading(10, user=2, context_switch=1100, interrupt=2100, page_fault=3100)


def test_a_reading_has_what_proc_says(tmp_path: Path) -> None:
    now = read_proc(made_proc(tmp_path))
    assert now.counts == {
        KernelEvent.CONTEXT_SWITCH: 1000, KernelEvent.INTERRUPT: 500, KernelEvent.PAGE_FAULT: 70,
    }  # fmt: skip
    ticks = os.sysconf("SC_CLK_TCK")
    assert (now.user_s, now.system_s) == (100 / ticks, 400 / ticks)
    assert now.controlled == NOBODY


def test_a_task_that_asked_for_a_control_is_found_with_its_switches(tmp_path: Path) -> None:
    now = read_proc(made_proc(tmp_path, branch="conditional force disabled"))
    assert now.controlled == {**NOBODY, BRANCH: {"8": 45}}


def test_what_proc_counts_is_a_rate() -> None:
    rates = rates_of(counted(BEFORE, AFTER))
    assert rates[KernelEvent.CONTEXT_SWITCH].value == 100
    assert rates[KernelEvent.INTERRUPT].value == 200
    assert rates[KernelEvent.PAGE_FAULT].value == 300


def test_without_perf_system_calls_are_a_range_by_the_time_in_the_kernel() -> None:
    """0.2 processors in the kernel, 100 ns a call at least: 2 million calls a second at most."""
    rate = rates_of(counted(BEFORE, AFTER, why_not="only root may"), call_ns=100)[
        KernelEvent.SYSTEM_CALL
    ]
    assert (rate.value, rate.low) == (None, 0)
    assert rate.high == pytest.approx(2.01e6)
    assert "only root may" in rate.why


def test_without_perf_and_a_price_system_calls_are_unknown() -> None:
    rate = rates_of(counted(BEFORE, AFTER, why_not="only root may"))[KernelEvent.SYSTEM_CALL]
    assert (rate.value, rate.high) == (None, None)
    assert "only root may" in rate.why


def test_without_perf_other_address_spaces_are_at_most_all_switches() -> None:
    rate = rates_of(counted(BEFORE, AFTER))[KernelEvent.ADDRESS_SPACE_SWITCH]
    assert (rate.value, rate.low, rate.high) == (None, 0, 100)


def test_interrupts_of_user_space_lie_between_none_and_all() -> None:
    """Half of the busy time was in user space."""
    rate = rates_of(counted(BEFORE, AFTER))[KernelEvent.USER_INTERRUPT]
    assert (rate.value, rate.low, rate.high) == (100, 0, 200)


def test_what_perf_counted_is_taken() -> None:
    perf = {KernelEvent.SYSTEM_CALL: 5e5, KernelEvent.GUEST_EXIT: 3.0}
    rates = rates_of(counted(BEFORE, AFTER, perf=perf))
    assert rates[KernelEvent.SYSTEM_CALL].value == 5e5
    assert rates[KernelEvent.GUEST_EXIT].value == 3
    assert rates[KernelEvent.GUEST_EXIT_TO_USER].value is None


def test_what_counting_takes_of_busy_processors_widens_the_rate() -> None:
    """40 ns of 0.4 processors' time at 2 million a second: a fifth of the work was lost."""
    perf = {KernelEvent.SYSTEM_CALL: 2e6}
    rate = rates_of(counted(BEFORE, AFTER, perf=perf, overhead_ns=40))[KernelEvent.SYSTEM_CALL]
    assert (rate.low, rate.high) == pytest.approx((2e6, 2.5e6))
    assert rate.value == pytest.approx(2.25e6)


def test_a_machine_where_nothing_happens_has_rates_of_zero() -> None:
    still = reading(10, context_switch=100, interrupt=100, page_fault=100)
    perf = dict.fromkeys(kernel_rates.TRACEPOINTS.values(), 0.0)
    rates = rates_of(counted(BEFORE, still, perf=perf, overhead_ns=40))
    assert {event for event, rate in rates.items() if not rate.is_zero} == set()


def test_a_counter_that_went_back_is_unknown() -> None:
    wrapped = reading(10, context_switch=5, interrupt=200, page_fault=200)
    rates = rates_of(counted(BEFORE, wrapped))
    assert rates[KernelEvent.CONTEXT_SWITCH].value is None
    assert rates[KernelEvent.CONTEXT_SWITCH].high is None
    assert "went back" in rates[KernelEvent.CONTEXT_SWITCH].why


def test_a_proc_without_the_lines_gives_no_rate(tmp_path: Path) -> None:
    (tmp_path / "stat").write_text("cpu  1 2\n")
    now = read_proc(tmp_path)
    assert now.counts == {}
    rates = rates_of(counted(now, Reading(now.at + 1, {}, 1.0, 1.0, NOBODY)))
    assert KernelEvent.CONTEXT_SWITCH not in rates
    assert rates[KernelEvent.USER_INTERRUPT].high is None


def test_without_kvm_no_guest_is_left() -> None:
    rates = rates_of(counted(BEFORE, AFTER, has_kvm=False, why_not="x"))
    assert rates[KernelEvent.GUEST_EXIT].is_zero
    assert rates[KernelEvent.GUEST_EXIT_TO_USER].is_zero


def test_nobody_who_asked_for_a_barrier_makes_none() -> None:
    assert rates_of(counted(BEFORE, AFTER))[KernelEvent.RESTRICTED_SWITCH].is_zero


def test_a_task_that_asked_has_barriers_both_ways_and_at_most_at_every_switch() -> None:
    before = reading(0, {"8": 45}, context_switch=0)
    after = reading(10, {"8": 245}, context_switch=1000)
    rate = rates_of(counted(before, after))[KernelEvent.RESTRICTED_SWITCH]
    assert (rate.value, rate.low, rate.high) == (40, 0, 100)


def test_in_a_container_other_processes_controls_are_a_range() -> None:
    container = counted(BEFORE, AFTER, sees_all=False)
    rate = rates_of(container)[KernelEvent.RESTRICTED_SWITCH]
    assert (rate.value, rate.high) == (None, 100)
    assert any("rates are those of the whole machine" in note for note in notes_of(container))


def test_another_namespace_of_processes_is_a_container(tmp_path: Path) -> None:
    (tmp_path / "self" / "ns").mkdir(parents=True)
    (tmp_path / "self" / "ns" / "pid").symlink_to("pid:[4026532201]")
    (tmp_path / "1").mkdir()
    (tmp_path / "1" / "status").write_text("Name:\tinit\n")
    assert not sees_all_tasks(tmp_path)
    (tmp_path / "self" / "ns" / "pid").unlink()
    (tmp_path / "self" / "ns" / "pid").symlink_to("pid:[4026531836]")
    assert sees_all_tasks(tmp_path)
    (tmp_path / "1" / "status").unlink()
    assert not sees_all_tasks(tmp_path)


PERF = """# started on Mon Nov 30 19:48:43 2026

57918,,raw_syscalls:sys_enter,{time},100.00,,
<not counted>,,tlb:tlb_flush,0,100.00,,
<not supported>,,exceptions:page_fault_user,0,100.00,,
9,,kvm:kvm_userspace_exit,{time},100.00,,
4,,someone:else,{time},100.00,,
99999999999999999999999999,,kvm:kvm_exit,{time},100.00,,
"""


def test_what_perf_could_not_count_is_absent_and_never_zero() -> None:
    """As `perf stat -a -x,` of 6.1 writes it: time is summed over all processors."""
    time_ns = 2_000_000_000 * (os.cpu_count() or 1)
    assert rates_per_s(PERF.format(time=time_ns)) == {
        KernelEvent.SYSTEM_CALL: pytest.approx(57918 / 2),
        KernelEvent.GUEST_EXIT_TO_USER: pytest.approx(4.5),
    }


def test_states_of_mitigations_are_files(tmp_path: Path) -> None:
    folder = tmp_path / "devices/system/cpu/vulnerabilities"
    folder.mkdir(parents=True)
    (folder / "mds").write_text("Not affected\n")
    (folder / "empty").write_text("\n")
    assert read_vulnerabilities(tmp_path) == {"mds": "Not affected"}
    assert read_vulnerabilities(tmp_path / "nowhere") == {}
