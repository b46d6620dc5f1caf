"""What the runner keeps of the kernel's code: from perf's text, symbols and memory made by hand."""

from __future__ import annotations

import base64
import gzip
import json
import struct
import subprocess
from pathlib import Path
from typing import Any

import pytest

from mitigauge.core.settings import REPOSITORY
from tests.loading import load

instructions = load("ansible/roles/workload/files/_instructions.py")

BASE = 0xFFFFFFFF81000000
NMI = REPOSITORY / "tests/fixtures/profiles/getppid-loop.nmi.perf.script"
CALL = 0xE8


def sample(*frames: tuple[int, str, str], period: int = 7) -> bytes:
    """One sample of perf's text; of each frame its address, name and module."""
    lines = [f"\t{at:16x} {name} ({module})" for at, name, module in frames]
    return "\n".join([f"perf 1/1 [000] 1.5: {period:10} cycles: ", *lines, "", ""]).encode()


def kernel(offset: int, name: str) -> tuple[int, str, str]:
    return BASE + offset, name, "[kernel.kallsyms]"


def own(text: bytes, *, by_nmi: bool = False) -> dict[bytes, dict[int, list[int]]]:
    found = instructions.own_samples(text.splitlines(keepends=True), by_nmi=by_nmi)
    return {function.name: function.hits for function in found}


def symbols(*places: tuple[int, str]) -> Any:
    return instructions.Symbols.read(f"{BASE + at:x} t {name}".encode() for at, name in places)


def core_of(tmp_path: Path, code: bytes) -> Path:
    """A file as /proc/kcore is: the code at BASE, behind a note."""
    at = 64 + 2 * 56
    head = b"\x7fELF".ljust(32, b"\0") + struct.pack("<Q14xHH4x", 64, 56, 2)
    note = struct.pack("<IIQQQQQQ", 4, 0, at, 0, 0, 9, 9, 0)
    text = struct.pack("<IIQQQQQQ", 1, 5, at, BASE, 0, len(code), len(code), 4096)
    path = tmp_path / "kcore"
    path.write_bytes(head.ljust(64, b"\0") + note + text + code)
    return path


def kept(tmp_path: Path, code: bytes, text: bytes, *places: tuple[int, str]) -> dict[str, Any]:
    with core_of(tmp_path, code).open("rb") as file:
        core = instructions.Core(file.fileno())
        functions = instructions.own_samples(text.splitlines(keepends=True), by_nmi=False)
        said: dict[str, Any] = instructions.code_of(functions, symbols(*places), core)
        return said


def test_samples_are_counted_by_address_with_their_periods() -> None:
    text = 2 * sample(kernel(4, "f"), kernel(90, "g")) + sample(kernel(5, "f"), period=11)
    assert own(text) == {b"f": {BASE + 4: [2, 14], BASE + 5: [1, 11]}}


def test_what_is_no_kernel_function_is_left_out() -> None:
    user = (0x7F0000001000, "main", "/usr/bin/true")
    unknown = kernel(8, "[unknown]")
    assert own(sample(user, kernel(4, "f")) + sample(unknown) + sample()) == {}


def test_what_was_inlined_counts_for_the_function_that_holds_it() -> None:
    inlined = (BASE + 4, "small", "inlined")
    text = sample(inlined, kernel(4, "holds"), kernel(90, "calls"))
    assert own(text) == {b"holds": {BASE + 4: [1, 7]}}


def test_an_nmi_counts_for_what_it_interrupted() -> None:
    found = own(NMI.read_bytes(), by_nmi=True)
    assert found[b"clear_bhb_loop"][0xFFFFFFFF87801FA0] == [1, 1]
    assert 0xFFFFFFFF8890EAB6 in found[b"do_syscall_64"]
    assert not found.keys() & {b"exc_nmi", b"end_repeat_nmi", b"nmi_handle.part.0", b"asm_exc_nmi"}


def test_a_function_ends_where_the_next_symbol_begins_and_two_may_have_one_name(
    tmp_path: Path,
) -> None:
    code = bytes(range(64))
    text = sample(kernel(0, "f")) + 2 * sample(kernel(33, "f")) + sample(kernel(16, "g"))
    said = kept(tmp_path, code, text, (0, "f"), (16, "g"), (32, "f"), (48, "end"))
    assert [(f["name"], base64.b64decode(f["code"])) for f in said["functions"]] == [
        ("f", code[:16]), ("f", code[32:48]), ("g", code[16:32]),
    ]  # fmt: skip
    assert [f["samples"] for f in said["functions"]] == [[[0, 1, 7]], [[1, 2, 14]], [[0, 1, 7]]]
    assert said["left_out"] == 0


