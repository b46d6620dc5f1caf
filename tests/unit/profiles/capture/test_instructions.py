"""A host's instructions.json: real code disassembled, and files that were written to do harm."""

from __future__ import annotations

import base64
import gzip
import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from mitigauge.analysis.profiles.capture import instructions
from mitigauge.analysis.profiles.capture.instructions import (
    FunctionCode,
    Instructions,
    read_instructions,
)
from mitigauge.core.settings import REPOSITORY

# As the runner left it on an emulated host, with the hottest functions of a system call alone.
RECORDED = REPOSITORY / "tests/fixtures/profiles/instructions/loop-1.json.gz"
NOP = base64.b64encode(b"\x90" * 8).decode()
FUNCTION = {"name": "f", "code": NOP, "samples": [[0, 1, 7]], "targets": {}}
SAID: dict[str, Any] = {"detail": "", "left_out": 0, "functions": [FUNCTION]}


def read(tmp_path: Path, content: str | bytes, period: int = 1) -> Instructions:
    path = tmp_path / "instructions.json"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return read_instructions(tmp_path, period=period)


def of_function(tmp_path: Path, **changes: Any) -> Instructions:
    return read(tmp_path, json.dumps({**SAID, "functions": [{**FUNCTION, **changes}]}))


def texts(tmp_path: Path, code: bytes, targets: dict[str, str] | None = None) -> list[str]:
    found = of_function(tmp_path, code=base64.b64encode(code).decode(), targets=targets or {})
    assert found.detail == ""
    return [line.text for line in found.functions[0].lines]


@pytest.fixture
def recorded(tmp_path: Path) -> dict[str, FunctionCode]:
    """Functions of the recorded file."""
    found = read(tmp_path, gzip.decompress(RECORDED.read_bytes()))
    assert found.detail == ""
    return {function.name: function for function in found.functions}


def test_a_patched_alternative_is_read_as_it_ran(recorded: dict[str, FunctionCode]) -> None:
    entry = [line.text for line in recorded["entry_SYSCALL_64_after_hwframe"].lines]
    # The file has a nop there, which the kernel replaced as it booted.
    assert "callq clear_bhb_loop" in entry
    assert entry[-1] == "jmp common_interrupt_return" or "int3" not in entry[-1]


def test_samples_stand_at_the_instructions_that_ran(recorded: dict[str, FunctionCode]) -> None:
    loop = recorded["clear_bhb_loop"]
    texts_ = [line.text for line in loop.lines]
    sampled = {texts_[line] for line in loop.samples}
    assert "int3" not in sampled
    assert any(text.startswith(("subl $1, %ecx", "jne")) for text in sampled)
    assert sum(number for number, _ in loop.samples.values()) > 1000


def test_a_samples_weight_counts_for_its_period(tmp_path: Path) -> None:
    assert read(tmp_path, json.dumps(SAID), period=500).functions[0].samples == {0: (1, 3500)}


@pytest.mark.parametrize(
    ("code", "targets", "text", "normal"),
    [
        (b"\xe8\x0b\0\0\0", {"16": "callee"}, "callq callee", "callq callee"),
        (b"\xe8\x0b\0\0\0", {}, "callq another function", "callq @"),
        (b"\xeb\x01\x90\x90", {}, "jmp +0x3", "jmp @"),
        (b"\x48\x8b\x05\x09\0\0\0", {"16": "x"}, "movq x(%rip), %rax", "movq x(%rip), %rax"),
        (b"\x48\x8b\x05\x09\0\0\0", {}, "movq 9(%rip), %rax", "movq @(%rip), %rax"),
        (b"\x83\x3d\x09\0\0\0\x01", {"16": "flag"}, "cmpl $1, flag(%rip)", "cmpl $1, flag(%rip)"),
        (b"\x48\xb9\x67\x45\x23\x81" + 4 * b"\xff", {},
         "movabsq $18446744071581156711, %rcx", "movabsq $@, %rcx"),
        (b"\x0f\x0b", {}, "ud2", "ud2"),
    ],
)  # fmt: skip
def test_what_placing_code_moves_is_no_part_of_its_normal_form(
    tmp_path: Path, code: bytes, targets: dict[str, str], text: str, normal: str
) -> None:
    encoded = base64.b64encode(code).decode()
    [first, *_] = of_function(tmp_path, code=encoded, targets=targets).functions[0].lines
    assert (first.text, first.normal) == (text, normal)


def test_padding_behind_a_function_is_left_out_and_rubbish_stays_bytes(tmp_path: Path) -> None:
    assert texts(tmp_path, b"\xc3\xcc\xcc\x90\x66\x90") == ["retq"]
    assert texts(tmp_path, b"\x90\xc3\x06\x07") == ["nop", "retq", ".byte 0x06", ".byte 0x07"]


