"""desktop: what the host's scheduler did, by its own events; and its power, by its BMC."""

from __future__ import annotations

import itertools
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from mitigauge.core.settings import REPOSITORY
from mitigauge.measurement.catalog import Catalog
from tests.loading import load
from tests.workload_cases import edit, reseal

WORKLOAD = REPOSITORY / "workloads/desktop"
desktop = load("workloads/desktop/run")
parsing = load("workloads/desktop/parse.py")
scheduling, recordings, bmc = (
    sys.modules[name] for name in ("scheduling", "sched_recording", "bmc")
)
events = sys.modules["_kit.sched_events"]
US = 1000
SECOND = 100 * 10**9
BOTH, FIRST = 0b11, 0b01
TRACE = WORKLOAD / "fixtures/sched/trace.txt"


def line(at_us: int, cpu: int, event: str, *, waker: int = 99, flags: str = "d..2.") -> str:
    """An event as tracefs prints it, `at_us` after the second 100."""
    seconds, us = divmod(100 * 10**6 + at_us, 10**6)
    return f"  some-name-{waker:<7} [{cpu:03}] {flags}  {seconds}.{us:06}: {event}\n"


def task(name: str, tid: int) -> str:
    return f"comm={name} pid={tid} prio=120"


def ready(at_us: int, name: str, tid: int, cpu: int, event: str = "sched_wakeup") -> str:
    return line(at_us, cpu, f"{event}: {task(name, tid)} target_cpu={cpu:03}")


def move(at_us: int, name: str, tid: int, before: int, after: int) -> str:
    event = f"sched_migrate_task: {task(name, tid)} orig_cpu={before} dest_cpu={after}"
    return line(at_us, before, event)


def switch(at_us: int, cpu: int, leaving: tuple[str, int, str], coming: tuple[str, int]) -> str:
    return line(
        at_us, cpu,
        f"sched_switch: prev_comm={leaving[0]} prev_pid={leaving[1]} prev_prio=120 "
        f"prev_state={leaving[2]} ==> next_comm={coming[0]} next_pid={coming[1]} next_prio=120",
    )  # fmt: skip


def waking(at_us: int, tid: int, waker: int, flags: str = "d..2.") -> str:
    event = f"sched_waking: {task('woken', tid)} target_cpu=000"
    return line(at_us, 0, event, waker=waker, flags=flags)


def counted(
    lines: Iterable[str], allowed: dict[int, int] | None = None, processors: int = BOTH
) -> dict[str, Any]:
    """What these events came to from the second 100 on, for a millisecond."""
    found = scheduling.Scheduling(
        events.Window(SECOND, SECOND + 1000 * US),
        processors,
        {11: BOTH, 12: BOTH, 13: FIRST} if allowed is None else allowed,
        {12: "vcpu"},
    )
    found.read(lines)
    table: dict[str, Any] = found.table()
    return table


IDLE = ("swapper", 0)
# Before the window, so that both processors are known: 11 has the first, nobody the second.
START = [
    switch(-20, 0, ("before", 98, "S"), ("busy", 11)),
    switch(-10, 1, ("before", 99, "S"), IDLE),
]
DAY = [
    "# tracer: nop\n",
    *START,
    ready(100, "CPU 0/KVM", 12, 0),
    move(250, "CPU 0/KVM", 12, 0, 1),
    switch(260, 1, (*IDLE, "R"), ("CPU 0/KVM", 12)),
    ready(290, "kworker/0:0", 13, 0),
    switch(300, 0, ("busy", 11, "R"), ("kworker/0:0", 13)),
    switch(400, 1, ("CPU 0/KVM", 12, "S"), IDLE),
    switch(450, 0, ("kworker/0:0", 13, "I"), ("busy", 11)),
]


def test_a_processor_is_idle_while_a_task_that_may_use_it_waits_behind_another() -> None:
    """12 from 100 until it is moved at 250, and 11, which was set aside, from 400 to 450."""
    table = counted(DAY)
    assert table["idle_while_waiting_ns"] == (150 + 50) * US
    assert table["idle_while_waiting_times"] == 2
    assert table["migrations"] == {"vcpu": 1, "other": 0}
    assert (table["events"], table["missing"], table["unknown_wait_ns"]) == (9, 0, 0)


