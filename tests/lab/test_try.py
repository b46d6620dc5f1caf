"""`mitigauge try` for real: patches whose cost is known beforehand, beside two busy loops."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

import pytest

from mitigauge.core.settings import REPOSITORY

pytestmark = pytest.mark.lab

PATCHES = REPOSITORY / "tests" / "series" / "syscall"
ADDED = 10
OFF_BY = 2.0
# The first build of a base compiles everything.
TIMEOUT_S = 5400


def tried(*words: str) -> subprocess.CompletedProcess[str]:
    """The command, run as a person would."""
    done = subprocess.run(
        [sys.executable, "-m", "cli.main", "try", *words],
        cwd=REPOSITORY, env={**os.environ, "COLUMNS": "100"}, stdin=subprocess.DEVNULL,
        capture_output=True, text=True, timeout=TIMEOUT_S, check=False,
    )  # fmt: skip
    print(done.stdout, done.stderr)
    return done


@contextmanager
def busy() -> Iterator[None]:
    """A program that computes without end."""
    loop = subprocess.Popen([sys.executable, "-c", "while True: pass"])
    try:
        yield
    finally:
        loop.kill()
        loop.wait()


@pytest.fixture
def two_busy_loops() -> Iterator[None]:
    with ExitStack() as stack:
        for _ in range(2):
            stack.enter_context(busy())
        yield


def test_a_comment_leaves_the_code_as_it_was_and_nothing_is_measured() -> None:
    done = tried(str(PATCHES / "comment.patch"))
    assert done.returncode == 0
    assert "The kernel is the same, byte for byte" in done.stdout


@pytest.mark.usefixtures("two_busy_loops")
def test_ten_instructions_are_found_and_counted() -> None:
    done = tried(str(PATCHES / "ten-instructions.patch"))
    found = re.findall(r"syscall (\w+): ([+-][\d.]+) instructions a call.*: (\w+)", done.stdout)
    said = {name: (float(instructions), verdict) for name, instructions, verdict in found}
    for name in ("basic", "getpgid"):
        instructions, verdict = said[name]
        assert abs(instructions - ADDED) <= OFF_BY, (name, instructions)
        assert verdict == "worse"
    for case in ("path pipe", "path futex", "path page-fault", "exits to kernel"):
        assert re.search(
            rf"^{case}: [+-][\d.]+ instructions an operation", done.stdout, re.MULTILINE
        )
    assert "syscall basic: functions that differ most" in done.stdout
    # They are seen one by one in the code that ran.
    assert f"{ADDED} instructions new: +" in done.stdout
    assert done.returncode == 3
