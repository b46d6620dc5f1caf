"""`mitigauge experiment compare`: any two experiments beside each other."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated

import typer

from cli.experiment_name import experiment_number
from cli.output import Json, echo, print_json
from cli.source import answer
from mitigauge.core.errors import InvalidInput
from mitigauge.core.stats.bounds import Bound

# What takes long to load is imported by the command when it runs.
if TYPE_CHECKING:
    from mitigauge.reporting.pages.pair_schemas import (
        LevelRatio,
        PairCell,
        PairRow,
        PairSide,
        PairSort,
        PairView,
    )

COLUMNS = 80
FEW = 20


def compare(
    a: Annotated[int, typer.Argument(help="Number or name of one, A.", parser=experiment_number)],
    b: Annotated[
        int, typer.Argument(help="Number or name of the other, B.", parser=experiment_number)
    ],
    find: Annotated[
        str, typer.Option(help="Words, each in case, workload, metric, arm or host.")
    ] = "",
    workload: Annotated[str, typer.Option(help="Only that workload.")] = "",
    only_differing: Annotated[
        bool, typer.Option("--only-differing", help="Only rows that differ.")
    ] = False,
    hosts: Annotated[
        list[str] | None,
        typer.Option(help="A host of A, a colon, a host of B; repeated: several pairs."),
    ] = None,
    sort: Annotated[
        str, typer.Option(help="difference: largest first; q: surest first; plan: as planned.")
    ] = "difference",
    offset: Annotated[int, typer.Option(min=0, max=10**7, help="Leave out so many rows.")] = 0,
    limit: Annotated[int, typer.Option(min=1, max=5000, help="Rows at most.")] = FEW,
    json: Json = False,
) -> None:
    """Set two experiments side by side: both effects of every row they share, and the difference.

    Rows are matched by workload, parameters, metric, unit and clock; arms by mode, then by name;
    baselines with each other; hosts with themselves, or as --hosts says. An effect is against its
    own experiment's baseline, so what the host adds cancels in the difference. A row differs
    where its false discovery rate is 5 % or less over all rows, whatever is filtered.

    Example: mitigauge experiment compare 1 2 --only-differing

    Example: mitigauge experiment compare 1 2 --hosts lab-intel:lab-amd

    `mitigauge compare` judges a CSV file of your own instead.
    """
    from mitigauge.reporting.pages import experiment_pair as views
    from mitigauge.reporting.pages.pair_schemas import PairView

    query = views.PairQuery(
        find, workload, only_differing, _sort(sort), views.host_pairs(hosts or []), offset, limit
    )
    view = answer(
        lambda session: views.show_pair(session, a, b, query),
        lambda client: client.get(
            "/api/pairs", PairView, a=a, b=b, find=find, workload=workload,
            only="differs" if only_differing else "", hosts=hosts or [], sort=sort, offset=offset,
            limit=limit,
        ),
        reads=True,
    )  # fmt: skip
    if json:
        print_json(view)
        return
    echo("\n".join(lines_of(view)))


def _sort(word: str) -> PairSort:
    from mitigauge.reporting.pages.pair_schemas import PairSort

    if word not in list(PairSort):
        raise InvalidInput(
            f"--sort: {word!r} is no order", hint=f"Choose one of {', '.join(PairSort)}."
        )
    return PairSort(word)


def lines_of(view: PairView) -> Iterator[str]:
    """The answer, what differs, and the rows, in lines of at most 80 columns."""
    yield from _wrapped(view.sentence)
    yield from _side("A", view.a)
    yield from _side("B", view.b)
    differing = [fact for fact in view.facts if fact.differs]
    if differing:
        yield from ("", "What differs between them:")
    for fact in differing:
        yield from _wrapped(f"{fact.what}: A {fact.a}; B {fact.b}", indent=2)
    if view.unmatched:
        reasons = ", ".join(f"{each.rows} {_UNMATCHED[each.reason]}" for each in view.unmatched)
        yield from ("", *_wrapped(f"Rows without a pair: {reasons}."))
    yield ""
    for notice in view.notices:
        yield from _wrapped(notice)
    for row in view.rows:
        yield from ("", *_row(row))
    yield from ("", *_wrapped(_rest(view)))


_UNMATCHED = {
    "only-in-a": "only in A",
    "only-in-b": "only in B",
    "host-only-in-a": "on hosts of A without a pair",
    "host-only-in-b": "on hosts of B without a pair",
    "other-clock": "of another clock",
    "other-unit": "of another unit",
}


def _wrapped(text: str, indent: int = 0) -> list[str]:
    return textwrap.wrap(
        text, COLUMNS, initial_indent=" " * indent, subsequent_indent=" " * (indent + 2)
    )


def _side(letter: str, side: PairSide) -> list[str]:
    at = side.finished_at or side.started_at
    marks = [word for word, is_so in (("emulated", side.emulated), ("counted", side.counted))
             if is_so]  # fmt: skip
    parts = [
        f"{letter}  experiment {side.id}, {side.name}", side.state.value,
        f"{at:%Y-%m-%d}" if at else "not begun", ", ".join(side.hosts), *marks,
    ]  # fmt: skip
    return _wrapped("; ".join(part for part in parts if part))


def _row(row: PairRow) -> Iterator[str]:
    from mitigauge.core.documents import units

    yield from _wrapped(f"{row.case}, {row.metric_title}: {row.arm} on {row.host}")
    said = row.judgement.value.replace("-", " ")
    figures = row.difference_percent, row.low_percent, row.high_percent
    is_exact = row.a.bound is row.b.bound is Bound.EXACT
    difference = _figure(
        *figures, is_points=row.is_points, bound=Bound.EXACT if is_exact else Bound.NOTHING
    )
    parts = [f"{difference} {said}".strip()]
    if said == "no difference seen" and row.detectable_percent is not None:
        parts.append(units.detectable(row.detectable_percent))
    if row.q is not None:
        parts.append(f"q {row.q:.2g}")
    yield from _wrapped("; ".join(parts), indent=2)
    yield from _wrapped(f"A {_cell(row.a)}", indent=2)
    yield from _wrapped(f"B {_cell(row.b)}", indent=2)
    levels = [
        f"{of} {_level(ratio)}"
        for of, ratio in (("arm", row.level), ("baseline", row.baseline_level))
        if ratio is not None
    ]
    if levels:
        yield from _wrapped(f"level, B over A: {'; '.join(levels)}", indent=2)
    if row.note:
        yield from _wrapped(row.note, indent=2)


def _cell(cell: PairCell) -> str:
    figure = _figure(
        cell.effect_percent, cell.ci_low_percent, cell.ci_high_percent, bound=cell.bound
    )
    if not figure:
        return cell.state.value.replace("_", " ")
    return f"{figure} {cell.verdict or 'undecided'}, n {cell.n}"


def _level(ratio: LevelRatio) -> str:
    return _figure(ratio.percent, ratio.low_percent, ratio.high_percent)


def _figure(
    value: float | None,
    low: float | None,
    high: float | None,
    *,
    is_points: bool = False,
    bound: Bound = Bound.EXACT,
) -> str:
    """The figure with its interval, where there is one; empty where there is no figure."""
    from mitigauge.core.documents import units
    from mitigauge.core.effect import PERCENT, Effect

    if value is None:
        return ""
    unit = "points" if is_points else PERCENT
    return units.effect(Effect(value=value, low=low, high=high, unit=unit, bound=bound))


def _rest(view: PairView) -> str:
    if not view.rows:
        if view.total:
            return f"There are {view.total} rows, fewer than are left out; give a smaller --offset."
        if view.matched:
            return "No row is like that. Leave one of the options out."
        return "Pair other hosts by --hosts, or choose other experiments."
    shown = f"Rows {view.offset + 1} to {view.offset + len(view.rows)} of {view.total}."
    if view.next_offset is None:
        return shown
    return f"{shown} More with --offset {view.next_offset}, or fewer with --only-differing."
