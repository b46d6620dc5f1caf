"""A function's instructions on two sides of stored profiles, as pages and the command show them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

import numpy as np
from sqlalchemy.orm import Session

from mitigauge.analysis.profiles.diff.compare import Basis, BootProfile, bases_of
from mitigauge.analysis.profiles.diff.instructions import (
    Aligned,
    BootCode,
    InstructionDiff,
    diff_instructions,
)
from mitigauge.analysis.profiles.diff.schemas import (
    InstructionPart,
    InstructionRow,
    InstructionSum,
    InstructionTable,
    Mark,
)
from mitigauge.analysis.profiles.diff.service import boot_profile, unit_of
from mitigauge.analysis.profiles.diff.sides import Group, Sides, require_comparable
from mitigauge.analysis.profiles.diff.significance import Comparison
from mitigauge.analysis.profiles.store import repository
from mitigauge.analysis.profiles.store.instructions import StoredCode, code_of
from mitigauge.analysis.profiles.store.normalise import rules
from mitigauge.analysis.profiles.store.tables import Profile, ProfileInstructions
from mitigauge.core.errors import InvalidInput
from mitigauge.core.wire.profile import NMI_EVENT

# More than a page can be read with; a function has at most 16 KiB of code.
MOST_ROWS = 20_000
SKID_NMI_COUNTED = (
    "An emulated processor is interrupted between any two instructions here: a sample stands at "
    "the instruction that was about to run."
)
SKID_NMI = (
    "An emulated processor is interrupted between translated blocks only: the samples of a block "
    "stand at the first instruction of the next one."
)
SKID_TIMER = (
    "A timer's interrupt waits where interrupts are off: samples of such code stand at the "
    "instruction that follows it."
)
SKID_COUNTER = (
    "A sample stands some instructions behind the one that was slow: the processor goes on while "
    "the counter's interrupt is on its way."
)


def instruction_table(
    session: Session, sides: Sides, *, function: str, basis: Basis | None
) -> InstructionTable:
    """The instructions of *function* side by side; of none where it is empty.

    Where there are none, `why_none` says why, and `functions` which others have some. Raises
    :class:`InvalidInput` for sides that cannot be compared and for a basis they lack.
    """
    require_comparable(sides)
    profiles = [*sides.a.profiles, *sides.b.profiles]
    boots = {profile.id: boot_profile(profile) for profile in profiles}
    bases = bases_of(list(boots.values()))
    chosen = basis or bases[0]
    if chosen not in bases:
        raise InvalidInput(
            f"there is no {chosen} basis: the workload counts no operations",
            hint=f"Choose one of {', '.join(bases)}.",
        )
    told = repository.instructions_of(session, list(boots))
    names = _names_of(function, sides.renamed)
    symbols = repository.known_symbols(session, names)
    code = code_of(session, list(boots), list(symbols.values())) if symbols else {}
    usable = {
        id_: _boot_code(boots[id_], code.get(id_, []), set(symbols.values()), chosen)
        for id_, row in told.items()
        if row.functions
    }
    both = [
        [found for profile in group.profiles if (found := usable.get(profile.id)) is not None]
        for group in (sides.a, sides.b)
    ]
    diff = diff_instructions(both[0], both[1], sides.renamed)
    parts = _parts(diff)
    there = any(part.rows for part in parts)
    event = profiles[0].event
    return InstructionTable(
        title=sides.title,
        function=function,
        a=sides.a.label,
        b=sides.b.label,
        boots_a=diff.boots[0],
        boots_b=diff.boots[1],
        missing_a=_missing(sides.a, both[0]),
        missing_b=_missing(sides.b, both[1]),
        other_code_a=diff.other_code[0],
        other_code_b=diff.other_code[1],
        host=sides.host,
        system=sides.system,
        emulated=sides.emulated,
        counted=sides.counted,
        event=event,
        basis=chosen,
        unit=unit_of(chosen, event),
        skid=_skid(event, counted=sides.counted),
        why_none="" if there else _why_none(sides, function, profiles, told),
        functions=_with_code(session, boots, chosen, sides.renamed),
        sums=_sums(diff) if there else [],
        parts=parts if there else [],
    )


def _with_code(
    session: Session, boots: Mapping[int, BootProfile], basis: Basis, renamed: Mapping[str, str]
) -> list[str]:
    """Functions that have instructions, by their names in b's kernel, the hottest first."""
    names = repository.functions_with_code(session, list(boots))
    costs: Counter[str] = Counter()
    for boot in boots.values():
        coded = np.isin(boot.symbols, list(names))
        costs_of_boot = boot.self_counts[coded] * boot.scale(basis)
        for symbol, cost in zip(boot.symbols[coded].tolist(), costs_of_boot, strict=True):
            costs[renamed.get(names[symbol], names[symbol])] += cost
    return [name for name, _ in costs.most_common()]


