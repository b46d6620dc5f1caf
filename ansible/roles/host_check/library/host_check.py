#!/usr/bin/python
"""Ansible module: what a run would find on a host. Reads only."""

from __future__ import annotations

import gzip
import os
import platform
import re
import shutil
import subprocess
import time
import zlib
from itertools import islice
from pathlib import Path
from typing import Any

from ansible.module_utils.basic import AnsibleModule

from ansible.module_utils import mitigauge_efi as efi
from ansible.module_utils.mitigauge_changes import RECORD
from ansible.module_utils.mitigauge_drivers import drivers_in_use
from ansible.module_utils.mitigauge_grub import (
    Refused,
    default_entry,
    menu,
    unwritable,
    waits_for_key,
)
from ansible.module_utils.mitigauge_kernel_files import has_dpkg, maker
from ansible.module_utils.mitigauge_kernel_image import is_signed
from ansible.module_utils.mitigauge_readings import READABLE, readings

DOCUMENTATION = r"""
module: host_check
short_description: What a run would find on a host
description:
  - Reads /proc, /sys, /boot and the time service; changes nothing and judges nothing.
  - What the host does not show is null.
options:
  programs: {description: Programs that are looked for, type: list, elements: str, default: []}
  reads:
    description: Files below C(/sys/module) and C(/proc/sys), without the first slash.
    type: list
    elements: str
    default: []
  loader:
    description: What is to start the kernels of arms, as the role boot_mode has it.
    type: str
    choices: [auto, efi, grub]
    default: auto
author: [Mitigauge contributors]
"""

RETURN = r"""
mitigauge:
  description: "check: the facts."
  type: dict
  returned: success
"""

CPU = "sys/devices/system/cpu"
PLACES = ("/", "/boot", "/var")
# What the loader leaves in the firmware's variables (systemd.io/BOOT_LOADER_INTERFACE).
LOADER_INFO = "sys/firmware/efi/efivars/LoaderInfo-4a67b082-0a4c-41cf-b6c7-440b29bb8c4f"
OTHER_LOADERS = {
    "boot/loader/loader.conf": "systemd-boot",
    "boot/efi/loader/loader.conf": "systemd-boot",
    "efi/loader/loader.conf": "systemd-boot",
    "boot/grub2/grub.cfg": "GRUB as Fedora and openSUSE lay it out",
    "boot/extlinux/extlinux.conf": "extlinux",
    "boot/refind_linux.conf": "rEFInd",
}
# Of a host that is measured they are stopped, or said.
UNSTEADY = (
    "tuned.service", "power-profiles-daemon.service", "thermald.service", "fwupd.service",
    "unattended-upgrades.service", "packagekit.service",
)  # fmt: skip
MOST_NAMED = 20
LARGEST_CONFIG = 1 << 20
MOST_MODULES = 2000
# A program that hangs must not hang the look.
LIMIT_S = 20
LONGEST = 4096


def text_of(path: Path) -> str | None:
    """The file's text without surrounding blanks; None if there is none or it is empty."""
    try:
        return path.read_text(errors="replace").strip()[:LONGEST] or None
    except OSError:
        return None


def said(*command: str) -> str | None:
    """What a command printed; None where it is absent, fails or hangs."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=LIMIT_S)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout.strip() if done.returncode == 0 else None


def os_release(text: str | None) -> dict[str, str | None]:
    """Id and version of the distribution."""
    lines = re.findall(r"^(\w+)=(.*)$", text or "", re.MULTILINE)
    fields = {name: value.strip("\"'") for name, value in lines}
    return {"id": fields.get("ID"), "version": fields.get("VERSION_ID")}


def other_loader(root: Path) -> str:
    """Which boot loader is there where Debian's GRUB is not; empty where none is known."""
    for place, name in OTHER_LOADERS.items():
        if (root / place).exists():
            return f"the boot loader is {name} (/{place}), not GRUB below /boot/grub"
    return started_by_another(root)


def started_by_another(root: Path) -> str:
    """Which loader says that it started this system, where that is not GRUB."""
    try:
        # Four bytes of attributes, then UTF-16.
        said = (root / LOADER_INFO).read_bytes()[4:].decode("utf-16-le", "replace").strip("\0 ")
    except OSError:
        return ""
    if not said or "grub" in said.lower():
        return ""
    return f"this system was started by {said[:80]}, not by GRUB"


