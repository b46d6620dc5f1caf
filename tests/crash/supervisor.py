"""Workers with faults in them: armed, watched, started again."""

from __future__ import annotations

import os
import random
import signal
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from sqlalchemy import Engine, make_url, text
from sqlalchemy.exc import OperationalError

from mitigauge.storage.database.engine import transaction
from pipelines.decision import Step
from tests.crash.adapt import UNFINISHED
from tests.crash.fault_points import CUTS, KILLS, PAUSES, Hit, Moment, hits_in
from tests.crash.proxy import Proxy
from tests.zygote import Forked, Zygote, log_streams

KINDS: dict[str, Sequence[Moment]] = {
    "kill": KILLS,
    "pause": PAUSES,
    "cut": (Moment.CUT,),
    "silence": (Moment.SILENCE,),
}
# An armed worker that meets its step so late is killed where it stands, and armed anew.
ARMED_S = 6.0
# So many least frequent faults a worker is armed with: the first that it comes to is made.
ARMED_STEPS = 8
Fault = tuple[str, Moment]
# So long a worker that was stopped is left to another's taking over, and then to its refusal.
TAKEOVER_S = 15.0
REFUSAL_S = 20.0
CUT_SETTLES_S = 5.0


@dataclass(frozen=True)
class Ground:
    """What all workers share. *through*: proxies are put before this server."""

    url: str
    engine: Engine
    home: Path
    zygote: Zygote
    lease_s: float

    @property
    def report(self) -> Path:
        """Where workers write down the faults they make."""
        return self.home / "faults.jsonl"

    @property
    def upstream(self) -> Path:
        """The server's own socket."""
        query = make_url(self.url).query
        return Path(str(query["host"])) / f".s.PGSQL.{query['port']}"

    @contextmanager
    def patience(self) -> Iterator[None]:
        """What the database or the API cannot answer now is asked again at the next tick."""
        try:
            yield
        except (OperationalError, OSError) as error:
            print(f"asked again later: {str(error)[:150]!r}", flush=True)

    def refused(self) -> int:
        """Commits that came late and were refused."""
        with transaction(self.engine) as session:
            return int(
                session.scalar(
                    text("select count(*) from step_attempt where outcome = 'refused'")
                ) or 0
            )  # fmt: skip

    def spawn(self, url: str, faults: Sequence[Fault]) -> Forked:
        """A worker that makes the first of these faults that it comes to."""
        armed = [f"--fault={step}:{moment}" for step, moment in faults]
        with log_streams(self.home / "workers.log") as streams:
            return self.zygote.spawn(
                "worker",
                [
                    *(url, str(self.home), str(self.lease_s), "--hurry"),
                    *(["--report", str(self.report), *armed] if armed else []),
                ],
                env={**os.environ, "MITIGAUGE_HOME": str(self.home)},
                streams=streams,
            )


@dataclass
class Chooser:
    """Which faults come next: those that were made least often; among those, by chance."""

    kinds: Sequence[Sequence[Moment]]
    random: random.Random
    made: Counter[Fault] = field(default_factory=Counter)

    def next(self, *, without: Sequence[Moment] = ()) -> list[Fault]:
        """Faults of one kind at different steps; none where there is nothing to choose from."""
        kinds = [kind for kind in self.kinds if not set(kind) & set(without)]
        if not kinds:
            return []
        # Every moment as often as any other.
        [kind] = self.random.choices(kinds, [len(kind) for kind in kinds])
        pairs = [(str(step), moment) for step in Step for moment in kind]
        self.random.shuffle(pairs)
        pairs.sort(key=lambda pair: self.made[pair])
        return list(
            {step: (step, moment) for step, moment in reversed(pairs[:ARMED_STEPS])}.values()
        )


