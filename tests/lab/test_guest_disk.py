"""iperf in both kinds of guests: an operator's image, booted by its own GRUB, and the built one.

The image is a Debian on a qcow2 disk; what the built guest consists of is taken from it. No host of
the lab is needed: QEMU emulates the guest on this machine, and this machine is the host.
"""

from __future__ import annotations

import hashlib
import json
import os
import shlex
import shutil
import stat
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from mitigauge.core.settings import REPOSITORY, get_settings
from mitigauge.measurement.catalog import Catalog
from tests.lab.guest_image import POOR_USER, USER, guest_image, key_of, root_of
from tests.loading import load

pytestmark = pytest.mark.lab

iperf, parser = load("workloads/iperf/run"), load("workloads/iperf/parse.py")
guests = sys.modules["guest"]
role = load("ansible/roles/guest/library/guest_disk.py")
parts = load("ansible/module_utils/mitigauge_guest.py")
built = load("ansible/roles/guest/library/guest_image.py")
FILES = REPOSITORY / "ansible/roles/guest/files"
# Has no AVX2 in emulation, and SMEP where it is asked for.
CPU = "Nehalem,+smep"
READY_TIMEOUT_S = 300
CASE = {
    "case_id": "1", "workload": "iperf", "iterations": 2, "warmup": 1, "timeout_s": 600,
    "parameters": {
        "network": "user", "protocol": "tcp", "vcpus": 1, "parallel": 1,
        "direction": "guest-to-host", "seconds": 1,
    },
}  # fmt: skip


@dataclass(frozen=True)
class Prepared:
    """This machine as a host with a guest image."""

    image: Path
    guest: Path
    output: Path

    def run(self, **more: Any) -> int:
        """The status of `run` for the case with *more*."""
        case = self.output.with_name("case.json")
        case.write_text(json.dumps({**CASE, **more}))
        arguments = [str(case), str(self.output)]
        return int(iperf.contract.main("iperf", iperf.checked, iperf.run_case, arguments))

    def record(self) -> Any:
        """What run.json says."""
        return json.loads((self.output / "run.json").read_text())


