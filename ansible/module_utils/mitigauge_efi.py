"""One boot by the firmware itself: files on the EFI system partition, an entry of ours, BootNext.

The firmware forgets BootNext before it starts what it names, so that a kernel that panics, hangs
or is refused leads back to the system's own boot. No boot loader is asked, and no file system but
the partition's own has to be written. BootOrder is never touched. The entry names the kernel
itself: a shim that refuses one waits for a key for ever.
"""

from __future__ import annotations

import filecmp
import json
import os
import re
import shutil
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ansible.module_utils import mitigauge_kernel_files as kernel_files
from ansible.module_utils.mitigauge_changes import note, note_paths
from ansible.module_utils.mitigauge_grub import RESCUE, Refused, arm_options, option_name

LABEL = "mitigauge"
ROOT = Path("/")
FIRMWARE = Path("/sys/firmware/efi")
EFIVARS = FIRMWARE / "efivars"
GLOBAL = "8be4df61-93ca-11d2-aa0d-00e098032b8c"
# The space of the variables of shim.
SHIM = "605dab50-e046-4300-abb6-3dd810dd8b23"
ESP_TYPE = "c12a7328-f81f-11d2-ba4b-00a0c93ec93b"
ESP_PLACES = ("/boot/efi", "/efi", "/boot")
# Where the partition is mounted that nobody has mounted.
OWN_PLACE = Path("/run/mitigauge/esp")
FOLDER = "EFI/mitigauge"
KERNEL, INITIAL_DISK = "vmlinuz.efi", "initrd.img"
BASE = Path("/var/lib/mitigauge/boot_base.json")
# What boot loaders add to the kernel's command line; the firmware's own entry has its own.
LOADERS_WORDS = ("BOOT_IMAGE", "initrd")
# COMMAND_LINE_SIZE of x86 kernels, of which the last byte is a zero.
LONGEST_COMMAND_LINE = 2047
# Beside the files: directory entries, and what FAT rounds up.
SPARE_BYTES = 1 << 20
LIMIT_S = 60
ENTRY = re.compile(r"^Boot(?P<number>[0-9A-Fa-f]{4})\*?\s+(?P<rest>.*)$", re.MULTILINE)
PARTITION = re.compile(r"HD\(\d+,GPT,(?P<id>[0-9a-fA-F-]{36})")


def run(*command: str) -> str:
    """Standard output of a command. Raises :class:`Refused` with what it said."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=LIMIT_S)
    except FileNotFoundError as error:
        raise Refused(f"there is no program {command[0]} on the host") from error
    except subprocess.TimeoutExpired as error:
        raise Refused(f"{' '.join(command)} did not end within {LIMIT_S} s") from error
    if done.returncode != 0:
        raise Refused(f"{' '.join(command)} failed: {(done.stderr or done.stdout).strip()}")
    return done.stdout


@dataclass(frozen=True)
class Variables:
    """What ``efibootmgr`` shows. *entries*: number → label and device path, as it prints them."""

    current: str | None
    next: str | None
    order: tuple[str, ...]
    entries: Mapping[str, str]

    @property
    def ours(self) -> list[str]:
        """Numbers of the entries with our label."""
        return [number for number, rest in self.entries.items() if _label(rest) == LABEL]


def _label(rest: str) -> str:
    # Behind the label, a tab and the device path where -v was given.
    return rest.partition("\t")[0].strip()


def variables_of(listing: str) -> Variables:
    """Parse the output of ``efibootmgr -v``."""
    found = dict(re.findall(r"^(Boot(?:Current|Next|Order)): *(\S+)", listing, re.MULTILINE))
    order = found.get("BootOrder", "")
    return Variables(
        current=found.get("BootCurrent"),
        next=found.get("BootNext"),
        order=tuple(order.split(",")) if order else (),
        entries={each["number"].upper(): each["rest"] for each in ENTRY.finditer(listing)},
    )


def read_variables() -> Variables:
    """What the firmware has now. Raises :class:`Refused`."""
    return variables_of(run("efibootmgr", "-v"))


def flag(name: str, space: str = GLOBAL) -> bool | None:
    """A variable of one byte, as SecureBoot; None where the firmware has or shows none
    (:func:`hides_variables`).
    """
    try:
        # Four bytes of attributes stand before it.
        return (EFIVARS / f"{name}-{space}").read_bytes()[4:5] == b"\1"
    except OSError:
        return None


def shim_checks_signatures() -> bool:
    """False where somebody ran ``mokutil --disable-validation``: shim, and GRUB behind it, then
    start unsigned kernels while SecureBoot stays set. The firmware itself still asks.
    """
    return not flag("MokSBStateRT", SHIM)


def hides_variables() -> bool:
    """Whether the firmware's variables cannot be seen, though the host was started by EFI."""
    return FIRMWARE.is_dir() and (not EFIVARS.is_dir() or not any(EFIVARS.iterdir()))


