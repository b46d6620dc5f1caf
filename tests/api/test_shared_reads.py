"""Reads that are made once for all who wait, and never show less than there was on asking."""

from __future__ import annotations

import asyncio
import threading
import time
from typing import Any

import pytest

from api.shared_reads import SharedReads

pytestmark = pytest.mark.anyio


@pytest.fixture
def anyio_backend() -> str:
    """What uvicorn runs on."""
    return "asyncio"


class Counted:
    """A reading that takes a moment and says how often it was made."""

    def __init__(self, takes_s: float = 0.05) -> None:
        self.takes_s = takes_s
        self.made = 0
        self.begun = threading.Event()

    def __call__(self) -> int:
        self.begun.set()
        self.made += 1
        made = self.made
        time.sleep(self.takes_s)
        return made


async def test_many_at_once_share_two_readings_at_most() -> None:
    shared, read = SharedReads(), Counted()
    answers = await asyncio.gather(*(shared.answer("page", read) for _ in range(32)))
    assert read.made == 2
    assert sorted(set(answers)) == [1, 2]
    assert await shared.answer("page", read) == 3


async def test_who_comes_while_a_reading_goes_on_gets_the_next() -> None:
    shared, world = SharedReads(), {"boots": 1}
    begun, go_on = threading.Event(), threading.Event()

    def read() -> int:
        seen = world["boots"]
        begun.set()
        go_on.wait(5)
        return seen

    first = asyncio.ensure_future(shared.answer("page", read))
    await asyncio.to_thread(begun.wait, 5)
    world["boots"] = 2
    second = asyncio.ensure_future(shared.answer("page", read))
    await asyncio.sleep(0)
    go_on.set()
    assert await first == 1
    assert await second == 2


async def test_other_pages_do_not_wait() -> None:
    shared = SharedReads()
    slow = asyncio.ensure_future(shared.answer("slow", Counted(1.0)))
    assert await asyncio.wait_for(shared.answer("quick", Counted(0.0)), 0.8) == 1
    slow.cancel()


async def test_all_who_wait_learn_of_an_error_and_the_next_reading_is_made() -> None:
    shared, made = SharedReads(), Counted()

    def fail() -> Any:
        made()
        raise ValueError("no such page")

    found = await asyncio.gather(
        *(shared.answer("page", fail) for _ in range(8)), return_exceptions=True
    )
    assert {str(error) for error in found} == {"no such page"}
    assert made.made == 2
    assert await shared.answer("page", Counted()) == 1


async def test_a_client_that_hangs_up_takes_nothing_from_the_others() -> None:
    shared, read = SharedReads(), Counted()
    gone = asyncio.ensure_future(shared.answer("page", read))
    await asyncio.to_thread(read.begun.wait, 5)
    waiting = [asyncio.ensure_future(shared.answer("page", read)) for _ in range(3)]
    await asyncio.sleep(0)
    gone.cancel()
    waiting[0].cancel()
    assert await asyncio.gather(*waiting[1:]) == [2, 2]
    with pytest.raises(asyncio.CancelledError):
        await gone


async def test_nothing_is_kept_once_nobody_waits() -> None:
    shared = SharedReads()
    await shared.answer("page", Counted(0.0))
    await asyncio.sleep(0)
    assert shared == SharedReads()
