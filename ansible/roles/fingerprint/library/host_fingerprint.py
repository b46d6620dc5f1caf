#!/usr/bin/python
"""Ansible module: what a host is while it runs one arm, and nothing that differs between boots.

Two boots of the same arm must give equal fingerprints, so there are no ids of a boot,
no free memory, no addresses. A fact the host does not show is null, never zero.
"""

from __future__ import annotations

import hashlib
import platform
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ansible.module_utils.basic import AnsibleModule

from ansible.module_utils.mitigauge_wire.clock import CLOCKS, REAL

DOCUMENTATION = r"""
module: host_fingerprint
short_description: What a host is while it runs one arm
description:
  - Reads /proc, /sys and the package database; changes nothing.
  - Returns the facts as C(mitigauge.fingerprint); what the host does not show is null.
options:
  packages: {description: Debian packages whose versions count, type: list, elements: str}
  clock:
    description: What the host's time is. The host cannot tell, so its inventory does.
    choices: [real, counted]
    default: real
author: [Mitigauge contributors]
"""

CPU = "sys/devices/system/cpu"
DMI = "sys/class/dmi/id"
# Differs in every boot by design; all else on the command line belongs to the arm.
NONCE = "mitigauge.nonce="
# MemTotal is what the kernel left over for itself: some MiB differ from boot to boot.
MEMORY_STEP_MIB = 256


def text_of(path: Path) -> str | None:
    """The file's text without surrounding blanks; None if there is none or it is empty."""
    try:
        return path.read_text(errors="replace").strip() or None
    except OSError:
        # Absent with this kernel or driver, or present and unreadable (EIO, ENODEV):
        # either way the host does not show the fact.
        return None


def processors(cpuinfo: str) -> list[dict[str, str]]:
    """One mapping of field to value for each processor in /proc/cpuinfo's text."""
    return [
        {
            key.strip(): value.strip()
            for key, _, value in (line.partition(":") for line in block.splitlines())
        }
        for block in cpuinfo.strip().split("\n\n")
        if block.startswith("processor")
    ]


def number(text: str | None) -> int | None:
    """`text` as a whole number; None if it is none."""
    return int(text) if text is not None and text.isdecimal() else None


def joined(values: Sequence[str | None]) -> str | None:
    """The different values in order, with commas: one word on a host where all agree."""
    return ",".join(sorted({value for value in values if value})) or None


def cpu_facts(cpuinfo: str) -> dict[str, Any]:
    """Model, flags, microcode and counts from /proc/cpuinfo's text."""
    cpus = processors(cpuinfo)
    first = cpus[0] if cpus else {}
    flags = sorted(set(first.get("flags", "").split()))
    cores = {
        (cpu["physical id"], cpu["core id"])
        for cpu in cpus
        if "physical id" in cpu and "core id" in cpu
    }
    return {
        "cpu_model": first.get("model name"),
        "cpu_family": number(first.get("cpu family")),
        "cpu_model_number": number(first.get("model")),
        "cpu_stepping": number(first.get("stepping")),
        "cpu_flags_sha256": hashlib.sha256(" ".join(flags).encode()).hexdigest() if flags else None,
        "microcode": joined([cpu.get("microcode") for cpu in cpus]),
        "cores": len(cores) or None,
        "threads": len(cpus) or None,
        "hypervisor_bit": "hypervisor" in flags if flags else None,
    }


def memory_total_mib(root: Path) -> int | None:
    """Memory in MiB: the kernel's memory blocks, else MemTotal rounded.

    Blocks are the same in every boot; MemTotal depends on what was reserved.
    """
    memory = root / "sys/devices/system/memory"
    size = text_of(memory / "block_size_bytes")
    if size:
        online = [p for p in memory.glob("memory[0-9]*/state") if text_of(p) == "online"]
        return len(online) * int(size, 16) // 2**20 or None
    found = re.search(r"^MemTotal:\s*(\d+) kB", text_of(root / "proc/meminfo") or "", re.MULTILINE)
    if not found:
        return None
    steps = round(int(found[1]) / 1024 / MEMORY_STEP_MIB)
    return max(steps, 1) * MEMORY_STEP_MIB


def turbo(root: Path) -> bool | None:
    """Whether the processor may exceed its nominal frequency; None if the kernel cannot say."""
    no_turbo = text_of(root / CPU / "intel_pstate/no_turbo")
    if no_turbo is not None:
        return no_turbo == "0"
    boost = text_of(root / CPU / "cpufreq/boost")
    return None if boost is None else boost == "1"


