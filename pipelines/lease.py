"""Holding a host lease while a step runs: renewed by a thread, lost for good once taken over."""

from __future__ import annotations

import threading
import time
from types import TracebackType

import structlog
from sqlalchemy import Engine
from sqlalchemy.exc import OperationalError

from mitigauge.database import transaction
from mitigauge.fleet import leases
from mitigauge.fleet.leases import Lease

log = structlog.get_logger()

# How long a worker waits for its database before it leaves a host alone, in leases' lives.
PATIENCE_LEASES = 10
ASK_AGAIN_S = 1.0


class HeldLease:
    """A lease kept alive in the background; ``alive()`` turns False when it was taken over.

    *since* is a ``time.monotonic()`` from before it was taken, *seconds* its life.
    """

    def __init__(self, engine: Engine, lease: Lease, seconds: float, *, since: float) -> None:
        self.lease = lease
        self._engine = engine
        self._seconds = seconds
        self._lives_until = since + seconds
        self._stop = threading.Event()
        self._lost = threading.Event()
        self._thread = threading.Thread(
            target=self._renew_forever, name=f"lease-run-{lease.run_id}", daemon=True
        )

    def __enter__(self) -> HeldLease:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._stop.set()
        self._thread.join()

    def alive(self) -> bool:
        """Whether the lease is still ours as far as we know."""
        return not self._lost.is_set()

    def holds(self) -> bool:
        """Whether the lease cannot be another's now, to be asked before a host is touched.

        A worker that slept, or was cut off from its database, may have outlived its lease
        without having heard so. Then the database is asked, and waited for.
        """
        deadline = time.monotonic() + PATIENCE_LEASES * self._seconds
        while self.alive() and time.monotonic() >= self._lives_until:
            if time.monotonic() > deadline:
                return False
            if not self._renew():
                self._stop.wait(ASK_AGAIN_S)
        return self.alive()

    def _renew_forever(self) -> None:
        while self.alive() and not self._stop.wait(self._seconds / 3):
            self._renew()

    def _renew(self) -> bool:
        """Whether the database answered."""
        asked = time.monotonic()
        try:
            with transaction(self._engine) as session:
                renewed = leases.renew(session, self.lease, self._seconds)
        except OperationalError as error:
            # An unreachable database lets the lease lapse, which loses nothing:
            # the commit that follows will be checked against the epoch.
            log.warning("lease not renewed", run=self.lease.run_id, error=str(error.orig))
            return False
        if renewed:
            self._lives_until = asked + self._seconds
        else:
            log.warning("lease lost", run=self.lease.run_id, epoch=self.lease.epoch)
            self._lost.set()
        return True