def test_calls_are_named_and_no_address_leaves_the_host(tmp_path: Path) -> None:
    call = bytes([CALL]) + struct.pack("<i", 32 - 5)
    reads = bytes([0x48, 0x8B, 0x05]) + struct.pack("<i", 48 - 12)
    compares = bytes([0x83, 0x3D]) + struct.pack("<i", 56 - 19) + b"\x01"
    code = (call + reads + compares).ljust(64, b"\x90")
    places = ((0, "f"), (32, "callee"), (48, "variable"), (56, "flag"), (64, "end"))
    said = kept(tmp_path, code, sample(kernel(2, "f")), *places)
    assert said["functions"][0]["targets"] == {"32": "callee", "48": "variable", "56": "flag"}
    assert f"{BASE:x}"[:8] not in json.dumps(said)
    assert str(BASE)[:10] not in json.dumps(said)


def test_the_hottest_functions_are_kept_as_far_as_there_is_room(tmp_path: Path) -> None:
    size, functions = 4096, 30
    places = [(number * size, f"f{number}") for number in range(functions + 1)]
    text = b"".join(
        sample(kernel(at, name), period=number + 1) for number, (at, name) in enumerate(places[:-1])
    )
    said = kept(tmp_path, bytes(functions * size), text, *places)
    # The last ones have the longest periods, and 64 KiB take 16 of them.
    assert [f["name"] for f in said["functions"]] == [f"f{n}" for n in range(29, 13, -1)]
    assert said["left_out"] == 14


def test_a_function_too_long_to_read_is_left_out(tmp_path: Path) -> None:
    long = instructions.LONGEST_FUNCTION + 1
    text = 9 * sample(kernel(0, "long")) + sample(kernel(long, "short"))
    said = kept(tmp_path, bytes(long + 16), text, (0, "long"), (long, "short"), (long + 16, "end"))
    assert [f["name"] for f in said["functions"]] == ["short"]
    assert said["left_out"] == 1


def test_more_functions_than_the_most_are_left_out(tmp_path: Path) -> None:
    places = [(number * 16, f"f{number}") for number in range(51)]
    text = b"".join(sample(kernel(at, name)) for at, name in places[:-1])
    said = kept(tmp_path, bytes(50 * 16), text, *places)
    assert len(said["functions"]) == instructions.MOST_FUNCTIONS
    assert said["left_out"] == 10


def keep(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, listed: str, text: bytes) -> Any:
    """What the runner leaves where the kernel's files are these."""
    capture = tmp_path / "perf.script.gz"
    capture.write_bytes(gzip.compress(text))
    (tmp_path / "kallsyms").write_text(listed)
    monkeypatch.setattr(instructions, "KALLSYMS", tmp_path / "kallsyms")
    monkeypatch.setattr(instructions, "KCORE", tmp_path / "kcore")
    instructions.keep(capture, ["gzip", "-q", "-dc"], by_nmi=False)
    return json.loads((tmp_path / instructions.FILE).read_text())


def test_code_and_samples_are_left_beside_the_capture(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    core_of(tmp_path, b"\x90" * 16)
    listed = f"{BASE:x} t f\n{BASE + 16:x} t g\t[module]\n"
    said = keep(tmp_path, monkeypatch, listed, sample(kernel(3, "f")))
    assert said["detail"] == ""
    assert said["functions"][0]["samples"] == [[3, 1, 7]]


@pytest.mark.parametrize(
    ("listed", "core", "why"),
    [
        ("0000000000000000 t f\n", True, "shows no addresses"),
        (f"{BASE:x} t f\n{BASE + 16:x} t g\n", False, "No such file"),
        (f"{BASE:x} t other\n", True, "no sample fell into a kernel function"),
        (f"{BASE + 9:x} t f\n{BASE + 999:x} t g\n", True, "does not have 990 bytes"),
    ],
)
def test_where_there_is_no_code_the_reason_is_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, listed: str, core: bool, why: str
) -> None:
    if core:
        core_of(tmp_path, b"\x90" * 16)
    said = keep(tmp_path, monkeypatch, listed, sample(kernel(12, "f")))
    assert why in said["detail"]
    assert said["functions"] == []


def test_a_recording_that_takes_too_long_is_given_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(instructions, "LIMIT_S", -1.0)
    said = keep(tmp_path, monkeypatch, f"{BASE:x} t f\n", sample(kernel(0, "f")))
    assert "took longer than" in said["detail"]


def test_the_unpacker_is_ended_with_its_reader(tmp_path: Path) -> None:
    capture = tmp_path / "endless"
    capture.touch()
    with instructions.unpacked(capture, ["sh", "-c", "yes"]) as lines:
        assert next(iter(lines)) == b"y\n"
    assert subprocess.run(["pgrep", "-f", f"yes {capture}"], check=False).returncode == 1
