"""Exits of all guests of the host, as KVM counts them: Documentation/virt/kvm, `kvm_stat`."""

from __future__ import annotations

from pathlib import Path

EXITS = Path("/sys/kernel/debug/kvm/exits")


def read_exits(path: Path = EXITS) -> int | None:
    """Exits since KVM was loaded; None where the host does not tell (no debugfs, no KVM)."""
    try:
        return int(path.read_text())
    except (OSError, ValueError):
        return None
