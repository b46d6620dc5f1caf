"""What the kernel does so many times a second: the occasions of mitigations. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import StrEnum

from pydantic import Field

from mitigauge.core.field_types import Closed, Text


class KernelEvent(StrEnum):
    """An occasion at which a mitigation does its work."""

    SYSTEM_CALL = "system-call"
    PAGE_FAULT = "page-fault"
    """Of user space and of the kernel."""
    USER_FAULT = "user-fault"
    """A page fault that returns to user space."""
    INTERRUPT = "interrupt"
    USER_INTERRUPT = "user-interrupt"
    """An interrupt that came in user space, and returns there."""
    CONTEXT_SWITCH = "context-switch"
    """Of tasks, also of threads of one process."""
    ADDRESS_SPACE_SWITCH = "address-space-switch"
    RESTRICTED_SWITCH = "restricted-switch"
    """To or from a task with PR_SPEC_INDIRECT_BRANCH."""
    STORE_BYPASS_SWITCH = "store-bypass-switch"
    """To or from a task with PR_SPEC_STORE_BYPASS."""
    GUEST_EXIT = "guest-exit"
    """A guest is left, and entered again."""
    GUEST_EXIT_TO_USER = "guest-exit-to-user"
    INDIRECT_BRANCH = "indirect-branch"
    """Of the kernel."""
    KERNEL_RETURN = "kernel-return"
    """From one of its functions."""


# What no counter of the kernel tells.
UNCOUNTED = {
    KernelEvent.INDIRECT_BRANCH: "nothing counts the kernel's indirect branches",
    KernelEvent.KERNEL_RETURN: "nothing counts the returns of the kernel's functions",
}


class Rate(Closed):
    """How often something happens, in events a second of the whole machine."""

    value: float | None = Field(None, ge=0, allow_inf_nan=False)
    """None: it lies within the range, or is not known at all."""
    low: float = Field(0.0, ge=0, allow_inf_nan=False)
    high: float | None = Field(None, ge=0, allow_inf_nan=False)
    """None: nothing bounds it."""
    source: Text = ""
    why: Text = ""
    """Why it is no single figure; empty: it is one."""

    @property
    def is_zero(self) -> bool:
        """Whether it did not happen at all."""
        return self.high == 0


def counted_rate(value: float, source: str) -> Rate:
    """What was counted."""
    return Rate(value=value, low=value, high=value, source=source)


def sum_rates(events: Iterable[KernelEvent], rates: Mapping[KernelEvent, Rate]) -> Rate:
    """Of several events together; one that has no rate is not bounded."""
    parts = [
        rates.get(event, Rate(why=UNCOUNTED.get(event, f"{event}: not counted")))
        for event in events
    ]
    values = [part.value for part in parts if part.value is not None]
    highs = [part.high for part in parts if part.high is not None]
    return Rate(
        value=sum(values) if len(values) == len(parts) else None,
        low=sum(part.low for part in parts),
        high=sum(highs) if len(highs) == len(parts) else None,
        source=", ".join(dict.fromkeys(part.source for part in parts if part.source)),
        why="; ".join(dict.fromkeys(part.why for part in parts if part.why)),
    )