def test_a_sample_inside_an_instruction_stands_at_its_start(tmp_path: Path) -> None:
    code = base64.b64encode(b"\xe8\x0b\0\0\0\xc3").decode()
    found = of_function(tmp_path, code=code, samples=[[3, 2, 2], [5, 1, 1], [0, 1, 1]])
    assert found.functions[0].samples == {0: (3, 3), 1: (1, 1)}


def test_a_name_that_a_terminal_obeys_is_cleaned(tmp_path: Path) -> None:
    found = of_function(tmp_path, name="f\x1b[31m", targets={"99": "\u202eg"}, code=NOP)
    assert found.functions[0].name == "f\ufffd[31m"


def test_the_hosts_own_reason_is_kept(tmp_path: Path) -> None:
    said = {"detail": "no instructions: /proc/kcore: Permission denied\x07", "functions": []}
    found = read(tmp_path, json.dumps(said))
    assert found == Instructions(detail="no instructions: /proc/kcore: Permission denied\ufffd")


@pytest.mark.parametrize(
    ("content", "why"),
    [
        ("", "Expecting value"),
        ("[]", "holds no object"),
        ("{}", "functions is no list"),
        ("[" * 200_000, "nested too deeply"),
        (b"\xff\xfe\x00", "codec can't decode"),
        ('{"functions": [1], "detail": ""}', "a function is no object"),
        (json.dumps({**SAID, "functions": 41 * [FUNCTION]}), "41 functions, over 40"),
        (json.dumps({**SAID, "left_out": -1}), "left_out is no count"),
        (json.dumps({**SAID, "left_out": 1e99}), "left_out is no count"),
        (json.dumps({**SAID, "detail": None}), "detail is no str"),
    ],
)
def test_what_is_no_such_file_is_refused_in_words(
    tmp_path: Path, content: str | bytes, why: str
) -> None:
    found = read(tmp_path, content)
    assert why in found.detail
    assert found.functions == ()


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"code": ""}, "no code"),
        ({"code": "@"}, "no base64"),
        ({"code": "kJ\u00e9="}, "no base64"),
        ({"code": base64.b64encode(bytes(65537)).decode()}, "over 65536 bytes"),
        ({"code": 200_000 * "A"}, "over 65536 bytes"),
        ({"name": ""}, "a name is empty"),
        ({"name": 201 * "x"}, "a name is empty or too long"),
        ({"name": 3}, "name is no str"),
        ({"samples": [[8, 1, 1]]}, "outside of its function"),
        ({"samples": [[-1, 1, 1]]}, "is no count"),
        ({"samples": [[0, True, 1]]}, "is no count"),
        ({"samples": [[0, 1 << 60, 1]]}, "is no count"),
        ({"samples": [[0, 1]]}, "no list of three"),
        ({"samples": 9 * [[0, 1, 1]]}, "more sampled places than bytes"),
        ({"targets": {"x": "f"}}, "no place with a name"),
        ({"targets": {"9" * 5000: "f"}}, "no place with a name"),
        ({"targets": {str(n): "f" for n in range(4001)}}, "too many targets"),
    ],
)
def test_a_function_that_cannot_be_is_refused(
    tmp_path: Path, changes: dict[str, Any], why: str
) -> None:
    found = of_function(tmp_path, **changes)
    assert why in found.detail
    assert found.functions == ()


def test_a_file_over_its_limit_is_not_opened(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(instructions, "LONGEST_FILE", 10)
    assert read(tmp_path, json.dumps(SAID)).detail == "instructions.json has over 10 bytes"


def test_a_host_that_left_none_says_so(tmp_path: Path) -> None:
    assert read_instructions(tmp_path).detail == "the host left none"


def test_code_that_takes_for_ever_to_read_is_given_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Each of them may be a prefix of the next.
    monkeypatch.setattr(instructions, "LIMITS", replace(instructions.LIMITS, seconds=1.0))
    found = of_function(tmp_path, code=base64.b64encode(65536 * b"\x66").decode())
    # Whichever limit it meets first: our own, the caller's, or that of its processor time.
    stopped = r"did not end within 1 s|took more than 1 s|was killed: 1 s of processor time"
    assert re.search(stopped, found.detail)
    assert found.functions == ()


def test_sixty_four_kilobytes_of_code_are_read(tmp_path: Path) -> None:
    for byte in (b"\x90", b"\xff", b"\x00"):
        code = base64.b64encode(65535 * byte + b"\xc3").decode()
        found = of_function(tmp_path, code=code)
        assert found.detail == "", byte
        assert found.functions[0].lines[0].place == 0


def test_what_a_taken_over_disassembler_prints_is_checked() -> None:
    for told in (b"", b"{}", b'{"detail": "", "left_out": 0, "functions": [{"name": "f"}]}'):
        with pytest.raises(instructions.InvalidInput):
            instructions._read(told, 1)
    lying = {"name": "f", "lines": [[0, "nop", "nop"]], "samples": [[1, 1, 1]]}
    told = json.dumps({"detail": "", "left_out": 0, "functions": [lying]}).encode()
    with pytest.raises(instructions.InvalidInput, match="lies in none of its lines"):
        instructions._read(told, 1)
