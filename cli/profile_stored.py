"""`mitigauge profile diff` and `mitigauge profile export`: stored profiles as text."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from cli.output import Json, print_json, print_table, say
from cli.stored import stored
from mitigauge.core.errors import InvalidInput, NotFound

# Functions import the database's libraries themselves: `fold` belongs to the same group of
# commands, runs in a pipe and does not need them.
if TYPE_CHECKING:
    from sqlalchemy.orm import Session

    from mitigauge.analysis.profiles.diff.compare import Basis
    from mitigauge.analysis.profiles.diff.schemas import FunctionRow, FunctionTable
    from mitigauge.analysis.profiles.diff.sides import Selection, Sides
    from mitigauge.reporting.pages.function_schemas import FunctionCost

Experiment = Annotated[int | None, typer.Option(help="The experiment of the arms.", min=1)]
CaseName = Annotated[str, typer.Option("--case", help="The case, by number or title.")]
HostName = Annotated[str, typer.Option("--host", help="The host, if the case ran on several.")]
Tree = Annotated[str, typer.Option(help="The tree of imported profiles.")]
Guest = Annotated[bool, typer.Option("--guest", help="Use the profiles that the guest recorded.")]


def diff(
    a: Annotated[str, typer.Argument(help="Arm, or group of imported profiles.")],
    b: Annotated[str, typer.Argument(help="The arm or group to compare with A.")],
    experiment: Experiment = None,
    case: CaseName = "",
    host: HostName = "",
    tree: Tree = "",
    guest: Guest = False,
    basis: Annotated[
        str, typer.Option(help="operation, share or raw. Default: the first that both have.")
    ] = "",
    limit: Annotated[int, typer.Option(help="How many functions to list.", min=1, max=10_000)] = 20,
    json: Json = False,
) -> None:
    """List the functions whose own cost differs most between A and B, with interval and q.

    Example: mitigauge profile diff off loop --experiment 1 --case 'syscall basic'

    Example: mitigauge profile diff before after --tree web
    """
    from mitigauge.analysis.profiles.diff.function_table import function_table

    with stored() as session:
        sides = sides_named(session, a, b, experiment, case, host, tree, guest=guest)
        table = function_table(session, sides, basis=basis_named(basis), limit=limit)
    if json:
        print_json(table)
        return
    say(_head(table))
    print_table(
        [f"{table.a}, {table.unit}", table.b, "difference", "95 % interval", "q", "", "function"],
        [_cells(row) for row in table.functions],
        empty="Neither group has a sample. `mitigauge profile import --help` says how to add some.",
    )


def export(
    group: Annotated[str, typer.Argument(help="Arm, or group of imported profiles.")],
    experiment: Experiment = None,
    case: CaseName = "",
    host: HostName = "",
    tree: Tree = "",
    guest: Guest = False,
) -> None:
    """Print a group's stacks as folded text, added up over its boots, for flamegraph.pl and others.

    Example: mitigauge profile export loop --experiment 1 --case 'syscall basic' > loop.folded
    """
    from mitigauge.analysis.profiles.capture.folded_text import write_folded
    from mitigauge.analysis.profiles.store.export import folded_group
    from mitigauge.analysis.profiles.store.service import as_text

    with stored() as session:
        sides = sides_named(session, group, group, experiment, case, host, tree, guest=guest)
        if not sides.a.profiles:
            raise NotFound(
                f"there is no profile of {sides.a.label}",
                hint="Set `profile: true` for the workload in the spec, or import profiles.",
            )
        stacks = folded_group(session, sides.a.profiles)
    # Names that were stored under earlier rules may have characters that a terminal obeys.
    harmless = {as_text(stack).encode(): count for stack, count in stacks.items()}
    write_folded(harmless, sys.stdout.buffer)
    sys.stdout.buffer.flush()


def functions(
    case: Annotated[str, typer.Argument(help="The case, by number or title.")],
    experiment: Annotated[int, typer.Option(help="Its experiment.", min=1)],
    host: HostName = "",
    guest: Guest = False,
    basis: Annotated[
        str, typer.Option(help="operation, share or raw. Default: the first that all have.")
    ] = "",
    total: Annotated[
        bool, typer.Option("--total", help="With all that a function calls, not by itself.")
    ] = False,
    search: Annotated[str, typer.Option(help="Part of a function's name.")] = "",
    limit: Annotated[int, typer.Option(help="How many to list.", min=1, max=200)] = 20,
    json: Json = False,
) -> None:
    """List a case's functions over all its arms, the largest difference from the baseline first.

    Example: mitigauge profile functions 'syscall basic' --experiment 1
    """
    from mitigauge.reporting.pages.profile_functions import FunctionQuery, functions_view
    from mitigauge.reporting.pages.profiles import find_case

    with stored() as session:
        number, on_host = find_case(session, experiment, case, host)
        view = functions_view(
            session,
            experiment_id=experiment,
            case_id=number,
            host=on_host,
            system="guest" if guest else "host",
            basis=basis_named(basis),
            asked=FunctionQuery(measure="total" if total else "self", search=search, limit=limit),
        )
    if json:
        print_json(view)
        return
    marks = [
        mark
        for mark, is_so in (("EMULATED", view.emulated), ("counted time", view.counted))
        if is_so
    ]
    where = ", ".join([view.host, *marks])
    say(f"{view.case} on {where}: {view.event or 'no profile yet'}, {view.unit or 'no unit'}")
    print_table(
        ["function", *(f"{arm.arm} ({arm.profiles})" for arm in view.arms)],
        [
            [row.function, *(_cost(cell, total=total) for cell in row.cells)]
            for row in view.functions
        ],
        empty="No function to list. Set `profile: true` for the workload in the spec, or search "
        "for less.",
    )


def _cost(cell: FunctionCost | None, *, total: bool) -> str:
    """Cost, difference from the baseline, and q."""
    if cell is None:
        return "no profile"
    text = f"{cell.total if total else cell.own:.4g}"
    if cell.difference is None:
        return text
    q = "" if cell.q is None else f", q {cell.q:.2g}"
    return f"{text} ({cell.difference:+.3g}{q})"


def sides_named(
    session: Session,
    a: str,
    b: str,
    experiment: int | None,
    case: str,
    host: str,
    tree: str,
    *,
    guest: bool,
) -> Sides:
    """Both sides by the command's options."""
    from mitigauge.analysis.profiles.diff.service import imported_sides
    from mitigauge.reporting.pages.profiles import case_sides

    if tree and experiment is None:
        return imported_sides(session, tree=tree, a=a, b=b)
    if experiment is None or not case or tree:
        raise InvalidInput(
            "the profiles to read are not named",
            hint="Give --experiment and --case, or --tree for imported ones.",
        )
    of_a, of_b = selections_named(session, a, b, experiment, case, host)
    return case_sides(session, of_a, of_b, system="guest" if guest else "host")