def why_not(loader: str = "auto", *, has_grub: bool = False) -> str:
    """Why the firmware is not told to start a kernel once; empty where it is.

    *loader*: ``auto``, ``efi`` or ``grub``, as the inventory asks.
    """
    if loader == "grub":
        return "the inventory asks for GRUB"
    why = next(_obstacles(), "")
    if not why and loader != "efi" and has_grub and flag("SecureBoot"):
        return (
            "Secure Boot is on: GRUB takes what its shim knows, the firmware only what a key in "
            "its own db has signed (boot_mode_loader: efi)"
        )
    return why


def why_no_place() -> str:
    """Why our files have no place on this host; empty where they have one."""
    try:
        find_partition(read_variables())
    except Refused as failure:
        return str(failure)
    return ""


def _obstacles() -> Iterator[str]:
    if not FIRMWARE.is_dir():
        yield "the host was not started by EFI"
        return
    size = (FIRMWARE / "fw_platform_size").read_text().strip()
    if size != "64":
        yield f"the firmware is of {size} bits, the kernels are of 64"
    if hides_variables():
        yield (
            f"{EFIVARS} is empty: mount efivarfs there (modprobe efivarfs; mount -t efivarfs "
            f"efivarfs {EFIVARS}), and take efi=noruntime off the kernel's command line"
        )
    elif "ro" in run("findmnt", "-no", "OPTIONS", "--mountpoint", str(EFIVARS)).strip().split(","):
        yield f"{EFIVARS} is mounted read-only: mount -o remount,rw {EFIVARS}"
    if shutil.which("efibootmgr") is None:
        yield "there is no program efibootmgr: install the package of that name"


@dataclass(frozen=True)
class Partition:
    """An EFI system partition. *place*: where it is mounted, None: nowhere."""

    disk: str
    number: int
    id: str
    source: str
    place: Path | None


def partitions_in(listing: Mapping[str, Any]) -> list[Partition]:
    """EFI system partitions in what ``lsblk --json`` shows of all block devices.

    One that is half of a RAID 1 is mounted through its array, and read by the firmware as it lies
    on its disk.
    """
    found: dict[str, Partition] = {}
    for disk in listing.get("blockdevices", []):
        for part in disk.get("children") or []:
            if (part.get("parttype") or "").lower() != ESP_TYPE:
                continue
            mounted = [part, *(part.get("children") or [])]
            places = [(each, place) for each in mounted for place in each.get("mountpoints") or []]
            device, place = next(((e, p) for e, p in places if p), (mounted[-1], None))
            id_ = (part.get("partuuid") or "").lower()
            found[id_] = Partition(
                disk["path"], _partition_number(part["name"]), id_, device["path"],
                Path(place) if place else None,
            )  # fmt: skip
    return list(found.values())


def _partition_number(name: str) -> int:
    try:
        return int(Path(f"/sys/class/block/{name}/partition").read_text())
    except (OSError, ValueError):
        return int(name[len(name.rstrip("0123456789")) :])


