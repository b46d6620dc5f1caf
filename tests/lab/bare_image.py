"""A Debian cloud image that this project did not make: by FAI, as Debian makes its own.

FAI's own example configuration is used, with its classes for a cloud image. What is added to it
is what its pages ask everybody to add: the mirror of this machine, and a key for root.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import tempfile
from pathlib import Path

import pytest

from mitigauge.core.apt_sources import Mirror, find_mirror

EXAMPLE = Path("/usr/share/doc/fai-doc/examples/simple")
PACKAGES = ("fai-server", "fai-setup-storage", "fai-doc", "qemu-utils", "udev")
# FAI's classes, from its manual page fai-diskimage(8); the last is what is added here.
CLASSES = ("DEBIAN", "AMD64", "FAIBASE", "GRUB_PC", "DHCPC", "CLOUD", "MITIGAUGE")
SUITE = "bookworm"
SIZE = "5G"
BUILD_TIMEOUT_S = 1800
TOLD_LINES = 40
# update-grub names the root by its UUID only where this link is. Where udev runs, it is there.
WITH_LINK = """#! /bin/bash
. $LOGDIR/disk_var.sh
link=/dev/disk/by-uuid/$(blkid -s UUID -o value $BOOT_PARTITION)
[ -e $link ] && exit 0
mkdir -p /dev/disk/by-uuid && ln -s $BOOT_PARTITION $link && echo $link > $LOGDIR/link
"""
WITHOUT_LINK = """#! /bin/bash
[ ! -e $LOGDIR/link ] || rm -f $(cat $LOGDIR/link)
"""


def bare_image(cache: Path) -> Path:
    """The image's disk, built where *cache* does not have it; beside it lies root's key.

    Skips the test where the image cannot be built at all: without root or FAI.
    """
    mirror = _require()
    name = hashlib.sha256(repr((SUITE, SIZE, CLASSES, WITH_LINK, mirror)).encode()).hexdigest()[:16]
    made = cache / name
    if not (made / "disk.raw").exists():
        cache.mkdir(parents=True, exist_ok=True)
        work = Path(tempfile.mkdtemp(prefix=".building-", dir=cache))
        try:
            _build(work, mirror)
            work.rename(made)
        finally:
            shutil.rmtree(work, ignore_errors=True)
    return made / "disk.raw"


def key_of(disk: Path) -> Path:
    """The private key that lets root in."""
    return disk.with_name("key")


def _require() -> Mirror:
    if os.geteuid() != 0:
        pytest.skip("fai-diskimage takes root")
    if not shutil.which("fai-diskimage") or not EXAMPLE.is_dir():
        pytest.skip(f"FAI is missing: apt-get install {' '.join(PACKAGES)}")
    mirror = find_mirror()
    if mirror is None:
        pytest.skip("/etc/apt names no mirror of Debian")
    return mirror


def _build(work: Path, mirror: Mirror) -> None:
    key = work / "key"
    subprocess.run(
        ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "bare", "-f", key], check=True
    )
    space = _configuration(work, mirror, key.with_name("key.pub").read_text())
    command = ["fai-diskimage", "--verbose", "--hostname", "bare", "--size", SIZE]
    command += ["--cspace", str(space), "--class", ",".join(CLASSES), str(work / "disk.raw")]
    log = work / "build.log"
    with log.open("wb") as output:
        done = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            cwd=work,
            env={**os.environ, "LC_ALL": "C.UTF-8", "DEBIAN_FRONTEND": "noninteractive"},
            timeout=BUILD_TIMEOUT_S,
            check=False,
        )
    if done.returncode:
        tail = "\n".join(log.read_text(errors="replace").splitlines()[-TOLD_LINES:])
        pytest.fail(f"fai-diskimage ended with {done.returncode}:\n{tail}")
    shutil.rmtree(space)


def _configuration(work: Path, mirror: Mirror, key: str) -> Path:
    """FAI's example, with a class that knows the mirror and the key."""
    space = work / "config"
    shutil.copytree(EXAMPLE, space, symlinks=True)
    own = CLASSES[-1]
    # Without an account for logs no install server is looked for, which would be missing.
    (space / "class" / f"{own}.var").write_text(
        f'release={SUITE}\nFAI_DEBOOTSTRAP="{SUITE} {mirror.archive}"\nLOGUSER=\n'
    )
    lines = [f"deb {mirror.archive} {name} main" for name in (SUITE, f"{SUITE}-updates")]
    if mirror.security:
        lines.append(f"deb {mirror.security} {SUITE}-security main")
    for place, text in (("etc/apt/sources.list", "\n".join(lines) + "\n"), ("root-ssh-key", key)):
        folder = space / "files" / place
        folder.mkdir(parents=True, exist_ok=True)
        (folder / own).write_text(text)
    for task, script in (("configure", WITH_LINK), ("finish", WITHOUT_LINK)):
        hook = space / "hooks" / f"{task}.{own}"
        hook.write_text(script)
        hook.chmod(0o755)
    return space
