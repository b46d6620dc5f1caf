"""This machine's compiler, for the few programs of ours that are compiled where they run."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path

from mitigauge.core.errors import NotReady
from mitigauge.core.hostile_text import quoted

COMPILER = "cc"
LIMIT_S = 60.0
_HINT = "Install gcc and libc6-dev."


def compile_program(sources: Sequence[Path], options: Sequence[str], file: Path, what: str) -> None:
    """Make *file*, whole or not at all; *what* is compiled, in an error.

    Raises :class:`NotReady` where no compiler is there or it refuses.
    """
    if shutil.which(COMPILER) is None:
        raise NotReady(f"no C compiler is there, and {what} is compiled here", hint=_HINT)
    with tempfile.TemporaryDirectory(dir=file.parent) as work:
        made = Path(work) / file.name
        done = subprocess.run(
            [COMPILER, *options, *map(str, sources), "-o", str(made)],
            capture_output=True, text=True, timeout=LIMIT_S, check=False,
        )  # fmt: skip
        if done.returncode:
            said = quoted(done.stderr.strip()[-300:], 300)
            raise NotReady(f"{what} does not compile: {said}", hint=_HINT)
        made.replace(file)
