"""A workload's raw output through its own parser."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from mitigauge.catalog import Catalog
from mitigauge.errors import InvalidInput
from mitigauge.experiments.tables import Case

PARSE_TIMEOUT_S = 60


def parsed(directory: Path, case: Case, catalog: Catalog) -> bytes:
    """What parse.py prints for *directory*. Raises :class:`InvalidInput` with its complaint."""
    parser = catalog.workload_directory(case.workload) / "parse.py"
    try:
        done = subprocess.run(
            [sys.executable, str(parser), str(directory)],
            capture_output=True,
            timeout=PARSE_TIMEOUT_S,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise InvalidInput("parse.py took too long", hint="See the case's raw files.") from None
    if done.returncode != 0:
        complaint = done.stderr.decode(errors="replace").strip()[-2000:]
        raise InvalidInput(f"parse.py: {complaint}", hint="See the case's raw files.")
    return done.stdout
