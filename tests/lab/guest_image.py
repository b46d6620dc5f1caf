"""A guest image as an operator has one: a small Debian on a qcow2 disk, with GRUB, DHCP and SSH."""

from __future__ import annotations

import hashlib
import os
import shutil
import struct
import subprocess
import tempfile
from pathlib import Path

import pytest

from mitigauge.core.apt_sources import Mirror, find_mirror, inherited_apt_options

SUITE = "trixie"
PACKAGES = ("busybox-static", "grub-pc-bin", "iperf3", "iproute2", "kmod", "openssh-server", "sudo")
KERNEL = "linux-image-cloud-amd64"
# All that its initial RAM disk needs; with every driver it is three times as large.
INITRD_MODULES = r"virtio_pci\nvirtio_blk\next4\n"
# An account that may do everything through sudo, and one that may log in and nothing else.
USER, POOR_USER = "ops", "guest"
SUDOERS = f"{USER} ALL=(ALL) NOPASSWD: ALL\n"
DISK_MIB, FIRST_MIB, SECTOR = 1024, 1, 512
BUILD_TIMEOUT_S = 900
TOLD_LINES = 30
# GRUB's `linux16` copies the kernel's file; `linux` copies all the memory that the kernel asks for.
GRUB = """\
linux16 (hd0,msdos1)/vmlinuz root=/dev/vda1 rw console=ttyS0 quiet panic=-1 init=/guest-init
initrd16 (hd0,msdos1)/initrd.img
boot
"""
GRUB_MODULES = ("biosdisk", "part_msdos", "ext2", "linux16", "linux")
# Before the kernel's package makes it.
HOOK = f"""\
#!/bin/sh
set -e
mkdir -p "$1/etc/initramfs-tools/conf.d" "$1/usr/share/initramfs-tools/modules.d"
echo MODULES=list > "$1/etc/initramfs-tools/conf.d/guest"
printf '{INITRD_MODULES}' > "$1/usr/share/initramfs-tools/modules.d/guest"
"""
INIT = """\
#!/bin/sh
export PATH=/usr/sbin:/usr/bin:/sbin:/bin
mkdir -p /dev/pts /run/sshd
mount -t devpts devpts /dev/pts
modprobe -a virtio_pci virtio_net
ip link set lo up
ip link set eth0 up
busybox udhcpc -i eth0 -n -q -t 20 -T 1 -s /guest-dhcp
/usr/sbin/sshd -D -e &
while :; do wait; sleep 60; done
"""
DHCP = """\
#!/bin/sh
[ "$1" != bound ] || ip address add "$ip/$mask" dev "$interface"
"""


def guest_image(cache: Path) -> Path:
    """The disk, built where *cache* does not have it; its key and `root` lie beside it.

    Skips the test where the image cannot be built at all: without root or mmdebstrap.
    """
    mirror = _require()
    parts = (
        SUITE,
        PACKAGES,
        SUDOERS,
        POOR_USER,
        KERNEL,
        INITRD_MODULES,
        DISK_MIB,
        GRUB,
        INIT,
        DHCP,
        mirror,
    )
    made = cache / hashlib.sha256(repr(parts).encode()).hexdigest()[:16]
    if not (made / "disk.qcow2").exists():
        cache.mkdir(parents=True, exist_ok=True)
        work = Path(tempfile.mkdtemp(prefix=".building-", dir=cache))
        try:
            _build(work, mirror)
            work.rename(made)
        finally:
            shutil.rmtree(work, ignore_errors=True)
    return made / "disk.qcow2"


def key_of(disk: Path) -> Path:
    """The private key that lets root and both accounts in."""
    return disk.with_name("key")


def root_of(disk: Path) -> Path:
    """What the disk holds, as a directory of this machine."""
    return disk.with_name("root")


def _require() -> Mirror:
    if os.geteuid() != 0:
        pytest.skip("a disk's files belong to root")
    missing = [name for name in ("mmdebstrap", "mke2fs", "qemu-img") if not shutil.which(name)]
    if missing:
        pytest.skip(f"missing: {', '.join(missing)}")
    mirror = find_mirror()
    if mirror is None:
        pytest.skip("/etc/apt names no mirror of Debian")
    return mirror


