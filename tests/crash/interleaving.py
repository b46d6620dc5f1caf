"""Two workers at one run, at a stage of its life, under a schedule: played, and judged."""

from __future__ import annotations

import shutil
import threading
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sqlalchemy import Engine, text

from mitigauge.storage.database.engine import transaction
from mitigauge.storage.database.metadata import whole_metadata
from pipelines.advance import Advancer
from tests.crash.adapt import FAULTS, FINAL, UNFINISHED
from tests.crash.behaviours import Behaviour
from tests.crash.scheduler import Player, Scheduler, alternating
from tests.crash.simulated_host import SimulatedHost, changed, opener

LEASE_S = 600.0
EFFECTS = ("prepare", "arm", "start", "restore", "power_cycle")
CALLS = (*EFFECTS, "answers", "verify", "poll", "serial_offset", "serial_tail")
# Done once more by whoever takes over from a worker that had not yet committed them.
REPEATABLE = ("prepare", "restore", "power-cycle")


class SkewedTime:
    """The module ``time``, with clocks that a test can put forward."""

    def __init__(self) -> None:
        self.ahead_s = 0.0

    def monotonic(self) -> float:
        return time.monotonic() + self.ahead_s

    def clock_gettime(self, clock: int) -> float:
        return time.clock_gettime(clock) + self.ahead_s

    def __getattr__(self, name: str) -> Any:
        return getattr(time, name)


@dataclass
class Snapshot:
    """All rows and the worlds at one moment, to come back to."""

    engine: Engine
    worlds: Path

    def take(self) -> None:
        """Keep what there is now."""
        with self.engine.begin() as connection:
            connection.execute(text("drop schema if exists kept cascade"))
            connection.execute(text("create schema kept"))
            for table in whole_metadata().sorted_tables:
                connection.execute(text(f"create table kept.{table.name} as table {table.name}"))
        for world in self.worlds.glob("*.json"):
            shutil.copy(world, world.with_suffix(".kept"))

    def restore(self) -> None:
        """Come back to what was kept."""
        with self.engine.begin() as connection:
            connection.execute(text("set local session_replication_role = replica"))
            # The audit log alters no entry; it only grows, and no worker reads it.
            for table in whole_metadata().sorted_tables:
                if table.name == "audit_entry":
                    continue
                connection.execute(text(f"delete from {table.name}"))
                connection.execute(text(f"insert into {table.name} table kept.{table.name}"))
        for kept in self.worlds.glob("*.kept"):
            shutil.copy(kept, kept.with_suffix(".json"))


@dataclass(frozen=True)
class WatchedAdvancer(Advancer):
    """An advancer that notes which lease each thread acts under."""

    taken: dict[int, Any] = field(default_factory=dict)

    @property
    def _renewals(self) -> Engine:
        """The engine whose statements the scheduler knows as switch points."""
        return self.engine

    def _take(self, *arguments: Any) -> Any:
        taken = super()._take(*arguments)
        self.taken[threading.get_ident()] = getattr(taken, "lease", None)
        return taken


