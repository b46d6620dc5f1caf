"""What a run's host did with its time, in words."""

from __future__ import annotations

from mitigauge.core.documents.parts import counted
from mitigauge.reporting.pages.schemas import HostTimeView, RunView


def host_time(run: RunView, time: HostTimeView) -> str:
    """One line: how long in all, for boots by each method, measuring, and neither."""
    boots = ", ".join(
        f"{counted(of.boots, 'boot')} by {of.method} of {_clock(of.mean_s)}" for of in time.boots
    )
    share = 100 * time.other_s / time.total_s if time.total_s else 0.0
    return (
        f"{run.comparison} on {run.host}: {_clock(time.total_s)} min, of which booting "
        f"{_clock(time.booting_s)} ({boots or 'no boot'}), measuring {_clock(time.measuring_s)}, "
        f"neither {_clock(time.other_s)} ({share:.0f} %)"
    )


def _clock(seconds: float) -> str:
    """Minutes and seconds: ``12:07``."""
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes}:{rest:02}"
