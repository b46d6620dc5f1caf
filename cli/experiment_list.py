"""`mitigauge experiment list`: experiments by words, state, people, dates and what they measure."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Annotated

import typer

from cli.output import Json, print_json, print_table, say
from cli.remote.choice import chosen_server
from mitigauge.reporting.pages.limits import PAGE_SIZE

# What takes long to load is imported by the commands that need it.
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from mitigauge.reporting.pages.schemas import ExperimentPage, ExperimentSummary

VERDICTS = "verdicts"
WORST = "worst"
NONE_YET = (
    "No experiments yet. `mitigauge demo --recorded` shows one that was run before, "
    "`mitigauge experiment submit experiments/lab-demo.yml` makes the first here."
)


def list_experiments(
    find: Annotated[
        str, typer.Option(help="Words, each in name, question or submitter; or a number.")
    ] = "",
    state: Annotated[
        list[str] | None,
        typer.Option(help="queued, running, finished, failed, cancelled; repeated: any of them."),
    ] = None,
    who: Annotated[str, typer.Option(help="Submitted by that person or token.")] = "",
    since: Annotated[str, typer.Option(help="Submitted from then on: 2026-11-25, UTC.")] = "",
    until: Annotated[str, typer.Option(help="Submitted up to that day, or before a time.")] = "",
    host: Annotated[str, typer.Option(help="On that host.")] = "",
    workload: Annotated[str, typer.Option(help="With a case of that workload.")] = "",
    mode: Annotated[str, typer.Option(help="With an arm of FAMILY or FAMILY/MODE.")] = "",
    verdict: Annotated[
        str, typer.Option(help="A primary metric is worse, better, same or undecided.")
    ] = "",
    sort: Annotated[
        str, typer.Option(help="newest, oldest, name, or effect (worst first).")
    ] = "newest",
    before: Annotated[
        int | None, typer.Option(help="Only experiments with a lower number.", min=1)
    ] = None,
    offset: Annotated[int, typer.Option(min=0, max=10**7, help="Leave out so many.")] = 0,
    limit: Annotated[int, typer.Option(help="How many at most.", min=1, max=1000)] = PAGE_SIZE,
    json: Json = False,
) -> None:
    """Experiments, newest first: all, or those with the words, state, person and so on."""
    from mitigauge.measurement.experiments.filter import ExperimentFilter, Sort

    words: dict[str, str | list[str]] = {
        "find": find, "state": state or [], "who": who, "since": since, "until": until,
        "host": host, "workload": workload, "mode": mode, "verdict": verdict, "sort": sort,
    }  # fmt: skip
    # Here too, so that what is wrong is said in the same words whichever way it goes.
    wanted = ExperimentFilter.parse(
        find=find, state=state or [], who=who, since=since, until=until, host=host,
        workload=workload, mode=mode, verdict=verdict, sort=sort,
    )  # fmt: skip
    page = found_page(words, before=before, offset=offset, limit=limit)
    if json:
        print_json(page)
        return
    columns, rows = _table(page.experiments)
    empty = _empty(wanted.is_everything, page.total)
    print_table(columns, rows, empty=empty)
    if page.next_offset is not None:
        by_number = wanted.sort is Sort.NEWEST and not offset
        _say_more(words, page, before=page.next if by_number else None)


def found_page(
    words: Mapping[str, str | list[str]], *, before: int | None = None, offset: int, limit: int
) -> ExperimentPage:
    """A page of experiments that the words ask for, from this machine or a service."""
    if chosen_server():
        return _listed_there(words, before, offset, limit)
    # By a connection of its own: SQLAlchemy takes longer to load than this to answer.
    from mitigauge.measurement.experiments.filter import ExperimentFilter
    from mitigauge.reporting.pages.experiment_list import listed

    wanted = ExperimentFilter.parse(**words)  # type: ignore[arg-type]
    return listed(wanted, before=before, offset=offset, limit=limit)


def _listed_there(
    words: Mapping[str, str | list[str]], before: int | None, offset: int, limit: int
) -> ExperimentPage:
    from cli.remote.client import client
    from mitigauge.reporting.pages.schemas import ExperimentPage

    given = {name: value for name, value in words.items() if value and value != "newest"}
    return client().get(
        "/api/experiments", ExperimentPage, before=before, offset=offset, limit=limit, **given
    )


def _table(found: Sequence[ExperimentSummary]) -> tuple[list[str], list[list[str]]]:
    """Columns and rows; verdicts only where there are some: 80 columns are few."""
    with_effects = any(each.headline for each in found)
    with_worst = any(each.worst_effect_percent is not None for each in found)
    shown = [*([VERDICTS] if with_effects else []), *([WORST] if with_worst else [])]
    columns = ["id", "name", "state", *shown]
    rows = [
        [
            str(e.id), e.name, _state(e), *([_verdicts(e)] if with_effects else []),
            *([_worst(e)] if with_worst else []),
            ", ".join(e.hosts), f"{e.boots_done}/{e.boots_total}", f"{e.created_at:%Y-%m-%d}",
        ]
        for e in found
    ]  # fmt: skip
    return [*columns, "hosts", "boots", "created"], rows


def _worst(experiment: ExperimentSummary) -> str:
    """The proven effect for the worse; empty where nothing is worse."""
    from mitigauge.core.documents.units import BOUND_SIGNS, percent

    worst = experiment.worst_effect_percent
    return "" if worst is None else f"{BOUND_SIGNS[experiment.worst_bound]}{percent(worst)}"


def _verdicts(experiment: ExperimentSummary) -> str:
    """How many of each kind; of one alone, the effect."""
    return experiment.headline.partition(". ")[0]


def _empty(is_everything: bool, total: int) -> str:
    if total:
        return f"There are {total}, fewer than are left out; give a smaller --offset."
    if is_everything:
        return NONE_YET
    return "No experiment is like that. Leave one of the options out."


def _say_more(
    words: Mapping[str, str | list[str]], page: ExperimentPage, *, before: int | None
) -> None:
    """The command that shows the next page."""
    again = []
    for name, value in words.items():
        each = value if isinstance(value, list) else [value]
        again += [f"--{name} {shlex.quote(word)}" for word in each if word and word != "newest"]
    if before is None:
        again.append(f"--offset {page.next_offset}")
    else:
        again.append(f"--before {before}")
    shown = f"{page.offset + 1}–{page.offset + len(page.experiments)} of {page.total}"
    say(f"{shown}; more: `mitigauge experiment list {' '.join(again)}`")


def _state(experiment: ExperimentSummary) -> str:
    marks = ["emulated"] if experiment.emulated else []
    if experiment.recorded is not None:
        marks.append(f"recorded {experiment.recorded.at:%Y-%m-%d}")
    return f"{experiment.state} ({', '.join(marks)})" if marks else experiment.state
