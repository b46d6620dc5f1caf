"""A slow-down of known size beside a real case, on this machine."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from tests.unit.test_workload_collectors import run_case

pytestmark = pytest.mark.skipif(
    os.geteuid() != 0, reason="SCHED_FIFO is for root, as runners on hosts are"
)
# A spin of two seconds, which notes its own processor time beside the clock's.
SPIN = """exec python3 -c "
import json, os, sys, time
began, used = time.monotonic(), time.process_time()
while time.monotonic() - began < 2: pass
json.dump(dict(wall=time.monotonic() - began), open(sys.argv[1] + '/spin.json', 'w'))
" $2"""


def test_the_part_that_was_asked_is_taken_of_each_processor(tmp_path: Path) -> None:
    state, directory = run_case(tmp_path, SPIN, slowed_percent=5)
    assert state["finished_cases"][0]["outcome"] == "ok"
    slowed = json.loads((directory / "slowed.json").read_text())
    assert slowed["asked_percent"] == 5
    assert sorted(slowed["taken_percent"], key=int) == [
        str(cpu) for cpu in sorted(os.sched_getaffinity(0))
    ]
    assert all(4.5 <= taken <= 5.5 for taken in slowed["taken_percent"].values())


def test_a_case_that_is_not_slowed_has_nothing_beside_it(tmp_path: Path) -> None:
    state, directory = run_case(tmp_path, "pgrep -f _slowing.py > $2/found; true")
    assert state["finished_cases"][0]["outcome"] == "ok"
    assert (directory / "found").read_text() == ""
    assert not (directory / "slowed.json").exists()


def test_a_case_whose_slow_down_ended_early_does_not_count(tmp_path: Path) -> None:
    state, directory = run_case(tmp_path, "pkill -KILL -f _slowing.py; sleep 1", slowed_percent=5)
    assert state["finished_cases"][0]["outcome"] == "lab_fault"
    assert set(json.loads((directory / "slowed.json").read_text())["taken_percent"].values()) == {
        None
    }
