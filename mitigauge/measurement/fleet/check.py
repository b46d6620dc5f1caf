"""What a run needs of a host, item by item: there, missing, or worth knowing. Pure."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from mitigauge.core.clock import Clock
from mitigauge.measurement.modes.families import (
    Expectation,
    Mode,
    ModeFamily,
    by_place,
    in_force,
)

NEEDED_FREE = {"/boot": 200 << 20, "/": 1 << 30, "/var": 1 << 30}
# Of the control side's clock; the answer itself takes some seconds.
CLOCK_OFF_S = 60.0
# A timer of the very kernel that hangs, and one that reports to a management engine.
NO_WATCHDOGS = ("software watchdog", "softdog", "iamt")
# RHEL 9 and Debian 11 have it; tests/unit/test_hosts_python.py holds what travels to it.
OLDEST_PYTHON = (3, 9)
SERIAL = ("ttyS", "hvc", "ttyAMA")
SUPPORTED = ("debian", "ubuntu")
# Program → Debian's package, and for what it is needed.
PROGRAMS = {
    "grub-reboot": ("grub2-common", "one-shot boots"),
    "grub-script-check": ("grub-common", "one-shot boots"),
    "systemd-run": ("systemd", "measuring jobs"),
    "perf": ("linux-perf", "syscall and profiles"),
    "qemu-system-x86_64": ("qemu-system-x86", "workloads that boot a guest"),
    "iperf3": ("iperf3", "iperf"),
}
# A list of processors as the kernel and inventories write it.
PROCESSORS = re.compile(r"\d{1,5}(?:-\d{1,5})?(?:,\d{1,5}(?:-\d{1,5})?)*", re.ASCII)
LONGEST_LIST = 500
MOST_NAMED = 8
# Without these no run can begin; `prepare` installs the others.
GRUBS_PROGRAMS = ("grub-reboot", "grub-script-check")
INDISPENSABLE = (*GRUBS_PROGRAMS, "systemd-run")
NOT_AFFECTED = "Not affected"
# With which a file's text begins: whichever it is, another boot may show the other.
STATES = ("Vulnerable", "Mitigation")


class State(StrEnum):
    """What is said of an item."""

    OK = "ok"
    MISSING = "missing"
    NOTE = "note"


@dataclass(frozen=True, slots=True)
class Item:
    """One thing that was looked at; *mend* says how to put right what is missing."""

    name: str
    state: State
    found: str
    mend: str = ""


def items(facts: Mapping[str, Any], *, now: float, clock: Clock) -> Iterator[Item]:
    """What the host itself showed; *now* is the control side's clock, seconds since 1970.

    *clock* is the host's by its inventory.
    """
    yield _user(facts["user"])
    yield _system(facts)
    yield from _one_shot(facts["firmware"], facts["boot_loader"], facts["kernel_release"])
    yield from _disks(facts["free_bytes"])
    yield _watchdog(facts["watchdog"])
    by_firmware = facts["firmware"]["refused"] is None
    without = GRUBS_PROGRAMS if by_firmware else ()
    yield from _programs(facts["programs"], without=without, by_hand=not facts["dpkg"])
    yield _clock(facts["now"] - now, clock, synchronised=facts["synchronised"])
    yield _kvm(there=facts["kvm"])
    yield from _processor(facts["processor"])
    yield from _surroundings(facts)


def modes(facts: Mapping[str, Any], families: Iterable[ModeFamily]) -> Iterator[Item]:
    """Which modes could be in force on this host, family by family.

    Whether one is in force only a boot proves; what the kernel has no file for never is.
    """
    for family in families:
        possible, refused = [], {}
        for name, mode in family.modes.items():
            why = why_not(mode, facts) or _twin_of(name, family, facts)
            if why:
                refused[name] = why
            else:
                possible.append(name)
        said = f"possible: {', '.join(possible) or 'none'}"
        said += "".join(f"; {name}: {why}" for name, why in refused.items())
        yield Item(f"modes of {family.family}", State.OK if possible else State.NOTE, said)


def why_not(mode: Mode, facts: Mapping[str, Any]) -> str:
    """Why the mode cannot be in force on the host; empty where it may be."""
    shown: Mapping[str, str] = facts["vulnerabilities"]
    for alternatives in by_place(mode.expect).values():
        reasons = [_hopeless(expectation, shown) for expectation in alternatives]
        if all(reasons):
            return reasons[0]
    for reading in mode.settings.readings():
        if facts["readings"].get(reading.path) is None:
            return f"no {reading.title} here"
    if mode.settings.guest() and not facts["kvm"]:
        return "no /dev/kvm"
    return ""


def _hopeless(expectation: Expectation, shown: Mapping[str, str]) -> str:
    if expectation.file not in shown:
        return f"the kernel has no file {expectation.file}"
    text, found = shown[expectation.file], expectation.observed(shown)
    if found == expectation.equals:
        return ""
    if NOT_AFFECTED in (text, found):
        return "the processor is not affected"
    if found is None and expectation.field not in ("", *STATES, expectation.equals):
        return f"{expectation.file} says nothing of {expectation.field} here"
    return ""


def _twin_of(name: str, family: ModeFamily, facts: Mapping[str, Any]) -> str:
    """Why the same settings give another mode here, as the host shows; empty where none is told."""
    mode = family.modes[name]
    shown: Mapping[str, str] = facts["vulnerabilities"]
    for other, of in family.modes.items():
        if other == name or not of.expect or of.settings != mode.settings:
            continue
        if in_force(of.expect, shown):
            return f"the same settings give {other} here"
    return ""


def _secure_boot(
    firmware: Mapping[str, Any], loader: Mapping[str, Any], lockdown: str | None
) -> Item:
    locked = f"lockdown: {lockdown or 'none'}"
    if firmware["hides_variables"]:
        return Item(
            "Secure Boot", State.NOTE, f"cannot be told; {locked}",
            "The firmware's variables are not shown: mount efivarfs, take efi=noruntime off. Where "
            "it is on, a kernel without a signature does not start: \"Secure Boot\" in "
            "docs/metal.md.",
        )  # fmt: skip
    state = {True: "on", False: "off", None: "not there"}[firmware["secure_boot"]]
    if not firmware["secure_boot"]:
        return Item("Secure Boot", State.NOTE, f"{state}; {locked}")
    if firmware["refused"] and not loader["refused"] and not firmware["shim_checks"]:
        return Item(
            "Secure Boot", State.NOTE,
            f"{state}; {locked}; its shim checks no signatures (MokSBStateRT), so GRUB starts "
            "kernels without one",
        )  # fmt: skip
    if not firmware["refused"]:
        keys = "the firmware starts kernels that are signed by a key in its db"
    elif not loader["refused"]:
        keys = "its GRUB starts kernels that are signed by a key of the shim's, MOK or db"
    else:
        keys = "nothing starts a kernel once here: see one-shot boot"
    return Item(
        "Secure Boot", State.NOTE, f"{state}; {locked}; {keys}",
        "`--try` shows whether it takes the host's own kernel. Candidates built here are not "
        "signed: \"Secure Boot\" in docs/metal.md.",
    )  # fmt: skip


def _surroundings(facts: Mapping[str, Any]) -> Iterator[Item]:
    """What else of the system meddles with boots and figures."""
    major, minor, *_ = (int(part) for part in facts["python"].split(".")[:2])
    if (major, minor) < OLDEST_PYTHON:
        yield Item(
            "python", State.MISSING, f"{facts['python']}, needed 3.9",
            "Name a newer one of the host: ansible_python_interpreter in the inventory.",
        )  # fmt: skip
    yield _secure_boot(facts["firmware"], facts["boot_loader"], facts["lockdown"])
    consoles = ", ".join(facts["consoles"])
    yield Item(
        "kernel's console", State.NOTE, consoles or "none",
        "" if any(name.startswith(SERIAL) for name in facts["consoles"]) else
        "No serial line is among them: what a kernel says before it dies is lost. Put "
        "console=ttyS0,115200 (the line that the controller reads) on the kernel's command line.",
    )  # fmt: skip
    if facts["crash_kernel"]:
        yield Item(
            "kdump", State.NOTE, "a crash kernel is loaded",
            "After a panic it comes up first and takes minutes; take crashkernel= off, or make "
            "mitigauge_boot_timeout_s longer.",
        )  # fmt: skip
    if facts["drivers"]:
        yield Item("drivers that it boots by", State.NOTE, _drivers(facts["drivers"]))
    if facts["dkms"]:
        yield Item(
            "dkms", State.NOTE, ", ".join(facts["dkms"]),
            "DKMS leaves these out of a kernel that has no headers, and says nothing: a candidate "
            "may lack a driver.",
        )  # fmt: skip
    if facts["unsteady"]:
        names = " ".join(facts["unsteady"])
        yield Item("services at work", State.NOTE, names, f"systemctl disable --now {names}")
    if facts["numa_balancing"] not in (None, "0"):
        yield Item("NUMA balancing", State.NOTE, "on", "sysctl kernel.numa_balancing=0")


def _drivers(drivers: Mapping[str, str]) -> str:
    """Names of modules by what needs them."""
    needs = dict.fromkeys(drivers.values())
    named = {need: ", ".join(name for name, of in drivers.items() if of == need) for need in needs}
    return "; ".join(f"{need}: {names}" for need, names in named.items())


def _user(user: int) -> Item:
    if user == 0:
        return Item("root", State.OK, "plays run as root")
    return Item(
        "root", State.MISSING, f"plays run as user {user}",
        "Set ansible_user: root, or ansible_become: true with sudo that asks for no password.",
    )  # fmt: skip


def _system(facts: Mapping[str, Any]) -> Item:
    system, maker = facts["os"], facts["initial_disk_maker"]
    found = f"{system['id'] or 'unknown'} {system['version'] or ''}".strip()
    if system["id"] in SUPPORTED:
        return Item("system", State.OK, found)
    if not facts["dpkg"] and maker and facts["firmware"]["refused"] is None:
        return Item(
            "system", State.NOTE,
            f"{found}, without dpkg: kernels are unpacked, {maker} makes their initial RAM disks",
            "Nothing else is installed here: install by hand what workloads need.",
        )  # fmt: skip
    if facts["dpkg"]:
        return Item(
            "system", State.MISSING, f"{found}, with dpkg",
            f"dpkg (/var/lib/dpkg/status) is in the way: where it is, kernels are installed by it, "
            f"which is done on {' and '.join(SUPPORTED)} alone. Measure on one of these; on a "
            "system whose own packages are no Debian packages, remove dpkg.",
        )  # fmt: skip
    return Item(
        "system", State.MISSING, found,
        f"Hosts run {' or '.join(SUPPORTED)}. Another system has to start by EFI (see one-shot "
        "boot) and to have dracut, mkinitcpio or mkinitramfs.",
    )  # fmt: skip


def _one_shot(
    firmware: Mapping[str, Any], loader: Mapping[str, Any], running: str
) -> Iterator[Item]:
    """What starts a kernel once and then the system's own again: the firmware, else GRUB."""
    if firmware["refused"] is None:
        yield from _by_firmware(firmware, running)
        return
    refused = loader.get("refused")
    if refused:
        yield Item(
            "one-shot boot", State.MISSING,
            f"by the firmware: {firmware['refused']}; by GRUB: {refused}",
            "A boot of an arm must fall back by itself. On a machine that starts by EFI let the "
            "firmware do it: mend what stands behind \"by the firmware\". Else put /boot on plain "
            "ext4, XFS or FAT, set GRUB_TIMEOUT, keep /etc/grub.d/00_header and 41_custom, and "
            "run update-grub. Where there is no GRUB: apt-get install grub-efi-amd64 (grub-pc "
            "without EFI), grub-install, update-grub.",
        )  # fmt: skip
    else:
        yield Item(
            "one-shot boot", State.OK,
            "GRUB reads custom.cfg and writes its environment; not by the firmware: "
            f"{firmware['refused']}",
        )  # fmt: skip
    release = loader.get("default_release")
    if release:
        yield Item("known-good kernel", State.OK, str(release))
    if loader.get("next_entry"):
        yield Item(
            "pending entry", State.NOTE, f"the next boot takes {loader['next_entry']!r}",
            "It stands there from a boot that was never made; the next run writes its own.",
        )  # fmt: skip