def test_who_may_not_run_there_waits_for_no_idle_processor() -> None:
    """The same day, with 11 and 12 bound to the first processor."""
    table = counted(DAY, {11: FIRST, 12: FIRST, 13: FIRST})
    assert (table["idle_while_waiting_ns"], table["idle_while_waiting_times"]) == (0, 0)


def test_waits_of_a_thread_of_which_nobody_knows_where_it_may_run_are_told_apart() -> None:
    table = counted(DAY, {11: BOTH, 13: FIRST})
    assert table["idle_while_waiting_ns"] == 50 * US
    assert table["unknown_wait_ns"] == 150 * US


def test_who_is_ready_on_an_idle_processor_waits_behind_nobody() -> None:
    table = counted([*START, ready(100, "CPU 0/KVM", 12, 1),
                     switch(180, 1, (*IDLE, "R"), ("CPU 0/KVM", 12))])  # fmt: skip
    assert table["idle_while_waiting_ns"] == 0


def test_who_runs_already_waits_for_nothing_when_it_is_woken() -> None:
    assert counted([*START, ready(100, "busy", 11, 0)])["idle_while_waiting_ns"] == 0


def test_two_threads_have_one_idle_processor_once_and_until_the_window_ends() -> None:
    table = counted([*START, ready(100, "one", 12, 0), ready(200, "two", 13, 0)],
                    {11: BOTH, 12: BOTH, 13: BOTH})  # fmt: skip
    assert (table["idle_while_waiting_ns"], table["idle_while_waiting_times"]) == (900 * US, 1)


def test_a_stretch_goes_on_while_waiting_threads_change_and_a_second_pair_is_one_more() -> None:
    allowed = {11: 0b111, 12: 0b111, 13: 0b111}
    table = counted(
        [
            *START, switch(-10, 2, ("before", 97, "S"), IDLE),
            # One waits from 100, two from 200, one from 300 until the end at 400.
            ready(100, "one", 12, 0), ready(200, "two", 13, 0, "sched_wakeup_new"),
            switch(300, 0, ("busy", 11, "S"), ("one", 12)),
            switch(400, 0, ("one", 12, "S"), ("two", 13)),
        ],
        allowed,
        0b111,
    )  # fmt: skip
    assert table["idle_while_waiting_ns"] == (100 + 2 * 100 + 100) * US
    assert table["idle_while_waiting_times"] == 2


def test_only_what_lies_in_the_window_counts() -> None:
    day = [*START, ready(-5, "CPU 0/KVM", 12, 0), move(995, "CPU 0/KVM", 12, 0, 1),
           move(1000, "CPU 0/KVM", 12, 1, 0), move(1001, "busy", 11, 0, 1)]  # fmt: skip
    table = counted(day)
    assert table["idle_while_waiting_ns"] == 995 * US
    assert table["migrations"] == {"vcpu": 1, "other": 0}


@pytest.mark.parametrize("place", range(3, len(DAY)))
def test_each_event_that_is_gone_is_noticed(place: int) -> None:
    """By what comes after it on its processor."""
    whole = [
        *DAY,
        ready(480, "CPU 0/KVM", 12, 1),
        switch(500, 1, (*IDLE, "R"), ("CPU 0/KVM", 12)),
        switch(600, 0, ("busy", 11, "S"), IDLE),
    ]
    assert counted(whole)["missing"] == 0
    assert counted([one for index, one in enumerate(whole) if index != place])["missing"] > 0


def test_a_processor_that_nobody_saw_before_the_window_is_missing() -> None:
    assert counted(DAY, processors=0b111)["missing"] == 1
    assert counted([])["missing"] == 2


@pytest.mark.parametrize(
    ("usable", "pairs"),
    [([], 0), ([0b10], 1), ([0b10, 0b10], 1), ([0b110, 0b010], 2), ([0b1, 0b1, 0b11], 2),
     ([0b011, 0b001, 0b110], 3)],
)  # fmt: skip
def test_each_idle_processor_takes_one_thread_in_the_best_order(
    usable: list[int], pairs: int
) -> None:
    assert {scheduling.most_pairs(order) for order in itertools.permutations(usable)} == {pairs}


