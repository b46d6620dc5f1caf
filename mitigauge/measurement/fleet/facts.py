"""What a host was at two times, compared fact by fact. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import orjson

from mitigauge.core.natural_order import natural_order

# Deeper ones are shown as JSON.
DEEPEST = 6


# These differ between arms by intent, so they cannot tell a changed host.
ARM_DEPENDENT_FACTS = frozenset(
    {
        "cmdline",
        "vulnerabilities",
        "kernel_release",
        "kernel_version",
        "build_id",
        "cpu_flags_sha256",
        "smt",
        "cores",
        "threads",
        # Which of them there are, a kernel's driver decides, too.
        "idle_states",
    }
)


@dataclass(frozen=True, slots=True)
class Changed:
    """A fact that differs; None: the host did not show it."""

    name: str
    before: str | None
    after: str | None


def own_facts(fingerprint: Mapping[str, Any]) -> dict[str, Any]:
    """The host's facts, without those that an arm sets: these are of one boot, not of all."""
    return {name: value for name, value in fingerprint.items() if name not in ARM_DEPENDENT_FACTS}


def flattened(facts: Mapping[str, Any]) -> dict[str, str | None]:
    """Nested facts by dotted names, in name order; what is absent is None."""
    return dict(sorted(_flat(facts, "", DEEPEST), key=lambda fact: natural_order(fact[0])))


def changed(before: Mapping[str, Any], after: Mapping[str, Any]) -> list[Changed]:
    """Facts that differ, in name order; one that only one side has is absent on the other."""
    old, new = flattened(before), flattened(after)
    return [
        Changed(name, old.get(name), new.get(name))
        for name in sorted({*old, *new}, key=natural_order)
        if old.get(name) != new.get(name)
    ]


def _flat(facts: Mapping[str, Any], prefix: str, levels: int) -> Iterator[tuple[str, str | None]]:
    for key, value in facts.items():
        name = f"{prefix}{key}"
        if isinstance(value, Mapping) and levels:
            yield from _flat(value, f"{name}.", levels - 1)
        else:
            yield name, None if value is None else _text(value)


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, str):
        return value
    if isinstance(value, list):
        return ", ".join(_text(item) for item in value)
    return orjson.dumps(value).decode()
