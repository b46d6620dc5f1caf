"""A service as people run it, `mitigauge serve`, and the command on a machine that has nothing."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from mitigauge.settings import REPOSITORY
from tests.commands import COMMAND, LIMIT_S, Command

BEGINS_WITHIN_S = 60.0


@dataclass(frozen=True)
class Laptop:
    """`mitigauge` without database and state directory; *home* is where one would be made."""

    home: Path
    server: str
    token: str = ""
    more: dict[str, str] = field(default_factory=dict)

    def run(self, *words: str | Path, code: int = 0) -> subprocess.CompletedProcess[str]:
        """What it printed, where it ended with *code*."""
        done = subprocess.run(
            [COMMAND, *words], cwd=REPOSITORY, capture_output=True, text=True, timeout=LIMIT_S,
            env=self.environment, check=False,
        )  # fmt: skip
        assert done.returncode == code, done.stdout + done.stderr
        return done

    def begun(self, *words: str) -> subprocess.Popen[str]:
        """One that goes on, with stdout and stderr apart."""
        return subprocess.Popen(
            [COMMAND, *words], cwd=REPOSITORY, env=self.environment, text=True,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )  # fmt: skip

    def json(self, *words: str | Path) -> Any:
        """Its answer with `--json`."""
        return json.loads(self.run(*words, "--json").stdout)

    @property
    def environment(self) -> dict[str, str]:
        """Ours, with the service, and with every place for state inside *home*."""
        others = {
            name: value for name, value in os.environ.items() if not name.startswith("MITIGAUGE_")
        }
        given = {"MITIGAUGE_SERVER": self.server, "MITIGAUGE_TOKEN": self.token}
        return {
            **others,
            "PYTHONPATH": str(REPOSITORY),
            "HOME": str(self.home),
            "MITIGAUGE_HOME": str(self.home / "state"),
            "COLUMNS": "200",
            **{name: value for name, value in given.items() if value},
            **self.more,
        }


def free_port() -> int:
    """A port that nothing listens on now."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return int(listener.getsockname()[1])


@contextmanager
def served(command: Command, port: int) -> Iterator[str]:
    """`mitigauge serve` of *command* on *port* for as long as the block lasts; its address."""
    address = f"http://127.0.0.1:{port}"
    with subprocess.Popen(
        [COMMAND, "serve", "--port", str(port)], cwd=REPOSITORY, env=command.environment,
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    ) as process:  # fmt: skip
        try:
            _await(address)
            yield address
        finally:
            process.terminate()
            process.wait(30)


def _await(address: str) -> None:
    deadline = time.monotonic() + BEGINS_WITHIN_S
    while True:
        try:
            with urllib.request.urlopen(f"{address}/api/health/ready", timeout=5):
                return
        except OSError:
            assert time.monotonic() < deadline, f"{address} does not answer"
            time.sleep(0.1)
