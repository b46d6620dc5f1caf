"""Kernels of ours on a host without dpkg or without GRUB's menu: their package's files, unpacked by
ourselves.

Image and initial RAM disk lie in a folder of ours, which no tool of the distribution looks into:
only the firmware starts them (BootNext). The modules lie where every kernel looks for its own. A
mark is written last: what lacks it was not installed whole.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tarfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path, PurePosixPath
from typing import Any, BinaryIO, Literal, cast

from ansible.module_utils.mitigauge_changes import note
from ansible.module_utils.mitigauge_packages import PackageError

ROOT = Path("/")
DPKG = "var/lib/dpkg/status"
GRUB_MENU = "boot/grub/grub.cfg"
FOLDER = "var/lib/mitigauge/kernels"
MODULES = "lib/modules"
IMAGE, INITIAL_DISK, MARK = "vmlinuz", "initrd.img", "package.sha256"
RELEASE = re.compile(r"[0-9][A-Za-z0-9.+~_-]{0,63}")
# A distribution's kernel with all its modules and debug information has less.
MOST_BYTES, MOST_FILES = 8 << 30, 100_000
# What a made initial RAM disk may take, and depmod's lists beside the modules.
INITIAL_DISK_BYTES, LISTS_BYTES = 512 << 20, 32 << 20
LIMIT_S = 900
PACKINGS: Mapping[str, Literal["r|", "r|gz", "r|xz"]] = {
    "data.tar": "r|", "data.tar.gz": "r|gz", "data.tar.xz": "r|xz",
}  # fmt: skip
# Program → its command for a release and the file to make, the distribution's own first.
MAKERS = {
    "mkinitcpio": ("-k", "{release}", "-g", "{file}"),
    "dracut": ("--force", "{file}", "{release}"),
    "mkinitramfs": ("-o", "{file}", "{release}"),
}


def has_dpkg(root: Path = ROOT) -> bool:
    """Whether the host's packages are Debian's."""
    return (root / DPKG).exists()


def takes_packages(root: Path = ROOT) -> bool:
    """Whether kernels of ours are installed as packages here.

    Only where GRUB's menu names the fallback: elsewhere, as with systemd-boot, a package's own
    scripts would make the newest kernel the default, which is the one under test.
    """
    return has_dpkg(root) and (root / GRUB_MENU).exists()


def maker() -> str | None:
    """The program that makes this host's initial RAM disks; None: there is none."""
    return next((name for name in MAKERS if shutil.which(name)), None)


def installed(root: Path = ROOT) -> dict[str, str]:
    """Release → SHA-256 of its package, of each kernel that was unpacked whole."""
    marks = (root / FOLDER).glob(f"*/{MARK}")
    return {mark.parent.name: mark.read_text().strip() for mark in marks}


def install(package: Path, release: str, sha256: str, root: Path = ROOT) -> None:
    """Unpack a kernel's package, and make its initial RAM disk.

    Raises PackageError for what is no such package or has no room, before anything is written;
    and where the initial RAM disk cannot be made, with the files taken away again.
    """
    if not RELEASE.fullmatch(release):
        raise PackageError(f"{release[:80]!r} is no kernel's release")
    folder, modules = root / FOLDER / release, root / MODULES / release
    if modules.exists() and not folder.exists():
        raise PackageError(
            f"{modules} is there already, of a kernel that was not unpacked by Mitigauge: remove "
            "it by hand if nobody needs it, or give the kernel another release (its "
            "CONFIG_LOCALVERSION)"
        )
    _require_room(package, release, folder, modules)
    note("kernels", {release: None}, root / "var/lib/mitigauge/changes.json")
    remove(release, root)
    try:
        _unpack(package, release, folder, modules)
        _complete(release, folder)
        (folder / MARK).write_text(sha256 + "\n")
    except (PackageError, OSError):
        # The first failure is the one to tell; what stays is on the record for the restore.
        with suppress(OSError):
            remove(release, root)
        raise
    os.sync()


def remove(release: str, root: Path = ROOT) -> bool:
    """Take a kernel of ours away; whether there was any. One that nobody unpacked here stays.

    Raises OSError for a file that cannot be removed; the kernel is then still ours, and not whole.
    """
    folder, modules = root / FOLDER / release, root / MODULES / release
    if not RELEASE.fullmatch(release) or not folder.is_dir():
        return False
    (folder / MARK).unlink(missing_ok=True)
    if modules.exists():
        shutil.rmtree(modules)
    # Last: it tells that the modules are ours.
    shutil.rmtree(folder)
    return True


def _complete(release: str, folder: Path) -> None:
    """Lists of the modules, and the initial RAM disk."""
    _run("depmod", release)
    program = maker()
    if program is None:
        names = ", ".join(MAKERS)
        raise PackageError(f"no program makes an initial RAM disk here: install one of {names}")
    file = folder / INITIAL_DISK
    words = [word.format(release=release, file=file) for word in MAKERS[program]]
    _run(program, *words)
    if not file.is_file() or not file.stat().st_size:
        raise PackageError(f"{program} made no initial RAM disk for {release}")


