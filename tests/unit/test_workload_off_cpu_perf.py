"""Where a real program waits, recorded by the real perf as a host does it, and compared."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mitigauge.analysis.profiles.capture.capture import Capture, read_capture
from mitigauge.analysis.profiles.capture.recording import find_recording
from mitigauge.analysis.profiles.diff.compare import BootProfile, FrameDiff, diff_frames
from mitigauge.analysis.profiles.store.functions import function_weights
from mitigauge.analysis.profiles.store.normalise import rules, without_idle
from mitigauge.analysis.profiles.store.tree import FrameTree
from tests.loading import load, stage_runner
from tests.unit.profiles.named import alike, name, number

off_cpu = load("ansible/roles/workload/files/_off_cpu.py")
PARTS = Path(__file__).resolve().parents[1] / "fixtures/off-cpu"
LIMIT_BYTES = 32 << 20
LOOPS = 60
BOOTS = 4
# What a boot's thread is called.
THREAD = b"sleeper"
WAITING = (b"sleeps_in_a_loop", b"holds_the_lock", b"waits_for_the_lock")


def can_record() -> bool:
    """Whether perf may record switches here, and there is a compiler for the program."""
    if shutil.which("perf") is None or shutil.which("gcc") is None:
        return False
    done = subprocess.run(
        ["perf", "record", "-q", "-a", "-e", off_cpu.SWITCH, "-o", "/dev/null", "--", "true"],
        check=False, capture_output=True, timeout=60,
    )  # fmt: skip
    return done.returncode == 0


@pytest.fixture(scope="module", autouse=True)
def perf() -> None:
    if not can_record():
        pytest.skip("perf may not record switches here, or there is no gcc")


Pass = tuple[Capture, Mapping[str, Any]]
Record = Callable[[int], Pass]


@pytest.fixture(scope="module")
def record(tmp_path_factory: pytest.TempPathFactory) -> Record:
    """Records one pass with waits of so many ms by what the runner calls, and reads it."""
    workloads = tmp_path_factory.mktemp("workloads")
    shutil.copytree(PARTS, workloads / "sleeper")
    stage_runner(workloads)
    staged = load(str(workloads / "_off_cpu.py"))
    subprocess.run(
        ["gcc", "-O0", "-g", "-fno-omit-frame-pointer", "-pthread",
         "-o", workloads / "sleeper/sleeper", PARTS / "sleeper.c"],
        check=True, timeout=60,
    )  # fmt: skip

    def recorded(ms: int) -> Pass:
        for _ in range(6):
            capture, told = once(ms)
            asked = 0.9 * LOOPS * ms * 1e6
            if all(sum(waited_in(capture, each).values()) > asked for each in WAITING):
                return capture, told
        pytest.skip("perf lost more than a tenth of this program's switches, six times")

    def once(ms: int) -> Pass:
        timed = tmp_path_factory.mktemp("case")
        case = {"case_id": "1", "workload": "sleeper", "parameters": {"ms": ms, "loops": LOOPS},
                "iterations": 1, "warmup": 0, "timeout_s": 60, "profile_hz": 99}  # fmt: skip
        staged.off_cpu_case(case, workloads, timed)
        output = timed / "profile/off-cpu"
        said = json.loads((output / "profile.json").read_text())
        assert said["state"] == "ok", said["detail"]
        assert said["lost"] == 0
        capture = read_capture(find_recording(output, limit_bytes=LIMIT_BYTES), operations=LOOPS)
        return capture, json.loads((output / "run.json").read_text())

    return recorded


def waited_in(capture: Capture, function: bytes) -> dict[bytes, int]:
    """Stack → ns, of stacks of the program that go through the function."""
    return {
        stack: ns
        for stack, ns in capture.stacks.items()
        if stack.startswith(THREAD + b";") and function in stack.split(b";")
    }


def is_all_of(found: float, asked: float, known: float) -> bool:
    """Whether it is what was asked for, and no more than what the program saw pass.

    On a busy machine whoever wakes waits for a processor: a part of that is in other stacks.
    """
    return 0.9 * asked < found < 1.1 * known


def test_sleeps_and_waits_for_a_lock_are_found_with_their_time(record: Record) -> None:
    capture, told = record(5)
    assert capture.event == "off-cpu"
    for function, kernel, known in (
        (b"sleeps_in_a_loop", b"nanosleep", told["sleep"]),
        (b"holds_the_lock", b"nanosleep", told["lock"]),
        (b"waits_for_the_lock", b"futex", told["lock"]),
    ):
        stacks = waited_in(capture, function)
        assert is_all_of(sum(stacks.values()), LOOPS * 5e6, known), function
        # Of a function that waits, nearly all is in the call by which it does.
        named = sum(ns for stack, ns in stacks.items() if kernel in stack)
        assert named > 0.9 * LOOPS * 5e6
        assert all(stack.split(b";")[-1].endswith(b"schedule") for stack in stacks), stacks
    assert known >= LOOPS * 5_000_000
    # No idle thread waits, so that nothing of it is taken off.
    assert without_idle(capture.stacks, rules())[1] == 0


def compared(passes: list[list[Pass]]) -> tuple[FrameDiff, list[str]]:
    """The frames of both groups, and the path of each."""
    tree, profiles = FrameTree(), []
    for group in passes:
        for capture, _ in group:
            stacks = {stack.replace(b" ", b"_"): ns for stack, ns in capture.stacks.items()}
            nodes, counts = tree.add(stacks, number, alike)
            weights = function_weights(stacks, lambda n, thread: alike(number(n), thread))
            columns = np.array(sorted((s, *w) for s, w in weights.items()), np.int64).T
            profiles.append(
                BootProfile(nodes.astype(np.int64), counts, *columns, capture.operations)
            )
    boots_a = len(passes[0])
    found = diff_frames(
        tree.layout(), profiles[:boots_a], profiles[boots_a:], basis="operation", merged=True
    )
    paths: list[str] = []
    for parent, symbol in zip(found.parent.tolist(), found.symbol.tolist(), strict=True):
        paths.append(f"{paths[parent]};{name(symbol)}".lstrip(";") if parent >= 0 else "")
    return found, paths


@pytest.mark.long("eight real recordings")
def test_twice_as_long_sleeps_are_what_differs_and_by_how_much(record: Record) -> None:
    passes: list[list[Pass]] = [[], []]
    # Block by block, as boots are, so that the machine's drift is in both.
    for _ in range(BOOTS):
        for group, ms in zip(passes, (5, 10), strict=True):
            group.append(record(ms))
    found, paths = compared(passes)
    for function, key in (("sleeps_in_a_loop", "sleep"), ("waits_for_the_lock", "lock")):
        places = [
            place
            for place, path in enumerate(paths)
            if path.startswith("sleeper;") and path.endswith(f";{function}")
        ]
        # The function is called from one place.
        [place] = places
        known = [np.mean([told[key] / LOOPS for _, told in group]) for group in passes]
        figures = found.compared
        assert is_all_of(figures.a[place], 5e6, known[0])
        assert is_all_of(figures.b[place], 10e6, known[1])
        if known[0] > 7e6:
            pytest.skip(f"busy: 5 ms took {known[0] / 1e6:.1f} ms, too unsteady to tell from 10")
        assert figures.b[place] > figures.a[place]
        assert figures.q[place] < 0.05
        assert figures.low[place] > 0
