"""What `mitigauge host add` asks for, and what it reads of the host itself."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import typer

from mitigauge.core.errors import InvalidInput
from mitigauge.measurement.fleet.power_values import CONSOLE_KINDS, POWER_DRIVERS
from pipelines.adapters.ansible_host import AnsibleHost

Ask = Callable[[str, str], str]
"""What, and the default → the answer."""


def ask(what: str, default: str = "") -> str:
    """An answer from the terminal. Raises :class:`InvalidInput` where nobody can be asked."""
    if not sys.stdin.isatty():
        raise InvalidInput(
            f"{what}: not given, and there is no terminal to ask at",
            hint="Give it as an option; `mitigauge host add --help` lists them.",
        )
    answer: str = typer.prompt(what, default=default or None, show_default=bool(default))
    return answer.strip()


def parse_settings(settings: Sequence[str]) -> dict[str, dict[str, str]]:
    """``power.user=ops`` and the like, by part. Raises :class:`InvalidInput` for another form."""
    parts: dict[str, dict[str, str]] = {"power": {}, "console": {}}
    for setting in settings:
        place, equals, value = setting.partition("=")
        part, dot, name = place.partition(".")
        if not (equals and dot and name) or part not in parts:
            raise InvalidInput(
                f"--set {setting[:80]!r} is not of the form power.NAME=VALUE or console.NAME=VALUE",
                hint="docs/hosts.md lists the names of each driver.",
            )
        parts[part][name] = value
    return parts


def part_of(
    key: str,
    kind: str,
    models: Mapping[str, Any],
    values: Mapping[str, str],
    ask: Ask,
) -> dict[str, Any]:
    """The values of a power driver (*key* ``driver``) or console (``kind``), *kind* chosen.

    Asks for each that must be there and is not among *values*. They are checked when the entry
    is written.
    """
    model = models.get(kind)
    if model is None:
        raise InvalidInput(f"unknown {key} {kind[:80]!r}", hint=f"Known: {', '.join(models)}.")
    found: dict[str, Any] = {key: kind}
    # Programs for on and off, or one that does both.
    also_asked = () if kind != "command" or "cycle" in values else ("on", "off")
    for name, field in model.model_fields.items():
        if name == key:
            continue
        text = values.get(name)
        if text is None and (field.is_required() or name in also_asked):
            text = ask(f"{kind}: {name.replace('_', ' ')}{_hint(name)}", "")
        if text is not None:
            found[name] = _typed(text, field.annotation)
    unknown = sorted(set(values) - set(model.model_fields))
    if unknown:
        raise InvalidInput(
            f"{key} {kind} has no {', '.join(unknown)}",
            hint=f"Known: {', '.join(name for name in model.model_fields if name != key)}.",
        )
    return found


def _hint(name: str) -> str:
    if name == "password_file":
        return " (the path of a file that holds it; chmod 600)"
    if name in ("on", "off", "cycle", "status"):
        return " (a program by its path, and its arguments)"
    return ""


def _typed(text: str, annotation: object) -> Any:
    said = str(annotation)
    if "tuple" in said:
        return shlex.split(text)
    number = text.lstrip("-")
    is_number = any(word in said for word in ("int", "float", "Literal[3"))
    if is_number and number.replace(".", "", 1).isdigit():
        return float(text) if "." in text else int(text)
    return text


def power_and_console(
    power: str, console: str, settings: Sequence[str], ask: Ask
) -> Iterator[tuple[str, dict[str, Any]]]:
    """The inventory's variables for power and console, by name; none for a driver ``none``."""
    parts = parse_settings(settings)
    for part, key, models, kind in (
        ("power", "driver", POWER_DRIVERS, power),
        ("console", "kind", CONSOLE_KINDS, console),
    ):
        names = ", ".join(name for name in models if name != "qemu")
        chosen = kind or ask(f"{part} ({names})", "none")
        yield f"mitigauge_{part}", part_of(key, chosen, models, parts[part], ask)


def read_of(host: AnsibleHost) -> dict[str, Any]:
    """What the host shows of itself: its class and what it can do.

    Raises an error of ours where it cannot be asked.
    """
    facts = host.check([])
    model = facts["processor"].get("model")
    found: dict[str, Any] = {"mitigauge_capabilities": ["kvm"] if facts["kvm"] else []}
    if model:
        found["mitigauge_class"] = " ".join(str(model).split())
    return found
