"""The PostgreSQL server of a test session, and its databases, each a copy of one made before.

A server with the migrated database is made once for what stands in :data:`MADE_OF` and kept in
``.mitigauge/tests``; a session copies it and starts the copy in a second. Each process that runs
tests has a server of its own, since some tests stop theirs. Whoever starts one writes down where
it is: a session that was killed leaves its server running, and the next one of the same checkout
ends it.
"""

from __future__ import annotations

import copy
import fcntl
import hashlib
import json
import os
import shutil
import subprocess
import tempfile
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, TypeVar

from alembic import command
from sqlalchemy import URL, Dialect, Engine, create_engine, make_url, text
from sqlalchemy.util import LRUCache

from mitigauge.core.settings import REPOSITORY
from mitigauge.storage.database.embedded_server import MAJOR, ensure_running, stop
from mitigauge.storage.database.engine import alembic_config, new_engine

T = TypeVar("T")
KEPT = REPOSITORY / ".mitigauge" / "tests"
MIGRATED = "template_mitigauge"
MADE_OF = (
    "db/migrations",
    "mitigauge/storage/database",
    "tests/postgres.py",
    "requirements/dev.txt",
)
# The data lives as long as the tests, so it need not outlive the machine. It must outlive
# the server: with synchronous_commit off, one that is stopped forgets its last commits.
SETTINGS = {
    "fsync": "off",
    "full_page_writes": "off",
    "autovacuum": "off",
    "wal_level": "minimal",
    "max_wal_senders": "0",
    "checkpoint_timeout": "'1h'",
}
# What three processes' servers may come to take, and more.
ROOM_BYTES = 3 << 30
# A copy is younger than what would be vacuumed, and copying files costs a third of logging them.
COPY = "strategy file_copy"


def digest() -> str:
    """Changes with whatever the kept server is made of."""
    sum_of_all = hashlib.sha256(MAJOR.encode())
    for name in MADE_OF:
        top = REPOSITORY / name
        for path in sorted(top.rglob("*")) if top.is_dir() else [top]:
            if path.is_file() and "__pycache__" not in path.parts:
                sum_of_all.update(f"{path.relative_to(REPOSITORY)}\n".encode())
                sum_of_all.update(path.read_bytes())
    return sum_of_all.hexdigest()[:16]


def kept_server(say: Callable[[str], None], kept: Path = KEPT) -> Path:
    """Directory of a stopped server with the migrated database, made anew where it has changed."""
    wanted = kept / f"postgres-{digest()}"
    if wanted.is_dir():
        return wanted
    with _alone(kept):
        if wanted.is_dir():
            return wanted
        old = [path for path in kept.glob("postgres-*") if path != wanted]
        if old:
            say("the migrations have changed: the tests' template database is made anew")
        with tempfile.TemporaryDirectory(prefix="mgpg-") as directory:
            _make(Path(directory))
            fresh = kept / f"new-{os.getpid()}"
            _copy(Path(directory) / "postgres" / "data", fresh)
            fresh.rename(wanted)
        for path in old:
            shutil.rmtree(path, ignore_errors=True)
    return wanted


