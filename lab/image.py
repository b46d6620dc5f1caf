"""Base images: built once from Debian packages, cached by the hash of their recipe."""

from __future__ import annotations

import os
import shutil
import struct
import subprocess
import tempfile
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from lab import metal
from lab.errors import LabError
from lab.execution import PROGRAM, Execution
from lab.progress import Progress
from lab.qemu import disk_arguments, kernel_arguments, machine_arguments
from lab.recipe import COMPILED, Recipe, public_half
from mitigauge.core.apt_sources import Mirror, find_mirror, inherited_apt_options
from mitigauge.core.clock import Clock

INSTALL_TIMEOUT_S = 300
_PARTITION_OFFSET_MIB = 1
_SECTOR = 512


@dataclass(frozen=True)
class Image:
    """A finished base image in the cache."""

    directory: Path

    @property
    def disk(self) -> Path:
        """Raw partitioned disk, never written again."""
        return self.directory / "disk.raw"

    @property
    def second_disk(self) -> Path:
        """Of a board with two disks, the other one."""
        return self.directory / "disk1.raw"

    @property
    def kernel(self) -> Path:
        """The kernel, for direct starts."""
        return self.directory / "vmlinuz"

    @property
    def digest(self) -> str:
        """Hash of the recipe."""
        return self.directory.name

    @property
    def release(self) -> str:
        """Kernel release, as ``uname -r`` says it."""
        return (self.directory / "release").read_text("utf-8").strip()


def ensure_image(recipe: Recipe, images: Path, progress: Progress) -> Image:
    """The image of ``recipe``, built if the cache does not have it."""
    image = Image(images / recipe.digest)
    if image.disk.exists():
        return image
    images.mkdir(parents=True, exist_ok=True)
    with _work_directory(images) as work:
        build(recipe, work, progress)
        _put_into_cache(work, image)
    return image


def prune(images: Path, keep: Collection[Path]) -> None:
    """Remove cached images but those whose disks are in ``keep``."""
    for directory in images.iterdir():
        if Image(directory).disk not in keep:
            shutil.rmtree(directory)


def build(recipe: Recipe, work: Path, progress: Progress) -> None:
    """Leave a bootable ``work/disk.raw``, and its kernel and records in ``work/boot``."""
    _prepare(recipe, work)
    disk = work / "disk.raw"
    progress.stage("Installing Debian packages")
    _run_mmdebstrap(recipe, work, find_mirror(), progress)
    if recipe.system.is_server:
        progress.stage("Booting the image for the first time")
        metal.first_boot(work, metal.firmware_of(recipe.system))
        return
    progress.stage("Writing the partition table")
    _partition(disk)
    progress.stage("Installing GRUB from inside")
    _install_grub(work)


def mmdebstrap_command(recipe: Recipe, work: Path, mirror: Mirror | None) -> list[str]:
    """The call that unpacks the system and lets ``customise.sh`` write the file system."""
    hook = f'bash {work}/customise.sh "$1" {work} {recipe.suite} {recipe.kernel_line}'
    command = [
        "mmdebstrap",
        "--variant=minbase",
        "--mode=auto",
        "--architectures=amd64",
        f"--include={','.join(recipe.packages)}",
        "--dpkgopt=path-exclude=/usr/share/man/*",
        "--dpkgopt=path-exclude=/usr/share/locale/*",
        "--dpkgopt=path-exclude=/usr/share/doc/*",
        *(f"--aptopt={option}" for option in inherited_apt_options()),
        f"--customize-hook={hook}",
        # The hook has written the file system; what is left behind goes with its directory,
        # and without root apt could not even lock its lists in it.
        "--skip=cleanup",
    ]
    if mirror is None:
        # mmdebstrap knows an address of its own; the backports are beside it.
        backports = (
            f"sed -n 's/ {recipe.suite} / {recipe.suite}-backports /p' "
            '"$1"/etc/apt/sources.list > "$1"/etc/apt/sources.list.d/backports.list'
        )
        return [*command, f"--setup-hook={backports}", recipe.suite, "/dev/null"]
    return [*command, recipe.suite, "/dev/null", *mirror.lines(recipe.suite)]


@contextmanager
def _work_directory(images: Path) -> Iterator[Path]:
    """A directory that the image tool's user may reach: without root it is another one."""
    parent = images if os.getuid() == 0 else Path(tempfile.gettempdir())
    work = Path(tempfile.mkdtemp(prefix="mitigauge-build-", dir=parent))
    work.chmod(0o755)
    try:
        yield work
    finally:
        shutil.rmtree(work, ignore_errors=True)


