"""The runner's counted pass: with an emulator that answers, and with one that does not."""

from __future__ import annotations

import json
import os
import socketserver
import subprocess
import sys
import threading
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from mitigauge.core.wire.exact import MOST_WINDOWS, WINDOWS
from tests.loading import load, stage_runner
from tests.unit.exact.test_reading import REAL

exact = load("ansible/roles/workload/files/_exact.py")
elf = load("ansible/roles/workload/files/_elf.py")
kit = load("workloads/_kit/exact.py")

CASE = {
    "case_id": "1", "workload": "w", "parameters": {"loops": 0}, "iterations": 1, "warmup": 1,
    "timeout_s": 30, "profile_hz": 199, "exact": True,
}  # fmt: skip
# Marks nothing: the windows that the emulator answers with are of another pass.
WORKLOAD = """#!/bin/sh
test -s "$MITIGAUGE_MARKS" || { echo "no marks" >&2; exit 4; }
grep -q '"counted": true' "$1" || { echo "not asked to count" >&2; exit 5; }
cp REAL/run.json "$2/run.json"
"""


class Emulator(socketserver.BaseRequestHandler):
    """Answers as lab/exact/serve.py does."""

    def handle(self) -> None:
        line = self.request.makefile("rb").readline().decode().strip()
        asked: list[str] = self.server.asked  # type: ignore[attr-defined]
        asked.append(line)
        say: dict[str, bytes] = self.server.answers  # type: ignore[attr-defined]
        self.request.sendall(say.get(line, b"error: no such window\n"))


def ok(body: bytes) -> bytes:
    return f"ok {len(body)}\n".encode() + body


@contextmanager
def emulator(**changed: bytes) -> Iterator[tuple[str, list[str]]]:
    """Where it answers, and what it was asked."""
    answers = {f"window {n}": ok((REAL / f"window-{n}.z").read_bytes()) for n in (1, 2)}
    answers["marks"] = ok(zlib.compress(b"a library"))
    answers |= {name.replace("_", " "): body for name, body in changed.items()}
    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), Emulator) as server:
        server.answers, server.asked = answers, []  # type: ignore[attr-defined]
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"127.0.0.1:{server.server_address[1]}", server.asked  # type: ignore[attr-defined]
        server.shutdown()


@pytest.fixture
def timed(tmp_path: Path) -> Path:
    """A case's directory after its timed pass, beside a workload."""
    (tmp_path / "w").mkdir()
    program = tmp_path / "w" / "run"
    program.write_text(WORKLOAD.replace("REAL", str(REAL)))
    program.chmod(0o755)
    directory = tmp_path / "1"
    directory.mkdir()
    (directory / "run.json").write_text('{"loops": 300000}')
    return directory


def passed(timed: Path, source: str) -> dict[str, Any]:
    exact.exact_case(CASE, timed.parent, timed, source)
    said: dict[str, Any] = json.loads((timed / "exact/exact.json").read_text())
    return said


def test_each_window_is_fetched_and_kept_as_it_came(timed: Path) -> None:
    with emulator() as (source, asked):
        said = passed(timed, source)
    assert said["state"] == "ok", said["detail"]
    assert asked == ["marks", "window 1", "window 2"]
    assert [window["operations"] for window in said["windows"]] == [300_000] * WINDOWS
    assert (timed / "exact/window-1.z").read_bytes() == (REAL / "window-1.z").read_bytes()


def test_the_pass_does_the_work_of_the_timed_one(timed: Path) -> None:
    with emulator() as (source, _):
        passed(timed, source)
    case = json.loads((timed / "exact/case.json").read_text())
    assert (case["parameters"], case["counted"], case["warmup"]) == ({"loops": 300_000}, True, 0)


