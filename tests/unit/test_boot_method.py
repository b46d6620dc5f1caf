"""How hosts come from boot to boot, as their inventory says."""

from __future__ import annotations

import pytest

from mitigauge.core.errors import InvalidInput
from mitigauge.measurement.fleet.boot_method import BootMethod, HostBoots
from mitigauge.measurement.fleet.service import HostVars, host_vars


def of(**variables: str) -> HostVars:
    return host_vars("alpha", "lab", variables, boot_timeout_s=1.0)


@pytest.mark.parametrize(
    ("boots", "methods"),
    [
        ("reset", ["reset", "reset", "reset"]),
        ("kexec", ["kexec", "kexec", "kexec"]),
        ("reset-then-kexec", ["reset", "kexec", "kexec"]),
    ],
)
def test_a_host_says_how_the_boots_of_a_block_are_made(boots: str, methods: list[str]) -> None:
    host = of(mitigauge_boot=boots)
    assert [host.boots.method_of(place) for place in (1, 2, 3)] == methods


def test_a_host_that_says_nothing_boots_by_reset() -> None:
    assert of().boots is HostBoots.RESET
    assert HostBoots.RESET.method_of(2) is BootMethod.RESET


def test_an_unknown_way_to_boot_is_refused() -> None:
    with pytest.raises(InvalidInput, match=r"mitigauge_boot is 'warm'.*'reset-then-kexec'"):
        of(mitigauge_boot="warm")
