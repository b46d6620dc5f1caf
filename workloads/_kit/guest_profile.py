"""The profile that a guest takes of its own tests: how it is asked for, and taken from it."""

from __future__ import annotations

import tarfile
from pathlib import Path
from typing import NamedTuple

from _kit import guest as guests
from _kit.guest import Addition, Guest, LabFault, read_json
from _kit.wire.limits import CAPTURE_BYTES

# A guest turns its recording into text before it hands it over.
PROFILE_LIMIT_S = 120
# What a guest hands over; anything else is left in its tar.
PROFILE_FILES = ("facts.json", "failed.txt", "stats.txt", "perf.script.gz")


class GuestProfile(NamedTuple):
    """The profile that the guest is to take of its tests, on its way to `tar`."""

    addition: Addition
    done_marker: str
    tar: Path


def guest_profile(hz: int, tests: int, output: Path, asked: dict[str, str]) -> GuestProfile:
    """What QEMU and the guest need to sample `tests` tests `hz` times a second.

    `asked`: what the arm sets of the guest.
    """
    needed = "apply Ansible role guest with guest_profiled"
    manifest = read_json(guests.built_for(asked) / "profile.json", needed)
    tar = output / "guest.tar"
    qemu = [
        "-initrd", str(manifest["initrd"]),
        "-device", "virtio-serial-pci", "-chardev", f"file,id=profile,path={tar}",
        "-device", "virtserialport,chardev=profile",
    ]  # fmt: skip
    more_mb = int(manifest["more_memory_mb"])
    addition = Addition(qemu, f" mg_profile={hz},{tests}", more_mb)
    return GuestProfile(addition, str(manifest["done_marker"]), tar)


def take_profile(guest: Guest, profile: GuestProfile, directory: Path) -> None:
    """What the guest hands over, in `directory`; failed.txt says why there is nothing.

    The tests are done by now: nothing here is the case's failure.
    """
    directory.mkdir(exist_ok=True)
    try:
        if guest.wait_for(profile.done_marker, PROFILE_LIMIT_S):
            with tarfile.open(profile.tar) as tar:
                unpack_profile(tar, directory)
            return
        reason = f"the guest handed no profile over within {PROFILE_LIMIT_S} s"
    except (LabFault, OSError, tarfile.TarError) as error:
        reason = f"the guest's profile was lost: {error}"
    finally:
        profile.tar.unlink(missing_ok=True)
    (directory / "failed.txt").write_text(reason)


def unpack_profile(tar: tarfile.TarFile, directory: Path) -> None:
    """The known files of `tar`, by name alone: what a guest sends is not trusted."""
    for member in tar:
        name = member.name.removeprefix("./")
        content = tar.extractfile(member) if name in PROFILE_FILES else None
        if content:
            (directory / name).write_bytes(content.read(CAPTURE_BYTES))
