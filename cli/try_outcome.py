"""What `mitigauge try` says after the report: instructions, functions, the flame graph's file."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from cli.output import echo, say
from mitigauge.core.documents.parts import counted
from mitigauge.core.effect import CellState

# What takes long to load is imported by what needs it.
if TYPE_CHECKING:
    from sqlalchemy.orm import Session

    from mitigauge.analysis.profiles.diff.sides import Selection, Sides
    from mitigauge.analysis.profiles.exact.schemas import ExactFunctionRow, ExactTable
    from mitigauge.reporting.pages.schemas import CellView, ExperimentView, RowView

FUNCTIONS = 5
# Of each kernel, from which what boots differ by is told from what kernels differ by.
TELLING_BOOTS = 2


def instructions(view: ExperimentView) -> Iterator[str]:
    """Each case's difference in instructions an operation, which the host's clock counts."""
    from lab.execution import COUNTED_SHIFT

    for row, cell in _cells(view):
        baseline = next((c.mean for c in row.cells if c.state == CellState.BASELINE), None)
        if row.unit != "ns" or baseline is None or cell.effect_percent is None:
            continue
        each = baseline / 100 / 2**COUNTED_SHIFT
        what = "a call" if row.workload == "syscall" else "an operation"
        said = f"{cell.effect_percent * each:+.1f} instructions {what}"
        if cell.ci_low_percent is None or cell.ci_high_percent is None:
            yield f"{row.case}: {said}, no interval from one boot"
            continue
        low, high = cell.ci_low_percent * each, cell.ci_high_percent * each
        yield f"{row.case}: {said} [{low:+.1f}, {high:+.1f}]: {cell.verdict or 'no verdict'}"


def exact_answer(
    session: Session, view: ExperimentView, arm: str, changed_code: Collection[str] = ()
) -> Iterator[str]:
    """What the patches add to each operation, to the instruction, and which cases run them.

    *changed_code*: functions whose code differs between the kernels; empty: not known. One boot a
    kernel does not tell what others differ by from what memory a boot happened to find.
    """
    from cli.profile_exact import predictions
    from mitigauge.reporting.pages.exact import exact_difference

    cases: dict[str, list[str]] = {}
    for row in _counted(view):
        table = exact_difference(session, *_selections(view, row, arm))
        if table.why_none:
            yield f"{row.case}: {table.why_none}"
            continue
        differing = [each for each in table.functions if each.exact]
        uneven = [each for each in table.functions if _is_uneven(each, changed_code)]
        by_boot = changed_code and min(table.a.boots, table.b.boots) < TELLING_BOOTS
        changed = [each for each in differing if not by_boot or each.function in changed_code]
        cases.setdefault(_run_of(table, changed_code), []).append(row.case)
        for each in changed[:FUNCTIONS]:
            yield (
                f"{row.case}: exactly {each.exact:+d} instructions an operation in "
                f"{each.function or each.module}{_marked(each.mark, each.was)}"
            )
        for each in uneven[:FUNCTIONS]:
            yield (
                f"{row.case}: on average {each.difference:+.2f} instructions an operation in "
                f"{each.function or each.module}{_marked(each.mark, each.was)}, "
                "not the same number each time"
            )
        if len(changed) > FUNCTIONS:
            yield f"{row.case}: {len(changed) - FUNCTIONS} more functions differ"
        if len(differing) > len(changed):
            others = counted(len(differing) - len(changed), "function")
            yield (
                f"{row.case}: {others} that the patches do not change differ too, as boots do: "
                "two boots of each kernel tell (--blocks 2)"
            )
        elif changed:
            yield from (f"{row.case}: {line}" for line in predictions(table))
    yield from (f"{said}: {', '.join(cases[said])}" for said in RUN_OF if said in cases)


RUNS = "cases that run what was changed"
RUNS_NONE = "cases that run no function that differs between the kernels"
CANNOT_TELL = "cases of which it cannot be told whether they run what was changed"
RUN_OF = (RUNS, RUNS_NONE, CANNOT_TELL)


def _run_of(table: ExactTable, changed_code: Collection[str]) -> str:
    """What is known of a case: all functions that it runs are listed, unless some are left out.

    A difference in no function that was changed may be what a changed object makes of others.
    """
    if any(each.function in changed_code for each in table.functions):
        return RUNS
    is_alike = table.exact == 0 and not any(each.exact for each in table.functions)
    is_known = bool(changed_code) and not table.left_out
    return RUNS_NONE if is_known and is_alike else CANNOT_TELL


def _is_uneven(row: ExactFunctionRow, changed_code: Collection[str]) -> bool:
    """Whether the patches change a function that operations run different numbers of times."""
    return row.exact is None and row.function in changed_code and bool(row.difference)


def _marked(mark: str, was: str) -> str:
    told = f"was {was}" if was else mark
    return f", {told}" if told else ""


def explain(session: Session, view: ExperimentView, arm: str, report: Path) -> None:
    """Say which functions cost more in each profiled case, and write its flame graph to a file."""
    from mitigauge.analysis.profiles.diff.draw import TOOLS, installed
    from mitigauge.analysis.profiles.diff.function_table import function_table
    from mitigauge.analysis.profiles.diff.service import diff_svg

    for row in _profiled(view):
        sides = _sides(session, view, row, arm)
        if not (sides.a.profiles and sides.b.profiles):
            say(f"{row.case}: no profile")
            continue
        table = function_table(session, sides, basis=None, limit=FUNCTIONS)
        say(f"{row.case}: functions that differ most, {table.unit}")
        for function in table.functions:
            marked = _marked(function.mark, function.was)
            say(f"  {function.difference:+10.2f}  {function.function}{marked}")
            for line in _changed_code(session, sides, function.function):
                say(f"  {'':10}  {line}")
        if installed():
            path = report.with_name(f"{report.stem}-case-{row.case_id}.svg")
            path.write_bytes(diff_svg(session, sides, basis=None, merged=True))
            echo(f"flame graph of the difference: {path}")
        else:
            where = f"/experiments/{view.id}"
            say(f"Its flame graph: `mitigauge serve`, then {where}; as a file with {TOOLS[0]}.")


def _changed_code(session: Session, sides: Sides, function: str) -> Iterator[str]:
    """Which of its instructions only one kernel has, where its code was kept."""
    from mitigauge.analysis.profiles.diff.instruction_table import instruction_table

    table = instruction_table(session, sides, function=function, basis=None)
    for each in table.sums:
        if each.kind != "both" and each.difference is not None:
            yield f"{each.instructions} instructions {each.kind}: {each.difference:+.2f}"


def _counted(view: ExperimentView) -> Iterator[RowView]:
    """A row of each case whose instructions may have been counted."""
    from mitigauge.measurement.catalog import Catalog

    workloads = Catalog().workloads
    rows = {row.case_id: row for c in view.comparisons for row in c.rows}
    yield from (row for row in rows.values() if workloads[row.workload].exact)


def _profiled(view: ExperimentView) -> Iterator[RowView]:
    """A row of each profiled case."""
    rows = {row.case_id: row for c in view.comparisons for row in c.rows if row.profiled}
    yield from rows.values()


def _sides(session: Session, view: ExperimentView, row: RowView, arm: str) -> Sides:
    from mitigauge.reporting.pages.profiles import case_sides

    return case_sides(session, *_selections(view, row, arm), system="host")


def _selections(view: ExperimentView, row: RowView, arm: str) -> tuple[Selection, Selection]:
    """The baseline's boots of a case, and the arm's."""
    from mitigauge.analysis.profiles.diff.sides import Selection

    arms = next(c.arms for c in view.comparisons if row in c.rows)
    baseline = next(each.name for each in arms if each.is_baseline)
    return (
        Selection(view.id, row.case_id, row.host, baseline),
        Selection(view.id, row.case_id, row.host, arm),
    )


def _cells(view: ExperimentView) -> Iterator[tuple[RowView, CellView]]:
    """What was measured of the patched kernel."""
    for comparison in view.comparisons:
        for row in comparison.rows:
            yield from ((row, cell) for cell in row.cells if cell.state == CellState.MEASURED)