def system_partition(partitions: Sequence[Partition], now: Variables) -> Partition:
    """The partition that this system was started from; else the one that is mounted, or the only
    one. Raises :class:`Refused` naming those there are.
    """
    if not partitions:
        raise Refused("there is no EFI system partition (type EF00 of a GPT) on any disk")
    started = PARTITION.search(now.entries.get((now.current or "").upper(), ""))
    choices = [each for each in partitions if started and each.id == started["id"].lower()]
    choices = choices or [each for each in partitions if str(each.place) in ESP_PLACES]
    choices = choices or list(partitions)
    # Halves of one array are one to whoever writes.
    if len({each.source for each in choices}) > 1:
        names = ", ".join(each.source for each in choices)
        raise Refused(
            f"there are several EFI system partitions ({names}), and nothing says which one this "
            "system starts from: mount that one at /boot/efi"
        )
    return choices[0]


def find_partition(now: Variables) -> Partition:
    """The partition that our files go to. Raises :class:`Refused`."""
    columns = "NAME,PATH,PARTTYPE,PARTUUID,MOUNTPOINTS"
    listing = json.loads(run("lsblk", "--json", "--output", columns))
    return system_partition(partitions_in(listing), now)


@contextmanager
def mounted(partition: Partition) -> Iterator[Path]:
    """Where the partition is mounted; one that is not, only while this lasts."""
    if partition.place is not None:
        yield partition.place
        return
    OWN_PLACE.mkdir(parents=True, exist_ok=True)
    run("mount", "-t", "vfat", partition.source, str(OWN_PLACE))
    try:
        yield OWN_PLACE
    finally:
        run("umount", str(OWN_PLACE))


@dataclass(frozen=True)
class Files:
    """A kernel's image and its initial RAM disk, as they lie on the host; None: it has none."""

    image: Path
    initial_disk: Path | None


def machine_id() -> str:
    """What kernel-install names its folders by; empty where there is none."""
    try:
        return (ROOT / "etc/machine-id").read_text().strip()
    except OSError:
        return ""


def files_of(release: str) -> Files:
    """Where distributions put a kernel of that release. Raises :class:`Refused`."""
    root = ROOT
    unpacked = root / kernel_files.FOLDER / release
    own = [root / place / machine_id() / release for place in ("efi", "boot/efi", "boot")]
    modules = root / "usr/lib/modules" / release
    try:
        package = (modules / "pkgbase").read_text().strip()
    except OSError:
        package = ""
    images = [
        unpacked / kernel_files.IMAGE,
        root / f"boot/vmlinuz-{release}",
        *(folder / "linux" for folder in own),
        *([root / f"boot/vmlinuz-{package}"] if package else []),
        modules / "vmlinuz",
    ]
    disks = [
        unpacked / kernel_files.INITIAL_DISK,
        root / f"boot/initrd.img-{release}",
        root / f"boot/initramfs-{release}.img",
        root / f"boot/initrd-{release}",
        *(folder / "initrd" for folder in own),
        *([root / f"boot/initramfs-{package}.img"] if package else []),
    ]
    image = next((path for path in images if path.is_file()), None)
    if image is None:
        looked = ", ".join(str(path) for path in images)
        raise Refused(f"kernel {release} is not on the host; looked for {looked}")
    return Files(image, next((path for path in disks if path.is_file()), None))


def require_stub(image: Path) -> None:
    """Raises :class:`Refused` unless the firmware can start the image by itself."""
    with image.open("rb") as file:
        if file.read(2) != b"MZ":
            raise Refused(f"{image} is no program of EFI: build the kernel with CONFIG_EFI_STUB=y")


@dataclass(frozen=True)
class Base:
    """What is known to boot: a release, and the words that were on its command line."""

    release: str
    options: tuple[str, ...]


