"""Faults that a worker under test brings upon itself, at exactly one point of one step.

What is about to happen is first written to a report, so that a supervisor knows which run,
step and epoch it hit.
"""

from __future__ import annotations

import json
import os
import signal
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass, field, replace
from enum import StrEnum
from pathlib import Path
from typing import Any

from sqlalchemy import text
from sqlalchemy.orm import Session

from pipelines.advance import Advancer
from pipelines.decision import LOST_WORKERS_LIMIT
from tests.crash.proxy import CUT, SILENCE


class Moment(StrEnum):
    """Where within a step, and what happens there."""

    TAKEN = "taken"
    """Killed once the step is taken, before it acts."""
    BEFORE = "before"
    """Killed once it acted, before its commit."""
    AFTER = "after"
    """Killed after its commit."""
    DOZE = "doze"
    """Stopped before it acts, until it is told to go on."""
    PAUSE = "pause"
    """Stopped before its commit, until it is told to go on."""
    CUT = "cut"
    """Its connection is closed after the server's COMMIT; it never hears of it."""
    SILENCE = "silence"
    """Its connection falls silent after the server's COMMIT, and stays open."""


KILLS = (Moment.TAKEN, Moment.BEFORE, Moment.AFTER)
PAUSES = (Moment.DOZE, Moment.PAUSE)
CUTS = (Moment.CUT, Moment.SILENCE)
MARKS = {Moment.CUT: CUT, Moment.SILENCE: SILENCE}


@dataclass(frozen=True, slots=True)
class Hit:
    """A fault that was made."""

    step: str
    moment: str
    run: int
    epoch: int
    pid: int
    at: float
    """Seconds since 1970."""


@dataclass
class FaultPlan:
    """One fault, made once, at the first of the named steps, at that step's moment."""

    moments: Mapping[str, Moment] = field(default_factory=dict)
    report: Path | None = None
    _made: threading.Lock = field(default_factory=threading.Lock)

    def takes(self, step: str, *moments: Moment) -> bool:
        """Whether the fault is to be made here; True once."""
        return self.moments.get(step) in moments and self._made.acquire(blocking=False)

    def tell(self, taken: Any) -> None:
        """Write down what is about to happen, in one write, so that nothing tears it."""
        if self.report is None:
            return
        lease, step = taken.lease, str(taken.action.step)
        moment = self.moments[step]
        hit = Hit(step, moment, lease.run_id, lease.epoch, os.getpid(), time.time())
        line = json.dumps(asdict(hit)) + "\n"
        with self.report.open("a") as file:
            file.write(line)


def moments_of(faults: Iterable[str]) -> dict[str, Moment]:
    """Steps and moments from texts such as ``boot.arm:before``. Raises ValueError."""
    pairs = (fault.rpartition(":") for fault in faults)
    return {step: Moment(moment) for step, _, moment in pairs}


def hits_in(report: Path) -> list[Hit]:
    """The faults that were made."""
    if not report.exists():
        return []
    return [Hit(**json.loads(line)) for line in report.read_text().splitlines()]


@dataclass(frozen=True)
class FaultyAdvancer(Advancer):
    """An advancer with one fault in it."""

    plan: FaultPlan = field(default_factory=FaultPlan)

    def _act(self, taken: Any, context: Any) -> Any:
        if self._now(taken, Moment.TAKEN):
            self._die(taken)
        if self._now(taken, Moment.DOZE):
            self._stop(taken)
        return super()._act(taken, context)

    def _commit(self, taken: Any, done: Any) -> Any:
        if self._now(taken, Moment.BEFORE):
            self._die(taken)
        if self._now(taken, Moment.PAUSE):
            self._stop(taken)
        if self._now(taken, *CUTS):
            self.plan.tell(taken)
            mark = MARKS[self.plan.moments[str(taken.action.step)]]
            done = replace(done, apply=_marked(done.apply, mark))
        pause = super()._commit(taken, done)
        if self._now(taken, Moment.AFTER):
            self._die(taken)
        return pause

    def _now(self, taken: Any, *moments: Moment) -> bool:
        """Whether the fault is made here. A run that lost several workers in a row is spared:
        the service would take its step for what ends them."""
        spared = taken.run.lost_workers >= LOST_WORKERS_LIMIT - 2
        return not spared and self.plan.takes(str(taken.action.step), *moments)

    def _die(self, taken: Any) -> None:
        self.plan.tell(taken)
        os.kill(os.getpid(), signal.SIGKILL)

    def _stop(self, taken: Any) -> None:
        self.plan.tell(taken)
        stop_here()


def stop_here() -> None:
    """Stop the process, this thread at once.

    Sent to the process, another thread may take the signal, and this one goes on for a
    moment, into the simulated host's file lock, say.
    """
    signal.pthread_kill(threading.get_ident(), signal.SIGSTOP)


def _marked(apply: Callable[[Session, Any], None], mark: str) -> Callable[[Session, Any], None]:
    """*apply*, with a statement by which the proxy knows the transaction."""

    def marked(session: Session, run: Any) -> None:
        session.execute(text(f"select '{mark}'"))
        apply(session, run)

    return marked
