"""What a host is, as JSON: run there by its own Python, with nothing else of ours.

``{files: {path: [type, mode, uid, gid, size, content]}, packages, grub, units, sysctls}``; the
content is a SHA-256, or where a link leads. Only the root's file system is walked.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import stat
import subprocess
import sys

NOT_WALKED = {"/proc", "/sys", "/run", "/tmp", "/dev", "/lost+found"}


def said(*command: str) -> list[str]:
    """The lines that a command prints; none where it is not there."""
    if shutil.which(command[0]) is None:
        return []
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.stdout.splitlines()


def digest(path: str) -> str:
    """SHA-256 of a file."""
    total = hashlib.sha256()
    with open(path, "rb") as file:
        while chunk := file.read(1 << 20):
            total.update(chunk)
    return total.hexdigest()


def entry(path: str, found: os.stat_result) -> list[object]:
    """Type, mode, owner, size and content; a directory's size says nothing."""
    kind, size, content = stat.S_IFMT(found.st_mode), found.st_size, ""
    if stat.S_ISLNK(found.st_mode):
        content = os.readlink(path)
    elif stat.S_ISREG(found.st_mode):
        content = digest(path)
    else:
        size = 0
    return [oct(kind), oct(stat.S_IMODE(found.st_mode)), found.st_uid, found.st_gid, size, content]


def files(top: str, device: int) -> dict[str, list[object]]:
    """Everything below *top* that is on its file system."""
    known: dict[str, list[object]] = {}
    for place, folders, names in os.walk(top):
        folders[:] = [name for name in folders if os.path.join(place, name) not in NOT_WALKED]
        for name in [*folders, *names]:
            path = os.path.join(place, name)
            try:
                found = os.lstat(path)
                if found.st_dev == device:
                    known[path] = entry(path, found)
            except FileNotFoundError:
                continue  # gone between the two looks
        folders[:] = [
            name for name in folders if os.lstat(os.path.join(place, name)).st_dev == device
        ]
    return known


def pairs(lines: list[str], separator: str) -> dict[str, str]:
    """Name → value of lines with a separator."""
    return {
        line.partition(separator)[0].strip(): line.partition(separator)[2].strip()
        for line in lines
        if separator in line
    }


def snapshot() -> dict[str, object]:
    """All of it."""
    units = said("systemctl", "list-unit-files", "--no-legend", "--no-pager", "--plain")
    shown = "${Package}:${Architecture} ${Version} ${db:Status-Status}\n"
    return {
        "file": files("/", os.lstat("/").st_dev),
        "package": pairs(said("dpkg-query", "-W", "-f", shown), " "),
        "grub": pairs(said("grub-editenv", "/boot/grub/grubenv", "list"), "="),
        "unit": {words[0]: words[1] for words in map(str.split, units) if len(words) > 1},
        "sysctl": pairs(said("/usr/sbin/sysctl", "-a"), " = "),
        "kernel": {
            "release": os.uname().release,
            "cmdline": " ".join(said("cat", "/proc/cmdline")),
        },
    }


if __name__ == "__main__":
    json.dump(snapshot(), sys.stdout)
