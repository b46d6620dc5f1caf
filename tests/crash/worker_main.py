"""A real worker process over simulated hosts that can kill or stop itself at a commit.

Usage: python -m tests.crash.worker_main URL WORLDS LEASE_SECONDS
       [STEP:before|after|pause|doze]
"""

from __future__ import annotations

import faulthandler
import os
import signal
import sys
import threading
from pathlib import Path
from typing import Any

from mitigauge.database import new_engine
from pipelines.advance import Advancer
from pipelines.steps import boot
from pipelines.worker import Worker
from tests.crash.simulated_host import opener
from tests.specs import CATALOG


class Fragile(Advancer):
    """An advancer that dies (or stops) at the first commit of one step, or dozes off before it."""

    step = ""
    moment = ""

    def _act(self, taken: Any, context: Any) -> Any:
        if taken.action.step == self.step and self.moment == "doze":
            stop_here()
        return super()._act(taken, context)

    def _commit(self, taken: Any, done: Any) -> float | None:
        hit = taken.action.step == self.step
        if hit and self.moment == "before":
            os.kill(os.getpid(), signal.SIGKILL)
        if hit and self.moment == "pause":
            stop_here()
        pause = super()._commit(taken, done)
        if hit and self.moment == "after":
            os.kill(os.getpid(), signal.SIGKILL)
        return pause


def stop_here() -> None:
    """Stop the process, this thread at once.

    Sent to the process, another thread may take the signal, and this one goes on for a
    moment, into the simulated host's file lock, say.
    """
    signal.pthread_kill(threading.get_ident(), signal.SIGSTOP)


def main() -> None:
    url, worlds, lease_seconds, *fault = sys.argv[1:]
    if fault:
        Fragile.step, _, Fragile.moment = fault[0].rpartition(":")
    faulthandler.register(signal.SIGUSR1)  # for a test that waits in vain
    boot.GOING_DOWN_S = 0.0  # a simulated host is up again at once
    advancer = Fragile(
        new_engine(url), opener(Path(worlds)), CATALOG, lease_seconds=float(lease_seconds)
    )
    Worker(advancer, url).run()


if __name__ == "__main__":
    main()
