"""exits: nanoseconds per exit, the guest's code, and what is refused."""

from __future__ import annotations

import contextlib
import itertools
import json
import os
import select
import shutil
import statistics
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from mitigauge.core.settings import REPOSITORY
from mitigauge.measurement.catalog import Catalog
from tests.loading import load
from tests.workload_cases import edit

WORKLOAD = REPOSITORY / "workloads/exits"
FIXTURES = sorted(path.parent for path in WORKLOAD.glob("fixtures/*/case.json"))
kinds = load("workloads/exits/kinds.py")
sys.modules["kinds"] = kinds
kvm = load("workloads/exits/kvm.py")
exits = load("workloads/exits/run")
parsing = load("workloads/exits/parse.py")


@pytest.fixture
def case_dir(tmp_path: Path) -> Path:
    """A copy of a real case to break."""
    return shutil.copytree(WORKLOAD / "fixtures/to-userspace", tmp_path / "case")


def test_there_is_a_real_fixture_of_every_kind_of_exit() -> None:
    kinds = {json.loads((path / "case.json").read_text())["parameters"]["to"] for path in FIXTURES}
    # The lab's emulated processor does not wake a guest each time.
    assert kinds == set(exits.EXITS_TO) - {"halt"}
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
    if first["exits"] >= 20_000:
        assert statistics.stdev(metric["values"]) < 0.002 * statistics.mean(metric["values"])
    # Shorter ones meet the host's own work of the start, as warm-ups do.
    assert statistics.median(metric["values"]) < 1.01 * min(metric["values"])


def test_the_first_iteration_of_a_boot_is_a_warm_up() -> None:
    metric = parsing.parse(WORKLOAD / "fixtures/to-eventfd")["metrics"]["time_per_exit"]
    assert metric["warmup"][0] > 1.05 * min(metric["values"])


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
    enter = bytes.fromhex(kvm.ENTER.format(reason=6))
    again, came = enter.index(bytes.fromhex("89df")), enter.index(bytes.fromhex("85c0"))
    end = enter.index(bytes.fromhex("4c89e0"))
    jumps = {"7506": came, "74e5": again, "750b": end, "7505": end, "75d6": again}
    for jump, target in jumps.items():
        assert jump_target(enter, enter.index(bytes.fromhex(jump))) == target
    assert bytes.fromhex("837d0806") in enter
    wake = kvm.WAKE
    again, send = wake.index(bytes.fromhex("89df")), wake.index(bytes.fromhex("89ef"))
    end = wake.index(bytes.fromhex("4c89e0"))
    jumps = {"74ed": again, "751f": end, "74ea": send, "7e05": end, "75c9": again}
    for jump, target in jumps.items():
        assert jump_target(wake, wake.index(bytes.fromhex(jump))) == target


@pytest.mark.parametrize("to", [name for name in kinds.KINDS if name != kinds.HYPERCALL])
@pytest.mark.parametrize("irqchip", ["on", "off"])
def test_a_guest_makes_its_exits_again_and_again(to: str, irqchip: str) -> None:
    code = kinds.memory_of(to, 20_000, irqchip)[kinds.CODE_AT]
    body = bytes.fromhex(kinds.KINDS[to].code)
    if kinds.leaves_by(to, irqchip):
        assert code[: len(body)] == body
        assert jump_target(code, len(body)) == 0
        assert len(code) == len(body) + 2
        return
    assert int.from_bytes(code[2:6], "little") == 20_000
    assert code[6 : 6 + len(body)] == body
    counted = 6 + len(body) + 2
    assert (code[counted], jump_target(code, counted)) == (0x75, 6)
    assert code[counted + 2 : counted + 4] == bytes((0xE6, kinds.END_PORT))
    assert jump_target(code, counted + 4) == 0


def test_what_the_controller_serves_depends_on_where_it_is() -> None:
    assert [kinds.leaves_by("apic", chip) for chip in kinds.IRQCHIPS] == [0, 0, kinds.EXIT_MMIO]
    assert [kinds.leaves_by("mmio", chip) for chip in kinds.IRQCHIPS] == [kinds.EXIT_MMIO] * 3
    assert kinds.default_irqchip("apic") == kinds.default_irqchip("halt") == "on"
    assert kinds.default_irqchip("userspace") == "off"


