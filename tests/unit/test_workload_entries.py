"""entries: ways into the kernel that run, and what is refused of what they leave."""

from __future__ import annotations

import json
import os
import random
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import capstone
import pytest

from mitigauge.core.settings import REPOSITORY
from mitigauge.measurement.catalog import Catalog
from tests.loading import load

WORKLOAD = REPOSITORY / "workloads/entries"
FIXTURES = sorted(path.parent for path in WORKLOAD.glob("fixtures/*/case.json"))
entries = load("workloads/entries/run")
parsing = load("workloads/entries/parse.py")
loops = load("workloads/entries/loops.py")
ring = load("workloads/entries/ring.py")
filters = load("workloads/entries/filters.py")
watching = load("workloads/entries/watching.py")
MUTATIONS = 300


def disassembled(code: bytes) -> list[Any]:
    """Instructions of the whole of *code*."""
    engine = capstone.Cs(capstone.CS_ARCH_X86, capstone.CS_MODE_64)
    found = list(engine.disasm(code, 0))
    assert sum(each.size for each in found) == len(code)
    return found


def case_of(way: str, **parameters: Any) -> dict[str, Any]:
    return {"case_id": "c", "workload": "entries", "parameters": {"way": way, **parameters},
            "iterations": 2, "warmup": 1, "timeout_s": 60}  # fmt: skip


def ran(case: dict[str, Any], where: Path) -> subprocess.CompletedProcess[str]:
    """The workload as the runner starts it: a process of its own, since a filter stays."""
    (where / "case.json").write_text(json.dumps(case))
    return subprocess.run(
        [sys.executable, WORKLOAD / "run", where / "case.json", where / "out"],
        capture_output=True, text=True, timeout=120, check=False,
        env={**os.environ, "MITIGAUGE_CLOCK": "counted"},
    )  # fmt: skip


def test_there_is_a_real_fixture_of_every_way() -> None:
    assert {path.name for path in FIXTURES} == set(entries.WAYS)
    assert Catalog().workloads["entries"].parameters["way"].values == tuple(entries.WAYS)


@pytest.mark.parametrize("directory", FIXTURES, ids=lambda path: path.name)
def test_a_real_case_gives_nanoseconds_an_operation(directory: Path) -> None:
    declared = Catalog().workloads["entries"].metrics["time_per_operation"]
    result = parsing.parse(directory)
    metric = result["metrics"]["time_per_operation"]
    first = json.loads((directory / "iteration-01.json").read_text())
    assert (metric["unit"], metric["direction"]) == (declared.unit, declared.direction)
    assert metric["values"][0] == first["nanoseconds"] / first["operations"]
    assert all(1 < value < 1_000_000 for value in metric["values"])
    assert result["operations"] == 3 * first["operations"]


@pytest.mark.parametrize(
    ("code", "number", "instruction"),
    [(loops.SYSCALL, 135, "syscall"), (loops.GETPPID, 110, "syscall"), (loops.INT80, 136, "int")],
)
def test_a_loop_makes_one_entry_a_round(code: bytes, number: int, instruction: str) -> None:
    found = disassembled(code)
    assert [each.mnemonic for each in found].count(instruction) == 1
    again = next(each for each in found if each.op_str == f"eax, {number:#x}")
    jump = next(each for each in found if each.mnemonic == "jne")
    assert int(jump.op_str, 0) == again.address


def test_a_ring_is_entered_once_for_a_batch() -> None:
    found = disassembled(ring.SUBMIT)
    assert [each.mnemonic for each in found].count("syscall") == 1
    adds = [each.op_str for each in found if each.mnemonic == "add"]
    assert adds == [f"dword ptr [rbx], {ring.BATCH:#x}", f"dword ptr [rbp], {ring.BATCH:#x}"]


def test_the_time_of_a_cold_call_has_no_walk_in_it() -> None:
    names = [each.mnemonic for each in disassembled(loops.COLD)]
    first, last = (i for i, name in enumerate(names) if name == "rdtsc")
    assert names[first:last].count("syscall") == 1
    walk = names.index("jae")
    assert walk < first
    assert not set(names[first:last]) & {"cmp", "jmp"}


@pytest.mark.parametrize(
    "way", ["syscall", "int80", "vdso", "io-uring", "seccomp-short", "ptrace", "warm"]
)
def test_a_way_runs_as_often_as_it_is_asked(way: str, tmp_path: Path) -> None:
    done = ran(case_of(way, loops=1000), tmp_path)
    if way == "int80" and "no entry for 32-bit programs" in done.stderr:
        pytest.skip("this kernel has none")
    assert done.returncode == 0, done.stderr
    result = parsing.parse(tmp_path / "out")
    # Whole batches of 32.
    assert result["operations"] == 2 * 1024