@contextmanager
def _alone(kept: Path) -> Iterator[None]:
    """The other processes of a session want the same done at the same time."""
    kept.mkdir(parents=True, exist_ok=True)
    with (kept / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _make(home: Path) -> None:
    address = _address(home)
    _execute(address, *(f"alter system set {name} = {value}" for name, value in SETTINGS.items()))
    stop(home)
    address = _address(home)
    _execute(address, f"create database {MIGRATED}")
    command.upgrade(alembic_config(_named(address, MIGRATED)), "head")
    # Without it the planner would guess at every copy, as nothing vacuums them.
    _execute(_named(address, MIGRATED), "analyze", "checkpoint")
    stop(home)


def _copy(source: Path, target: Path) -> None:
    # With the owner, which is not root.
    subprocess.run(["cp", "--archive", source, target], check=True)


def folder(memory: Path = Path("/dev/shm")) -> Path:
    """Where servers live: in memory where that has room, else where temporary files do.

    A copy of a database is a thousand new files: 15 ms in memory, up to half a second on a disk.
    """
    try:
        room = os.statvfs(memory)
    except OSError:
        return Path(tempfile.gettempdir())
    if os.access(memory, os.W_OK) and room.f_bavail * room.f_frsize >= ROOM_BYTES:
        return memory
    return Path(tempfile.gettempdir())


@contextmanager
def started_server(say: Callable[[str], None], kept: Path = KEPT) -> Iterator[tuple[Path, str]]:
    """Home and URL of a copy of the kept server, for as long as the block lasts."""
    end_left_servers(kept)
    source = kept_server(say, kept)
    # Not below pytest's own folder: another session closes that to the server's user.
    home = folder() / f"mgpg-{uuid.uuid4().hex[:12]}"
    note = _note(home, kept)
    try:
        (home / "postgres").mkdir(parents=True, mode=0o700)
        _copy(source, home / "postgres" / "data")
        yield home, _address(home)
    finally:
        _end(home)
        note.unlink(missing_ok=True)


def _note(home: Path, kept: Path) -> Path:
    """Write down whose server it is, before there is one."""
    note = kept / "servers" / home.name
    note.parent.mkdir(parents=True, exist_ok=True)
    said = {"home": str(home), "pid": os.getpid(), "began": _began(os.getpid())}
    note.write_text(json.dumps(said))
    return note


def end_left_servers(kept: Path = KEPT) -> list[Path]:
    """End servers of this checkout's sessions that are no more; gives their homes."""
    ended = []
    with _alone(kept):
        for note in sorted((kept / "servers").glob("mgpg-*")):
            # One that has just been begun is not written yet.
            with suppress(OSError, ValueError, KeyError):
                said = json.loads(note.read_text())
                if _began(said["pid"]) == said["began"]:
                    continue
                _end(Path(said["home"]))
                note.unlink(missing_ok=True)
                ended.append(Path(said["home"]))
    return ended


def _end(home: Path) -> None:
    if home.is_dir():
        # Nobody wants its data any more.
        stop(home, mode="immediate")
        shutil.rmtree(home, ignore_errors=True)


def _began(pid: int) -> str | None:
    """When a process began, by the kernel's clock; None where it has ended."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return None
    state, *fields = stat.rpartition(")")[2].split()
    return None if state in "ZX" else fields[18]


# What has filled a database since it was empty, one after the other: each with its arguments.
Filling = tuple[tuple[Callable[..., Any], tuple[Any, ...]], ...]


@dataclass
class Filled:
    """A database that is there to be copied."""

    name: str
    given: Any
    """What its last filling gave."""


@dataclass
class Databases:
    """Databases of a server, by copying."""

    url: str
    _kept: dict[Filling, Filled] = field(default_factory=dict)
    _state: dict[str, tuple[Filling, int]] = field(default_factory=dict)
    """How a database was filled, and the transaction that comes next if nobody wrote since."""

    @cached_property
    def _engine(self) -> Engine:
        # A test may have restarted the server meanwhile.
        return create_engine(self.url, isolation_level="AUTOCOMMIT", pool_pre_ping=True)

    @contextmanager
    def open(self) -> Iterator[Databases]:
        """Let :func:`filled` find this server for as long as the block lasts."""
        server = _server_of(make_url(self.url))
        _SERVERS[server] = self
        yield self
        del _SERVERS[server]
        self._engine.dispose()

    @contextmanager
    def copied(self, template: str = MIGRATED, filling: Filling = ()) -> Iterator[str]:
        """URL of a copy of a database, which is dropped at the end."""
        name = f"test_{uuid.uuid4().hex}"
        self._do(f"create database {name} template {template} {COPY}")
        self._state[name] = filling, self._next_transaction()
        try:
            yield _named(self.url, name)
        finally:
            del self._state[name]
            self._do(f"drop database {name} with (force)")

    @contextmanager
    def begun_with(self, fill: Callable[..., Any], *arguments: Any) -> Iterator[tuple[str, Any]]:
        """URL of a database that has been filled so, and what that gave."""
        filling: Filling = ((fill, arguments),)
        if filling not in self._kept:
            with self.copied() as url:
                engine = engine_of(url)
                self.fill(engine, fill, arguments)
                engine.dispose()
        kept = self._kept[filling]
        with self.copied(kept.name, filling) as url:
            yield url, copy.deepcopy(kept.given)

    def fill(self, engine: Engine, fill: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
        """Fill a database, or make it a copy of one that was filled in the same way before."""
        name = str(engine.url.database)
        filling, untouched = self._state[name]
        if self._next_transaction() != untouched:
            # Somebody wrote meanwhile: what is there now, no copy has.
            return fill(engine, *arguments)
        filling = (*filling, (fill, arguments))
        engine.dispose()
        if filling not in self._kept:
            given = fill(engine, *arguments)
            engine.dispose()
            kept = Filled(f"filled_{len(self._kept)}", copy.deepcopy(given))
            self._do(f"create database {kept.name} template {name} {COPY}")
            self._kept[filling] = kept
        else:
            kept = self._kept[filling]
            given = copy.deepcopy(kept.given)
            self._do(f"drop database {name} with (force)")
            self._do(f"create database {name} template {kept.name} {COPY}")
        self._state[name] = filling, self._next_transaction()
        return given

    def _next_transaction(self) -> int:
        """Counts whatever is written anywhere on the server; nothing else runs beside a test."""
        with self._engine.connect() as connection:
            query = text("select pg_snapshot_xmax(pg_current_snapshot())::text::bigint")
            return int(connection.execute(query).scalar_one())

    def _do(self, statement: str) -> None:
        with self._engine.connect() as connection:
            connection.execute(text(statement))


_SERVERS: dict[str, Databases] = {}
_DIALECTS: list[Dialect] = []
_COMPILED: LRUCache[Any, Any] = LRUCache(2_000)


def filled(engine: Engine, fill: Callable[..., T], *arguments: Any) -> T:
    """What ``fill(engine, *arguments)`` gives and leaves in a test's database.

    Rows that many tests begin with are made once a process and copied. So *fill* must do the same
    each time it is called, leave nothing but rows, and give what can be copied. On a server that
    is not these tests' own, it is called each time.
    """
    held = _SERVERS.get(_server_of(engine.url))
    given: T = held.fill(engine, fill, arguments) if held else fill(engine, *arguments)
    return given


def engine_of(url: str) -> Engine:
    """An engine as the service's own, that keeps what SQLAlchemy made of statements before.

    To turn the service's statements into SQL takes longer than to answer them from a test's few
    rows. What was made holds for one *dialect*, so that all engines of this process get one, which
    has asked a server of these tests what it needs to know.
    """
    if not _DIALECTS:
        first = new_engine(url)
        first.connect().close()
        first.dispose()
        _DIALECTS.append(first.dialect)
    engine = new_engine(url)
    engine.update_execution_options(compiled_cache=_COMPILED)
    engine.dialect = _DIALECTS[0]
    return engine


def _server_of(url: URL) -> str:
    return str(url.query.get("host", url.host))


def _address(home: Path) -> str:
    url = make_url(ensure_running(home)).set(drivername="postgresql+psycopg")
    return url.render_as_string(hide_password=False)


def _named(url: str, name: str) -> str:
    return make_url(url).set(database=name).render_as_string(hide_password=False)


def _execute(url: str, *statements: str) -> None:
    engine = create_engine(url, isolation_level="AUTOCOMMIT")
    with engine.connect() as connection:
        for statement in statements:
            connection.execute(text(statement))
    engine.dispose()
