"""Package files of kernels on a host: each is whole before any of them is installed."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.loading import load

module = load("ansible/roles/kernel/library/kernel_package.py")


class Host:
    """What apt and the notes were asked, in order."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.asked: list[object] = []
        monkeypatch.setattr(module, "note_paths", lambda _paths: None)
        monkeypatch.setattr(module, "install_files", self._install)
        monkeypatch.setattr(module, "note", lambda name, digest: self.asked.append((name, digest)))
        monkeypatch.setattr(module.kernel_files, "takes_packages", lambda: True)

    def _install(self, files: Sequence[str], names: Sequence[str]) -> None:
        self.asked.append(([Path(file).name for file in files], list(names)))


@pytest.fixture
def host(monkeypatch: pytest.MonkeyPatch) -> Host:
    return Host(monkeypatch)


def sent(directory: Path, *names: str) -> dict[str, str]:
    """Files of those names with the digests that they have."""
    for name in names:
        (directory / f"{name}.deb").write_text(name)
    return {name: hashlib.sha256(name.encode()).hexdigest() for name in names}


def test_all_are_installed_at_once_and_then_noted(tmp_path: Path, host: Host) -> None:
    digests = sent(tmp_path, "one", "two")
    module.install(["one", "two"], tmp_path, digests)
    assert host.asked == [
        (["one.deb", "two.deb"], ["one", "two"]),
        ("one", digests["one"]), ("two", digests["two"]),
    ]  # fmt: skip


def test_without_grubs_menu_a_kernel_is_unpacked_and_never_made_the_default(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """systemd-boot starts the newest kernel that a package's scripts tell it of."""
    root = tmp_path / "root"
    (root / "var/lib/dpkg").mkdir(parents=True)
    (root / "var/lib/dpkg/status").touch()
    assert module.kernel_files.has_dpkg(root)
    assert not module.kernel_files.takes_packages(root)
    (root / "boot/grub").mkdir(parents=True)
    (root / "boot/grub/grub.cfg").touch()
    assert module.kernel_files.takes_packages(root)
    unpacked: list[str] = []
    monkeypatch.setattr(module.kernel_files, "takes_packages", lambda: False)
    monkeypatch.setattr(
        module.kernel_files, "install", lambda _file, release, _digest: unpacked.append(release)
    )
    monkeypatch.setattr(module, "install_files", lambda *_: pytest.fail("dpkg was asked"))
    digests = sent(tmp_path, "linux-image-7.2")
    module.install(["linux-image-7.2"], tmp_path, digests)
    assert unpacked == ["7.2"]


def test_one_that_did_not_arrive_whole_keeps_all_from_being_installed(
    tmp_path: Path, host: Host
) -> None:
    digests = sent(tmp_path, "one", "two")
    (tmp_path / "two.deb").write_text("tw")
    with pytest.raises(module.PackageError, match=r"two\.deb did not arrive as it was sent"):
        module.install(["one", "two"], tmp_path, digests)
    assert host.asked == []
