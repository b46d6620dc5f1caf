"""One file of a source tree as patches leave it, without the rest of the tree."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path

LIMIT_S = 30.0


def patched_file(tree: Path, name: str, patches: Sequence[str], most_bytes: int) -> str | None:
    """The text of file *name* of *tree* with what *patches* change of it.

    None where the tree has no such file, a patch does not apply to it, or what comes out is no
    regular file of at most *most_bytes*. A patch writes nothing else: `git apply` takes this name
    alone.
    """
    if _regular(tree / name, most_bytes) is None:
        return None
    with tempfile.TemporaryDirectory() as directory:
        file = Path(directory) / name
        file.parent.mkdir(parents=True)
        shutil.copyfile(tree / name, file)
        for patch in patches:
            if not _applied(patch, name, Path(directory)):
                return None
        return _regular(file, most_bytes)


def _applied(patch: str, name: str, directory: Path) -> bool:
    command = ["git", "apply", "--whitespace=nowarn", "-p1", f"--include={name}", "-"]
    # No repository around the directory may take a part.
    environment = {"PATH": os.environ["PATH"], "GIT_CEILING_DIRECTORIES": f"{directory.parent}"}
    try:
        done = subprocess.run(
            command, input=patch.encode(), cwd=directory, env=environment,
            capture_output=True, timeout=LIMIT_S, check=False,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        return False
    return done.returncode == 0


def _regular(file: Path, most_bytes: int) -> str | None:
    try:
        descriptor = os.open(file, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError:
        return None
    with os.fdopen(descriptor, "rb") as opened:
        content = opened.read(most_bytes + 1)
    return content.decode(errors="replace") if len(content) <= most_bytes else None
