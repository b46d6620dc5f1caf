"""The pure parts of the Ansible modules that put workloads and guest on a host."""

from __future__ import annotations

import base64
import hashlib
import io
import ipaddress
import json
import random
import shutil
import stat
import struct
import subprocess
import tarfile
import threading
import time
from pathlib import Path
from typing import Any

import pytest
from ansible.errors import AnsibleError

from mitigauge.core.settings import REPOSITORY
from tests.loading import load

ROLES = "ansible/roles"
WORKLOADS = REPOSITORY / "workloads"
parts = load("ansible/module_utils/mitigauge_guest.py")
image = load(f"{ROLES}/guest/library/guest_image.py")
disk = load(f"{ROLES}/guest/library/guest_disk.py")
addition = load(f"{ROLES}/guest/library/guest_addition.py")
additions = load(f"{ROLES}/guest/lookup_plugins/guest_additions.py")
network = load(f"{ROLES}/guest_network/library/guest_network.py")
job = load(f"{ROLES}/workload/library/workload_job.py")
stage = load(f"{ROLES}/workload/library/workload_stage.py")
archive = load(f"{ROLES}/workload/lookup_plugins/workload_archive.py")


@pytest.mark.skipif(shutil.which("cpio") is None, reason="cpio is not installed here")
def test_the_initramfs_is_an_archive_that_cpio_reads(tmp_path: Path) -> None:
    files = {
        "init": (stat.S_IFREG | 0o755, b"#!/bin/sh\n"),
        "usr/lib/odd": (stat.S_IFREG | 0o644, b"12345"),
    }
    packed = image.newc(image.with_directories(files))
    subprocess.run(["cpio", "-i", "--quiet"], input=packed, cwd=tmp_path, check=True)
    assert (tmp_path / "usr/lib/odd").read_bytes() == b"12345"
    assert (tmp_path / "init").stat().st_mode & 0o777 == 0o755


def test_the_initramfs_is_the_same_whatever_the_order_of_its_files() -> None:
    one = {"b": (stat.S_IFREG | 0o644, b"b"), "a": (stat.S_IFREG | 0o644, b"a")}
    assert image.newc(one) == image.newc(dict(reversed(one.items())))


def test_libraries_are_read_from_ldd_and_a_missing_one_is_named() -> None:
    text = (
        "\tlinux-vdso.so.1 (0x00007ffd)\n"
        "\tlibc.so.6 => /lib/x86_64-linux-gnu/libc.so.6 (0x00007f1)\n"
        "\t/lib64/ld-linux-x86-64.so.2 (0x00007f2)\n"
    )
    assert parts.libraries(text) == [
        "/lib/x86_64-linux-gnu/libc.so.6",
        "/lib64/ld-linux-x86-64.so.2",
    ]
    with pytest.raises(parts.GuestImageError, match=r"libiperf.so.0"):
        parts.libraries(text + "\tlibiperf.so.0 => not found\n")


def test_modules_load_in_the_order_modprobe_gives_and_built_ins_are_left_out() -> None:
    text = "builtin virtio\ninsmod /lib/modules/x/failover.ko.xz \ninsmod /lib/x/virtio_net.ko\n"
    assert parts.module_files(text) == ["/lib/modules/x/failover.ko.xz", "/lib/x/virtio_net.ko"]


@pytest.fixture
def kernels(tmp_path: Path) -> tuple[Path, Path]:
    """(boot, modules) with three kernels, one of them without modules."""
    boot, modules = tmp_path / "boot", tmp_path / "modules"
    for release in ("6.12.9-amd64", "6.12.10-amd64", "7.2.0-bare"):
        (boot / f"vmlinuz-{release}").mkdir(parents=True)
        if "bare" not in release:
            (modules / release).mkdir(parents=True)
    return boot, modules


def test_the_guest_takes_the_newest_kernel_with_modules(kernels: tuple[Path, Path]) -> None:
    assert image.choose_kernel("", "", *kernels) == "6.12.10-amd64"


def test_the_guest_keeps_its_kernel_when_a_newer_one_is_installed(
    kernels: tuple[Path, Path],
) -> None:
    assert image.choose_kernel("", "6.12.9-amd64", *kernels) == "6.12.9-amd64"
    assert image.choose_kernel("", "6.1.0-gone", *kernels) == "6.12.10-amd64"


