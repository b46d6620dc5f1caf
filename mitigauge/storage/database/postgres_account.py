"""The system account PostgreSQL runs as, and what that account may reach.

PostgreSQL refuses to run as root. Started by root it runs as the owner of an existing
data directory, else as the system user ``mitigauge-db``, made on first use.
"""

from __future__ import annotations

import logging
import os
import pwd
import subprocess
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from mitigauge.core.errors import MitigaugeError

log = logging.getLogger(__name__)

SERVER_USER = "mitigauge-db"


class EmbeddedPostgresError(MitigaugeError):
    """Our own PostgreSQL server could not be made, started or stopped."""


@dataclass(frozen=True)
class Account:
    """The system account the server runs as; ``uid`` is never 0."""

    uid: int
    gid: int


def server_account(data: Path) -> Account:
    """The account to run as: ourselves, or, for root, the owner of the data directory."""
    owner = data.stat().st_uid if data.is_dir() else None
    if os.geteuid() != 0:
        if owner not in (None, os.geteuid()):
            raise EmbeddedPostgresError(
                f"{data} belongs to user id {owner}, not to {os.geteuid()}",
                hint="run as its owner or as root, or set MITIGAUGE_HOME to a directory of yours",
            )
        return Account(os.geteuid(), os.getegid())
    try:
        entry = pwd.getpwuid(owner) if owner else pwd.getpwnam(SERVER_USER)
    except KeyError:
        if owner:
            raise EmbeddedPostgresError(
                f"{data} belongs to user id {owner}, which this machine has no account for",
                hint=f"chown -R {SERVER_USER} {data.parent}, or set MITIGAUGE_HOME elsewhere",
            ) from None
        entry = _make_account()
    return Account(entry.pw_uid, entry.pw_gid)


def _make_account() -> pwd.struct_passwd:
    log.info("making the system user %s: PostgreSQL does not run as root", SERVER_USER)
    command = ["useradd", "--system", "--user-group", "--no-create-home"]
    command += ["--home-dir", "/nonexistent", "--shell", "/usr/sbin/nologin", SERVER_USER]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    except FileNotFoundError:
        detail = "useradd is not installed"
    else:
        detail = done.stderr.strip()
    try:
        return pwd.getpwnam(SERVER_USER)  # perhaps another process was faster
    except KeyError:
        raise EmbeddedPostgresError(
            f"cannot make the system user {SERVER_USER}: {detail}",
            hint="make it by hand, run as an ordinary user, or set MITIGAUGE_DATABASE_URL",
        ) from None


def make_private(path: Path, account: Account) -> None:
    """A directory only *account* can enter; refuses one that somebody else laid out."""
    try:
        path.mkdir(mode=0o700)
    except FileExistsError:
        owner = path.lstat().st_uid
        if path.is_symlink() or owner not in (os.geteuid(), account.uid):
            raise EmbeddedPostgresError(
                f"{path} belongs to user id {owner} or is a link, so a server there is not safe",
                hint="remove it, or set MITIGAUGE_HOME elsewhere",
            ) from None
    if path.lstat().st_uid != account.uid:
        os.chown(path, account.uid, account.gid)
    path.chmod(0o700)


def make_reachable(paths: Iterable[Path], trees: Iterable[Path], account: Account) -> None:
    """Let another account pass through to *paths* and read *trees* (started by root only).

    A checkout in /root is the usual case. Directories on the way get the right to be
    passed through (``o+x``), not to be listed, and only those that lack it.
    """
    if account.uid == os.geteuid():
        return
    for path in paths:
        for directory in path.parents:
            _permit(directory, 0o001)
    for root in trees:
        # The installer works under the caller's umask; one look at the top tells.
        if root.is_dir() and not root.stat().st_mode & 0o004:
            for path in (root, *root.rglob("*")):
                _permit(path, 0o005 if path.stat().st_mode & 0o100 else 0o004)


def _permit(path: Path, bits: int) -> None:
    mode = path.stat().st_mode
    if mode & bits != bits:
        log.info("chmod o+%s %s, for PostgreSQL's account", "rx" if bits & 4 else "x", path)
        try:
            path.chmod(mode & 0o7777 | bits)
        except OSError as error:
            raise EmbeddedPostgresError(
                f"PostgreSQL's account cannot pass through {path}: {error.strerror}",
                hint=f"`chmod o+x {path}`, or run as an ordinary user",
            ) from error
