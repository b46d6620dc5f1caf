"""One name for threads that differ by number alone: `CPU 3/KVM` is `CPU */KVM`.

The rules of profiles, and one for the tasks of workload `wakeups`. Standard library only.
"""

from __future__ import annotations

import re
from functools import lru_cache

from _kit.wire import thread_names as wire

# The kernel keeps so many bytes of a name.
LONGEST = 15
# More names than this are no host's threads, but somebody who spends our memory.
MOST_NAMES = 10_000
RULES = (
    *((re.compile(rule.match), rule.becomes) for rule in wire.RULES),
    (re.compile(r"ring-\d+"), "ring-*"),
)


@lru_cache(maxsize=1 << 14)
def merged(name: str) -> str:
    """The name without its numbers; the first rule that fits is taken."""
    for pattern, becomes in RULES:
        if found := pattern.fullmatch(name):
            return found.expand(becomes)
    return name
