"""Runs threads one at a time and switches where it is told, so that an interleaving is a list.

A thread stops at every switch point: before each statement, commit and rollback of an engine,
before each call to a host, and wherever it says so itself. Which one goes on is the schedule's
choice. A thread that waits for a lock within the database is left to wait while others go on.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import Engine, event, text

# So long a thread may compute between two switch points before it counts as hung.
HUNG_S = 30.0
LOOK_S = 0.001
# The database is asked whether a thread waits for a lock once it was silent for so long.
SUSPECT_S = 0.02


class Deadlocked(Exception):
    """Every thread waits for a lock in the database, or one computes for ever."""


class _Abandoned(BaseException):
    """Ends a thread whose schedule failed; no handler of ours may catch it."""


@dataclass
class Player:
    """One thread of the interleaving."""

    name: str
    act: Callable[[], Any]
    result: Any = None
    error: BaseException | None = None
    points: list[str] = field(default_factory=list)
    """The switch points that it has reached, in order."""
    thread: threading.Thread | None = None
    go: threading.Semaphore = field(default_factory=lambda: threading.Semaphore(0))
    parked: threading.Event = field(default_factory=threading.Event)
    over: threading.Event = field(default_factory=threading.Event)
    pid: int = 0
    """The server's process of its connection in use."""
    blocked: bool = False
    """Whether it was seen to wait for a lock within the database."""


@dataclass
class Scheduler:
    """Plays *players* over *engine*; *watch* is another engine, for looking on."""

    engine: Engine
    watch: Engine
    _players: dict[int, Player] = field(default_factory=dict)
    _listeners: dict[str, Callable[..., None]] = field(default_factory=dict)
    _abandoned: bool = False

    def __post_init__(self) -> None:
        for name in ("before_cursor_execute", "commit", "rollback"):
            event.listen(self.engine, name, self._listener(name))
        self._looking = self.watch.connect().execution_options(isolation_level="AUTOCOMMIT")

    def close(self) -> None:
        """Leave the engine as it was."""
        for name, listener in self._listeners.items():
            event.remove(self.engine, name, listener)
        self._looking.close()

    def point(self, name: str) -> None:
        """A switch point of the calling thread, if it is one of ours."""
        player = self._players.get(threading.get_ident())
        if player is None:
            return
        player.points.append(name)
        player.parked.set()
        player.go.acquire()
        if self._abandoned:
            raise _Abandoned

    def play(
        self, acts: Sequence[tuple[str, Callable[[], Any]]], choose: Callable[[list[str]], str]
    ) -> dict[str, Player]:
        """Run the acts to their end; *choose* names one of the players that can go on.

        Raises :class:`Deadlocked`.
        """
        players = {name: Player(name, act) for name, act in acts}
        for player in players.values():
            player.thread = threading.Thread(target=self._run, args=(player,), daemon=True)
            player.thread.start()
            player.parked.wait(HUNG_S)
        try:
            while ready := self._ready(players.values()):
                chosen = players[choose(sorted(player.name for player in ready))]
                freed = chosen.points[-1].startswith(("commit", "rollback"))
                chosen.parked.clear()
                chosen.go.release()
                self._await(chosen)
                for player in players.values():
                    # Whoever waited for a lock that is free now reaches its point soon.
                    player.blocked = player.blocked and not freed
        except BaseException:
            self._abandon(players.values())
            raise
        return players

    def _run(self, player: Player) -> None:
        self._players[threading.get_ident()] = player
        try:
            self.point("begin")
            player.result = player.act()
        except _Abandoned:
            pass
        except BaseException as error:  # noqa: BLE001 whoever plays looks at it
            player.error = error
        finally:
            del self._players[threading.get_ident()]
            player.over.set()
            player.parked.set()

    def _ready(self, players: Any) -> list[Player]:
        """Those that stand at a switch point; waits for one while others hold a lock."""
        began = time.monotonic()
        while True:
            going = [p for p in players if not p.over.is_set()]
            for player in going:
                if not player.parked.is_set():
                    self._await(player)
            ready = [p for p in going if p.parked.is_set() and not p.over.is_set()]
            if ready or all(p.over.is_set() for p in going):
                return ready
            if time.monotonic() - began > HUNG_S:
                raise Deadlocked(f"{[p.name for p in going]} wait for each other")

    def _await(self, player: Player) -> None:
        """Until it stands at a point, has ended, or waits for a lock."""
        began = time.monotonic()
        suspect_s = 0.0 if player.blocked else SUSPECT_S
        while not player.parked.wait(LOOK_S):
            silent = time.monotonic() - began
            if silent >= suspect_s and self._waits_for_lock(player.pid):
                player.blocked = True
                return
            if silent > HUNG_S:
                last = player.points[-3:]
                raise Deadlocked(f"{player.name} came to no switch point after {last}")
        player.blocked = False

    def _waits_for_lock(self, pid: int) -> bool:
        waits = "select wait_event_type = 'Lock' from pg_stat_activity where pid = :pid"
        return bool(self._looking.scalar(text(waits), {"pid": pid}))

    def _abandon(self, players: Any) -> None:
        self._abandoned = True
        for player in players:
            player.go.release()
        for player in players:
            player.over.wait(5.0)
        self._abandoned = False

    def _listener(self, name: str) -> Callable[..., None]:
        def reached(connection: Any, *more: Any) -> None:
            player = self._players.get(threading.get_ident())
            if player is None:
                return
            player.pid = connection.connection.dbapi_connection.info.backend_pid
            said = f"{name} {' '.join(more[1].split())[:60]}" if more else name
            self.point(said)

        self._listeners[name] = reached
        return reached


def alternating(first: str, points: Sequence[int]) -> Callable[[list[str]], str]:
    """A schedule: *first* goes on for so many points, then another one for so many, and so on.

    After the last number whoever goes on does so to its end.
    """
    left = list(points)
    current = first

    def choose(ready: list[str]) -> str:
        nonlocal current
        if left and left[0] <= 0:
            left.pop(0)
            current = next((name for name in ready if name != current), current)
        if current not in ready:
            current = ready[0]
        if left:
            left[0] -= 1
        return current

    return choose
