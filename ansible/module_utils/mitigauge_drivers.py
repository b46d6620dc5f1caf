"""Drivers that a host cannot boot without, and which of them a kernel on it has.

A name is that of a module, as the running kernel's own lists have it. What these do not list, as a
driver of another name than its module, is left out: nobody could tell whether a kernel has it.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path

DISK, FILE_SYSTEM, CARD = "the root's disk", "the root's file system", "the network card"
NO_ADDRESS = "0" * 8, "0" * 32
# How dm names what it maps, before a dash: LVM's own targets and crypt's.
MAPPERS = {"LVM": "dm_mod", "CRYPT": "dm_crypt", "mpath": "dm_multipath"}
# drivers/md/Makefile: three levels are one module.
LEVELS = dict.fromkeys(("raid4", "raid5", "raid6"), "raid456")
VIRTUAL_CARDS = ("bonding", "bridge", "team")


def drivers_in_use(root: Path, running: str) -> dict[str, str]:
    """Module → what of the host needs it: the chain of the root's disk, its file system, the card
    of the default route. *running*: the release of the kernel that is up.
    """
    known = modules_of(root, running, folder="kernel/") or frozenset()
    needed: dict[str, str] = {}
    for name, what in _needed(root):
        if _plain(name) in known:
            needed.setdefault(_plain(name), what)
    return needed


def modules_of(root: Path, release: str, folder: str = "") -> frozenset[str] | None:
    """Names of all modules that a kernel has, built in or not; None where nobody can tell.

    *folder*: the beginning of their paths. Below ``kernel/`` are those of its own source, which
    DKMS' and a vendor's are not: another one drives such a card as well.
    """
    place = root / "lib/modules" / release
    names: set[str] = set()
    for name in ("modules.builtin", "modules.dep"):
        try:
            text = (place / name).read_text(errors="replace")
        except OSError:
            return None
        paths = (line.partition(":")[0] for line in text.splitlines())
        names.update(
            _plain(os.path.basename(path).partition(".ko")[0])
            for path in paths
            if path.startswith(folder)
        )
    return frozenset(names)


def lacking(root: Path, release: str, needed: Mapping[str, str]) -> str:
    """What a kernel lacks of the *needed*, in words; empty where it has all, or nobody can tell."""
    there = modules_of(root, release)
    if there is None:
        return ""
    missing = [f"{name} (of {what})" for name, what in needed.items() if name not in there]
    several = "drivers" if len(missing) > 1 else "driver"
    return f"kernel {release} lacks the {several} {', '.join(missing)}" if missing else ""


def _plain(name: str) -> str:
    return name.replace("-", "_")


def _needed(root: Path) -> Iterator[tuple[str, str]]:
    mount = _root_mount(root)
    if mount is not None:
        device, file_system = mount
        yield file_system, FILE_SYSTEM
        for driver in _of_disk(device, set()):
            yield driver, DISK
    for interface in _interfaces(root):
        for driver in _of_card(root / "sys/class/net" / interface, set()):
            yield driver, CARD


def _root_mount(root: Path) -> tuple[Path, str] | None:
    """Where sysfs has the device of ``/``, and the file system's type."""
    try:
        lines = (root / "proc/self/mountinfo").read_text(errors="replace").splitlines()
    except OSError:
        return None
    for line in reversed(lines):
        before, _, after = line.partition(" - ")
        fields, of = before.split(), after.split()
        if len(fields) < 5 or len(of) < 2 or fields[4] != "/":
            continue
        if not fields[2].startswith("0:"):
            return root / "sys/dev/block" / fields[2], of[0]
        # btrfs has a number of its own; where its device is named, that tells.
        name = os.path.basename(os.path.realpath(f"{root}/{of[1]}"))
        return root / "sys/class/block" / name, of[0]
    return None


def _of_disk(device: Path, seen: set[Path]) -> Iterator[str]:
    """Drivers of a block device and of all that it stands on."""
    path = Path(os.path.realpath(device))
    if path in seen or not path.is_dir():
        return
    seen.add(path)
    yield from _above(path)
    whole = path.parent if (path / "partition").exists() else path
    yield from _of_mapping(whole)
    lower = [*_entries(whole / "slaves")]
    if whole.parent.name.startswith("nvme-subsys"):
        # Of a disk that may have several paths, its controllers lie beside it.
        lower += [each for each in _entries(whole.parent) if each.is_symlink()]
    for each in lower:
        yield from _of_disk(each, seen)


def _of_mapping(device: Path) -> Iterator[str]:
    """Of dm and md, what makes the device."""
    kind = _text(device / "dm/uuid").partition("-")[0]
    if (device / "dm").is_dir():
        yield "dm_mod"
        yield MAPPERS.get(kind, "dm_mod")
    if (device / "md").is_dir():
        yield "md_mod"
        level = _text(device / "md/level")
        yield LEVELS.get(level, level)


def _of_card(interface: Path, seen: set[Path]) -> Iterator[str]:
    """Drivers of an interface, and of those below a bond, a bridge or a VLAN."""
    path = Path(os.path.realpath(interface))
    if path in seen:
        return
    seen.add(path)
    yield from (name for name in VIRTUAL_CARDS if (path / name).is_dir())
    if (path / "device").exists():
        yield from _above(Path(os.path.realpath(path / "device")))
    for each in _entries(path):
        if each.name.startswith("lower_"):
            yield from _of_card(each, seen)


def _interfaces(root: Path) -> list[str]:
    """Those of a default route; without one, all that are up."""
    names = []
    for line in _text(root / "proc/net/route").splitlines():
        fields = line.split()
        if len(fields) > 1 and fields[1] in NO_ADDRESS:
            names.append(fields[0])
    for line in _text(root / "proc/net/ipv6_route").splitlines():
        fields = line.split()
        if len(fields) > 1 and fields[0] in NO_ADDRESS and fields[1] == "00":
            names.append(fields[-1])
    if not names:
        cards = _entries(root / "sys/class/net")
        names = [card.name for card in cards if _text(card / "operstate") == "up"]
    return sorted({name for name in names if name != "lo" and "/" not in name})


def _above(path: Path) -> Iterator[str]:
    """Drivers bound to a device and to those that it hangs on."""
    for each in (path, *path.parents):
        if each.name == "devices":
            return
        driver = each / "driver"
        if driver.is_symlink():
            module = driver / "module"
            name = module if module.is_symlink() else driver
            yield os.path.basename(os.readlink(name))


def _entries(folder: Path) -> list[Path]:
    try:
        return sorted(folder.iterdir())
    except OSError:
        return []


def _text(path: Path) -> str:
    try:
        return path.read_text(errors="replace").strip()
    except OSError:
        return ""
