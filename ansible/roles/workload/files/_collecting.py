"""What stands beside a case: the process that collects, and what would make a boot invalid.

Neither changes what a case's own pass is told or how it ends. Standard library only; staged beside
the runner.
"""

from __future__ import annotations

import contextlib
import select
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from _cases import c_locale, end_group
from _kit.wire.collectors import DIRECTORY, SCOPES
from _kit.wire.job import Gates
from _kit.wire.kernel_log import MOST_LINES, explaining, kernel_log, tainted

# Between two samples. A shorter time would cost more than it tells.
EVERY_S = 1.0
# Until its sources are open; an emulated host starts a program in seconds.
READY_S = 30.0
END_S = 30.0
CPUS = Path("/sys/devices/system/cpu")
# Of /proc/interrupts: machine checks, corrected ones (Intel's threshold), deferred ones (AMD).
MACHINE_CHECKS = ("MCE", "THR", "DFR")


@contextlib.contextmanager
def collecting(names: Sequence[str], workloads: Path, output: Path) -> Iterator[None]:
    """Collect *names* into `output`/DIRECTORY while the block runs; nothing for no names."""
    if not names:
        yield
        return
    directory = output / DIRECTORY
    directory.mkdir()
    program = workloads / "_kit" / "sampling.py"
    with (directory / "stderr.txt").open("wb") as errors:
        process = subprocess.Popen(
            [sys.executable, "-B", str(program), str(directory), str(EVERY_S), *names],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=errors,
            start_new_session=True, env=c_locale(),
        )  # fmt: skip
    assert process.stdout is not None
    try:
        # Begun before the case: its start would be in the case's first figures.
        select.select([process.stdout], [], [], READY_S)
        yield
    finally:
        process.terminate()
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(END_S)
        end_group(process)
        if process.stdout:
            process.stdout.close()


def gates() -> Gates:
    """How often this host was throttled and told of machine checks, and its taint, by now."""
    throttled = sum(
        int(path.read_text())
        for scope in SCOPES
        for path in CPUS.glob(f"cpu[0-9]*/thermal_throttle/{scope}_throttle_count")
    )
    checks = 0
    for line in Path("/proc/interrupts").read_text().splitlines():
        name, _, counts = line.strip().partition(":")
        if name in MACHINE_CHECKS:
            checks += sum(int(word) for word in counts.split() if word.isdecimal())
    return Gates(throttled=throttled, machine_checks=checks, tainted=tainted() or 0, kernel_log=[])


def passed(before: Gates) -> Gates:
    """What the gates have counted since *before*."""
    now = gates()
    new = now["tainted"] & ~before["tainted"]
    return Gates(
        throttled=now["throttled"] - before["throttled"],
        machine_checks=now["machine_checks"] - before["machine_checks"],
        tainted=new,
        kernel_log=explaining(kernel_log())[-MOST_LINES:] if new else [],
    )
