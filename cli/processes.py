"""What a command sets up beside itself: the database, a service, a worker."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from cli import claims, database
from cli.output import say
from cli.serve import dashboard_url
from mitigauge.core.errors import MitigaugeError
from mitigauge.core.settings import CODE, get_settings

READY_TIMEOUT_S = 30.0
STOP_TIMEOUT_S = 60.0


def print_stage(text: str) -> None:
    """Say what begins now."""
    say(f"== {text}", style="bold")


def prepare_database() -> None:
    """Bring the database up to date, with the published claims in it."""
    print_stage("database")
    database.upgrade()
    claims.import_()


@contextmanager
def serving() -> Iterator[tuple[str, str]]:
    """Serve the dashboard for as long as the block lasts; its address and the key to log in."""
    from mitigauge.access.secret import new_secret

    address = dashboard_url(get_settings().bind, get_settings().port)
    # Over a pipe: command lines and environments of processes can be read by others.
    key = new_secret()
    with running("serve", "--login-key-from-stdin", say=f"{key}\n") as service:
        _wait_ready(address, service)
        yield address, key


@contextmanager
def running(command: str, *options: str, say: str = "") -> Iterator[subprocess.Popen[bytes]]:
    """Run a process of ours for as long as the block lasts; its output goes to a file.

    *say* is what it reads from its standard input.
    """
    log = get_settings().home / "log" / f"demo-{command}.log"
    log.parent.mkdir(parents=True, exist_ok=True)
    with log.open("ab") as file:
        process = subprocess.Popen(
            [sys.executable, "-m", "cli.main", command, *options],
            cwd=CODE,
            stdin=subprocess.PIPE,
            stdout=file,
            stderr=subprocess.STDOUT,
        )
        try:
            _tell(process, say)
            yield process
        finally:
            _stop(process)


def _tell(process: subprocess.Popen[bytes], text: str) -> None:
    if process.stdin is None:
        return
    # Of a process that has died already, its log tells.
    with suppress(BrokenPipeError), process.stdin as pipe:
        pipe.write(text.encode())


def _stop(process: subprocess.Popen[bytes]) -> None:
    process.terminate()
    try:
        process.wait(STOP_TIMEOUT_S)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def _wait_ready(address: str, service: subprocess.Popen[bytes]) -> None:
    import httpx2

    deadline = time.monotonic() + READY_TIMEOUT_S
    while service.poll() is None and time.monotonic() < deadline:
        with suppress(httpx2.TransportError):
            if httpx2.get(f"{address}/api/health/ready", timeout=5).status_code == 200:
                return
        time.sleep(0.3)
    raise MitigaugeError(
        f"the service did not get ready at {address}",
        hint=f"See {get_settings().home / 'log' / 'demo-serve.log'}; "
        "MITIGAUGE_PORT takes another port.",
    )
