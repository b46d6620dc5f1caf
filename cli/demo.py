"""`mitigauge demo`: the main job, from an empty machine to a report."""

from __future__ import annotations

import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Annotated

import httpx2
import typer

from api.addresses import is_loopback
from cli import claims, database, lab
from cli.experiment import read_spec_file
from cli.output import console, echo, say
from cli.progress import follow
from cli.serve import WITHOUT_LINK, dashboard_url, login_link
from mitigauge.access.secret import new_secret
from mitigauge.database import transaction
from mitigauge.errors import MitigaugeError
from mitigauge.experiments import submission, views
from mitigauge.experiments.states import ExperimentState
from mitigauge.reports.service import gathered
from mitigauge.settings import REPOSITORY, get_settings

READY_TIMEOUT_S = 30.0
STOP_TIMEOUT_S = 60.0


def demo(
    once: Annotated[bool, typer.Option("--once", help="End after the report.")] = False,
    spec: Annotated[Path, typer.Option(help="Which spec to run.")] = REPOSITORY
    / "experiments"
    / "lab-demo.yml",
) -> None:
    """Boot the emulated lab, run the ready-made experiment, print its report.

    Needs no hardware: both hosts are emulated, and everything says so. Takes some
    20 minutes on two cores. Serves the dashboard meanwhile, and afterwards unless
    --once is given.
    """
    started = time.monotonic()
    # Whoever ends the demo ends its processes with it.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    text = read_spec_file(spec)
    require_free_port(get_settings().bind, get_settings().port)
    _stage("database")
    database.upgrade()
    claims.import_()
    _stage("emulated hosts")
    lab.up()
    address = dashboard_url(get_settings().bind, get_settings().port)
    # Over a pipe: command lines and environments of processes can be read by others.
    key = new_secret()
    serve = running("serve", "--login-key-from-stdin", say=f"{key}\n")
    with serve as service, running("worker"):
        _wait_ready(address, service)
        with transaction() as session:
            experiment_id = submission.submit_text(session, text, name=str(spec))
        page = _page(address, experiment_id, key)
        _stage(f"experiment {experiment_id}, live at:")
        echo(page)
        if not is_loopback(get_settings().bind):
            say(WITHOUT_LINK)
        state = follow(experiment_id)
        _report(experiment_id, state, time.monotonic() - started)
        if not once:
            echo(f"dashboard: {page}  (Ctrl-C stops it)")
            _serve_until_interrupted()
            return
    if state is not ExperimentState.FINISHED:
        sys.exit(1)
    console.print(
        f"dashboard: {address}/experiments/{experiment_id}  "
        "(after `.venv/bin/mitigauge serve`; the lab stops with `mitigauge lab down`)"
    )


def _page(address: str, experiment_id: int, key: str) -> str:
    """The experiment's page, by a link that lets a browser in where such links are taken."""
    path = f"/experiments/{experiment_id}"
    if is_loopback(get_settings().bind):
        return login_link(address, key, path)
    return f"{address}{path}"


def require_free_port(address: str, port: int) -> None:
    """Raise MitigaugeError if something listens there already; we would follow the wrong one."""
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    with socket.socket(family) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((address, port))
        except OSError as error:
            raise MitigaugeError(
                f"the dashboard cannot listen on {address}:{port}: {error.strerror}",
                hint="Stop what listens there (perhaps `mitigauge serve`), or set "
                "MITIGAUGE_PORT to another port.",
            ) from error


def _stage(text: str) -> None:
    say(f"== {text}", style="bold")


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
            cwd=REPOSITORY,
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


def _report(experiment_id: int, state: ExperimentState, seconds: float) -> None:
    with transaction() as session:
        view = views.show_experiment(session, experiment_id)
        report = gathered(session, view)
    path = get_settings().home / "reports" / f"experiment-{experiment_id}.md"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(report.markdown())
    console.print()
    echo(report.text())
    say(f"experiment {state} after {seconds / 60:.1f} min; as Markdown in {path}")


def _serve_until_interrupted() -> None:
    with suppress(KeyboardInterrupt):
        while True:
            time.sleep(3600)
