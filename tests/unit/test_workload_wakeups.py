"""wakeups: scheduler events to counts by name, the ring that makes them, and what is refused."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from mitigauge.analysis.profiles.store.normalise import rules
from mitigauge.core.settings import REPOSITORY
from mitigauge.measurement.catalog import Catalog
from tests.loading import load
from tests.workload_cases import edit, refused_of_300

WORKLOAD = REPOSITORY / "workloads/wakeups"
FIXTURES = sorted(path.parent for path in WORKLOAD.glob("fixtures/*/case.json"))
wakeups = load("workloads/wakeups/run")
parsing = load("workloads/wakeups/parse.py")
# As `run` and the parser know it.
sched_trace = sys.modules["sched_trace"]
names = sys.modules["_kit.thread_names"]
US = 1000


@pytest.fixture
def case_dir(tmp_path: Path) -> Path:
    """A copy of a real case to break."""
    return shutil.copytree(WORKLOAD / "fixtures/eventfd", tmp_path / "case")


def line(at_us: int, cpu: int, event: str) -> str:
    """An event as perf prints it, `at_us` after the second 100."""
    return f"  123 [{cpu:03}]   100.{at_us * US:09}: {event}\n"


def wake(at_us: int, name: str, pid: int, cpu: int = 0) -> str:
    return line(
        at_us, cpu, f"sched:sched_wakeup: comm={name} pid={pid} prio=120 target_cpu={cpu:03}"
    )


def switch(at_us: int, leaving: tuple[str, int, str], coming: tuple[str, int], cpu: int = 0) -> str:
    return line(
        at_us, cpu,
        f"sched:sched_switch: prev_comm={leaving[0]} prev_pid={leaving[1]} prev_prio=120 "
        f"prev_state={leaving[2]} ==> next_comm={coming[0]} next_pid={coming[1]} next_prio=120",
    )  # fmt: skip


def counted(lines: list[str], began_us: int = 0, ended_us: int = 1000, cpu: int = 0) -> Any:
    """The table of these events."""
    second = 100 * 1_000_000_000
    trace = sched_trace.Trace(
        sched_trace.Window(second + began_us * US, second + ended_us * US), cpu
    )
    trace.read(lines)
    return trace.table()


def row(table: dict[str, Any], name: str) -> dict[str, Any]:
    [found] = [one for one in table["names"] if one["name"] == name]
    return dict(found)


IDLE = ("swapper/0", 0)
PING_PONG = [
    wake(10, "ring-1", 11),
    switch(15, (*IDLE, "R"), ("ring-1", 11)),
    wake(20, "ring-2", 12),
    switch(30, ("ring-1", 11, "S"), ("ring-2", 12)),
    wake(50, "ring-1", 11),
    switch(90, ("ring-2", 12, "S"), ("ring-1", 11)),
    switch(100, ("ring-1", 11, "S"), IDLE),
]


def test_a_wait_is_from_the_wake_up_to_the_switch_and_a_run_from_switch_to_switch() -> None:
    table = counted(PING_PONG)
    assert row(table, "ring-*") == {
        "name": "ring-*", "threads": 2, "wakeups": 3, "waits": 3, "wait_ns": (5 + 10 + 40) * US,
        "switches": 3, "run_ns": 85 * US, "preempted_ns": 0,
    }  # fmt: skip
    assert table["idle_ns"] == (15 + 900) * US
    assert (table["events"], table["gaps"], table["unknown_ns"]) == (7, 0, 0)


def test_only_what_lies_in_the_window_counts() -> None:
    table = counted(PING_PONG, began_us=25, ended_us=60)
    # The wake-up at 50 counts with the whole of its wait, though that ends at 90.
    assert row(table, "ring-*") == {
        "name": "ring-*", "threads": 2, "wakeups": 1, "waits": 1, "wait_ns": 40 * US,
        "switches": 1, "run_ns": 35 * US, "preempted_ns": 0,
    }  # fmt: skip
    assert table["idle_ns"] == 0


def test_one_that_is_set_aside_does_not_wait_for_a_wake_up() -> None:
    table = counted([
        switch(0, (*IDLE, "R"), ("busy", 5)),
        switch(10, ("busy", 5, "R+"), ("other", 6)),
        # It is ready already, so this changes nothing of its waiting.
        wake(12, "busy", 5),
        switch(30, ("other", 6, "S"), ("busy", 5)),
    ])  # fmt: skip
    busy = row(table, "busy")
    assert (busy["preempted_ns"], busy["waits"], busy["wakeups"]) == (20 * US, 0, 1)
    # What runs at the end runs to the end of the window.
    assert busy["run_ns"] == (10 + 970) * US


def test_names_that_differ_by_number_are_counted_together_whatever_they_hold() -> None:
    strange = "x pid=1 prio=1"
    table = counted([
        switch(0, (*IDLE, "R"), ("CPU 3/KVM", 31)),
        wake(5, strange, 40),
        switch(10, ("CPU 3/KVM", 31, "S"), (strange, 40)),
        switch(20, (strange, 40, "S"), ("CPU 11/KVM", 32)),
        switch(30, ("CPU 11/KVM", 32, "S"), ("vhost-1234", 50)),
        switch(31, ("vhost-1234", 50, "S"), ("a==> b\rc", 60)),
    ])  # fmt: skip
    assert [one["name"] for one in table["names"]] == ["a==> b\rc", "CPU */KVM", strange, "vhost-*"]
    assert row(table, "CPU */KVM")["threads"] == 2
    assert row(table, "CPU */KVM")["run_ns"] == 20 * US
    assert row(table, strange)["wait_ns"] == 5 * US


def test_the_same_events_as_libtraceevent_s_plug_in_prints_them_count_the_same() -> None:
    short = [
        line(10, 0, "sched:sched_wakeup: ring-1:11 [120] CPU:000"),
        line(15, 0, "sched:sched_switch: swapper/0:0 [120] R ==> ring-1:11 [120]"),
        line(20, 0, "sched:sched_wakeup: ring-2:12 [120]<OK> CPU:000"),
        line(30, 0, "sched:sched_switch: ring-1:11 [120] S ==> ring-2:12 [120]"),
    ]
    assert counted(short) == counted(PING_PONG[:4])


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        (["nonsense\n"], "line 1: neither a wake-up nor a switch: 'nonsense"),
        (["  0 [000] 1.000000000: PERF_RECORD_LOST lost 17\n"], "line 1: events were lost"),
        ([PING_PONG[1], PING_PONG[0]], "line 2: its time is before that of the event before it"),
        ([PING_PONG[0].replace("pid=", "pit=")], "line 1: not a wake-up as the kernel prints it"),
        ([PING_PONG[1].replace("==>", "=>")], "line 1: not a switch as the kernel prints it"),
        ([wake(1, "sixteen letters.", 3)], "line 1: not a wake-up"),
        ([wake(1, "x" * 500, 3)], "line 1: too long for an event"),
        ([PING_PONG[0][:-9]], "line 1: not a wake-up"),
    ],
)
def test_a_line_that_is_no_such_event_is_refused_by_number(lines: list[str], said: str) -> None:
    with pytest.raises(sched_trace.TraceError) as refused:
        counted(lines)
    assert str(refused.value).startswith(said)


# Thread 7 came to the processor unseen, between 40 and 60.
GAP = [
    switch(10, (*IDLE, "R"), ("ring-1", 11)),
    switch(40, ("ring-1", 11, "S"), ("ring-2", 12)),
    switch(60, ("kworker/0:1", 7, "I"), ("ring-1", 11)),
]


def test_time_before_a_missing_event_is_nobody_s_and_the_gap_is_told() -> None:
    table = counted(GAP, ended_us=100)
    assert (table["gaps"], table["gaps_elsewhere"], table["unknown_ns"]) == (1, 0, 20 * US)
    used = table["total"]["run_ns"] + table["idle_ns"] + table["unknown_ns"]
    assert used == 100 * US
    assert counted(GAP, cpu=1)["gaps_elsewhere"] == 1


def test_what_is_missing_outside_the_window_is_no_gap() -> None:
    assert counted(GAP, ended_us=40)["gaps"] == 0
    assert counted(GAP, began_us=60)["gaps"] == 0


def test_too_many_gaps_fail_the_iteration() -> None:
    table = {"gaps": 3, "names": [{"name": "ring-*", "switches": 2999}]}
    with pytest.raises(wakeups.CaseError, match="3 events are missing beside 2999 switches"):
        wakeups.refuse_gaps(table)
    wakeups.refuse_gaps({**table, "gaps": 2})


def test_many_names_do_not_take_our_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sched_trace, "MOST_NAMES", 3)
    with pytest.raises(sched_trace.TraceError, match="more than 3 names of threads"):
        counted([wake(number, f"n{number}", number + 1) for number in range(5)])


NAMES = [
    "CPU 3/KVM", "CPU 0/TCG", "vhost-1234", "handler12", "revalidator7", "kworker/0:1H-kblockd",
    "kworker/u8:3", "swapper/1", "ksoftirqd/0", "migration/3", "cpuhp/2", "irq/24-pciehp",
    "rcuos/3", "rcuop/12", "worker-5", "IO mon_iothread", "kvm-nx-lpage-re", "kvm-pit/99", "bash",
    "handler", "CPU 3/XYZ", "ring", "rcu_preempt",
]  # fmt: skip


@pytest.mark.parametrize("name", NAMES)
def test_names_are_merged_as_the_profiles_do_it(name: str) -> None:
    in_a_profile = rules().thread(name.replace(" ", "_"))
    assert names.merged(name).replace(" ", "_") == in_a_profile


def test_there_is_a_rule_for_each_of_the_profiles() -> None:
    of_profiles = [rule for rule in rules().rules if rule.of == "thread"]
    assert len(names.RULES) == len(of_profiles) + 1
    assert names.merged("ring-17") == "ring-*"


@pytest.mark.parametrize("directory", FIXTURES, ids=lambda path: path.name)
def test_a_real_case_gives_rate_wait_and_share_of_the_ring(directory: Path) -> None:
    declared = Catalog().workloads["wakeups"].metrics
    result = parsing.parse(directory)
    case = json.loads((directory / "case.json").read_text())
    assert set(result["metrics"]) == set(declared)
    for name, metric in result["metrics"].items():
        assert (metric["unit"], metric["direction"]) == (
            declared[name].unit, declared[name].direction,
        )  # fmt: skip
        assert (len(metric["values"]), len(metric["warmup"])) == (
            case["iterations"], case["warmup"],
        )  # fmt: skip
        assert min(metric["values"]) > 0
    warmup = json.loads((directory / "warmup-01.json").read_text())
    ring = row(warmup, "ring-*")
    metrics = {name: metric["warmup"][0] for name, metric in result["metrics"].items()}
    assert metrics["wakeups"] == ring["wakeups"] / (warmup["window_ns"] / 1e9)
    assert metrics["wait"] == ring["wait_ns"] / ring["waits"] / 1000
    assert metrics["run_share"] == 100 * ring["run_ns"] / warmup["window_ns"]
    parameters = case["parameters"]
    assert result["operations"] == parameters["tasks"] * parameters["rounds"] * case["iterations"]


def of_ring(**changes: int) -> Callable[[dict[str, Any]], None]:
    """Changes the ring's counts, and the sums with them."""

    def change(told: dict[str, Any]) -> None:
        [ring] = [one for one in told["names"] if one["name"] == "ring-*"]
        for key, value in changes.items():
            told["total"][key] += value - ring[key]
            ring[key] = value

    return change


