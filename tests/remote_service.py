"""A service as people run it, `mitigauge serve`, and the command on a machine that has nothing."""

from __future__ import annotations

import subprocess
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from mitigauge.core.settings import REPOSITORY
from tests.commands import COMMAND, Called, Command, others

BEGINS_WITHIN_S = 60.0


@dataclass(frozen=True)
class Laptop(Called):
    """`mitigauge` without database and state directory; *home* is where one would be made."""

    home: Path
    server: str
    token: str = ""
    more: dict[str, str] = field(default_factory=dict)

    def begun(self, *words: str) -> subprocess.Popen[str]:
        """One that goes on, with stdout and stderr apart."""
        return subprocess.Popen(
            [COMMAND, *words], cwd=REPOSITORY, env=self.environment, text=True,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )  # fmt: skip

    @property
    def environment(self) -> dict[str, str]:
        """Ours, with the service, and with every place for state inside *home*."""
        given = {"MITIGAUGE_SERVER": self.server, "MITIGAUGE_TOKEN": self.token}
        return {
            **others(),
            "HOME": str(self.home),
            "MITIGAUGE_HOME": str(self.home / "state"),
            **{name: value for name, value in given.items() if value},
            **self.more,
        }


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
