"""``mitigauge host check``: everything a run needs of a host, from this side to its firmware."""

from __future__ import annotations

import socket
import time
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from mitigauge.core.errors import MitigaugeError
from mitigauge.kernels import host_config
from mitigauge.measurement.catalog import Catalog
from mitigauge.measurement.fleet import check
from mitigauge.measurement.fleet.check import Item, State
from pipelines.adapters.ansible_host import AnsibleHost

CONNECT_TIMEOUT_S = 10.0


def checked(host: AnsibleHost, catalog: Catalog, tell: Callable[[str], None]) -> Iterator[Item]:
    """Every item, as it is found; what stands on something that is missing is left out.

    *tell* is told what is being looked at. Nothing is changed. Raises nothing.
    """
    tell("its SSH port")
    reached = _reached(host)
    yield reached
    tell("its power")
    yield from _power(host)
    tell("its console")
    yield console_item(host)
    if reached.state is not State.OK:
        return
    tell("the host itself, over Ansible")
    try:
        facts = host.check(_reads(catalog))
    except MitigaugeError as error:
        yield _unplayed(error)
        return
    yield Item("ansible", State.OK, f"Python {facts['python']}, kernel {facts['kernel_release']}")
    yield from check.items(facts, now=time.time(), clock=host.host.clock)
    yield from check.modes(facts, catalog.families.values())
    cpus = str(host.host.for_plays.get("mitigauge_cpus", ""))
    yield from check.own_processors(cpus, facts["processor"])
    yield _own_config(host, facts)


def _own_config(host: AnsibleHost, facts: Mapping[str, Any]) -> Item:
    """Keep the configuration of the host's own kernel, for candidates that are to boot there."""
    environment, name = host.host.environment, host.host.name
    if facts["config"] is None:
        return Item(
            "kernel's configuration", State.NOTE, "not read",
            "It lies in /boot/config-RELEASE or /proc/config.gz of the host's own kernel; look "
            "again when that runs. Without it no candidate can be built as the host's.",
        )  # fmt: skip
    try:
        digest = host_config.keep(environment, name, facts["config"], facts["modules"])
    except MitigaugeError as error:
        return Item("kernel's configuration", State.NOTE, error.message, error.hint or "")
    # Kernels for emulated hosts are built by the lab's profile, unless another one is named.
    built = "" if host.host.emulated else "; kernels for it are built by it"
    return Item("kernel's configuration", State.OK, f"kept (SHA-256 {digest[:12]}){built}")


def _unplayed(error: MitigaugeError) -> Item:
    """What is missing where a play does not get to its first answer."""
    if "interpreter" in error.message and "not found" in error.message:
        return Item("ansible", State.MISSING, "no Python on the host", "apt-get install python3")
    return Item("ansible", State.MISSING, error.message, error.hint or "")


def _reads(catalog: Catalog) -> list[str]:
    return sorted(
        {
            reading.path
            for family in catalog.families.values()
            for mode in family.modes.values()
            for reading in mode.settings.readings()
        }
    )


def _reached(host: AnsibleHost) -> Item:
    address, port = host.host.address, host.host.port
    where = f"{address}:{port}"
    try:
        with socket.create_connection((address, port), timeout=CONNECT_TIMEOUT_S) as connection:
            connection.settimeout(CONNECT_TIMEOUT_S)
            greeting = connection.recv(64)
    except OSError as error:
        return Item(
            "ssh", State.MISSING, f"{where}: {error.strerror or error}",
            "Is the host up, and are ansible_host and ansible_port of its inventory right?",
        )  # fmt: skip
    if not greeting.startswith(b"SSH-"):
        return Item("ssh", State.MISSING, f"{where}: no SSH server answers", "See ansible_port.")
    return Item("ssh", State.OK, where)


def _power(host: AnsibleHost) -> Iterator[Item]:
    driver = host.host.power.get("driver", "none")
    if driver == "none":
        yield Item(
            "power", State.NOTE, "nothing can switch it",
            "A host that hangs needs its watchdog or a person; docs/hosts.md names the drivers.",
        )  # fmt: skip
        return
    if driver == "command" and not host.host.power.get("status"):
        yield Item(
            "power", State.NOTE, "command: no program tells whether it is on",
            "Give mitigauge_power a status program; `--try` shows whether it switches the host.",
        )  # fmt: skip
        return
    try:
        said = "on" if host.is_on() else "off"
        yield Item("power", State.OK, f"{driver}: {said}")
    except MitigaugeError as error:
        yield Item("power", State.MISSING, error.message, error.hint or "")


def console_item(host: AnsibleHost) -> Item:
    """Whether its console can be read: opened for a moment, nothing is sent. Raises nothing."""
    try:
        heard = host.probe_console()
    except MitigaugeError as error:
        return Item("console", State.MISSING, error.message, error.hint or "")
    if heard is None:
        return Item(
            "console", State.NOTE, "none",
            "What a kernel says before it dies is lost; docs/hosts.md names the kinds.",
        )  # fmt: skip
    return Item("console", State.NOTE if heard.doubt else State.OK, heard.found, heard.doubt)
