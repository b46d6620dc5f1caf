"""`mitigauge host check --try` on a host that boots for real, and what it leaves there."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from sqlalchemy import Engine
from typer.testing import CliRunner

from cli.host import app
from lab import service
from lab.hosts import LabPaths
from lab.progress import Silent
from mitigauge.core.settings import get_settings
from mitigauge.storage.database.engine import get_engine
from tests.lab.conftest import Lab

pytestmark = pytest.mark.lab

HOST = "lab-intel"
# Everything that a boot of ours could touch; files by their content.
STATE = """
find /boot /etc /opt /var/lib/mitigauge -xdev -type f -exec sha256sum {} + 2>/dev/null | sort -k 2
grub-editenv list
dpkg-query -W -f '${Package} ${Version}\n'
systemctl list-unit-files --no-legend --no-pager --plain
uname -r
cat /proc/cmdline
ls /var/lib
"""


@pytest.fixture(scope="module")
def one_host() -> Iterator[Lab]:
    """The host up, and down after the tests where they started it."""
    paths = LabPaths.of(get_settings())
    started = service.up(paths, Silent(), names=(HOST,))
    yield Lab(paths)
    if started:
        service.down(paths, Silent(), names=started)


@pytest.fixture(scope="module")
def stored(module_engine: tuple[Engine, str]) -> Iterator[None]:
    """The command's database: one of the tests' own, where no run holds the host."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("MITIGAUGE_DATABASE_URL", module_engine[1])
        forget()
        yield
    forget()


def forget() -> None:
    """What this process remembers of settings and database."""
    if get_engine.cache_info().currsize:
        get_engine().dispose()
    get_engine.cache_clear()
    get_settings.cache_clear()


def tried() -> tuple[int, dict[str, dict[str, Any]]]:
    """The command's status, and its items by name."""
    said = CliRunner().invoke(app, ["check", HOST, "--try", "--json"])
    assert said.stdout, said.exception
    items = {item["name"]: item for item in json.loads(said.stdout)}
    for name in ("proven boot", "fallback", "trial", "restore"):
        print(f"  {name}: {items.get(name)}", flush=True)
    return said.exit_code, items


@pytest.mark.usefixtures("stored")
def test_a_trial_boots_once_and_leaves_the_host_as_it_was(one_host: Lab) -> None:
    state, before = one_host.run(HOST, STATE), one_host.boot_id(HOST)
    line = one_host.console(HOST)
    offset = line.offset()

    status, items = tried()

    assert {name: item for name, item in items.items() if item["state"] == "missing"} == {}
    assert status == 0
    kernel = items["known-good kernel"]["found"]
    assert kernel in items["proven boot"]["found"]
    assert f"its own kernel {kernel}" in items["fallback"]["found"]
    assert "after a power cycle" in items["fallback"]["found"]
    # The host's own line saw both boots, the first of them with a nonce.
    said = line.tail(line.offset() - offset)
    starts = [text for text in said.splitlines() if "Command line:" in text]
    assert ["mitigauge.nonce=" in text for text in starts] == [True, False]
    assert one_host.boot_id(HOST) != before
    assert one_host.run(HOST, STATE).splitlines() == state.splitlines()


@pytest.mark.usefixtures("stored")
def test_a_host_that_refuses_the_entry_is_not_rebooted(one_host: Lab) -> None:
    before = one_host.boot_id(HOST)
    # Of somebody else's, and broken: GRUB could read no entry behind it.
    one_host.run(HOST, "echo 'menuentry broken {' > /boot/grub/custom.cfg")
    try:
        status, items = tried()
        kept = one_host.run(HOST, "cat /boot/grub/custom.cfg; ls /var/lib")
    finally:
        # The next test switches the host off, which would bring the file back.
        one_host.run(HOST, "rm /boot/grub/custom.cfg && sync")

    assert status == 1
    assert "grub-script-check" in items["trial"]["found"]
    assert "proven boot" not in items
    assert "fallback" not in items
    assert one_host.boot_id(HOST) == before
    assert "menuentry broken" in kept
    assert "mitigauge" not in kept


@pytest.mark.usefixtures("stored")
def test_a_host_that_is_off_is_said_to_be_off_and_left_so(one_host: Lab) -> None:
    before, power = one_host.boot_id(HOST), one_host.power(HOST)
    power.off()
    try:
        status, items = tried()
        assert not power.is_on()
    finally:
        power.on()
        one_host.wait_for_boot(HOST, before)

    assert status == 1
    assert items["ssh"]["state"] == "missing"
    assert items["power"]["found"] == "qemu: off"
    assert "first mend what is missing" in items["trial"]["found"]
