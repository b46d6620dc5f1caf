"""Kernels for real hosts are configured as these are; for emulated ones as the lab."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

from mitigauge.core.errors import InvalidInput, NotFound
from mitigauge.kernels import host_config
from mitigauge.measurement.fleet import kernel_profiles
from mitigauge.measurement.fleet.kernel_profiles import profile_for, profile_on
from mitigauge.measurement.fleet.service import HostVars
from tests.specs import inventory

LAB = list(inventory("lab-amd", "lab-intel").values())
REAL = [
    replace(host, emulated=False, environment="racks")
    for host in inventory("icx-01", "rome-01").values()
]
CONFIG = "CONFIG_SATA_AHCI=m\nCONFIG_EXT4_FS=y\n"


@pytest.fixture(autouse=True)
def racks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def load(environment: str) -> dict[str, HostVars]:
        return {host.name: host for host in {"lab": LAB, "racks": REAL}[environment]}

    monkeypatch.setattr(host_config, "get_settings", lambda: SimpleNamespace(home=tmp_path))
    monkeypatch.setattr(kernel_profiles, "load_hosts", load)


@pytest.mark.parametrize(
    ("asked", "hosts", "name"),
    [
        ("", LAB, "lab"),
        ("", REAL, "as-host:racks/icx-01,rome-01"),
        ("", REAL[::-1], "as-host:racks/icx-01,rome-01"),
        ("", REAL[1:], "as-host:racks/rome-01"),
        ("", [], "lab"),
        ("as-host", LAB[:1], "as-host:lab/lab-amd"),
        ("as-host+local", REAL, "as-host:racks/icx-01,rome-01+local"),
        ("as-host:racks/icx-01", REAL, "as-host:racks/icx-01"),
        ("lab", REAL, "lab"),
    ],
)
def test_hosts_decide_where_no_profile_is_named(
    asked: str, hosts: list[HostVars], name: str
) -> None:
    assert profile_on(asked, hosts) == name


def test_of_emulated_and_real_hosts_together_a_person_decides() -> None:
    with pytest.raises(InvalidInput, match="icx-01, rome-01 are real hosts") as mixed:
        profile_on("", [*LAB, *REAL])
    assert "no one profile is taken by itself" in str(mixed.value)
    assert "--profile as-host" in str(mixed.value.hint)
    with pytest.raises(InvalidInput, match="no host to stand for"):
        profile_on("as-host", [])


def test_a_kernel_for_real_hosts_that_nobody_checked_is_refused_with_the_way_out() -> None:
    host_config.keep("racks", "icx-01", CONFIG)
    with pytest.raises(NotFound, match="racks/rome-01 is not known") as unknown:
        profile_for("", "racks")
    assert "mitigauge host check HOST --environment racks" in str(unknown.value.hint)
    assert "CONFIG_SATA_AHCI=m" in profile_for("", "racks", ["icx-01"]).text
    assert profile_for("", "lab").name == "lab"