def test_an_unknown_guest_kernel_is_refused_with_the_known_ones(
    kernels: tuple[Path, Path],
) -> None:
    with pytest.raises(image.GuestImageError, match=r"6.12.9-amd64, 6.12.10-amd64"):
        image.choose_kernel("5.10", "", *kernels)


def test_a_guest_stays_on_the_processors_it_is_given() -> None:
    free = image.qemu_command("host", 256, "")
    assert free[0] == "qemu-system-x86_64"
    held = image.qemu_command("host", 256, "2-3")
    assert held == ["taskset", "--cpu-list", "2-3", *free]


def test_workloads_of_ours_add_their_own_server_and_what_they_share() -> None:
    found = {name: additions.addition(name, WORKLOADS) for name in ("fio", "desktop")}
    for name, one in found.items():
        assert set(one["files"]) >= {"serve", "channel"}
        assert one["files"]["serve"] == (WORKLOADS / name / "guest/serve").read_text()
        assert "virtio_blk" in one["modules"]
    assert found["fio"]["programs"] == {"fio": "fio"}
    told = additions.additions(["syscall", "fio", "iperf"], WORKLOADS)
    assert [one["name"] for one in told] == ["fio"]


def test_an_addition_with_an_unknown_word_is_refused_by_name(tmp_path: Path) -> None:
    folder = tmp_path / "disk/guest"
    folder.mkdir(parents=True)
    (folder / "guest.json").write_text('{"programms": {}}')
    with pytest.raises(AnsibleError, match=r"disk/guest/guest.json: unknown programms; known: "):
        additions.addition("disk", tmp_path)


@pytest.fixture
def made_guest(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, object]:
    """What guest_addition is asked, where a guest was built and no module is found."""
    (tmp_path / "manifest.json").write_text('{"kernel_release": "7.2"}')
    (tmp_path / "initrd.img").write_bytes(b"first")
    monkeypatch.setattr(addition, "module_paths", lambda *_: [])
    return {
        "path": str(tmp_path), "name": "disk", "programs": {}, "links": {"bin/sh": "busybox"},
        "modules": ["virtio_blk"], "files": {"serve": "#!/bin/sh\n"}, "more_memory_mb": 64,
        "more_ready_s": 30,
    }  # fmt: skip


def test_an_addition_comes_after_the_guest_and_is_made_once(
    made_guest: dict[str, object], tmp_path: Path
) -> None:
    assert addition.ensure(made_guest, check_mode=True)[0]
    assert not (tmp_path / "disk.json").exists()
    changed, manifest = addition.ensure(made_guest, check_mode=False)
    packed = (tmp_path / "initrd-disk.img").read_bytes()
    assert changed
    assert packed.startswith(b"first070701")
    assert b"serve" in packed
    assert b"modules/disk-order" in packed
    assert (manifest["more_memory_mb"], manifest["tools"]) == (64, {})
    assert addition.ensure(made_guest, check_mode=False) == (False, manifest)
    (tmp_path / "initrd.img").write_bytes(b"another")
    assert addition.ensure(made_guest, check_mode=False)[0]


