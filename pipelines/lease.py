"""Holding a lease while a step runs: renewed by a thread, lost for good once taken over."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from types import TracebackType

from sqlalchemy import Engine
from sqlalchemy.orm import Session

from mitigauge.core.logs.logger import get_logger
from mitigauge.storage.database.engine import in_words, is_away, new_engine, transaction

log = get_logger(__name__)

# How long a worker waits for its database before it leaves a host alone, in leases' lives.
PATIENCE_LEASES = 10
ASK_AGAIN_S = 1.0
# What goes on on a host is stopped so long before the lease may be another's, as a part of its
# life: to end a play takes some seconds.
STOP_EARLY = 0.1


# Renewing a lease takes milliseconds; a database that does not even do that is away.
RENEWAL_LIMIT_S = 10.0


def renewal_engine(engine: Engine) -> Engine:
    """Connections of the renewers' own: the steps', of *engine*, may all be in use, or hang."""
    url = engine.url.render_as_string(hide_password=False)
    return new_engine(url, statement_limit_s=RENEWAL_LIMIT_S, pooled=False)


def clock() -> float:
    """Seconds that also pass while the machine sleeps, unlike those of ``time.monotonic()``."""
    return time.clock_gettime(time.CLOCK_BOOTTIME)


class HeldLease:
    """A lease kept alive in the background.

    *of* names whose it is. *engine* is for renewing alone, so that nothing else can keep the
    renewals waiting. *renew* prolongs the lease by so many seconds, and says whether it is ours
    still. *since* is a :func:`clock` from before the lease was taken, *seconds* its life.
    """

    def __init__(
        self,
        of: str,
        engine: Engine,
        renew: Callable[[Session, float], bool],
        seconds: float,
        *,
        since: float,
    ) -> None:
        self._of = of
        self._engine = engine
        self._prolong = renew
        self._seconds = seconds
        self._lives_until = since + seconds
        self._stop = threading.Event()
        self._lost = threading.Event()
        self._thread = threading.Thread(target=self._renew_forever, name=f"lease-{of}", daemon=True)

    def __enter__(self) -> HeldLease:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        # Not joined: a renewal may wait for a database that is silent. One that comes late
        # prolongs nothing, since the lease is set down, released or another's by then.
        self._stop.set()

    def alive(self) -> bool:
        """Whether what goes on may go on.

        False once the lease was taken over, and as soon as it might be since it was not renewed
        in time: whoever cannot hear of a takeover must assume it.
        """
        if self._lost.is_set():
            return False
        return clock() < self._lives_until - STOP_EARLY * self._seconds

    def holds(self) -> bool:
        """Whether the lease cannot be another's now, to be asked before something is touched.

        A worker that slept, or was cut off from its database, may have outlived its lease
        without having heard so. Then the database is asked, and waited for.
        """
        deadline = clock() + PATIENCE_LEASES * self._seconds
        while not self._lost.is_set() and not self.alive():
            if clock() > deadline:
                return False
            if not self._renew():
                self._stop.wait(ASK_AGAIN_S)
        return not self._lost.is_set()

    def _renew_forever(self) -> None:
        pause = self._seconds / 3
        while not self._lost.is_set() and not self._stop.wait(pause):
            pause = self._seconds / 3 if self._renew() else min(ASK_AGAIN_S, self._seconds / 3)

    def _renew(self) -> bool:
        """Whether the database answered. Raises nothing: the thread must outlive any fault."""
        asked = clock()
        try:
            with transaction(self._engine) as session:
                renewed = self._prolong(session, self._seconds)
        except Exception as error:
            # A database that is away lets the lease lapse, which loses nothing: the commit
            # that follows will be checked against the epoch.
            if not is_away(error):
                log.exception("lease not renewed", of=self._of)
            log.warning("lease not renewed", of=self._of, error=in_words(error))
            return False
        if renewed:
            self._lives_until = asked + self._seconds
        elif not self._stop.is_set():
            log.warning("lease lost", of=self._of)
            self._lost.set()
        return True