def test_wake_ups_are_counted_by_who_wakes_and_who_is_woken() -> None:
    kinds = {12: "vcpu", 14: "qemu", 15: "iothread"}
    found = scheduling.Scheduling(
        events.Window(SECOND, SECOND + 1000 * US), BOTH, {}, kinds
    )  # fmt: skip
    found.read([
        *START, switch(10, 1, (*IDLE, "R"), ("vhost-77", 16)),
        waking(20, 12, 14), waking(21, 12, 15), waking(22, 15, 12), waking(23, 12, 16),
        waking(24, 12, 14, "d.h2."), waking(25, 11, 0, "dNs3."), waking(26, 11, 11),
        switch(30, 1, ("vhost-77", 16, "S"), ("kworker/u8:1", 17)), waking(31, 11, 17),
        switch(40, 1, ("kworker/u8:1", 17, "S"), ("irq/24-nvme0q1", 18)), waking(41, 11, 18),
        waking(1000, 12, 14),
    ])  # fmt: skip
    wakeups = {name: tuple(of.values()) for name, of in found.table()["wakeups"].items()}
    assert wakeups == {
        "vcpu": (0, 1), "qemu": (1, 0), "iothread": (1, 0), "vhost": (1, 0), "kworker": (0, 1),
        "interrupt": (1, 2), "other": (0, 1),
    }  # fmt: skip


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        (["nonsense\n"], "line 1: not an event as tracefs prints it: 'nonsense"),
        (["CPU:1 [LOST 17 EVENTS]\n"], "line 1: not an event"),
        ([START[1], START[0]], "line 2: its time is before that of the event before it"),
        ([ready(1, "sixteen letters.", 3, 0)], "line 1: not a wake-up"),
        ([move(1, "one", 3, 0, 1).replace("dest", "desk")], "line 1: not a migration"),
        ([line(1, 0, "sched_exit: x")], "line 1: an event that was not asked for"),
        ([line(1, 0, "sched_waking: " + "x" * 500)], "line 1: not an event"),
    ],
)
def test_a_line_that_is_no_such_event_is_refused_by_number(lines: list[str], said: str) -> None:
    with pytest.raises(events.TraceError) as refused:
        counted(lines)
    assert str(refused.value).startswith(said)


# A trace that a real kernel made: two processors, a guest with two of its own, and other programs.


def facts() -> dict[str, Any]:
    told: dict[str, Any] = json.loads(TRACE.with_name("facts.json").read_text())
    for name in ("allowed", "kinds"):
        told[name] = {int(tid): value for tid, value in told[name].items()}
    return told


def of_fixture(text: str | None = None) -> dict[str, Any]:
    told = facts()
    window = events.Window(told["began_ns"], told["ended_ns"])
    found = scheduling.Scheduling(window, told["processors"], told["allowed"], told["kinds"])
    found.read((text or TRACE.read_text()).splitlines(keepends=True))
    table: dict[str, Any] = found.table()
    return table


def stretches_of_two_processors() -> list[tuple[int, bool]]:
    """(begin in ns, whether the one is idle and somebody waits behind the other), told apart by
    a way of its own: who is where after each line.
    """
    told, running, ready_on = facts(), dict[int, int](), dict[int, int]()
    found = []
    for text in TRACE.read_text().splitlines():
        head = re.search(r"\[(\d{3})\] \S+ +(\d+)\.(\d{6}): (\w+): ", text)
        if head is None:
            continue
        cpu, event, numbers = int(head[1]), head[4], re.findall(r"pid=(\d+)", text)
        tid = int(numbers[0])
        if event == "sched_switch":
            ready_on.pop(tid, None)
            if " prev_state=R" in text and tid:
                ready_on[tid] = cpu
            running[cpu] = int(numbers[1])
            ready_on.pop(running[cpu], None)
        elif event.startswith("sched_wakeup") and tid not in running.values():
            ready_on[tid] = int(text.rpartition("target_cpu=")[2])
        elif event == "sched_migrate_task" and tid in ready_on:
            ready_on[tid] = int(text.rpartition("dest_cpu=")[2])
        waste = any(
            running.get(at)
            and running.get(1 - at) == 0
            and told["allowed"].get(one, 0) >> 1 - at & 1
            for one, at in ready_on.items()
        )
        found.append((int(head[2]) * 10**9 + int(head[3]) * US, waste))
    return [*found, (told["ended_ns"], False)]


