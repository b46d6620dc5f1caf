#!/usr/bin/python
"""Ansible module: put back everything that was ever changed on a host, by its record.

Each step is taken off the record once it is done, so that one which was cut off goes on where it
was; without a record nothing of ours is there, and nothing is done.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ansible.module_utils.basic import AnsibleModule

from ansible.module_utils import mitigauge_efi as efi
from ansible.module_utils import mitigauge_kernel_files as kernel_files
from ansible.module_utils.mitigauge_changes import (
    OURS,
    RECORD,
    ChangesError,
    is_ours,
    read,
    write,
)
from ansible.module_utils.mitigauge_grub import Refused
from ansible.module_utils.mitigauge_packages import PackageError, apt, removed

DOCUMENTATION = r"""
module: host_restore
short_description: Put back everything that was ever changed on a host
description:
  - C(rebooted) reboots a host that runs a boot of ours into its own default kernel, in a moment.
  - C(restored) removes units, links, packages, files and folders of ours, sets the variables of
    GRUB's environment to what they were, and removes the record.
  - Refuses to restore while a boot of ours is up, whose kernel may have to go.
options:
  state: {description: what is wanted, choices: [rebooted, restored], type: str, required: true}
author: [Mitigauge contributors]
"""

RETURN = r"""
mitigauge:
  description: "put_back: items of name and what; each was put back (left is false) or stays."
  type: dict
  returned: success
"""

GRUBENV = "/boot/grub/grubenv"
# Of a custom.cfg that GRUB could not read.
DRAFT = "/boot/grub/custom.cfg.new"
PIN_FOLDER = "/etc/default/grub.d/"
NONCE_MARK = "mitigauge.nonce="
# In a moment, so that the answer still gets through; a kernel that was loaded by kexec would
# come up instead of the default.
REBOOT = (
    *("systemd-run", "--quiet", "--collect", "--on-active=1s"),
    "sh",
    "-c",
    "kexec -u 2>/dev/null; systemctl stop ssh.socket ssh.service sshd.service; systemctl reboot",
)
TOLD_PACKAGES = 12


class RestoreError(Exception):
    """Something cannot be put back; the text says what and why."""


def run(*command: str, check: bool = True) -> str:
    """Standard output of a command. Raises :class:`RestoreError` where it fails and *check*."""
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if check and done.returncode != 0:
        said = (done.stderr or done.stdout).strip()
        raise RestoreError(f"{' '.join(command)} failed: {said}")
    return done.stdout


def item(name: str, what: str, *, left: bool = False) -> dict[str, Any]:
    """What is said of one thing."""
    return {"name": name, "what": what, "left": left}


@dataclass
class Host:
    """A host with its record; *root* is / but in tests."""

    record: Path = RECORD
    root: Path = Path("/")
    noted: dict[str, dict[str, Any]] = field(default_factory=dict)

    def at(self, path: str) -> Path:
        """Where the host's path is."""
        return self.root / path.lstrip("/")

    def done(self, kind: str) -> None:
        """Take a kind off the record."""
        if self.noted.pop(kind, None) is not None:
            write(self.noted, self.record)

    def units(self) -> Iterator[dict[str, Any]]:
        """Disable and stop what we enabled, and whatever job of ours still runs."""
        run("systemctl", "stop", "mitigauge-*", check=False)
        for unit in sorted(self.noted.get("units", {})):
            if not unit.startswith(f"{OURS}-"):
                yield item(f"unit {unit}", "not one of ours by its name", left=True)
                continue
            run("systemctl", "disable", "--now", unit, check=False)
            yield item(f"unit {unit}", "stopped and disabled")
        self.done("units")

    def links(self) -> Iterator[dict[str, Any]]:
        """Delete links of the network."""
        for link in sorted(self.noted.get("links", {})):
            if (self.at("/sys/class/net") / link).exists():
                run("ip", "link", "delete", "dev", link)
                yield item(f"network link {link}", "deleted")
        self.done("links")

    def kernels(self) -> Iterator[dict[str, Any]]:
        """Remove kernels that were unpacked without dpkg; all stay noted while one is left."""
        all_gone = True
        for release in sorted(self.noted.get("kernels", {})):
            try:
                if kernel_files.remove(release, self.root):
                    yield item(f"kernel {release}", "removed")
            except OSError as error:
                all_gone = False
                yield item(f"kernel {release}", f"cannot be removed: {error}", left=True)
        if all_gone:
            self.done("kernels")

    def packages(self) -> Iterator[dict[str, Any]]:
        """Remove the packages that were not there, but those which others need by now."""
        ours = [name for name in sorted(self.noted.get("packages", {})) if installed(name)]
        going, kept = removable(ours)
        if going:
            apt("purge", *going)
            yield item("packages", f"{len(going)} removed: {shortened(going)}")
        for name in kept:
            yield item(f"package {name}", "needed by one that is not ours", left=True)
        for name, old in sorted(self.noted.get("upgraded", {}).items()):
            yield item(f"package {name}", f"was {old}, stays at the newer version", left=True)
        self.done("packages")
        self.done("upgraded")

    def paths(self) -> Iterator[dict[str, Any]]:
        """Remove files and folders of ours, then the directories made for them where empty."""
        gone = []
        for path in sorted(self.noted.get("paths", {})):
            if not is_ours(path):
                yield item(path, "not one of ours by its name", left=True)
            elif self._inside_record(path):
                continue
            elif removed_path(self.at(path)):
                gone.append(path)
                yield item(path, "removed")
        self.done("paths")
        for directory in sorted(self.noted.get("directories", {}), reverse=True):
            if not self._inside_record(directory) and removed_if_empty(self.at(directory)):
                yield item(directory, "removed")
        self.done("directories")
        if any(path.startswith("/etc/systemd/") for path in gone):
            run("systemctl", "daemon-reload")
        if any(path.startswith(PIN_FOLDER) for path in gone):
            run("update-grub")
            yield item("/boot/grub/grub.cfg", "made anew by update-grub")

    def _inside_record(self, path: str) -> bool:
        """Whether it goes with the record's own folder, at the end."""
        folder = Path("/") / self.record.parent.relative_to(self.root)
        return Path(path) == folder or folder in Path(path).parents

    def grub(self) -> Iterator[dict[str, Any]]:
        """Set the variables of GRUB's environment to what they were."""
        removed_path(self.at(DRAFT))
        for name, before in sorted(self.noted.get("grub", {}).items()):
            if before is None:
                run("grub-editenv", str(self.at(GRUBENV)), "unset", name)
                yield item(f"GRUB's {name}", "unset")
            else:
                run("grub-editenv", str(self.at(GRUBENV)), "set", f"{name}={before}")
                yield item(f"GRUB's {name}", f"{before!r} again")
        self.done("grub")

    def efi(self) -> Iterator[dict[str, Any]]:
        """Take our entry from the firmware and our files from the EFI system partition."""
        if "efi" in self.noted and efi.remove():
            yield item("the firmware's entry", "removed, with its files")
        self.done("efi")

    def folder(self) -> Iterator[dict[str, Any]]:
        """Remove the record and all beside it: the last step, where nothing else is left on it."""
        folder = self.record.parent
        name = str(Path("/") / folder.relative_to(self.root))
        if self.noted:
            kept = "has the record of what could not be removed: restore again once that is mended"
            yield item(name, kept, left=True)
        elif folder.exists():
            shutil.rmtree(folder)
            yield item(name, "removed")

    def restore(self) -> list[dict[str, Any]]:
        """Everything, in the order in which one thing depends on another."""
        self.noted = read(self.record)
        # Packages before the default is named no more: the kernels of ours are gone when the
        # newest becomes the default again.
        steps: tuple[Callable[[], Iterator[dict[str, Any]]], ...] = (
            self.units, self.links, self.efi, self.kernels, self.packages, self.paths, self.grub,
            self.folder,
        )  # fmt: skip
        said = [each for step in steps for each in step()]
        os.sync()
        return said


