"""The guest of profile office: a whole Debian that office/build made on this host."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from _kit import guest as guests
from _kit.contract import CaseError
from _kit.guest import Addition, read_json

FOLDER = Path("/opt/mitigauge/desktop-office")


def manifest(folder: Path | None = None) -> dict[str, Any]:
    """How an office guest is started. CaseError where role guest or office/build was not run."""
    folder = folder or FOLDER
    base = read_json(guests.GUEST / "manifest.json", "apply Ansible role guest to this host")
    built = read_json(folder / "manifest.json", f"run workloads/desktop/office/build {folder}")
    root = folder / "root.ext4"
    if not root.is_file() or root.stat().st_size != built["root_bytes"]:
        raise CaseError(f"{root} is not the one of its manifest: run office/build {folder} again")
    image = str(root).replace(",", ",,")
    system = Addition(
        [
            # What is written is forgotten; the host's page cache has the disk once for all.
            "-drive", f"if=none,id=root,file={image},format=raw,snapshot=on,cache=unsafe",
            "-device", "virtio-blk-pci,drive=root,serial=root,addr=0x1e",
            "-device", "virtio-rng-pci",
        ],
        memory_mb=int(built["memory_mb"]) - int(base["memory_mb"]),
    )  # fmt: skip
    return {
        **base,
        "boot": ["-kernel", str(folder / "vmlinuz"), "-initrd", str(folder / "initrd.img")],
        "append": built["append"],
        "ready_timeout_s": built["ready_timeout_s"],
        "kernel_release": built["kernel_release"],
        "addition": {"tools": built["tools"], "initrd_sha256": built["root_sha256"]},
        "system": system,
    }
