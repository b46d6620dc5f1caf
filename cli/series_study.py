"""`mitigauge series study` and `studies`: what a revision is asked beside its experiment."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from cli.jobs import Wait, followed, print_asked
from cli.output import Json, print_json, print_table, say
from cli.remote.choice import chosen_server
from cli.remote.routes import at
from cli.source import answer
from cli.stored import stored
from mitigauge.core.errors import MitigaugeError
from mitigauge.tracking.studies.states import StudyKind

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mitigauge.tracking.series.schemas import RevisionView
    from mitigauge.tracking.studies.schemas import (
        PatchCost,
        PatchCosts,
        PatchRow,
        Selections,
        StudyView,
        Variants,
    )

Name = Annotated[str, typer.Argument(help="A series' name or number (`mitigauge series list`).")]
Revision = Annotated[str, typer.Argument(help="v3, or v3+fix-7; the newest where none is given.")]
WORSE = 3
LONGEST_TITLE = 50


def study(
    name: Name,
    kind: Annotated[
        StudyKind,
        typer.Argument(
            help="patch-cost: what each patch costs; selection: what is chosen where; variants: "
            "which revision costs least."
        ),
    ],
    revision: Revision = "",
    wait: Wait = True,
    json: Json = False,
) -> None:
    """Ask what each patch of a revision costs, what it chooses, or which revision costs least.

    patch-cost builds the kernels between the base and the revision, and each patch alone, boots
    each once on a host whose time counts instructions, and counts exactly what an operation runs.
    selection boots the base and the revision on emulated processors under each option; where one
    is worse than asked, weaker than the base's, or contradicts its code, the command ends with 3.
    variants counts the newest other revisions of the series beside it, retests with a diff too: one
    that does less of what protects than the revision is out, the others are ranked by case.
    A worker does it, and goes on where this command is ended; asked again, it is done anew.

    Example: mitigauge series study bhb-clear patch-cost v4
    """
    label = revision_of(name, revision).label
    job = _ask(name, label, kind)
    if not wait:
        print_asked(job, json=json)
        return
    followed(job)
    found = next((each for each in _studies(name, label) if each.kind is kind), None)
    if found is None:
        raise MitigaugeError(f"the {kind} study of {name} {label} is gone")
    if json:
        print_json(found)
    else:
        _print(found)
    if found.looks_worse:
        raise typer.Exit(WORSE)


def studies(name: Name, revision: Revision = "", json: Json = False) -> None:
    """What a revision was asked beside its experiment, and what came of it."""
    label = revision_of(name, revision).label
    found = _studies(name, label)
    if json:
        print_json(found)
        return
    if not found:
        say(f"{name} {label} was asked nothing yet: `mitigauge series study {name} patch-cost`.")
    for each in found:
        _print(each)


def revision_of(name: str, label: str) -> RevisionView:
    """One revision; without a label the newest. Raises NotFound."""
    from mitigauge.tracking.series import service
    from mitigauge.tracking.series.listing import revision_view
    from mitigauge.tracking.series.schemas import RevisionView

    return answer(
        lambda session: revision_view(session, service.find_revision(session, name, label)),
        lambda client: client.get(at("/api/series/{}/revision", name), RevisionView, label=label),
        reads=True,
    )


def _ask(name: str, label: str, kind: StudyKind) -> int:
    from cli.workers import require_served
    from mitigauge.jobs.schemas import JobView
    from mitigauge.jobs.states import Ability

    if chosen_server():
        from cli.remote.client import client

        path = at("/api/series/{}/{}/studies/{}", name, label, kind)
        return client().post(path, JobView, {}).id
    from mitigauge.tracking.series import service
    from mitigauge.tracking.studies import service as asked

    with stored() as session:
        revision = service.find_revision(session, name, label, lock=True)
        job = asked.ask(session, revision, kind).id
    require_served(Ability.KERNELS)
    return job


def _studies(name: str, label: str) -> list[StudyView]:
    from mitigauge.tracking.series import service
    from mitigauge.tracking.studies import service as asked
    from mitigauge.tracking.studies.schemas import StudyView

    return answer(
        lambda session: asked.show(session, service.find_revision(session, name, label)),
        lambda client: client.get(at("/api/series/{}/{}/studies", name, label), list[StudyView]),
        reads=True,
    )


def _print(of: StudyView) -> None:
    say(f"{of.kind}: {of.state}, asked by {of.asked_by}")
    for line in of.answer or [of.why]:
        say(f"  {line}")
    if of.body.kind == StudyKind.PATCH_COST:
        _print_costs(of.body)
    elif of.body.kind == StudyKind.SELECTION:
        _print_cells(of.body)
    else:
        _print_variants(of.body)
    say("")


def _print_costs(body: PatchCosts) -> None:
    if not body.rows:
        return
    cases = list(dict.fromkeys(cost.case for row in body.rows for cost in row.costs))
    print_table(
        ["patch", "title", *cases, "functions changed"],
        [
            ["-".join(map(str, {row.patches[0]: 0, row.patches[-1]: 0})),
             row.titles[0][:LONGEST_TITLE],
             *(_cell(row, case) for case in cases), str(row.changed_count)]
            for row in body.rows
        ],
        empty="",
    )  # fmt: skip
    say(f"Instructions an operation, in mode {body.mode}; in brackets: of the patch alone.")


def _print_variants(body: Variants) -> None:
    if not body.variants:
        return
    cases = list(dict.fromkeys(cost.case for each in body.variants for cost in each.costs))
    asked = body.variants[0].name
    print_table(
        ["variant", "title", "protects", *cases],
        [
            [each.name, each.title[:LONGEST_TITLE], each.gate,
             *("0" if each.name == asked else _number(each.costs, case) for case in cases)]
            for each in body.variants
        ],
        empty="",
    )  # fmt: skip
    say(f"Instructions an operation more than {asked}, in mode {body.mode}.")


def _cell(row: PatchRow, case: str) -> str:
    if row.why_none:
        return "?"
    after = "0" if row.same_code else _number(row.costs, case)
    alone = f" ({_number(row.alone, case)})" if row.alone else ""
    return after + alone


def _number(costs: Sequence[PatchCost], case: str) -> str:
    found = next((cost for cost in costs if cost.case == case), None)
    if found is None or found.why_none:
        return "?"
    return f"{found.exact:+d}" if found.exact is not None else f"~{found.difference:+.1f}"


def _print_cells(body: Selections) -> None:
    if not body.cells:
        return
    rows: dict[tuple[str, str, str], dict[str, str]] = {}
    for cell in body.cells:
        place = cell.processor, cell.mitigations, cell.option
        rows.setdefault(place, {})[cell.kernel] = cell.state or "no such file"
    releases = [each.release for each in body.kernels]
    changed = [
        [processor, " ".join(filter(None, (words, option))) or "-",
         *(states.get(release, "") for release in releases)]
        for (processor, words, option), states in rows.items()
        if len(set(states.values())) > 1
    ]  # fmt: skip
    print_table(
        ["processor", "options", *(each.name for each in body.kernels)], changed,
        empty="Both kernels choose the same everywhere.",
    )  # fmt: skip