@dataclass
class Stage:
    """A run at one point of its life, with two workers that go on with it."""

    engine: Engine
    watch: Engine
    worlds: Path
    catalog: Any
    run: int
    clock: SkewedTime
    wrong: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.scheduler = Scheduler(self.engine, self.watch)
        self.snapshot = Snapshot(self.watch, self.worlds)
        self.advancers = {name: self._advancer() for name in ("a", "b")}

    def step_alone(self) -> float | None:
        """One step, by one worker."""
        return self.advancers["a"].advance(self.run)

    def last_step(self) -> str:
        """The step that was taken last."""
        with self.watch.connect() as connection:
            step = "select step from step_attempt order by id desc limit 1"
            return str(connection.scalar(text(step)) or "")

    def points_alone(self) -> tuple[str, int]:
        """The stage's step, and how many switch points one worker has in it."""
        players = self.scheduler.play([("a", self._act("a"))], alternating("a", []))
        step = self.last_step()
        self.snapshot.restore()
        return step, len(players["a"].points)

    def played(self, choose: Callable[[list[str]], str], *, expiring: bool = False) -> list[str]:
        """What was wrong with one schedule; afterwards all is as it was before."""
        self.wrong = []
        acts = [(name, self._act(name)) for name in self.advancers]
        if expiring:
            acts.append(("expiry", self.expire))
        with self.watch.connect() as connection:
            before = int(connection.scalar(text("select max(id) from step_attempt")) or 0)
        did = self._did()
        try:
            players = self.scheduler.play(acts, choose)
            self._judge(players, before, did, expiring=expiring)
        finally:
            self.snapshot.restore()
            self.clock.ahead_s = 0.0
        return self.wrong

    def expire(self) -> None:
        """Time passes: whoever holds the host held it too long, and its own clock says so too."""
        self.clock.ahead_s += 2 * LEASE_S
        with self.watch.begin() as connection:
            connection.execute(
                text(
                    "update host_lease set expires_at = clock_timestamp() - interval '1 s'"
                    " where id in (select id from host_lease where released_at is null"
                    " for update skip locked)"
                )
            )

    def close(self) -> None:
        """Leave the engine as it was."""
        self.scheduler.close()

    def _act(self, name: str) -> Callable[[], Any]:
        return lambda: self.advancers[name].advance(self.run)

    def _advancer(self) -> WatchedAdvancer:
        leases: dict[int, Any] = {}
        opened = opener(self.worlds)

        def open_host(environment: str, name: str, log: Any) -> Any:
            return _Switching(opened(environment, name, log), self, leases)

        return WatchedAdvancer(
            self.engine, open_host, self.catalog, lease_seconds=LEASE_S, taken=leases
        )

    def _did(self) -> Counter[str]:
        [world] = self.worlds.glob("*.json")
        with changed(world) as facts:
            return Counter(facts["did"])

    def _judge(
        self, players: dict[str, Player], before: int, did: Counter[str], *, expiring: bool
    ) -> None:
        self.wrong += [f"{p.name} raised {p.error!r}" for p in players.values() if p.error]
        for what, times in (self._did() - did).items():
            if times > 1 and not (expiring and what.startswith(REPEATABLE)):
                self.wrong.append(f"{what}: done {times} times")
        with transaction(self.watch) as session:
            attempts = session.execute(
                text("select step, boot_id, outcome from step_attempt where id > :id"),
                {"id": before},
            ).all()
            held = session.execute(
                text(
                    "select run.state from host_lease join run on run.id = run_id"
                    " where released_at is null"
                )
            ).scalars().all()  # fmt: skip
        booked = Counter(
            (step, boot) for step, boot, outcome in attempts
            if outcome not in (*UNFINISHED, *FAULTS, "running")
        )  # fmt: skip
        self.wrong += [f"{step} of boot {b} was booked {n} times"
                       for (step, b), n in booked.items() if n > 1]  # fmt: skip
        self.wrong += [f"a run that {state} holds its host" for state in held if state in FINAL]

    def look_at_effect(self, call: str, lease: Any) -> None:
        """A side effect was made just now: was it under the lease that counts?"""
        with self.watch.connect() as connection:
            epoch = connection.scalar(
                text(
                    "select epoch from host_lease where host_id = :host and released_at is null"
                    " and expires_at > clock_timestamp()"
                ),
                {"host": lease.host_id},
            )
        if epoch != lease.epoch:
            self.wrong.append(f"{call} under epoch {lease.epoch} while {epoch} counts")


class _Switching:
    """A host whose every call is a switch point."""

    def __init__(self, host: SimulatedHost, stage: Stage, leases: dict[int, Any]) -> None:
        self._host, self._stage, self._leases = host, stage, leases

    def __getattr__(self, name: str) -> Any:
        call = getattr(self._host, name)
        if name not in CALLS:
            return call

        def switching(*arguments: Any, **named: Any) -> Any:
            self._stage.scheduler.point(f"host.{name}")
            # Of this call alone: another worker may act while it asks for its lease.
            before = self._host.made
            try:
                return call(*arguments, **named)
            finally:
                if name in EFFECTS and self._host.made != before:
                    self._stage.look_at_effect(name, self._leases[threading.get_ident()])

        return switching


def with_expiry(
    first: str, points: Sequence[int], expires_after: int
) -> Callable[[list[str]], str]:
    """``alternating`` between the workers, with time passing after so many choices."""
    schedule = alternating(first, points)
    made = 0

    def choose(ready: list[str]) -> str:
        nonlocal made
        made += 1
        workers = [name for name in ready if name != "expiry"]
        if "expiry" in ready and (made > expires_after or not workers):
            return "expiry"
        return schedule(workers)

    return choose


__all__ = ["Behaviour", "SkewedTime", "Stage", "with_expiry"]