def test_a_real_trace_says_the_same_by_another_way_of_reading_it() -> None:
    table, told = of_fixture(), facts()
    wasted = sum(
        max(0, min(after, told["ended_ns"]) - max(at, told["began_ns"]))
        for (at, waste), (after, _) in itertools.pairwise(stretches_of_two_processors())
        if waste
    )
    assert table["idle_while_waiting_ns"] == wasted > 0
    assert (table["missing"], table["idle_while_waiting_times"]) == (0, 5)
    text = "".join(
        one for one in TRACE.read_text().splitlines(keepends=True)
        if (at := re.search(r" (\d+)\.(\d{6}): ", one))
        and told["began_ns"] <= int(at[1]) * 10**9 + int(at[2]) * US < told["ended_ns"]
    )  # fmt: skip
    assert sum(table["migrations"].values()) == text.count("sched_migrate_task:") > 0
    by_interrupt = len(re.findall(r"\] ..[hsHzZ]\S+ +[\d.]+: sched_waking:", text))
    assert sum(table["wakeups"]["interrupt"].values()) == by_interrupt > 0
    woken = sum(sum(of.values()) for of in table["wakeups"].values())
    assert woken == text.count("sched_waking:")
    assert table["wakeups"]["vcpu"]["of_others"] > 0
    assert table["wakeups"]["other"]["of_vcpus"] > 0


def test_a_switch_that_is_gone_of_a_real_trace_is_noticed_wherever_it_was() -> None:
    lines = TRACE.read_text().splitlines(keepends=True)
    within = [index for index, one in enumerate(lines) if " 1558.74" in one and "_switch" in one]
    assert len(within) > 5
    for gone in within:
        assert of_fixture("".join(lines[:gone] + lines[gone + 1 :]))["missing"] > 0


# Recording on this machine.

STATS = """\
entries: 1222
overrun: 3
commit overrun: 0
bytes: 65576
oldest event ts:   830.544076
now ts:   832.565227
dropped events: 4
read events: 0
"""


def test_losses_are_all_that_did_not_fit(tmp_path: Path) -> None:
    (tmp_path / "stats").write_text(STATS)
    assert recordings.losses(tmp_path / "stats") == 7


@pytest.mark.parametrize(("text", "bits"), [("0\n", 1), ("0-3,5\n", 0b101111), ("2,4-5", 0b110100)])
def test_the_kernel_s_list_of_processors_is_read(text: str, bits: int) -> None:
    assert recordings.online(text) == bits


def test_threads_may_run_where_the_kernel_says() -> None:
    own = recordings.allowed_processors()[os.getpid()]
    assert {cpu for cpu in range(own.bit_length()) if own >> cpu & 1} == os.sched_getaffinity(0)


def test_a_host_without_tracefs_is_told_to_trace_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(recordings, "TRACEFS", tmp_path)
    monkeypatch.setattr(recordings, "mounted", lambda *_: None)
    with pytest.raises(desktop.contract.CaseError, match="say trace: without"):
        recordings.Recording()


def test_this_kernel_s_events_are_recorded_and_nothing_is_left_of_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(recordings, "BUFFER_KB", 1024)
    try:
        recording = recordings.Recording()
    except desktop.contract.CaseError as error:
        pytest.skip(str(error))
    try:
        recording.begin()
        subprocess.run(["true"], check=True)
        recording.end()
        table = recording.table({})
    finally:
        recording.close()
    assert not recording._instance.exists()
    assert table["window_ns"] == recording.ended_ns - recording.began_ns
    assert table["events"] > 0
    assert sum(sum(of.values()) for of in table["wakeups"].values()) > 0