def base_options(cmdline: str) -> tuple[str, ...]:
    """A running kernel's words without those that its boot loader added.

    Raises :class:`Refused` for a system that was started for its repair.
    """
    words = [word for word in cmdline.split() if option_name(word) not in LOADERS_WORDS]
    repair = [word for word in words if RESCUE.fullmatch(word)]
    if repair:
        raise Refused(
            f"the running system was started for its repair ({repair[0]}): reboot the host into "
            "its own system first"
        )
    return tuple(words)


def keep_base(cmdline: str, release: str) -> Base:
    """Write down what runs now as known to boot, where it is not written so already."""
    base = Base(release, base_options(cmdline))
    if read_base() != base:
        note_paths([BASE])
        BASE.parent.mkdir(parents=True, exist_ok=True)
        draft = BASE.with_suffix(".new")
        draft.write_text(json.dumps({"release": base.release, "options": list(base.options)}))
        draft.replace(BASE)
    return base


def read_base() -> Base | None:
    """What was written down; None where nothing was."""
    try:
        kept = json.loads(BASE.read_text())
        return Base(kept["release"], tuple(kept["options"]))
    except (OSError, ValueError, KeyError, TypeError):
        return None


def require_base() -> Base:
    """Raises :class:`Refused` where an arm is up and nobody wrote down what was before it."""
    base = read_base()
    if base is None:
        raise Refused(
            f"a boot of ours is up, and {BASE} does not say what the host boots by itself: reboot "
            "the host"
        )
    return base


@dataclass(frozen=True)
class EfiBoot:
    """One boot as it will be."""

    release: str
    files: Files
    options: tuple[str, ...]

    @property
    def command_line(self) -> str:
        """As the entry has it. The initial RAM disk is named from the partition's root."""
        names = f"initrd=\\{FOLDER}\\{INITIAL_DISK}".replace("/", "\\")
        return " ".join([*([names] if self.files.initial_disk else []), *self.options])


def plan(base: Base, release: str, mode: Sequence[str], nonce: str, *, watchdog: bool) -> EfiBoot:
    """What to boot. Raises :class:`Refused` for what cannot be."""
    wanted = release or base.release
    files = files_of(wanted)
    require_stub(files.image)
    if files.initial_disk is None and files_of(base.release).initial_disk is not None:
        raise Refused(
            f"kernel {wanted} has no initial RAM disk, and the host's own has one: make it "
            f"(update-initramfs -c -k {wanted}, or dracut --kver {wanted})"
        )
    boot = EfiBoot(wanted, files, tuple(arm_options(base.options, mode, nonce, watchdog=watchdog)))
    length = len(boot.command_line)
    if length > LONGEST_COMMAND_LINE:
        raise Refused(
            f"the command line has {length} characters, the kernel reads {LONGEST_COMMAND_LINE}"
        )
    return boot


def write_files(boot: EfiBoot, esp: Path) -> None:
    """Put kernel and initial RAM disk onto the partition, whole or not at all.

    A file that is there already with the same content stays. Raises :class:`Refused` where there
    is no room.
    """
    folder = esp / FOLDER
    folder.mkdir(parents=True, exist_ok=True)
    for half in folder.glob("*.new"):
        half.unlink()
    wanted = {KERNEL: boot.files.image, INITIAL_DISK: boot.files.initial_disk}
    new = {
        name: file for name, file in wanted.items() if file and not _is_there(file, folder / name)
    }
    # What is replaced is taken away first: a small partition has no room for both.
    for name, file in wanted.items():
        if name in new or file is None:
            (folder / name).unlink(missing_ok=True)
    _require_room(esp, sum(file.stat().st_size for file in new.values()))
    for name, file in new.items():
        _copy(file, folder / name)


def _is_there(file: Path, kept: Path) -> bool:
    """Whether the partition has the file already, by its content."""
    return kept.is_file() and filecmp.cmp(file, kept, shallow=False)


