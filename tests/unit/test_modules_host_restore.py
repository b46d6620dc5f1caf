"""What roles note before they change a host, and what is put back of it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.loading import load

changes = load("ansible/module_utils/mitigauge_changes.py")
packages = load("ansible/module_utils/mitigauge_packages.py")
restore = load("ansible/roles/host_restore/library/host_restore.py")

# As apt-get of Debian 12 says it, less what is not read.
SIMULATED = """\
The following NEW packages will be installed:
  linux-perf libtraceevent1
Inst libtraceevent1 (1:1.7.1-1 Debian:12.12/oldstable [amd64])
Inst libc6 [2.36-9+deb12u10] (2.36-9+deb12u13 Debian:12.12/oldstable [amd64]) []
Inst linux-perf (6.1.148-1 Debian:12.12/oldstable [amd64])
Remv old-thing [1.0]
Purg older-thing:i386 [2.0]
Conf libtraceevent1 (1:1.7.1-1 Debian:12.12/oldstable [amd64])
"""


@pytest.fixture
def record(tmp_path: Path) -> Path:
    """A record below a root of its own."""
    return tmp_path / "var/lib/mitigauge/changes.json"


@pytest.fixture
def commands(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, ...]]:
    """Commands that would have been run on the host."""
    ran: list[tuple[str, ...]] = []

    def run(*command: str, check: bool = True) -> str:
        ran.append(command)
        return ""

    monkeypatch.setattr(restore, "run", run)
    return ran


def test_the_first_note_tells_what_was_the_hosts_own(record: Path) -> None:
    assert changes.note("grub", {"saved_entry": "0", "next_entry": None}, record)
    assert not changes.note("grub", {"saved_entry": "mitigauge-arm"}, record)
    assert changes.read(record) == {"grub": {"saved_entry": "0", "next_entry": None}}


def test_a_record_that_is_not_there_says_that_nothing_was_changed(record: Path) -> None:
    assert changes.read(record) == {}


@pytest.mark.parametrize(
    ("text", "said"),
    [("{", "cannot be read"), ("[]", "cannot be read"), ('{"version": 9}', "version 9")],
)
def test_a_record_that_cannot_be_understood_is_refused(record: Path, text: str, said: str) -> None:
    record.parent.mkdir(parents=True)
    record.write_text(text)
    with pytest.raises(changes.ChangesError, match=said):
        changes.read(record)


@pytest.mark.parametrize(
    "path", ["/opt/other/guest", "/mitigauge", "/opt/../mitigauge", "x/mitigauge/y"]
)
def test_a_path_that_nobody_could_tell_from_the_hosts_own_is_not_noted(
    record: Path, path: str
) -> None:
    with pytest.raises(changes.ChangesError, match="choose another path"):
        changes.note_paths([path], record)
    assert not record.exists()


def test_what_apt_would_do_is_told_apart() -> None:
    assert packages.planned(SIMULATED) == (
        ["libtraceevent1", "linux-perf"],
        {"libc6": "2.36-9+deb12u10"},
    )
    assert packages.removed(SIMULATED) == ["old-thing", "older-thing:i386"]


def test_packages_that_would_push_out_one_of_the_hosts_are_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    noted: list[Any] = []
    monkeypatch.setattr(packages, "apt", lambda *_: SIMULATED)
    monkeypatch.setattr(packages, "note", lambda *said: noted.append(said))
    with pytest.raises(packages.PackageError, match="would remove old-thing, older-thing:i386"):
        packages.install(["linux-perf"])
    assert noted == []


def test_packages_are_noted_before_they_are_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    order: list[Any] = []

    def apt(*words: str) -> str:
        order.append(words)
        return SIMULATED.replace("Remv", "").replace("Purg", "")

    monkeypatch.setattr(packages, "apt", apt)
    monkeypatch.setattr(packages, "note", lambda *said: order.append(said))
    packages.install(["linux-perf"])
    assert order == [
        ("update",),
        ("--simulate", "install", "linux-perf"),
        ("packages", {"libtraceevent1": None, "linux-perf": None}),
        ("upgraded", {"libc6": "2.36-9+deb12u10"}),
        ("install", "linux-perf"),
    ]


def made(root: Path, *names: str) -> None:
    for name in names:
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("x")


def host(record: Path, root: Path, **noted: Any) -> Any:
    changes.write(noted, record)
    return restore.Host(record=record, root=root)


def test_everything_noted_is_put_back_and_nothing_else(
    tmp_path: Path, record: Path, commands: list[tuple[str, ...]]
) -> None:
    ours = "/etc/default/grub.d/mitigauge.cfg"
    made(tmp_path, "etc/default/grub.d/mitigauge.cfg", "etc/default/grub", "opt/mitigauge/guest/a")
    made(tmp_path, "usr/local/libexec/theirs", "usr/local/libexec/mitigauge-guest-network")
    said = host(
        record,
        tmp_path,
        paths={ours: None, "/opt/mitigauge/guest": None,
               "/usr/local/libexec/mitigauge-guest-network": None},
        directories=dict.fromkeys(("/etc/default/grub.d", "/opt/mitigauge", "/usr/local/libexec")),
        units={"mitigauge-guest-network.service": None},
        grub={"saved_entry": "1>2", "next_entry": None},
    ).restore()  # fmt: skip
    left = {str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*") if path.is_file()}
    assert left == {"etc/default/grub", "usr/local/libexec/theirs"}
    # A directory that was made for us stays where others use it by now.
    assert not (tmp_path / "opt/mitigauge").exists()
    assert not record.parent.exists()
    grubenv = str(tmp_path / "boot/grub/grubenv")
    assert ("update-grub",) in commands
    assert commands.index(("update-grub",)) < commands.index(
        ("grub-editenv", grubenv, "set", "saved_entry=1>2")
    )
    assert ("grub-editenv", grubenv, "unset", "next_entry") in commands
    assert ("systemctl", "disable", "--now", "mitigauge-guest-network.service") in commands
    assert {each["name"] for each in said} >= {ours, "GRUB's saved_entry", "/opt/mitigauge"}


def test_a_second_time_finds_nothing(
    tmp_path: Path, record: Path, commands: list[tuple[str, ...]]
) -> None:
    first = host(record, tmp_path, grub={"saved_entry": None})
    assert first.restore()
    assert restore.Host(record=record, root=tmp_path).restore() == []


def test_a_record_that_names_what_is_not_ours_removes_nothing_of_it(
    tmp_path: Path, record: Path, commands: list[tuple[str, ...]]
) -> None:
    made(tmp_path, "etc/passwd")
    said = host(
        record, tmp_path, paths={"/etc/passwd": None}, units={"ssh.service": None}
    ).restore()
    assert (tmp_path / "etc/passwd").exists()
    assert {each["name"] for each in said if each["left"]} == {"/etc/passwd", "unit ssh.service"}
    assert not any("ssh.service" in command for command in commands)


def test_what_was_cut_off_goes_on_where_it_was(
    tmp_path: Path, record: Path, commands: list[tuple[str, ...]], monkeypatch: pytest.MonkeyPatch
) -> None:
    cut = host(record, tmp_path, units={"mitigauge-x.service": None}, packages={"perf": None})

    def refuse(*_: str) -> str:
        raise packages.PackageError("dpkg was interrupted")

    monkeypatch.setattr(restore, "installed", lambda _: True)
    monkeypatch.setattr(restore, "apt", refuse)
    with pytest.raises(packages.PackageError):
        cut.restore()
    assert json.loads(record.read_text()) == {"version": 1, "packages": {"perf": None}}


@pytest.fixture
def apt(monkeypatch: pytest.MonkeyPatch) -> Callable[[dict[str, str]], list[tuple[str, ...]]]:
    """An apt that takes with each package those that need it."""

    def with_needed_by(needed_by: dict[str, str]) -> list[tuple[str, ...]]:
        ran: list[tuple[str, ...]] = []

        def answer(*words: str) -> str:
            ran.append(words)
            names = words[2:] if words[0] == "--simulate" else ()
            going = [*names, *(needed_by[name] for name in names if name in needed_by)]
            return "".join(f"Purg {name} [1.0]\n" for name in going)

        monkeypatch.setattr(restore, "apt", answer)
        return ran

    return with_needed_by


def test_a_package_that_another_needs_by_now_stays(
    apt: Callable[[dict[str, str]], list[tuple[str, ...]]],
) -> None:
    apt({"libiperf0": "theirs", "iperf3": "libiperf-tools"})
    ours = ["iperf3", "libiperf-tools", "libiperf0"]
    assert restore.removable(ours) == (["iperf3", "libiperf-tools"], ["libiperf0"])


def test_packages_that_nobody_else_needs_are_asked_for_once(
    apt: Callable[[dict[str, str]], list[tuple[str, ...]]],
) -> None:
    ran = apt({"a": "b"})
    assert restore.removable(["a", "b"]) == (["a", "b"], [])
    assert ran == [("--simulate", "purge", "a", "b")]