def _prepare(recipe: Recipe, work: Path) -> None:
    compiled = shutil.ignore_patterns(COMPILED)
    shutil.copytree(recipe.sources / "overlay", work / "overlay", ignore=compiled)
    for script in recipe.sources.glob("*.sh"):
        shutil.copy(script, work)
    ssh = work / "overlay" / "root" / ".ssh"
    ssh.mkdir(parents=True)
    (ssh / "authorized_keys").write_text(public_half(recipe.key).read_text("utf-8"), "utf-8")
    for key in (recipe.host_key, public_half(recipe.host_key)):
        copied = work / "overlay" / "etc" / "ssh" / key.name
        copied.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(key, copied)
        # The image tool reads it as another user; customise.sh closes it again inside.
        copied.chmod(0o644)
    (work / "boot").mkdir()
    (work / "boot").chmod(0o777)
    (work / "root-size-k").write_text(f"{(recipe.disk_mib - 2 * _PARTITION_OFFSET_MIB) * 1024}\n")
    names = metal.DISKS if recipe.system.is_server else metal.DISKS[:1]
    for name in names:
        disk = work / name
        with disk.open("wb") as file:
            file.truncate(recipe.disk_mib << 20)
        disk.chmod(0o666)


def _put_into_cache(work: Path, image: Image) -> None:
    """Copy the parts beside the cache, then rename: a directory of that name is a whole image."""
    arriving = image.directory.with_suffix(".new")
    shutil.rmtree(arriving, ignore_errors=True)
    shutil.copytree(work / "boot", arriving)
    arriving.chmod(0o755)
    # The disk is mostly holes, and without root it comes from another file system.
    for disk in work.glob("*.raw"):
        kept = arriving / disk.name
        subprocess.run(["cp", "--sparse=always", "--reflink=auto", disk, kept], check=True)
        kept.chmod(0o444)
    arriving.rename(image.directory)


def _run_mmdebstrap(recipe: Recipe, work: Path, mirror: Mirror | None, progress: Progress) -> None:
    log = work / "build.log"
    command = mmdebstrap_command(recipe, work, mirror)
    try:
        with (
            subprocess.Popen(
                command,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                errors="replace",
                cwd=work,
                env=_tool_environment(),
            ) as process,
            log.open("w", encoding="utf-8") as log_file,
        ):
            assert process.stdout is not None
            for line in process.stdout:
                log_file.write(line)
                progress.detail(line.strip())
    except FileNotFoundError as error:
        raise LabError(
            "mmdebstrap is not installed.", hint="Install what lab/packages.txt lists."
        ) from error
    if process.returncode:
        tail = "\n".join(log.read_text("utf-8").splitlines()[-25:])
        raise LabError(
            f"mmdebstrap ended with status {process.returncode}:\n{tail}",
            hint="Check the Debian mirror in /etc/apt; without root, /etc/subuid needs this user.",
        )


def _tool_environment() -> dict[str, str]:
    # Ordinary users do not have mke2fs and chroot on their path.
    path = f"{os.environ.get('PATH', '')}:/usr/sbin:/sbin"
    return {
        **os.environ,
        "PATH": path,
        "DEBIAN_FRONTEND": "noninteractive",
        "LC_ALL": "C.UTF-8",
    }


def _partition(disk: Path) -> None:
    """One bootable Linux partition behind a gap that holds GRUB, as a DOS partition table."""
    first = (_PARTITION_OFFSET_MIB << 20) // _SECTOR
    count = disk.stat().st_size // _SECTOR - first
    # Addresses by cylinder, head and sector are at their limit: "see the sector numbers".
    beyond = b"\xfe\xff\xff"
    entry = struct.pack("<B3sB3sII", 0x80, beyond, 0x83, beyond, first, count)
    with disk.open("r+b") as file:
        file.seek(446)
        file.write(entry)
        file.seek(510)
        file.write(b"\x55\xaa")


def _install_grub(work: Path) -> None:
    boot = work / "boot"
    arguments = [
        PROGRAM,
        *machine_arguments(Execution("tcg", Clock.REAL)),
        *("-cpu", "EPYC-Rome"),
        # Two emulated processors now and then lose the race over patched code ("Oops: int3").
        *("-smp", "1"),
        *("-m", "1024"),
        *disk_arguments(work / "disk.raw", "raw", cache="unsafe"),
        *("-serial", "stdio"),
        "-no-reboot",
        *kernel_arguments(
            boot / "vmlinuz",
            (
                "console=ttyS0",
                "root=/dev/nvme0n1p1",
                "quiet",
                "panic=-1",
                "init=/usr/local/sbin/lab-install-grub",
            ),
        ),
    ]
    try:
        done = subprocess.run(
            arguments,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=INSTALL_TIMEOUT_S,
            check=False,
        )
        output, how = done.stdout, "the machine ended before it was done"
    except subprocess.TimeoutExpired as error:
        output, how = error.stdout or b"", f"not done within {INSTALL_TIMEOUT_S} s"
    said = output.decode(errors="replace")
    (boot / "install-grub.log").write_text(said, "utf-8")
    if "lab image ready" not in said:
        tail = "\n".join(said.splitlines()[-25:])
        raise LabError(
            f"GRUB did not go onto the image: {how}. The end of what it said:\n{tail}",
            hint="Run it again; the image is built anew.",
        )
