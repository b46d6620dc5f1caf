"""Which processor a machine has, by its own word and by what its flags allow. Pure.

A hypervisor may give a guest another model's number with its own processor's flags. A flag that the
named model never had shows it; the range of what the processor may be follows from the flags.
First processors with a flag: Intel, "Architecture Instruction Set Extensions Programming
Reference"; AMD, processor programming references of families 17h to 1Ah.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from mitigauge.analysis.prices.definitions import Identity
from mitigauge.core.errors import InvalidInput

# Microarchitectures of servers and clients in the order in which they came, by vendor.
ORDER: dict[str, Sequence[str]] = {
    "GenuineIntel": (
        "Haswell", "Broadwell", "Skylake", "Cascade Lake", "Cooper Lake", "Ice Lake", "Rocket Lake",
        "Alder Lake", "Sapphire Rapids", "Emerald Rapids", "Granite Rapids",
    ),
    "AuthenticAMD": ("Zen", "Zen 2", "Zen 3", "Zen 4", "Zen 5"),
}  # fmt: skip
# Family and models of each; the first and the last of a range.
MODELS: dict[str, Sequence[tuple[int, int, int, str]]] = {
    "GenuineIntel": (
        (6, 60, 60, "Haswell"), (6, 63, 63, "Haswell"), (6, 69, 70, "Haswell"),
        (6, 61, 61, "Broadwell"), (6, 71, 71, "Broadwell"), (6, 79, 79, "Broadwell"),
        (6, 78, 78, "Skylake"), (6, 94, 94, "Skylake"), (6, 85, 85, "Cascade Lake"),
        (6, 106, 108, "Ice Lake"), (6, 125, 126, "Ice Lake"), (6, 167, 167, "Rocket Lake"),
        (6, 151, 151, "Alder Lake"), (6, 154, 154, "Alder Lake"), (6, 143, 143, "Sapphire Rapids"),
        (6, 207, 207, "Emerald Rapids"), (6, 173, 174, "Granite Rapids"),
    ),
    "AuthenticAMD": (
        (23, 0, 47, "Zen"), (23, 48, 255, "Zen 2"), (25, 0, 15, "Zen 3"), (25, 32, 95, "Zen 3"),
        (25, 16, 31, "Zen 4"), (25, 96, 175, "Zen 4"), (26, 0, 255, "Zen 5"),
    ),
}  # fmt: skip
# The first microarchitecture that has a flag, and those after it that have it not.
FIRST: dict[str, dict[str, tuple[str, Sequence[str]]]] = {
    "GenuineIntel": {
        "avx512f": ("Skylake", ("Alder Lake",)),
        "avx512_vnni": ("Cascade Lake", ("Alder Lake",)),
        "avx512_bf16": ("Cooper Lake", ("Ice Lake", "Rocket Lake", "Alder Lake")),
        "avx512_vbmi2": ("Ice Lake", ("Alder Lake",)),
        "avx_vnni": ("Alder Lake", ()),
        "serialize": ("Alder Lake", ()),
        "amx_tile": ("Sapphire Rapids", ()),
        "avx512_fp16": ("Sapphire Rapids", ()),
        "amx_fp16": ("Granite Rapids", ()),
    },
    "AuthenticAMD": {
        "clwb": ("Zen 2", ()),
        "vaes": ("Zen 3", ()),
        "avx512f": ("Zen 4", ()),
        "avx512_bf16": ("Zen 4", ()),
        "avx_vnni": ("Zen 5", ()),
        "avx512_vp2intersect": ("Zen 5", ()),
    },
}


@dataclass(frozen=True, slots=True)
class Recognised:
    """A processor by its own word and by its flags."""

    identity: Identity
    microarchitecture: str
    """As its model's number says; where that is masked, the range that the flags allow."""
    is_virtual: bool
    microcode: str


def recognised(cpuinfo: str, caches: str = "", cores: str = "") -> Recognised:
    """Of the text of ``/proc/cpuinfo``: its first processor.

    *cores*: the kind of core, where a processor has several. Raises :class:`InvalidInput` where
    that text is of no x86 processor.
    """
    fields = _first_of(cpuinfo)
    try:
        vendor = fields["vendor_id"]
        family, model, stepping = (int(fields[k]) for k in ("cpu family", "model", "stepping"))
        flags = fields["flags"].split()
    except (KeyError, ValueError):
        raise InvalidInput(
            "this is no x86 processor, or /proc/cpuinfo does not describe it",
            hint="Prices are measured on x86-64 alone.",
        ) from None
    said = _microarchitecture(vendor, family, model)
    allowed, odd = _by_flags(vendor, frozenset(flags), said)
    masked = (
        f"its number says {said}, which has no {', '.join(odd)}: by its flags {allowed}"
        if odd
        else ""
    )
    identity = Identity(
        vendor=vendor[:40], family=family, model=model, stepping=stepping,
        name=" ".join(fields.get("model name", "").split())[:200], caches=caches[:200],
        flags=hashlib.sha256(" ".join(sorted(flags)).encode()).hexdigest(), masked=masked,
        cores=cores,
    )  # fmt: skip
    return Recognised(
        identity, allowed if odd else said, "hypervisor" in flags, fields.get("microcode", "")[:40]
    )


def _first_of(cpuinfo: str) -> dict[str, str]:
    block = cpuinfo.strip().split("\n\n")[0]
    pairs = (line.partition(":") for line in block.splitlines())
    return {name.strip(): value.strip() for name, _, value in pairs}


def _microarchitecture(vendor: str, family: int, model: int) -> str:
    return next(
        (
            name
            for its_family, first, last, name in MODELS.get(vendor, ())
            if family == its_family and first <= model <= last
        ),
        "",
    )


def _by_flags(vendor: str, flags: frozenset[str], said: str) -> tuple[str, list[str]]:
    """The range that *flags* allow, and those of them that *said* never has."""
    order = list(ORDER.get(vendor, ()))
    known: Mapping[str, tuple[str, Sequence[str]]] = FIRST.get(vendor, {})
    having = {
        flag: [each for each in order[order.index(first) :] if each not in without]
        for flag, (first, without) in known.items()
        if flag in flags
    }
    odd = sorted(flag for flag, those in having.items() if said in order and said not in those)
    possible = [each for each in order if all(each in those for those in having.values())]
    if not possible:
        return "none that is known", odd
    return possible[0] if len(possible) == 1 else f"{possible[0]} to {possible[-1]}", odd
