"""`mitigauge find`: one search over everything."""

from __future__ import annotations

from typing import Annotated

import typer

from cli.output import Json, print_json, print_table, say
from cli.source import answer


def find(
    words: Annotated[list[str], typer.Argument(help="Each of them is there; or a number: 17.")],
    limit: Annotated[int, typer.Option(min=1, max=50, help="Of each kind at most so many.")] = 5,
    json: Json = False,
) -> None:
    """Find experiments, series, kernels, hosts, trends and more by words or number.

    Experiments are found by name and question, regressions and trends by case, mode and host
    class, bisections by case and culprit, series by title and message id, weeks as 2026-W47.
    """
    from mitigauge.reporting.search import service
    from mitigauge.reporting.search.schemas import SearchView

    query = " ".join(words)
    view = answer(
        lambda session: service.search(session, query, limit=limit),
        lambda client: client.get("/api/search", SearchView, q=query, limit=limit),
        reads=True,
    )
    if json:
        print_json(view)
        return
    print_table(
        ["kind", "id", "title", "detail"],
        [[each.kind, each.id, each.title, each.detail] for of in view.groups for each in of.found],
        empty="Nothing has each of these words. Try fewer of them, or a part of one.",
    )
    for group in view.groups:
        if group.total > len(group.found):
            say(f"{len(group.found)} of {group.total} of the kind {group.kind}; more with --limit")
