"""`mitigauge experiment limits`: an experiment beside the limits of a file, for people and CI."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cli.experiment_name import Id
from cli.output import Json, print_json, print_table, say
from cli.remote.routes import at
from cli.source import answer

if TYPE_CHECKING:
    from mitigauge.analysis.verdicts.metric_limits import Limits
    from mitigauge.reporting.pages.metric_limits import LimitRow

# As `experiment wait --by-verdict` ends where anything is worse.
BROKEN, CANNOT_TELL = 3, 4


def limits(
    experiment_id: Id,
    file: Annotated[Path, typer.Option("--file", help="The limits, YAML.", exists=False)],
    json: Json = False,
) -> None:
    """Say of each limit of a file whether the experiment keeps it.

    A limit is kept where the whole 95 % interval lies on its good side, broken where all of it
    lies beyond. Ends with 0 where all are kept, 3 where one is broken, 4 where one cannot be told.
    docs/results.md has the form of the file.

    Example: mitigauge experiment limits 12 --file limits.yml
    """
    from mitigauge.analysis.verdicts.metric_limits import Kept
    from mitigauge.reporting.pages.metric_limits import LimitRow, beside_limits, worst

    asked = _read(file)
    rows = answer(
        lambda session: beside_limits(session, experiment_id, asked),
        lambda client: client.post(
            at("/api/experiments/{}/limits", experiment_id), list[LimitRow],
            asked.model_dump(mode="json", exclude_defaults=True),
        ),
        reads=True,
    )  # fmt: skip
    said = worst(rows)
    if json:
        print_json(rows)
    else:
        _print(rows)
        say(f"{asked.limits}: {said.replace('_', ' ')}")
    if said is not Kept.KEPT:
        raise typer.Exit(BROKEN if said is Kept.BROKEN else CANNOT_TELL)


def _read(file: Path) -> Limits:
    from mitigauge.analysis.verdicts.metric_limits import Limits
    from mitigauge.core.errors import InvalidInput
    from mitigauge.measurement.catalog import read_definition

    if not file.is_file():
        raise InvalidInput(f"{file} is no file", hint="docs/results.md says how to write one.")
    return read_definition(file, Limits, file.parent)


def _print(rows: list[LimitRow]) -> None:
    print_table(
        ["limit", "case", "host", "arm", "is", "95 %", "said"],
        [
            [
                row.limit, row.case, row.host, row.arm,
                "" if row.value is None else f"{row.value:.4g} {row.unit}",
                "" if row.low is None or row.high is None else f"{row.low:.4g} to {row.high:.4g}",
                row.kept.replace("_", " ") + (f": {row.why}" if row.why else ""),
            ]
            for row in rows
        ],
        empty="",
    )  # fmt: skip