def _by_firmware(firmware: Mapping[str, Any], running: str) -> Iterator[Item]:
    place = firmware["place"]
    where = f"mounted at {place}" if place else "mounted for each boot"
    partition = f"{firmware['partition']}, {where}"
    yield Item("one-shot boot", State.OK, f"the firmware's own (EFI BootNext), from {partition}")
    yield Item("known-good kernel", State.OK, f"{running}, which runs now")
    free, needed = firmware["free_bytes"], firmware["needed_bytes"]
    if free is not None and free < needed:
        yield Item(
            "room on the ESP", State.MISSING,
            f"{free >> 20} MiB free, needed {needed >> 20} MiB for a kernel like the running one",
            f"Remove what others left on {partition}, or make the partition larger; or set "
            "boot_mode_loader: grub for the host.",
        )  # fmt: skip
    if firmware["next"]:
        yield Item(
            "pending boot", State.NOTE, f"the firmware starts Boot{firmware['next']} next",
            "Somebody asked for it (efibootmgr -N takes it back); the next run sets its own.",
        )  # fmt: skip
    if firmware["first_is_ours"]:
        yield Item(
            "boot order", State.MISSING, "the entry mitigauge stands first in BootOrder",
            "The host would not fall back to its own system: efibootmgr -o NUMBERS without it.",
        )  # fmt: skip


