"""What a disk of the operator's must be before guests start from it."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from mitigauge.errors import InvalidInput
from mitigauge.fleet.inventory_values import values_of
from tests.loading import load

module = load("ansible/roles/guest/library/guest_disk.py")
pytestmark = pytest.mark.skipif(shutil.which("qemu-img") is None, reason="no qemu-img here")


@pytest.fixture
def image(tmp_path: Path) -> dict[str, Any]:
    disk, key = tmp_path / "disk.qcow2", tmp_path / "key"
    made(disk)
    key.write_text("a key")
    key.chmod(0o600)
    return {"path": str(disk), "format": "qcow2", "user": "root", "key": str(key),
            "memory_mb": 512}  # fmt: skip


def made(disk: Path, *more: str) -> None:
    subprocess.run(
        ["qemu-img", "create", "-q", "-f", "qcow2", *more, str(disk), "1M"], check=True, timeout=60
    )


def ensured(image: dict[str, Any], tmp_path: Path, **changes: Any) -> tuple[bool, dict[str, Any]]:
    params = {"path": str(tmp_path / "guest"), "image": image, "cpu": "host", "cpus": "0",
              "ready_timeout_s": 300}  # fmt: skip
    answer: tuple[bool, dict[str, Any]] = module.ensure({**params, **changes}, check_mode=True)
    return answer


def test_a_manifest_says_how_the_disk_starts_and_is_never_written(
    image: dict[str, Any], tmp_path: Path
) -> None:
    _, manifest = ensured(image, tmp_path)
    assert manifest["command"][:3] == ["taskset", "--cpu-list", "0"]
    drive = manifest["command"][-1]
    assert drive == f"file={image['path']},format=qcow2,if=virtio,snapshot=on"
    assert manifest["image"] == {"user": "root", "key": image["key"]}


def test_another_disk_is_another_guest(image: dict[str, Any], tmp_path: Path) -> None:
    _, one = ensured(image, tmp_path)
    _, same = ensured(image, tmp_path)
    Path(image["path"]).unlink()
    made(Path(image["path"]), "-o", "cluster_size=4096")
    _, other = ensured(image, tmp_path)
    assert one["inputs_sha256"] == same["inputs_sha256"]
    assert one["image_is"] != other["image_is"] or one["inputs_sha256"] != other["inputs_sha256"]


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (lambda image: Path(image["path"]).unlink(), "no guest image at"),
        (lambda image: Path(image["key"]).unlink(), "no key of the guest image at"),
        (lambda image: Path(image["key"]).chmod(0o644), "may be read by others: chmod 600"),
        (lambda image: Path(image["path"]).write_text("rubbish"), "qemu-img"),
        (lambda image: made(Path(image["path"]), "-b", "/etc/hostname", "-F", "raw"), "an overlay"),
    ],
)
def test_what_cannot_be_used_is_said_with_the_way_out(
    image: dict[str, Any], tmp_path: Path, spoil: Any, said: str
) -> None:
    spoil(image)
    with pytest.raises(module.GuestImageError, match=said):
        ensured(image, tmp_path)


@pytest.mark.parametrize(
    "image",
    [
        {"path": "/a/../b", "key": "/k"},
        {"path": "disk.qcow2", "key": "/k"},
        {"path": "/a,snapshot=off", "key": "/k"},
        {"path": "/a{{ lookup('pipe', 'id') }}", "key": "/k"},
        {"path": "/a", "key": "-oProxyCommand=x"},
        {"path": "/a", "key": "/k", "user": "root -o x"},
        {"path": "/a", "key": "/k", "format": "vmdk"},
        {"path": "/a"},
    ],
)
def test_an_inventory_s_image_has_forms(image: dict[str, str]) -> None:
    with pytest.raises(InvalidInput, match="mitigauge_guest_image"):
        values_of("host", {"mitigauge_guest_image": image})


def test_plays_are_given_it_as_data() -> None:
    found = values_of("host", {"mitigauge_guest_image": {"path": "/a", "key": "/k"}})
    assert found.for_plays()["mitigauge_guest_image"]["memory_mb"] == 1024
    assert values_of("host", {}).for_plays()["mitigauge_guest_image"] == {}