def boot_loader(root: Path) -> dict[str, Any]:
    """What GRUB would do with a one-shot entry; ``refused`` says why it could not."""
    grub = root / "boot/grub"
    try:
        config = (grub / "grub.cfg").read_text(errors="replace")
        size = (grub / "grubenv").stat().st_size
    except OSError as error:
        return {"refused": other_loader(root) or f"{error.filename}: {error.strerror}"}
    where = (said("findmnt", "-no", "SOURCE,FSTYPE", "--target", str(grub)) or "").split()
    reason = unwritable(where[0], where[1], size) if len(where) >= 2 else "no file system found"
    if "custom.cfg" not in config:
        reason = "grub.cfg does not source custom.cfg"
    elif "save_env next_entry" not in config:
        reason = "grub.cfg does not know next_entry"
    elif waits_for_key(config):
        reason = "GRUB waits for a key (set timeout=-1)"
    listing = said("grub-editenv", str(grub / "grubenv"), "list") or ""
    variables = dict(line.split("=", 1) for line in listing.splitlines() if "=" in line)
    reason = started_by_another(root) or reason
    try:
        entries = menu(config)
        default = default_entry(entries, config, variables.get("saved_entry", ""))
    except Refused as failure:
        return {"refused": str(failure)}
    return {
        "refused": reason or None,
        "default_release": default.release,
        "releases": sorted({entry.release for entry in entries}),
        "next_entry": variables.get("next_entry") or None,
    }


def firmware(loader: str) -> dict[str, Any]:
    """How the firmware would start a kernel once; ``refused`` says why it could not, or may not."""
    state = {
        "secure_boot": efi.flag("SecureBoot"),
        "shim_checks": efi.shim_checks_signatures(),
        "hides_variables": efi.hides_variables(),
    }
    why = efi.why_not(loader, has_grub=Path("/boot/grub/grub.cfg").exists())
    if why:
        return {"refused": why, **state}
    try:
        now = efi.read_variables()
        partition = efi.find_partition(now)
        files = efi.files_of(os.uname().release)
    except Refused as failure:
        return {"refused": str(failure), **state}
    with files.image.open("rb") as image:
        if state["secure_boot"] and not is_signed(image.read(4096)):
            why = f"Secure Boot is on and {files.image} has no signature"
            return {"refused": why, **state}
    needed = [path.stat().st_size for path in (files.image, files.initial_disk) if path]
    return {
        "refused": None,
        **state,
        "partition": partition.source,
        "place": None if partition.place is None else str(partition.place),
        "free_bytes": None if partition.place is None else efi.room_at(partition.place),
        "needed_bytes": sum(needed) + efi.SPARE_BYTES,
        "next": now.next if now.next not in now.ours else None,
        "first_is_ours": bool(now.order) and now.order[0] in now.ours,
    }


def free_bytes(places: tuple[str, ...]) -> dict[str, int]:
    """Place → bytes that are free on its file system."""
    found = {}
    for place in places:
        if os.path.isdir(place):
            state = os.statvfs(place)
            found[place] = state.f_bavail * state.f_frsize
    return found


def synchronised() -> bool | None:
    """Whether a time service says that the clock is right; None where nobody says."""
    answer = said("timedatectl", "show", "-p", "NTPSynchronized", "--value")
    return None if answer is None else answer == "yes"


def model_of(cpuinfo: str | None) -> str | None:
    """What the first processor is called."""
    found = re.search(r"^model name\s*:\s*(.+)$", cpuinfo or "", re.MULTILINE)
    return found[1] if found else None


def processor(root: Path) -> dict[str, Any]:
    """What changes the time of the same work from one minute to the next."""
    cpu = root / CPU
    policies = {text_of(path) for path in cpu.glob("cpufreq/policy[0-9]*/scaling_governor")}
    preferences = {
        text_of(path) for path in cpu.glob("cpufreq/policy[0-9]*/energy_performance_preference")
    }
    # A node of memory alone (CXL, HBM) has an empty list.
    processors_of = (root / "sys/devices/system/node").glob("node[0-9]*/cpulist")
    packages = cpu.glob("cpu[0-9]*/topology/physical_package_id")
    states = [text_of(path) for path in sorted(cpu.glob("cpu0/cpuidle/state*/name"))]
    no_turbo = text_of(cpu / "intel_pstate/no_turbo")
    boost = text_of(cpu / "cpufreq/boost")
    turbo = no_turbo == "0" if no_turbo is not None else None if boost is None else boost == "1"
    return {
        "model": model_of(text_of(root / "proc/cpuinfo")),
        "smt": text_of(cpu / "smt/control"),
        "turbo": turbo,
        "governors": sorted(policy for policy in policies if policy),
        "energy_preferences": sorted(each for each in preferences if each),
        "numa_nodes": len([path for path in processors_of if text_of(path)]),
        "packages": len({text_of(path) for path in packages}),
        "present": text_of(cpu / "present"),
        "online": text_of(cpu / "online"),
        "idle_states": [state for state in states if state],
    }


