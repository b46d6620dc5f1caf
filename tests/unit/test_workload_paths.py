"""paths: perf's output and page faults to nanoseconds an operation, and what is refused."""

from __future__ import annotations

import errno
import json
import random
import shutil
from pathlib import Path

import capstone
import pytest

from mitigauge.core.settings import REPOSITORY
from mitigauge.measurement.catalog import Catalog
from tests.loading import load

WORKLOAD = REPOSITORY / "workloads/paths"
FIXTURES = sorted(path.parent for path in WORKLOAD.glob("fixtures/*/case.json"))
paths = load("workloads/paths/run")
parsing = load("workloads/paths/parse.py")
futex_waits = load("workloads/paths/futex_waits.py")
MUTATIONS = 500
# futex(2) of x86-64, and the flag of one process alone; FUTEX_WAIT is 0.
FUTEX, FUTEX_PRIVATE_FLAG = 202, 128


def copy_of(name: str, where: Path) -> Path:
    """A copy of a real case to break."""
    return shutil.copytree(WORKLOAD / "fixtures" / name, where / "case")


def test_there_is_a_real_fixture_of_every_test() -> None:
    assert {path.name for path in FIXTURES} == set(paths.TESTS) == set(paths.LOOPS)
    assert Catalog().workloads["paths"].parameters["test"].values == tuple(paths.TESTS)


@pytest.mark.parametrize("directory", FIXTURES, ids=lambda path: path.name)
def test_a_real_case_gives_nanoseconds_an_operation(directory: Path) -> None:
    declared = Catalog().workloads["paths"].metrics["time_per_operation"]
    result = parsing.parse(directory)
    metric = result["metrics"]["time_per_operation"]
    assert (metric["unit"], metric["direction"]) == (declared.unit, declared.direction)
    assert len(metric["values"]) == 3
    assert all(100 < value < 100_000 for value in metric["values"])
    assert result["operations"] > 1000


def test_the_figures_are_those_that_perf_printed() -> None:
    said = (WORKLOAD / "fixtures/futex/iteration-01.txt").read_text()
    rate = int(said.partition("Averaged ")[2].split()[0])
    futex = parsing.parse(WORKLOAD / "fixtures/futex")
    assert futex["metrics"]["time_per_operation"]["values"][0] == pytest.approx(1e9 / rate)
    pages = json.loads((WORKLOAD / "fixtures/page-fault/iteration-01.txt").read_text())
    fault = parsing.parse(WORKLOAD / "fixtures/page-fault")
    assert fault["metrics"]["time_per_operation"]["values"][0] == pytest.approx(
        1e9 * pages["seconds"] / pages["pages"]
    )


def test_the_loop_of_futexes_makes_one_system_call_a_round() -> None:
    engine = capstone.Cs(capstone.CS_ARCH_X86, capstone.CS_MODE_64)
    code = list(engine.disasm(futex_waits.WAITS, 0))
    said = {each.mnemonic: each for each in code}
    assert sum(each.size for each in code) == len(futex_waits.WAITS)
    assert [each.mnemonic for each in code].count("syscall") == 1
    assert [each.op_str for each in code if each.mnemonic == "mov"] == [
        "rbx, rsi",
        f"eax, {FUTEX:#x}",
        f"esi, {FUTEX_PRIVATE_FLAG:#x}",
        "edx, 1",
    ]
    # Back to where the registers are set that a system call changes.
    assert int(said["jne"].op_str, 0) == code[2].address


def test_futexes_end_at_once_however_many_there_are() -> None:
    wait = futex_waits.waiter()
    assert 0 < wait(1) < 10
    assert 0 < wait(1000) < 10
    with pytest.raises(ValueError, match="0 waits"):
        wait(0)


BROKEN = [
    ("pipe", "usecs/op", "usec/op", "usecs/op: found 0 times"),
    ("pipe", "Executed 20000", "Executed 2000", "operations: 2000, but the case asked 20000"),
    ("pipe", "sched/pipe", "sched/messaging", "benchmark: found 0 times"),
    ("futex", "operations/sec", "ops", "operations/sec: found 0 times"),
    ("futex", "total secs = 1", "total secs = 2", "total secs: 2, but the case asked 1"),
    ("page-fault", '"pages": 50000', '"pages": 5000', "pages: 5000, but the case asked 50000"),
    ("page-fault", '"seconds": ', '"seconds": -', "seconds: not a finite number|seconds: -"),
]


@pytest.mark.parametrize(("name", "old", "new", "said"), BROKEN)
def test_what_is_not_as_promised_is_refused(
    tmp_path: Path, name: str, old: str, new: str, said: str
) -> None:
    case = copy_of(name, tmp_path)
    file = case / "iteration-02.txt"
    text = file.read_text()
    assert old in text
    file.write_text(text.replace(old, new))
    with pytest.raises(parsing.ParseError, match=f"^iteration-02.txt: ({said})"):
        parsing.parse(case)


@pytest.mark.parametrize("name", ["pipe", "futex", "page-fault"])
def test_output_that_is_cut_off_or_changed_gives_no_wrong_number(tmp_path: Path, name: str) -> None:
    case = copy_of(name, tmp_path)
    file = case / "iteration-01.txt"
    whole = file.read_bytes()
    right = parsing.parse(case)["metrics"]["time_per_operation"]["values"]
    chance = random.Random(name)
    for _ in range(MUTATIONS):
        end = chance.randrange(len(whole.rstrip()))
        file.write_bytes(whole[:end])
        try:
            given = parsing.parse(case)["metrics"]["time_per_operation"]["values"]
        except parsing.ParseError:
            continue
        assert given == right


def test_page_faults_are_counted_and_timed() -> None:
    few = json.loads(paths.page_fault(25_000, 1))
    assert few["pages"] == 25_000
    assert 0 < few["seconds"] < 60


def test_a_kernel_without_huge_pages_needs_no_advice() -> None:
    class Memory:
        def __init__(self, number: int) -> None:
            self.number = number

        def madvise(self, _advice: int) -> None:
            raise OSError(self.number, "refused")

    paths.without_huge_pages(Memory(errno.EINVAL))
    with pytest.raises(OSError, match="refused"):
        paths.without_huge_pages(Memory(errno.ENOMEM))
