"""The command as people run it: a process of its own, with a database of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mitigauge.settings import REPOSITORY

COMMAND = Path(sys.executable).with_name("mitigauge")
CASES = REPOSITORY / "tests" / "fixtures" / "cases"
LIMIT_S = 120.0


@dataclass(frozen=True)
class Command:
    """`mitigauge` in *home*, over the database *url*."""

    home: Path
    url: str

    def run(self, *words: str | Path, code: int = 0) -> subprocess.CompletedProcess[str]:
        """What it printed, where it ended with *code*."""
        environment = {
            name: value for name, value in os.environ.items() if not name.startswith("MITIGAUGE_")
        }
        done = subprocess.run(
            [COMMAND, *words], cwd=REPOSITORY, capture_output=True, text=True, timeout=LIMIT_S,
            env={**environment, "MITIGAUGE_HOME": str(self.home), "COLUMNS": "200",
                 "MITIGAUGE_DATABASE_URL": self.url}, check=False,
        )  # fmt: skip
        assert done.returncode == code, done.stdout + done.stderr
        return done

    def json(self, *words: str | Path) -> Any:
        """Its answer with `--json`."""
        return json.loads(self.run(*words, "--json").stdout)
