"""How often this machine's kernel does what mitigations wait for: by /proc, and by perf.

/proc/stat and /proc/vmstat are the whole machine's, in a container too; what only tracepoints tell
is counted by `perf stat -a`, which root may do. Documentation: proc_stat(5), perf-stat(1), *CSV
FORMAT*; include/trace/events/tlb.h for the reason of a flush.
"""

from __future__ import annotations

import os
import re
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from mitigauge.analysis.prices.kernel_events import KernelEvent, Rate, counted_rate
from mitigauge.core.hostile_text import clean_text

PROC = Path("/proc")
SYS = Path("/sys")
VULNERABILITIES = "devices/system/cpu/vulnerabilities"
# PROC_PID_INIT_INO of include/linux/proc_ns.h: the namespace of the machine's own processes.
FIRST_PID_NAMESPACE = "pid:[4026531836]"
LARGEST_FILE = 1 << 20
MOST_TASKS = 100_000
PERF_LIMIT_S = 30.0
STEP_S = 1.0
# Calls of a loop that tells what counting adds to one; the least of so many turns.
CALLS, TURNS = 20_000, 9
COUNTING_S = 0.4
# In what perf says where it may not count.
NO_RIGHT = ("ermission", "Access to performance monitoring")

SWITCHES = "tlb:tlb_flush"
CALLS_EVENT = "raw_syscalls:sys_enter"
# Tracepoint → what it counts. A flush with reason 0 is a switch to another address space.
TRACEPOINTS = {
    CALLS_EVENT: KernelEvent.SYSTEM_CALL,
    SWITCHES: KernelEvent.ADDRESS_SPACE_SWITCH,
    "exceptions:page_fault_user": KernelEvent.USER_FAULT,
    "kvm:kvm_exit": KernelEvent.GUEST_EXIT,
    "kvm:kvm_userspace_exit": KernelEvent.GUEST_EXIT_TO_USER,
}
# Words of /proc/PID/status (fs/proc/array.c) by which a task has asked for a control.
CONTROLS = {
    "SpeculationIndirectBranch": ("conditional disabled", "conditional force disabled"),
    "Speculation_Store_Bypass": ("thread mitigated", "thread force mitigated"),
}
_COUNT = re.compile(r"(\d{1,19}),[^,]{0,20},([\w:-]{1,60}),")
_SWITCHES = re.compile(r"^(?:non)?voluntary_ctxt_switches:\s*(\d{1,19})$", re.MULTILINE)

Progress = Callable[[int, int], None]


@dataclass(frozen=True, slots=True)
class Reading:
    """/proc at one time. Counts are since the boot; None: not told."""

    at: float
    counts: dict[KernelEvent, int]
    user_s: float
    system_s: float
    """With interrupts."""
    controlled: dict[str, dict[str, int]]
    """By control of :data:`CONTROLS` the switches of each task that has it."""


@dataclass(frozen=True, slots=True)
class Counted:
    """All that was read and counted over some seconds."""

    before: Reading
    after: Reading
    perf: Mapping[KernelEvent, float]
    """Events a second."""
    why_not: str = ""
    """Why perf counted nothing."""
    overhead_ns: float = 0.0
    """What counting adds to a system call."""
    sees_all: bool = True
    """Whether /proc has the processes of the whole machine."""
    has_kvm: bool = True

    @property
    def seconds(self) -> float:
        """Between both readings."""
        return self.after.at - self.before.at

    @property
    def user(self) -> float:
        """Processors in user space, on average."""
        return (self.after.user_s - self.before.user_s) / self.seconds

    @property
    def system(self) -> float:
        """Processors in the kernel, on average."""
        return (self.after.system_s - self.before.system_s) / self.seconds

    @property
    def most_system(self) -> float:
        """Processors in the kernel, at most: times are told in whole ticks."""
        return self.system + 1 / os.sysconf("SC_CLK_TCK") / self.seconds


def read_vulnerabilities(root: Path = SYS) -> dict[str, str]:
    """Texts of the kernel's files by name; empty where it has none."""
    files = sorted((root / VULNERABILITIES).glob("*"))
    texts = {file.name: _text(file).strip() for file in files}
    return {name: text for name, text in texts.items() if text}


