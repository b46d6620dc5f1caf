"""`mitigauge experiment limits`: an experiment beside limits, for people and CI."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cli.experiment_name import Id
from cli.output import Json, print_json, print_table, say
from cli.remote.routes import at
from cli.source import answer

if TYPE_CHECKING:
    from sqlalchemy.orm import Session

    from mitigauge.analysis.verdicts.limit_schemas import ExperimentLimits, LimitRow
    from mitigauge.analysis.verdicts.metric_limits import Kept

# As `experiment wait --by-verdict` ends where anything is worse.
BROKEN, CANNOT_TELL = 3, 4


def limits(
    experiment_id: Id,
    file: Annotated[
        Path | None,
        typer.Option("--file", help="Limits, YAML; without it those of its spec.", exists=False),
    ] = None,
    json: Json = False,
) -> None:
    """Say of each limit whether the experiment keeps it: of those of its spec, or of a file.

    A limit is kept where the whole 95 % interval lies on its good side, broken where all of it
    lies beyond. Ends with 0 where all are kept, 3 where one is broken, 4 where one cannot be told
    or none is of the experiment. What those of its spec say was stored at its end;
    docs/results.md has the form of both.

    Example: mitigauge experiment limits 12 --file limits.yml
    """
    if file is None:
        _by_spec(experiment_id, json)
    else:
        _by_file(experiment_id, file, json)


def _by_spec(experiment_id: int, json: bool) -> None:
    found = outcome_of(experiment_id)
    if json:
        print_json(found)
    else:
        print_outcome(found)
    end_by(found.counts.worst)


def outcome_of(experiment_id: int) -> ExperimentLimits:
    """What was stored of an experiment; Conflict before its end, from a service as well."""
    from mitigauge.analysis.verdicts import limit_service
    from mitigauge.analysis.verdicts.limit_schemas import ExperimentLimits

    def here(session: Session) -> ExperimentLimits:
        limit_service.require_over(session, experiment_id)
        return limit_service.show_outcome(session, experiment_id)

    return answer(
        here,
        lambda client: client.get(
            at("/api/experiments/{}/limits", experiment_id), ExperimentLimits, over=True
        ),
        reads=True,
    )


def print_outcome(found: ExperimentLimits) -> None:
    """Rows, troubles, and all of it in one line."""
    if found.rows:
        _print(found.rows)
    if found.trouble:
        say(f"not judged by its limits: {found.trouble}")
    say(found.in_line or _why_nothing(found))


def _why_nothing(found: ExperimentLimits) -> str:
    number = found.experiment_id
    if found.judged_at is not None:
        return f"experiment {number}: no limit of its spec is of its figures"
    return f"the spec of experiment {number} sets no limits; --file judges by a file"


def end_by(worst: Kept) -> None:
    """End the command as CI wants it."""
    from mitigauge.analysis.verdicts.metric_limits import Kept

    if worst is not Kept.KEPT:
        raise typer.Exit(BROKEN if worst is Kept.BROKEN else CANNOT_TELL)


def _by_file(experiment_id: int, file: Path, json: bool) -> None:
    from mitigauge.analysis.verdicts import limit_service
    from mitigauge.analysis.verdicts.limit_schemas import LimitRow
    from mitigauge.analysis.verdicts.limit_text import read_limits

    asked = read_limits(read_limits_file(file), str(file))
    rows = answer(
        lambda session: limit_service.preview(session, experiment_id, asked),
        lambda client: client.post(
            at("/api/experiments/{}/limits", experiment_id), list[LimitRow],
            asked.model_dump(mode="json", exclude_defaults=True),
        ),
        reads=True,
    )  # fmt: skip
    worst = limit_service.counts_of(rows).worst
    if json:
        print_json(rows)
    else:
        _print(rows)
        say(f"{asked.limits}: {worst.replace('_', ' ')}")
    end_by(worst)


def read_limits_file(path: Path) -> str:
    """The file's text, or so much of it that its reader refuses it as too long.

    Raises InvalidInput when it cannot be read.
    """
    from mitigauge.analysis.verdicts.limit_text import HOW_TO_WRITE, LARGEST_BYTES
    from mitigauge.core.errors import InvalidInput

    try:
        with path.open(encoding="utf-8-sig") as file:
            return file.read(LARGEST_BYTES + 1)
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidInput(f"{path} cannot be read: {error}", hint=HOW_TO_WRITE) from error


def _print(rows: list[LimitRow]) -> None:
    print_table(
        ["limit", "case", "host", "arm", "is", "95 %", "said"],
        [
            [
                row.limit, row.case, f"{row.host} (emulated)" if row.emulated else row.host,
                row.arm, "" if row.value is None else f"{row.value:.4g} {row.unit}",
                "" if row.low is None or row.high is None else f"{row.low:.4g} to {row.high:.4g}",
                row.kept.replace("_", " ") + (f": {row.why}" if row.why else ""),
            ]
            for row in rows
        ],
        empty="",
    )  # fmt: skip
