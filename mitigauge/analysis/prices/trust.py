"""Whether a processor's prices predict what they were not made of, in a word. Pure."""

from __future__ import annotations

from enum import StrEnum

from mitigauge.analysis.prices.definitions import Machine, Processor


class Trust(StrEnum):
    """Whether prices told operations that none of them was made of."""

    TRUSTED = "trusted"
    NOT_TRUSTED = "not_trusted"
    CANNOT_TELL = "cannot_tell"
    """Nothing was predicted and measured there."""


def trust_of_machine(machine: Machine) -> Trust:
    """By the held-out checks of one machine."""
    if not machine.checks:
        return Trust.CANNOT_TELL
    return Trust.TRUSTED if machine.is_trusted else Trust.NOT_TRUSTED


def trust_of(processor: Processor) -> Trust:
    """By all its machines: one whose checks fail is enough not to trust the prices of all."""
    told = {trust_of_machine(machine) for machine in processor.machines}
    return next(
        (word for word in (Trust.NOT_TRUSTED, Trust.TRUSTED) if word in told), Trust.CANNOT_TELL
    )
