"""What is wrong, or has changed, in a matrix of choices. Pure: from what boots showed alone.

No rule knows a mitigation: an option that asks for protection is held against the same machine
under other words, what sysfs says against the code beside it, a kernel against another one.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType

from mitigauge.measurement.selection.cells import Cell, SelectionSpec
from mitigauge.measurement.selection.console import Shown, unproven
from mitigauge.measurement.selection.documentation import (
    Documentation,
    documented_states,
    documented_words,
    page_file,
    words_of_page,
)

VULNERABLE = "Vulnerable"
MITIGATION = "Mitigation"
NOT_AFFECTED = "Not affected"

# Before the state of a bug that guests use, as in ``KVM: Mitigation: Split huge pages``.
GUESTS = "KVM: "
OPEN, IN_PART, WHOLE = range(3)

Matrix = Mapping[Cell, Shown]


class FindingKind(StrEnum):
    """What is wrong, the worst first."""

    WORSE_THAN_ASKED = "worse than asked"
    """Vulnerable though an option asks for protection that this machine can have."""
    WEAKER = "weaker than before"
    """Protected by the first kernel, and by another one less: vulnerable, or in a part."""
    CONTRADICTS = "contradicts its code"
    """Sysfs tells two choices apart that run the same code, or the other way round."""
    CANNOT = "cannot be protected"
    """Vulnerable whatever is asked: the processor has nothing that the kernel could choose."""
    DOCUMENTED_OTHERWISE = "documented otherwise"
    """A word that the kernel's documentation lists and the kernel does not know; or the other way
    round. A state that the vulnerability's page does not list."""
    UNKNOWN_OPTION = "not known"
    NO_LONGER_TOLD = "no longer told"
    """Protected by the first kernel, and another one does not say whether it is."""
    CHANGED = "changed"
    """Another choice than the first kernel's, and no weaker one."""
    NO_PROOF = "no proof"


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing to look at."""

    kind: FindingKind
    cell: Cell
    why: str


def findings(
    spec: SelectionSpec,
    matrix: Matrix,
    documentation: Mapping[str, Documentation] = MappingProxyType({}),
) -> list[Finding]:
    """All of them, the worst kind first.

    *documentation*: release → what of the kernel's documentation is at hand.
    """
    proven = {cell: shown for cell, shown in matrix.items() if not unproven(spec, cell, shown)}
    found = [
        *_without_proof(spec, matrix),
        *_worse_than_asked(spec, proven),
        *_contradictions(proven),
        *_unknown(proven),
        *_words_documented_otherwise(spec, proven, documentation),
        *_states_documented_otherwise(spec, proven, documentation),
        *_between_kernels(proven),
    ]
    order = list(FindingKind)
    return sorted(found, key=lambda each: order.index(each.kind))


def is_protected(state: str | None) -> bool:
    """Whether a state of sysfs is one in which the bug cannot be used, or is not there.

    A part that is vulnerable, as in ``Mitigation: …; SMT vulnerable``, can be used.
    ``Unknown: …`` is neither protected nor vulnerable.
    """
    return _protection(state) == WHOLE


def _protection(state: str | None) -> int | None:
    """How far a state protects: wholly, in a part, not at all; None: it does not say."""
    own = (state or "").removeprefix(GUESTS)
    if own.startswith((MITIGATION, NOT_AFFECTED)):
        return IN_PART if is_vulnerable(own) else WHOLE
    return OPEN if is_vulnerable(own) else None


def is_vulnerable(state: str | None) -> bool:
    """Whether a state of sysfs, or a part of it, is one in which the bug can be used."""
    return state is not None and VULNERABLE.lower() in state.lower()


def choice_of(state: str | None) -> str:
    """What is patched in for a state: nothing where the bug is open or not there.

    ``Vulnerable: TEXT`` is something, which does not protect: buffers that are cleared in vain.
    """
    if state is None or state.startswith(NOT_AFFECTED):
        return ""
    return "" if re.match(rf"{VULNERABLE}(?!:)", state) else state


def _without_proof(spec: SelectionSpec, matrix: Matrix) -> Iterator[Finding]:
    for cell, shown in matrix.items():
        if why := unproven(spec, cell, shown):
            yield Finding(FindingKind.NO_PROOF, cell, why)


def _worse_than_asked(spec: SelectionSpec, matrix: Matrix) -> Iterator[Finding]:
    """Of options that ask: Vulnerable where the same machine is protected under other words."""
    protected: dict[tuple[str, str], list[tuple[Cell, Shown]]] = defaultdict(list)
    for cell, shown in matrix.items():
        if is_protected(shown.state):
            protected[cell.kernel, cell.processor.name].append((cell, shown))
    for cell, shown in matrix.items():
        if cell.option not in spec.asks or not is_vulnerable(shown.state) or shown.ignored:
            continue
        others = protected[cell.kernel, cell.processor.name]
        if not others:
            why = f"{shown.state}, whatever is asked of this processor"
            yield Finding(FindingKind.CANNOT, cell, why)
            continue
        same = [pair for pair in others if pair[0].option == cell.option] or others
        other, said = same[0]
        words = " ".join(filter(None, (other.mitigations, other.option))) or "no option"
        why = f"{shown.state}, but {said.state} with {words}"
        yield Finding(FindingKind.WORSE_THAN_ASKED, cell, why)


def _contradictions(matrix: Matrix) -> Iterator[Finding]:
    """Beside each other: one kernel, processor and ``mitigations=``, so that the option alone may
    move the code. Each cell is held against all before it, and the first that it contradicts is
    named."""
    rows: dict[tuple[str, str, str], list[tuple[Cell, Shown]]] = defaultdict(list)
    for cell, shown in matrix.items():
        rows[cell.kernel, cell.processor.name, cell.mitigations].append((cell, shown))
    for row in rows.values():
        for place, (cell, shown) in enumerate(row):
            why = next(filter(None, (_contradiction(shown, *other) for other in row[:place])), "")
            if why:
                yield Finding(FindingKind.CONTRADICTS, cell, why)


def _contradiction(shown: Shown, beside: Cell, other: Shown) -> str:
    """Why what is shown does not go together with another cell's; empty where it does."""
    same_words = choice_of(shown.state) == choice_of(other.state)
    if same_words == (shown.code_digest == other.code_digest):
        return ""
    option = beside.option or "no option"
    if same_words:
        return f"it says {shown.state!r} as with {option}, but runs other code"
    return f"it says {shown.state!r}, not {other.state!r} as with {option}, but runs the same code"


