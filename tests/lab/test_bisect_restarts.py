"""A bisection whose terminal is closed, whose worker is killed and whose API is restarted.

Its answer is the one that :mod:`tests.lab.test_bisect_lab` gets undisturbed, and no boot is made
twice: the serial line says which kernels came up.
"""

from __future__ import annotations

import os
import re
import signal
import subprocess
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from sqlalchemy import Engine, text

from lab import service as lab_service
from lab.hosts import LabPaths
from lab.progress import Silent
from mitigauge.core.clock import Clock
from mitigauge.core.settings import REPOSITORY, get_settings
from mitigauge.storage.database.engine import transaction
from tests.clients import token_of
from tests.commands import COMMAND, Command
from tests.lab.following import start_worker
from tests.ports import free_port
from tests.remote_service import Laptop, served

pytestmark = pytest.mark.lab

ARMS = REPOSITORY / "tests" / "fixtures" / "bisect-modes.yml"
HOST = "lab-intel"
PATIENCE_S = float(os.environ.get("MITIGAUGE_BISECT_PATIENCE_S", "10800"))
# Of each kernel that comes up, its first words.
NONCE = re.compile(r"\] Command line: .*mitigauge\.nonce=(\S+)")


@pytest.fixture
def serial_log() -> Iterator[Path]:
    paths = LabPaths.of(get_settings())
    started = lab_service.up(paths, Silent(), names=[HOST], clock=Clock.COUNTED)
    yield paths.host(HOST).serial_log
    if started:
        lab_service.down(paths, Silent(), names=started)


def states(engine: Engine) -> Counter[str]:
    with transaction(engine) as session:
        return Counter(session.scalars(text("SELECT state FROM boot")))


def until(holds: Callable[[], bool], what: str) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while not holds():
        assert time.monotonic() < deadline, f"not within {PATIENCE_S:.0f} s: {what}"
        time.sleep(1)


def killed(worker: subprocess.Popen[bytes]) -> None:
    worker.send_signal(signal.SIGKILL)
    worker.wait(30)


def test_a_bisection_outlives_terminal_worker_and_api(
    module_engine: tuple[Engine, str], tmp_path: Path, serial_log: Path
) -> None:
    engine, url = module_engine
    before, log, port = serial_log.stat().st_size, tmp_path / "worker.log", free_port()
    service = Command(get_settings().home, url)
    worker = start_worker(url, log)
    try:
        with served(service, port) as address:
            laptop = Laptop(tmp_path / "laptop", address, token_of(engine, "submitter"))
            terminal = subprocess.Popen(
                [COMMAND, "bisect", "start", "--arms", ARMS, "--host", HOST, "--case", "test=basic",
                 "--boots", "60", "--hours", "4"],
                cwd=REPOSITORY, env=laptop.environment, stdout=subprocess.DEVNULL,
                start_new_session=True,
            )  # fmt: skip
            until(lambda: states(engine)["measuring"] > 0, "the first boot is measured")
            # The terminal is closed, in the midst of a measurement, with what ran in it.
            os.killpg(terminal.pid, signal.SIGKILL)
            terminal.wait(30)
            killed(worker)
        # The API is gone too, and so is everybody, for as long as a lease lasts.
        time.sleep(25)
        worker = start_worker(url, log)
        until(lambda: states(engine)["booting"] > 0, "another boot")
        killed(worker)
        worker = start_worker(url, log)
        with served(service, port) as address:
            laptop = Laptop(tmp_path / "laptop", address, token_of(engine, "submitter"))
            until(lambda: bool(laptop.json("bisect", "show", "1")["found"]), "its answer")
            answer = laptop.json("bisect", "show", "1")
    finally:
        worker.terminate()
        worker.wait(60)
    assert answer["found"]["kind"] == "found"
    assert answer["culprit"] == "counted to cleared"
    assert answer["found"]["effect_percent"] == pytest.approx(32, abs=1)
    came_up = Counter(NONCE.findall(serial_log.read_bytes()[before:].decode(errors="replace")))
    with transaction(engine) as session:
        made = session.execute(
            text("SELECT nonce, method FROM boot WHERE state IN ('effective', 'measuring')")
        ).all()
    own = {nonce for nonce, method in made if method != "within"}
    assert own <= set(came_up)
    twice = {nonce: times for nonce, times in came_up.items() if times > 1}
    assert not twice
    print(f"{len(made)} boots measured, {len(came_up)} kernels came up, {states(engine)}")
