"""``mitigauge host restore``: put back everything that was ever changed on a host."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Protocol

from mitigauge.core.hostile_text import clean_text
from mitigauge.measurement.runs.boot_evidence import BootProof
from pipelines.host_control import Facts, LabFault
from pipelines.next_boot import Bootable, next_boot


class Restorable(Bootable, Protocol):
    """What of a host is needed to put it back."""

    def restore(self) -> Facts: ...
    def reboot(self) -> None: ...
    def put_back(self) -> Facts: ...


@dataclass(frozen=True, slots=True)
class PutBack:
    """One thing of the host; *left*: it stays as it is, and *what* says why."""

    name: str
    what: str
    left: bool = False


def put_back(
    host: Restorable, tell: Callable[[str], None], *, boot_timeout_s: float
) -> Iterator[PutBack]:
    """Everything that was put back, as it is done; *tell* is told what is being done.

    Done again it finds nothing to do. Raises :class:`LabFault` where the host does not
    answer, does not come back or refuses a step; all that was yielded before holds.
    """
    tell("tuning and boot entry")
    yield from _of_a_run(host.restore())
    before = host.look()
    if before.nonce:
        tell("a reboot into its own kernel")
        host.reboot()
        now = _awaited(host, before.boot_id, boot_timeout_s)
        yield PutBack("running kernel", f"its own default, {now.kernel_release}")
    tell("packages, units and files")
    for item in host.put_back()["put_back"]:
        yield PutBack(clean_text(item["name"]), clean_text(item["what"]), item["left"])


def _of_a_run(facts: Facts) -> Iterator[PutBack]:
    """What restore.yml put back, which also ends every run."""
    restored: Any = facts.get("restored")
    said = restored if isinstance(restored, dict) else {}
    if said.get("boot_entry"):
        yield PutBack("boot entry", "removed")
    for kind, word in (("knobs", "again"), ("units", "")):
        values = said.get(kind)
        for name, value in sorted(values.items()) if isinstance(values, dict) else []:
            yield PutBack(clean_text(str(name)), clean_text(f"{value} {word}").strip())


def _awaited(host: Restorable, boot_id: str | None, timeout_s: float) -> BootProof:
    """The proof of the boot after *boot_id*; raises :class:`LabFault` where none comes up."""
    now = next_boot(host, boot_id, timeout_s)
    if now is None:
        raise LabFault(
            f"the host did not come back within {timeout_s:.0f} s of its reboot",
            hint="Look at its console; once it is up, restore again.",
        )
    if now.nonce:
        raise LabFault(
            "the host came up with a boot of an experiment again",
            hint="Choose its own entry in GRUB's menu, then restore again.",
        )
    return now
