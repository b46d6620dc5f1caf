"""What each patch costs, out of exact counts of kernels with and without it. Pure."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from itertools import pairwise

from mitigauge.analysis.profiles.exact.schemas import BillRow, ExactFunctionRow, ExactTable
from mitigauge.tracking.studies.kernel_sets import (
    Touched,
    alone_sets,
    pair_sets,
    prefixes,
    set_of,
)
from mitigauge.tracking.studies.schemas import (
    EventCost,
    Interaction,
    KernelSet,
    PatchCost,
    PatchFunction,
    PatchRow,
    PatchSize,
    ProcessorCost,
)

MOST_FUNCTIONS = 5
MOST_PREDICTIONS = 3
MOST_CHANGED = 20
# Two boots of one kernel may differ by one: an interrupt that no window has a second time.
ROUNDING = 1

Costs = Callable[[KernelSet, KernelSet], list[PatchCost]]
"""What a kernel runs more than another one, case by case."""
Changed = Callable[[KernelSet, KernelSet], frozenset[str]]
"""Functions whose code differs between two kernels."""
Alike = Callable[[KernelSet, KernelSet, frozenset[str]], bool | None]
"""Whether two kernels have the same code in some functions; None where nobody knows."""
Size = Callable[[KernelSet, KernelSet], PatchSize | None]
"""How much larger the second one is; None where nobody knows."""


def cost_of(
    table: ExactTable, mode: str, changed: frozenset[str], protecting: Collection[str] = ()
) -> PatchCost:
    """One case's cost, out of the comparison of two kernels.

    *changed*: whose code differs; *protecting*: events that are told even where none differs.
    """
    rows = [row for row in table.functions if row.function in changed]
    differing = [row for row in rows if row.exact or (row.exact is None and row.difference)]
    others = [row for row in table.functions if row.exact and row.function not in changed]
    lines = next((row.difference for row in table.footprint if row.figure == "lines"), 0.0)
    return PatchCost(
        case=table.title,
        host=table.host,
        mode=mode,
        exact=table.exact,
        difference=table.difference,
        low=table.low,
        high=table.high,
        lines=lines,
        in_its_code=sum(row.exact or 0 for row in rows),
        functions=[_function(row) for row in differing[:MOST_FUNCTIONS]],
        others=[_function(row) for row in others[:MOST_FUNCTIONS]],
        events=[
            _event(row, protects=row.event in protecting)
            for row in table.bill
            if row.event in protecting or row.exact or (row.exact is None and row.difference)
        ],
        predictions=[
            ProcessorCost(
                processor=each.processor, title=each.title, ns=each.ns, low=each.low,
                high=each.high, missing=each.missing,
            )
            for each in table.predictions[:MOST_PREDICTIONS]
        ],
        why_none=table.why_none,
    )  # fmt: skip


def _event(row: BillRow, *, protects: bool) -> EventCost:
    return EventCost(
        event=row.event, title=row.title, a=row.a, b=row.b, exact=row.exact, protects=protects
    )


def _function(row: ExactFunctionRow) -> PatchFunction:
    named = row.function or row.module
    return PatchFunction(function=named, exact=row.exact, difference=row.difference)


def rows_of(
    sets: Sequence[KernelSet],
    titles: Sequence[str],
    costs: Costs,
    changed: Changed,
    size: Size = lambda _before, _after: None,
) -> list[PatchRow]:
    """A row a patch; several in one where a kernel in between does not build."""
    built = [each for each in prefixes(sets) if each.release]
    rows = [
        _row(before, after, sets, titles, costs, changed).model_copy(
            update={"size": size(before, after)}
        )
        for before, after in pairwise(built)
    ]
    told = len(built[-1].patches) if built else 0
    if told < len(titles):
        rest = list(range(told + 1, len(titles) + 1))
        why = next((each.skipped for each in prefixes(sets) if each.patches[-1:] == rest[-1:]), "")
        rows.append(
            PatchRow(
                patches=rest, titles=[titles[patch - 1] for patch in rest], same_code=False,
                why_none=why or "its kernel was not built",
            )
        )  # fmt: skip
    return rows


def _row(
    before: KernelSet,
    after: KernelSet,
    sets: Sequence[KernelSet],
    titles: Sequence[str],
    costs: Costs,
    changed: Changed,
) -> PatchRow:
    patches = after.patches[len(before.patches) :]
    same = bool(after.content) and after.content == before.content
    base, alone = set_of(sets, []), set_of(sets, patches) if len(patches) == 1 else None
    differs = changed(before, after)
    row = PatchRow(
        patches=patches,
        titles=[titles[patch - 1] for patch in patches],
        same_code=same,
        costs=[] if same else costs(before, after),
        changed=sorted(differs)[:MOST_CHANGED],
        changed_count=len(differs),
    )
    if is_costly(row):
        row.alone_why = _why_not_alone(alone, patches)
    # The first one is alone after the base.
    if patches != [1] and base and alone and base.release and alone.release:
        row.alone = costs(base, alone)
    return row


def _why_not_alone(alone: KernelSet | None, patches: Sequence[int]) -> str:
    """Why what costs something was not measured alone; empty: it was."""
    if alone is not None:
        return alone.skipped
    if len(patches) > 1:
        return "they build only together"
    return "too many patches cost something"


def costs_any(cost: PatchCost) -> bool:
    """Whether it is more than what two boots of one kernel may differ by."""
    if cost.why_none:
        return False
    if cost.exact is None:
        return not _holds_zero(cost)
    return cost.in_its_code != 0 or abs(cost.exact) > ROUNDING


def is_nothing(cost: PatchCost) -> bool:
    """Whether each operation runs exactly what it ran, in the same functions and lines of cache."""
    return (
        not cost.why_none
        and cost.exact == 0
        and _holds_zero(cost)
        and not (cost.functions or cost.others or cost.lines)
    )


def _holds_zero(cost: PatchCost) -> bool:
    """Whether the interval of the difference holds 0; without one boots agree in it."""
    if cost.low is None or cost.high is None:
        return cost.difference == 0
    return cost.low <= 0 <= cost.high


def is_costly(row: PatchRow) -> bool:
    """Whether it costs anything in any case, in its place."""
    return any(map(costs_any, row.costs))


def more_sets(
    rows: Sequence[PatchRow],
    sets: Sequence[KernelSet],
    patches: Sequence[Touched],
    changed: Changed,
    alike: Alike,
) -> list[KernelSet]:
    """Kernels that are wanted next; none: all is told that can be.

    A kernel of two patches is built and not booted where its code tells whether one makes the other
    cost what it does in its place. Such kernels are wanted one by one, until one of them tells it.
    """
    costly = [row.patches[0] for row in rows if len(row.patches) == 1 and is_costly(row)]
    alone = alone_sets(costly, sets)
    if alone:
        return alone
    wanted: list[KernelSet] = []
    of_code: set[int] = set()
    for each in pair_sets(interactions_of(rows), patches, sets):
        patch = each.patches[-1]
        if not _differs_alone(patch, sets, changed, alike):
            wanted.append(each)
        elif patch not in of_code and not _is_told_by_code(patch, sets, changed, alike):
            of_code.add(patch)
            wanted.append(each.model_copy(update={"by_code": True}))
    return wanted


def _is_told_by_code(patch: int, sets: Sequence[KernelSet], changed: Changed, alike: Alike) -> bool:
    """Whether a kernel of two patches has the code that the patch changes as it is in its place."""
    pairs = [each for each in sets if each.by_code and each.release and each.patches[-1] == patch]
    return any(_has_its_code(patch, pair, sets, changed, alike) for pair in pairs)


def _has_its_code(
    patch: int, pair: KernelSet, sets: Sequence[KernelSet], changed: Changed, alike: Alike
) -> bool:
    """Whether what the patch changes has, in the kernel of a pair, the code of its place."""
    in_place = _in_place(patch, sets)
    return in_place is not None and bool(
        alike(in_place, pair, _changed_in_place(patch, sets, changed))
    )


def _differs_alone(patch: int, sets: Sequence[KernelSet], changed: Changed, alike: Alike) -> bool:
    """Whether what a patch changes has another code on the base than in its place."""
    in_place, alone = _in_place(patch, sets), set_of(sets, [patch])
    functions = _changed_in_place(patch, sets, changed)
    if not in_place or not alone or not functions:
        return False
    return alike(in_place, alone, functions) is False


def _in_place(patch: int, sets: Sequence[KernelSet]) -> KernelSet | None:
    return set_of(sets, list(range(1, patch + 1)))


def _changed_in_place(patch: int, sets: Sequence[KernelSet], changed: Changed) -> frozenset[str]:
    before, after = _in_place(patch - 1, sets), _in_place(patch, sets)
    if not before or not after or not (before.release and after.release):
        return frozenset()
    return changed(before, after)


def interactions_of(rows: Sequence[PatchRow]) -> list[Interaction]:
    """Patches whose cost in code that they change is another one after those before them."""
    return [each for row in rows for each in _of_row(row)]


def _of_row(row: PatchRow) -> Iterator[Interaction]:
    after = {(cost.case, cost.host): cost for cost in row.costs}
    for alone in row.alone:
        then = after.get((alone.case, alone.host))
        # The same code as the kernel before it: it costs nothing there.
        cost = 0 if row.same_code else then.exact if then else None
        if cost is None or alone.exact is None or abs(alone.exact - cost) <= ROUNDING:
            continue
        own = 0 if row.same_code or then is None else then.in_its_code
        if own != alone.in_its_code:
            yield Interaction(
                patch=row.patches[0], case=alone.case, host=alone.host, alone=alone.exact,
                after=cost, others=[],
            )  # fmt: skip


def with_others(
    found: Sequence[Interaction],
    sets: Sequence[KernelSet],
    costs: Costs,
    changed: Changed,
    alike: Alike,
) -> list[Interaction]:
    """The same with the patches that explain each.

    With one of these alone its functions have the code that they have in its place, or, where that
    is the code of the patch on the base too, it costs as much.
    """
    return [
        each.model_copy(update={"others": list(_others(each, sets, costs, changed, alike))})
        for each in found
    ]


def _others(
    of: Interaction, sets: Sequence[KernelSet], costs: Costs, changed: Changed, alike: Alike
) -> Iterator[int]:
    for other in range(1, of.patch):
        both = set_of(sets, [other, of.patch])
        if both is None or not both.release:
            continue
        if both.by_code:
            is_it = _has_its_code(of.patch, both, sets, changed, alike)
        else:
            is_it = _costs_as_much(of, set_of(sets, [other]), both, costs)
        if is_it:
            yield other


def _costs_as_much(
    of: Interaction, without: KernelSet | None, both: KernelSet, costs: Costs
) -> bool:
    if without is None or not without.release:
        return False
    return any(
        cost.exact is not None and abs(cost.exact - of.after) <= ROUNDING
        for cost in costs(without, both)
        if (cost.case, cost.host) == (of.case, of.host)
    )
