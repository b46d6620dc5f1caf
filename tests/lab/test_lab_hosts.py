"""Emulated hosts really boot, show what they are there to show, and obey their power."""

from __future__ import annotations

import json
import time

import pytest
from ruamel.yaml import YAML
from typer.testing import CliRunner

from cli.host import app as host_app
from cli.lab import app
from lab import service
from lab.progress import Silent
from tests.lab.conftest import Lab

pytestmark = pytest.mark.lab

SPECTRE_V2 = "cat /sys/devices/system/cpu/vulnerabilities/spectre_v2"
# With eIBRS claimed by hand the kernel leaves BHI to software, as on real processors of that age.
BHI_COMPARABLE = ("setcpuid=ibrs_enhanced", "spectre_v2=eibrs", "pti=off")


def test_each_host_runs_the_kernel_of_the_recipe_from_its_own_grub(lab: Lab) -> None:
    for name in ("lab-amd", "lab-intel"):
        assert lab.run(name, "hostname").strip() == name
        assert lab.run(name, "uname -r").startswith("7.2.")
        assert "BOOT_IMAGE=" in lab.run(name, "cat /proc/cmdline")


def test_the_amd_host_nests_and_takes_itself_for_bare_metal(lab: Lab) -> None:
    lab.run("lab-amd", "test -c /dev/kvm && test -c /dev/net/tun && test -c /dev/vhost-net")
    lab.run("lab-amd", "modprobe -a tun vhost_net bridge")
    assert " hypervisor " not in lab.run("lab-amd", "grep -m1 ^flags /proc/cpuinfo")
    vmscape = lab.run("lab-amd", "cat /sys/devices/system/cpu/vulnerabilities/vmscape").strip()
    assert vmscape in {"Vulnerable", "Mitigation: IBPB before exit to userspace"}


def test_every_host_has_a_watchdog_that_resets_it(lab: Lab) -> None:
    for name in ("lab-amd", "lab-intel"):
        identity = lab.run(name, "cat /sys/class/watchdog/watchdog0/identity")
        assert "i6300ESB" in identity


def test_perf_measures_system_calls(lab: Lab) -> None:
    said = lab.run("lab-intel", "perf bench -f simple syscall basic --loop 100000")
    assert float(said.split()[-1]) > 0


@pytest.mark.parametrize(("bhi", "effect"), [("off", "Vulnerable"), ("on", "SW loop")])
def test_the_intel_host_switches_the_bhb_clearing_loop(lab: Lab, bhi: str, effect: str) -> None:
    command_line = lab.boot_once("lab-intel", (*BHI_COMPARABLE, f"spectre_bhi={bhi}"))

    assert f"spectre_bhi={bhi}" in command_line
    assert f"BHI: {effect}" in lab.run("lab-intel", SPECTRE_V2)


def test_a_one_shot_entry_is_used_once(lab: Lab) -> None:
    assert "once=1" in lab.boot_once("lab-intel", ("once=1",))
    before = lab.boot_id("lab-intel")

    lab.power("lab-intel").cycle()

    lab.wait_for_boot("lab-intel", before)
    assert "once=1" not in lab.run("lab-intel", "cat /proc/cmdline")


def test_a_power_cycle_boots_anew_and_the_serial_line_tells_of_it(lab: Lab) -> None:
    power, line = lab.power("lab-amd"), lab.console("lab-amd")
    before = lab.boot_id("lab-amd")
    offset = line.offset()

    power.cycle()

    assert lab.wait_for_boot("lab-amd", before) != before
    said = line.tail(line.offset() - offset)
    assert "Loading Linux" in said  # GRUB
    assert "Linux version 7.2." in said


def test_a_host_powered_off_is_silent_until_it_is_powered_on(lab: Lab) -> None:
    power, line = lab.power("lab-amd"), lab.console("lab-amd")
    before = lab.boot_id("lab-amd")

    power.off()
    power.off()

    assert not power.is_on()
    offset = line.offset()
    time.sleep(3)
    assert line.offset() == offset
    power.on()
    assert power.is_on()
    assert lab.wait_for_boot("lab-amd", before) != before


def test_a_host_that_powers_itself_off_can_be_powered_on(lab: Lab) -> None:
    power = lab.power("lab-intel")
    before = lab.boot_id("lab-intel")

    lab.send("lab-intel", "sleep 1; systemctl poweroff")
    deadline = time.monotonic() + 90
    while power.is_on() and time.monotonic() < deadline:
        time.sleep(0.5)

    assert not power.is_on()
    power.on()
    assert lab.wait_for_boot("lab-intel", before) != before


def test_a_host_whose_kernel_crashes_comes_back_by_itself(lab: Lab) -> None:
    before = lab.boot_id("lab-amd")
    line = lab.console("lab-amd")
    offset = line.offset()

    lab.send("lab-amd", "sync; echo c > /proc/sysrq-trigger")

    assert lab.wait_for_boot("lab-amd", before) != before
    assert "Kernel panic" in line.tail(line.offset() - offset)


def test_up_leaves_running_hosts_alone(lab: Lab) -> None:
    before = lab.boot_id("lab-amd")

    assert service.up(lab.paths, Silent()) == []

    assert lab.boot_id("lab-amd") == before
    hosts = YAML(typ="safe").load(lab.paths.inventory)["all"]["hosts"]
    assert hosts["lab-amd"] == lab.variables("lab-amd")


def test_status_tells_how_the_hosts_stand(lab: Lab) -> None:
    hosts = json.loads(CliRunner().invoke(app, ["status", "--json"]).stdout)

    assert [host["name"] for host in hosts] == ["lab-amd", "lab-intel"]
    for host in hosts:
        assert host["power"] == "on"
        assert host["accel"] in {"tcg", "kvm"}
        assert host["kernel"].startswith("7.2.")
        assert host["uptime_s"] > 0


def test_the_console_log_holds_the_boot(lab: Lab) -> None:
    said = CliRunner().invoke(app, ["console", "lab-intel", "--log", "-n", "2000"]).stdout

    assert "Linux version 7.2." in said


def test_a_check_finds_all_that_a_run_needs(lab: Lab) -> None:
    before = lab.run("lab-intel", "cat /boot/grub/grubenv; ls /boot/grub /etc/default/grub.d")
    said = CliRunner().invoke(host_app, ["check", "lab-intel", "--json"])
    items = {item["name"]: item for item in json.loads(said.stdout)}
    assert [item for item in items.values() if item["state"] == "missing"] == []
    assert said.exit_code == 0
    assert items["one-shot boot"]["state"] == "ok"
    assert items["modes of spectre-bhi"]["found"] == "possible: off, loop"
    after = lab.run("lab-intel", "cat /boot/grub/grubenv; ls /boot/grub /etc/default/grub.d")
    assert after == before
