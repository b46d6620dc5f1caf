"""The API over simulated hosts, as a process, and how to ask it.

Usage: python -m tests.crash.rig_api URL PORT HOST…
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import uvicorn

from mitigauge.core.settings import REPOSITORY, get_settings
from mitigauge.storage.database.engine import new_engine
from tests.crash.adapt import headers
from tests.ports import free_port
from tests.specs import CATALOG, inventory

START_TIMEOUT_S = 60.0
REQUEST_TIMEOUT_S = 20.0


@dataclass
class RigApi:
    """The process and its address."""

    process: subprocess.Popen[bytes]
    base: str
    headers: Mapping[str, str]

    def submit(self, spec: str) -> int:
        """Submit an experiment; its id. Raises OSError when it is refused."""
        answer = self._post("/api/experiments", spec)
        return int(answer["id"])

    def cancel(self, experiment_id: int) -> bool:
        """Ask for an experiment's end; False where it had ended already."""
        try:
            self._post(f"/api/experiments/{experiment_id}/cancel", "")
        except urllib.error.HTTPError as error:
            if error.code == 409:
                return False
            raise
        return True

    def answers(self) -> bool:
        """Whether a request that asks the database is answered well."""
        try:
            self._ask("/api/health/ready", timeout_s=5.0)
        except OSError:
            return False
        return True

    def stop(self) -> None:
        """End it, hard if it does not want to."""
        self.process.terminate()
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()

    def _post(self, path: str, body: str) -> dict[str, Any]:
        return self._ask(path, body.encode(), timeout_s=REQUEST_TIMEOUT_S)

    def _ask(self, path: str, body: bytes | None = None, *, timeout_s: float) -> dict[str, Any]:
        """GET, or POST with a body. Raises OSError, as ``HTTPError`` for any status over 399."""
        request = urllib.request.Request(f"{self.base}{path}", body, dict(self.headers))
        with urllib.request.urlopen(request, timeout=timeout_s) as answer:
            said: dict[str, Any] = json.load(answer)
            return said


def start_api(url: str, home: Path, hosts: Sequence[str]) -> RigApi:
    """Start it and wait until it is ready. Raises RuntimeError."""
    port = free_port()
    with (home / "api.log").open("ab") as log:
        process = subprocess.Popen(
            [sys.executable, "-m", "tests.crash.rig_api", url, str(port), *hosts],
            cwd=REPOSITORY,
            env={**os.environ, "MITIGAUGE_HOME": str(home)},
            stdout=log,
            stderr=subprocess.STDOUT,
        )
    api = RigApi(process, f"http://127.0.0.1:{port}", _headers(url, home))
    deadline = time.monotonic() + START_TIMEOUT_S
    while not api.answers():
        if process.poll() is not None or time.monotonic() > deadline:
            api.stop()
            raise RuntimeError(f"the API did not start: {(home / 'api.log').read_text()[-2000:]}")
        time.sleep(0.1)
    return api


def _headers(url: str, home: Path) -> Mapping[str, str]:
    """With a token under the key that lies in *home*, where the process looks for it."""
    engine = new_engine(url)
    before = os.environ.get("MITIGAUGE_HOME")
    os.environ["MITIGAUGE_HOME"] = str(home)
    get_settings.cache_clear()
    try:
        return headers(engine)
    finally:
        engine.dispose()
        os.environ.pop("MITIGAUGE_HOME")
        if before is not None:
            os.environ["MITIGAUGE_HOME"] = before
        get_settings.cache_clear()


def main(arguments: Sequence[str]) -> None:
    """Serve, with the simulated hosts for an inventory."""
    from api.app import create_app
    from mitigauge.measurement.experiments import checks
    from mitigauge.measurement.runs import submission

    url, port, *hosts = arguments
    known = inventory(*hosts)
    # What the service looks up in files, the rig has at hand.
    at_hand = (
        (checks, "environment_names", lambda: ["lab"]),
        (checks, "load_hosts", lambda _environment: known),
        (submission, "Catalog", lambda: CATALOG),
    )
    for module, name, look_up in at_hand:
        if not hasattr(module, name):
            raise AttributeError(f"{module.__name__} has no {name}: correct {__name__}")
        setattr(module, name, look_up)
    uvicorn.run(create_app(new_engine(url)), host="127.0.0.1", port=int(port), log_level="warning")


if __name__ == "__main__":
    main(sys.argv[1:])
