"""What proves an arm's settings of a guest: its kernel's words, and the monitor's process."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from mitigauge.core.settings import REPOSITORY
from mitigauge.measurement.catalog import Catalog
from tests.loading import load

iperf = load("workloads/iperf/run")
from _kit import guest as guests  # noqa: E402
from _kit import guest_state  # noqa: E402
from _kit.contract import CaseError  # noqa: E402

RETPOLINES = "Mitigation: Retpolines; STIBP: disabled; RSB filling; PBRSB-eIBRS: Not affected"
BOTH = "spectre_v1=no swapgs barriers & spectre_v2=Vulnerable"
V1_OFF = "Vulnerable: __user pointer sanitization and usercopy barriers only; no swapgs barriers"


@pytest.mark.parametrize(
    ("asked", "says", "told"),
    [
        ("spectre_v2=Mitigation: Retpolines", {"spectre_v2": RETPOLINES}, ""),
        ("spectre_v2=RSB filling", {"spectre_v2": RETPOLINES}, ""),
        ("spectre_v2=Vulnerable", {"spectre_v2": "Vulnerable"}, ""),
        # A part is a whole part: this is another mode.
        ("spectre_v2=Vulnerable", {"spectre_v2": "Vulnerable: LFENCE"},
         "spectre_v2=Vulnerable: LFENCE"),
        ("spectre_v2=Vulnerable", {"spectre_v2": RETPOLINES}, f"spectre_v2={RETPOLINES}"),
        ("spectre_v2=Vulnerable", {}, "spectre_v2=nothing"),
        ("vmscape=Vulnerable", {"spectre_v2": "Vulnerable"}, "vmscape=nothing"),
        (BOTH, {"spectre_v1": V1_OFF, "spectre_v2": "Vulnerable; STIBP: disabled"}, ""),
        (BOTH, {"spectre_v1": V1_OFF, "spectre_v2": RETPOLINES},
         f"spectre_v1=no swapgs barriers & spectre_v2={RETPOLINES}"),
    ],
)  # fmt: skip
def test_a_state_is_what_the_guest_itself_says(asked: str, says: dict[str, str], told: str) -> None:
    assert guest_state.state_told(asked, says) == (told or asked)


def test_options_are_those_of_the_guests_own_command_line() -> None:
    said = "console=ttyS0 spectre_v2=off quiet mg_addr=10.0.2.15/24"
    assert guest_state.options_told("spectre_v2=off", said) == "spectre_v2=off"
    assert guest_state.options_told("spectre_v2=off nopti", said) == "spectre_v2=off"
    assert guest_state.options_told("spectre_v2=of", said) == ""


@pytest.mark.parametrize(
    ("asked", "says", "told"),
    [
        ("7.2.12-mg1", "7.2.12-mg1", "7.2.12-mg1"),
        ("7.2.12-mg1", "7.2.12-mg2", "7.2.12-mg2"),
        ("7.2.12-mg1", "", "nothing"),
        ("as-host", os.uname().release, "as-host"),
        ("as-host", "7.2.12-mg1", "7.2.12-mg1"),
    ],
)
def test_a_guests_kernel_is_the_one_that_it_says(asked: str, says: str, told: str) -> None:
    assert guest_state.kernel_told(asked, says) == told


@pytest.mark.parametrize("asked", ["../7.2", "", "/boot", "7.2/..", "-initrd", "7.2 quiet"])
def test_what_is_no_release_is_no_folder(asked: str) -> None:
    with pytest.raises(CaseError, match="is no kernel's release"):
        guests.built_for({"kernel": asked})


def test_the_guest_of_a_kernel_is_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(guests, "GUEST", tmp_path)
    own = tmp_path / "kernels" / "7.2.12-mg1"
    own.mkdir(parents=True)
    for folder, name in ((tmp_path, "6.12"), (own, "7.2.12-mg1")):
        (folder / "manifest.json").write_text(f'{{"kernel_release": "{name}"}}')
    assert guests.guest_manifest({})["kernel_release"] == "6.12"
    assert guests.guest_manifest({"kernel": "7.2.12-mg1"})["kernel_release"] == "7.2.12-mg1"
    with pytest.raises(CaseError, match=r"kernels/7\.2\.12-mg2/manifest\.json is missing"):
        guests.guest_manifest({"kernel": "7.2.12-mg2"})
    with pytest.raises(CaseError, match=r"mg1/fio\.json is missing: apply Ansible role guest"):
        guests.guest_with("fio", {"kernel": "7.2.12-mg1"})


def test_the_kernel_tells_whether_a_process_is_filtered() -> None:
    program = (
        f"import sys; sys.path[:0] = [{str(REPOSITORY / 'workloads')!r}, "
        f"{str(REPOSITORY / 'workloads/entries')!r}]; import filters;"
        "(filters.put_short() if sys.argv[1] == 'on' else None); print(flush=True); input()"
    )
    for asked in ("on", "off"):
        with subprocess.Popen(
            [sys.executable, "-c", program, asked],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        ) as process:  # fmt: skip
            assert process.stdout is not None
            process.stdout.readline()
            assert guest_state.sandbox_told(process.pid) == asked
            process.kill()


def test_a_program_is_the_one_of_that_digest_or_is_refused(tmp_path: Path) -> None:
    program = shutil.copy(shutil.which("sleep") or "", tmp_path / "monitor")
    digest = hashlib.sha256(Path(program).read_bytes()).hexdigest()
    asked = f"{program} {digest}"
    assert guest_state.require_program(asked) == str(program)
    with subprocess.Popen([program, "30"]) as process:
        assert guest_state.program_told(process.pid) == asked
        process.kill()
    with pytest.raises(CaseError, match=f"has SHA-256 {digest}, but the arm asks for {'0' * 64}"):
        guest_state.require_program(f"{program} {'0' * 64}")
    with pytest.raises(CaseError, match="No such file or directory: install it"):
        guest_state.require_program(f"{tmp_path}/none {digest}")


def guest_of(folder: Path, serial: str, asked: dict[str, str], **more: Any) -> Any:
    """A guest whose QEMU waits."""
    manifest = {"command": ["sh", "-c", "sleep 30", "sh"], "cpu": "kvm64", "append": "quiet",
                "boot": [], "failed_marker": "MITIGAUGE-GUEST-FAILED", **more}  # fmt: skip
    end = guests.Endpoint([], "10.0.2.15/24", "127.0.0.1", 1)
    guest = guests.Guest(manifest, end, 1, folder, 1, None, asked)
    guest.serial.write_text(serial)
    return guest


def test_a_guest_gets_its_options_and_tells_its_state(tmp_path: Path) -> None:
    asked = {"options": "mitigations=off", "state": BOTH, "sandbox": "on"}
    serial = (
        f"MITIGAUGE-GUEST-VULNERABILITY spectre_v1: {V1_OFF}\r\n"
        f"MITIGAUGE-GUEST-VULNERABILITY spectre_v2: {RETPOLINES}\r\n"
        "MITIGAUGE-GUEST-SYSTEM cmdline: quiet mitigations=off mg_addr=10.0.2.15/24\r\n"
    )
    with guests.booted(guest_of(tmp_path, serial, asked)) as guest:
        assert "quiet mitigations=off mg_addr=10.0.2.15/24" in guest.command
        # It says that retpolines are in force, and nobody filters this process.
        assert guest.got() == {
            "options": "mitigations=off",
            "state": f"spectre_v1=no swapgs barriers & spectre_v2={RETPOLINES}",
            "sandbox": "off",
        }


def test_a_guest_is_started_by_the_program_that_is_asked_for(tmp_path: Path) -> None:
    program = shutil.copy(shutil.which("true") or "", tmp_path / "qemu")
    asked = {"monitor": f"{program} {hashlib.sha256(Path(program).read_bytes()).hexdigest()}"}
    with guests.booted(
        guest_of(tmp_path, "", asked, command=["taskset", "1", "qemu-system-x86_64"])
    ) as guest:
        assert guest.command[:3] == ["taskset", "1", str(program)]


WARNS = (
    "qemu-system-x86_64: warning: host doesn't support requested feature: CPUID.01H:EDX.vme [bit 1]"
)
REFUSES = "qemu-system-x86_64: Host doesn't support requested features"


def ended_with(folder: Path, *lines: str) -> Any:
    """A guest whose QEMU said that and died."""
    said = "\n".join(lines)
    guest = guest_of(
        folder, "", {"options": "nopti"}, command=["sh", "-c", f'echo "{said}"; exit 1']
    )
    guest.process.wait(20)
    return guest


def test_a_guest_that_dies_after_a_warning_is_tried_again(tmp_path: Path) -> None:
    with (
        guests.booted(ended_with(tmp_path, WARNS)) as guest,
        pytest.raises(guests.LabFault, match="QEMU ended with status 1"),
    ):
        guest.check()


def test_a_guest_that_the_host_refuses_names_what_it_lacks(tmp_path: Path) -> None:
    with (
        guests.booted(ended_with(tmp_path, WARNS, REFUSES)) as guest,
        pytest.raises(CaseError, match=r"cannot make the guest: .*requested features; .*vme"),
    ):
        guest.check()


@pytest.mark.parametrize("asked", [{"options": "nopti"}, {"kernel": "as-host"}])
def test_an_operators_image_takes_no_options_and_no_kernel(
    tmp_path: Path, asked: dict[str, str]
) -> None:
    with pytest.raises(CaseError, match="boots its own kernel by its own command line"):
        guest_of(tmp_path, "", asked, disk={"image": "x", "session": ""})


def test_each_mode_of_a_guests_mitigations_is_told_from_the_others() -> None:
    """A guest that has one of them in force proves no other."""
    modes = Catalog().families["guest-mitigations"].modes
    v1 = "Mitigation: usercopy/swapgs barriers and __user pointer sanitization"
    says = {
        "off": {"spectre_v1": V1_OFF, "spectre_v2": "Vulnerable; STIBP: disabled"},
        "no-retpoline": {"spectre_v1": v1, "spectre_v2": "Vulnerable; STIBP: disabled"},
        "retpoline": {"spectre_v1": v1, "spectre_v2": RETPOLINES},
    }
    assert says.keys() == modes.keys()
    for name, mode in modes.items():
        asked = mode.settings.guest()["state"]
        proven = [each for each, told in says.items()
                  if guest_state.state_told(asked, told) == asked]  # fmt: skip
        assert proven == [name]
