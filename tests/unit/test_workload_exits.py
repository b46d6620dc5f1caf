"""exits: nanoseconds per exit, the guest's code, and what is refused."""

from __future__ import annotations

import json
import os
import shutil
import statistics
import subprocess
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from mitigauge.catalog import Catalog
from mitigauge.settings import REPOSITORY
from tests.loading import load
from tests.workload_cases import edit

WORKLOAD = REPOSITORY / "workloads/exits"
FIXTURES = sorted(path.parent for path in WORKLOAD.glob("fixtures/*/case.json"))
kvm = load("workloads/exits/kvm.py")
exits = load("workloads/exits/run")
parsing = load("workloads/exits/parse.py")


@pytest.fixture
def case_dir(tmp_path: Path) -> Path:
    """A copy of a real case to break."""
    return shutil.copytree(WORKLOAD / "fixtures/to-userspace", tmp_path / "case")


def test_there_is_a_real_fixture_of_every_kind_of_exit() -> None:
    kinds = {json.loads((path / "case.json").read_text())["parameters"]["to"] for path in FIXTURES}
    assert kinds == set(exits.EXITS_TO)
    assert Catalog().workloads["exits"].parameters["to"].values == exits.EXITS_TO


@pytest.mark.parametrize("directory", FIXTURES, ids=lambda path: path.name)
def test_a_real_case_gives_nanoseconds_per_exit(directory: Path) -> None:
    declared = Catalog().workloads["exits"].metrics["time_per_exit"]
    result = parsing.parse(directory)
    metric = result["metrics"]["time_per_exit"]
    assert (metric["unit"], metric["direction"]) == (declared.unit, declared.direction)
    first = json.loads((directory / "iteration-01.json").read_text())
    assert metric["values"][0] == first["nanoseconds"] / first["exits"]
    assert (len(metric["values"]), len(metric["warmup"])) == (5, 2)
    assert result["operations"] == 5 * first["exits"]
    # Recorded in counted time, where nothing is timed beside the iterations.
    assert "pace" not in result
    assert statistics.stdev(metric["values"]) < 0.001 * statistics.mean(metric["values"])


def test_the_first_iteration_of_a_boot_is_a_warm_up() -> None:
    metric = parsing.parse(WORKLOAD / "fixtures/to-userspace")["metrics"]["time_per_exit"]
    assert metric["warmup"][0] > 1.05 * metric["values"][0]


@pytest.mark.parametrize(
    ("file", "change", "said"),
    [
        ("iteration-02.json", {"exits": 19_999}, "exits: 19999, but the case asked 20000"),
        ("iteration-02.json", {"nanoseconds": 0}, "iteration-02.json: nanoseconds: not from 1"),
        ("iteration-02.json", {"nanoseconds": 1.5}, "nanoseconds: 1.5 is not int"),
        ("iteration-02.json", {"nanoseconds": True}, "nanoseconds: True is not int"),
        ("warmup-01.json", {"nanoseconds": 1 << 54}, "warmup-01.json: nanoseconds: not from 1"),
        ("case.json", {"iterations": 6}, "iteration-06.json: missing"),
        ("run.json", {"tools": []}, "run.json: tools: [] is not dict"),
    ],
)
def test_what_cannot_be_true_is_refused_by_file_and_field(
    case_dir: Path, file: str, change: dict[str, Any], said: str
) -> None:
    edit(case_dir / file, lambda content: content.update(change))
    with pytest.raises(parsing.parsing.ParseError) as refused:
        parsing.parse(case_dir)
    assert said in str(refused.value)


@pytest.mark.parametrize(
    ("parameters", "said"),
    [
        ({"to": "firmware"}, "to is 'firmware', not one of: userspace, kernel"),
        ({"to": "kernel", "exits": 99}, "exits is 99, not a whole number from 100 to"),
        ({"to": "kernel", "exits": True}, "exits is True"),
    ],
)
def test_an_unknown_parameter_is_refused_before_anything_starts(
    tmp_path: Path, parameters: dict[str, Any], said: str
) -> None:
    done = run(tmp_path, parameters)
    assert done.returncode == 1
    assert said in done.stderr
    assert not (tmp_path / "out").exists()


def run(tmp_path: Path, parameters: dict[str, Any]) -> subprocess.CompletedProcess[str]:
    path = tmp_path / "in.json"
    path.write_text(
        json.dumps({"case_id": "c", "workload": "exits", "parameters": parameters,
                    "iterations": 2, "warmup": 1, "timeout_s": 60})
    )  # fmt: skip
    return subprocess.run(
        [WORKLOAD / "run", path, tmp_path / "out"], check=False, capture_output=True, text=True,
        env={**os.environ, "MITIGAUGE_CLOCK": "counted"}, timeout=120,
    )  # fmt: skip


def jump_target(code: bytes, at: int) -> int:
    """Where the two-byte relative jump at `at` leads."""
    return at + 2 + int.from_bytes(code[at + 1 : at + 2], "little", signed=True)


def test_the_jumps_of_the_machine_code_lead_where_they_should() -> None:
    """A wrong one runs into what is no instruction, in a process that is to be measured."""
    again, end = kvm.ENTER.index(bytes.fromhex("89df")), kvm.ENTER.index(bytes.fromhex("4c89e0"))
    jumps = {"74eb": again, "750b": end, "7505": end, "75dc": again}
    for jump, target in jumps.items():
        assert jump_target(kvm.ENTER, kvm.ENTER.index(bytes.fromhex(jump))) == target
    assert jump_target(kvm.TO_USERSPACE, 2) == 0
    code = kvm.to_kernel(20_000)
    assert int.from_bytes(code[2:6], "little") == 20_000
    assert jump_target(code, code.index(b"\x75")) == code.index(bytes.fromhex("6631c0"))
    assert jump_target(code, code.index(b"\xeb")) == 0


def test_a_host_without_kvm_is_told_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kvm, "DEVICE", tmp_path / "kvm")
    with pytest.raises(kvm.CaseError, match="kvm: No such file or directory: needs KVM"):
        kvm.Guest("userspace", 100)


def test_machine_code_is_called_with_its_arguments() -> None:
    # mov eax, edi; add rax, rdx; ret
    add = kvm.callable_code(bytes.fromhex("89f8 4801d0 c3"))
    assert add(40, None, 2) == 42


def test_it_waits_for_udev_which_kvm_tells_of_every_new_guest(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    queue = tmp_path / "queue"
    queue.touch()
    monkeypatch.setattr(exits, "UDEV_QUEUE", queue)
    monkeypatch.setattr(exits, "SETTLE_LOOK_S", 0.01)
    threading.Timer(0.3, queue.unlink).start()
    began = time.monotonic()
    exits.settle()
    assert not queue.exists()
    assert 0.25 < time.monotonic() - began < 4
    # One that never has done is not waited for without end.
    queue.touch()
    monkeypatch.setattr(exits, "SETTLE_S", 0.1)
    exits.settle()
    assert queue.exists()
