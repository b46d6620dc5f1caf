"""The values of ours (``mitigauge_*``) in an inventory: their types and limits. Pure.

They are read as they are written, by the service and by plays: no template in them is
evaluated.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Annotated, Any

from pydantic import (
    BeforeValidator,
    Field,
    StringConstraints,
    TypeAdapter,
    ValidationError,
    ValidationInfo,
    field_validator,
    model_validator,
)

from mitigauge.core.clock import Clock
from mitigauge.core.errors import InvalidInput
from mitigauge.core.field_types import Closed
from mitigauge.core.hostile_text import clean_text, quoted
from mitigauge.core.wire.profile import OWN_NMIS
from mitigauge.measurement.fleet.boot_method import HostBoots
from mitigauge.measurement.fleet.power_values import User, console_values, power_values
from mitigauge.measurement.fleet.value_types import File, Line, Machine

PREFIX = "mitigauge_"
# The longest that a machine may take from its reset to its greeting.
LONGEST_BOOT_S = 6 * 3600
_HOST_NAME = re.compile(r"(?!(all|ungrouped)\Z)[A-Za-z0-9][A-Za-z0-9._-]{0,62}", re.ASCII)


def _power(value: object) -> Mapping[str, Any]:
    """The values of a power driver, as plain data; none for an empty mapping."""
    return {} if value == {} else power_values(value).model_dump()


def _console(value: object) -> Mapping[str, Any]:
    """The values of a console, as plain data; none for an empty mapping."""
    return {} if value == {} else console_values(value).model_dump()


def _processors(value: object) -> object:
    """A single processor may stand there as a number."""
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else value


class GuestSsh(Closed):
    """How a host logs into a guest of an operator's image."""

    user: User = Field(description="with another than root, sudo without a password")
    key_file: File = Field(description="private key on the host")


class InventoryValues(Closed):
    """What an inventory says of a host, in names without ``mitigauge_``."""

    emulated: bool = Field(False, strict=True)
    clock: Clock = Clock.REAL
    host_class: Line = Field("unknown class", alias="class")
    machine: str | None = Field(None, pattern=r"^[A-Za-z0-9][A-Za-z0-9._/-]{0,126}$")
    capabilities: list[Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9_-]{0,31}$")]] = (
        Field(default_factory=list, max_length=32)
    )
    boot_timeout_s: float | None = Field(
        None, strict=True, gt=0, le=LONGEST_BOOT_S, allow_inf_nan=False
    )
    boot: HostBoots = HostBoots.RESET
    power: Annotated[Mapping[str, Any], BeforeValidator(_power)] = Field(default_factory=dict)
    console: Annotated[Mapping[str, Any], BeforeValidator(_console)] = Field(default_factory=dict)
    cpus: Annotated[
        str,
        BeforeValidator(_processors),
        StringConstraints(
            pattern=r"^([0-9]{1,5}(-[0-9]{1,5})?(,[0-9]{1,5}(-[0-9]{1,5})?)*)?$", max_length=500
        ),
    ] = ""
    guest_image: File | None = None
    guest_ssh: GuestSsh | None = None
    nmi_source: str = Field(
        "", pattern=rf"^({OWN_NMIS}|[A-Za-z0-9.:_\[\]-]{{1,253}}:[0-9]{{1,5}})?$"
    )
    exact_source: str = Field("", pattern=r"^([A-Za-z0-9.:_\[\]-]{1,253}:[0-9]{1,5})?$")

    @field_validator("clock")
    @classmethod
    def _only_emulators_count(cls, clock: Clock, info: ValidationInfo) -> Clock:
        if clock is Clock.COUNTED and not info.data.get("emulated"):
            raise ValueError("only the time of an emulated host counts instructions")
        return clock

    @model_validator(mode="after")
    def _has_image_and_login(self) -> InventoryValues:
        if (self.guest_image is None) != (self.guest_ssh is None):
            given, missing = ("guest_image", "guest_ssh")[:: 1 if self.guest_image else -1]
            raise ValueError(f"{PREFIX}{given} stands without {PREFIX}{missing}: give both")
        return self

    def for_plays(self) -> dict[str, Any]:
        """The values that roles read, under the names by which they do.

        Handed to every play as data, they stand before those that Ansible itself reads from
        the inventory and would evaluate.
        """
        return {
            f"{PREFIX}emulated": self.emulated,
            f"{PREFIX}clock": str(self.clock),
            f"{PREFIX}cpus": self.cpus,
            f"{PREFIX}nmi_source": self.nmi_source,
            f"{PREFIX}exact_source": self.exact_source,
            f"{PREFIX}guest_image": self.guest_image or "",
            f"{PREFIX}guest_ssh": self.guest_ssh.model_dump() if self.guest_ssh else {},
        }


class Address(Closed):
    """Where the service itself looks for a host's SSH server."""

    ansible_host: Machine
    ansible_port: int = Field(22, ge=1, le=65535)


_KNOWN = sorted(
    PREFIX + (field.alias or name) for name, field in InventoryValues.model_fields.items()
)
_VALUES = TypeAdapter(InventoryValues)
_ADDRESS = TypeAdapter(Address)


def names_one_host(name: str) -> bool:
    """Whether *name* is no pattern of Ansible's (``all``, ``!x``, ``@file``, ``a:b``)."""
    return _HOST_NAME.fullmatch(name) is not None


def values_of(host: str, variables: Mapping[str, Any]) -> InventoryValues:
    """The values of ours among a host's *variables*.

    Raises :class:`InvalidInput` naming each that is unknown or malformed.
    """
    ours = {
        name.removeprefix(PREFIX): value
        for name, value in variables.items()
        if name.startswith(PREFIX)
    }
    try:
        return _VALUES.validate_python(ours)
    except ValidationError as error:
        raise InvalidInput(
            "\n".join(_complaints(host, PREFIX, error)),
            hint=f"Correct the inventory. Known: {', '.join(_KNOWN)}.",
        ) from error


def address_of(host: str, variables: Mapping[str, Any]) -> Address:
    """Address and port of a host's SSH server; raises :class:`InvalidInput` for a malformed one."""
    given = {"ansible_host": host}
    given |= {name: variables[name] for name in Address.model_fields if name in variables}
    try:
        return _ADDRESS.validate_python(given)
    except ValidationError as error:
        raise InvalidInput(
            "\n".join(_complaints(host, "", error)),
            hint="Write name or address, and a number: the service connects there itself, "
            "and evaluates no templates.",
        ) from error


def _complaints(host: str, prefix: str, error: ValidationError) -> Iterable[str]:
    for problem in error.errors(include_url=False)[:20]:
        name = prefix + ".".join(str(part) for part in problem["loc"])
        reason = problem["msg"].removeprefix("Value error, ")
        if problem["type"] == "extra_forbidden":
            yield f"host {quoted(host)}: unknown value {clean_text(name)[:60]}"
        elif isinstance(problem["input"], Mapping):
            # Not quoted: somebody may have put a password there.
            yield f"host {quoted(host)}: {name}: {clean_text(reason)}"
        else:
            yield f"host {quoted(host)}: {name} is {quoted(problem['input'])}: {clean_text(reason)}"