@dataclass
class Slot:
    """A place for one worker, with a proxy of its own."""

    ground: Ground
    proxy: Proxy
    worker: Forked | None = None
    armed: Sequence[Fault] = ()
    since: float = 0.0
    hit: Hit | None = None
    resumed: float = 0.0
    complaints: list[str] = field(default_factory=list)
    anywhere: int = 0
    """Workers that were killed wherever they stood."""

    @property
    def pausing(self) -> bool:
        """Whether its worker is, or is to be, stopped."""
        return any(moment in PAUSES for _, moment in self.armed)

    def start(self, faults: Sequence[Fault]) -> None:
        """Start a worker."""
        self.worker = self.ground.spawn(self.proxy.url(self.ground.url), faults)
        self.armed, self.since, self.hit, self.resumed = faults, time.monotonic(), None, 0.0

    def free(self, hits: Sequence[Hit]) -> bool:
        """Look after the worker; True when a new one is wanted."""
        if self.worker is None:
            return True
        self.hit = self.hit or self._own(hits)
        code = self.worker.poll()
        if code is not None:
            # It may have written its fault down since *hits* were read.
            self.hit = self.hit or self._own(hits_in(self.ground.report))
            return self._ended(code)
        if not self.armed:
            return False
        if self.hit is None:
            return self._late()
        return self._paused() if self.pausing else self._cut()

    def end(self) -> None:
        """Kill the worker."""
        if self.worker is not None:
            self.worker.kill()
            self.worker.wait()
        self.worker, self.armed = None, ()

    def _own(self, hits: Sequence[Hit]) -> Hit | None:
        assert self.worker is not None
        return next((hit for hit in hits if hit.pid == self.worker.pid), None)

    def _ended(self, code: int) -> bool:
        meant = self.hit is not None and self.hit.moment in KILLS and code == -signal.SIGKILL
        if not meant:
            self.complaints.append(f"a worker armed with {self.armed} ended by itself: {code}")
        self.worker = None
        return True

    def _late(self) -> bool:
        if time.monotonic() - self.since < ARMED_S:
            return False
        # It may have met its step just now.
        assert self.worker is not None
        if not self.worker.stopped():
            self.anywhere += 1
            self.end()
            return True
        return False

    def _paused(self) -> bool:
        assert self.worker is not None
        assert self.hit is not None
        now = time.monotonic()
        if not self.resumed:
            if not self._overtaken(self.hit):
                if now - self.since > ARMED_S + TAKEOVER_S:
                    self.complaints.append(f"nobody took over from {self.hit}")
                    self.end()
                    return True
                return False
            self.worker.send_signal(signal.SIGCONT)
            self.resumed = now
        # Whoever took over has booked it as lost; it books itself as refused.
        waits = self._outcome(self.hit) in ("started", "lost")
        if waits and now - self.resumed < REFUSAL_S:
            return False
        if waits:
            self.complaints.append(f"its refusal was never booked: {self.hit}")
        self.end()
        return True

    def _cut(self) -> bool:
        assert self.hit is not None
        self.resumed = self.resumed or time.monotonic()
        patience = CUT_SETTLES_S if self.hit.moment == Moment.CUT else TAKEOVER_S
        waited = time.monotonic() - self.resumed
        if waited < 0.5 or (waited < patience and self._outcome(self.hit) in UNFINISHED):
            return False
        if self.hit.moment in CUTS and self._outcome(self.hit) == "started":
            self.complaints.append(f"nothing came of {self.hit}")
        self.end()
        return True

    def _overtaken(self, hit: Hit) -> bool:
        """Whether another worker has the run's lease, or has ended the run."""
        with transaction(self.ground.engine) as session:
            newer = "select 1 from step_attempt where run_id = :run and epoch > :epoch limit 1"
            return session.scalar(text(newer), {"run": hit.run, "epoch": hit.epoch}) is not None

    def _outcome(self, hit: Hit) -> str:
        with transaction(self.ground.engine) as session:
            return str(
                session.scalar(
                    text(
                        "select outcome from step_attempt"
                        " where run_id = :run and epoch = :epoch and step = :step"
                    ),
                    {"run": hit.run, "epoch": hit.epoch, "step": hit.step},
                )
            )


@dataclass
class Supervisor:
    """All slots, and the faults that were made so far."""

    ground: Ground
    slots: Sequence[Slot]
    chooser: Chooser
    arming: bool = True

    def tick(self) -> None:
        """Look after every worker once."""
        hits = self.hits()
        for slot in self.slots:
            if slot.free(hits):
                slot.start(self._next_faults(slot))

    def hits(self) -> list[Hit]:
        """Every fault made so far."""
        return hits_in(self.ground.report)

    def disarm(self) -> None:
        """No more faults: workers that are still armed are killed and started whole."""
        self.arming = False
        for slot in self.slots:
            if slot.armed and slot.hit is None:
                slot.end()

    def complaints(self) -> list[str]:
        """What went wrong with the workers themselves."""
        return [complaint for slot in self.slots for complaint in slot.complaints]

    def stop(self) -> None:
        """Kill them all."""
        for slot in self.slots:
            slot.end()

    def _next_faults(self, slot: Slot) -> Sequence[Fault]:
        if not self.arming:
            return ()
        self.chooser.made = Counter((hit.step, Moment(hit.moment)) for hit in self.hits())
        # Who is stopped needs another one that goes on.
        others = any(other.pausing for other in self.slots if other is not slot)
        return self.chooser.next(without=PAUSES if others or len(self.slots) == 1 else ())
