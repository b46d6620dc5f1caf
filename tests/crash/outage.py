"""PostgreSQL stopped hard, again and again, while the API is asked whether it answers."""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from mitigauge.storage.database.embedded_server import ensure_running, stop
from tests.crash.rig_api import RigApi

OUTAGE_EVERY_S = (5.0, 40.0)
DOWN_S = (0.0, 4.0)
API_BACK_S = 10.0
ASK_S = 0.1


@dataclass
class Outages:
    """Stops the server in *server* every 5 to 40 s, as a crash would, and starts it again."""

    server: Path
    api: RigApi
    random: random.Random
    every_s: tuple[float, float] = OUTAGE_EVERY_S
    back_after_s: list[float] = field(default_factory=list)
    """Seconds from the server's return to the API's first good answer, one an outage."""
    complaints: list[str] = field(default_factory=list)
    calm: threading.Event = field(default_factory=threading.Event)
    """Set while the server runs."""
    _enough: threading.Event = field(default_factory=threading.Event)

    @contextmanager
    def running(self) -> Iterator[Outages]:
        """Go on until it is enough."""
        self.calm.set()
        thread = threading.Thread(target=self._go_on)
        thread.start()
        try:
            yield self
        finally:
            self.enough()
            thread.join()

    def enough(self) -> None:
        """No further outage."""
        self._enough.set()

    def _go_on(self) -> None:
        while not self._enough.wait(self.random.uniform(*self.every_s)):
            self.calm.clear()
            stop(self.server, mode="immediate")
            time.sleep(self.random.uniform(*DOWN_S))
            ensure_running(self.server)
            self.calm.set()
            self._await_api()

    def _await_api(self) -> None:
        returned = time.monotonic()
        while not self.api.answers():
            if time.monotonic() - returned > 3 * API_BACK_S:
                break
            time.sleep(ASK_S)
        seconds = time.monotonic() - returned
        self.back_after_s.append(seconds)
        if seconds > API_BACK_S:
            self.complaints.append(f"the API was not back {seconds:.0f} s after its database")
