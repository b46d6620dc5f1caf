#!/usr/bin/python
"""Ansible module: candidate kernels that were built go again, by count and age."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path

from ansible.module_utils.basic import AnsibleModule

from ansible.module_utils import mitigauge_kernel_files as kernel_files
from ansible.module_utils.mitigauge_packages import PackageError, apt_with_one_menu

DOCUMENTATION = r"""
module: kernel_prune
short_description: Remove candidate kernels that were built, by count and age
description:
  - Removes packages, or unpacked files, of kernels whose release ends in C(-mg) and a digest,
    and no other. Never the one that is up, the one GRUB boots by default, or one that is wanted.
options:
  keep: {description: so many stay beside those that must, type: int, required: true}
  days: {description: older ones go, type: int, required: true}
  wanted: {description: packages that stay, type: list, elements: str, required: true}
author: [Mitigauge contributors]
"""

# What mitigauge.kernels.recipe ends a release with.
OURS = re.compile(r"vmlinuz-(?P<release>\S+-mg[0-9a-f]{10,})")
_RELEASE = re.compile(r"[^0-9]*([0-9]\S*?-mg[0-9a-f]{10,})")
DAY_S = 86400.0


def candidates(root: Path) -> list[tuple[float, str]]:
    """(when it was installed, its release) of each kernel that was built, the newest first."""
    files = [(path, path.name) for path in (root / "boot").glob("vmlinuz-*")]
    unpacked = (root / kernel_files.FOLDER).glob("*")
    files += [(path, f"vmlinuz-{path.name}") for path in unpacked]
    found = [(path.stat().st_mtime, OURS.fullmatch(name)) for path, name in files]
    return sorted(((at, named["release"]) for at, named in found if named), reverse=True)


def to_remove(
    found: Sequence[tuple[float, str]], *, keep: int, oldest: float, kept: Collection[str]
) -> list[str]:
    """Releases that go: beyond *keep*, or installed before *oldest*; none of *kept*."""
    others = [(at, release) for at, release in found if release not in kept]
    return [r for i, (at, r) in enumerate(others) if i >= keep or at < oldest]


def defaults(environment: Path) -> set[str]:
    """Releases that GRUB's saved default may name."""
    try:
        text = environment.read_text(errors="replace")
    except OSError:
        return set()
    line = next((x for x in text.splitlines() if x.startswith("saved_entry=")), "")
    return set(releases_in(line))


def releases_in(line: str) -> Iterator[str]:
    """Releases of ours in a line; each begins at the first digit behind the one before."""
    for word in line.split():
        at = 0
        # From where it ended alone: where no release follows a digit, none follows the next one.
        while found := _RELEASE.match(word, at):
            yield found[1]
            at = found.end()


def main() -> None:
    """Entry point of the module."""
    module = AnsibleModule(
        argument_spec={
            "keep": {"type": "int", "required": True},
            "days": {"type": "int", "required": True},
            "wanted": {"type": "list", "elements": "str", "required": True},
        }
    )
    params = module.params
    kept = {name.removeprefix("linux-image-") for name in params["wanted"]}
    kept |= {os.uname().release} | defaults(Path("/boot/grub/grubenv"))
    oldest = time.time() - params["days"] * DAY_S
    try:
        going = to_remove(candidates(Path("/")), keep=params["keep"], oldest=oldest, kept=kept)
        if going and not kernel_files.takes_packages():
            for release in going:
                kernel_files.remove(release)
        elif going:
            apt_with_one_menu("purge", *(f"linux-image-{release}" for release in going))
    except (PackageError, OSError) as error:
        module.fail_json(msg=f"candidate kernels cannot be removed: {error}")
    else:
        module.exit_json(changed=bool(going), removed=going)


if __name__ == "__main__":
    main()
