"""What an inventory says of a host's power and console: one closed model a driver. Pure.

A password is never among these values; they name the file that holds it.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Mapping
from typing import Annotated, Any, Literal, TypeVar
from urllib.parse import urlsplit

from pydantic import (
    AfterValidator,
    BaseModel,
    Field,
    StringConstraints,
    ValidationError,
    model_validator,
)

from mitigauge.core.field_types import Closed
from mitigauge.core.hostile_text import clean_text, quoted
from mitigauge.measurement.fleet.value_types import File, Line, Machine

# No option and no second argument: it stands behind one in a command line.
User = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9_][A-Za-z0-9_.@\\-]{0,62}$")]
Port = Annotated[int, Field(strict=True, ge=1, le=65535)]


def _by_its_path(command: tuple[str, ...]) -> tuple[str, ...]:
    if not command[0].startswith("/"):
        raise ValueError("does not begin with a program's path, /…")
    return command


# A program and its arguments. No shell reads them.
Command = Annotated[
    tuple[Line, ...], Field(min_length=1, max_length=50), AfterValidator(_by_its_path)
]
LONGEST_COMMAND_S = 600

Checked = TypeVar("Checked", bound=BaseModel)


class QemuPowerValues(Closed):
    """Power and console of an emulated host."""

    driver: Literal["qemu"]
    qmp: File = Field(description="QEMU's control socket")
    serial_log: File
    greeting: Line | None = Field(
        None, description="what the serial line says once the system is up; null: nobody looks"
    )


def _system_url(url: str) -> str:
    parts = urlsplit(url)
    if parts.scheme not in ("https", "http") or not parts.hostname:
        raise ValueError("is no https address")
    if parts.scheme == "http" and not _is_loopback(parts.hostname):
        raise ValueError("would send the password unencrypted: write https")
    if parts.username or parts.password or parts.query or parts.fragment:
        raise ValueError("has more than a machine, a port and a path")
    _ = parts.port  # raises ValueError for one that is none
    segments = parts.path.rstrip("/").split("/")
    if segments[:4] != ["", "redfish", "v1", "Systems"] or len(segments) != 5 or not segments[4]:
        raise ValueError("is no system of a controller, https://BMC/redfish/v1/Systems/NAME")
    # Some controllers serve a system only with a slash at its end, others only without.
    return url


def _is_loopback(machine: str) -> bool:
    if machine == "localhost":
        return True
    try:
        return ipaddress.ip_address(machine).is_loopback
    except ValueError:
        return False


def _digest(text: str) -> str:
    """A SHA-256 as openssl shows it, with colons or without, in small letters without."""
    digest = text.replace(":", "").lower()
    if len(digest) != 64 or set(digest) - set("0123456789abcdef"):
        raise ValueError("is no SHA-256: 64 hexadecimal digits, colons between them or not")
    return digest


class RedfishPowerValues(Closed):
    """Power by a controller that speaks Redfish."""

    driver: Literal["redfish"]
    url: Annotated[Line, AfterValidator(_system_url)] = Field(description="of the system")
    user: User
    password_file: File
    ca_file: File | None = Field(
        None, description="who may certify the controller; null: the machine's own authorities"
    )
    certificate_sha256: Annotated[Line, AfterValidator(_digest)] | None = Field(
        None, description="the only certificate that is taken, whatever its name, age and key"
    )
    login: Literal["session", "basic"] = "session"

    @model_validator(mode="after")
    def _has_one_trust(self) -> RedfishPowerValues:
        if self.certificate_sha256 is not None and self.ca_file is not None:
            raise ValueError("ca_file and certificate_sha256 stand side by side: choose one")
        if self.certificate_sha256 is not None and urlsplit(self.url).scheme != "https":
            raise ValueError("certificate_sha256 needs an https address as url")
        return self


class _IpmiValues(Closed):
    """How to get at a controller that speaks IPMI 2.0."""

    address: Machine
    port: Port = 623
    user: User
    password_file: File
    kg_file: File | None = Field(
        None, description="holds the controller's Kg key, as text or 0x…; null: it has none"
    )
    cipher_suite: Literal[3, 8, 12, 15, 16, 17] | None = Field(
        None, description="null: what ipmitool and the controller agree on"
    )
    privilege: Literal["operator", "administrator"] = "administrator"


class IpmiPowerValues(_IpmiValues):
    """Power by a controller that speaks IPMI 2.0."""

    driver: Literal["ipmi"]


class CommandPowerValues(Closed):
    """Power by programs of the operator's: for a power distribution unit, or any oddity."""

    driver: Literal["command"]
    on: Command | None = Field(None, description="null: cycle alone switches it")
    off: Command | None = Field(None, description="null: cycle alone switches it")
    cycle: Command | None = Field(None, description="null: off, off_s seconds, on")
    status: Command | None = Field(None, description="prints on or off; null: nobody looks")
    nmi: Command | None = None
    off_s: float = Field(10.0, strict=True, ge=0, le=LONGEST_COMMAND_S, allow_inf_nan=False)
    timeout_s: float = Field(60.0, strict=True, gt=0, le=LONGEST_COMMAND_S, allow_inf_nan=False)

    @model_validator(mode="after")
    def _can_start_the_host_anew(self) -> CommandPowerValues:
        if self.cycle is None and (self.on is None or self.off is None):
            raise ValueError('needs cycle, or "on" and "off"')
        return self