def idle_states(root: Path) -> str | None:
    """The processor's idle states that are not switched off, the shallowest first."""
    folders = (root / CPU / "cpu0/cpuidle").glob("state*")
    states = sorted(folders, key=lambda path: (len(path.name), path.name))
    names = [text_of(path / "name") for path in states if text_of(path / "disable") != "1"]
    return ",".join(name for name in names if name) or None


def chosen(text: str | None) -> str | None:
    """The word in brackets of a sysfs choice such as ``always [madvise] never``."""
    found = re.search(r"\[([^\[\]]+)\]", text or "")
    return found[1] if found else None


def without_nonce(cmdline: str | None) -> str | None:
    """The command line without the one word that is different in every boot."""
    if cmdline is None:
        return None
    return " ".join(word for word in cmdline.split() if not word.startswith(NONCE))


def dmi(root: Path, **names: str) -> dict[str, str | None] | None:
    """The named DMI strings; None if the firmware gives none of them."""
    facts = {key: text_of(root / DMI / name) for key, name in names.items()}
    return facts if any(facts.values()) else None


def vulnerabilities(root: Path) -> dict[str, str | None] | None:
    """File name → text of everything the kernel says of the processor's vulnerabilities."""
    directory = root / CPU / "vulnerabilities"
    if not directory.is_dir():
        return None
    return {path.name: text_of(path) for path in sorted(directory.iterdir())}


def package_versions(status: str | None, names: Sequence[str]) -> Mapping[str, str | None]:
    """Name → version of the installed ones; `status` is dpkg's database as text."""
    versions: dict[str, str | None] = dict.fromkeys(sorted(names))
    for block in (status or "").split("\n\n"):
        fields = dict(re.findall(r"^(Package|Status|Version): (.*)$", block, re.MULTILINE))
        if fields.get("Package") in versions and fields.get("Status", "").endswith(" installed"):
            versions[fields["Package"]] = fields.get("Version")
    return versions


def operating_system(os_release: str | None) -> str | None:
    """Name and full version from os-release; the point release if it is told."""
    fields = dict(re.findall(r"^(\w+)=\"?(.*?)\"?$", os_release or "", re.MULTILINE))
    full = fields.get("DEBIAN_VERSION_FULL")
    if full and fields.get("NAME"):
        return f"{fields['NAME']} {full}"
    return fields.get("PRETTY_NAME")


def fingerprint(root: Path, packages: Sequence[str], clock: str = REAL) -> dict[str, Any]:
    """All facts of the host whose file systems are under `root`; `clock` is what its time is."""
    policies = sorted((root / CPU / "cpufreq").glob("policy[0-9]*"))
    nodes = list((root / "sys/devices/system/node").glob("node[0-9]*"))
    return {
        **cpu_facts(text_of(root / "proc/cpuinfo") or ""),
        "smt": text_of(root / CPU / "smt/control"),
        "governor": joined([text_of(path / "scaling_governor") for path in policies]),
        "energy_preference": joined(
            [text_of(path / "energy_performance_preference") for path in policies]
        ),
        "idle_states": idle_states(root),
        "turbo": turbo(root),
        "memory_total_mib": memory_total_mib(root),
        "numa_nodes": len(nodes) or None,
        "firmware": dmi(root, vendor="bios_vendor", version="bios_version", date="bios_date"),
        "board": dmi(root, vendor="board_vendor", name="board_name", version="board_version"),
        "clock": clock,
        "clocksource": text_of(
            root / "sys/devices/system/clocksource/clocksource0/current_clocksource"
        ),
        "kernel_release": text_of(root / "proc/sys/kernel/osrelease"),
        "kernel_version": text_of(root / "proc/sys/kernel/version"),
        "cmdline": without_nonce(text_of(root / "proc/cmdline")),
        "vulnerabilities": vulnerabilities(root),
        "thp": chosen(text_of(root / "sys/kernel/mm/transparent_hugepage/enabled")),
        "packages": package_versions(text_of(root / "var/lib/dpkg/status"), packages),
        "python": platform.python_version(),
        "os": operating_system(text_of(root / "etc/os-release")),
    }


def main() -> None:
    """Entry point of the module."""
    module = AnsibleModule(
        argument_spec={
            "packages": {"type": "list", "elements": "str", "default": []},
            "clock": {"type": "str", "choices": list(CLOCKS), "default": REAL},
        },
        supports_check_mode=True,
    )
    facts = fingerprint(Path("/"), module.params["packages"], module.params["clock"])
    module.exit_json(changed=False, mitigauge={"fingerprint": facts})


if __name__ == "__main__":
    main()
