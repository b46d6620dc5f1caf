"""Hosts without a controller: SSH is all there is."""

from __future__ import annotations

from typing import NoReturn

from mitigauge.measurement.fleet.power_values import NoPowerValues
from pipelines.adapters.power.protocol import PowerError


class NoPower:
    """No power but by a person's hand (``driver: none``)."""

    def __init__(self, values: NoPowerValues) -> None:
        pass

    def is_on(self) -> bool:
        """Nobody knows: PowerError."""
        self._refuse("tells whether it is on")

    def on(self) -> None:
        """PowerError."""
        self._refuse("can power it up")

    def off(self) -> None:
        """PowerError."""
        self._refuse("can cut its power")

    def cycle(self) -> None:
        """PowerError: a person has to."""
        self._refuse("can power-cycle it")

    def nmi(self) -> None:
        """PowerError."""
        self._refuse("can interrupt it")

    def progress(self) -> str:
        """Nothing is known."""
        return ""

    def _refuse(self, what: str) -> NoReturn:
        # The way out is part of the message: it becomes the reason that pages show.
        raise PowerError(
            f"The host has no power controller (driver none), so nothing here {what}: if it "
            "hangs, a person must switch it off and on at the machine, "
            "then `mitigauge host resume HOST` lets its runs go on.",
            hint="With a controller, give it another mitigauge_power: docs/hosts.md.",
        )
