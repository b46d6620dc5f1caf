"""What a host says of one boot: the entry that it was told to boot, and what came up. Pure.

All of it is a host's word, kept as it was said. What a boot had to show is never taken from here;
see ``proof.py``.
"""

from __future__ import annotations

from typing import Annotated

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from mitigauge.core.hostile_text import clean_text
from mitigauge.core.wire.kernel_log import (
    LONGEST_LINE,
    LONGEST_TEXT,
    MOST_LINES,
    MOST_REJECTING,
)

Word = Annotated[str, Field(max_length=300)]
Line = Annotated[str, Field(max_length=8192)]
KernelLine = Annotated[str, Field(max_length=LONGEST_TEXT), AfterValidator(clean_text)]
Rejection = Annotated[str, Field(max_length=LONGEST_LINE), AfterValidator(clean_text)]
Count = Annotated[int, Field(ge=0, lt=2**63)]
# Longer than any job may take.
Seconds = Annotated[float, Field(ge=0, le=1e8, allow_inf_nan=False)]


class _Evidence(BaseModel):
    model_config = ConfigDict(extra="ignore", frozen=True)


class Watchdog(_Evidence):
    """The device that resets a hung host."""

    identity: Word | None = None
    state: Word | None = None
    timeout_s: Count | None = None


class WrittenEntry(_Evidence):
    """The one-shot entry that a host says it wrote.

    *loader*: `efi` (the firmware itself) or `grub`. *previous_boot_id*: of what was up then.
    """

    entry_id: Word | None = None
    loader: Word | None = None
    already_up: bool = False
    default_entry: Line | None = None
    kernel_release: Word
    kernel_version: Line | None = None
    previous_boot_id: Word | None = None
    cmdline: Line = ""
    watchdog: Watchdog | None = None


class BootEntry(WrittenEntry):
    """The entry as our row of a boot keeps it.

    *nonce* and *boot_id*: of the boot within which an arm is applied that gets none of its own, by
    our own rows and never by a host's answer.
    """

    nonce: Word | None = None
    boot_id: Word | None = None


class BootProof(_Evidence):
    """What the system that is up shows of itself.

    *loader_type*: as /proc/sys/kernel/bootloader_type has it. *readings*: file below the host's
    root → its text, None where it cannot be read. *boot_next*: the number of the entry that the
    firmware (EFI) would start next; None: its own order. *kernel_log*: lines that explain a taint.
    *rejections*: lines of the kernel's log that reject an option of the command line.
    *tainted_while_measuring*: bits that came later, which our row gets of the job.
    """

    boot_id: Word | None = None
    nonce: Word | None = None
    kernel_release: Word | None = None
    kernel_version: Line | None = None
    build_id: Word | None = None
    cmdline: Line | None = None
    loader_type: Count | None = None
    vulnerabilities: dict[Word, Line] = Field(default_factory=dict, max_length=200)
    readings: dict[Word, Line | None] = Field(default_factory=dict, max_length=200)
    tainted: Count | None = None
    taint_flags: Word | list[Word] | None = None
    kernel_log: list[KernelLine] = Field(default_factory=list, max_length=MOST_LINES)
    rejections: list[Rejection] = Field(default_factory=list, max_length=MOST_REJECTING)
    tainted_while_measuring: Count = 0
    microcode: Word | None = None
    watchdog: Watchdog | None = None
    uptime_s: Seconds | None = None
    boot_next: Word | None = None
