"""Asynchronous work done from synchronous code, with one limit on all of it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

Result = TypeVar("Result")


def in_time(work: Callable[[], Coroutine[Any, Any, Result]], limit_s: float) -> Result:
    """What *work* returns; ``TimeoutError`` when it takes longer than *limit_s* seconds.

    It is cut off wherever it waits then, be it for a byte that a machine sends once a minute.
    """

    async def limited() -> Result:
        return await asyncio.wait_for(work(), limit_s)

    # A thread of its own: the caller may already be inside an event loop.
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(asyncio.run, limited()).result()
