"""Foreign programs in real sandboxes: what they cannot do, and what becomes of those that try."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from mitigauge.core.errors import NotReady
from pipelines.adapters import sandbox
from pipelines.adapters.disk_use import disk_use
from pipelines.adapters.sandbox import LimitReached, Limits, Sandbox

# Not that of a build that goes on beside the tests.
USER = sandbox.BUILD_USER + 1
LIMITS = Limits(
    seconds=30, memory_bytes=1 << 30, disk_bytes=64 << 20, file_bytes=32 << 20,
    output_bytes=1 << 20, processes=60,
)  # fmt: skip


@dataclass
class Box:
    """A root with this machine's programs in it, and a folder to write to."""

    place: Path

    def run(self, script: str, limits: Limits = LIMITS) -> tuple[int, str]:
        log = self.place / "log"
        log.unlink(missing_ok=True)
        status = Sandbox(self.place / "root", limits).run(
            ["/bin/sh", "-c", script],
            log=log,
            writable={"/build/out": self.place / "out"},
            readable={"/usr": Path("/usr"), "/build/source": self.place / "source"},
            directory="/build/out",
            variables={"GIVEN": "yes"},
        )
        return status, log.read_text(errors="replace")


@pytest.fixture
def box() -> Iterator[Box]:
    # Not pytest's folder, which is closed to the sandbox's user.
    place = Path(tempfile.mkdtemp(prefix="sandbox-"))
    place.chmod(0o755)
    root = place / "root"
    for name in ("usr", "proc", "dev", "tmp", "run", "etc", "build/out", "build/source"):
        (root / name).mkdir(parents=True)
    for name in ("bin", "sbin", "lib", "lib64"):
        (root / name).symlink_to(f"usr/{name}")
    (place / "source").mkdir()
    yield Box(place)
    shutil.rmtree(place)


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sandbox, "BUILD_USER", USER)
    monkeypatch.setattr(sandbox, "LOOK_S", 0.05)
    monkeypatch.setattr(sandbox, "DISK_LOOK_S", 0.1)


@contextmanager
def no_control_group(_memory: int, _processes: int) -> Iterator[None]:
    """As on a machine that gives none."""
    yield None


def left_over() -> list[str]:
    """Processes of the sandbox's user; one that has ended and waits to be collected is none."""
    told = subprocess.run(["ps", "-o", "args=", "-U", str(USER)], capture_output=True,
                          text=True, check=False)  # fmt: skip
    return [line for line in told.stdout.split("\n")[:-1] if "<defunct>" not in line]


def nothing_left() -> None:
    deadline = time.monotonic() + 5
    while left_over() and os.getuid() == 0:
        assert time.monotonic() < deadline, left_over()
        time.sleep(0.05)


def test_an_object_is_built(box: Box) -> None:
    (box.place / "source" / "clear.c").write_text("int clear(int n) { return n ? n - 1 : 0; }\n")
    status, said = box.run("gcc -O2 -c /build/source/clear.c -o clear.o && nm clear.o")
    assert (status, "T clear" in said) == (0, True), said
    assert (box.place / "out" / "clear.o").stat().st_size > 0


def test_its_exit_status_and_all_it_says_are_told(box: Box) -> None:
    assert box.run("echo out; echo err >&2; exit 3") == (3, "out\nerr\n")