def selections_named(
    session: Session, a: str, b: str, experiment: int, case: str, host: str
) -> tuple[Selection, Selection]:
    """Both arms of a case by the command's options."""
    from mitigauge.analysis.profiles.diff.sides import Selection
    from mitigauge.reporting.pages.profiles import find_case

    number, on_host = find_case(session, experiment, case, host)
    return (
        Selection(experiment, number, on_host, a),
        Selection(experiment, number, on_host, b),
    )


def basis_named(text: str) -> Basis | None:
    """The basis called *text*; None for the best there is."""
    match text:
        case "operation" | "share" | "raw":
            return text
        case "":
            return None
    raise InvalidInput(f"unknown basis {text!r}", hint="Choose operation, share or raw.")


def _head(table: FunctionTable) -> str:
    where = f" on {table.host}" if table.host else ""
    guest = " in the guest" if table.system == "guest" else ""
    emulated = ", EMULATED" if table.emulated else ""
    if table.counted:
        emulated += ", counted time"
    return (
        f"{table.title}{guest}{where}{emulated}: {table.event}; "
        f"{table.a} ({table.boots_a} boots) and {table.b} ({table.boots_b} boots)"
    )


def _cells(row: FunctionRow) -> list[str]:
    interval = "" if row.low is None or row.high is None else f"{row.low:+.4g} to {row.high:+.4g}"
    q = "" if row.q is None else f"{row.q:.2g}"
    mark = row.mark or (f"was {row.was}" if row.was else "")
    return [
        f"{row.a:.4g}", f"{row.b:.4g}", f"{row.difference:+.4g}", interval, q, mark,
        row.function,
    ]  # fmt: skip