def _names_of(function: str, renamed: Mapping[str, str]) -> list[str]:
    """What the stored function is called on either side."""
    if not function:
        return []
    by = rules()
    return [by.function(function), *(was for was, now in renamed.items() if now == function)]


def _boot_code(
    boot: BootProfile, parts: Sequence[StoredCode], symbols: set[int], basis: Basis
) -> BootCode | None:
    """A boot's code of the function; None where it ran and its code was not kept."""
    if not parts:
        own = boot.self_counts[np.isin(boot.symbols, list(symbols))].sum()
        if own or not symbols:
            return None
    return BootCode(parts, boot.scale(basis))


def _missing(group: Group, kept: Sequence[BootCode]) -> int:
    return len(group.profiles) - len(kept)


def _why_none(
    sides: Sides,
    function: str,
    profiles: Sequence[Profile],
    told: Mapping[int, ProfileInstructions],
) -> str:
    if not any(row.functions for row in told.values()):
        return _why_nothing_kept(sides, profiles, told)
    if not function:
        return "No function is chosen."
    return (
        f"{function} was not among the hottest functions of the kernel, of which each profiled "
        "pass keeps the code."
    )


def _why_nothing_kept(
    sides: Sides, profiles: Sequence[Profile], told: Mapping[int, ProfileInstructions]
) -> str:
    if sides.system == "guest":
        return "A guest's profile has no instructions: only a host's kernel is read."
    if any(profile.boot_id is None for profile in profiles):
        return "Imported profiles have no instructions: perf's text has no code in it."
    reasons = sorted({row.detail for row in told.values() if row.detail})
    return (
        f"No instructions were kept: {'; '.join(reasons)}."
        if reasons
        else "These profiles were taken before instructions were kept with them."
    )


def _skid(event: str, *, counted: bool) -> str:
    if event == NMI_EVENT:
        return SKID_NMI_COUNTED if counted else SKID_NMI
    return SKID_TIMER if event.startswith(("cpu-clock", "task-clock")) else SKID_COUNTER


def _parts(diff: InstructionDiff) -> list[InstructionPart]:
    parts, first = [], 0
    for part in diff.parts:
        rows = [
            _row(part, index, diff.compared, first + index, both=all(diff.boots))
            for index in range(min(len(part.pairs), MOST_ROWS - first))
        ]
        parts.append(InstructionPart(name_a=part.name_a, name_b=part.name_b, rows=rows))
        first += len(part.pairs)
        if first >= MOST_ROWS:
            break
    return parts


def _row(part: Aligned, index: int, compared: Comparison, at: int, *, both: bool) -> InstructionRow:
    in_a, in_b = part.pairs[index]
    mark: Mark = "" if not both or None not in (in_a, in_b) else "gone" if in_b is None else "new"
    a = None if in_a is None else part.lines_a[in_a]
    b = None if in_b is None else part.lines_b[in_b]
    return InstructionRow(
        place_a=a.place if a else None,
        text_a=a.text if a else "",
        place_b=b.place if b else None,
        text_b=b.text if b else "",
        samples_a=int(part.samples[index, 0]),
        samples_b=int(part.samples[index, 1]),
        mark=mark,
        **_figures(compared, at),
    )


def _sums(diff: InstructionDiff) -> list[InstructionSum]:
    return [
        InstructionSum(kind=kind, instructions=diff.counts[kind], **_figures(compared, 0))
        for kind, compared in diff.kinds.items()
        if diff.counts.get(kind)
    ]


def _figures(compared: Comparison, at: int) -> dict[str, float | None]:
    a, b = float(compared.a[at]), float(compared.b[at])
    known = {name: _number(float(getattr(compared, name)[at])) for name in ("low", "high", "q")}
    # A side that lost all its boots has no mean.
    return {"a": _number(a), "b": _number(b), "difference": _number(b - a), **known}


def _number(value: float) -> float | None:
    return value if np.isfinite(value) else None