def count_events(
    seconds: float, progress: Progress, *, proc: Path = PROC, root: Path = SYS
) -> Counted:
    """Count on the whole machine for *seconds*; *progress* gets seconds gone, of how many."""
    events, why_not = _countable()
    overhead_ns = _counting_ns() if CALLS_EVENT in events else 0.0
    with tempfile.TemporaryDirectory(prefix="mitigauge-cost-") as folder:
        output = Path(folder) / "counts.csv"
        perf = _begin_perf(events, output, seconds) if events else None
        before = read_proc(proc)
        _wait(before.at, seconds, progress)
        after = read_proc(proc)
        if perf is not None:
            why_not = _end_perf(perf)
        rates = rates_per_s(_text(output))
    if not rates:
        why_not = why_not or "it counted nothing"
    has_kvm = (root / "module" / "kvm").exists()
    return Counted(before, after, rates, why_not, overhead_ns, sees_all_tasks(proc), has_kvm)


def rates_of(of: Counted, call_ns: float = 0.0) -> dict[KernelEvent, Rate]:
    """Rates in events a second of the whole machine.

    *call_ns*: the least that a system call takes here, which bounds those that nothing counts; 0:
    not known.
    """
    why_not = f"perf counts them not: {of.why_not or 'it does not know the event'}"
    rates = dict(_of_proc(of.before, of.after, of.seconds))
    rates |= {event: counted_rate(rate, "perf stat -a") for event, rate in of.perf.items()}
    calls = of.perf.get(KernelEvent.SYSTEM_CALL)
    rates[KernelEvent.SYSTEM_CALL] = (
        _bounded_calls(why_not, of.most_system, call_ns)
        if calls is None
        else _with_overhead(calls, of.overhead_ns, of.user + of.system)
    )
    _add_bounds(rates, of.user / (of.user + of.system) if of.user else 0.0, why_not)
    for event in (KernelEvent.GUEST_EXIT, KernelEvent.GUEST_EXIT_TO_USER):
        if not of.has_kvm:
            rates[event] = counted_rate(0.0, "no KVM in the kernel")
        rates.setdefault(event, Rate(why=f"exits of guests: {why_not}"))
    return rates | dict(_controlled_rates(of, rates))


def notes_of(of: Counted) -> list[str]:
    """What a reader must know of the rates."""
    notes = [] if of.perf else [f"perf counts nothing: {of.why_not}"]
    if not of.sees_all:
        notes.append(
            "in a container, or without the right to see all processes: rates are those of the "
            "whole machine, controls by prctl those of the processes that are seen"
        )
    return notes


def _of_proc(before: Reading, after: Reading, seconds: float) -> Iterator[tuple[KernelEvent, Rate]]:
    for event, count in after.counts.items():
        if event not in before.counts:
            continue
        more = count - before.counts[event]
        if more < 0:
            yield event, Rate(why=f"{event}: its counter in /proc went back")
        else:
            yield event, counted_rate(more / seconds, "/proc")


def _with_overhead(counted: float, overhead_ns: float, busy: float) -> Rate:
    """What is counted, and what would be if counting took no time of busy processors.

    Work that waits for nothing is slowed by it, paced work is not; so the truth lies between.
    """
    share = min(0.5, counted * overhead_ns * 1e-9 / busy) if busy > 0 else 0.0
    high = counted / (1 - share)
    return Rate(value=(counted + high) / 2, low=counted, high=high, source="perf stat -a")


def _bounded_calls(why: str, system: float, call_ns: float) -> Rate:
    """*system*: processors' time in the kernel, a second a second."""
    why = f"system calls: {why}"
    if call_ns <= 0:
        return Rate(why=why)
    most = system * 1e9 / call_ns
    return Rate(high=most, source="/proc", why=f"{why}; at most what its time in the kernel allows")