def _disks(free: Mapping[str, int]) -> Iterator[Item]:
    for place, needed in NEEDED_FREE.items():
        if place not in free:
            continue
        found = f"{free[place] >> 20} MiB free"
        if free[place] >= needed:
            yield Item(f"room on {place}", State.OK, found)
        else:
            yield Item(
                f"room on {place}", State.MISSING, f"{found}, needed {needed >> 20} MiB",
                "Remove old kernels (apt autoremove) or old files; a full disk ends a run.",
            )  # fmt: skip


def _watchdog(identity: str | None) -> Item:
    if identity and identity.lower().startswith(NO_WATCHDOGS):
        return Item(
            "watchdog", State.NOTE, f"{identity}, which does not reset a machine that hangs",
            "Load the board's driver (iTCO_wdt, sp5100_tco, ipmi_watchdog) or give the host a "
            "power driver.",
        )  # fmt: skip
    if identity:
        return Item("watchdog", State.OK, identity)
    return Item(
        "watchdog", State.NOTE, "none",
        "A kernel that hangs stays so until its power is cycled. Load the board's driver "
        "(iTCO_wdt, sp5100_tco, ipmi_watchdog) or give the host a power driver.",
    )  # fmt: skip


def _programs(
    found: Mapping[str, str | None], *, without: Collection[str], by_hand: bool
) -> Iterator[Item]:
    for name, (package, purpose) in PROGRAMS.items():
        if name not in found or name in without:
            continue
        if found[name]:
            yield Item(name, State.OK, str(found[name]))
        elif name in INDISPENSABLE:
            yield Item(name, State.MISSING, "not found", f"apt-get install {package}")
        else:
            mend = f"prepare installs {package}"
            if by_hand:
                mend = f"Install by hand what Debian calls {package}."
            yield Item(name, State.NOTE, f"not found; for {purpose}", mend)


