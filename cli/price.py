"""`mitigauge price`: what events cost on processors, out of files and of hosts of one's own."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from cli.output import Json, print_json, print_table, say
from cli.price_here import measure
from cli.price_predict import predict, rank, rates
from cli.price_send import send
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
app.command("send")(send)


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
def plan(
    host: Annotated[str, typer.Argument(help="A host of your inventory.")],
    environment: Annotated[str, typer.Option(help="Its environment.")],
    knob: Annotated[
        list[str] | None, typer.Option(help="Only these mitigations; again for each.")
    ] = None,
    blocks: Annotated[int, typer.Option(help="Boots of each arm.", min=2, max=64)] = 4,
    output: Annotated[Path | None, typer.Option("-o", help="Write the spec there.")] = None,
) -> None:
    """Plan the boots that tell what events cost on a host: a spec for `experiment submit`.

    The mitigations of experiments/mitigation-prices.yml are turned together in a factorial
    design. Leave out with --knob what the processor does not have. Count the same modes in the
    lab (experiments/lab-mitigation-prices.yml), and let `price estimate` make prices of both.

    Example: mitigauge price plan spr-01 --environment ours --knob bhi --knob ibpb -o spr.yml
    """
    import yaml

    from mitigauge.core.errors import InvalidInput
    from mitigauge.core.settings import REPOSITORY
    from mitigauge.core.yaml_file import parse_yaml
    from mitigauge.measurement.catalog import Catalog
    from mitigauge.measurement.experiments.checks import check_text

    file = REPOSITORY / "experiments" / "mitigation-prices.yml"
    spec: dict[str, Any] = dict(parse_yaml(file.read_text("utf-8-sig"), file.name).data)
    [comparison] = spec["comparisons"]
    factorial = comparison["factorial"]
    known = factorial["knobs"]
    unknown = [name for name in knob or [] if name not in known]
    if unknown:
        raise InvalidInput(f"no knob {unknown[0]!r}", hint=f"Known: {', '.join(known)}.")
    chosen = {name: known[name] for name in knob or known}
    factorial["knobs"] = chosen
    factorial["pairs"] = [pair for pair in factorial["pairs"] if set(pair) <= set(chosen)]
    comparison["hosts"] = [host]
    spec |= {"name": f"prices-{host}"[:60], "environment": environment, "blocks": blocks}
    written = yaml.safe_dump(spec, sort_keys=False, width=96)
    check_text(written, name="the spec", catalog=Catalog())
    if output is None:
        typer.echo(written, nl=False)
        return
    output.write_text(written, encoding="utf-8")
    say(f"{output}: submit it with `mitigauge experiment submit {output}`")


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


@app.command()
def check(
    measured: Measured,
    counted: Counted,
    processor: Annotated[str, typer.Option(help="Whose prices; see `price list`.")],
    host: Host = None,
) -> None:
    """Set what prices predict beside what a host measured: how often the intervals hold.

    Prices that were estimated from the same boots hold by themselves: check them on others.
    The result is stored; a second check of the same host and experiments replaces it.

    Example: mitigauge price check 13 11 --processor our-spr --host spr-01
    """
    from mitigauge.analysis.prices.levels import checked
    from mitigauge.analysis.prices.processors import processors_of
    from mitigauge.analysis.prices.repository import put
    from mitigauge.analysis.prices.tally import lines_of, tally
    from mitigauge.core.errors import NotFound
    from mitigauge.measurement.catalog import Catalog
    from mitigauge.reporting.pages.prices import checked_on, levels_of

    known = processors_of(Catalog())
    if processor not in known:
        raise NotFound(f"no prices of {processor!r}", hint=f"Known: {', '.join(known) or 'none'}.")
    with stored() as session:
        cases = levels_of(session, measured, counted, host=host)
        rows = checked(cases, known[processor])
        if rows:
            put(session, checked_on(session, processor, measured, counted, host=host), rows)
    print_table(
        ["case", "arm", "measured, ns", "predicted, ns", "without a price", ""],
        [
            [
                row.case,
                row.arm,
                _interval(row.measured),
                _interval(row.predicted),
                ", ".join(row.missing),
                "holds" if row.holds else "does not",
            ]
            for row in rows
        ],
        empty="No arm has two boots, so that nothing is known of its error.",
    )
    if not rows:
        return
    for line in lines_of(tally(rows)):
        say(line)
    say("Stored: the page of prices (/fleet?tab=prices) shows it, and a second check replaces it.")


def _interval(of: tuple[float, float, float]) -> str:
    return f"{of[0]:+.1f} [{of[1]:+.1f}, {of[2]:+.1f}]"
