"""Packages on a host, by programs that stand for apt and GRUB's."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.loading import load

packages = load("ansible/module_utils/mitigauge_packages.py")


# As apt does: what it starts has the path of its options, else one of its own (DPkg::Path).
OWN_PATH = """
PATH=$(dirname "$LOG"):/usr/bin:/bin
for word in "$@"; do case $word in DPkg::Path=*) PATH=${word#DPkg::Path=} ;; esac; done
"""
MENUS = "update-grub; update-grub"


class Host:
    """Programs that write down that they ran; packages have GRUB's menu written, as kernels do."""

    def __init__(self, directory: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self._directory, self._log = directory, directory / "log"
        self._log.write_text("")
        monkeypatch.setitem(packages.ENVIRONMENT, "PATH", f"{directory}:/usr/bin:/bin")
        monkeypatch.setattr(packages, "note", lambda _field, _values: None)
        self.write("apt-get", f'{OWN_PATH}\n{MENUS}\necho "apt-get ended" >>"$LOG"')
        self.write("update-grub", 'echo "menu written" >>"$LOG"')

    def write(self, name: str, text: str) -> None:
        program = self._directory / name
        program.write_text(f"#!/bin/sh\nLOG={self._log}\n{text}\n")
        program.chmod(0o755)

    def remove(self, name: str) -> None:
        (self._directory / name).unlink()

    def log(self) -> list[str]:
        return self._log.read_text().splitlines()


@pytest.fixture
def host(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Host:
    return Host(tmp_path, monkeypatch)


def test_grubs_menu_is_written_once_behind_all_packages(host: Host) -> None:
    packages.apt_with_one_menu("install", "one", "two")
    assert host.log() == ["apt-get ended", "menu written"]


def test_without_it_each_package_has_the_menu_written(host: Host) -> None:
    packages.apt("install", "one")
    assert host.log() == ["menu written", "menu written", "apt-get ended"]


def test_the_menu_is_written_where_apt_refuses_and_what_it_said_is_told(host: Host) -> None:
    host.write("apt-get", "echo no such package >&2; exit 100")
    with pytest.raises(packages.PackageError, match="apt-get install one: no such package"):
        packages.apt_with_one_menu("install", "one")
    assert host.log() == ["menu written"]


def test_a_menu_that_cannot_be_written_is_told(host: Host) -> None:
    host.write("update-grub", "echo the disk is full >&2; exit 1")
    with pytest.raises(packages.PackageError, match="update-grub: the disk is full"):
        packages.apt_with_one_menu("install", "one")


def test_a_host_without_grub_has_no_menu(host: Host) -> None:
    host.remove("update-grub")
    host.write("apt-get", 'echo "$@" | grep -c DPkg::Path >>"$LOG" || true')
    packages.apt_with_one_menu("install", "one")
    assert host.log() == ["0"]


def test_files_are_installed_together_with_one_menu(host: Host) -> None:
    packages.install_files(["/tmp/one.deb", "/tmp/two.deb"], ["one", "two"])
    # The first is the simulation, which on a real host runs nothing.
    assert host.log()[2:] == ["apt-get ended", "apt-get ended", "menu written"]


def test_what_stands_for_the_program_runs_from_anywhere(host: Host) -> None:
    link = 'it=$(command -v update-grub); readlink "$it" >>"$LOG"; "$it"; echo "$?" "$it" >>"$LOG"'
    host.write("apt-get", f"{OWN_PATH}\n{link}")
    packages.apt_with_one_menu("install", "one")
    target, ended, _ = host.log()
    code, stand_in = ended.split()
    assert (target, code) == ("/bin/true", "0")
    assert not Path(stand_in).exists()


INTERRUPTED = (
    'if [ -e "$LOG.whole" ]; then echo "apt-get ended" >>"$LOG"; exit 0; fi\n'
    "echo \"E: dpkg was interrupted, you must manually run 'dpkg --configure -a'\" >&2; exit 100"
)


def test_packages_that_a_host_left_half_done_are_done_first(host: Host) -> None:
    host.write("apt-get", INTERRUPTED)
    host.write("dpkg", 'echo "dpkg $*" >>"$LOG"; touch "$LOG.whole"')
    packages.apt("install", "one")
    assert host.log() == ["dpkg --configure -a", "apt-get ended"]


def test_what_cannot_be_done_is_told_once(host: Host) -> None:
    host.write("apt-get", INTERRUPTED)
    host.write("dpkg", 'echo "dpkg $*" >>"$LOG"')
    with pytest.raises(packages.PackageError, match="apt-get install one: E: dpkg was interrupted"):
        packages.apt("install", "one")
    assert host.log() == ["dpkg --configure -a"]