def _clock(ahead_s: float, clock: Clock, *, synchronised: bool | None) -> Item:
    if clock is Clock.COUNTED:
        # It falls behind whenever the host computes, and no time service may set it.
        return Item(
            "clock", State.NOTE, f"counts instructions; {ahead_s:+.0f} s from this machine's"
        )
    if abs(ahead_s) > CLOCK_OFF_S:
        word = "ahead of" if ahead_s > 0 else "behind"
        return Item(
            "clock", State.MISSING, f"{abs(ahead_s):.0f} s {word} this machine's",
            "Let systemd-timesyncd or chrony set it; results carry the host's time.",
        )  # fmt: skip
    if synchronised:
        return Item("clock", State.OK, "synchronised")
    said = "not synchronised" if synchronised is False else "nobody says whether it is synchronised"
    return Item("clock", State.NOTE, said, "apt-get install systemd-timesyncd, or chrony.")


def _kvm(*, there: bool) -> Item:
    if there:
        return Item("kvm", State.OK, "/dev/kvm")
    return Item(
        "kvm", State.NOTE, "no /dev/kvm",
        "Workloads with a guest need it: switch virtualisation on in the firmware.",
    )  # fmt: skip


def _processor(facts: Mapping[str, Any]) -> Iterator[Item]:
    """Worth knowing: `prepare` fixes governor and turbo while a run lasts."""
    turbo = {True: "on", False: "off", None: "absent"}[facts["turbo"]]
    yield Item("smt", State.NOTE, facts["smt"] or "absent")
    yield Item("turbo", State.NOTE, turbo)
    yield Item("governor", State.NOTE, ", ".join(facts["governors"]) or "absent")
    preference = ", ".join(facts["energy_preferences"])
    yield Item("energy preference", State.NOTE, preference or "absent")
    yield Item("idle states", State.NOTE, ", ".join(facts["idle_states"]) or "absent")
    nodes, packages = facts["numa_nodes"], facts["packages"]
    if packages and nodes > packages:
        yield Item(
            "NUMA nodes", State.NOTE, f"{nodes} with processors on {packages} packages",
            "Sub-NUMA clustering (Intel's SNC, AMD's NPS) is on: let mitigauge_cpus name "
            "processors of one node (lscpu shows them), or switch it off in the firmware.",
        )  # fmt: skip


