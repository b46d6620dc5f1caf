"""Reads that many wait for at the same moment, made once for all of them.

Whoever waits gets an answer whose reading began after the request came in: it never shows less
than the database held then. A request that comes while a reading goes on waits for the next one,
which all share that came meanwhile.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from typing import Any, TypeVar

from starlette.concurrency import run_in_threadpool

Answer = TypeVar("Answer")


@dataclass(slots=True)
class _Turns:
    """The reading that goes on for one key, and the one after it."""

    next: asyncio.Future[Any] | None = None
    read: Callable[[], Any] | None = None


@dataclass(slots=True)
class SharedReads:
    """Readings by key. Used within one event loop."""

    _turns: dict[Hashable, _Turns] = field(default_factory=dict)
    _going: set[asyncio.Task[None]] = field(default_factory=set)

    async def answer(self, key: Hashable, read: Callable[[], Answer]) -> Answer:
        """What *read* returns, or raises, in a thread; all that share *key* must read the same.

        A caller that is cancelled leaves the others' reading alone.
        """
        turns = self._turns.get(key)
        if turns is None:
            self._turns[key] = _Turns()
            mine: asyncio.Future[Answer] = asyncio.get_running_loop().create_future()
            self._begin(key, mine, read)
        else:
            if turns.next is None:
                turns.next, turns.read = asyncio.get_running_loop().create_future(), read
            mine = turns.next
        return await asyncio.shield(mine)

    def _begin(self, key: Hashable, waited: asyncio.Future[Any], read: Callable[[], Any]) -> None:
        task = asyncio.get_running_loop().create_task(self._take_turns(key, waited, read))
        self._going.add(task)
        task.add_done_callback(self._going.discard)

    async def _take_turns(
        self, key: Hashable, waited: asyncio.Future[Any], read: Callable[[], Any]
    ) -> None:
        """Read for those who wait, and then for those who came meanwhile, until nobody did."""
        while True:
            await _fulfil(waited, read)
            turns = self._turns[key]
            if turns.next is None or turns.read is None:
                del self._turns[key]
                return
            waited, read = turns.next, turns.read
            self._turns[key] = _Turns()


async def _fulfil(waited: asyncio.Future[Any], read: Callable[[], Any]) -> None:
    """Give *waited* what *read* returns or raises."""
    try:
        found = await run_in_threadpool(read)
    except Exception as error:  # noqa: BLE001 who waits for it looks at it
        waited.set_exception(error)
        # All who waited may be gone.
        waited.exception()
    except asyncio.CancelledError:
        waited.cancel()
        raise
    else:
        waited.set_result(found)
