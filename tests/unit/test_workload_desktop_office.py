"""Profile office: its actions with the real LibreOffice and Chromium, and its recipe."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from mitigauge.core.settings import REPOSITORY
from tests.loading import load

OFFICE = REPOSITORY / "workloads/desktop/office"
# UNO comes with the system's own Python.
PYTHON = "/usr/bin/python3"


def lacking() -> str:
    """What of the office's programs is not on this machine."""
    for program in ("soffice", "chromium", "zip", "grep", "tar"):
        if shutil.which(program) is None:
            return program
    has_uno = subprocess.run([PYTHON, "-c", "import uno"], capture_output=True, check=False)
    return "" if has_uno.returncode == 0 else "python3-uno"


LACKING = lacking()
needs_office = pytest.mark.skipif(
    bool(LACKING),
    reason=f"no {LACKING} here: apt install libreoffice-writer-nogui libreoffice-calc-nogui "
    "python3-uno chromium zip",
)
agent = load("workloads/desktop/office/agent.py")
office_actions = sys.modules["office_actions"]
workload = load("workloads/desktop/run")
guest = sys.modules["office_guest"]


@needs_office
def test_every_action_does_its_work_cold_and_warm(tmp_path: Path) -> None:
    ran = subprocess.run(
        [PYTHON, OFFICE / "agent.py", "--try", tmp_path / "home"],
        capture_output=True, text=True, check=False, timeout=600,
    )  # fmt: skip
    told = [line.split(" ", 3) for line in ran.stdout.splitlines()]
    assert [line[:2] for line in told] == [
        [kind, "0"] for kind in (*agent.KINDS, *agent.KINDS[1:])
    ], ran.stdout + ran.stderr
    docs = tmp_path / "home/docs"
    assert (docs / "letter.pdf").read_bytes().startswith(b"%PDF-")
    assert (tmp_path / "home/page.png").read_bytes().startswith(b"\x89PNG")
    assert (docs / "letter-2.odt").read_bytes() != (docs / "letter.odt").read_bytes()


DIES = """
import os, signal, sys
sys.path.insert(0, {folder!r})
from pathlib import Path
from office_actions import Office
office = Office(Path({home!r}))
office.folder.mkdir(parents=True)
office.furnish(1)
assert office.act("login") == (0, ""), "login"
assert office.act("open") == (0, ""), "open"
os.killpg(office.process.pid, signal.SIGKILL)
status, said = office.act("edit")
print(status)
office.close()
"""


@needs_office
def test_a_libreoffice_that_dies_is_said_to_have_died(tmp_path: Path) -> None:
    script = DIES.format(folder=str(OFFICE), home=str(tmp_path / "home"))
    ran = subprocess.run(
        [PYTHON, "-c", script], capture_output=True, text=True, check=False, timeout=300
    )
    assert ran.stdout.strip() == str(128 + signal.SIGKILL), ran.stdout + ran.stderr


def test_the_actions_are_those_that_the_host_sends() -> None:
    assert agent.KINDS == sys.modules["actions"].KINDS


@pytest.mark.parametrize(
    ("command", "status"),
    [(["true"], 0), (["false"], 1), (["no-such-program"], 127),
     (["sh", "-c", "kill -SEGV $$"], 128 + signal.SIGSEGV)],
)  # fmt: skip
def test_statuses_are_a_shell_s(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: list[str], status: int
) -> None:
    office = office_actions.Office(tmp_path)
    monkeypatch.setattr(office, "do_copy", lambda: office_actions.run(*command))
    assert office.act("copy")[0] == status


def test_a_full_disk_is_a_failed_action(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    office = office_actions.Office(tmp_path)

    def full() -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(office, "do_save", full)
    status, said = office.act("save")
    assert status == 1
    assert "No space left" in said


def test_an_answer_has_the_form_that_the_host_reads(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    office = office_actions.Office(tmp_path)
    monkeypatch.setattr(office, "do_copy", lambda: time.sleep(0.01))
    monkeypatch.setattr(agent, "counters", lambda _: "1 2 3 4")
    kind, body = agent.answer(office, "copy", "vda")
    assert kind == "DONE"
    words = body.decode().splitlines()[0].split(" ")
    assert (len(words), words[:2]) == (2 + len(sys.modules["sessions"].NUMBERS) - 1, ["copy", "0"])
    assert int(words[3]) - int(words[2]) >= 10_000_000
    assert agent.answer(office, "format", "vda")[0] == "FAILED"


def test_the_recipe_says_what_it_needs_and_touches_nothing_without_it(tmp_path: Path) -> None:
    ran = subprocess.run(
        ["/bin/bash", OFFICE / "build", tmp_path / "made"], env={"PATH": str(tmp_path)},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert ran.returncode == 1
    assert "not installed" in ran.stderr or "not found" in ran.stderr
    assert not (tmp_path / "made").exists()


def test_an_office_guest_boots_its_own_kernel_beside_the_session_s_disk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    role, made = tmp_path / "role", tmp_path / "a,b"
    for folder in (role, made):
        folder.mkdir()
    (role / "manifest.json").write_text(json.dumps({"memory_mb": 256, "qemu": "10", "cpu": "host"}))
    (made / "root.ext4").write_bytes(b"x" * 5)
    built = {
        "root_bytes": 5, "memory_mb": 2048, "append": "root=LABEL=desktop", "tools": {},
        "ready_timeout_s": 600, "kernel_release": "7", "root_sha256": "0",
    }  # fmt: skip
    (made / "manifest.json").write_text(json.dumps(built))
    monkeypatch.setattr(sys.modules["_kit.guest"], "GUEST", role)
    manifest = guest.manifest(made)
    assert manifest["system"].memory_mb == 1792
    words = " ".join(manifest["system"].qemu)
    assert "a,,b/root.ext4,format=raw,snapshot=on" in words
    assert manifest["boot"][1].endswith("vmlinuz")
    os.truncate(made / "root.ext4", 4)
    with pytest.raises(workload.contract.CaseError, match=r"office/build .* again"):
        guest.manifest(made)