WRONG: list[tuple[Callable[[dict[str, Any]], object], str]] = [
    (lambda told: told.update(passes=1), "passes: 1, but the case asked 720"),
    (lambda told: told.update(window_ns=1), "window_ns: 1 is not the time from began to ended"),
    (lambda told: told["total"].update(wakeups=1), "total.wakeups: 1, but the names' is"),
    (lambda told: told["names"][0].update(wait_ns=1.5), "wait_ns: 1.5 is not int"),
    (lambda told: told["names"][0].update(wait_ns=-1), "wait_ns: not from 0"),
    (lambda told: told["names"].append(told["names"][0]), "found twice"),
    (lambda told: told["names"][-1].update(name="x" * 201), "or too long"),
    (lambda told: told["names"].append(3), "holds no JSON object"),
    (lambda told: told.update(names=[]), "total.threads:"),
    (lambda told: told.update(gaps=100), "gaps: too many events are missing"),
    (of_ring(threads=11), "ring-*: 11 threads, but the case has 12"),
    (of_ring(wakeups=5000), "ring-*: wakeups: more than 720 tokens explain"),
    (of_ring(waits=0), "ring-*: waits: 0 of"),
    (of_ring(switches=1), "ring-*: waits: more than 1 switches explain"),
    (of_ring(run_ns=1 << 50), "is more than all processors have"),
    (of_ring(run_ns=0), "ring-*: run_ns: 0 in"),
]


