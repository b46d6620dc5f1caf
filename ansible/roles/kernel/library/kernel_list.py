#!/usr/bin/python
"""Ansible module: which kernels are installed, and which of the wanted packages are not."""

from __future__ import annotations

import os
import struct
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from ansible.module_utils.basic import AnsibleModule

from ansible.module_utils import mitigauge_efi as efi
from ansible.module_utils import mitigauge_kernel_files as kernel_files
from ansible.module_utils.mitigauge_drivers import drivers_in_use, lacking
from ansible.module_utils.mitigauge_grub import Refused
from ansible.module_utils.mitigauge_kernel_image import image_version
from ansible.module_utils.mitigauge_kernel_packages import installed_from

DOCUMENTATION = r"""
module: kernel_list
short_description: List installed kernels
description:
  - Every kernel with its package and build, and which of I(wanted) are missing.
  - A package of I(digests) is missing too where it was not installed from that very file.
  - Reads dpkg's database; on a host without one, each kernel that has modules is a package.
    Changes nothing.
options:
  wanted:
    description: Kernel packages that should be there.
    type: list
    elements: str
    default: []
  booted:
    description: Those of I(wanted) that must have the drivers that this host boots by.
    type: list
    elements: str
    default: []
  digests:
    description: SHA-256 of the files that packages must have been installed from, by package.
    type: dict
    default: {}
author: [Mitigauge contributors]
"""

RETURN = r"""
missing:
  description: Wanted packages that are not installed.
  type: list
  returned: success
takes_packages:
  description: Whether kernels are installed as packages here, as GRUB names the fallback.
  type: bool
  returned: success
lacking:
  description: What kernels of I(booted) lack of the drivers that this host boots by.
  type: list
  returned: success
mitigauge:
  description: "kernels: release, package, version (what uname -v will say) and build_id of each;
    the build id of one that is not running is null, because its image is compressed."
  type: dict
  returned: success
"""

NT_GNU_BUILD_ID = 3


def installed_packages(status: str) -> set[str]:
    """Names of the installed packages; `status` is dpkg's database as text."""
    found = set()
    for block in status.split("\n\n"):
        fields = dict(line.partition(": ")[::2] for line in block.splitlines())
        if fields.get("Status", "").endswith(" ok installed"):
            found.add(fields.get("Package", ""))
    return found


def images(root: Path) -> dict[str, Path]:
    """Release → image of each kernel of the host."""
    if kernel_files.takes_packages(root):
        found = sorted((root / "boot").glob("vmlinuz-*"))
        return {image.name.removeprefix("vmlinuz-"): image for image in found}
    unpacked = kernel_files.installed(root)
    kernels = {}
    for folder in sorted((root / kernel_files.MODULES).iterdir()):
        is_half = (
            root / kernel_files.FOLDER / folder.name
        ).exists() and folder.name not in unpacked
        try:
            if not is_half:
                kernels[folder.name] = efi.files_of(folder.name).image
        except Refused:
            continue  # modules without an image, as a removed kernel leaves
    return kernels


def packages_of(root: Path) -> set[str]:
    """Names of kernels' packages that are installed, or stand for what a host without them has."""
    if kernel_files.takes_packages(root):
        return installed_packages((root / kernel_files.DPKG).read_text(errors="replace"))
    return {f"linux-image-{release}" for release in images(root)}


def origin_of(root: Path, package: str) -> str | None:
    """SHA-256 of the file that a package came from; None where nobody can tell."""
    if kernel_files.takes_packages(root):
        return installed_from(package)
    return kernel_files.installed(root).get(package.removeprefix("linux-image-"))


def build_id(notes: bytes) -> str | None:
    """The GNU build id in ELF notes, as hex; None when there is none."""
    offset = 0
    while offset + 12 <= len(notes):
        name_size, size, kind = struct.unpack_from("<III", notes, offset)
        at = offset + 12 + (name_size + 3) // 4 * 4
        if kind == NT_GNU_BUILD_ID and notes[offset + 12 : at].startswith(b"GNU\0"):
            return notes[at : at + size].hex()
        offset = at + (size + 3) // 4 * 4
    return None


def kernels(root: Path, running: str, packages: set[str]) -> list[dict[str, Any]]:
    """Release, package, version and build id of each kernel under `root`."""
    notes = root / "sys/kernel/notes"
    found = []
    for release, image in images(root).items():
        package = f"linux-image-{release}"
        with image.open("rb") as file:
            version = image_version(file.read(1 << 17))
        is_up = release == running and notes.exists()
        found.append(
            {
                "release": release,
                "package": package if package in packages else None,
                "version": version,
                "build_id": build_id(notes.read_bytes()) if is_up else None,
            }
        )
    return found


def missing(
    wanted: Sequence[str],
    packages: set[str],
    digests: Mapping[str, str],
    origin: Callable[[str], str | None],
) -> list[str]:
    """The wanted ones that are not installed, or not from the file they must be, in their order."""
    return [
        name
        for name in wanted
        if name not in packages or (name in digests and origin(name) != digests[name])
    ]


def without_drivers(root: Path, booted: Sequence[str], running: str) -> list[str]:
    """Which kernels of these packages cannot boot this host, and why."""
    needed = drivers_in_use(root, running)
    releases = [name.removeprefix("linux-image-") for name in booted]
    return [words for release in releases if (words := lacking(root, release, needed))]


def main() -> None:
    """Entry point of the module."""
    module = AnsibleModule(
        argument_spec={
            "wanted": {"type": "list", "elements": "str", "default": []},
            "booted": {"type": "list", "elements": "str", "default": []},
            "digests": {"type": "dict", "default": {}},
        },
        supports_check_mode=True,
    )
    try:
        root = Path("/")
        packages = packages_of(root)
        found = kernels(root, os.uname().release, packages)
        asked = module.params
        lost = missing(asked["wanted"], packages, asked["digests"], partial(origin_of, root))
    except OSError as error:
        module.fail_json(msg=f"cannot list this host's kernels: {error}")
    else:
        module.exit_json(
            changed=False,
            missing=lost,
            takes_packages=kernel_files.takes_packages(root),
            lacking=without_drivers(root, asked["booted"], os.uname().release),
            mitigauge={"kernels": found},
        )


if __name__ == "__main__":
    main()
