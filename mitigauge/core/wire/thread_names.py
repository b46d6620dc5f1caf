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
    Rule(
        r"(swapper|ksoftirqd|migration|cpuhp|idle_inject|irq|watchdog|rcu[bc]|ktimers"
        r"|posixcputmr|backlog_napi|stopper|dmcrypt_write)/\d.*",
        r"\1/*",
        "one a processor, an interrupt or a device",
    ),
    Rule(r"iou-(wrk|sqp)-\d+", r"iou-\1-*", "io_uring's, named after the process they serve"),
    Rule(r"(io_wqe_(?:worker|manager))-\d+", r"\1-*", "io_uring's of older kernels"),
    Rule(r"(napi|jbd2)/(.{0,200})-\d+", r"\1/\2-*", "numbers that devices get as they come"),
    Rule(r"nvme-(.{0,200})-\d+", r"nvme-\1-*", "numbers that devices get as they come"),
    Rule(r"(scsi_eh_|loop|kswapd|kcompactd)\d+(?::\d+)?", r"\1*", "one a device or a node"),
    Rule(r"((?:\[LWP\] )?Thread)-\d+", r"\1-*", "numbered as they begin"),
    Rule(r"rcuo[a-z]/\d+", "rcuo*/*", "one a processor"),
    Rule(r"worker-\d+", "worker-*", "QEMU's thread pool"),
    Rule(r"IO \w+", "IO *", "QEMU's I/O threads"),
    Rule(r"kvm-(nx-lpage-re|pit).*", r"kvm-\1", "named after QEMU's process"),
)
