"""The load: tasks in a ring that wake one another, pinned to one processor.

`ring.py THROUGH TASKS TOKENS ROUNDS CPU OUTPUT.json [WINDOW]`. Each task waits for a token and
hands it to the next. The tokens go round a while first; then every task takes as many as there
are rounds. OUTPUT.json says when these began and ended, on the monotonic clock. With WINDOW the
emulator of the host counts what runs meanwhile.
"""

from __future__ import annotations

import json
import os
import socket
import sys
import time
from contextlib import nullcontext
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from _kit import event, exact

# Of each task, so that it is known again in the kernel's records.
NAME = "ring"
# Before anything counts: memory is touched, the order of the tasks settles.
FIRST_ROUNDS = 20
# One token. An eventfd adds up what is written to it, so it is the number 1 there.
TOKEN = (1).to_bytes(8, sys.byteorder)
SIZES = {"pipe": 1, "socket": 1, "eventfd": 8}


def channel(through: str) -> tuple[int, int]:
    """The ends to read from and to write to."""
    if through == "pipe":
        return os.pipe()
    if through == "socket":
        one, other = socket.socketpair()
        return one.detach(), other.detach()
    both = event.eventfd(event.SEMAPHORE)
    return both, both


def take_turns(read: int, write: int, size: int, turns: int, last: int) -> None:
    """Take a token `turns` times and hand it on, but for the `last` ones, which stay here."""
    token = TOKEN[:size]
    for _ in range(turns - last):
        os.read(read, size)
        os.write(write, token)
    for _ in range(last):
        os.read(read, size)


def holders(tasks: int, tokens: int) -> set[int]:
    """The tasks that a token starts at, as evenly spread as can be."""
    return {number * tasks // tokens for number in range(tokens)}


class Ring:
    """All tasks; number 0 is this process, which looks at the clock."""

    def __init__(self, through: str, tasks: int, tokens: int) -> None:
        self.tasks = tasks
        self.size = SIZES[through]
        self.channels = [channel(through) for _ in range(tasks)]
        self.holders = holders(tasks, tokens)

    def turns(self, task: int, rounds: int) -> None:
        """One task's part in so many rounds."""
        following = (task + 1) % self.tasks
        # The next one has a token to begin with: it needs one less from here.
        last = 1 if following in self.holders else 0
        read, write = self.channels[task][0], self.channels[following][1]
        take_turns(read, write, self.size, rounds, last)

    def put_tokens(self) -> None:
        """A token for each task that has one to begin with."""
        for task in self.holders:
            os.write(self.channels[task][1], TOKEN[: self.size])

    def whole(self, task: int, rounds: int, go: tuple[int, int]) -> None:
        """What a task other than number 0 does."""
        Path("/proc/self/comm").write_text(f"{NAME}-{task}")
        self.turns(task, FIRST_ROUNDS)
        os.read(go[0], 1)
        self.turns(task, rounds)


def run(
    through: str, tasks: int, tokens: int, rounds: int, window: int | None = None
) -> dict[str, int]:
    """When the counted rounds began and ended, in ns, and how often a token was handed on."""
    ring = Ring(through, tasks, tokens)
    go = os.pipe()
    children = []
    for task in range(1, tasks):
        if (child := os.fork()) == 0:
            # Whatever happens: a child must not go on as its parent.
            try:
                ring.whole(task, rounds, go)
            finally:
                os._exit(0)
        children.append(child)
    Path("/proc/self/comm").write_text(f"{NAME}-0")
    ring.put_tokens()
    ring.turns(0, FIRST_ROUNDS)
    ring.put_tokens()
    if window is not None:
        # What a task touches for the first time since the fork costs it a fault: not in the window.
        with exact.window(0):
            time.monotonic_ns()
    with nullcontext() if window is None else exact.window(window):
        began = time.monotonic_ns()
        os.write(go[1], bytes(tasks - 1))
        ring.turns(0, rounds)
        ended = time.monotonic_ns()
    for child in children:
        os.waitpid(child, 0)
    return {"began_ns": began, "ended_ns": ended, "passes": tasks * rounds}


def main(arguments: list[str]) -> None:
    """See the module's text."""
    through, output = arguments[0], Path(arguments[5])
    tasks, tokens, rounds, cpu = map(int, arguments[1:5])
    os.sched_setaffinity(0, {cpu})
    window = int(arguments[6]) if len(arguments) > 6 else None
    output.write_text(json.dumps(run(through, tasks, tokens, rounds, window)))
    if window:
        exact.keep_own_maps(output.parent)


if __name__ == "__main__":
    main(sys.argv[1:])
