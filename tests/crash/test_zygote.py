"""Workers that are forked from a process which has their modules."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.crash.zygote import Forked, Zygote

NO_SERVER = "postgresql+psycopg://nobody@/nothing?host=/nonexistent&port=5432"


def worker(zygote: Zygote, tmp_path: Path, *more: str) -> Forked:
    return zygote.spawn([NO_SERVER, str(tmp_path), "1", *more], log=tmp_path / "log")


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


def test_what_a_zygote_forked_ends_with_it(tmp_path: Path) -> None:
    own = Zygote()
    left = worker(own, tmp_path)
    assert left.poll() is None
    own.close()
    assert within(60, lambda: not Path(f"/proc/{left.pid}").exists())
    with pytest.raises(RuntimeError, match="the zygote is gone"):
        worker(own, tmp_path)
