"""The part of a serial log that says why a boot failed. Pure."""

from __future__ import annotations

# What a kernel prints when it gives up. A fallback that boots afterwards may print far more
# than is kept, so the end of the log would not have it.
DEATHS = ("Kernel panic", "Oops:", "BUG: ", "watchdog: BUG", "---[ end Kernel")


def telling_part(log: str, kept: int) -> str:
    """At most *kept* characters: around the last death of a kernel, else the end of *log*."""
    if len(log) <= kept:
        return log
    death = max(log.rfind(mark) for mark in DEATHS)
    if death < 0:
        return log[-kept:]
    end = min(len(log), death + kept // 2)
    return log[max(0, end - kept) : end]
