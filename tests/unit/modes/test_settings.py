"""Kinds of settings: how each reaches a boot or a guest, and what must be read back."""

from __future__ import annotations

import struct
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from mitigauge.measurement.catalog import Catalog
from mitigauge.measurement.modes.families import Mode
from mitigauge.measurement.modes.settings import Settings, merged
from tests.loading import load

readings = load("ansible/module_utils/mitigauge_readings.py")

ALL: dict[str, Any] = {
    "cmdline": ["vmscape=ibpb", "quiet"],
    "module_parameters": {"kvm": {"nx_huge_pages": "N", "halt_poll_ns": "0"}},
    "sysctls": {"vm.swappiness": "10", "net.ipv4.conf.all.rp_filter": "1"},
    "shows": {"sys/devices/system/cpu/smt/control": "off", "audit/enabled": "0"},
    "guest_cpu": "EPYC,+stibp,-avx,hv_relaxed=on",
    "guest_machine": "kernel_irqchip=split",
    "guest_devices": {"virtio-net-pci": {"packed": "on", "mrg_rxbuf": "off"}},
    "guest_vcpus": 2,
    "guest_memory_mb": 512,
    "guest_memory_backing": "hugepages",
    "guest_kernel": "6.12.48+deb13-cloud-amd64",
    "guest_options": ["mitigations=off", "nokaslr"],
    "guest_state": {"spectre_v2": "Vulnerable", "spectre_v1": "no swapgs barriers"},
    "guest_sandbox": "on",
    "guest_monitor": {"path": "/opt/qemu/bin/qemu-system-x86_64", "sha256": "ab" * 32},
}


def test_every_setting_of_the_host_is_a_word_of_the_command_line() -> None:
    assert Settings.model_validate(ALL).options() == (
        "vmscape=ibpb",
        "quiet",
        "kvm.nx_huge_pages=N",
        "kvm.halt_poll_ns=0",
        "sysctl.vm.swappiness=10",
        "sysctl.net.ipv4.conf.all.rp_filter=1",
    )


def test_what_is_read_back_names_file_and_value() -> None:
    readings = Settings.model_validate(ALL).readings()
    assert [(reading.path, reading.equals) for reading in readings] == [
        ("sys/module/kvm/parameters/nx_huge_pages", "N"),
        ("sys/module/kvm/parameters/halt_poll_ns", "0"),
        ("proc/sys/vm/swappiness", "10"),
        ("proc/sys/net/ipv4/conf/all/rp_filter", "1"),
        ("sys/devices/system/cpu/smt/control", "off"),
        ("audit/enabled", "0"),
    ]


def test_the_host_reads_each_of_these_files() -> None:
    for reading in Settings.model_validate(ALL).readings():
        assert readings.READABLE.fullmatch(reading.path)


def answer(kind: int, *fields: int) -> bytes:
    """A message of the kernel's about audit."""
    return struct.pack("=IHHII", 16 + 4 * len(fields), kind, 0, 1, 0) + struct.pack(
        f"={len(fields)}i", *fields
    )


def test_what_the_kernel_answers_about_audit_is_its_second_word() -> None:
    # mask, enabled, failure, pid, as a kernel of 6.12 sent them.
    assert readings.audit_answer(answer(1000, 0, 1, 1, 0)) == "1"
    assert readings.audit_answer(answer(1000, 0, 0, 1, 0)) == "0"


@pytest.mark.parametrize(
    ("message", "said"),
    [(answer(2, -1, 0), "Operation not permitted"), (b"", "too short"), (answer(3, 0, 1), "3")],
)
def test_another_answer_about_audit_proves_nothing(message: bytes, said: str) -> None:
    with pytest.raises(OSError, match=said):
        readings.audit_answer(message)


def test_this_kernel_answers_about_audit_or_the_reading_is_absent() -> None:
    [text] = readings.readings(Path("/"), ["audit/enabled"]).values()
    assert text in ("0", "1", "2", None)


def test_settings_of_a_guest_do_not_touch_the_host() -> None:
    guest = {kind: value for kind, value in ALL.items() if kind.startswith("guest_")}
    settings = Settings.model_validate({**guest, "guest_cpu": "EPYC"})
    assert (settings.options(), settings.readings()) == ((), ())
    assert settings.guest() == {
        "cpu": "EPYC",
        "machine.kernel_irqchip": "split",
        "devices": "virtio-net-pci.mrg_rxbuf=off,virtio-net-pci.packed=on",
        "vcpus": "2",
        "memory_mb": "512",
        "memory_backing": "hugepages",
        "kernel": "6.12.48+deb13-cloud-amd64",
        "options": "mitigations=off nokaslr",
        "state": "spectre_v1=no swapgs barriers & spectre_v2=Vulnerable",
        "sandbox": "on",
        "monitor": f"/opt/qemu/bin/qemu-system-x86_64 {'ab' * 32}",
    }


