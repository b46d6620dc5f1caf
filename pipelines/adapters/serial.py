"""What a serial log tells: why a boot failed, and whether a system is up. Pure."""

from __future__ import annotations

# What a kernel prints when it gives up. A fallback that boots afterwards may print far more
# than is kept, so the end of the log would not have it.
DEATHS = (
    *("Kernel panic", "Oops:", "BUG: ", "watchdog: BUG", "---[ end Kernel"),
    *('"mitigauge" from', "bad shim signature", "Gave up waiting for root", "dracut: FATAL"),
)


# What a kernel prints first and last.
BEGINNINGS_AND_ENDS = ("Linux version ", "reboot: ", "Kernel panic")


def is_up(log: str, greeting: str) -> bool:
    """Whether the system that said *log* is up: its *greeting* came after it began to boot.

    A log in which no system begins or ends says nothing against it.
    """
    since = max(log.rfind(mark) for mark in BEGINNINGS_AND_ENDS)
    return since < 0 or log.rfind(greeting) > since


def telling_part(log: str, kept: int) -> str:
    """At most *kept* characters: around the last death of a kernel, else the end of *log*."""
    if len(log) <= kept:
        return log
    death = max(log.rfind(mark) for mark in DEATHS)
    if death < 0:
        return log[-kept:]
    end = min(len(log), death + kept // 2)
    return log[max(0, end - kept) : end]
