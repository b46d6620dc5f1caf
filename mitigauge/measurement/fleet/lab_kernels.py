"""Kernels that boot emulated hosts alone."""

from __future__ import annotations

from collections.abc import Iterable

from mitigauge.core.errors import InvalidInput
from mitigauge.measurement.fleet.service import HostVars

# The config profile that comes with us: no disk of a server, no network card, no module.
LAB_PROFILE = "lab"


def require_bootable(profile: str, kernel: str, hosts: Iterable[HostVars]) -> None:
    """Raises :class:`InvalidInput` for a kernel of the lab's profile on a real host."""
    real = [host.name for host in hosts if not host.emulated]
    if profile == LAB_PROFILE and real:
        raise InvalidInput(
            f"{kernel} has the config profile {LAB_PROFILE!r}, which boots emulated hosts alone: "
            f"drivers of disk and network card of {', '.join(real)} are not in it",
            hint="Build it with the host's own configuration, which `mitigauge host check` keeps: "
            "`--profile as-host:ENVIRONMENT/HOST`.",
        )
