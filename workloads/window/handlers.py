"""A load to try the workload with: threads that are all woken for each of 200 messages a second.

That is what Open vSwitch's handlers did before upcalls were dispatched by processor: each socket
was watched by all of them. Ends at SIGTERM.
"""

from __future__ import annotations

import ctypes
import threading
import time

HANDLERS = 4
MESSAGES_PER_S = 200
PR_SET_NAME = 15


def handle(condition: threading.Condition, name: bytes) -> None:
    """Wait for messages, for ever."""
    ctypes.CDLL(None).prctl(PR_SET_NAME, name, 0, 0, 0)
    while True:
        with condition:
            condition.wait()


def main() -> None:
    """Start the handlers and send messages."""
    conditions = [threading.Condition() for _ in range(HANDLERS)]
    for number, condition in enumerate(conditions, start=1):
        name = f"handler{number}".encode()
        threading.Thread(target=handle, args=(condition, name), daemon=True).start()
    print("ready", flush=True)
    while True:
        time.sleep(1 / MESSAGES_PER_S)
        for condition in conditions:
            with condition:
                condition.notify_all()


if __name__ == "__main__":
    main()
