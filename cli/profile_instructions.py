"""`mitigauge profile instructions`: a function's instructions on both sides, as text."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated

import typer

from cli.output import Json, print_json, print_table, say
from cli.profile_stored import CaseName, Experiment, HostName, basis_named, sides_named
from cli.stored import stored

if TYPE_CHECKING:
    from mitigauge.analysis.profiles.diff.schemas import InstructionRow, InstructionTable

SHOWN_FUNCTIONS = 20
KINDS = {"both": "on both sides", "new": "new in B", "gone": "gone from A"}


def instructions(
    a: Annotated[str, typer.Argument(help="Arm.")],
    b: Annotated[str, typer.Argument(help="The arm to compare with A.")],
    experiment: Experiment = None,
    case: CaseName = "",
    host: HostName = "",
    function: Annotated[
        str, typer.Option(help="The function, by its name in B's kernel. Default: list them.")
    ] = "",
    basis: Annotated[
        str, typer.Option(help="operation, share or raw. Default: the first that both have.")
    ] = "",
    every: Annotated[
        bool, typer.Option("--all", help="List instructions without a sample, too.")
    ] = False,
    json: Json = False,
) -> None:
    """Show a function's instructions in A and B side by side, as the kernel patched them.

    Of each: what it costs an operation, the difference with its interval, and q over the
    function's instructions. Kept are the hottest functions of the kernel in each profiled pass.

    Example: mitigauge profile instructions off loop --experiment 1 --case 'syscall basic'
    --function do_syscall_64
    """
    from mitigauge.analysis.profiles.diff.instruction_table import instruction_table

    with stored() as session:
        sides = sides_named(session, a, b, experiment, case, host, "", guest=False)
        table = instruction_table(session, sides, function=function, basis=basis_named(basis))
    if json:
        print_json(table)
        return
    if table.why_none:
        say(table.why_none)
        if table.functions:
            say(f"With instructions: {', '.join(table.functions[:SHOWN_FUNCTIONS])}.")
        return
    for line in _head(table):
        say(line)
    print_table(
        [f"{table.a}, {table.unit}", table.b, "difference", "95 % interval", "q", "",
         f"in {table.a}", f"in {table.b}"],
        [_cells(row) for part in table.parts for row in part.rows if every or _counts(row)],
        empty="None of its instructions has a sample; --all lists them.",
    )  # fmt: skip
    say(table.skid)


def _counts(row: InstructionRow) -> bool:
    return bool(row.samples_a or row.samples_b or (row.mark and "int3" not in _texts(row)))


def _texts(row: InstructionRow) -> tuple[str, str]:
    return row.text_a, row.text_b


def _head(table: InstructionTable) -> Iterator[str]:
    emulated = ", EMULATED" if table.emulated else ""
    counted = ", counted time" if table.counted else ""
    yield (
        f"{table.function}, {table.title} on {table.host}{emulated}{counted}: {table.event}; "
        f"{table.a} ({table.boots_a} boots) and {table.b} ({table.boots_b} boots)"
    )
    left_out = (
        table.missing_a + table.missing_b, table.other_code_a + table.other_code_b,
    )  # fmt: skip
    if any(left_out):
        yield f"left out: {left_out[0]} boots without its code, {left_out[1]} that ran other code"
    for each in table.sums:
        difference = "unknown" if each.difference is None else f"{each.difference:+.4g}"
        interval = _interval(each.low, each.high)
        of = f" ({interval})" if interval else ""
        yield (
            f"{each.instructions} instructions {KINDS[each.kind]}: {difference}{of} {table.unit}"
            + (f", q {each.q:.2g}" if each.q is not None else "")
        )


def _cells(row: InstructionRow) -> list[str]:
    return [
        _figure(row.a, row.place_a), _figure(row.b, row.place_b),
        "" if row.difference is None else f"{row.difference:+.4g}",
        _interval(row.low, row.high), "" if row.q is None else f"{row.q:.2g}", row.mark,
        _placed(row.place_a, row.text_a), _placed(row.place_b, row.text_b),
    ]  # fmt: skip


def _figure(value: float | None, place: int | None) -> str:
    return "" if value is None or place is None else f"{value:.4g}"


def _interval(low: float | None, high: float | None) -> str:
    return "" if low is None or high is None else f"{low:+.4g} to {high:+.4g}"


def _placed(place: int | None, text: str) -> str:
    return "" if place is None else f"+{place:x} {text}"