# What the parser makes of it.


@pytest.fixture
def traced(tmp_path: Path) -> Path:
    """The recorded pass, with the real trace as its own."""
    case = shutil.copytree(WORKLOAD / "fixtures/three-light", tmp_path / "case")
    edit(case / "case.json", lambda said: said["parameters"].update(trace="sched"))
    edit(case / "iteration-01.json", lambda done: done.update(sched={"lost": 0, **of_fixture()}))
    reseal(case)
    return case


def test_a_whole_trace_gives_metrics_and_wake_ups_by_source(traced: Path) -> None:
    result, sched = parsing.parse(traced), of_fixture()
    seconds = sched["window_ns"] / 1e9
    values = {name: metric["values"][0] for name, metric in result["metrics"].items()}
    assert set(values) == set(Catalog().workloads["desktop"].metrics_of(result["parameters"]))
    assert values["other_migrations"] == sched["migrations"]["other"] / seconds
    assert values["vcpu_migrations"] == 0
    assert values["idle_while_waiting_rate"] == 5 / seconds
    share = 100 * sched["idle_while_waiting_ns"] / (2 * sched["window_ns"])
    assert values["idle_while_waiting"] == pytest.approx(share)
    [told] = result["details"]
    wakers = told["breakdowns"]["wakers"]
    assert list(wakers) == list(scheduling.SOURCES)
    assert wakers["other"]["vcpu_wakeups_hz"] == pytest.approx(2 / seconds)
    assert told["breakdowns"]["phases"]["steady"]["lost_events"] == 0
    assert told["breakdowns"]["phases"]["ramp"]["lost_events"] is None


@pytest.mark.parametrize("sched", [{"lost": 5}, {"lost": 0, **of_fixture(), "missing": 5}])
def test_lost_events_are_said_and_nothing_is_made_of_the_rest(
    traced: Path, sched: dict[str, Any]
) -> None:
    edit(traced / "iteration-01.json", lambda done: done.update(sched=sched))
    reseal(traced)
    result = parsing.parse(traced)
    assert not {"vcpu_migrations", "idle_while_waiting"} & set(result["metrics"])
    [told] = result["details"]
    assert told["breakdowns"]["phases"]["steady"]["lost_events"] == 5
    assert told["breakdowns"]["wakers"] == {}


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"window_ns": 1 << 50}, "window_ns: longer than the phase"),
        ({"idle_while_waiting_ns": 1 << 50}, "idle_while_waiting_ns:"),
        ({"idle_while_waiting_times": 0}, "in 0 times"),
        ({"migrations": {"vcpu": 1 << 40, "other": 0}}, "events: fewer than"),
        ({"wakeups": {}}, "wakeups.vcpu.of_vcpus: missing"),
        ({"missing": None}, "missing: None is not int"),
        ({"lost": -1}, "lost: not from 0"),
    ],
)
def test_a_trace_that_cannot_be_is_refused(traced: Path, change: dict[str, Any], said: str) -> None:
    edit(traced / "iteration-01.json", lambda done: done["sched"].update(change))
    reseal(traced)
    with pytest.raises(parsing.ParseError, match=re.escape(said)):
        parsing.parse(traced)


def test_a_trace_that_nobody_asked_for_is_refused(traced: Path) -> None:
    edit(traced / "case.json", lambda said: said["parameters"].pop("trace"))
    with pytest.raises(parsing.ParseError, match="sched: not as the case's trace asks"):
        parsing.parse(traced)


# Power, in the words of ipmitool 1.8.19.

READING = """
    Instantaneous power reading:                   220 Watts
    Minimum during sampling period:                 11 Watts
    Maximum during sampling period:                391 Watts
    Average power reading over sample period:      226 Watts
    IPMI timestamp:                           11/18/26 11:06:40 UTC    Sampling period:                          00000001 Seconds.
    Power reading state is:                   activated


"""  # noqa: E501  # as it prints it
NO_COMMAND = "\n    DCMI request failed because: Invalid command (c1)\n"
NO_DEVICE = (
    "Could not open device at /dev/ipmi0 or /dev/ipmi/0 or /dev/ipmidev/0: "
    "No such file or directory\n"
)


