"""Runs on a host: says `waiting`, and ends as soon as the job's runner has ended.

    python3 -I -c TEXT STATE_FILE BEGINS_WITHIN_S

What is measured meanwhile must not notice, so once the runner is there the kernel says when it
ends, and nothing looks in between. It ends too when its standard input does: whoever waited is
gone. Exit code 0: the runner has ended; 3: there was none to wait for.
Standard library only; sent as a text, so that nothing need lie on the host.
"""

from __future__ import annotations

import contextlib
import json
import os
import select
import sys
import time

NONE_TO_WAIT_FOR = 3
LOOK_S = 0.1


def runner_of(state_file: str) -> int | None:
    """Process id of the runner that works on this boot; 0 once it is over; None before it began."""
    try:
        with open(state_file, encoding="utf-8") as file:
            state = json.load(file)
        with open("/proc/sys/kernel/random/boot_id", encoding="utf-8") as file:
            boot = file.read().strip()
    except FileNotFoundError:
        return None
    pid: int = state["pid"] if state["state"] == "running" and state["boot_id"] == boot else 0
    return pid


def main() -> int:
    """Entry point."""
    state_file, deadline = sys.argv[1], time.monotonic() + float(sys.argv[2])
    pid = runner_of(state_file)
    if pid == 0:
        return 0
    print("waiting", flush=True)
    while pid is None:
        if time.monotonic() > deadline or select.select([0], [], [], LOOK_S)[0]:
            return NONE_TO_WAIT_FOR
        pid = runner_of(state_file)
    with contextlib.suppress(ProcessLookupError):
        select.select([os.pidfd_open(pid), 0], [], [])
    return 0


if __name__ == "__main__":
    sys.exit(main())
