"""A guest from a disk image, for real: a whole Debian that boots, is entered and measured.

The lab's own image is the disk, booted here by QEMU without KVM; its one change is the address of
its first network device.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from lab.hosts import LabPaths
from mitigauge.settings import get_settings
from tests.loading import load

pytestmark = pytest.mark.lab
iperf = load("workloads/iperf/run")
guests = sys.modules["guest"]
PARTITION = 1 << 20
SERVES_AT = "10.0.3.15/24"


def shown(*command: str) -> str:
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


@pytest.fixture(scope="module")
def disk(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The lab's disk as a qcow2 whose first network device is where SSH comes through."""
    paths = LabPaths.of(get_settings())
    images = sorted(paths.images.glob("*/disk.raw"))
    if not images:
        pytest.skip("the lab's image is not built: mitigauge lab up")
    folder = tmp_path_factory.mktemp("guest")
    raw, up = folder / "disk.raw", folder / "lab-host-up"
    shown("cp", "--sparse=always", str(images[-1]), str(raw))
    raw.chmod(0o600)
    part = f"{raw}?offset={PARTITION}"
    script = shown("debugfs", "-R", "cat /usr/local/sbin/lab-host-up", part)
    assert "10.0.2.15/24" in script
    up.write_text(script.replace("10.0.2.15/24", SERVES_AT).replace("10.0.2.2", "10.0.3.2"))
    for request in ("rm /usr/local/sbin/lab-host-up", f"write {up} /usr/local/sbin/lab-host-up",
                    "sif /usr/local/sbin/lab-host-up mode 0100755"):  # fmt: skip
        shown("debugfs", "-w", "-R", request, part)
    shown("qemu-img", "convert", "-O", "qcow2", str(raw), str(folder / "disk.qcow2"))
    raw.unlink()
    return folder / "disk.qcow2"


@pytest.fixture
def manifest(disk: Path, tmp_path: Path) -> dict[str, Any]:
    """As the role's module writes it, but for KVM, which this machine does not have."""
    module = load("ansible/roles/guest/library/guest_disk.py")
    key = tmp_path / "key"
    shutil.copy(LabPaths.of(get_settings()).home / "ssh" / "id_ed25519", key)
    key.chmod(0o600)
    image = {"path": str(disk), "format": "qcow2", "user": "root", "key": str(key),
             "memory_mb": 1024}  # fmt: skip
    _, made = module.ensure(
        {"path": str(tmp_path / "opt"), "image": image, "cpu": "EPYC-Rome,-svm",
         "ready_timeout_s": 400, "cpus": ""},
        check_mode=True,
    )  # fmt: skip
    # The lab's kernels know NVMe disks alone; its hosts are named by their machine.
    command = [
        word.replace("accel=kvm", "accel=tcg").replace("if=virtio", "if=none,id=d0")
        for word in made["command"]
    ]
    own = ("-device", "nvme,drive=d0,serial=lab", "-smbios", "type=1,product=guest")
    return {**made, "command": [*command, *own]}


@pytest.fixture
def here(manifest: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    monkeypatch.setattr(iperf, "guest_manifest", lambda: manifest)
    return manifest


def a_case(**changes: Any) -> dict[str, Any]:
    parameters = {"network": "user", "protocol": "tcp", "vcpus": 1, "parallel": 1,
                  "direction": "host-to-guest", "seconds": 1}  # fmt: skip
    return {"parameters": parameters, "warmup": 1, "iterations": 2, **changes}


def test_a_case_is_measured_in_it_and_its_disk_stays_as_it_was(
    here: dict[str, Any], disk: Path, tmp_path: Path
) -> None:
    before = disk.stat().st_mtime_ns
    output = tmp_path / "out"
    output.mkdir()
    record: dict[str, Any] = {"lab_faults": []}
    assert iperf.run_case(a_case(guest={"flags": "-x2apic,+sse4_2"}), output, record) == 0, record
    assert record["lab_faults"] == []
    names = sorted(path.name for path in output.glob("*.json"))
    assert names == ["iteration-01.json", "iteration-02.json", "warmup-01.json"]
    facts = record["guest_facts"]
    assert facts["kernel"]["release"].startswith("7.")
    assert "spectre_v2" in facts["vulnerabilities"]
    assert "sse4_2" in facts["cpu"]["flags"].split()
    assert record["guest"]["flags"].endswith("+sse4_2")
    assert record["tools"]["guest_image_is"].startswith(str(disk))
    assert disk.stat().st_mtime_ns == before


def test_a_key_that_does_not_open_it_is_said(here: dict[str, Any], tmp_path: Path) -> None:
    key = tmp_path / "other"
    shown("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(key))
    here["image"] = {"user": "root", "key": str(key)}
    here["ready_timeout_s"] = 90
    output = tmp_path / "out"
    output.mkdir()
    end = guests.endpoint("user")
    with guests.booted(iperf.ImageGuest(here, end, 1, output, 1)) as guest:
        with pytest.raises(guests.LabFault) as fault:
            guest.wait_ready(1)
        assert fault.value.kind == "guest-hang"
        assert "Permission denied" in str(fault.value)