def test_an_addition_without_a_guest_or_without_room_is_refused(
    made_guest: dict[str, object], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    usage = shutil.disk_usage(tmp_path)._replace(free=10)
    with monkeypatch.context() as patch:
        patch.setattr(addition.shutil, "disk_usage", lambda _: usage)
        with pytest.raises(addition.GuestImageError, match="make room there"):
            addition.ensure(made_guest, check_mode=False)
    assert not (tmp_path / "disk.json").exists()
    (tmp_path / "manifest.json").unlink()
    with pytest.raises(addition.GuestImageError, match="guest_image comes first"):
        addition.ensure(made_guest, check_mode=False)


QCOW2 = struct.pack(">4sIQ", b"QFI\xfb", 3, 0).ljust(512, b"\0")


@pytest.fixture
def taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """What guest_disk is asked, with an image and a key that are there."""
    monkeypatch.setattr(disk, "missing_packages", lambda _: [])
    (tmp_path / "g.qcow2").write_bytes(QCOW2)
    (tmp_path / "key").write_text("key")
    (tmp_path / "key").chmod(0o600)
    (tmp_path / "guest").mkdir()
    return {
        "path": str(tmp_path / "guest"), "image": str(tmp_path / "g.qcow2"), "user": "root",
        "key_file": str(tmp_path / "key"), "session": "echo",
    }  # fmt: skip


def test_an_image_is_noted_once_and_forgotten_without_a_trace(taken: dict[str, str]) -> None:
    changed, manifest = disk.ensure(taken, check_mode=False)
    assert changed
    assert manifest["sha256"] == hashlib.sha256(QCOW2).hexdigest()
    assert disk.ensure(taken, check_mode=False) == (False, manifest)
    assert disk.ensure({**taken, "session": "other"}, check_mode=False)[0]
    assert disk.ensure({**taken, "image": ""}, check_mode=False) == (True, {})
    assert list(Path(taken["path"]).iterdir()) == []


def test_an_image_that_was_written_to_is_another_one(taken: dict[str, str]) -> None:
    before = disk.ensure(taken, check_mode=False)[1]["sha256"]
    Path(taken["image"]).write_bytes(QCOW2 + b"more")
    changed, manifest = disk.ensure(taken, check_mode=False)
    assert changed
    assert manifest["sha256"] != before


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "no qcow2 file"),
        (b"\x7fELF".ljust(512), "no qcow2 file"),
        (struct.pack(">4sIQ", b"QFI\xfb", 2, 104).ljust(512, b"\0"), "needs another file"),
        (QCOW2[:72] + struct.pack(">Q", 4) + QCOW2[80:], "needs another file"),
    ],
)
def test_an_image_that_is_not_one_whole_qcow2_file_is_refused(
    taken: dict[str, str], content: bytes, said: str
) -> None:
    Path(taken["image"]).write_bytes(content)
    with pytest.raises(disk.GuestImageError, match=said):
        disk.ensure(taken, check_mode=False)


def test_what_a_guest_image_lacks_on_the_host_is_said_by_name(taken: dict[str, str]) -> None:
    Path(taken["key_file"]).chmod(0o644)
    with pytest.raises(disk.GuestImageError, match=r"key .*chmod 600"):
        disk.ensure(taken, check_mode=False)
    Path(taken["key_file"]).unlink()
    with pytest.raises(disk.GuestImageError, match=r"key .*No such file"):
        disk.ensure(taken, check_mode=False)
    with pytest.raises(disk.GuestImageError, match=r"guest image /nowhere: No such file"):
        disk.ensure({**taken, "image": "/nowhere"}, check_mode=False)


def test_a_probe_tells_a_dead_qemu_from_a_silent_one() -> None:
    works, detail = image.probe(["sh", "-c", "echo no KVM; exit 1"], 10)
    assert (works, detail) == (False, "ended: no KVM")
    works, detail = image.probe(["sh", "-c", "exec sleep 30"], 0.3)
    assert (works, detail) == (False, "not ready within 0.3 s")


@pytest.mark.parametrize(
    ("flags", "module"), [("fpu svm npt", "kvm_amd"), ("fpu vmx ept", "kvm_intel")]
)
def test_the_kvm_module_follows_the_processor(flags: str, module: str) -> None:
    assert network.kvm_module(f"model name\t: x\nflags\t\t: {flags}\n") == module


def test_a_host_without_virtualisation_is_told_the_ways_out() -> None:
    with pytest.raises(network.GuestNetworkError, match="guest_enabled to false"):
        network.kvm_module("flags\t\t: fpu\n")


def test_the_guest_gets_the_address_after_the_hosts() -> None:
    assert network.guest_address(ipaddress.IPv4Interface("10.9.8.1/24")) == "10.9.8.2/24"
    with pytest.raises(network.GuestNetworkError, match="no room"):
        network.guest_address(ipaddress.IPv4Interface("10.9.8.254/24"))


@pytest.mark.parametrize("name", ["", "0br", "a" * 16, "br/0", "br 0"])
def test_a_bad_link_name_is_refused(name: str) -> None:
    with pytest.raises(network.GuestNetworkError, match="no link name"):
        network.link_name(name)


def test_the_networks_script_is_valid_shell_with_nothing_left_to_fill_in() -> None:
    host = ipaddress.IPv4Interface("192.168.213.1/24")
    files = network.wanted_files("mgbr0", "mgtap0", host, "kvm_amd")
    script = files[network.SCRIPT][1]
    subprocess.run(["sh", "-n"], input=script, text=True, check=True)
    assert "{bridge}" not in script
    assert "{tap}" not in script
    assert "{address}" not in script
    facts = json.loads(files[network.FACTS][1])
    assert facts["guest"] == "192.168.213.2/24"