@pytest.fixture
def prepared(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Prepared:
    """As role guest would, but for KVM and for our own guest, which is not booted here."""
    if shutil.which("qemu-system-x86_64") is None:
        pytest.skip("no qemu-system-x86 here")
    image = guest_image(get_settings().home / "guest-images")
    with_iperf3(root_of(image), tmp_path / "bin", monkeypatch)
    guest = tmp_path / "guest"
    guest.mkdir()
    manifest = {
        "command": [word.replace("accel=kvm", "accel=tcg")
                    for word in built.qemu_command(CPU, 256, "")],
        "cpu": CPU, "memory_mb": 256, "append": "", "boot": [], "iperf3": "", "qemu": "",
        "ready_marker": built.READY_MARKER, "failed_marker": built.FAILED_MARKER,
        "ready_timeout_s": READY_TIMEOUT_S,
    }  # fmt: skip
    (guest / "manifest.json").write_text(json.dumps(manifest))
    take(guest, image, USER)
    monkeypatch.setattr(guests, "GUEST", guest)
    return Prepared(image, guest, tmp_path / "output")


def take(guest: Path, image: Path, user: str) -> None:
    """What role guest does with an image."""
    session = "".join((FILES / name).read_text() for name in ("session", "facts", "serve"))
    wanted = {
        "path": str(guest), "image": str(image), "user": user, "key_file": str(key_of(image)),
        "session": session,
    }  # fmt: skip
    role.ensure(wanted, check_mode=False)


def with_iperf3(root: Path, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """This machine's own iperf3, or the image's with its libraries."""
    if shutil.which("iperf3"):
        return
    loader, libraries = root / "usr/lib64/ld-linux-x86-64.so.2", root / "usr/lib/x86_64-linux-gnu"
    words = [str(loader), "--library-path", str(libraries), str(root / "usr/bin/iperf3")]
    folder.mkdir()
    (folder / "iperf3").write_text(f'#!/bin/sh\nexec {shlex.join(words)} "$@"\n')
    (folder / "iperf3").chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")


def test_a_guest_of_an_image_measures_and_proves_what_it_got(prepared: Prepared) -> None:
    before = hashlib.sha256(prepared.image.read_bytes()).hexdigest()
    asked = {
        "cpu": "Nehalem,+smep", "flags": "+smep,-avx2", "vcpus": "2", "memory_mb": "300",
        "memory_backing": "shared", "devices": "virtio-net-pci.packed=on",
    }  # fmt: skip
    parameters = {**CASE["parameters"], "vcpus": "arm"}  # type: ignore[dict-item]
    assert prepared.run(parameters=parameters, guest=asked) == 0
    record = prepared.record()
    assert record["lab_faults"] == []
    assert record["guest"] == asked
    assert set(asked) < set(Catalog().workloads["iperf"].guest_settings)
    facts = record["guest_facts"]
    assert facts["system"]["kernel"] == record["tools"]["guest_kernel"] != os.uname().release
    assert "init=/guest-init" in facts["system"]["cmdline"]
    assert facts["system"]["processors"] == "0-1"
    assert {"meltdown", "spectre_v2"} <= set(facts["vulnerabilities"])
    result = parser.parse(prepared.output)
    assert (len(result["metrics"]["throughput"]["values"]), result["guest"]) == (2, asked)
    assert hashlib.sha256(prepared.image.read_bytes()).hexdigest() == before
    assert result["tools"]["guest_image_sha256"] == before


def test_the_guest_that_is_built_says_the_same_of_itself(
    prepared: Prepared, monkeypatch: pytest.MonkeyPatch
) -> None:
    (prepared.guest / "disk.json").unlink()
    build(prepared.guest, root_of(prepared.image), monkeypatch)
    asked = {
        "cpu": "Nehalem,+smep",
        "flags": "+smep",
        "memory_mb": "200",
        "memory_backing": "plain",
    }
    assert prepared.run(guest=asked) == 0
    record = prepared.record()
    assert (record["lab_faults"], record["guest"]) == ([], asked)
    assert "mg_addr=10.0.2.15/24" in record["guest_facts"]["system"]["cmdline"]
    assert len(parser.parse(prepared.output)["metrics"]["throughput"]["values"]) == 2


def build(guest: Path, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Kernel and initramfs as role guest makes them, of the programs and modules below *root*."""

    def within(*command: str) -> str:
        words = ["chroot", str(root), *command]
        return subprocess.run(words, check=True, capture_output=True, text=True).stdout

    def entry(path: str) -> Any:
        return (stat.S_IFREG | 0o755, (root / path.lstrip("/")).read_bytes())

    def program(name: str, place: str) -> dict[str, Any]:
        path = f"/usr/bin/{name}"
        libraries = parts.libraries(within("ldd", path)) if name != "busybox" else []
        return {place: entry(path), **{one.lstrip("/"): entry(one) for one in libraries}}

    def modules(release: str, names: Sequence[str]) -> list[str]:
        shown = [within("modprobe", "-S", release, "--show-depends", name) for name in names]
        files = [path for text in shown for path in parts.module_files(text)]
        return list(dict.fromkeys(str(root / path.lstrip("/")) for path in files))

    monkeypatch.setattr(built, "program_files", program)
    monkeypatch.setattr(built, "module_paths", modules)
    release = next((root / "lib/modules").iterdir()).name
    texts = {name: (FILES / name).read_text() for name in built.PROGRAM_TEXTS}
    files = built.with_directories(built.collect_files(release, texts))
    (guest / "initrd.img").write_bytes(built.newc(files))
    shutil.copy(root / "vmlinuz", guest / "vmlinuz")
    path = guest / "manifest.json"
    manifest = json.loads(path.read_text())
    more = {"append": built.APPEND, "boot": built.boot_arguments(guest)}
    of_record = {"kernel_release": release, "initrd_sha256": ""}
    path.write_text(json.dumps({**manifest, **more, **of_record}))


@pytest.mark.parametrize(
    ("user", "why"), [("nobody", "Permission denied ("), (POOR_USER, "sudo: ")]
)
def test_a_guest_that_refuses_an_account_is_said_with_its_name(
    prepared: Prepared, capsys: pytest.CaptureFixture[str], user: str, why: str
) -> None:
    take(prepared.guest, prepared.image, user)
    assert prepared.run() == 1
    said = capsys.readouterr().err
    assert f"{prepared.image} does not let {user} in with {key_of(prepared.image)}" in said
    assert why in said


def test_an_image_without_iperf3_is_told_what_it_lacks(
    prepared: Prepared, capsys: pytest.CaptureFixture[str]
) -> None:
    take(prepared.guest, prepared.image, "root")
    session = prepared.guest / "session"
    # The same image with the program out of reach.
    session.write_text(f"mv /usr/bin/iperf3 /usr/bin/hidden\n{session.read_text()}")
    assert prepared.run() == 1
    assert f"{prepared.image} lacks iperf3: install it there" in capsys.readouterr().err