def _build(work: Path, mirror: Mirror) -> None:
    key, root, disk = work / "key", work / "root", work / "disk.raw"
    _run(work, "ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "guest", "-f", key)
    work.chmod(0o755)
    hook = work / "initrd-modules"
    hook.write_text(HOOK)
    hook.chmod(0o755)
    _run(
        work, "mmdebstrap", "--variant=minbase", "--mode=root",
        f"--include={','.join((*PACKAGES, KERNEL))}", f"--essential-hook={hook} \"$1\"",
        "--dpkgopt=path-exclude=/usr/share/man/*", "--dpkgopt=path-exclude=/usr/share/locale/*",
        "--dpkgopt=path-exclude=/usr/share/doc/*",
        *(f"--aptopt={option}" for option in inherited_apt_options()),
        SUITE, root, *mirror.lines(SUITE),
    )  # fmt: skip
    for user in (USER, POOR_USER):
        _run(work, "chroot", root, "useradd", "--create-home", "--shell", "/bin/sh", user)
    _customise(root, key.with_name("key.pub").read_text())
    _make_bootable(work, root, disk)
    _run(work, "qemu-img", "convert", "-f", "raw", "-O", "qcow2", disk, work / "disk.qcow2")
    disk.unlink()


def _customise(root: Path, public_key: str) -> None:
    for name, text in (("guest-init", INIT), ("guest-dhcp", DHCP)):
        (root / name).write_text(text)
        (root / name).chmod(0o755)
    (root / "etc/sudoers.d/guest").write_text(SUDOERS)
    (root / "etc/hosts").write_text("127.0.0.1 localhost guest\n")
    (root / "etc/hostname").write_text("guest\n")
    for home in (root / "root", root / "home" / USER, root / "home" / POOR_USER):
        owner = home.stat()
        ssh = home / ".ssh"
        ssh.mkdir(mode=0o700, exist_ok=True)
        (ssh / "authorized_keys").write_text(public_key)
        for path in (ssh, ssh / "authorized_keys"):
            os.chown(path, owner.st_uid, owner.st_gid)


def _make_bootable(work: Path, root: Path, disk: Path) -> None:
    """GRUB before the first partition, and the root in it, without mounting anything."""
    (root / "grub.cfg").write_text(GRUB)
    _run(
        work, "chroot", root, "grub-mkimage", "-O", "i386-pc", "-p", "/", "-c", "/grub.cfg",
        "-o", "/core.img", *GRUB_MODULES,
    )  # fmt: skip
    core = (root / "core.img").read_bytes()
    boot = (root / "usr/lib/grub/i386-pc/boot.img").read_bytes()
    first = (FIRST_MIB << 20) // SECTOR
    assert len(core) <= (first - 1) * SECTOR
    # Addresses by cylinder, head and sector are at their limit: "see the sector numbers".
    beyond, count = b"\xfe\xff\xff", (DISK_MIB << 20) // SECTOR - first
    table = struct.pack("<B3sB3sII", 0x80, beyond, 0x83, beyond, first, count)
    with disk.open("wb") as file:
        file.truncate(DISK_MIB << 20)
        # GRUB's first sector finds the rest in the sector after it by itself.
        file.write(boot[:440])
        file.seek(446)
        file.write(table)
        file.seek(510)
        file.write(b"\x55\xaa" + core)
    _run(
        work, "mke2fs", "-q", "-F", "-t", "ext4", "-m", "0", "-O", "^metadata_csum_seed",
        "-E", f"offset={FIRST_MIB << 20}", "-d", root, disk, f"{DISK_MIB - FIRST_MIB}M",
    )  # fmt: skip


def _run(work: Path, *command: str | Path) -> None:
    log = work / "build.log"
    path = f"{os.environ.get('PATH', '')}:/usr/sbin:/sbin"
    with log.open("ab") as output:
        done = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            env={**os.environ, "PATH": path, "LC_ALL": "C.UTF-8"},
            timeout=BUILD_TIMEOUT_S,
            check=False,
        )
    if done.returncode:
        tail = "\n".join(log.read_text(errors="replace").splitlines()[-TOLD_LINES:])
        pytest.fail(f"{command[0]} ended with {done.returncode}:\n{tail}")