def a_case(**changes: Any) -> dict[str, Any]:
    return {"case_id": "c1", "workload": "w", "parameters": {}, "iterations": 1, "warmup": 0,
            "timeout_s": 5} | changes  # fmt: skip


@pytest.fixture
def workloads(tmp_path: Path) -> Path:
    """A directory with one staged workload, w."""
    (tmp_path / "w").mkdir()
    (tmp_path / "w/run").write_text("#!/bin/sh\n")
    return tmp_path


@pytest.mark.parametrize(
    ("cases", "said"),
    [
        ([], "at least one case"),
        ([a_case(case_id="../up")], r"case_id '../up'"),
        ([a_case(case_id=7)], "case 0: case_id: 7 is not str"),
        ([a_case(timeout_s="5")], "case 0: timeout_s: '5' is not int"),
        ([a_case(profile_hz=0)], "case 0: profile_hz: 0 is not a whole number from 1 to 5000"),
        ([a_case(profile_hz=True)], "case 0: profile_hz: True is not"),
        ([a_case(profile_hz="99")], "case 0: profile_hz: '99' is not"),
        ([a_case(), a_case()], "'c1' is there twice"),
        ([a_case(workload="x")], "workload 'x' is not staged on this host"),
    ],
)
def test_a_job_that_cannot_run_is_refused_before_it_starts(
    workloads: Path, cases: list[dict[str, Any]], said: str
) -> None:
    with pytest.raises(job.JobError, match=said):
        job.check_cases(cases, workloads)


def look(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, active: bool) -> dict[str, Any]:
    monkeypatch.setattr(job, "unit_active", lambda _: active)
    state: dict[str, Any] = job.look(tmp_path, "j")
    return state


def test_an_unknown_job_is_missing_and_a_written_one_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert look(tmp_path, monkeypatch, active=False)["detail"] == "not on this host"
    (tmp_path / "job.json").write_text("{}")
    assert look(tmp_path, monkeypatch, active=False)["detail"] == "written, but never started"
    assert look(tmp_path, monkeypatch, active=True)["state"] == "running"


@pytest.mark.parametrize(("same_boot", "said"), [(True, "unit ended"), (False, "host rebooted")])
def test_a_job_whose_unit_is_gone_has_failed_with_the_reason(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, same_boot: bool, said: str
) -> None:
    boot = job.boot_id() if same_boot else "another"
    state: dict[str, Any] = {
        "state": "running",
        "boot_id": boot,
        "current_case": "c1",
        "finished_cases": [],
    }
    (tmp_path / "state.json").write_text(json.dumps(state))
    (tmp_path / "runner.log").write_text("Traceback: disk full\n")
    seen = look(tmp_path, monkeypatch, active=False)
    assert seen["state"] == "failed"
    assert said in seen["detail"]
    assert "disk full" in seen["detail"]