def own_processors(cpus: str, processor: Mapping[str, Any]) -> Iterator[Item]:
    """Whether the host has the processors that its inventory gives to workloads, and online.

    *cpus*: ``mitigauge_cpus``, empty for all; *processor*: lists of those that are *present* and
    *online*, as the host's kernel writes them.
    """
    lists = [processor["present"], processor["online"]]
    if not cpus or not all(each and PROCESSORS.fullmatch(each[:LONGEST_LIST]) for each in lists):
        return
    present, online = (_numbers(each) for each in lists)
    missing, offline = _numbers(cpus) - present, _numbers(cpus) & present - online
    if missing:
        yield Item(
            "workloads' processors", State.MISSING,
            f"mitigauge_cpus is {cpus}, and the host has {lists[0]}: no processor "
            f"{_shortened(missing)}",
            "Name processors that it has in the inventory; with SMT off in its firmware it has "
            "half as many.",
        )  # fmt: skip
    if offline:
        yield Item(
            "workloads' processors", State.MISSING,
            f"mitigauge_cpus is {cpus}, and of the host's {lists[0]} only {lists[1]} are online: "
            f"offline {_shortened(offline)}",
            "Name processors that are online in the inventory, or bring these online: take nosmt "
            "or maxcpus= off the kernel's command line, see /sys/devices/system/cpu/smt/control.",
        )  # fmt: skip


def _shortened(processors: Collection[int]) -> str:
    others = len(processors) - MOST_NAMED
    names = ", ".join(map(str, sorted(processors)[:MOST_NAMED]))
    return names + (f", {others} more" if others > 0 else "")


def _numbers(processors: str) -> set[int]:
    """Those in a list as ``0-3,8``."""
    spans = [span.partition("-") for span in processors.split(",")]
    return {n for first, _, last in spans for n in range(int(first), int(last or first) + 1)}
