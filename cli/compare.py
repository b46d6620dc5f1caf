"""`mitigauge compare`: the same statistics over anyone's numbers."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cli.output import Json, errors, print_json, print_table, remark
from mitigauge.core.errors import InvalidInput

# What takes long to load is imported by the command when it runs.
if TYPE_CHECKING:
    from mitigauge.analysis.verdicts.boots_comparison import ArmComparison
    from mitigauge.analysis.verdicts.boots_csv import BootsFile


def compare(
    boots: Annotated[Path, typer.Argument(help="CSV file with one line an iteration.")],
    baseline: Annotated[str, typer.Option(help="The arm that the others are compared with.")],
    exploratory: Annotated[
        bool,
        typer.Option("--exploratory", help="All under Benjamini-Hochberg at 5 %, one look."),
    ] = False,
    alpha: Annotated[
        float, typer.Option(help="False alarms of a case, over all looks and arms.")
    ] = 0.01,
    delta: Annotated[float, typer.Option(help="Largest change, in percent, that is 'same'.")] = 1.0,
    budget: Annotated[
        int | None, typer.Option(help="Blocks planned, if more than the file holds.", min=1)
    ] = None,
    json: Json = False,
) -> None:
    """Judge every arm of every case and metric in a CSV file against a baseline.

    Columns, in any order: case, metric, unit, direction, host, block, arm, boot,
    iteration, value. Needed are arm, value, and block or boot. The boot is the
    sample: its iterations are averaged. A block is one pass over all arms on one
    host; without the column, the first boots of all arms are paired, the second
    ones, and so on. Without direction, lower is better. Boots of several hosts are
    blocks of their own, and judged together.

    Verdicts are looked for after 4, 6, 8, 12, 16 … blocks, as if the rest had not
    been measured yet; the first decision stands.
    """
    from mitigauge.analysis.verdicts.boots_comparison import compare as compare_boots

    with errors().status("reading"):
        file = _read(boots)
    for note in file.remarks:
        remark(f"note: {note}")
    with errors().status("judging"):
        answers = compare_boots(
            file.measured(),
            baseline=baseline,
            alpha=alpha,
            delta_percent=delta,
            planned_blocks=budget,
            exploratory=exploratory,
        )
    if json:
        print_json(answers)
        return
    _print(answers, exploratory=exploratory)


def _read(path: Path) -> BootsFile:
    from mitigauge.analysis.verdicts.boots_csv import BootsFile

    try:
        with path.open(encoding="utf-8-sig", newline="") as lines:
            return BootsFile(lines, name=str(path))
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidInput(
            f"{path} cannot be read: {error}", hint="Give a CSV file in UTF-8."
        ) from error


def _print(answers: Sequence[ArmComparison], *, exploratory: bool) -> None:
    print_table(
        ["case", "metric", "arm", "verdict", "effect", "95 % interval", "q" if exploratory else "p",
         "blocks", "look", "mde", "note"],
        [_row(answer) for answer in answers],
        empty="The file has boots of the baseline only, so there is nothing to compare. "
        "`mitigauge compare --help` lists the columns.",
    )  # fmt: skip


def _row(answer: ArmComparison) -> list[str]:
    probability = answer.p if answer.q is None else answer.q
    low, high = answer.ci_low_percent, answer.ci_high_percent
    return [
        answer.case,
        answer.metric,
        answer.arm,
        answer.verdict,
        _percent(answer.effect_percent),
        "" if low is None or high is None else f"[{low:+.2f}, {high:+.2f}]",
        "" if probability is None else f"{probability:.2g}",
        str(answer.blocks_used),
        str(answer.decided_at_look or ""),
        "" if answer.mde_percent is None else f"{answer.mde_percent:.2f} %",
        answer.note,
    ]


def _percent(value: float | None) -> str:
    return "" if value is None else f"{value:+.2f} %"
