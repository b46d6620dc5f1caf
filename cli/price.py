"""`mitigauge price`: what events cost on processors, out of files and of hosts of one's own."""

from __future__ import annotations

from typing import Annotated

import typer

from cli.output import Json, print_json, print_table
from cli.price_here import measure
from cli.price_predict import predict, rank, rates
from cli.stored import stored

app = typer.Typer(
    no_args_is_help=True,
    help="Prices of events (barriers, flushes, entries) on processors, and what they predict.",
)

Measured = Annotated[int, typer.Argument(help="Experiment on a host of yours.", min=1)]
Counted = Annotated[
    int, typer.Argument(help="Experiment in the same modes on a lab host with exact counts.", min=1)
]
Host = Annotated[str | None, typer.Option(help="The host, where the first has several.")]


app.command("measure")(measure)
app.command("rank")(rank)
app.command("predict")(predict)
app.command("rates")(rates)


@app.command("list")
def list_prices(
    model: Annotated[
        str, typer.Option(help="Only processors with this word in name, title or architecture.")
    ] = "",
    json: Json = False,
) -> None:
    """List the processors whose prices are known, each price with its source.

    Files are in prices/processors; `price measure --here` writes one for this machine.
    """
    from mitigauge.analysis.prices.processors import is_like, processors_of
    from mitigauge.measurement.catalog import Catalog

    processors = [each for each in processors_of(Catalog()).values() if is_like(each, model)]
    if json:
        print_json(processors)
        return
    print_table(
        ["processor", "event", "ns", "95 %", "known how", "source"],
        [
            [
                each.processor,
                of.event,
                f"{of.ns:g}",
                f"{of.low:g} to {of.high:g}",
                of.kind.value,
                of.source.title,
            ]
            for each in processors
            for of in each.prices
        ],
        empty="No prices of a processor are known; prices/README.md says how to give some.",
    )


@app.command()
def estimate(
    measured: Measured,
    counted: Counted,
    host: Host = None,
    name: Annotated[str, typer.Option(help="Name of the processor in its file.")] = "our-host",
) -> None:
    """Make prices of a host's measurements and a lab host's counts: a file for prices/processors.

    An event's price is what an operation takes more for each more of it, by weighted least
    squares over all cases and arms that both have. What they do not tell apart has no price.

    Example: mitigauge price estimate 12 11 --host spr-01 --name our-spr > our-spr.yml
    """
    from mitigauge.analysis.prices.estimation import estimate as estimated
    from mitigauge.analysis.prices.levels import changes
    from mitigauge.analysis.prices.processor_file import basis, processor_file
    from mitigauge.reporting.pages.experiments import show_head
    from mitigauge.reporting.pages.prices import levels_of

    with stored() as session:
        cases = levels_of(session, measured, counted, host=host)
        head = show_head(session, measured)
    source = f"experiment {head.name}, {basis(cases)}"
    found = estimated(changes(cases))
    typer.echo(processor_file(found, cases, name=name, source=source), nl=False)