def own_config(root: Path) -> str | None:
    """The configuration of the running kernel, where that is the host's own; None: not there."""
    if "mitigauge.nonce=" in (text_of(root / "proc/cmdline") or ""):
        return None
    release = os.uname().release
    for place in (f"boot/config-{release}", f"usr/lib/modules/{release}/config"):
        try:
            return (root / place).read_text(errors="replace")[:LARGEST_CONFIG]
        except OSError:
            continue
    try:
        with gzip.open(root / "proc/config.gz", "rt", errors="replace") as file:
            return file.read(LARGEST_CONFIG)
    except (OSError, EOFError, zlib.error):
        return None


def loaded_modules(root: Path) -> list[str]:
    """Names of the modules that are loaded."""
    try:
        with (root / "proc/modules").open(errors="replace") as file:
            return [
                line.split(maxsplit=1)[0] for line in islice(file, MOST_MODULES) if line.strip()
            ]
    except OSError:
        return []


def lockdown(root: Path) -> str | None:
    """How far the kernel locks itself against root; None where it cannot."""
    found = re.search(r"\[(\w+)\]", text_of(root / "sys/kernel/security/lockdown") or "")
    return found[1] if found else None


def consoles(root: Path) -> list[str]:
    """Consoles that the kernel writes to, as /proc/consoles names them."""
    return [line.split()[0] for line in (text_of(root / "proc/consoles") or "").splitlines()]


def dkms_modules(root: Path) -> list[str]:
    """Modules that are built again for each kernel that is installed."""
    folder = root / "var/lib/dkms"
    names = (path.name for path in folder.iterdir()) if folder.is_dir() else ()
    return sorted(name for name in names if not name.endswith(".conf"))[:MOST_NAMED]


def active(units: tuple[str, ...]) -> list[str]:
    """Those of the units that run now."""
    done = subprocess.run(
        ["systemctl", "is-active", *units], capture_output=True, text=True, check=False
    )
    states = done.stdout.split()
    return [unit for unit, state in zip(units, states) if state == "active"]


def unsteady() -> list[str]:
    """Services at work that change the time of the same work."""
    try:
        return active(UNSTEADY)
    except OSError:
        return []


def check(
    root: Path, programs: list[str], reads: list[str], loader: str = "auto"
) -> dict[str, Any]:
    """All the facts."""
    watchdog = root / "sys/class/watchdog/watchdog0"
    directory = root / CPU / "vulnerabilities"
    files = sorted(directory.iterdir()) if directory.is_dir() else []
    return {
        "user": os.geteuid(),
        "os": os_release(text_of(root / "etc/os-release")),
        "dpkg": has_dpkg(root),
        "initial_disk_maker": maker(),
        "python": platform.python_version(),
        "kernel_release": os.uname().release,
        "boot_id": text_of(root / "proc/sys/kernel/random/boot_id"),
        "boot_loader": boot_loader(root),
        "firmware": firmware(loader),
        "free_bytes": free_bytes(PLACES),
        "watchdog": text_of(watchdog / "identity") if watchdog.exists() else None,
        "programs": {name: shutil.which(name) for name in programs},
        "now": time.time(),
        "synchronised": synchronised(),
        "kvm": (root / "dev/kvm").exists(),
        "processor": processor(root),
        "config": own_config(root),
        "modules": loaded_modules(root),
        "lockdown": lockdown(root),
        "crash_kernel": text_of(root / "sys/kernel/kexec_crash_loaded") == "1",
        "consoles": consoles(root),
        "drivers": drivers_in_use(root, os.uname().release),
        "dkms": dkms_modules(root),
        "unsteady": unsteady(),
        "numa_balancing": text_of(root / "proc/sys/kernel/numa_balancing"),
        "changed": (root / RECORD.relative_to("/")).exists(),
        "vulnerabilities": {path.name: text_of(path) or "" for path in files},
        "readings": readings(root, [name for name in reads if READABLE.fullmatch(name)]),
    }


def main() -> None:
    """Entry point of the module."""
    words = {"type": "list", "elements": "str", "default": []}
    module = AnsibleModule(
        argument_spec={
            "programs": words,
            "reads": words,
            "loader": {"type": "str", "choices": ["auto", "efi", "grub"], "default": "auto"},
        },
        supports_check_mode=True,
    )
    asked = module.params
    facts = check(Path("/"), asked["programs"], asked["reads"], asked["loader"])
    module.exit_json(changed=False, mitigauge={"check": facts})


if __name__ == "__main__":
    main()
