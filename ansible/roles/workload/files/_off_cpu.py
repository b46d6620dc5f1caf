"""Where threads wait: a case once more under the scheduler's switches, with their call graphs.

A thread that leaves its processor has a stack, and is off it until it is switched to again. So each
switch away is told as a sample of that stack whose period is the nanoseconds until then, in the
form that `perf script` gives other samples. A wait that had not ended with the recording is left
out: how long it would have been is not known. Standard library only; staged beside the runner.
"""

from __future__ import annotations

import re
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from _cases import run_logged, workload_command
from _kit.wire.case import Case
from _kit.wire.profile import DIRECTORY, FAILED, OFF_CPU, Profile
from _profiling import (
    ProfileError,
    keep_capture,
    leave_small,
    lost_samples,
    packed_script,
    perf_stats,
    perf_version,
    repeated_case,
    window,
)

SWITCH = "sched:sched_switch"
FIELDS = "comm,pid,tid,cpu,time,event,trace,ip,sym,dso"
# comm pid/tid [cpu] seconds: event: prev_comm=… ==> … next_pid=…
HEADER = re.compile(
    r"(?P<comm>\S(?:.*?\S)??)\s+(?P<pid>\d+)/(?P<tid>\d+)\s+\[\d+\]\s+"
    r"(?P<s>\d+)\.(?P<ns>\d{9}):\s+sched:sched_switch: .*"
)
ARROW = "==> "
# Behind the arrow, as the kernel spells it, or as libtraceevent's plug-in does.
NEXT = re.compile(r"(?:.*next_pid=|.*:(?=\d+ \[))(?P<next>\d+)")
# Threads that are followed at a time, and frames of one stack.
MOST_THREADS = 100_000
MOST_FRAMES = 256


def waits(lines: Iterable[str]) -> Iterator[str]:
    """Samples of waiting, out of what `perf script --ns` printed of switches."""
    left: dict[str, tuple[int, str, list[str]]] = {}
    stack: list[str] = []
    for line in lines:
        if line[:1].isspace():
            if line.strip() and len(stack) < MOST_FRAMES:
                stack.append(line)
            continue
        _, arrow, behind = line.rpartition(ARROW)
        found, following = HEADER.match(line), NEXT.match(behind)
        if found is None or following is None or not arrow:
            stack = []
            continue
        now = int(found["s"]) * 10**9 + int(found["ns"])
        if began := left.pop(following["next"], None):
            yield from _sample(began, now)
        stack = []
        who = f"{found['comm']} {found['pid']}/{found['tid']}"
        # The idle thread waits for nothing.
        if found["tid"] != "0" and len(left) < MOST_THREADS:
            left[found["tid"]] = now, who, stack


def _sample(began: tuple[int, str, list[str]], now: int) -> Iterator[str]:
    at, who, stack = began
    if stack and now > at:
        yield f"{who} [000] {at // 10**9}.{at % 10**9 // 1000:06}: {now - at} {OFF_CPU}: \n"
        yield from stack
        yield "\n"


def record_waits(case: Mapping[str, Any], workloads: Path, output: Path, said: Profile) -> None:
    """Run the case under `perf record` of all switches; ProfileError if it did not work."""
    command = [
        "perf", "record", "-a", "-g", "-m", "2048", "-e", SWITCH, "--clockid", "mono",
        "--no-buildid-cache", "-o", str(output / "perf.data"), "--",
        *workload_command(case, workloads, output),
    ]  # fmt: skip
    began = time.monotonic()
    code = run_logged(command, output, case["timeout_s"])
    said["seconds"] = round(time.monotonic() - began, 3)
    if code:
        tail = (output / "stderr.txt").read_bytes()[-600:].decode(errors="replace").strip()
        raise ProfileError(f"the pass under the scheduler's switches ended with {code}: {tail}")


def off_cpu_case(case: Case, workloads: Path, timed: Path) -> None:
    """The case's pass in `timed`/profile/off-cpu, profile.json saying how it went."""
    output = timed / DIRECTORY / OFF_CPU
    said = Profile(state=FAILED, detail="", hz=1, event=OFF_CPU)
    try:
        output.mkdir(parents=True)
        said["perf"] = perf_version()
        record_waits(repeated_case(case, timed), workloads, output, said)
        said["lost"] = lost_samples(perf_stats(output), SWITCH)
        here = [sys.executable, "-B", str(Path(__file__).resolve())]
        capture = packed_script(output, ["--ns", "-F", FIELDS, *window(output)], here)
        keep_capture(said, capture)
    except ProfileError as error:
        said["detail"] = str(error)
    except (OSError, subprocess.SubprocessError) as error:
        said["detail"] = f"waiting: {error}"
    if output.is_dir():
        leave_small(output, said)


if __name__ == "__main__":
    # Between perf and the packer.
    sys.stdin.reconfigure(errors="replace", newline="\n")  # type: ignore[union-attr]
    sys.stdout.reconfigure(errors="replace")  # type: ignore[union-attr]
    sys.stdout.writelines(waits(sys.stdin))