@pytest.mark.parametrize(
    ("changed", "why"),
    [
        ({"marks": b""}, "marks: no answer"),
        ({"marks": b"error: no compiler\n"}, "error: no compiler"),
        ({"marks": b"ok 99999999\n"}, "over 1048576"),
        ({"marks": b"ok 100\nshort"}, "5 of 100 bytes came"),
        ({"marks": ok(b"not compressed")}, "torn"),
        ({"window_2": b"error: no window 2 was counted\n"}, "no window 2 was counted"),
        ({"window_1": ok(zlib.compress(b"nothing of ours"))}, "is no window"),
        ({"window_1": ok(zlib.compress(b"MGXB" + bytes(20)))}, "form 0"),
    ],
)
def test_an_emulator_that_answers_otherwise_costs_the_counts_alone(
    timed: Path, changed: dict[str, bytes], why: str
) -> None:
    with emulator(**changed) as (source, _):
        said = passed(timed, source)
    assert said["state"] == "failed"
    assert why in said["detail"]
    assert not list((timed / "exact").glob("window-*"))


def test_without_an_emulator_the_reason_is_kept(timed: Path) -> None:
    said = passed(timed, "127.0.0.1:1")
    assert said["state"] == "failed"
    assert "127.0.0.1:1: marks" in said["detail"]


def test_a_workload_that_fails_tells_its_last_words(timed: Path) -> None:
    (timed.parent / "w/run").write_text("#!/bin/sh\necho no luck >&2; exit 3\n")
    with emulator() as (source, _):
        said = passed(timed, source)
    assert said["detail"] == "the counted pass ended with 3: no luck"


@pytest.mark.parametrize(("asked", "there"), [(True, True), (False, True), (True, False)])
def test_the_runner_counts_where_it_is_asked_and_an_emulator_is_there(
    timed: Path, *, asked: bool, there: bool
) -> None:
    """Whether or not the case is profiled."""
    root = timed.parent
    (root / "w/run").write_text(
        f'#!/bin/sh\n[ -e {REAL}/run.json ] && cp {REAL}/run.json "$2/run.json"\n'
    )
    stage_runner(root)
    directory = root / "job"
    directory.mkdir()
    with emulator() as (source, _):
        content = {
            "job": "j", "cases": [CASE | {"exact": asked, "profile_hz": None}], "nmi_source": "",
            "exact_source": source if there else "",
        }  # fmt: skip
        (directory / "job.json").write_text(json.dumps(content))
        subprocess.run([sys.executable, "-B", root / "_runner", directory], check=True)
    counted = directory / "1/exact/exact.json"
    assert counted.exists() == (asked and there)
    if counted.exists():
        assert json.loads(counted.read_text())["state"] == "ok"
    state = json.loads((directory / "state.json").read_text())
    assert [case["outcome"] for case in state["finished_cases"]] == ["ok"]


def test_symbols_are_those_that_an_instruction_lies_in() -> None:
    listed = b"ffffffff81000000 T first\nffffffff81000010 t second [kvm]\n" \
             b"ffffffff81000020 D data\nffffffff81000030 W third\n"  # fmt: skip
    start = 0xFFFFFFFF81000000
    found = list(exact.kernel_symbols(listed.splitlines(), [start + 0x12, start + 0x2F, start + 8]))
    assert found == [
        (start, start + 0x10, "first", "kernel"),
        # Data stands between functions in some sections; it runs never.
        (start + 0x10, start + 0x30, "second", "kvm"),
    ]


def test_the_instructions_of_a_window_each_have_an_address() -> None:
    body = zlib.decompress((REAL / "window-1.z").read_bytes())
    places = list(exact.addresses(body))
    told = json.loads((REAL / "exact.json").read_text())["symbols"]
    # The call itself lies in the middle of a block, whose beginning is another function.
    [enter] = [s for s in told if s[2] == "entry_SYSCALL_64_after_hwframe"]
    assert any(enter[0] <= place < enter[1] for place in places)


def test_functions_of_a_file_are_found_where_they_lie() -> None:
    library = next(
        Path(line.split()[-1])
        for line in Path("/proc/self/maps").read_text().splitlines()
        if "libc.so" in line
    )
    found = {name: (start, end) for start, end, name in elf.functions_of(library)}
    assert "getppid" in found
    start, end = found["getppid"]
    # It is the one system call and a return.
    assert b"\x0f\x05" in library.read_bytes()[start:end]


