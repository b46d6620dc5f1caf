"""What workloads with guests share: the channel, the data disk, digests, the host's time."""

from __future__ import annotations

import os
import socket
import threading
from pathlib import Path
from typing import Any

import pytest

from tests.loading import load

fio = load("workloads/fio/run")
from _kit import data_disk, guest_channel, host_cpu, parsing, seal  # noqa: E402
from _kit.contract import CaseError  # noqa: E402
from _kit.guest import Addition, LabFault  # noqa: E402


class Guest:
    """The other end of a channel."""

    def __init__(self, path: Path) -> None:
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(str(path))
        self.listener.listen()
        self.gone: str = ""
        self.channel = guest_channel.Channel(path, self.check)
        self.end, _ = self.listener.accept()

    def check(self) -> None:
        if self.gone:
            raise LabFault("guest-died", self.gone)

    def close(self) -> None:
        for one in (self.channel, self.end, self.listener):
            one.close()


@pytest.fixture
def guest(tmp_path: Path) -> Any:
    made = Guest(tmp_path / "port")
    yield made
    made.close()


def test_frames_come_whole_and_in_order_however_they_are_cut(guest: Guest) -> None:
    def say() -> None:
        for part in (b"MITIG", b"AUGE BEGIN 0\nMITIGAUGE RESULT 5\nab", b"\ncdMITIGAUGE END 0\n"):
            guest.end.sendall(part)

    threading.Thread(target=say).start()
    told = [guest.channel.receive(0, 5) for _ in range(3)]
    assert told == [("BEGIN", b""), ("RESULT", b"ab\ncd"), ("END", b"")]


def test_a_line_goes_to_the_guest(guest: Guest) -> None:
    guest.channel.send("--rw=read")
    assert guest.end.recv(100) == b"--rw=read\n"


@pytest.mark.parametrize(
    ("said", "kind"),
    [
        (b"MITIGAUGE RESULT 99999999999\n", "guest-channel"),
        (b"MITIGAUGE RESULT 999999999\n", "guest-channel"),
        (b"hello\n", "guest-channel"),
        (b"x" * 200, "guest-channel"),
        (b"MITIGAUGE RESULT 10\nabc", "guest-hang"),
        (b"", "guest-hang"),
    ],
)
def test_what_is_no_frame_or_does_not_end_is_a_fault(guest: Guest, said: bytes, kind: str) -> None:
    guest.end.sendall(said)
    with pytest.raises(LabFault) as fault:
        guest.channel.receive(0, 0.3)
    assert fault.value.kind == kind


def test_a_port_that_closes_is_a_fault_and_a_guest_that_is_gone_says_why(guest: Guest) -> None:
    guest.end.close()
    with pytest.raises(LabFault, match="was closed"):
        guest.channel.receive(0, 5)
    guest.gone = "QEMU ended"
    with pytest.raises(LabFault, match="QEMU ended"):
        guest.channel.receive(0, 5)


def test_a_disk_is_written_in_full_has_no_name_and_is_gone_afterwards(tmp_path: Path) -> None:
    with data_disk.made(tmp_path, 2 << 20) as disk:
        assert list(tmp_path.iterdir()) == []
        found = os.stat(f"/proc/{os.getpid()}/fd/{disk.descriptor}")
        assert found.st_size == 2 << 20
        assert found.st_blocks * 512 >= 2 << 20
        words = " ".join(disk.addition("threads").qemu)
        assert f"filename=/proc/{os.getpid()}/fd/{disk.descriptor},aio=threads" in words
        assert disk.told()["disk_cache"] == ("none" if disk.is_direct else "writeback")
    with pytest.raises(OSError, match="Bad file descriptor"):
        os.fstat(disk.descriptor)


def test_a_disk_that_would_fill_the_host_is_refused_with_what_to_do(tmp_path: Path) -> None:
    with (
        pytest.raises(
            CaseError, match=r"MiB free, .* name another folder in MITIGAUGE_DISK_FOLDER"
        ),
        data_disk.made(tmp_path, 1 << 60),
    ):
        pass
    assert list(tmp_path.iterdir()) == []


def test_a_host_that_fills_up_meanwhile_is_told_and_left_clean(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> int:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(data_disk.os, "pwrite", full)
    with (
        pytest.raises(CaseError, match="No space left on device"),
        data_disk.made(tmp_path, 1 << 20),
    ):
        pass
    assert list(tmp_path.iterdir()) == []


def test_native_aio_without_direct_reads_is_refused_with_the_way_out(tmp_path: Path) -> None:
    disk = data_disk.DataDisk(3, 1 << 20, tmp_path, "tmpfs", False)
    with pytest.raises(CaseError, match=r"aio=native needs O_DIRECT, which tmpfs"):
        disk.addition("native")
    assert "cache.direct=off" in " ".join(disk.addition("io_uring").qemu)


def test_a_folder_that_is_none_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(data_disk.FOLDER_VARIABLE, str(tmp_path / "none"))
    with pytest.raises(CaseError, match="which is no folder"):
        data_disk.folder_for(tmp_path)


def test_the_file_system_is_that_of_the_nearest_mount() -> None:
    mounts = (
        "1 0 8:1 / / rw - ext4 /dev/sda1 rw\n"
        "2 1 0:5 / /srv rw,noatime shared:3 - xfs /dev/sdb rw\n"
        "3 1 0:6 / /srv/a\\040b rw - tmpfs none rw\n"
    )
    told = [data_disk.filesystem_of(Path(p), mounts) for p in ("/var", "/srv/x", "/srv/a b/c")]
    assert told == ["ext4", "xfs", "tmpfs"]


def test_digests_are_of_the_files_as_they_were(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("x")
    record = {seal.SHA256: seal.of(tmp_path, ["a"])}
    seal.require_whole(tmp_path, record, ["a"])
    for change, said in (
        (lambda: (tmp_path / "a").write_text("y"), "not as it was written"),
        ((tmp_path / "a").unlink, "No such file"),
    ):
        change()
        with pytest.raises(parsing.ParseError, match=said):
            seal.require_whole(tmp_path, record, ["a"])
    with pytest.raises(parsing.ParseError, match="sha256: missing"):
        seal.require_whole(tmp_path, {}, ["a"])


def test_busy_time_has_no_idle_and_no_stolen_time_in_it() -> None:
    ticks = host_cpu.read_ticks("cpu  1 2 4 8 16 32 64 128 256 512\ncpu0 1\n")
    assert ticks == (1 + 2 + 4 + 32 + 64, 255)


def test_additions_together_are_all_of_them() -> None:
    parts = [Addition(["-a"], " x", 3), Addition(["-b"], " y", 4)]
    assert Addition.of(parts) == (["-a", "-b"], " x y", 7)
