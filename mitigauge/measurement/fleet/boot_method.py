"""How a host comes from one boot to the next."""

from __future__ import annotations

from enum import StrEnum

# What kexec puts into /proc/sys/kernel/bootloader_type, in its upper four bits
# (arch/x86/kernel/kexec-bzimage64.c); GRUB puts 7 there.
KEXEC_LOADER = 0xD


class BootMethod(StrEnum):
    """One boot's way."""

    RESET = "reset"
    """Through firmware and boot loader: all hardware starts anew."""
    KEXEC = "kexec"
    """From the running kernel straight into the next one: firmware's minutes are saved."""
    WITHIN = "within"
    """Not at all: settings are applied within the block's boot, and taken back after it."""


class HostBoots(StrEnum):
    """A host's way, as its inventory says."""

    RESET = "reset"
    KEXEC = "kexec"
    RESET_THEN_KEXEC = "reset-then-kexec"
    """The first boot of each block by reset, the others by kexec."""

    def method_of(self, place: int) -> BootMethod:
        """How the boot at *place* of a block is made; places count from 1."""
        first_by_reset = self is HostBoots.RESET_THEN_KEXEC and place == 1
        if self is HostBoots.RESET or first_by_reset:
            return BootMethod.RESET
        return BootMethod.KEXEC


def was_by(loader_type: int) -> BootMethod:
    """How a kernel was started that shows *loader_type* in /proc/sys/kernel/bootloader_type."""
    return BootMethod.KEXEC if loader_type >> 4 == KEXEC_LOADER else BootMethod.RESET