@pytest.mark.parametrize(("change", "said"), WRONG, ids=[said for _, said in WRONG])
def test_what_cannot_be_true_is_refused_by_file_and_field(
    case_dir: Path, change: Callable[[dict[str, Any]], object], said: str
) -> None:
    edit(case_dir / "warmup-01.json", change)
    with pytest.raises(parsing.ParseError) as refused:
        parsing.parse(case_dir)
    assert str(refused.value).startswith("warmup-01.json: ")
    assert said in str(refused.value)


def test_a_host_on_which_the_ring_was_not_seen_gives_nothing(case_dir: Path) -> None:
    path = case_dir / "warmup-01.json"
    path.write_text(path.read_text().replace("ring-*", "gnir-*"))
    with pytest.raises(parsing.ParseError, match=r"^warmup-01.json: names: ring-\* is missing$"):
        parsing.parse(case_dir)


@pytest.mark.parametrize("name", ["case.json", "run.json", "warmup-01.json", "iteration-01.json"])
def test_a_missing_file_is_named(case_dir: Path, name: str) -> None:
    (case_dir / name).unlink()
    with pytest.raises(parsing.ParseError, match=f"^{name}: missing$"):
        parsing.parse(case_dir)


def test_changed_output_is_refused_or_gives_the_same_numbers(case_dir: Path) -> None:
    """The short form of `make fuzz`, which does ten thousand (tests/fuzz/workloads.py)."""
    assert refused_of_300(parsing, case_dir, "warmup-01.json") > 150


