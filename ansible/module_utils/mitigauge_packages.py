"""Debian packages that the host lacks: noted as ours, then installed."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path

from ansible.module_utils.mitigauge_changes import note

# As `apt-get --simulate` says it: "Inst NAME [OLD VERSION] (NEW VERSION ARCHIVE [ARCH])".
INSTALL = re.compile(r"^Inst (?P<name>\S+) (?:\[(?P<old>[^\]]+)\] )?\(", re.MULTILINE)
REMOVE = re.compile(r"^(?:Remv|Purg) (?P<name>\S+)", re.MULTILINE)
# A lock that another apt holds, such as the daily one's, is waited for.
OPTIONS = ("-q", "-y", "--no-install-recommends", "-o", "DPkg::Lock::Timeout=120")
ENVIRONMENT = {
    "LC_ALL": "C.UTF-8",
    "DEBIAN_FRONTEND": "noninteractive",
    # needrestart and apt-listchanges would ask, or restart services beside a measurement.
    "NEEDRESTART_SUSPEND": "1",
    "APT_LISTCHANGES_FRONTEND": "none",
    "PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
}
TOLD_CHARACTERS = 800
# apt's words, in the locale that it is given.
INTERRUPTED = "dpkg was interrupted"
GRUB_MENU = "update-grub"


class PackageError(Exception):
    """apt or dpkg refused; the text says what it said."""


def apt(*words: str) -> str:
    """Output of apt-get.

    What a host left half-done that went down among packages is done first. Raises
    :class:`PackageError` with the end of what it said.
    """
    return _apt(words)


def _apt(words: Sequence[str], path: str = "") -> str:
    """*path*: where it, and what it starts, looks for programs, if elsewhere."""
    # apt gives what it starts a path of its own.
    told = ("-o", f"DPkg::Path={path}") if path else ()
    command = ["apt-get", *OPTIONS, *told, *words]
    try:
        return _run(command, path)
    except FileNotFoundError:
        raise PackageError("apt-get is not there: this host is neither Debian nor Ubuntu") from None
    except PackageError as error:
        if INTERRUPTED not in str(error):
            raise
    _run(["dpkg", "--configure", "-a"], path)
    return _run(command, path)


def _run(command: Sequence[str], path: str = "") -> str:
    done = subprocess.run(
        command, check=False, capture_output=True, text=True,
        env={**os.environ, **ENVIRONMENT, **({"PATH": path} if path else {})},
        stdin=subprocess.DEVNULL,
    )  # fmt: skip
    if done.returncode:
        said = (done.stderr or done.stdout).strip()[-TOLD_CHARACTERS:]
        words = [each for each in command if each not in OPTIONS and "DPkg::Path" not in each]
        raise PackageError(f"{' '.join(words)}: {said}")
    return done.stdout


def apt_with_one_menu(*words: str) -> str:
    """As :func:`apt`, with GRUB's menu written once, at the end, whatever happened before.

    Each kernel that comes or goes would have it written.
    """
    path = ENVIRONMENT["PATH"]
    if shutil.which(GRUB_MENU, path=path) is None:
        return apt(*words)
    with tempfile.TemporaryDirectory() as instead:
        # A link: nothing may be run from a file system that is mounted so.
        (Path(instead) / GRUB_MENU).symlink_to("/bin/true")
        try:
            return _apt(words, f"{instead}:{path}")
        finally:
            _run([GRUB_MENU])


def planned(simulation: str) -> tuple[list[str], dict[str, str]]:
    """(packages that would be new, package → the version that would be replaced)."""
    found = [(m["name"], m["old"]) for m in INSTALL.finditer(simulation)]
    return (
        [name for name, old in found if old is None],
        {name: old for name, old in found if old is not None},
    )


def removed(simulation: str) -> list[str]:
    """Packages that would go."""
    return [match["name"] for match in REMOVE.finditer(simulation)]


def install(names: Sequence[str]) -> None:
    """Install packages with fresh lists, since the host's may name versions that are gone.

    What comes with them is known from a simulation and noted before the first one is unpacked.
    Raises :class:`PackageError`; refuses what would remove packages of the host.
    """
    if shutil.which("apt-get", path=ENVIRONMENT["PATH"]) is None:
        raise PackageError(
            "this host has no apt-get: install by hand what Debian calls " + ", ".join(names)
        )
    apt("update")
    simulation = apt("--simulate", "install", *names)
    _require_none_removed(names, simulation)
    new, old = planned(simulation)
    note("packages", dict.fromkeys(new))
    note("upgraded", old)
    apt("install", *names)


def install_files(files: Sequence[str], names: Sequence[str]) -> None:
    """Install package files of ours, over whatever is installed under their names.

    What they replace was never in an archive and cannot be put back: it is removed with them.
    Raises :class:`PackageError` as :func:`install` does.
    """
    options = ("--reinstall", "--allow-downgrades")
    simulation = apt("--simulate", "install", *options, *files)
    _require_none_removed(files, simulation)
    new, old = planned(simulation)
    note("packages", dict.fromkeys([*new, *names]))
    note("upgraded", {name: version for name, version in old.items() if name not in names})
    apt_with_one_menu("install", *options, *files)


def _require_none_removed(names: Sequence[str], simulation: str) -> None:
    going = removed(simulation)
    if going:
        raise PackageError(
            f"installing {', '.join(names)} would remove {', '.join(going)} from this host; "
            "install it by hand if that may be"
        )