def _add_bounds(rates: dict[KernelEvent, Rate], user_share: float, why_not: str) -> None:
    """What /proc only bounds."""
    bounds = (
        (KernelEvent.USER_FAULT, KernelEvent.PAGE_FAULT, "faults of user space"),
        (KernelEvent.ADDRESS_SPACE_SWITCH, KernelEvent.CONTEXT_SWITCH, "other address spaces"),
    )
    for event, all_of_them, what in bounds:
        bound = rates.get(all_of_them, Rate())
        rates.setdefault(
            event, Rate(high=bound.high, source=bound.source, why=f"{what}: {why_not}")
        )
    interrupts = rates.get(KernelEvent.INTERRUPT, Rate(why="interrupts: /proc/stat lacks them"))
    value = None if interrupts.value is None else interrupts.value * user_share
    rates[KernelEvent.USER_INTERRUPT] = interrupts.model_copy(update={"low": 0.0, "value": value})


def _controlled_rates(
    of: Counted, rates: Mapping[KernelEvent, Rate]
) -> Iterator[tuple[KernelEvent, Rate]]:
    most = rates[KernelEvent.ADDRESS_SPACE_SWITCH]
    for event, control in zip(
        (KernelEvent.RESTRICTED_SWITCH, KernelEvent.STORE_BYPASS_SWITCH), CONTROLS, strict=True
    ):
        old, new = of.before.controlled[control], of.after.controlled[control]
        if not of.sees_all:
            yield event, Rate(high=most.high, why="other processes' controls are not seen here")
        elif not old and not new:
            yield (
                event,
                counted_rate(0.0, "no task that was there before and after had asked for it"),
            )
        else:
            more = sum(max(0, n - old.get(task, 0)) for task, n in new.items())
            switches = more / of.seconds
            value = 2 * switches if most.high is None else min(2 * switches, most.high)
            yield event, Rate(
                value=value, high=most.high, source="/proc/PID/status",
                why="both ways of each task that asked for it; fewer where it switches to itself",
            )  # fmt: skip


def read_proc(proc: Path = PROC) -> Reading:
    """One reading. What a file lacks is absent."""
    stat, vmstat = _text(proc / "stat"), _text(proc / "vmstat")
    lines = (
        (KernelEvent.CONTEXT_SWITCH, stat, r"^ctxt (\d{1,19})"),
        (KernelEvent.INTERRUPT, stat, r"^intr (\d{1,19})"),
        (KernelEvent.PAGE_FAULT, vmstat, r"^pgfault (\d{1,19})"),
    )
    matches = {event: re.search(pattern, text, re.MULTILINE) for event, text, pattern in lines}
    ticks = [int(word) for word in re.findall(r"\d{1,19}", stat.split("\n", 1)[0])]
    ticks += [0] * (8 - len(ticks))
    per_s = os.sysconf("SC_CLK_TCK")
    return Reading(
        time.monotonic(),
        {event: int(match[1]) for event, match in matches.items() if match},
        (ticks[0] + ticks[1]) / per_s,
        (ticks[2] + ticks[5] + ticks[6]) / per_s,
        _controlled_tasks(proc),
    )


def _controlled_tasks(proc: Path) -> dict[str, dict[str, int]]:
    tasks: dict[str, dict[str, int]] = {control: {} for control in CONTROLS}
    for number, status in enumerate(proc.glob("[0-9]*/task/[0-9]*/status")):
        if number >= MOST_TASKS:
            break
        text = _text(status)
        for control, words in CONTROLS.items():
            match = re.search(rf"^{control}:\s*(\S[^\n]{{0,60}})$", text, re.MULTILINE)
            if match and match[1].strip() in words:
                switches = sum(int(each) for each in _SWITCHES.findall(text))
                tasks[control][status.parent.name] = switches
    return tasks


def sees_all_tasks(proc: Path = PROC) -> bool:
    """Whether /proc has the processes of the whole machine: no container, and none is hidden."""
    try:
        namespace = (proc / "self" / "ns" / "pid").readlink()
    except OSError:
        return False
    return str(namespace) == FIRST_PID_NAMESPACE and bool(_text(proc / "1" / "status"))


