"""docs/hosts.md names every driver, kind and key, and what it shows is a valid inventory."""

from __future__ import annotations

from typing import Any

import pytest
from ruamel.yaml import YAML

from mitigauge.measurement.fleet.power_values import CONSOLE_KINDS, POWER_DRIVERS
from mitigauge.measurement.fleet.service import host_vars
from pipelines.adapters.console import open_console
from pipelines.adapters.power import open_power
from tests.unit.docs.pages import blocks, page, section, spans

PAGE = section(page("docs/hosts.md"), "Power and console of a host")
SHOWN: dict[str, dict[str, Any]] = {
    host: variables
    for block in blocks(PAGE)
    if block.language == "yaml"
    for host, variables in YAML(typ="safe").load(block.text).items()
}


@pytest.mark.parametrize("host", SHOWN)
def test_what_the_page_shows_is_taken(host: str) -> None:
    found = host_vars(host, "rack", SHOWN[host], boot_timeout_s=60)
    assert found.power or found.console
    if found.power:
        open_power(found.variables)
    if found.console:
        assert open_console(found) is not None


def test_every_driver_is_shown() -> None:
    shown = {v["mitigauge_power"]["driver"] for v in SHOWN.values() if "mitigauge_power" in v}
    assert shown == set(POWER_DRIVERS) - {"qemu"}


def test_every_kind_of_console_is_named() -> None:
    assert set(CONSOLE_KINDS) <= set(spans(section(PAGE, "Consoles")))


def test_every_key_is_named() -> None:
    keys = {
        key
        for model in [*POWER_DRIVERS.values(), *CONSOLE_KINDS.values()]
        if model is not POWER_DRIVERS["qemu"]
        for key in model.model_fields
    }
    shown = {
        key for v in SHOWN.values() for each in v.values() if isinstance(each, dict) for key in each
    }
    assert keys - shown - set(spans(PAGE)) <= {"kind"}
