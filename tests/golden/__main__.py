"""Keeps what the service answers, so that a change of its inside shows what it changes outside.

``python -m tests.golden write DIRECTORY`` writes every answer of every scene; the same with the
code of another commit gives the other directory; ``python -m tests.golden compare A B`` says what
differs, and ends with 1 where anything does. ``--home HOME`` adds a service's own database, read
only.
"""

from __future__ import annotations

import argparse
import difflib
import hashlib
import os
import random
import secrets
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from unittest.mock import patch

from alembic import command
from sqlalchemy import Engine

from mitigauge.core.settings import get_settings
from mitigauge.storage.database.embedded_server import stop
from mitigauge.storage.database.engine import alembic_config, database_url, new_engine
from tests.golden.answers import answers
from tests.golden.scenes import SCENES

LONGEST_NAME = 180
MOST_LINES = 40


def main() -> int:
    """Write or compare."""
    parser = argparse.ArgumentParser(prog="python -m tests.golden", description=__doc__)
    parts = parser.add_subparsers(dest="action", required=True)
    writing = parts.add_parser("write", help="write every answer below a directory")
    writing.add_argument("directory", type=Path)
    writing.add_argument("--home", type=Path, help="also of the service that lives there")
    writing.add_argument("--only", choices=SCENES, help="of one scene alone")
    comparing = parts.add_parser("compare", help="say what differs")
    comparing.add_argument("before", type=Path)
    comparing.add_argument("after", type=Path)
    options = parser.parse_args()
    if options.action == "compare":
        return compare(options.before, options.after)
    if options.only:
        write_scene(options.only, options.directory)
        return 0
    for name in SCENES:
        # A process keeps the engine that it opened first.
        words = ["write", str(options.directory), "--only", name]
        subprocess.run([sys.executable, "-m", "tests.golden", *words], check=True)
    if options.home:
        keep(opened(options.home), options.directory / "here")
    return 0


def write_scene(name: str, directory: Path) -> None:
    """Make a scene's database, and write its answers."""
    with tempfile.TemporaryDirectory(prefix="mgg-") as home:
        engine = opened(Path(home))
        command.upgrade(alembic_config(database_url()), "head")
        with drawn_alike():
            SCENES[name](engine)
        keep(engine, directory / name)
        engine.dispose()
        stop(Path(home))


@contextmanager
def drawn_alike() -> Iterator[None]:
    """What is drawn by chance is the same each time: seeds of plans, names of boots."""
    draw = random.Random(1)
    with (
        patch.object(secrets, "randbits", draw.getrandbits),
        patch.object(secrets, "token_hex", lambda size: draw.randbytes(size).hex()),
    ):
        yield


def opened(home: Path) -> Engine:
    """The database of a service's home, which becomes the process's own."""
    os.environ["MITIGAUGE_HOME"] = str(home)
    os.environ.pop("MITIGAUGE_DATABASE_URL", None)
    get_settings.cache_clear()
    return new_engine(database_url())


def keep(engine: Engine, directory: Path) -> None:
    """Write each answer into a file named after it."""
    directory.mkdir(parents=True, exist_ok=True)
    number = 0
    for number, (name, content) in enumerate(answers(engine), 1):
        (directory / file_name(name)).write_bytes(content)
        if number % 50 == 0:
            print(f"  {directory.name}: {number} answers", flush=True)
    print(f"{directory.name}: {number} answers", flush=True)


def file_name(name: str) -> str:
    """A name that a file system takes."""
    plain = "".join(c if c.isalnum() or c in " -_.=&?" else "~" for c in name)
    if len(plain) <= LONGEST_NAME:
        return plain
    return f"{plain[:LONGEST_NAME]}-{hashlib.sha256(name.encode()).hexdigest()[:8]}"


def compare(before: Path, after: Path) -> int:
    """Print each file that is not the same on both sides."""
    names = sorted({p.relative_to(d) for d in (before, after) for p in d.rglob("*") if p.is_file()})
    differing = 0
    for name in names:
        sides = [(d / name).read_bytes() if (d / name).exists() else b"" for d in (before, after)]
        if sides[0] == sides[1]:
            continue
        differing += 1
        print(f"=== {name}")
        old, new = (side.decode(errors="replace").splitlines() for side in sides)
        lines = difflib.unified_diff(old, new, lineterm="", n=1)
        for place, line in enumerate(lines):
            if place >= MOST_LINES:
                print("…")
                break
            print(line[:400])
    print(f"{differing} of {len(names)} answers differ")
    return 1 if differing else 0


if __name__ == "__main__":
    sys.exit(main())