def _wait(began: float, seconds: float, progress: Progress) -> None:
    steps = max(1, round(seconds / STEP_S))
    for step in range(steps):
        progress(step, steps)
        time.sleep(max(0.0, began + seconds * (step + 1) / steps - time.monotonic()))


def _begin_perf(events: Sequence[str], output: Path, seconds: float) -> subprocess.Popen[bytes]:
    """`perf stat -a`, which ends by itself after *seconds*."""
    return subprocess.Popen(
        [*_words(events, output), "sleep", f"{seconds:.3f}"], stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=_locale(),
    )  # fmt: skip


def _end_perf(perf: subprocess.Popen[bytes]) -> str:
    """Wait for its end; why it counted nothing, or empty."""
    try:
        code = perf.wait(PERF_LIMIT_S)
    except subprocess.TimeoutExpired:
        perf.kill()
        perf.wait()
        return "it did not end"
    return f"it ended with {code}" if code else ""


def rates_per_s(text: str) -> dict[KernelEvent, float]:
    """Events a second of what `perf stat -x,` wrote; ``<not counted>`` is absent, never zero."""
    rates = {}
    for line in text.splitlines()[:MOST_TASKS]:
        match = _COUNT.match(line)
        time_ns = line[match.end() :].split(",")[0] if match else ""
        if match and match[2] in TRACEPOINTS and time_ns.isdecimal() and int(time_ns):
            # Summed over all processors, as the count is.
            processors = os.cpu_count() or 1
            rates[TRACEPOINTS[match[2]]] = int(match[1]) * processors / (int(time_ns) * 1e-9)
    return rates


def _words(events: Sequence[str], output: Path) -> list[str]:
    words = ["perf", "stat", "-a", "-x,", "-o", str(output)]
    for event in events:
        words += ["-e", event]
        if event == SWITCHES:
            words += ["--filter", "reason==0"]
    return words


def _countable() -> tuple[list[str], str]:
    """Those of :data:`TRACEPOINTS` that perf takes here, and why none is: its own words."""
    # One unknown name makes perf refuse them all; then each is asked for by itself.
    why = _refusal(list(TRACEPOINTS))
    if not why:
        return list(TRACEPOINTS), ""
    events = [event for event in TRACEPOINTS if not _refusal([event])]
    return events, "" if events else why


def _refusal(events: Sequence[str]) -> str:
    try:
        done = subprocess.run(
            [*_words(events, Path(os.devnull)), "true"], stdin=subprocess.DEVNULL,
            capture_output=True, text=True, errors="replace", check=False, timeout=PERF_LIMIT_S,
            env=_locale(),
        )  # fmt: skip
    except FileNotFoundError:
        return "it is not installed (apt install linux-perf)"
    except (OSError, subprocess.TimeoutExpired):
        return "it does not run here"
    if not done.returncode:
        return ""
    if os.geteuid() or any(word in done.stderr for word in NO_RIGHT):
        return "only root may count the whole machine"
    lines = [line.strip() for line in done.stderr.splitlines() if line.strip(" \t_\\|")]
    return clean_text(lines[0])[:120] if lines else f"it ended with {done.returncode}"


def _counting_ns() -> float:
    """What counting adds to a system call, ns: a loop while perf counts, and before it does."""
    quiet = _call_ns()
    perf = _begin_perf([CALLS_EVENT], Path(os.devnull), COUNTING_S)
    time.sleep(COUNTING_S / 2)
    counted = _call_ns()
    _end_perf(perf)
    return max(0.0, counted - quiet)


def _call_ns() -> float:
    """A getppid with the loop around it, the least of some turns."""
    least = float("inf")
    for _ in range(TURNS):
        began = time.perf_counter_ns()
        for _ in range(CALLS):
            os.getppid()
        least = min(least, (time.perf_counter_ns() - began) / CALLS)
    return least


def _locale() -> dict[str, str]:
    return {**os.environ, "LC_ALL": "C"}


def _text(path: Path) -> str:
    """The file's text, at most :data:`LARGEST_FILE`; empty where it cannot be read."""
    try:
        with path.open("rb") as file:
            return file.read(LARGEST_FILE).decode(errors="replace")
    except OSError:
        return ""