def _unknown(matrix: Matrix) -> Iterator[Finding]:
    for cell, shown in matrix.items():
        if shown.ignored:
            yield Finding(FindingKind.UNKNOWN_OPTION, cell, f"the kernel says: {shown.ignored}")


def _words_documented_otherwise(
    spec: SelectionSpec, matrix: Matrix, documentation: Mapping[str, Documentation]
) -> Iterator[Finding]:
    """One finding for each kernel, word and text: where it is written has nothing of processors.

    A kernel without the vulnerability's file may not know of the option at all, and is not asked.
    """
    cells: dict[tuple[str, str], list[tuple[Cell, Shown]]] = defaultdict(list)
    for cell, shown in matrix.items():
        if cell.option and shown.state is not None and cell.kernel in documentation:
            cells[cell.kernel, cell.option].append((cell, shown))
    for (kernel, option), pairs in cells.items():
        name, _, word = option.partition("=")
        texts = documentation[kernel]
        lists = {
            "its list of parameters": documented_words(texts.parameters, name),
            page_file(spec.page): words_of_page(texts.page, name),
        }
        refused = [(cell, shown) for cell, shown in pairs if shown.ignored]
        for where, listed in lists.items():
            known = f"{where} has {name}={', '.join(sorted(listed or ()))}"
            if listed and word in listed and refused:
                cell, shown = refused[0]
                why = f"{known}, but the kernel says: {shown.ignored}"
                yield Finding(FindingKind.DOCUMENTED_OTHERWISE, cell, why)
            if listed and word not in listed and not refused:
                why = f"{known}, but the kernel takes {word}"
                yield Finding(FindingKind.DOCUMENTED_OTHERWISE, pairs[0][0], why)


def _states_documented_otherwise(
    spec: SelectionSpec, matrix: Matrix, documentation: Mapping[str, Documentation]
) -> Iterator[Finding]:
    """States that the vulnerability's page does not list, each once a kernel.

    What stands behind a state, as of SMT, is listed by itself and left out.
    """
    listed = {kernel: documented_states(texts.page) for kernel, texts in documentation.items()}
    told: set[tuple[str, str]] = set()
    for cell, shown in matrix.items():
        states = listed.get(cell.kernel)
        state = (shown.state or "").partition("; ")[0]
        if not states or not state or state in states or (cell.kernel, state) in told:
            continue
        told.add((cell.kernel, state))
        why = f"{page_file(spec.page)} does not list the state {state!r}"
        yield Finding(FindingKind.DOCUMENTED_OTHERWISE, cell, why)


def _between_kernels(matrix: Matrix) -> Iterator[Finding]:
    places: dict[tuple[str, str, str], list[tuple[Cell, Shown]]] = defaultdict(list)
    for cell, shown in matrix.items():
        places[cell.processor.name, cell.mitigations, cell.option].append((cell, shown))
    for (_, before), *after in places.values():
        for cell, shown in after:
            if shown.state == before.state:
                continue
            yield Finding(
                _change(before.state, shown.state), cell,
                f"{before.state} before, {shown.state} now",
            )  # fmt: skip


def _change(before: str | None, now: str | None) -> FindingKind:
    was, is_now = _protection(before), _protection(now)
    if is_now is None and was in (IN_PART, WHOLE):
        return FindingKind.NO_LONGER_TOLD
    is_weaker = was is not None and is_now is not None and is_now < was
    return FindingKind.WEAKER if is_weaker else FindingKind.CHANGED


def grouped(found: Sequence[Finding]) -> list[tuple[FindingKind, str, list[Finding]]]:
    """By kind, kernel and reason: what a reader is told once."""
    groups: dict[tuple[FindingKind, str, str], list[Finding]] = defaultdict(list)
    for each in found:
        groups[each.kind, each.cell.kernel, each.why].append(each)
    return [(kind, why, each) for (kind, _, why), each in groups.items()]
