"""What a study came to, in sentences that stand alone. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Container, Iterator, Sequence
from itertools import chain

from mitigauge.core.documents.parts import counted
from mitigauge.measurement.selection.findings import FindingKind
from mitigauge.tracking.studies.costs import ROUNDING, costs_any, is_costly, is_nothing
from mitigauge.tracking.studies.schemas import (
    Body,
    Gate,
    Interaction,
    PatchCost,
    PatchCosts,
    PatchRow,
    SelectionGroup,
    Selections,
    VariantPlace,
    VariantRanking,
    Variants,
)

MOST_LINES = 30
MOST_CELLS = 3
# Of one patch.
MOST_WARNINGS = 3
LONGEST_TITLE = 100
# That a cost is predicted for.
MOST_PROCESSORS = 2
# What somebody must look at; another choice than before may be the aim of the series.
TO_LOOK_AT = (
    FindingKind.WORSE_THAN_ASKED, FindingKind.WEAKER, FindingKind.CONTRADICTS,
    FindingKind.NO_LONGER_TOLD,
)  # fmt: skip


def answer_of(body: Body) -> list[str]:
    """The worst first; at least one sentence."""
    lines = list(_sentences(body))
    if len(lines) > MOST_LINES:
        lines = [*lines[: MOST_LINES - 1], f"and {len(lines) - MOST_LINES + 1} more"]
    return lines


def _sentences(body: Body) -> Iterator[str]:
    if isinstance(body, PatchCosts):
        return _costs(body)
    return _selections(body) if isinstance(body, Selections) else _variants(body)


def looks_worse(body: Body) -> bool:
    """Whether a kernel chooses what somebody must look at; a cost is no fault."""
    return isinstance(body, Selections) and any(
        group.finding in TO_LOOK_AT for group in body.groups
    )


def _costs(body: PatchCosts) -> Iterator[str]:
    costly = [row for row in body.rows if is_costly(row)]
    # Of a single host the sums at the end say which.
    places = {(cost.case, cost.host) for row in body.rows for cost in row.costs}
    with_host = len({host for _, host in places}) > 1 or not body.whole
    processors = _processors(costly)
    for row in costly:
        yield from _row(row, processors, with_host=with_host)
    for each in body.interactions:
        yield _interaction(each)
    for patch, warnings in enumerate(body.warnings or [], 1):
        for warning in (warnings or [])[:MOST_WARNINGS]:
            yield f"patch {patch} adds a warning (gcc, W=1): {warning}"
        if warnings and len(warnings) > MOST_WARNINGS:
            yield f"patch {patch} adds {len(warnings) - MOST_WARNINGS} more warnings"
    for row in body.rows:
        if row.why_none:
            yield f"{_patches(row)}: not known, {row.why_none}"
    unknown = dict.fromkeys(
        f"{cost.case} on {cost.host}: {cost.why_none}"
        for row in body.rows for cost in row.costs if cost.why_none
    )  # fmt: skip
    yield from (f"not counted: {each}" for each in unknown)
    yield from _free(
        [row for row in body.rows if row not in costly and _is_known(row)], with_host=with_host
    )
    yield from _sums(body)


def _free(free: Sequence[PatchRow], *, with_host: bool) -> Iterator[str]:
    """Of patches that cost nothing that is told apart."""
    moved = [row for row in free if not row.same_code and not row.changed_count]
    for row in free:
        yield from _not_quite_nothing(row, with_host=with_host)
    still = [row for row in free if row not in moved and _is_nothing(row)]
    for words, of in _by_what_was_counted(still):
        yield from _together(of, f"nothing in {words}, by exact counts")
    lies = (
        "no function's code is known to differ, but where code or data lie may: cannot tell what "
        "that costs on a real host"
    )
    for words, of in _by_what_was_counted([row for row in moved if _is_nothing(row)]):
        yield from _together(of, f"{lies}; no instruction more in {words}")
    yield from _together([row for row in moved if not _is_nothing(row)], lies)


def _by_what_was_counted(rows: Sequence[PatchRow]) -> Iterator[tuple[str, list[PatchRow]]]:
    """Rows whose cases were all counted, and those that lack some."""
    lacking = [row for row in rows if any(cost.why_none for cost in row.costs)]
    yield "any of these cases", [row for row in rows if row not in lacking]
    yield "any case that was counted", lacking


def _together(rows: Sequence[PatchRow], words: str) -> Iterator[str]:
    patches = [patch for row in rows for patch in row.patches]
    if patches:
        yield f"patch{'es' if len(patches) > 1 else ''} {_ranges(patches)}: {words}"


def _is_nothing(row: PatchRow) -> bool:
    return row.same_code or all(is_nothing(cost) for cost in row.costs if not cost.why_none)


def _not_quite_nothing(row: PatchRow, *, with_host: bool) -> Iterator[str]:
    """Of one that costs nothing that is told apart: what differs all the same, case by case."""
    for cost in row.costs:
        if cost.why_none or is_nothing(cost):
            continue
        case = _case(cost, with_host=with_host)
        yield f"{_patches(row)}: cannot tell, {_difference(cost)} {case}{_where(cost)}"


def _case(cost: PatchCost, *, with_host: bool) -> str:
    return f"{cost.case} on {cost.host}" if with_host else cost.case


def _difference(cost: PatchCost) -> str:
    if cost.exact is None:
        return size_of(cost)
    if cost.exact:
        return f"{cost.exact:+d} instruction, as two boots of one kernel may differ by, in"
    lines = f" and {cost.lines:+g} lines of cache" if cost.lines else ""
    return f"as many instructions{lines}, but of other code, in"


def _is_known(row: PatchRow) -> bool:
    return not row.why_none and (row.same_code or any(not cost.why_none for cost in row.costs))


def _processors(rows: Sequence[PatchRow]) -> list[str]:
    """Processors named beside each cost, the same ones: those that lack the fewest prices."""
    lacking: Counter[str] = Counter()
    for cost in chain.from_iterable(row.costs for row in rows):
        for each in cost.predictions:
            lacking[each.processor] += len(each.missing)
    return sorted(lacking, key=lacking.__getitem__)[:MOST_PROCESSORS]


def _row(row: PatchRow, processors: Sequence[str], *, with_host: bool) -> Iterator[str]:
    for cost in row.costs:
        if costs_any(cost):
            case = _case(cost, with_host=with_host)
            yield f"{_patches(row)}: {size_of(cost)} {case}{_where(cost)}"
            known = {each.processor: each for each in cost.predictions}
            for each in (known[name] for name in processors if name in known):
                missing = f", without {', '.join(each.missing)}" if each.missing else ""
                yield (
                    f"  predicted for {each.title}: {each.ns:+.1f} ns "
                    f"[{each.low:+.1f}, {each.high:+.1f}]{missing}"
                )


def _mean(value: float) -> str:
    """With two digits behind the point, and one that is not 0 where that would show none."""
    return f"{value:+,.2f}" if not value or abs(value) >= 0.01 else f"{value:+.1g}"


def size_of(cost: PatchCost) -> str:
    """``exactly +12 instructions``, or about so many where they are no whole number."""
    if cost.exact is None:
        ends = (cost.low, cost.high)
        interval = "" if None in ends else f" [{', '.join(_mean(end or 0.0) for end in ends)}]"
        return (
            f"no whole number, {_mean(cost.difference)} on average{interval} instructions an "
            "operation of"
        )
    return f"exactly {cost.exact:+d} instructions an operation of"


def _where(cost: PatchCost) -> str:
    named = [
        f"{each.function} {each.difference:+.0f}" if each.exact is None
        else f"{each.function} {each.exact:+d}"
        for each in cost.functions[:3]
    ]  # fmt: skip
    beside = cost.exact - cost.in_its_code if cost.exact is not None else 0
    if beside:
        others = ", ".join(f"{each.function} {each.exact:+d}" for each in cost.others[:2])
        named.append(f"{beside:+d} in code that it does not change" + (others and f": {others}"))
    return f" ({', '.join(named)})" if named else ""


def _patches(row: PatchRow) -> str:
    title = f" {row.titles[0][:LONGEST_TITLE]!r}" if len(row.titles) == 1 else " together"
    return f"patch{'es' if len(row.patches) > 1 else ''} {_ranges(row.patches)}{title}"


def _interaction(each: Interaction) -> str:
    with_ = (
        f"with patch {' or '.join(map(str, each.others))}"
        if each.others
        else "with an earlier patch; which one cannot be told"
    )
    return (
        f"patch {each.patch} interacts {with_}: {each.after:+d} instructions an operation of "
        f"{each.case} on {each.host} in its place, {each.alone:+d} alone on the base"
    )


def _sums(body: PatchCosts) -> Iterator[str]:
    """Whether patches alone add up to the whole, case by case."""
    for whole in body.whole:
        parts = [_alone(row, whole) for row in body.rows]
        if whole.why_none or whole.exact is None:
            continue
        said = f"all patches: exactly {whole.exact:+d} instructions an operation of {whole.case}"
        if any(part is None for part in parts):
            yield f"{said} on {whole.host}; what each costs alone is not known of all"
            continue
        total = sum(part or 0 for part in parts)
        say = "as many" if total == whole.exact else f"{total:+d}, which is not that"
        if 0 < abs(total - whole.exact) <= ROUNDING:
            say = f"{total:+d}, as many but for what two boots of one kernel may differ by"
        yield f"{said} on {whole.host}; each alone on the base, they add up to {say}"


def _alone(row: PatchRow, whole: PatchCost) -> int | None:
    """What a row costs alone; of one that was not measured so, what costs nothing in its place."""
    if row.same_code:
        return 0
    for cost in row.alone or row.costs:
        if (cost.case, cost.host) == (whole.case, whole.host) and not cost.why_none:
            is_told = row.alone or row.patches == [1] or not costs_any(cost)
            return cost.exact if is_told else None
    return None


def _ranges(numbers: Sequence[int]) -> str:
    """``1-3, 7``."""
    parts: list[list[int]] = []
    for number in sorted(numbers):
        if parts and parts[-1][-1] == number - 1:
            parts[-1].append(number)
        else:
            parts.append([number])
    return ", ".join(f"{part[0]}-{part[-1]}" if len(part) > 1 else f"{part[0]}" for part in parts)


NOTHING_WEAKER = "; nothing is worse than asked, weaker than before or contradicts itself"


def _selections(body: Selections) -> Iterator[str]:
    worse = [group for group in body.groups if group.finding in TO_LOOK_AT]
    told: set[tuple[str, str]] = set()
    for group in worse:
        yield f"{group.finding}, {_kernel(body, group)}: {group.why}: {_places(group, told)}"
        told |= {(group.kernel, cell) for cell in group.cells}
    for group in body.groups:
        if group.finding == FindingKind.DOCUMENTED_OTHERWISE and _is_revision(body, group):
            yield f"{group.finding}: {group.why}"
        if group.finding == FindingKind.NO_PROOF:
            yield f"{counted(len(group.cells), 'cell')} without proof: {group.why}"
    proven = sum(not cell.unproven for cell in body.cells)
    say = "" if worse or not proven else NOTHING_WEAKER
    if say and proven < len(body.cells):
        say += ", of those that are proven"
    yield (
        f"{body.title}: {proven} of {counted(len(body.cells), 'cell')} proven on emulated "
        f"processors{say}"
    )


def _is_revision(body: Selections, group: SelectionGroup) -> bool:
    """Whether it is found of the revision: what the base's documentation says is not its doing."""
    return any(each.release == group.kernel and each.name == "this" for each in body.kernels)


