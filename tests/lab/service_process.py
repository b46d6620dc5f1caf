"""The service as its users have it: a worker's process beside, and the command."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

import pytest
from sqlalchemy import Engine, text

from mitigauge.core.settings import REPOSITORY

PATIENCE_S = 7200.0


@dataclass(frozen=True)
class Service:
    """A worker, and the command."""

    engine: Engine
    environment: dict[str, str]
    log: Path

    def command(self, *words: str, ends: tuple[int, ...] = (0,)) -> str:
        """What ``mitigauge`` prints, which ends with one of these codes."""
        done = subprocess.run(
            [sys.executable, "-m", "cli.main", *words],
            cwd=REPOSITORY, env=self.environment, capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert done.returncode in ends, f"{words}: {done.stderr}\n{done.stdout}"
        return done.stdout

    def first(self, query: str) -> object:
        """The one value that *query* asks for; None: there is no row."""
        with self.engine.connect() as connection:
            return connection.scalar(text(query))

    def wait(self, what: str, told: Callable[[], object]) -> object:
        """Until *told* gives something, which is returned."""
        deadline, began = time.monotonic() + PATIENCE_S, time.monotonic()
        while not (found := told()):
            if time.monotonic() > deadline:
                pytest.fail(f"{what}: not within {PATIENCE_S} s\n{self.log.read_text()[-3000:]}")
            time.sleep(5)
        said(f"{what} after {time.monotonic() - began:.0f} s: {found}")
        return found


def said(words: str) -> None:
    print(f"{time.strftime('%H:%M:%S')} {words}", flush=True)


@contextmanager
def served(
    database: tuple[Engine, str], log: Path, policy: Mapping[str, str] = MappingProxyType({})
) -> Iterator[Service]:
    """A worker that goes on until the block's end. *policy*: variables of its settings."""
    engine, url = database
    environment = {
        **os.environ,
        "MITIGAUGE_DATABASE_URL": url,
        "MITIGAUGE_LEASE_SECONDS": "20",
        **policy,
    }
    with log.open("ab") as output:
        worker = subprocess.Popen(
            [sys.executable, "-m", "cli.main", "worker"],
            cwd=REPOSITORY, env=environment, stdout=output, stderr=subprocess.STDOUT,
        )  # fmt: skip
    try:
        yield Service(engine, environment, log)
    finally:
        worker.terminate()
        worker.wait(timeout=120)