def test_stored_settings_are_the_same_again() -> None:
    settings = Settings.model_validate(ALL)
    assert Settings.model_validate(settings.model_dump(mode="json")) == settings
    assert Settings.model_validate({}) == Settings()


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        ("cmdline", ["a b"]),
        ("cmdline", ["x={{y}}"]),
        ("module_parameters", {"kvm": {"a/../b": "1"}}),
        ("module_parameters", {"kvm": {"a": "1 2"}}),
        ("module_parameters", {"../kvm": {"a": "1"}}),
        ("module_parameters", {"kvm": {"a": "{{ 1 }}"}}),
        ("module_parameters", {"kvm": {"a": "$(id)"}}),
        ("sysctls", {"swappiness": "1"}),
        ("sysctls", {"vm..x": "1"}),
        ("sysctls", {"vm.x": "a\nb"}),
        ("shows", {"audit/failure": "1"}),
        ("guest_devices", {"virtio-net-pci": {"romfile": "/etc/shadow"}}),
        ("guest_devices", {"virtio.net": {"packed": "on"}}),
        ("guest_devices", {"virtio-net-pci": {"a,b": "on"}}),
        ("guest_kernel", "../vmlinuz"),
        ("guest_kernel", "6.12 quiet"),
        ("guest_kernel", "-append"),
        ("guest_vcpus", 0),
        ("guest_vcpus", "2"),
        ("guest_vcpus", True),
        ("guest_memory_mb", 8),
        ("guest_memory_mb", 1 << 40),
        ("guest_memory_backing", "shared,path=/etc"),
        ("guest_cpu", "EPYC,,+x"),
        ("guest_cpu", "EPYC -machine"),
        ("guest_machine", "kernel_irqchip=maybe"),
        ("guest_machine", "type=q35"),
        ("guest_options", ["a b"]),
        ("guest_state", {"spectre_v2": "Vulnerable; STIBP: disabled"}),
        ("guest_state", {"spectre_v2": "a & b"}),
        ("guest_state", {"../spectre_v2": "Vulnerable"}),
        ("guest_sandbox", "on,spawn=allow"),
        ("guest_monitor", {"path": "/opt/../bin/sh", "sha256": "ab" * 32}),
        ("guest_monitor", {"path": "qemu", "sha256": "ab" * 32}),
        ("guest_monitor", {"path": "/opt/qemu", "sha256": "ab"}),
        ("guest_monitor", {"path": "/opt/qemu"}),
        ("bios", "x"),
    ],
)
def test_what_is_no_setting_is_refused(kind: str, value: object) -> None:
    with pytest.raises(ValidationError):
        Settings.model_validate({kind: value})


def test_a_mode_that_nothing_proves_is_refused() -> None:
    with pytest.raises(ValidationError, match="nothing proves it"):
        Mode.model_validate({"settings": {"cmdline": ["quiet"]}})


def test_an_option_of_a_guest_proves_nothing_by_itself() -> None:
    asked = {"guest_options": ["spectre_v2=off"]}
    with pytest.raises(ValidationError, match="an option proves nothing: give `guest_state`"):
        Mode.model_validate({"settings": asked})
    Mode.model_validate({"settings": {**asked, "guest_state": {"spectre_v2": "Vulnerable"}}})


def test_every_mode_of_the_project_is_provable() -> None:
    for family in Catalog().families.values():
        for mode in family.modes.values():
            assert mode.expect or mode.settings.describe()


def test_merged_settings_hold_all_of_them() -> None:
    kinds = {
        "cmdline": ["spectre_bhi=off"],
        "module_parameters": {"kvm": {"mmio_caching": "Y"}, "tun": {"x": "1"}},
        "sysctls": {"vm.dirty_ratio": "10"},
    }
    other = Settings.model_validate(kinds)
    both = merged([Settings.model_validate(ALL), other])
    assert set(both.options()) == {*Settings.model_validate(ALL).options(), *other.options()}
    assert both.guest() == Settings.model_validate(ALL).guest()


@pytest.mark.parametrize(
    "again",
    [
        {"cmdline": ["vmscape=off"]},
        {"module_parameters": {"kvm": {"nx_huge_pages": "Y"}}},
        {"sysctls": {"vm.swappiness": "1"}},
        {"guest_cpu": "host"},
        {"guest_machine": "kernel_irqchip=on"},
    ],
)
def test_the_same_thing_set_twice_is_refused(again: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="two of its modes set"):
        merged([Settings.model_validate(ALL), Settings.model_validate(again)])
