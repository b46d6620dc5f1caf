"""`mitigauge profile exact`: what an operation runs on both sides, to the instruction."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated

import typer

from cli.output import Json, print_json, print_table, say
from cli.profile_stored import CaseName, HostName, selections_named
from cli.stored import stored

if TYPE_CHECKING:
    from mitigauge.analysis.profiles.exact.schemas import (
        BillRow,
        ExactFunctionRow,
        ExactLineRow,
        ExactSide,
        ExactTable,
        FootprintRow,
    )

# Processors that are predicted for in text: this machine's, and two of the reader's choice.
PREDICTIONS = 3


def exact(
    a: Annotated[str, typer.Argument(help="Arm.")],
    b: Annotated[str, typer.Argument(help="The arm to compare with A.")],
    experiment: Annotated[int, typer.Option(help="The experiment of the arms.", min=1)],
    case: CaseName = "",
    host: HostName = "",
    function: Annotated[
        str, typer.Option(help="List its instructions, by its name in B's kernel.")
    ] = "",
    processor: Annotated[
        list[str] | None,
        typer.Option(help="Predict for this one first, after this machine's; again for each."),
    ] = None,
    limit: Annotated[int, typer.Option(help="How many functions to list.", min=1, max=2000)] = 20,
    json: Json = False,
) -> None:
    """Show what an operation runs in A and in B, counted by the emulator of a lab host.

    Nothing is sampled: where every boot ran the same, a difference is a whole number of
    instructions. The sum over all functions is the time that was measured.

    Example: mitigauge profile exact off loop --experiment 1 --case 'syscall basic'
    """
    from mitigauge.reporting.pages.exact import exact_difference

    with stored() as session:
        sides = selections_named(session, a, b, experiment, case, host)
        table = exact_difference(session, *sides, function=function, processors=processor or ())
    if json:
        print_json(table)
        return
    if table.why_none:
        say(table.why_none)
        return
    for line in head(table):
        say(line)
    if function:
        repeated = any(row.repeats_a or row.repeats_b for row in table.instructions)
        repeats = ["repeats", "repeats"] if repeated else []
        print_table(
            [
                table.a.label,
                table.b.label,
                *repeats,
                "",
                f"in {table.a.label}",
                f"in {table.b.label}",
            ],
            [_line(row, with_repeats=repeated) for row in table.instructions],
            empty=f"No operation runs {function}; without --function its callers are listed.",
        )
        return
    changed = [row for row in table.functions if _differs(row)]
    print_table(
        [table.a.label, table.b.label, "difference", "", "function"],
        [_cells(row) for row in changed[:limit]],
        empty="No function runs a hundredth of an instruction an operation more or less in "
        f"{table.b.label}.",
    )
    if len(changed) > limit:
        say(f"{len(changed) - limit} more functions differ; --limit lists more of them.")
    print_table(
        [table.a.label, table.b.label, "difference", "the footprint of an operation"],
        [_counted(row) for row in table.footprint],
        empty="No operation runs any code.",
    )
    print_table(
        [table.a.label, table.b.label, "difference", "the bill of an operation"],
        [_counted(row) for row in table.bill],
        empty="No operation does what costs on real processors beside its instructions.",
    )
    for line in predictions(table):
        say(line)


def head(table: ExactTable) -> Iterator[str]:
    """The answer, and what it stands on."""
    yield f"{table.title} on {table.host}, EMULATED, counted time; instructions an operation"
    interval = "" if table.low is None else f" (95 %: {table.low:+.2f} to {table.high:+.2f})"
    each = "not the same number each time" if table.exact is None else f"{table.exact:+d}"
    yield (
        f"each operation: {each} in {table.b.label}; with all that ran beside it "
        f"{table.difference:+.2f}{interval}"
    )
    for side in (table.a, table.b):
        yield _describe_side(side)


def predictions(table: ExactTable) -> Iterator[str]:
    """What the difference costs on processors whose prices are known; predicted, never measured."""
    if not table.predictions:
        yield "No prices of a processor are known (prices/README.md), so nothing is predicted."
    for each in table.predictions[:PREDICTIONS]:
        unknown = f", without {', '.join(each.missing)}: price unknown" if each.missing else ""
        yield (
            f"predicted for {each.title}: {each.ns:+.1f} ns an operation "
            f"({each.low:+.1f} to {each.high:+.1f}){unknown}"
        )
        for source in dict.fromkeys(part.source for part in each.parts):
            of = ", ".join(part.event for part in each.parts if part.source == source)
            yield f"  {of}: {source}"
    if len(table.predictions) > PREDICTIONS:
        more = len(table.predictions) - PREDICTIONS
        yield f"Prices of {more} more processors are known: `mitigauge price list`."


def _counted(row: BillRow | FootprintRow) -> list[str]:
    difference = f"{row.exact:+d}" if row.exact is not None else f"{row.difference:+.2f}"
    return [f"{row.a:.2f}", f"{row.b:.2f}", difference, row.title]


def _describe_side(side: ExactSide) -> str:
    missing = f"; without counts: {'; '.join(side.missing)}" if side.missing else ""
    boots = "1 boot" if side.boots == 1 else f"{side.boots} boots"
    return (
        f"{side.label}: {side.steady} in each operation, {side.instructions - side.steady:.2f} "
        f"beside it: {side.counted_ns:.2f} ns; measured {side.measured_ns:.2f} ns, "
        f"{boots}{missing}"
    )


def _differs(row: ExactFunctionRow) -> bool:
    return bool(row.exact) if row.exact is not None else abs(row.difference) >= 0.01


def _cells(row: ExactFunctionRow) -> list[str]:
    difference = f"{row.exact:+d}" if row.exact is not None else f"{row.difference:+.2f}"
    if row.low is not None:
        difference += f" ({row.low:+.2f} to {row.high:+.2f})"
    name = row.function or f"[{row.module}]"
    of = "" if row.module == "kernel" or not row.function else f" [{row.module}]"
    was = f", was {row.was}" if row.was else ""
    return [f"{row.a:.2f}", f"{row.b:.2f}", difference, row.mark, f"{name}{of}{was}"]


def _line(row: ExactLineRow, *, with_repeats: bool) -> list[str]:
    repeats = [f"{each:g}" if each else "" for each in (row.repeats_a, row.repeats_b)]
    return [
        "" if row.place_a is None else f"{row.a:g}",
        "" if row.place_b is None else f"{row.b:g}",
        *(repeats if with_repeats else []),
        row.mark,
        "" if row.place_a is None else f"+{row.place_a:x} {row.text_a}",
        "" if row.place_b is None else f"+{row.place_b:x} {row.text_b}",
    ]