def _run(*command: str) -> None:
    try:
        done = subprocess.run(
            command, check=False, capture_output=True, text=True, timeout=LIMIT_S,
            stdin=subprocess.DEVNULL,
        )  # fmt: skip
    except FileNotFoundError as error:
        raise PackageError(f"there is no program {command[0]} on this host") from error
    except subprocess.TimeoutExpired as error:
        raise PackageError(f"{' '.join(command)} did not end within {LIMIT_S} s") from error
    if done.returncode:
        said = (done.stderr or done.stdout).strip()[-800:]
        raise PackageError(f"{' '.join(command)}: {said}")


def _require_room(package: Path, release: str, folder: Path, modules: Path) -> None:
    """Raises PackageError where the files do not fit, or the package has no image."""
    needed = {_there(folder): INITIAL_DISK_BYTES, _there(modules): LISTS_BYTES}
    images = 0
    for place, member in _files(package, release):
        images += place == IMAGE
        needed[_there(folder if place == IMAGE else modules)] += member.size
    if images != 1:
        raise PackageError(f"{package.name} has no boot/vmlinuz-{release}")
    for where in needed:
        device = where.stat().st_dev
        total = sum(size for each, size in needed.items() if each.stat().st_dev == device)
        state = os.statvfs(where)
        free = state.f_bavail * state.f_frsize
        if free < total:
            raise PackageError(
                f"{where} has {free >> 20} MiB free, kernel {release} needs {total >> 20} MiB there"
            )


def _there(path: Path) -> Path:
    """The path, or the nearest above it that is there."""
    return next(each for each in (path, *path.parents) if each.exists())


def _unpack(package: Path, release: str, folder: Path, modules: Path) -> None:
    folder.mkdir(parents=True)
    modules.mkdir()
    for place, member in _files(package, release):
        path = folder / IMAGE if place == IMAGE else modules / place
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("xb") as file:
            shutil.copyfileobj(cast("BinaryIO", member.content), file, 1 << 20)
        path.chmod(0o644)


class _Member:
    """One file of a package: *content* is read before the next one is asked for."""

    def __init__(self, size: int, content: Any) -> None:
        self.size, self.content = size, content


def _files(package: Path, release: str) -> Iterator[tuple[str, _Member]]:
    """The image, as IMAGE, and the modules' files by their paths below their folder.

    Whatever else is in the package is left out. Raises PackageError for what is no package, a
    path that leads elsewhere, or more than the limits.
    """
    own = f"{MODULES}/{release}/"
    count = size = 0
    with _opened(package) as tar:
        for member in tar:
            name = member.name[2:] if member.name.startswith("./") else member.name
            if ".." in PurePosixPath(name).parts or name.startswith("/"):
                raise PackageError(f"{package.name} has a path that leads elsewhere: {name[:80]!r}")
            count, size = count + 1, size + member.size
            if count > MOST_FILES or size > MOST_BYTES:
                raise PackageError(f"{package.name} has more files or bytes than a kernel")
            name = name[4:] if name.startswith(f"usr/{own}") else name
            place = IMAGE if name == f"boot/vmlinuz-{release}" else name[len(own) :]
            if not member.isreg() or not (place == IMAGE or name.startswith(own)):
                continue
            if name.startswith(own) and place == IMAGE:
                continue
            yield place, _Member(member.size, tar.extractfile(member))


@contextmanager
def _opened(package: Path) -> Iterator[tarfile.TarFile]:
    """The files of a Debian package, in their order. Raises PackageError."""
    with package.open("rb") as file:
        name, size = _data_member(file)
        if name not in PACKINGS:
            known = ", ".join(PACKINGS)
            raise PackageError(
                f"the files of {package.name} are packed as {name[:40]}, this host reads {known}: "
                "pack it again (dpkg-deb --raw-extract, dpkg-deb -Zxz --build)"
            )
        try:
            with tarfile.open(
                fileobj=cast("BinaryIO", _Part(file, size)), mode=PACKINGS[name]
            ) as tar:
                yield tar
        except (tarfile.TarError, EOFError, ValueError) as error:
            raise PackageError(f"{package.name} is damaged: {error}") from error


def _data_member(file: BinaryIO) -> tuple[str, int]:
    """Name and size of the archive's part with the files, which the file then stands at."""
    if file.read(8) != b"!<arch>\n":
        raise PackageError("this is no Debian package")
    while True:
        head = file.read(60)
        if len(head) < 60 or head[58:] != b"`\n" or not head[48:58].strip().isdigit():
            raise PackageError("this package has no files: it is damaged")
        name, size = head[:16].decode("ascii", "replace").strip().rstrip("/"), int(head[48:58])
        if name.startswith("data.tar"):
            return name, size
        file.seek(size + size % 2, os.SEEK_CUR)


class _Part:
    """The next so many bytes of a file, as a file."""

    def __init__(self, file: BinaryIO, size: int) -> None:
        self.file, self.left = file, size

    def read(self, size: int) -> bytes:
        data = self.file.read(min(size, self.left))
        self.left -= len(data)
        return data