def installed(name: str) -> bool:
    """Whether dpkg has anything of the package, its configuration included."""
    shown = run("dpkg-query", "-W", "-f", "${db:Status-Status}\n", name, check=False)
    return any(line != "not-installed" for line in shown.split())


def removable(ours: list[str]) -> tuple[list[str], list[str]]:
    """(packages that can go, packages that others need), both of *ours*."""
    if not ours or not others_going(ours, ours):
        return ours, []
    kept = [name for name in ours if others_going([name], ours)]
    return [name for name in ours if name not in kept], kept


def others_going(names: list[str], ours: list[str]) -> list[str]:
    """Packages that are not ours and would go with *names*."""
    known = {bare(name) for name in ours}
    going = removed(apt("--simulate", "purge", *names))
    return [name for name in going if bare(name) not in known]


def bare(name: str) -> str:
    """The package without its architecture."""
    return name.partition(":")[0]


def shortened(names: list[str]) -> str:
    """The first names, and how many more there are."""
    more = len(names) - TOLD_PACKAGES
    return ", ".join(names[:TOLD_PACKAGES]) + (f" and {more} more" if more > 0 else "")


def removed_path(path: Path) -> bool:
    """Whether there was a file or folder, which is gone now; a link goes, not what it names."""
    if path.is_symlink() or path.is_file():
        path.unlink()
        return True
    if path.is_dir():
        shutil.rmtree(path)
        return True
    return False


def removed_if_empty(path: Path) -> bool:
    """Whether the directory was empty and is gone now."""
    try:
        path.rmdir()
    except OSError:
        return False
    return True


def runs_boot_of_ours() -> bool:
    """Whether the running kernel was started with a nonce of ours."""
    return NONCE_MARK in Path("/proc/cmdline").read_text()


def main() -> None:
    """Entry point of the module."""
    states = ["rebooted", "restored"]
    module = AnsibleModule(
        argument_spec={"state": {"type": "str", "choices": states, "required": True}}
    )
    said: list[dict[str, Any]] = []
    try:
        if module.params["state"] == "rebooted":
            run(*REBOOT)
        elif runs_boot_of_ours():
            raise RestoreError("a boot of an experiment is up; the host must reboot first")
        else:
            said = Host().restore()
    except (RestoreError, ChangesError, PackageError, Refused, OSError) as error:
        module.fail_json(msg=f"cannot put this host back: {error}")
    else:
        module.exit_json(changed=bool(said), mitigauge={"put_back": said})


if __name__ == "__main__":
    main()