class NoPowerValues(Closed):
    """No power but by a person's hand."""

    driver: Literal["none"]


PowerValues = (
    QemuPowerValues | RedfishPowerValues | IpmiPowerValues | CommandPowerValues | NoPowerValues
)


class FileConsoleValues(Closed):
    """A console that something else writes to a file."""

    kind: Literal["file"]
    path: File


class TcpConsoleValues(Closed):
    """A console server's port that sends the line as it is."""

    kind: Literal["tcp"]
    address: Machine
    port: Port


class IpmiConsoleValues(_IpmiValues):
    """Serial over LAN of a controller that speaks IPMI 2.0."""

    kind: Literal["ipmi-sol"]


class SshConsoleValues(Closed):
    """A command at a console server, over SSH."""

    kind: Literal["ssh"]
    address: Machine
    port: Port = 22
    user: User
    key_file: File
    known_hosts_file: File
    command: Line = Field(description="as the console server's shell reads it")


class NoConsoleValues(Closed):
    """No console."""

    kind: Literal["none"]


ConsoleValues = (
    FileConsoleValues | TcpConsoleValues | IpmiConsoleValues | SshConsoleValues | NoConsoleValues
)

POWER_DRIVERS: Mapping[str, type[PowerValues]] = {
    "command": CommandPowerValues,
    "ipmi": IpmiPowerValues,
    "none": NoPowerValues,
    "qemu": QemuPowerValues,
    "redfish": RedfishPowerValues,
}

CONSOLE_KINDS: Mapping[str, type[ConsoleValues]] = {
    "file": FileConsoleValues,
    "ipmi-sol": IpmiConsoleValues,
    "none": NoConsoleValues,
    "ssh": SshConsoleValues,
    "tcp": TcpConsoleValues,
}


def power_values(value: object) -> PowerValues:
    """The values of a power driver, checked by that driver's own model.

    Raises ``ValueError`` naming the known drivers, or what is wrong with which value.
    """
    model: type[PowerValues] = _model("driver", "power driver", value, POWER_DRIVERS)
    return _checked(model, value)


def console_values(value: object) -> ConsoleValues:
    """The values of a console, checked by its kind's own model; raises as ``power_values``."""
    model: type[ConsoleValues] = _model("kind", "kind of console", value, CONSOLE_KINDS)
    return _checked(model, value)


def _model(key: str, called: str, value: object, known: Mapping[str, type[Any]]) -> type[Any]:
    names = ", ".join(sorted(known))
    if not isinstance(value, Mapping):
        raise ValueError(f"give it a {key}: {names}")
    model = known.get(str(value.get(key)))
    if model is None:
        raise ValueError(f"unknown {called} {quoted(value.get(key))}; known: {names}")
    return model


def _checked(model: type[Checked], value: object) -> Checked:
    try:
        return model.model_validate(value)
    except ValidationError as error:
        found = error.errors(include_url=False)[:10]
        raise ValueError("; ".join(_complaint(model, each) for each in found)) from None


def _complaint(model: type[BaseModel], found: Any) -> str:
    name = clean_text(".".join(str(part) for part in found["loc"]))[:60]
    if found["type"] == "extra_forbidden":
        if name.lower() in ("true", "false") and "on" in model.model_fields:
            return 'on or off stands without quotes, which YAML reads as true or false: write "on"'
        # Its value is not quoted: it may be a password that somebody put there.
        return f"unknown value {name}, known: {', '.join(model.model_fields)}"
    if found["type"] == "missing":
        return f"{name} is missing"
    reason = clean_text(found["msg"].removeprefix("Value error, "))
    if not name:
        return reason  # of several values together, none of which is quoted
    return f"{name} is {quoted(found['input'])}: {reason}"