def test_it_has_none_of_our_variables(box: Box, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SECRET", "hunter2")
    _, said = box.run("env")
    assert "GIVEN=yes" in said
    assert "SECRET" not in said


def test_it_reaches_no_network_not_even_this_machine(box: Box) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        status, said = box.run(
            f"bash -c 'exec 3<>/dev/tcp/127.0.0.1/{port}'; tail -n +3 /proc/net/dev"
        )
        server.settimeout(0.1)
        with pytest.raises(TimeoutError):
            server.accept()
    assert [line.split(":")[0].strip() for line in said.splitlines() if ":" in line][-1] == "lo"
    assert status == 0


def test_it_sees_no_process_and_no_file_of_ours(box: Box) -> None:
    _, said = box.run("ls -d /proc/[0-9]* | wc -l; ls /root /home /work 2>&1; cat /etc/shadow")
    assert int(said.split()[0]) < 6
    assert "No such file" in said


@pytest.mark.parametrize("where", ["/usr/x", "/build/source/x", "/x", "/etc/x", "/../x"])
def test_it_writes_where_it_may_and_nowhere_else(box: Box, where: str) -> None:
    status, _ = box.run(f"touch {where}")
    assert status != 0
    assert list((box.place / "source").iterdir()) == []


def test_one_that_never_ends_is_ended_with_all_it_started(box: Box) -> None:
    with pytest.raises(LimitReached, match="longer than 1 s"):
        box.run("setsid sleep 300 & sleep 300", Limits(seconds=1))
    nothing_left()


def test_what_it_leaves_behind_ends_with_it(box: Box) -> None:
    assert box.run("setsid sleep 300 >/dev/null 2>&1 & exit 0")[0] == 0
    nothing_left()


def test_one_that_forks_without_end_hurts_nobody(box: Box) -> None:
    limits = Limits(seconds=3, processes=60, output_bytes=1 << 20)
    with suppress(LimitReached):
        box.run("bomb() { bomb | bomb & }; bomb; sleep 60", limits)
    nothing_left()


def test_one_that_fills_the_disk_is_ended(box: Box) -> None:
    fill = "i=0; while :; do i=$((i+1)); head -c 8M /dev/zero >f$i; done"
    with pytest.raises(LimitReached, match="more than 64 MiB of disk"):
        box.run(fill)
    assert disk_use([box.place / "out"]).used_bytes < 2 << 30


def test_folders_too_deep_for_a_path_hide_nothing_and_are_removed(box: Box) -> None:
    """A path has 4,096 characters at most: what lay below was counted by nobody."""
    deep = "perl -e '$n = q(d) x 100; for (1..150) { mkdir $n; chdir $n }'"
    with pytest.raises(LimitReached, match="folders within folders, more than 100 deep"):
        box.run(deep)
    sandbox.remove(box.place / "out")
    assert not (box.place / "out").exists()


@pytest.mark.parametrize("place", ["/tmp", "/run", "/dev/shm"])
def test_files_in_memory_are_bounded(box: Box, place: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """700 MiB in /tmp and 300 in /dev/shm were written where 64 MiB were allowed."""
    monkeypatch.setattr(sandbox, "control_group", no_control_group)
    limits = replace(LIMITS, memory_bytes=64 << 20, file_bytes=1 << 30)
    _, said = box.run(f"head -c 300M /dev/zero >{place}/x; stat -c %s {place}/x", limits)
    assert int(said.split()[-1]) <= 8 << 20


def test_a_control_group_counts_files_in_memory(box: Box) -> None:
    with sandbox.control_group(1 << 30, 10) as group:
        if group is None:
            pytest.skip("this machine gives no control group")
    limits = replace(LIMITS, memory_bytes=256 << 20, file_bytes=1 << 30)
    eat = "head -c 30M /dev/zero >/tmp/x; perl -e '$x = q(x) x (235 << 20); sleep 9'"
    with pytest.raises(LimitReached, match="more than 256 MiB of memory"):
        box.run(eat, limits)


def test_a_file_without_a_name_counts(box: Box) -> None:
    limits = replace(LIMITS, file_bytes=1 << 30)
    hide = "exec 3>x; rm x; head -c 500M /dev/zero >&3; sleep 60"
    with pytest.raises(LimitReached, match="more than 64 MiB of disk"):
        box.run(hide, limits)


def test_files_without_content_count(box: Box) -> None:
    many = "perl -e 'for (1..20000) { open my $f, q(>), $_ }'; sleep 1"
    with pytest.raises(LimitReached, match="more than 10000 files"):
        box.run(many, replace(LIMITS, files=10_000))


def test_a_disk_that_is_nearly_full_ends_it(box: Box, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sandbox, "LEAST_FREE", 1 << 60)
    with pytest.raises(LimitReached, match="the disk has less than"):
        box.run("sleep 60")


def test_processes_are_counted_where_no_control_group_counts_them(
    box: Box, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sandbox, "control_group", no_control_group)
    monkeypatch.setattr(Sandbox, "_prlimit", lambda _self: ["prlimit", "--core=0", "--"])
    with pytest.raises(LimitReached, match="started more than 60 processes"):
        box.run("for i in $(seq 200); do sleep 60 & done; wait")
    nothing_left()


def test_a_person_s_other_programs_are_not_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sandbox, "_is_root", lambda: False)
    words = Sandbox(Path("/"), LIMITS)._prlimit()
    number = int(next(w for w in words if w.startswith("--nproc=")).split("=")[1])
    assert LIMITS.processes < number < LIMITS.processes + 5000


def test_a_control_group_is_gone_afterwards(box: Box) -> None:
    with sandbox.control_group(1 << 30, 60) as group:
        made = list(group.directories) if group else []
        assert all(directory.is_dir() for directory in made)
    assert not any(directory.exists() for directory in made)


def test_a_file_that_grows_too_large_is_cut_off(box: Box) -> None:
    status, _ = box.run("head -c 60M /dev/zero >big")
    assert status != 0
    assert (box.place / "out" / "big").stat().st_size <= 32 << 20


def test_one_that_prints_without_end_is_ended(box: Box) -> None:
    with pytest.raises(LimitReached, match="printed more than 1024 KiB"):
        box.run("yes")
    assert (box.place / "log").stat().st_size <= 1 << 20


def test_one_that_takes_all_memory_is_ended(box: Box) -> None:
    eat = "perl -e '$x = \"x\" x (300 << 20); sleep 60'"
    with pytest.raises(LimitReached, match="more than 200 MiB of memory"):
        box.run(eat, Limits(seconds=30, memory_bytes=200 << 20))
    nothing_left()


@pytest.mark.skipif(os.getuid() != 0, reason="only root runs builds as another user")
def test_a_place_that_is_closed_to_others_is_named(box: Box) -> None:
    box.place.chmod(0o700)
    with pytest.raises(NotReady, match=f"{box.place} is closed to others"):
        box.run("true")