def test_docker_refuses_what_it_refuses_and_allows_the_call() -> None:
    """A child puts the filter on and tries a call of each kind."""
    program = f"""
import sys
sys.path[:0] = [{str(WORKLOAD)!r}, {str(WORKLOAD.parent)!r}]
import ctypes, filters
libc = ctypes.CDLL(None, use_errno=True)
filters.put_docker()
print(libc.personality(0), libc.personality(0x40000), libc.unshare(0), libc.getppid() > 0)
print(ctypes.get_errno())
print(open("/proc/self/status").read())
"""
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    said = done.stdout.splitlines()
    # PER_LINUX is allowed, ADDR_NO_RANDOMIZE and unshare(2) are not.
    assert said[0] == "0 -1 -1 True"
    assert said[1] == "1"
    assert "Seccomp:\t2" in said


def test_every_blocked_call_is_one_that_the_library_knows_or_that_is_gone() -> None:
    library = filters._libseccomp()
    known = set(filters._calls(library).values())
    assert len(known) > 330
    of_other_processors = {"vm86", "vm86old", "umount"}
    blocked = filters.BLOCKED.read_text().split()
    assert set(blocked) - known <= of_other_processors
    assert len(blocked) == len(set(blocked))
    assert not {"personality", "clone", "socket"} & set(blocked)


def test_a_traced_process_is_stopped_twice_a_call() -> None:
    with watching.ptraced() as loop:
        loop(50)
        loop(1)


def test_a_program_that_dies_under_its_tracer_is_no_figure() -> None:
    with watching.ptraced() as loop:
        children = Path(f"/proc/{os.getpid()}/task/{os.getpid()}/children").read_text().split()
        os.kill(int(children[-1]), 9)
        with pytest.raises(watching.CaseError, match="of 10 calls that are traced"):
            loop(10)


@pytest.mark.parametrize(
    ("parameters", "said"),
    [
        ({"way": "sysenter"}, "way is 'sysenter', not one of: syscall, int80"),
        ({"way": "syscall", "loops": -1}, "loops is -1"),
        ({"way": "syscall", "loops": True}, "loops is True"),
        ({"way": "syscall", "seconds": 0}, "seconds is 0"),
        ({"way": "syscall", "seconds": float("nan")}, "seconds is nan"),
    ],
)
def test_parameters_that_make_no_case_are_refused(parameters: dict[str, Any], said: str) -> None:
    with pytest.raises(entries.CaseError, match=said):
        entries.check(parameters)


def test_a_machine_without_systemd_says_so(tmp_path: Path) -> None:
    path = os.environ["PATH"]
    os.environ["PATH"] = str(tmp_path)
    try:
        with pytest.raises(filters.CaseError, match="systemd-run"):
            filters.begin_in_unit(1)
    finally:
        os.environ["PATH"] = path


def test_a_cache_whose_size_nobody_tells_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(loops, "CACHES", tmp_path)
    with pytest.raises(loops.CaseError, match="processor 3's cache of level 2"):
        loops.cache_bytes(2, 3)
    for index, (level, kind, size) in enumerate(
        [("1", "Data", "48K"), ("1", "Instruction", "32K"), ("2", "Unified", "2M")]
    ):
        folder = tmp_path / f"cpu3/cache/index{index}"
        folder.mkdir(parents=True)
        for name, said in (("level", level), ("type", kind), ("size", size)):
            (folder / name).write_text(f"{said}\n")
    assert (loops.cache_bytes(1, 3), loops.cache_bytes(2, 3)) == (48 << 10, 2 << 20)


BROKEN = [
    ("syscall", '"operations": ', '"operations": 1', "operations: 1"),
    ("syscall", '"nanoseconds": ', '"nanoseconds": 1', "nanoseconds: 1.* is not the time"),
    ("warm", '"nanoseconds": ', '"nanoseconds": 9', "nanoseconds: 9.* is not the time"),
    ("ptrace", '"began_ns": ', '"began": ', "began_ns: missing"),
]


@pytest.mark.parametrize(("name", "old", "new", "said"), BROKEN)
def test_what_is_not_as_promised_is_refused(
    tmp_path: Path, name: str, old: str, new: str, said: str
) -> None:
    case = shutil.copytree(WORKLOAD / "fixtures" / name, tmp_path / "case")
    file = case / "iteration-02.json"
    text = file.read_text()
    assert old in text
    file.write_text(text.replace(old, new))
    with pytest.raises(parsing.ParseError, match=f"^iteration-02.json: {said}"):
        parsing.parse(case)


@pytest.mark.parametrize("name", ["syscall", "cold-l2"])
def test_output_that_is_changed_gives_no_other_number(tmp_path: Path, name: str) -> None:
    case = shutil.copytree(WORKLOAD / "fixtures" / name, tmp_path / "case")
    file = case / "iteration-01.json"
    whole = file.read_text()
    right = parsing.parse(case)["metrics"]["time_per_operation"]["values"]
    chance = random.Random(name)
    digits = [found.start() for found in re.finditer(r"\d", whole)]
    for _ in range(MUTATIONS):
        at = chance.choice(digits)
        file.write_text(whole[:at] + str(chance.randrange(10)) + whole[at + 1 :])
        try:
            given = parsing.parse(case)["metrics"]["time_per_operation"]["values"]
        except parsing.ParseError:
            continue
        assert given == right
