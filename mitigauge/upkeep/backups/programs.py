"""PostgreSQL's own programs, which write a database to a file and back."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from sqlalchemy import Engine

from mitigauge.core.errors import NotReady
from mitigauge.core.hostile_text import clean_text
from mitigauge.storage.database.direct import plain
from mitigauge.storage.database.embedded_server import MAJOR, binary
from mitigauge.upkeep.backups.manifest import PIECE_BYTES, Figures, Progress, in_bytes

# The queue holds nothing that is needed later.
NOT_KEPT = "procrastinate*"
POLL_S = 0.5


def dump(engine: Engine, snapshot: str, out: Path, progress: Progress) -> Figures:
    """Write what *snapshot*, as PostgreSQL exported it, sees to *out*, on the disk when it ends.

    Raises :class:`NotReady` where pg_dump fails, and OSError for a full disk.
    """
    digest, size = hashlib.sha256(), 0
    options = (
        "--format=custom", f"--snapshot={snapshot}", f"--exclude-table-data={NOT_KEPT}",
        "--no-owner", "--no-privileges",
    )  # fmt: skip
    with out.open("xb") as file, _running("pg_dump", engine, *options) as process:
        assert process.stdout is not None
        while piece := process.stdout.read(PIECE_BYTES):
            digest.update(piece)
            size += len(piece)
            file.write(piece)
            progress(f"database: {in_bytes(size)}")
        file.flush()
        os.fsync(file.fileno())
    return Figures(bytes=size, sha256=digest.hexdigest())


def put_back(engine: Engine, dumped: Path, progress: Progress) -> None:
    """Put a dump into a database without any table: all of it, or nothing. Raises NotReady."""
    options = ("--single-transaction", "--exit-on-error", "--no-owner", "--no-privileges")
    with _running("pg_restore", engine, *options, str(dumped)) as process:
        while True:
            progress("putting rows into the database")
            try:
                process.wait(POLL_S)
            except subprocess.TimeoutExpired:
                continue
            return


@contextmanager
def _running(name: str, engine: Engine, *options: str) -> Iterator[subprocess.Popen[bytes]]:
    """The program over the engine's database, until the block's end; it must end well by then."""
    url = engine.url
    address = plain(url.set(password=None).render_as_string(hide_password=False))
    # Not on the command line, which everybody on the machine may read.
    environment = os.environ | ({"PGPASSWORD": str(url.password)} if url.password else {})
    with tempfile.TemporaryFile() as said:
        process = subprocess.Popen(
            [_program(name), *options, "--dbname", address],
            env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=said,
        )  # fmt: skip
        try:
            with process:
                yield process
        except BaseException:
            process.kill()
            process.wait()
            raise
        if process.returncode:
            raise _failed(name, said)


def _failed(name: str, said: BinaryIO) -> NotReady:
    said.seek(0)
    lines = clean_text(said.read(4000).decode(errors="replace")).strip()
    hint = "Nothing was changed. The server's log may say more."
    if "SSL support" in lines:
        hint = f"Install {name} of PostgreSQL {MAJOR} (postgresql-client-{MAJOR}): it speaks TLS."
    return NotReady(f"{name} failed: {lines[:1000]}", hint=hint)


def _program(name: str) -> str:
    """That of this machine where it is of the right version, else the one that is shipped."""
    found = shutil.which(name)
    if found is not None:
        said = subprocess.run([found, "--version"], capture_output=True, text=True, check=False)
        if f" {MAJOR}." in said.stdout:
            return found
    return str(binary(name))