def _kernel(body: Selections, group: SelectionGroup) -> str:
    named = {each.release: each.name for each in body.kernels}
    return {"base": "the base", "this": "this revision"}.get(
        named.get(group.kernel, ""), group.kernel
    )


def _places(group: SelectionGroup, told: Container[tuple[str, str]]) -> str:
    """Its cells, but for those of the kernel that were *told* before: these are counted."""
    new = [cell for cell in group.cells if (group.kernel, cell) not in told]
    if not new:
        return "there too" if len(group.cells) == 1 else f"in {len(group.cells)} of those too"
    more = len(group.cells) - MOST_CELLS
    first = [*new, *(cell for cell in group.cells if cell not in new)][:MOST_CELLS]
    return "; ".join(first) + (f"; and {more} more" if more > 0 else "")


def _variants(body: Variants) -> Iterator[str]:
    counted_ones = [each for each in body.rankings if not each.processor]
    for ranking in counted_ones:
        if any(not place.is_alike for place in ranking.places):
            yield _ranked(ranking)
            yield from (
                _predicted(each)
                for each in body.rankings
                if each.processor and (each.case, each.host) == (ranking.case, ranking.host)
            )
    alike = [each for each in counted_ones if all(place.is_alike for place in each.places)]
    for ranking in alike:
        yield f"{ranking.case} on {ranking.host}: all that are ranked run as many instructions"
    for each in body.variants:
        if each.gate is Gate.OUT:
            yield f"{each.name} is out, it does less of what protects: {each.why}"
    for each in body.variants:
        if each.same_as:
            yield f"{each.name} has the code of {each.same_as}"
    asked = body.variants[0].name
    for why in dict.fromkeys(each.why for each in body.variants if each.gate is Gate.UNKNOWN):
        names = [
            each.name for each in body.variants if each.gate is Gate.UNKNOWN and each.why == why
        ]
        yield f"whether {_listed(names)} protects as much as {asked} cannot be told: {why}"
    if not body.rankings:
        yield f"nothing is ranked: no other revision is counted that does as much as {asked}"


def _ranked(of: VariantRanking) -> str:
    first = [place.name for place in of.places if place.is_alike]
    verb = "run" if len(first) > 1 else "runs"
    return (
        f"{of.case} on {of.host}: {_listed(first)} {verb} the fewest instructions"
        f"{_others_of(of, lambda each: f'{each.more:+g}')}"
    )


def _predicted(of: VariantRanking) -> str:
    first = [place.name for place in of.places if place.is_alike]
    missing = sorted({event for place in of.places for event in place.missing})
    without = f"; without {', '.join(missing)}" if missing else ""
    rest = _others_of(of, lambda each: f"{each.more:+.1f} ns [{each.low:+.1f}, {each.high:+.1f}]")
    return f"  predicted for {of.title}: {_listed(first)} the fastest{rest}{without}"


def _others_of(of: VariantRanking, more: Callable[[VariantPlace], str]) -> str:
    said = [f"{place.name} {more(place)}" for place in of.places if not place.is_alike]
    return f"; {', '.join(said)}" if said else ""


def _listed(names: Sequence[str]) -> str:
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)
