"""The command as people run it: a process of its own, with a database of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from mitigauge.core.settings import REPOSITORY
from tests import zygote

COMMAND = Path(sys.executable).with_name("mitigauge")
CASES = REPOSITORY / "tests" / "fixtures" / "cases"
LIMIT_S = 120.0


class Called:
    """`mitigauge` in an *environment*."""

    bare = False
    """Whether it has to import each module of ours itself: see :class:`tests.zygote.Zygote`."""

    @property
    def environment(self) -> dict[str, str]:
        """Variables of its process."""
        raise NotImplementedError

    def run(self, *words: str | Path, code: int = 0) -> subprocess.CompletedProcess[str]:
        """What it printed, where it ended with *code*."""
        done = zygote.run(
            "mitigauge", [str(word) for word in words], env=self.environment, timeout=LIMIT_S,
            bare=self.bare,
        )  # fmt: skip
        assert done.returncode == code, done.stdout + done.stderr
        return done

    def json(self, *words: str | Path) -> Any:
        """Its answer with `--json`."""
        return json.loads(self.run(*words, "--json").stdout)


def others() -> dict[str, str]:
    """Our environment without any setting of the service, and with the code beside these tests.

    Wherever the command was installed from: a copy of the tree with a mutation in it is run too.
    """
    kept = {name: value for name, value in os.environ.items() if not name.startswith("MITIGAUGE_")}
    return {**kept, "PYTHONPATH": str(REPOSITORY), "COLUMNS": "200"}


@dataclass(frozen=True)
class Command(Called):
    """`mitigauge` in *home*, over the database *url*."""

    home: Path
    url: str
    bare: bool = field(default=False, kw_only=True)

    def begun(self, *words: str) -> subprocess.Popen[str]:
        """One that goes on, with all that it says on its stdout."""
        return subprocess.Popen(
            [COMMAND, *words], cwd=REPOSITORY, env=self.environment, text=True,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        )  # fmt: skip

    @property
    def environment(self) -> dict[str, str]:
        """Ours without any setting of the service but these."""
        return {
            **others(),
            "MITIGAUGE_HOME": str(self.home),
            "MITIGAUGE_DATABASE_URL": self.url,
        }
