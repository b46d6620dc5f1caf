"""What tests measure is of the work itself, not of the session that measures."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests.measuring import measure, own_peak_bytes, within_processor_s

SESSION_BYTES = 500 << 20


def start(program: str) -> int:
    return subprocess.run([sys.executable, "-c", program], check=False).returncode


def test_memory_is_that_of_the_work_also_in_a_large_session() -> None:
    large = bytearray(SESSION_BYTES)
    assert own_peak_bytes() > len(large)
    taken = measure(start, "x = bytearray(300 << 20)")
    assert taken.answer == 0
    assert taken.own_bytes < SESSION_BYTES
    assert 300 << 20 < taken.started_bytes < SESSION_BYTES


def test_processes_that_the_work_starts_count_as_its_time() -> None:
    taken = measure(start, "import time\nwhile time.process_time() < 0.5: pass")
    assert taken.processor_s > 0.5
    with (
        pytest.raises(AssertionError, match="s of processor time"),
        within_processor_s(0.3),
    ):
        start("import time\nwhile time.process_time() < 0.5: pass")


def test_what_the_work_raises_is_told() -> None:
    with pytest.raises(AssertionError, match=r"ZeroDivisionError"):
        measure(divmod, 1, 0)
