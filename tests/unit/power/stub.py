"""A program in the place of ipmitool, and values for it."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from mitigauge.measurement.fleet.power_values import IpmiConsoleValues
from pipelines.adapters.power import PowerControl, open_power
from tests.lab import controllers


def opened(values: dict[str, Any], **more: Any) -> PowerControl:
    """The power control of *values*, with *more* of them."""
    return open_power({"mitigauge_power": values | more})


def stub(directory: Path, monkeypatch: pytest.MonkeyPatch, script: str) -> dict[str, Any]:
    """Values for an ``ipmitool`` that is *script*."""
    program = directory / "bin" / "ipmitool"
    program.parent.mkdir()
    program.write_text(f"#!/bin/sh\ncd {directory}\n{script}\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}:{os.environ['PATH']}")
    return {
        "driver": "ipmi",
        "address": "bmc1",
        "user": "ops",
        "password_file": str(controllers.password_file(directory)),
    }


def console_values(directory: Path, **more: Any) -> IpmiConsoleValues:
    """Values of a console by serial over LAN."""
    password = str(controllers.password_file(directory))
    return IpmiConsoleValues(
        kind="ipmi-sol", address="bmc1", user="ops", password_file=password, **more
    )