def test_a_programs_functions_are_told_where_one_of_its_addresses_lies(tmp_path: Path) -> None:
    source, program = tmp_path / "p.c", tmp_path / "p"
    source.write_text("int one(int n) { return n * 3; } int two(int n) { return n * 5; }\n"
                      "int also(int) __attribute__((alias(\"two\")));\n")  # fmt: skip
    subprocess.run(["cc", "-shared", "-fPIC", "-O1", source, "-o", program], check=True)
    places = {name: (first, last) for first, last, name in elf.functions_of(program)}
    base = 0x7F0000000000
    maps = f"{base:x}-{base + 0x10000:x} r-xp 00000000 08:01 7    {program}\n"

    def told(*addresses: int) -> set[str]:
        of = sorted({base + address for address in addresses} | {base - 1, base + 0x10000})
        return {name for _, _, name, module in exact.user_symbols(maps, of) if module == "p"}

    one, two = places["one"], places["two"]
    assert told(one[0], one[1] - 1) == {"one"}
    assert len(told(two[0] + 1) & {"two", "also"}) == 1
    assert told(one[0], two[0]) >= {"one"}
    # What no function covers is the file's.
    assert told(one[0], 0xFFFF) == {"one", ""}
    assert told() == set()


@pytest.mark.parametrize(
    "content", [b"", b"\x7fELF", b"\x7fELF\x02" + bytes(100), b"\x7fELF\x02" + b"\xff" * 4096]
)
def test_a_file_that_is_no_program_has_no_functions(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "file"
    path.write_bytes(content)
    assert elf.functions_of(path) == []


def test_a_mark_does_nothing_outside_an_emulator() -> None:
    begin, end = kit.marks(1)
    begin()
    end()
    assert bytes(begin.page[:8]).hex() == "0f1f84000100014d"


@pytest.mark.parametrize("number", [-1, MOST_WINDOWS])
def test_a_window_of_another_number_has_no_mark(number: int) -> None:
    with pytest.raises(ValueError, match="no window"):
        kit.marks(number)


def test_programs_of_perf_are_marked_by_the_library_and_pass_it_on_to_nobody(
    plugin: Path, tmp_path: Path
) -> None:
    """The library itself, in a program that calls gettimeofday() twice and starts another one."""
    from lab.exact.serve import marks_of

    source = tmp_path / "timed.c"
    source.write_text(
        "#include <stdlib.h>\n#include <sys/time.h>\nint main(void) { struct timeval t;"
        ' gettimeofday(&t, 0); gettimeofday(&t, 0); return system("test -z \\"$LD_PRELOAD\\""); }'
    )
    subprocess.run(["cc", str(source), "-o", str(tmp_path / "timed")], check=True)
    maps = tmp_path / "maps"
    given = {
        "LD_PRELOAD": str(marks_of(plugin)), "MITIGAUGE_WINDOW": "1", "MITIGAUGE_MAPS": str(maps),
    }  # fmt: skip
    done = subprocess.run([str(tmp_path / "timed")], env=os.environ | given, check=False)
    assert done.returncode == 0
    assert "timed" in maps.read_text()


def test_serving_says_what_it_has(tmp_path: Path) -> None:
    (tmp_path / "window-1").write_bytes(b"counted")
    marks = tmp_path / "marks.so"
    marks.write_bytes(b"a library")
    program = [sys.executable, "-m", "lab.exact.serve", str(tmp_path), str(marks)]

    def said(line: str) -> bytes:
        return subprocess.run(program, input=line.encode(), capture_output=True, check=False).stdout

    head, _, body = said("window 1\n").partition(b"\n")
    assert (head, zlib.decompress(body)) == (b"ok %d" % len(body), b"counted")
    assert zlib.decompress(said("marks\n").partition(b"\n")[2]) == b"a library"
    for line in ("window 2\n", "window ../marks.so\n", "window 1 2\n", "", "x" * 4096):
        assert said(line).startswith(b"error: ")
