"""`mitigauge price rank` and `price predict`: what prices say of modes and of published tables."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from cli.output import print_table, say

if TYPE_CHECKING:
    from mitigauge.analysis.prices.claim_prediction import Agreement, PredictedClaim, Rates
    from mitigauge.analysis.prices.definitions import Processor
    from mitigauge.analysis.prices.ranking import Bills, Ranking

# Beyond it the simulation has too few draws to tell.
SURE = 0.99


def rank(
    bills: Annotated[str, typer.Argument(help="A file of prices/bills, without its suffix.")] = (
        "vmscape-exit"
    ),
    processor: Annotated[
        list[str] | None, typer.Option(help="Only this processor; again for each.")
    ] = None,
) -> None:
    """Rank modes by their predicted cost on each processor whose prices are known.

    A mode's cost is its bill times the prices, with the chance that the order is the true one.
    Where one price is missing, the price is told at which two modes would cost the same.

    Example: mitigauge price rank vmscape-exit --processor amd-26-2-1
    """
    from mitigauge.analysis.prices.processors import bills_of_questions, processors_of
    from mitigauge.analysis.prices.ranking import ranking
    from mitigauge.core.errors import NotFound
    from mitigauge.measurement.catalog import Catalog

    catalog = Catalog()
    questions, processors = bills_of_questions(catalog), processors_of(catalog)
    if bills not in questions:
        raise NotFound(f"no bills {bills!r}", hint=f"Known: {', '.join(questions) or 'none'}.")
    require_known(processor or [], processors)
    for each in processor or processors:
        told = ranking(questions[bills], processors[each])
        if processor or len(told.ranked) > 1 or told.break_even:
            _print_ranking(questions[bills], told)


def _print_ranking(bills: Bills, told: Ranking) -> None:
    from mitigauge.analysis.prices.trust import Trust, trust_of

    say(f"{told.processor.title}, {bills.operation}, predicted", style="bold")
    print_table(
        ["mode", "ns", "95 %"],
        [
            *([of.mode.mode, f"{of.cost.ns:.4g}", f"{of.cost.low:.4g} to {of.cost.high:.4g}"]
              for of in told.ranked),
            *([of.mode.mode, "unknown", f"no price of {', '.join(of.cost.missing)}"]
              for of in told.unpriced),
        ],
        empty="",
    )  # fmt: skip
    if told.chance is not None:
        chance = "over 99 %" if told.chance > SURE else f"{100 * told.chance:.0f} %"
        say(f"The order of those that cost anything is the true one with a chance of {chance}.")
    if trust_of(told.processor) is Trust.NOT_TRUSTED:
        say("These prices are NOT TRUSTED: they do not predict what they were not made of.")
    if told.forgotten_ns is not None:
        say(
            f"An event that empties the branch predictor costs up to {told.forgotten_ns:.4g} ns "
            "more behind it, for the branches of one operation, which then run first."
        )
    for even in told.break_even:
        say(
            f"{even.mode} costs as much as {even.other} where {even.event} takes {even.ns:.4g} ns: "
            f"more, and {even.other} is the cheaper one."
        )
    say("")


def predict(
    table: Annotated[str, typer.Argument(help="A file of prices/rates, without its suffix.")] = (
        "vmscape-v8-iperf"
    ),
    processor: Annotated[
        list[str] | None,
        typer.Option(help="Whose prices; a further one for what the first has no price of."),
    ] = None,
    reference: Annotated[
        str, typer.Option("--from", help="Take how often from this mode's published figures.")
    ] = "",
) -> None:
    """Predict a published table: how often its cases do an operation, times what that costs.

    The published figures stand beside, and how often both agree, with what would agree if every
    case were just said to be slower. Nothing of it was measured on the processor of the table.

    With --from MODE the published figures of one mode say how often, and prices what follows for
    the others: whether the table agrees with itself.

    Example: mitigauge price predict vmscape-v8-iperf --from ibpb
    """
    from mitigauge.analysis.prices.claim_prediction import (
        agreement,
        implied_claims,
        one_of,
        predicted_claims,
    )
    from mitigauge.analysis.prices.prediction import predicted
    from mitigauge.analysis.prices.processors import (
        bills_of_questions,
        claims_of,
        processors_of,
        rates_of_tables,
    )
    from mitigauge.core.errors import NotFound
    from mitigauge.measurement.catalog import Catalog

    catalog = Catalog()
    tables, known = rates_of_tables(catalog), processors_of(catalog)
    if table not in tables:
        raise NotFound(f"no rates {table!r}", hint=f"Known: {', '.join(tables) or 'none'}.")
    rates = tables[table]
    names = processor or list(rates.processors)
    require_known(names, known)
    of = one_of([known[name] for name in names])
    bills = bills_of_questions(catalog)[rates.bills]
    rows = predicted_claims(rates, claims_of(rates, catalog), bills, of)
    say(f"{table}, PREDICTED with the prices of {of.title}", style="bold")
    if reference:
        costs = {mode.mode: predicted(mode.events, of).ns for mode in bills.modes}
        if reference not in costs:
            raise NotFound(f"no mode {reference!r}", hint=f"Known: {', '.join(costs)}.")
        rows = implied_claims(rows, reference, costs)
        say(f"How often: as often as the published figure of {reference} beside each needs.")
    else:
        _print_rates(rates)
    _print_rows(rows)
    _print_agreement(agreement(rows))


def require_known(names: list[str], known: dict[str, Processor]) -> None:
    """Raise NotFound for a name without a file of prices."""
    from mitigauge.core.errors import NotFound

    unknown = [each for each in names if each not in known]
    if unknown:
        raise NotFound(f"no prices of {unknown[0]!r}", hint=f"Known: {', '.join(known)}.")


def _print_rates(rates: Rates) -> None:
    say(f"How often: {rates.host}; {rates.source}")
    if rates.pace:
        say(
            f"The operation takes {rates.pace.there_ns:.4g} ns there, and is taken to take "
            f"{rates.pace.here_ns:.4g} [{rates.pace.low:.4g}, {rates.pace.high:.4g}] ns on a real "
            f"processor: {rates.pace.source}"
        )


def _print_rows(rows: list[PredictedClaim]) -> None:
    print_table(
        ["case", "mode", "published", "predicted", "95 %", "needs/s", "sign"],
        [
            [
                _case_of(row),
                row.mode,
                _published(row),
                "unknown" if row.missing else f"{row.percent:+.2f}",
                f"no price of {', '.join(row.missing)}"
                if row.missing
                else f"{row.low:+.2f} to {row.high:+.2f}",
                "" if row.needed is None else f"{row.needed:,.0f}",
                _word_of(row),
            ]
            for row in rows
        ],
        empty="No case of the published table has a rate.",
    )


def _case_of(row: PredictedClaim) -> str:
    return " ".join(str(value) for value in row.claim.case.values()) or row.claim.note


def _published(row: PredictedClaim) -> str:
    claim = row.claim
    if claim.low == claim.high:
        return f"{claim.low:+.1f}"
    return f"{claim.low:+.1f} to {claim.high:+.1f}"


def _word_of(row: PredictedClaim) -> str:
    if row.missing or not row.is_told:
        return ""
    return "right" if row.is_right else "WRONG"


def _print_agreement(found: list[Agreement]) -> None:
    if not found:
        say("Nothing can be predicted: give a --processor that has the prices.")
        return
    say("Changes in percent; needs/s: operations a second of a processor that make the published")
    say("figure at these prices. sign: of those published with a difference of over 1 %.")
    for of in found:
        rank = "" if of.rank is None else f"; rank correlation {of.rank:+.2f}"
        # Where calling everything slower is right as often, the signs tell nothing.
        sign = (
            f"the sign is right in {of.right} of {of.told}, and would be in {of.rival} "
            "if all were said to be slower; "
            if of.right > of.rival
            else ""
        )
        say(f"{of.mode}: {sign}{of.holds} of {of.cells} lie in the interval{rank}")


def rates(
    experiment: Annotated[int, typer.Argument(help="That collected beside the cases.", min=1)],
    claims: Annotated[str, typer.Option(help="The published table: a file of experiments/claims.")],
    counter: Annotated[
        str, typer.Option(help="What is counted: COLLECTOR/COLUMN of a workload's cost_of.")
    ] = "exits/to_userspace",
) -> None:
    """Print how often the cases of a published table do an operation: part of a rates file.

    The experiment has cases of that table with the collector beside them, and a case that measures
    what the operation takes on its host. What is alike but for a direction is one case.

    Example: mitigauge price rates 12 --claims vmscape-v8-iperf
    """
    import yaml

    from cli.stored import stored
    from mitigauge.analysis.claims.files import CLAIMS, read_claims
    from mitigauge.reporting.pages.rates import counted_rates

    table = read_claims(CLAIMS / f"{claims}.yml")
    with stored() as session:
        told = counted_rates(session, experiment, table, counter)
    emulated = ", EMULATED" if told.emulated else ""
    say(f"# {counter} on {told.host}{emulated}; one takes {told.there_ns:g} ns there")
    rows = [rate.model_dump(exclude_defaults=True) for rate in told.cases]
    typer.echo(yaml.safe_dump({"cases": rows}, sort_keys=False, width=96), nl=False)
