"""`mitigauge cost`: what the mitigations in force take of this machine now, predicted."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Annotated

import typer

from cli.output import Json, count_off, print_json, print_table, say

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mitigauge.analysis.prices.kernel_events import Rate
    from mitigauge.analysis.prices.machine_cost import CostRow, Knowledge, MachineCost, Span

NOT_AFFECTED = "Not affected"


def cost(
    seconds: Annotated[
        float, typer.Option(help="How long to count what runs now.", min=1, max=3600)
    ] = 10.0,
    price_seconds: Annotated[
        float,
        typer.Option(
            help="How long to measure this processor's prices, where no file has them; 0: not "
            "at all.",
            min=0,
            max=3600,
        ),
    ] = 40.0,
    processor: Annotated[
        str, typer.Option(help="Take the prices of this processor's file instead.")
    ] = "",
    json: Json = False,
) -> None:
    """Predict what each mitigation takes of this machine now, without a reboot.

    What mitigations wait for (system calls, switches, faults, interrupts, exits of guests) is
    counted, and multiplied by what they cost on this processor. What only tracepoints tell, `perf`
    counts as root; other users get ranges of it. Prices are those of the processor's file, which
    `mitigauge price measure --here -o prices/processors` writes; without one they are measured for
    this answer. Run it beside the load that you want to know about.

    Each figure is predicted, none is measured, and what is not known is a row that says so. A
    share is of one processor: 400,000 returns to user space a second with a VERW of 10 ns take
    0.4 % of one processor.

    Example: mitigauge cost --seconds 10
    """  # fmt: skip
    import os

    from cli.cost_prices import at_pace_of_now, call_ns, measured_prices, stored_prices
    from mitigauge.analysis.prices.machine_cost import (
        MachineCost,
        cost_rows,
        events_in_force,
        total,
    )
    from mitigauge.core.errors import NotReady
    from pipelines.adapters.kernel_rates import (
        count_events,
        notes_of,
        rates_of,
        read_vulnerabilities,
    )

    vulnerabilities = read_vulnerabilities()
    if not vulnerabilities:
        raise NotReady(
            "the kernel does not say which mitigations are in force",
            hint="It says so in /sys/devices/system/cpu/vulnerabilities, from Linux 4.15 on.",
        )
    prices = stored_prices(processor)
    # Before prices are measured, which is a load of its own.
    counted = count_events(seconds, partial(count_off, "second"))
    knowledge = _knowledge()
    if prices is None:
        events = events_in_force(vulnerabilities, rates_of(counted), knowledge)
        prices = measured_prices(price_seconds, events)
    elif not processor:
        prices = at_pace_of_now(prices, price_seconds)
    rates = rates_of(counted, call_ns(prices))
    rows = cost_rows(vulnerabilities, rates, prices.processors, knowledge, prices.refused)
    answer = MachineCost(
        processor=prices.title, prices=prices.source, trust=prices.trust,
        seconds=round(counted.seconds, 3), processors=os.cpu_count() or 1,
        busy=round(counted.user + counted.system, 4), rates=rates, rows=tuple(rows),
        total=total(rows), notes=(*prices.notes, *notes_of(counted)),
    )  # fmt: skip
    if json:
        print_json(answer)
    else:
        _print(answer)


def _knowledge() -> Knowledge:
    from mitigauge.analysis.prices.machine_cost import Knowledge
    from mitigauge.analysis.prices.processors import bills_of_questions
    from mitigauge.measurement.catalog import Catalog

    catalog = Catalog()
    return Knowledge(
        catalog.families, bills_of_questions(catalog), catalog.events, catalog.known_states
    )


def _print(answer: MachineCost) -> None:
    from mitigauge.analysis.prices.machine_cost import Basis
    from mitigauge.analysis.prices.trust import Trust

    say(f"{answer.processor}: PREDICTED, not measured", style="bold")
    say(
        f"{answer.busy:.2f} of {answer.processors} processors busy over {answer.seconds:.0f} s; "
        f"prices: {answer.prices}"
    )
    if answer.trust is Trust.NOT_TRUSTED:
        say("These prices are NOT TRUSTED: they do not predict what they were not made of.")
    for note in answer.notes:
        say(note)
    shown = [row for row in answer.rows if row.rate or row.basis is Basis.UNKNOWN]
    print_table(
        ["mitigation", "a second", "ns each", "% of a processor", "known how"],
        [
            [row.mitigation, _figure(_span(row.rate), ",.0f"), _figure(row.ns, ".4g"),
             _figure(row.percent, ".3g"), _known_how(row)]
            for row in shown
        ],
        empty="No mitigation is in force here: none costs anything.",
    )  # fmt: skip
    if any(row.basis is Basis.PREDICTED for row in shown):
        _print_total(answer)
    _print_free([row for row in answer.rows if row not in shown])


def _print_free(rows: Sequence[CostRow]) -> None:
    """What costs nothing, in a line or two."""
    states = [state.partition(": ") for row in rows for state in row.states]
    unaffected = [file for file, _, state in states if state == NOT_AFFECTED]
    others = [f"{file}: {state}" for file, _, state in states if state != NOT_AFFECTED]
    if others:
        say(f"Costs nothing: {'; '.join(others)}")
    if unaffected:
        say(f"{NOT_AFFECTED}: {', '.join(unaffected)}")


def _print_total(answer: MachineCost) -> None:
    parts = [f"{_figure(answer.total, '.3g')} % of one processor"]
    of = answer.total
    if answer.busy > 0:
        scaled = _scaled(of, 1 / answer.busy)
        parts.append(f"{_figure(scaled, '.3g')} % of the time that processors were busy")
    say(f"All that is predicted: {', '.join(parts)}. Rows that are unknown come on top.")


def _scaled(of: Span, factor: float) -> Span:
    values = {
        name: None if value is None else value * factor for name, value in of.model_dump().items()
    }
    return of.model_copy(update=values)


def _span(rate: Rate | None) -> Span:
    from mitigauge.analysis.prices.machine_cost import Span

    return Span(value=rate.value, low=rate.low, high=rate.high) if rate else Span()


def _figure(of: Span, form: str) -> str:
    """``12 [10, 14]``; a range where nothing lies in the middle, and *unknown*."""
    if of.high is None:
        return "unknown" if of.value is None else format(of.value, form)
    if of.value is None:
        return f"{of.low:{form}} to {of.high:{form}}"
    if of.low == of.high:
        return format(of.value, form)
    return f"{of.value:{form}} [{of.low:{form}}, {of.high:{form}}]"


def _known_how(row: CostRow) -> str:
    return f"{row.basis.value}: {row.why}" if row.why else row.basis.value
