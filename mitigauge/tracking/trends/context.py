"""What an arm was measured on, flat and short, so that two of them can be compared. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from mitigauge.core.hostile_text import clean_text
from mitigauge.measurement.fleet.facts import own_facts
from mitigauge.measurement.runs.boot_evidence import BootProof
from mitigauge.tracking.trends.schemas import CauseKind

# Longer facts are cut: a fingerprint comes from a host.
LONGEST = 200
MOST_FACTS = 400
# By the first part of a fact's name. What is not here is none of a change's business: boot ids,
# uptimes, the command line (the mode's settings stand for it).
KINDS: Final[Mapping[str, CauseKind]] = {
    "kernel": CauseKind.KERNEL,
    "vulnerabilities": CauseKind.MITIGATIONS,
    "microcode": CauseKind.MICROCODE,
    "firmware": CauseKind.FIRMWARE,
    **dict.fromkeys(
        ("turbo", "governor", "energy_preference", "memory_total_mib", "numa_nodes", "thp",
         "clocksource"),
        CauseKind.BIOS_SETTING,
    ),
    **dict.fromkeys(
        ("cpu_model", "cpu_family", "cpu_model_number", "cpu_stepping", "hypervisor_bit", "board"),
        CauseKind.PROCESSOR,
    ),
    **dict.fromkeys(("packages", "python", "os", "tools"), CauseKind.TOOLS),
    **dict.fromkeys(("workload", "iterations"), CauseKind.WORKLOAD),
    **dict.fromkeys(("settings", "lab_cmdline"), CauseKind.MODE),
}  # fmt: skip
# Flags and numbers follow the kernel that is up: told once, as the kernel.
_OF_KERNEL = ("kernel_release", "kernel_version", "build_id")


def context_of(
    proof: BootProof,
    facts: Mapping[str, Any],
    *,
    settings: Mapping[str, Any],
    lab_cmdline: str,
    staged: Mapping[str, Any],
    tools: Mapping[str, Mapping[str, Any]],
) -> dict[str, str]:
    """Facts by their flat name, as texts.

    *staged*: workload → digest of our own code of it. *tools*: workload → tool → version.
    """
    of_boot = {
        "microcode": proof.microcode or facts.get("microcode"),
        "vulnerabilities": proof.vulnerabilities,
    }
    of_host = {name: value for name, value in own_facts(facts).items() if name in KINDS}
    found = {
        "kernel": {name: getattr(proof, name) for name in _OF_KERNEL},
        **of_host,
        **of_boot,
        "settings": settings,
        "lab_cmdline": lab_cmdline,
        "workload": staged,
        "tools": tools,
    }
    flat: dict[str, str] = {}
    for name, value in _flat(found, ""):
        if len(flat) == MOST_FACTS:
            break
        flat[name] = value
    return flat


def kind_of(name: str) -> CauseKind | None:
    """What kind of cause a fact of that flat name is; None: of none."""
    return KINDS.get(name.split(".", 1)[0])


def applies(name: str, workload: str) -> bool:
    """Whether a fact may matter to a workload: another one's tools and code do not."""
    first, _, rest = name.partition(".")
    return first not in ("tools", "workload") or rest.split(".", 1)[0] == workload


def _flat(value: Any, prefix: str) -> Iterator[tuple[str, str]]:
    if isinstance(value, Mapping):
        for name, item in sorted(value.items()):
            yield from _flat(item, f"{prefix}.{name}" if prefix else str(name))
    elif value not in (None, "", [], {}):
        text = ", ".join(map(str, value)) if isinstance(value, list) else str(value)
        yield clean_text(prefix)[:LONGEST], clean_text(text)[:LONGEST]