def _require_room(esp: Path, needed: int) -> None:
    free = _free(esp)
    if free < needed + SPARE_BYTES:
        raise Refused(
            f"the EFI system partition at {esp} has {free >> 20} MiB free, kernel and initial RAM "
            f"disk need {needed + SPARE_BYTES >> 20} MiB; boot_mode_loader: grub leaves it alone"
        )


def _free(place: Path) -> int:
    state = os.statvfs(place)
    return state.f_bavail * state.f_frsize


def room_at(esp: Path) -> int:
    """Bytes there for kernel and initial RAM disk: free ones, and those of files of ours."""
    own = [file.stat().st_size for file in (esp / FOLDER).glob("*") if file.is_file()]
    return _free(esp) + sum(own)


def _copy(file: Path, to: Path) -> None:
    draft = to.with_name(f"{to.name}.new")
    try:
        with file.open("rb") as source, draft.open("wb") as target:
            shutil.copyfileobj(source, target, 1 << 20)
            target.flush()
            os.fsync(target.fileno())
        draft.replace(to)
    except OSError:
        draft.unlink(missing_ok=True)
        raise


def arm(boot: EfiBoot, partition: Partition, before: Variables) -> str:
    """Make our entry and name it for the next boot alone; its number.

    Raises :class:`Refused` where the firmware did not take it, with nothing of ours left.
    """
    drop_entries(before)
    loader = f"\\{FOLDER}\\{KERNEL}".replace("/", "\\")
    try:
        run(
            "efibootmgr", "--quiet", "--create-only", "--disk", partition.disk,
            "--part", str(partition.number), "--label", LABEL, "--loader", loader,
            "--unicode", boot.command_line,
        )  # fmt: skip
    except Refused as failure:
        raise Refused(f"{failure}. {_firmware_hint(str(failure))}") from failure
    made = read_variables().ours
    if len(made) != 1:
        raise Refused(
            f"the firmware keeps {len(made)} entries named {LABEL} after one was made: it rewrites "
            "its entries, and no boot for one time is made so; boot by GRUB"
        )
    run("efibootmgr", "--quiet", "--bootnext", made[0])
    now = read_variables()
    # One of ours that somebody put into the order went with its entry.
    order = tuple(number for number in before.order if number not in before.ours)
    if now.next != made[0] or now.order != order:
        drop_entries(now)
        raise Refused(
            f"the firmware has BootNext {now.next} after {made[0]} was set, and BootOrder "
            f"{','.join(now.order)} where {','.join(order)} was: boot by GRUB"
        )
    return made[0]


def _firmware_hint(failure: str) -> str:
    full = re.search(r"No space left|out of resources|Invalid argument", failure, re.IGNORECASE)
    if full:
        return (
            "The firmware's store of variables is full or takes no entry of this length: remove "
            "old entries (efibootmgr -b NUMBER -B), dumps in /sys/firmware/efi/efivars/dump-*, "
            "or boot by GRUB"
        )
    return "See `efibootmgr -v` on the host; version 15 and later make such an entry"


def drop_entries(now: Variables) -> bool:
    """Remove our entries, and BootNext where it names one; whether there was any."""
    for number in now.ours:
        if now.next == number:
            run("efibootmgr", "--quiet", "--delete-bootnext")
        run("efibootmgr", "--quiet", "--bootnum", number, "--delete-bootnum")
    return bool(now.ours)


def remove() -> bool:
    """Take our entry and our files away; whether there was any."""
    if not FIRMWARE.is_dir() or shutil.which("efibootmgr") is None:
        return False  # no boot of ours was ever made so
    now = read_variables()
    there = drop_entries(now)
    with mounted(find_partition(now)) as esp:
        folder = esp / FOLDER
        if folder.is_dir():
            shutil.rmtree(folder)
            there = True
    return there


def note_entry() -> None:
    """Note that an entry of ours is with the firmware, for the restore."""
    note("efi", {LABEL: None})
