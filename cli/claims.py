"""`mitigauge claims`: published figures to set beside ours."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cli.experiment_name import Id
from cli.output import Json, print_json, print_table, say
from cli.remote.routes import at
from cli.source import answer
from cli.stored import stored

if TYPE_CHECKING:
    from mitigauge.reporting.pages.claim_schemas import ClaimView

# What takes long to load is imported by the commands that need it.
app = typer.Typer(no_args_is_help=True)


@app.command("import")
def import_(
    files: Annotated[
        list[Path] | None,
        typer.Argument(help="Claim files, or folders of them; all of experiments/claims/ if none."),
    ] = None,
) -> None:
    """Take in claim files; what is there already and unchanged stays as it is."""
    from mitigauge.analysis.claims.files import CLAIMS, claim_files, read_claims
    from mitigauge.analysis.claims.service import import_claims
    from mitigauge.measurement.catalog import Catalog

    read = [read_claims(file) for path in files or [CLAIMS] for file in claim_files(path)]
    with stored() as session:
        changed = import_claims(session, read, Catalog())
    figures = sum(len(file.claims) for file in read)
    say(
        f"{figures} claims of {len(read)} sources; "
        + (f"new or changed: {', '.join(changed)}" if changed else "nothing new")
    )


@app.command()
def show(experiment_id: Id, json: Json = False) -> None:
    """Set the claims beside one experiment."""
    from mitigauge.reporting.pages.claim_schemas import ClaimSourceView
    from mitigauge.reporting.pages.claims import claims_beside

    sources = answer(
        lambda session: claims_beside(session, experiment_id),
        lambda client: client.get(
            at("/api/experiments/{}/claims", experiment_id), list[ClaimSourceView]
        ),
        reads=True,
    )
    if json:
        print_json(sources)
        return
    print_table(
        ["source", "claim", "mode", "claimed", "measured", "outcome", "why"],
        [
            [source.name, f"{claim.title} {claim.metric}", claim.mode,
             _range(claim.low_percent, claim.high_percent),
             _measured(claim),
             claim.outcome.replace("_", " "), claim.reason]
            for source in sources
            for claim in source.claims
            if claim.case_id is not None
        ],
        empty="No claim is about what this experiment measures. "
        "`mitigauge claims import` takes in those of experiments/claims/.",
    )  # fmt: skip


def _measured(claim: ClaimView) -> str:
    from mitigauge.core.documents import units
    from mitigauge.core.effect import Effect

    change = Effect.of(claim)
    return "" if change is None else units.effect(change)


def _range(low: float, high: float) -> str:
    return f"{low:+g} %" if low == high else f"{low:+g} to {high:+g} %"
