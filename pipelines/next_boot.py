"""Waiting for the boot after the one that is up."""

from __future__ import annotations

import time
from typing import Protocol

from mitigauge.measurement.runs.boot_evidence import BootProof
from pipelines.host_control import Unanswered

LOOK_EVERY_S = 2.0
# A system on its way down greets for so long at most.
GOING_DOWN_S = 8.0


class Bootable(Protocol):
    """What of a host is needed to see another boot of it."""

    def answers(self) -> bool: ...
    def look(self) -> BootProof: ...


def next_boot(host: Bootable, before: str | None, limit_s: float) -> BootProof | None:
    """The proof of the boot after that of id *before*; None where none comes up in time."""
    time.sleep(GOING_DOWN_S)
    deadline = time.monotonic() + limit_s
    while time.monotonic() < deadline:
        if host.answers():
            try:
                proof = host.look()
            except Unanswered:
                proof = BootProof(boot_id=before)  # on its way down, or not all the way up
            if proof.boot_id != before:
                return proof
        time.sleep(LOOK_EVERY_S)
    return None
