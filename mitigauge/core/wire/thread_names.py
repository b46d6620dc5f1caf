"""One name for threads that differ by number alone: `CPU 3/KVM` is `CPU */KVM`.

The rules of what a host counts by thread and of profiles. A name has spaces here; where a profile
has it, underscores. Change anything, and raise the version in
mitigauge/analysis/profiles/store/normalise.yml.
"""

from __future__ import annotations

from typing import Final, NamedTuple


class Rule(NamedTuple):
    """A regular expression for a whole name, what becomes of it, and why."""

    match: str
    becomes: str
    why: str


# The first that fits is taken.
RULES: Final = (
    Rule(r"CPU \d+/(KVM|TCG|HVF)", r"CPU */\1", "one thread a virtual processor"),
    Rule(r"vhost-\d+", "vhost-*", "named after QEMU's process"),
    Rule(r"(handler|revalidator)\d+", r"\1*", "Open vSwitch threads"),
    Rule(r"kworker/.*", "kworker/*", "pool and number of the worker"),
    Rule(r"(swapper|ksoftirqd|migration|cpuhp|idle_inject|irq)/\d.*", r"\1/*", "one a processor"),
    Rule(r"rcuo[a-z]/\d+", "rcuo*/*", "one a processor"),
    Rule(r"worker-\d+", "worker-*", "QEMU's thread pool"),
    Rule(r"IO \w+", "IO *", "QEMU's I/O threads"),
    Rule(r"kvm-(nx-lpage-re|pit).*", r"kvm-\1", "named after QEMU's process"),
)
