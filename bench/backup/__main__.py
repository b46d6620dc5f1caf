"""``make bench-backup``: backup and restore, beside pg_dump and cp of the same in the same run."""

from __future__ import annotations

import argparse
import os
import random
import shutil
import subprocess
import tempfile
from pathlib import Path

from alembic import command
from sqlalchemy import Engine, text

from bench.store.__main__ import timed
from bench.store.fill import Size, bytes_of, fill
from mitigauge.core.settings import Settings
from mitigauge.storage.database.embedded_server import binary, stop
from mitigauge.storage.database.engine import alembic_config, database_url, new_engine
from mitigauge.storage.database.metadata import whole_metadata
from mitigauge.storage.files.blobs import BlobStore, blob_store

MIB = 1 << 20


def main() -> None:
    """Fill a database and a store, save both in two ways, put both back in two ways."""
    parser = argparse.ArgumentParser(prog="make bench-backup", description=main.__doc__)
    parser.add_argument("--values", type=int, default=10_000_000)
    parser.add_argument("--blobs", type=int, default=200, help="raw files of 2 MiB, half random")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="mitigauge-bench-") as directory:
        root = Path(directory)
        # PostgreSQL's own account passes through.
        root.chmod(0o755)
        homes = [root / name for name in ("from", "to", "peer")]
        try:
            _measure(root, homes, options.values, options.blobs)
        finally:
            for home in homes:
                if home.is_dir():
                    stop(home, mode="immediate")


def _measure(root: Path, homes: list[Path], values: int, blobs: int) -> None:
    from mitigauge.upkeep.backups.restore import restore
    from mitigauge.upkeep.backups.writer import write_backup

    source, target, peer = homes
    engine, store = _opened(source)
    command.upgrade(alembic_config(_url(engine)), "head")
    size = Size()
    for seed in range(max(values // size.values, 1)):
        fill(engine, size, seed=seed)
    _store(engine, store, blobs)
    stored = sum(file.size for page in store.listed() for file in page)
    tables = bytes_of(engine, *whole_metadata().tables)
    print(
        f"{values:,} values: {tables / MIB:,.0f} MiB of tables; {blobs:,} raw files of"
        f" {stored / MIB:,.0f} MiB",
        flush=True,
    )
    ours, dump, copy = root / "ours", root / "dump", root / "copy"
    seconds = timed(lambda: write_backup(engine, store, source, ours))
    _line("ours, read again", seconds, ours.stat().st_size)
    dumping = timed(lambda: _pg("pg_dump", engine, "-Fc", f"-f{dump}"))
    copying = timed(lambda: _copy(source / "blobs", copy))
    _line("pg_dump (gzip) and cp, unread", dumping + copying, dump.stat().st_size + _size(copy))
    there, into = _opened(target)
    seconds = timed(lambda: restore(there, into, target, ours))
    _line("ours put back, compared", seconds, 0)
    other, _ = _opened(peer)
    restoring = timed(lambda: _pg("pg_restore", other, str(dump)))
    copying = timed(lambda: _copy(copy, peer / "blobs"))
    _line("pg_restore and cp", restoring + copying, 0)
    for each in (engine, there, other):
        each.dispose()


def _opened(home: Path) -> tuple[Engine, BlobStore]:
    home.mkdir()
    settings = Settings(home=home)
    return new_engine(database_url(settings), statement_limit_s=None), blob_store(settings)


def _url(engine: Engine) -> str:
    return engine.url.render_as_string(hide_password=False)


def _store(engine: Engine, store: BlobStore, count: int) -> None:
    rng = random.Random(1)
    with engine.begin() as connection:
        for number in range(count):
            half = rng.randbytes(MIB)
            connection.execute(
                text(
                    "insert into job (kind, subject, need, asked_by, content_sha256)"
                    " values ('kernel', :s, 'kernels', 'bench', :d)"
                ),
                {"s": str(number), "d": store.put(half + half[:1024] * 1024)},
            )


def _pg(program: str, engine: Engine, *words: str) -> None:
    address = _url(engine).replace("+psycopg", "")
    subprocess.run([binary(program), f"--dbname={address}", *words], check=True)


def _copy(source: Path, to: Path) -> None:
    shutil.copytree(source, to, dirs_exist_ok=True)
    # As much on the disk as ours is.
    os.sync()


def _size(directory: Path) -> int:
    return sum(path.stat().st_size for path in directory.rglob("*") if path.is_file())


def _line(what: str, seconds: float, size: int) -> None:
    said = f"{size / MIB:10,.0f} MiB" if size else ""
    print(f"  {what:<32}{seconds:8.1f} s{said}", flush=True)


if __name__ == "__main__":
    main()
