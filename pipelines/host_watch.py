"""Waiting for a host beside the steps: at the cost of neither a thread nor a play.

A run that waits sets down its lease and sleeps. What it waits for is watched here, and the run is
woken when it has come. That is a hint and no more: whoever is woken looks itself, and a run that
nobody wakes looks by itself after a while.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from typing import Final, Protocol

# A run whose host is watched is woken by what it waits for; else it looks so often whether that
# holds.
WATCHED_LOOK_S: Final = 60.0


class Watched(StrEnum):
    """How what a run waits for stands."""

    NOT = "not watched"
    WAITS = "waits"
    COME = "has come"


class HostWatch(Protocol):
    """What waits. *what* tells one thing that a run waits for from its next."""

    def state(self, run_id: int, what: str, /) -> Watched:
        """How it stands. One that has come is told once, and then is watched no more."""
        ...

    def await_job(self, run_id: int, what: str, place: tuple[str, str], job: str, /) -> bool:
        """Wait for the end of a host's job that runs, or begins soon; whether it is waited for.

        *place*: environment and name of the host. Returns once the host waits, so that nothing
        of it comes into what is measured.
        """
        ...

    def await_greeting(
        self, run_id: int, what: str, place: tuple[str, str], after_s: float, /
    ) -> bool:
        """Wait until SSH answers on the host, first asked *after_s* from now; whether it is."""
        ...

    def drop(self, run_id: int, /) -> None:
        """Wait no more for anything of the run's."""
        ...

    def come(self) -> Sequence[tuple[int, str]]:
        """Runs to be woken, each with its host's environment, until they were told."""
        ...

    def close(self) -> Sequence[int]:
        """End all waiting; the runs that waited, for whoever looks after them now."""
        ...


class NoWatch:
    """Watches nothing: steps wait themselves."""

    def state(self, _run_id: int, _what: str, /) -> Watched:
        """Nothing is watched."""
        return Watched.NOT

    def await_job(self, _run_id: int, _what: str, _place: tuple[str, str], _job: str, /) -> bool:
        """Not done here."""
        return False

    def await_greeting(
        self, _run_id: int, _what: str, _place: tuple[str, str], _after_s: float, /
    ) -> bool:
        """Not done here."""
        return False

    def drop(self, _run_id: int, /) -> None:
        """There is nothing to drop."""

    def come(self) -> Sequence[tuple[int, str]]:
        """Nobody is woken."""
        return ()

    def close(self) -> Sequence[int]:
        """Nobody waited."""
        return ()