def test_exceptions_and_wake_ups_have_handlers() -> None:
    placed = kinds.memory_of("halt", 100, "on")
    vectors = [int.from_bytes(placed[0][at : at + 4], "little") for at in range(0, 128, 4)]
    assert set(vectors) == {kinds.FAULT_AT, kinds.WOKEN_AT}
    assert vectors[kinds.NMI] == kinds.WOKEN_AT
    after = int.from_bytes(placed[kinds.WOKEN_AT][6:8], "little")
    code = placed[kinds.CODE_AT]
    # The instruction before is the halt, the one there counts.
    assert code[after - kinds.CODE_AT - 1] == 0xF4
    assert code[after - kinds.CODE_AT :][:2] == bytes.fromhex("664e")
    ends = sorted((at, at + len(content)) for at, content in placed.items())
    assert all(end <= begin for (_, end), (begin, _) in itertools.pairwise(ends))
    assert ends[-1][1] < kinds.STACK_AT < kvm.MEMORY_BYTES


@pytest.mark.parametrize(
    ("maker", "code"), [("GenuineIntel", "0f01c1"), ("AuthenticAMD", "0f01d9")]
)
def test_each_maker_has_a_hypercall_of_its_own(tmp_path: Path, maker: str, code: str) -> None:
    (tmp_path / "cpuinfo").write_text(f"processor\t: 0\nvendor_id\t: {maker}\nflags\t\t: fpu\n")
    assert kinds.hypercall(tmp_path / "cpuinfo") == code


def test_a_maker_without_a_hypercall_is_named(tmp_path: Path) -> None:
    (tmp_path / "cpuinfo").write_text("vendor_id\t: Unheard\n")
    with pytest.raises(kvm.CaseError, match="no instruction known for 'Unheard'; known: Genuine"):
        kinds.hypercall(tmp_path / "cpuinfo")


def test_a_halt_without_a_controller_in_the_kernel_is_refused() -> None:
    with pytest.raises(kvm.CaseError, match="exits to halt need the processor's interrupt"):
        kvm.Guest("halt", 100, "off")


HERE = pytest.mark.skipif(not os.access("/dev/kvm", os.R_OK | os.W_OK), reason="no KVM here")


@HERE
@pytest.mark.parametrize("to", ["userspace", "kernel", "eventfd", "msr-read", "mmio", "apic"])
def test_a_real_guest_makes_its_exits(to: str) -> None:
    with contextlib.closing(kvm.Guest(to, 200)) as guest:
        guest.try_within(30)
        guest.run()
        if to == "eventfd":
            assert os.eventfd_read(guest._event) == 400


@HERE
def test_an_exception_in_the_guest_is_no_exit(monkeypatch: pytest.MonkeyPatch) -> None:
    # ud2, which no handler of the guest's makes good.
    monkeypatch.setitem(kinds.KINDS, "kernel", kinds.Kind("0f0b"))
    with (
        contextlib.closing(kvm.Guest("kernel", 100)) as guest,
        pytest.raises(kvm.CaseError, match="exits to kernel cannot be measured here"),
    ):
        guest.try_within(30)


@HERE
def test_a_guest_that_does_not_come_back_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    # jmp to itself.
    monkeypatch.setitem(kinds.KINDS, "kernel", kinds.Kind("ebfe"))
    with (
        contextlib.closing(kvm.Guest("kernel", 100)) as guest,
        pytest.raises(kvm.CaseError, match=r"does not come back from 100 of them within 0\.5 s"),
    ):
        guest.try_within(0.5)


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
    monkeypatch.setattr(exits, "SETTLE_S", 60.0)
    began = time.monotonic()
    exits.settle()
    assert not queue.exists()
    assert 0.25 < time.monotonic() - began < 50
    # One that never has done is not waited for without end.
    queue.touch()
    monkeypatch.setattr(exits, "SETTLE_S", 0.1)
    exits.settle()
    assert queue.exists()


@HERE
def test_a_halt_is_woken_in_every_run_of_one_guest() -> None:
    # Runs that nobody wakes end by the limit: a waker that is told of a run before is too early.
    with contextlib.closing(kvm.Guest("halt", 300, "on")) as guest:
        for _ in range(12):
            guest.try_within(20.0)
            assert not select.select([guest._event], [], [], 0)[0]
