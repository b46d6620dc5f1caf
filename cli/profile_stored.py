"""`mitigauge profile diff` and `export`: profiles that are stored, without a browser."""

from __future__ import annotations

import sys
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Annotated

import typer

from cli.output import Json, print_json, print_table, say
from mitigauge.errors import InvalidInput, NotFound

# The database's libraries are imported by those who need them: `fold` is of the same
# group of commands, stands in a pipe and must not wait.
if TYPE_CHECKING:
    from sqlalchemy.orm import Session

    from mitigauge.profiles.comparing import Sides
    from mitigauge.profiles.diff import Basis
    from mitigauge.profiles.schemas import FunctionRow, FunctionTable

Experiment = Annotated[int | None, typer.Option(help="The experiment of the arms.", min=1)]
CaseName = Annotated[str, typer.Option("--case", help="Its case, by number or title.")]
HostName = Annotated[str, typer.Option("--host", help="Where it ran, if on several hosts.")]
Tree = Annotated[str, typer.Option(help="Of imported profiles: what was profiled.")]
Guest = Annotated[bool, typer.Option("--guest", help="The guest's own profiles.")]


def diff(
    a: Annotated[str, typer.Argument(help="Arm, or group of imported profiles.")],
    b: Annotated[str, typer.Argument(help="The other one.")],
    experiment: Experiment = None,
    case: CaseName = "",
    host: HostName = "",
    tree: Tree = "",
    guest: Guest = False,
    basis: Annotated[str, typer.Option(help="operation, share or raw; the best there is.")] = "",
    limit: Annotated[int, typer.Option(help="So many functions.", min=1, max=10_000)] = 20,
    json: Json = False,
) -> None:
    """Which functions cost more or less themselves in B than in A, with interval and q.

    Example: mitigauge profile diff off loop --experiment 1 --case 'syscall basic'

    Example: mitigauge profile diff before after --tree web
    """
    from mitigauge.profiles.listing import function_table

    with _stored() as session:
        sides = _sides(session, a, b, experiment, case, host, tree, guest=guest)
        table = function_table(session, sides, basis=_basis(basis), limit=limit)
    if json:
        print_json(table)
        return
    say(_head(table))
    print_table(
        [f"{table.a}, {table.unit}", table.b, "difference", "95 % interval", "q", "", "function"],
        [_cells(row) for row in table.functions],
        empty="Neither group has a sample.",
    )


def export(
    group: Annotated[str, typer.Argument(help="Arm, or group of imported profiles.")],
    experiment: Experiment = None,
    case: CaseName = "",
    host: HostName = "",
    tree: Tree = "",
    guest: Guest = False,
) -> None:
    """A group's stacks as folded text, its boots added up: what flamegraph.pl and others read.

    Example: mitigauge profile export loop --experiment 1 --case 'syscall basic' > loop.folded
    """
    from mitigauge.profiles.folded import write_folded
    from mitigauge.profiles.listing import folded_group
    from mitigauge.profiles.storing import as_text

    with _stored() as session:
        sides = _sides(session, group, group, experiment, case, host, tree, guest=guest)
        if not sides.a.profiles:
            raise NotFound(
                f"there is no profile of {sides.a.label}",
                hint="Say `profile: true` for the workload in the spec, or import some.",
            )
        stacks = folded_group(session, sides.a.profiles)
    # Stored names may be older than the rules for what is stored.
    harmless = {as_text(stack).encode(): count for stack, count in stacks.items()}
    write_folded(harmless, sys.stdout.buffer)
    sys.stdout.buffer.flush()


def _stored() -> AbstractContextManager[Session]:
    """A transaction on a database whose schema is at head."""
    from mitigauge.database import get_engine, require_head, transaction

    require_head(get_engine())
    return transaction()


def _sides(
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
    from mitigauge.experiments.views import show_experiment
    from mitigauge.profiles.comparing import Selection
    from mitigauge.profiles.listing import place_of_case
    from mitigauge.profiles.service import case_sides, imported_sides

    if tree and experiment is None:
        return imported_sides(session, tree=tree, a=a, b=b)
    if experiment is None or not case or tree:
        raise InvalidInput(
            "which profiles is not said",
            hint="Give --experiment and --case, or --tree for imported ones.",
        )
    number, place = place_of_case(show_experiment(session, experiment), case, host)
    of_a, of_b = (Selection(experiment, number, place, arm) for arm in (a, b))
    return case_sides(session, of_a, of_b, side="guest" if guest else "host")


def _basis(text: str) -> Basis | None:
    match text:
        case "operation" | "share" | "raw":
            return text
        case "":
            return None
    raise InvalidInput(f"unknown basis {text!r}", hint="Take operation, share or raw.")


def _head(table: FunctionTable) -> str:
    where = f" on {table.host}" if table.host else ""
    guest = " in the guest" if table.where == "guest" else ""
    emulated = ", EMULATED" if table.emulated else ""
    return (
        f"{table.title}{guest}{where}{emulated}: {table.event}; "
        f"{table.a} ({table.boots_a} boots) and {table.b} ({table.boots_b} boots)"
    )


def _cells(row: FunctionRow) -> list[str]:
    interval = "" if row.low is None or row.high is None else f"{row.low:+.4g} to {row.high:+.4g}"
    q = "" if row.q is None else f"{row.q:.2g}"
    return [
        f"{row.a:.4g}", f"{row.b:.4g}", f"{row.difference:+.4g}", interval, q, row.mark,
        row.function,
    ]  # fmt: skip
