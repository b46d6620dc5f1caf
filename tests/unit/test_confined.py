"""A parser that runs wild harms nobody, and is told in plain words."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from mitigauge.core.errors import InvalidInput
from mitigauge.storage.files.confinement import Limits, run_confined

LIMITS = Limits(seconds=5.0, memory_bytes=200 << 20, output_bytes=10_000)


def run(tmp_path: Path, program: str, *arguments: str, limits: Limits = LIMITS) -> bytes:
    path = tmp_path / "parse.py"
    path.write_text(program)
    return run_confined(path, arguments, name="parse.py", limits=limits)


def refusal(tmp_path: Path, program: str, limits: Limits = LIMITS) -> str:
    with pytest.raises(InvalidInput) as refused:
        run(tmp_path, program, limits=limits)
    return refused.value.message


def test_what_it_prints_comes_back(tmp_path: Path) -> None:
    assert run(tmp_path, "import sys; print(sys.argv[1:], __name__)", "a", "b") == (
        b"['a', 'b'] __main__\n"
    )


def test_it_imports_what_lies_beside_it(tmp_path: Path) -> None:
    (tmp_path / "beside.py").write_text("WORD = 'there'")
    assert run(tmp_path, "import beside; print(beside.WORD)") == b"there\n"


def test_its_complaint_is_told_without_what_a_terminal_would_obey(tmp_path: Path) -> None:
    program = "import sys; sys.exit('bad \\x1b]0;owned\\x07 \\0 value')"
    assert refusal(tmp_path, program) == "parse.py: bad �]0;owned� � value"


def test_of_a_long_complaint_the_end_is_told(tmp_path: Path) -> None:
    said = refusal(tmp_path, "import sys; sys.exit('x' * 900_000 + ' the reason')")
    assert said.endswith("x the reason")
    assert len(said) < 2100


@pytest.mark.parametrize(
    ("program", "said"),
    [
        ("x = bytearray(1 << 30)", "needed more than 200 MiB of memory"),
        ("x = list(range(10**10))", "needed more than 200 MiB of memory"),
        ("while True: print('y' * 1000)", "printed more than 10000 bytes"),
        ("import sys\nwhile True: sys.stderr.write('y' * 1000)", "printed more than 10000 bytes"),
        ("with open(__file__ + '.new', 'w') as file: file.write('x')", "File too large"),
        ("import os; os.kill(os.getpid(), 11)", "ended by signal 11"),
    ],
)
def test_what_takes_too_much_is_ended_in_plain_words(
    tmp_path: Path, program: str, said: str
) -> None:
    assert said in refusal(tmp_path, program)


@pytest.mark.parametrize("program", ["while True: pass", "import time; time.sleep(600)"])
def test_what_does_not_end_is_ended(tmp_path: Path, program: str) -> None:
    began = time.monotonic()
    said = refusal(tmp_path, program, Limits(1.0, 200 << 20, 1000))
    assert "1 s" in said
    assert time.monotonic() - began < 300


def test_what_it_started_ends_with_it(tmp_path: Path) -> None:
    program = (
        "import subprocess, sys\n"
        "child = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)'])\n"
        "print(child.pid)"
    )
    began = time.monotonic()
    child = int(run(tmp_path, program))
    # It held the pipe open: nobody waits for it.
    assert time.monotonic() - began < 300
    deadline = time.monotonic() + 60
    while Path(f"/proc/{child}/stat").exists() and time.monotonic() < deadline:
        if Path(f"/proc/{child}/stat").read_text().split()[2] == "Z":
            return
        time.sleep(0.05)
    assert not Path(f"/proc/{child}").exists()


def test_it_gets_nothing_of_our_environment_and_imports_nothing_of_ours(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MITIGAUGE_DATABASE_URL", "postgresql://secret")
    (tmp_path / "json.py").write_text("raise SystemExit('imported from the data')")
    program = "import json, os; print(sorted(os.environ), os.getcwd())"
    said = run(tmp_path, program).decode()
    assert said == "['HOME', 'LC_ALL', 'PATH'] /\n"
    assert "MITIGAUGE_DATABASE_URL" in os.environ
