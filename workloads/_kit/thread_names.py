"""One name for threads that differ by number alone: `CPU 3/KVM` is `CPU */KVM`.

The thread rules of the profiles (mitigauge/profiles/store/normalise.yml), which do not travel to
hosts, and one for the tasks of workload `wakeups`. A test holds the two together. A name has spaces
here where a profile has underscores. Standard library only.
"""

from __future__ import annotations

import re
from functools import lru_cache

# The kernel keeps so many bytes of a name.
LONGEST = 15
# /proc shows names of the kernel's own threads whole; a longer one than this was made up.
LONGEST_WHOLE = 200
# More names than this are no host's threads, but somebody who spends our memory.
MOST_NAMES = 10_000
RULES = tuple(
    (re.compile(match), becomes)
    for match, becomes in (
        (r"CPU \d+/(KVM|TCG|HVF)", r"CPU */\1"),
        (r"vhost-\d+", "vhost-*"),
        (r"(handler|revalidator)\d+", r"\1*"),
        (r"kworker/.*", "kworker/*"),
        (r"(swapper|ksoftirqd|migration|cpuhp|idle_inject|irq)/\d.*", r"\1/*"),
        (r"rcuo[a-z]/\d+", "rcuo*/*"),
        (r"worker-\d+", "worker-*"),
        (r"IO \w+", "IO *"),
        (r"kvm-(nx-lpage-re|pit).*", r"kvm-\1"),
        (r"ring-\d+", "ring-*"),
    )
)


@lru_cache(maxsize=1 << 14)
def merged(name: str) -> str:
    """The name without its numbers; the first rule that fits is taken."""
    for pattern, becomes in RULES:
        if found := pattern.fullmatch(name):
            return found.expand(becomes)
    return name