@pytest.mark.parametrize("left", ["finished", "running"])
def test_who_waits_for_a_job_waits_until_its_runner_ends_however_that_is(
    tmp_path: Path, left: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """*left*: what a runner that is gone left in its state.

    On a host with one processor each look would be in what is measured: there is one in all.
    """
    looks: list[Path] = []
    read = job.read_state

    def look(path: Path) -> Any:
        looks.append(path)
        return read(path)

    monkeypatch.setattr(job, "read_state", look)
    runner = subprocess.Popen(["sleep", "300"])
    state = {"state": "running", "pid": runner.pid}
    (tmp_path / "state.json").write_text(json.dumps(state))
    watch = threading.Thread(target=job.await_end, args=(tmp_path, 60))
    watch.start()
    try:
        watch.join(1.2)
        assert watch.is_alive()
        (tmp_path / "state.json").write_text(json.dumps({**state, "state": left}))
        runner.kill()
        runner.wait()
        watch.join(20)
        assert not watch.is_alive()
        assert looks == [tmp_path]
    finally:
        runner.kill()
        runner.wait()


def test_a_runner_that_is_gone_is_not_waited_for(tmp_path: Path) -> None:
    runner = subprocess.Popen(["true"])
    runner.wait()
    (tmp_path / "state.json").write_text(json.dumps({"state": "running", "pid": runner.pid}))
    began = time.monotonic()
    job.await_end(tmp_path, 600)
    assert time.monotonic() - began < 300


def test_nobody_waits_longer_than_told(tmp_path: Path) -> None:
    began = time.monotonic()
    job.await_end(tmp_path, 1)
    assert 1 <= time.monotonic() - began < 60


def test_an_archive_past_its_limit_is_refused_with_the_setting(tmp_path: Path) -> None:
    (tmp_path / "raw").write_bytes(bytes(range(256)) * 16)
    with pytest.raises(job.JobError, match="workload_archive_limit_bytes"):
        job.packed(tmp_path, 10)
    with tarfile.open(fileobj=io.BytesIO(base64.b64decode(job.packed(tmp_path, 1 << 20)))) as tar:
        assert f"{tmp_path.name}/raw" in tar.getnames()


def test_captures_are_in_the_archive_as_far_as_they_fit_the_smallest_first(
    tmp_path: Path,
) -> None:
    for case, size in (("1", 9000), ("2", 3000), ("3", 2000)):
        (tmp_path / case / "profile").mkdir(parents=True)
        (tmp_path / case / "iteration-01.txt").write_text("raw\n")
        (tmp_path / case / "profile/perf.script.zst").write_bytes(
            random.Random(size).randbytes(size)
        )

    def kept(limit_bytes: int) -> tuple[list[str], int]:
        raw = base64.b64decode(job.packed(tmp_path, limit_bytes))
        with tarfile.open(fileobj=io.BytesIO(raw)) as tar:
            names = [name.removeprefix(f"{tmp_path.name}/") for name in tar.getnames()]
        assert {"1/iteration-01.txt", "2/iteration-01.txt", "3/iteration-01.txt"} <= set(names)
        return sorted(n.split("/")[0] for n in names if "perf.script" in n), len(raw)

    assert kept(1 << 20)[0] == ["1", "2", "3"]
    for limit_bytes, expected in ((9000, ["2", "3"]), (4500, ["3"]), (1500, [])):
        captures, size = kept(limit_bytes)
        assert captures == expected
        assert size <= limit_bytes


def test_a_profile_is_taken_as_a_frequency_or_none(workloads: Path) -> None:
    job.check_cases([a_case(profile_hz=None), a_case(case_id="c2", profile_hz=99)], workloads)


@pytest.fixture
def source(tmp_path: Path) -> Path:
    """A workloads directory of the control side with one workload, w."""
    directory = tmp_path / "source/w"
    (directory / "fixtures").mkdir(parents=True)
    (directory / "run").write_text("#!/bin/sh\necho 1\n")
    (directory / "run").chmod(0o755)
    (directory / "table.txt").write_text("1\n")
    (directory / "workload.yml").write_text("name: w\npackages: [iperf3]\n")
    for name in ("parse.py", "README.md", "fixtures/raw.json"):
        (directory / name).write_text("control side only\n")
    return directory.parent


def test_staging_puts_what_a_host_needs_and_replaces_stale_files(
    source: Path, tmp_path: Path
) -> None:
    packed, digests = archive.archive(["w"], source)
    target = tmp_path / "staged"
    (target / "w").mkdir(parents=True)
    (target / "w/old").write_text("from an earlier version\n")
    stage.unpack(base64.b64decode(packed), "w", digests["w"], target)
    assert {p.name for p in (target / "w").iterdir()} == {
        "run", "table.txt", "workload.yml", stage.MARK,
    }  # fmt: skip
    assert (target / "w/run").stat().st_mode & 0o777 == 0o755
    assert stage.staged(target, "w") == digests["w"]


def test_a_workloads_digest_follows_what_runs_and_not_what_parses(source: Path) -> None:
    before = archive.digest(source / "w")
    (source / "w/parse.py").write_text("changed\n")
    assert archive.digest(source / "w") == before
    (source / "w/run").chmod(0o644)
    assert archive.digest(source / "w") != before
    assert archive.packages(["w"], source) == ["iperf3"]


def test_an_unknown_workload_is_refused_with_the_known_ones(source: Path) -> None:
    with pytest.raises(AnsibleError, match="known: w"):
        archive.archive(["nope"], source)
