"""Advisory locks: each purpose has its own, and there is no other place for their numbers."""

from __future__ import annotations

import re
from collections import Counter

from mitigauge.core.settings import REPOSITORY
from mitigauge.storage.database.locks import SCHEMA_LOCK, Lock

# What PostgreSQL calls them, with what stands first in the brackets.
TAKEN = re.compile(r"pg_(?:try_)?advisory_\w*lock\w*\(\s*([^\s,)]*)")
ALLOWED = {":lock", ":key", *(f"Lock.{lock.name}" for lock in Lock)}


def test_no_two_purposes_share_a_number() -> None:
    numbers = Counter([*(int(lock) for lock in Lock.__members__.values()), SCHEMA_LOCK])
    assert [number for number, times in numbers.items() if times > 1] == []


def test_a_lock_is_taken_by_a_number_of_this_list_and_of_two_parts() -> None:
    found: Counter[str] = Counter()
    for folder in ("mitigauge", "cli", "api", "pipelines"):
        for path in (REPOSITORY / folder).rglob("*.py"):
            found.update(TAKEN.findall(path.read_text("utf-8")))
    assert set(found) <= ALLOWED, found
    # Of one part is the schema's alone: to take it, and to give it back.
    assert found[":key"] == 2