def test_the_watts_of_now_are_read() -> None:
    assert bmc.watts_of(READING) == 220


@pytest.mark.parametrize(
    ("said", "why"),
    [
        (READING.replace("activated", "deactivated"), "its power reading is deactivated"),
        (READING.replace("220 W", "  0 W"), "it tells 0 W"),
        (READING.replace("Instantaneous", "Late"), "ipmitool said '"),
        (READING[:60], "ipmitool said '"),
        ("", "ipmitool said ''"),
    ],
)
def test_words_without_a_reading_are_no_figure(said: str, why: str) -> None:
    with pytest.raises(bmc.NoReading, match=re.escape(why)):
        bmc.watts_of(said)


@pytest.fixture
def ipmitool(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A program in its place that says what the test has it say, and fails where it says so."""
    program = tmp_path / "ipmitool"
    program.write_text(
        f'#!/bin/sh\n[ "$*" = "{" ".join(bmc.COMMAND[1:])}" ] || exit 9\n'
        f"cat {tmp_path}/said\ncat {tmp_path}/error >&2\n[ ! -s {tmp_path}/error ]\n"
    )
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    for name in ("said", "error"):
        (tmp_path / name).write_text("")
    return tmp_path


@pytest.mark.parametrize("error", [NO_COMMAND, NO_DEVICE])
def test_a_host_whose_bmc_tells_no_power_refuses_the_case(ipmitool: Path, error: str) -> None:
    (ipmitool / "error").write_text(error)
    with pytest.raises(desktop.contract.CaseError) as refused:
        bmc.require_bmc()
    assert error.strip() in str(refused.value)
    assert "say power: without" in str(refused.value)


def test_a_host_without_ipmitool_is_told_to_install_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(desktop.contract.CaseError, match="apt install ipmitool"):
        bmc.require_bmc()


def test_readings_are_taken_until_the_end(ipmitool: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (ipmitool / "said").write_text(READING)
    monkeypatch.setattr(bmc, "EVERY_S", 0.0)
    readings = bmc.Readings()
    readings.start()
    while len(readings.since(0.0)) < 3:
        (ipmitool / "error").write_text("")
    readings.end()
    taken = readings.since(0.0)
    assert {reading["watts"] for reading in taken} == {220}
    assert [one["at"] for one in taken] == sorted(one["at"] for one in taken)
    assert len(readings.since(0.0)) == len(taken)


def powered(tmp_path: Path, readings: list[dict[str, Any]]) -> Path:
    case = shutil.copytree(WORKLOAD / "fixtures/three-light", tmp_path / "case")
    edit(case / "case.json", lambda said: said["parameters"].update(power="bmc"))
    edit(case / "iteration-01.json", lambda done: done.update(bmc=readings))
    reseal(case)
    return case


def test_power_is_the_mean_of_readings_under_full_load(tmp_path: Path) -> None:
    """The steady phase is from 32.7 to 80.8 s."""
    readings = [{"at": 5.0, "watts": 90}, {"at": 40.0, "watts": 200}, {"at": 41.0, "watts": 211}]
    result = parsing.parse(powered(tmp_path, readings))
    assert result["metrics"]["host_power"]["values"] == [205.5]
    phases = result["details"][0]["breakdowns"]["phases"]
    assert [phases[name]["host_power_w"] for name in phases] == [90, None, 205.5]
    assert "power" not in result["metrics"]


@pytest.mark.parametrize(
    ("readings", "said"),
    [
        ([{"at": 5.0, "watts": 90}], "bmc: no reading under full load"),
        ([{"at": 5.0, "watts": 0}], "watts: not from 1"),
        ([{"at": 5.0, "watts": 9}, {"at": 4.0, "watts": 9}], "before the reading before it"),
        ([7], "bmc[0]: no object"),
    ],
)
def test_readings_that_cannot_be_are_refused(tmp_path: Path, readings: Any, said: str) -> None:
    with pytest.raises(parsing.ParseError, match=re.escape(said)):
        parsing.parse(powered(tmp_path, readings))
