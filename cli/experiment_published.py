"""`mitigauge experiment published`: where a result went."""

from __future__ import annotations

from typing import Annotated

import typer

from cli.output import Json, print_json, print_table
from cli.remote.routes import at
from cli.source import answer


def published(
    experiment: Annotated[int, typer.Argument(help="Its number (`mitigauge experiment list`).")],
    json: Json = False,
) -> None:
    """Where a result went: KCIDB, patchwork, GitHub, and what each said.

    Workers publish experiments of revisions where MITIGAUGE_KCIDB_URL, MITIGAUGE_PATCHWORK_URL or
    MITIGAUGE_GITHUB_REPOSITORY says so (docs/series.md, Where readers look).
    """
    from mitigauge.reporting.publications import service
    from mitigauge.reporting.publications.schemas import PublicationView

    found = answer(
        lambda session: service.show(session, experiment),
        lambda client: client.get(
            at("/api/experiments/{}/publications", experiment), list[PublicationView]
        ),
        reads=True,
    )
    if json:
        print_json(found)
        return
    print_table(
        ["target", "state", "tries", "said"],
        [[each.target, each.state.replace("_", " "), str(each.tries), each.said] for each in found],
        empty=f"Nothing of experiment {experiment} was published: it is of no revision, is not "
        "over, or no target is set.",
    )
