"""Parts of a report: what exits explain, and what single operations did to real work."""

from __future__ import annotations

from mitigauge.core.documents import units
from mitigauge.core.documents.parts import Entry, counted
from mitigauge.core.effect import Effect
from mitigauge.reporting.pages.consequence_schemas import (
    ConsequenceView,
    CostModelView,
    EstimateView,
    VerdictSummary,
)

NONE_MEASURED = (
    "none of this experiment was measured in this mode on this host (iPerf, fio, desktop, "
    "compile): what it does to real work is not known"
)


def cost_entry(model: CostModelView) -> Entry:
    """Rate × cost of an exit, what it predicts, and what it leaves unexplained."""
    facts = [
        ("rate", f"{_rate(model.base_rate)} to {_rate(model.rate)} exits a second"),
        ("cost", f"{_cost(model.base_cost_ns)} to {_cost(model.cost_ns)} an exit"),
        (
            "share",
            f"{model.base_share_percent:.3g}% to {model.share_percent:.3g}% of a virtual "
            "processor's time",
        ),
        ("measured", f"{_estimate(model.measured)} time per unit of work"),
        (
            "predicted",
            f"{_estimate(model.predicted)}, of it {units.percent(model.by_rate.percent)} by their "
            f"number and {units.percent(model.by_cost.percent)} by their cost",
        ),
        ("explains", _explains(model)),
        ("rest", f"{_estimate(model.rest)}, not of the exits themselves"),
    ]
    blocks = counted(model.blocks, "block")
    return Entry(
        f"{model.case}, {model.metric_title}, {model.host}: {model.arm} against "
        f"{model.baseline}, {blocks}; cost by {' and '.join(model.cost_cases)}",
        facts,
    )


def consequence(one: ConsequenceView) -> Entry:
    """What an arm changed of single operations, and of real work."""
    facts = [("micro", _figure(figure)) for figure in one.micro]
    facts += [("real work", _figure(figure)) for figure in one.macro]
    if not one.macro:
        facts.append(("real work", NONE_MEASURED))
    return Entry(f"{one.arm} ({one.mode}) against {one.baseline} on {one.host}", facts)


def _figure(figure: VerdictSummary) -> str:
    change = Effect.of(figure)
    text = f"{figure.case}, {figure.metric_title}"
    if change is not None:
        text += f" {units.effect(change)}"
    return f"{text} {figure.verdict or 'undecided'}"


def _estimate(estimate: EstimateView) -> str:
    return units.effect(Effect(value=estimate.percent, low=estimate.low, high=estimate.high))


def _explains(model: CostModelView) -> str:
    if model.explained_percent is None:
        return "nothing to explain: the measured change may be none"
    return f"{model.explained_percent:.0f}% of the measured change"


def _rate(rate: float) -> str:
    return units.humanise(rate, "")


def _cost(nanoseconds: float | None) -> str:
    return "none" if nanoseconds is None else units.humanise(nanoseconds, "ns")
