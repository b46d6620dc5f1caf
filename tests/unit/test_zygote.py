"""Workers and commands that are forked from a process which has their modules."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from mitigauge.core.version import VERSION
from tests.commands import COMMAND, others
from tests.zygote import Forked, Zygote, log_streams, run

LAST_PID = Path("/proc/sys/kernel/ns_last_pid")
NO_SERVER = "postgresql+psycopg://nobody@/nothing?host=/nonexistent&port=5432"


def worker(zygote: Zygote, tmp_path: Path, *more: str) -> Forked:
    with log_streams(tmp_path / "log") as streams:
        return zygote.spawn(
            "worker",
            [NO_SERVER, str(tmp_path), "1", *more],
            env=os.environ,
            streams=streams,
        )


@pytest.fixture(scope="module")
def zygote() -> Iterator[Zygote]:
    zygote = Zygote()
    yield zygote
    zygote.close()


def within(seconds: float, true: Callable[[], bool]) -> bool:
    deadline = time.monotonic() + seconds
    while not true():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.01)
    return True


def test_a_signal_hits_one_worker_and_its_code_says_so(zygote: Zygote, tmp_path: Path) -> None:
    doomed, other = worker(zygote, tmp_path), worker(zygote, tmp_path)
    assert within(60, lambda: os.getsid(doomed.pid) == doomed.pid)
    doomed.kill()
    assert doomed.wait() == -signal.SIGKILL
    assert other.poll() is None
    other.kill()
    other.wait()


def test_a_worker_can_be_stopped_and_go_on(zygote: Zygote, tmp_path: Path) -> None:
    sleeper = worker(zygote, tmp_path)
    sleeper.send_signal(signal.SIGSTOP)
    assert within(60, sleeper.stopped)
    sleeper.send_signal(signal.SIGCONT)
    assert sleeper.poll() is None
    sleeper.kill()
    assert sleeper.wait() == -signal.SIGKILL
    assert not sleeper.stopped()


def test_a_worker_that_cannot_start_says_why_and_leaves_the_zygote_alive(
    zygote: Zygote, tmp_path: Path
) -> None:
    confused = worker(zygote, tmp_path, "--no-such-option")
    assert confused.wait() == 2
    assert "--no-such-option" in (tmp_path / "log").read_text()
    fine = worker(zygote, tmp_path)
    assert fine.poll() is None
    fine.kill()


@pytest.mark.skipif(not os.access(LAST_PID, os.W_OK), reason="pids cannot be chosen here")
def test_a_pid_that_the_system_gives_again_is_another_child(zygote: Zygote, tmp_path: Path) -> None:
    first = worker(zygote, tmp_path, "--no-such-option")
    assert first.wait() == 2
    for _ in range(100):
        LAST_PID.write_text(str(first.pid - 1))
        again = worker(zygote, tmp_path)
        again.kill()
        assert again.wait() == -signal.SIGKILL
        if again.pid == first.pid:
            return
    pytest.fail("others took that pid a hundred times")


def test_what_a_zygote_forked_ends_with_it(tmp_path: Path) -> None:
    own = Zygote()
    left = worker(own, tmp_path)
    assert left.poll() is None
    own.close()
    assert within(60, lambda: not Path(f"/proc/{left.pid}").exists())
    with pytest.raises(RuntimeError, match="the zygote is gone"):
        worker(own, tmp_path)


@pytest.mark.parametrize(
    "words",
    [["--version"], ["experiment", "--help"], ["no-such-command"],
     ["experiment", "list", "--limit", "x"], ["compare", "/no/such/file", "--baseline", "a"]],
)  # fmt: skip
def test_a_forked_command_says_and_ends_as_the_installed_one_does(
    words: list[str], tmp_path: Path
) -> None:
    env = {**others(), "MITIGAUGE_HOME": str(tmp_path)}
    real = subprocess.run(
        [COMMAND, *words], env=env, capture_output=True, text=True, check=False, timeout=120
    )
    forked = run("mitigauge", words, env=env, timeout=120)
    assert (forked.returncode, forked.stdout, forked.stderr) == (
        real.returncode, real.stdout, real.stderr,
    )  # fmt: skip
    assert VERSION in forked.stdout or words != ["--version"]


def test_a_command_that_does_not_end_is_killed(tmp_path: Path) -> None:
    env = {**others(), "MITIGAUGE_HOME": str(tmp_path)}
    with pytest.raises(TimeoutError, match="did not end within 0 s"):
        run("worker", [NO_SERVER, str(tmp_path), "1"], env=env, timeout=0.2)
