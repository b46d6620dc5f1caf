"""Waits of threads, out of the scheduler's switches."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from mitigauge.analysis.profiles.capture.capture import read_capture
from mitigauge.analysis.profiles.capture.recording import Recorded, Recording
from mitigauge.analysis.profiles.diff.service import unit_of
from mitigauge.analysis.profiles.store.normalise import rules, without_idle
from tests.loading import load

off_cpu = load("ansible/roles/workload/files/_off_cpu.py")
STACK = "\tffffffff81 schedule ([kernel.kallsyms])\n\tffffffff82 {} ([kernel.kallsyms])\n\n"


def switch(at: str, comm: str, tid: int, to: int, waits_in: str, *, short: bool = False) -> str:
    """One switch away from a thread as perf prints it."""
    event = (
        f"{comm}:{tid} [120] S ==> other:{to} [120]"
        if short
        else f"prev_comm={comm} prev_pid={tid} prev_prio=120 prev_state=S ==> next_comm=x "
        f"next_pid={to} next_prio=120"
    )
    return f"{comm} {tid}/{tid} [001] {at}: sched:sched_switch: {event}\n" + STACK.format(waits_in)


@pytest.mark.parametrize("short", [False, True])
def test_a_wait_weighs_the_nanoseconds_until_its_thread_is_switched_to(short: bool) -> None:
    text = (
        switch("10.000000100", "CPU 0/KVM", 11, 22, "kvm_vcpu_block", short=short)
        + switch("10.000000900", "vhost-7", 22, 11, "vhost_worker", short=short)
        + switch("10.000001000", "CPU 0/KVM", 11, 0, "pipe_read", short=short)
        + switch("10.000001300", "swapper/0", 0, 22, "do_idle", short=short)
    )
    told = "".join(off_cpu.waits(text.splitlines(keepends=True)))
    assert [line for line in told.splitlines() if line[:1].isalpha()] == [
        "CPU 0/KVM 11/11 [000] 10.000000: 800 off-cpu: ",
        "vhost-7 22/22 [000] 10.000000: 400 off-cpu: ",
    ]
    assert "kvm_vcpu_block" in told
    assert "pipe_read" not in told
    assert "do_idle" not in told


def test_what_is_no_switch_and_a_stack_that_is_missing_are_left_out() -> None:
    text = (
        "perf 5/5 [000] 9.000000001: sched:sched_wakeup: comm=x pid=1 prio=1 target_cpu=000\n\n"
        "no header at all\n"
        "bare 7/7 [000] 9.000000001: sched:sched_switch: bare:7 [1] S ==> x:1 [1]\n\n"
        "x 1/1 [000] 9.000000009: sched:sched_switch: x:1 [1] S ==> bare:7 [1]\n\n"
    )
    assert list(off_cpu.waits(text.splitlines(keepends=True))) == []


def test_a_stack_is_bounded() -> None:
    frames = "".join(f"\t{n:x} f{n} (x)\n" for n in range(5000))
    head = "a 7/7 [000] 9.000000001: sched:sched_switch: a:7 [1] S ==> b:1 [1]\n"
    back = "b 1/1 [000] 9.000000009: sched:sched_switch: b:1 [1] S ==> a:7 [1]\n"
    told = list(off_cpu.waits((head + frames + "\n" + back).splitlines(keepends=True)))
    assert len(told) == off_cpu.MOST_FRAMES + 2


def test_waits_are_folded_and_weighed_as_samples_are(tmp_path: Path) -> None:
    text = "".join(
        switch(f"10.{2 * n:09}", "ring-1", 11, 22, "pipe_read")
        + switch(f"10.{2 * n + 1:09}", "ring-2", 22, 11, "pipe_read")
        for n in range(1, 50)
    )
    packed = tmp_path / "perf.script.gz"
    packed.write_bytes(gzip.compress("".join(off_cpu.waits(text.splitlines(True))).encode()))
    said = Recorded.model_validate_json(
        json.dumps({"state": "ok", "event": "off-cpu", "hz": 1, "perf": "6.1", "seconds": 1.0,
                    "lost": 0, "capture": "perf.script.gz"})
    )  # fmt: skip
    capture = read_capture(Recording(said, packed))
    assert capture.stacks == {
        b"ring-1;pipe_read;schedule": 49,
        b"ring-2;pipe_read;schedule": 48,
    }
    assert without_idle(capture.stacks, rules())[1] == 0
    assert unit_of("operation", capture.event) == "ns/op"