def run(directory: Path, parameters: dict[str, Any], **environment: str) -> Any:
    path = directory / "in.json"
    path.write_text(
        json.dumps({"case_id": "c", "workload": "wakeups", "parameters": parameters,
                    "iterations": 2, "warmup": 1, "timeout_s": 60})
    )  # fmt: skip
    return subprocess.run(
        [WORKLOAD / "run", path, directory / "out"], check=False, capture_output=True, text=True,
        env={**os.environ, "MITIGAUGE_CLOCK": "counted", **environment}, timeout=120,
    )  # fmt: skip


@pytest.mark.parametrize("through", wakeups.THROUGH)
@pytest.mark.parametrize(("tasks", "tokens"), [(2, 1), (2, 2), (5, 3), (16, 16)])
def test_each_task_takes_as_many_tokens_as_there_are_rounds_and_all_end(
    tmp_path: Path, through: str, tasks: int, tokens: int
) -> None:
    told = tmp_path / "load.json"
    cpu = str(min(os.sched_getaffinity(0)))
    subprocess.run(
        [sys.executable, WORKLOAD / "ring.py", through, str(tasks), str(tokens), "50", cpu, told],
        check=True, timeout=60,
    )  # fmt: skip
    load = json.loads(told.read_text())
    assert load["passes"] == tasks * 50
    assert load["ended_ns"] > load["began_ns"]


def can_trace() -> bool:
    """Whether perf may record the scheduler's events here."""
    if shutil.which("perf") is None:
        return False
    events = [word for event in wakeups.EVENTS for word in ("-e", event)]
    done = subprocess.run(
        ["perf", "record", "-q", "-a", *events, "-o", "/dev/null", "--", "true"],
        check=False, capture_output=True, timeout=60,
    )  # fmt: skip
    return done.returncode == 0


def test_the_real_perf_sees_the_ring_s_wake_ups(tmp_path: Path) -> None:
    if not can_trace():
        pytest.skip("perf may not record the scheduler's events here")
    cpu = str(min(os.sched_getaffinity(0)))
    done = run(tmp_path, {"tasks": 4, "tokens": 1, "rounds": 200}, MITIGAUGE_CPU=cpu)
    if "this kernel loses events of some threads" in done.stderr:
        pytest.skip(done.stderr)
    assert (done.returncode, done.stderr) == (0, "")
    result = parsing.parse(tmp_path / "out")
    told = json.loads((tmp_path / "out/iteration-01.json").read_text())
    # With one token every pass wakes the next task, unless that one was preempted by something
    # else before it could sleep: on a busy machine some are.
    assert 0.5 * told["passes"] < row(told, "ring-*")["wakeups"] < 1.5 * told["passes"]
    assert len(result["metrics"]["wakeups"]["values"]) == 2
    assert not list(wakeups.MEMORY.glob("mitigauge-wakeups-*"))


@pytest.mark.parametrize(
    ("parameters", "environment", "said"),
    [
        ({"through": "signal"}, {}, "through is 'signal', not one of: pipe, eventfd, socket"),
        ({"tasks": 1}, {}, "tasks is 1, not a whole number from 2 to 256"),
        ({"tasks": 4, "tokens": 5}, {}, "tokens is 5, not a whole number from 1 to 4"),
        ({"rounds": 9}, {}, "rounds is 9"),
        ({}, {"MITIGAUGE_CPU": "9999"}, "MITIGAUGE_CPU is '9999'"),
        ({}, {"PATH": "/nonexistent"}, "apt install linux-perf"),
    ],
)
def test_what_cannot_run_says_why(
    tmp_path: Path, parameters: dict[str, Any], environment: dict[str, str], said: str
) -> None:
    done = run(tmp_path, parameters, **environment)
    assert done.returncode == 1
    assert said in done.stderr
