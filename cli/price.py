"""`mitigauge price`: what events cost on processors, out of files and of hosts of one's own."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cli.output import Json, print_json, print_table, say
from cli.stored import stored

if TYPE_CHECKING:
    from mitigauge.prices.estimation import Estimate
    from mitigauge.prices.levels import CaseLevels, Checked

app = typer.Typer(
    no_args_is_help=True,
    help="Prices of events (barriers, flushes, entries) on processors, and what they predict.",
)

Measured = Annotated[int, typer.Argument(help="Experiment on a host of yours.", min=1)]
Counted = Annotated[
    int, typer.Argument(help="Experiment in the same modes on a lab host with exact counts.", min=1)
]
Host = Annotated[str | None, typer.Option(help="The host, where the first has several.")]


@app.command("list")
def list_prices(json: Json = False) -> None:
    """List the processors whose prices are known, each price with its source.

    Files are in prices/processors; prices/README.md says how to add one.
    """
    from mitigauge.catalog import Catalog

    processors = list(Catalog().processors.values())
    if json:
        print_json(processors)
        return
    print_table(
        ["processor", "event", "ns", "95 %", "source"],
        [
            [each.processor, of.event, f"{of.ns:g}", f"{of.low:g} to {of.high:g}", of.source.title]
            for each in processors
            for of in each.prices
        ],
        empty="No prices of a processor are known; prices/README.md says how to give some.",
    )


@app.command()
def measure(
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

    Example: mitigauge price measure spr-01 --environment ours --knob bhi --knob ibpb -o spr.yml
    """
    import yaml

    from mitigauge.catalog import Catalog
    from mitigauge.errors import InvalidInput
    from mitigauge.experiments.checks import check_text
    from mitigauge.settings import REPOSITORY

    file = REPOSITORY / "experiments" / "mitigation-prices.yml"
    spec: dict[str, Any] = yaml.safe_load(file.read_text(encoding="utf-8"))
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
    from mitigauge.pages.experiments import show_head
    from mitigauge.pages.prices import levels_of
    from mitigauge.prices.estimation import estimate as estimated
    from mitigauge.prices.levels import changes

    with stored() as session:
        cases = levels_of(session, measured, counted, host=host)
        head = show_head(session, measured)
    found = estimated(changes(cases))
    typer.echo(_file(found, cases, name, f"experiment {head.name}, {_told(cases)}"), nl=False)


def _told(cases: list[CaseLevels]) -> str:
    boots = sum(len(arm.boots) for case in cases for arm in case.arms)
    return f"{len(cases)} cases, {boots} boots' means"


def _file(found: Estimate, cases: list[CaseLevels], name: str, source: str) -> str:
    """The processor's file; what has no price stands in a comment."""
    import yaml

    from mitigauge.prices.definitions import Z95

    prices, below = [], []
    for i, event in enumerate(found.events):
        ns, error = float(found.ns[i]), float(found.covariance[i, i]) ** 0.5
        if ns + Z95 * error <= 0:
            below.append(event)
            continue
        prices.append(
            {
                "event": event,
                "ns": round(max(ns, 0.0), 4),
                "low": round(max(ns - Z95 * error, 0.0), 4),
                "high": round(ns + Z95 * error, 4),
                "source": {"title": source},
            }
        )
    without = [f"# Not told apart: {', '.join(found.unknown)}.\n"] if found.unknown else []
    without += [f"# Below zero, and left out: {', '.join(below)}.\n"] if below else []
    body = {"processor": name, "title": name, "prices": prices}
    if not prices:
        return "".join(without) + f"# {len(cases)} cases tell no price.\n"
    return "".join(without) + str(yaml.safe_dump(body, sort_keys=False, width=96))


@app.command()
def check(
    measured: Measured,
    counted: Counted,
    processor: Annotated[str, typer.Option(help="Whose prices; see `price list`.")],
    host: Host = None,
) -> None:
    """Set what prices predict beside what a host measured: how often the intervals hold.

    Prices that were estimated from the same boots hold by themselves: check them on others.

    Example: mitigauge price check 13 11 --processor our-spr --host spr-01
    """
    from mitigauge.catalog import Catalog
    from mitigauge.errors import NotFound
    from mitigauge.pages.prices import levels_of
    from mitigauge.prices.levels import checked

    known = Catalog().processors
    if processor not in known:
        raise NotFound(f"no prices of {processor!r}", hint=f"Known: {', '.join(known) or 'none'}.")
    with stored() as session:
        cases = levels_of(session, measured, counted, host=host)
    rows = checked(cases, known[processor])
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
    for line in _summary(rows):
        say(line)


def _interval(of: tuple[float, float, float]) -> str:
    return f"{of[0]:+.1f} [{of[1]:+.1f}, {of[2]:+.1f}]"


def _summary(rows: list[Checked]) -> list[str]:
    if not rows:
        return []
    whole = [row for row in rows if not row.missing]
    signs = [row.sign for row in rows if row.sign is not None]
    return [
        f"{sum(row.holds for row in rows)} of {len(rows)} predictions hold; of those with every "
        f"price, {sum(row.holds for row in whole)} of {len(whole)}",
        f"{sum(signs)} of {len(signs)} signs are right, of changes that are not zero",
    ]
