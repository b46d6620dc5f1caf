"""What mitigations cost a machine: rates × prices of those in force. Pure, and never measured.

A bill of ``prices/bills/`` with ``per`` says at which events of the kernel its operation happens,
and each of its modes by which states the kernel shows that it is in force. Each state of the
kernel's files ends in a row: with a cost, as one that costs nothing, or as unknown with the reason.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from mitigauge.analysis.prices.definitions import Processor
from mitigauge.analysis.prices.kernel_events import KernelEvent, Rate, sum_rates
from mitigauge.analysis.prices.prediction import Prediction, predicted
from mitigauge.analysis.prices.ranking import BillOfMode, Bills
from mitigauge.analysis.prices.trust import Trust
from mitigauge.core.field_types import Closed, Text
from mitigauge.core.hostile_text import clean_text
from mitigauge.measurement.modes.families import (
    Expectation,
    HardwareEvent,
    KnownStates,
    Mode,
    ModeFamily,
    in_force,
)

NS_PER_S = 1e9
# Of any file: nothing is done.
VULNERABLE = "Vulnerable"
MOST_TEXT = 300


class Basis(StrEnum):
    """How a row's figure is known. None is measured."""

    PREDICTED = "predicted"
    NOTHING = "nothing"
    """It is off, not needed, or what it waits for did not happen."""
    UNKNOWN = "unknown"


class Span(Closed):
    """A figure with what bounds it; None: not known."""

    value: float | None = None
    low: float | None = None
    high: float | None = None


class CostRow(Closed):
    """What one mitigation takes."""

    mitigation: Text
    states: tuple[Text, ...] = ()
    """``FILE: STATE`` by which the kernel shows it."""
    operation: Text = ""
    basis: Basis
    rate: Rate | None = None
    """Operations a second of the whole machine."""
    ns: Span = Span()
    """Of one operation."""
    percent: Span = Span()
    """Of one processor's time."""
    missing: tuple[str, ...] = ()
    """Events without a price."""
    why: Text = ""


class MachineCost(Closed):
    """What mitigations take of one machine, over some seconds. Predicted, never measured."""

    processor: Text
    prices: Text
    """Where they come from."""
    trust: Trust
    seconds: float
    processors: int
    busy: float
    """Processors that were busy, on average."""
    rates: dict[KernelEvent, Rate]
    rows: tuple[CostRow, ...]
    total: Span
    """Of all rows that are predicted, in percent of one processor."""
    notes: tuple[Text, ...] = ()


@dataclass(frozen=True, slots=True)
class Knowledge:
    """What files of the project say of mitigations."""

    families: Mapping[str, ModeFamily]
    bills: Mapping[str, Bills]
    events: Mapping[str, HardwareEvent]
    known: KnownStates


def cost_rows(
    vulnerabilities: Mapping[str, str],
    rates: Mapping[KernelEvent, Rate],
    processors: Sequence[Processor],
    knowledge: Knowledge,
    refused: Mapping[str, str] | None = None,
) -> list[CostRow]:
    """A row for each mitigation in force, and for each state that has no bill.

    *processors*: prices of each kind of core; several give the range over them, none no price.
    *refused*: by event why it has no price.
    """
    texts = {file: clean_text(text)[:MOST_TEXT] for file, text in vulnerabilities.items()}
    billed: set[tuple[str, str]] = set()
    rows = []
    for bills in knowledge.bills.values():
        for mode in bills.modes if bills.per else ():
            states = list(_states_in_force(mode, texts, knowledge.families))
            if states:
                billed.update(states)
                rate = sum_rates(bills.per, rates)
                row = _billed_row(bills, mode, rate, processors, refused or {})
                rows.append(row.model_copy(update={"states": _named(states)}))
    rows.sort(key=_largest_first)
    return [*rows, *_other_rows(texts, billed, knowledge)]


def events_in_force(
    vulnerabilities: Mapping[str, str], rates: Mapping[KernelEvent, Rate], knowledge: Knowledge
) -> set[str]:
    """Events whose prices a row waits for: of what is in force, and happens."""
    texts = {file: clean_text(text)[:MOST_TEXT] for file, text in vulnerabilities.items()}
    return {
        event
        for bills in knowledge.bills.values()
        if bills.per and not sum_rates(bills.per, rates).is_zero
        for mode in bills.modes
        if any(_states_in_force(mode, texts, knowledge.families))
        for event in mode.events
    }


def _largest_first(row: CostRow) -> tuple[bool, float]:
    return row.basis is not Basis.PREDICTED, -(row.percent.high or 0.0)


def _named(states: Iterable[tuple[str, str]]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(f"{file}: {state}" for file, state in states))


def _states_in_force(
    mode: BillOfMode, texts: Mapping[str, str], families: Mapping[str, ModeFamily]
) -> Iterator[tuple[str, str]]:
    """(file, state) of what shows that the mode is in force; none: it is not."""
    for name in mode.in_force:
        family, _, of_family = name.partition("/")
        expect = families[family].modes[of_family].expect
        if expect and in_force(expect, texts):
            yield from _matching_states(expect, texts)
    yield from _matching_states(mode.states, texts)


def _matching_states(
    expect: Iterable[Expectation], texts: Mapping[str, str]
) -> Iterator[tuple[str, str]]:
    for each in expect:
        if each.observed(texts) == each.equals:
            yield each.file, each.state


def _billed_row(
    bills: Bills,
    mode: BillOfMode,
    rate: Rate,
    processors: Sequence[Processor],
    refused: Mapping[str, str],
) -> CostRow:
    row = CostRow(
        mitigation=mode.title, operation=bills.operation, rate=rate, basis=Basis.PREDICTED
    )
    if rate.is_zero:
        return row.model_copy(
            update={"basis": Basis.NOTHING, "percent": Span(value=0, low=0, high=0),
                    "why": f"none was counted ({rate.source})"}
        )  # fmt: skip
    costs = [predicted(mode.events, each, bills.behind) for each in processors]
    missing = [event for cost in costs for event in cost.missing] or (
        [] if costs else list(mode.events)
    )
    if missing:
        why = "; ".join(_unpriced(event, refused) for event in dict.fromkeys(missing))
        return row.model_copy(
            update={"basis": Basis.UNKNOWN, "missing": tuple(dict.fromkeys(missing)), "why": why}
        )
    ns = _ns(costs)
    if rate.high is None:
        return row.model_copy(
            update={"basis": Basis.UNKNOWN, "ns": ns,
                    "why": f"{rate.why}; {_rate_of_a_percent(ns)}"}
        )  # fmt: skip
    why = "; ".join(filter(None, (rate.why, _KINDS if len(costs) > 1 else "")))
    return row.model_copy(update={"ns": ns, "percent": _percent(ns, rate), "why": why})


_KINDS = "the range is over all kinds of core"


def _unpriced(event: str, refused: Mapping[str, str]) -> str:
    reason = refused.get(event, "")
    return f"no price of {event} here{f': {reason}' if reason else ''}"[:MOST_TEXT]


def _ns(costs: Sequence[Prediction]) -> Span:
    """Of one kind of core; of several the range, and no figure."""
    return Span(
        value=costs[0].ns if len(costs) == 1 else None,
        low=max(0.0, min(cost.low for cost in costs)),
        high=max(cost.high for cost in costs),
    )


def _rate_of_a_percent(ns: Span) -> str:
    each = ns.value or ns.high
    return f"{NS_PER_S / each / 100:,.0f} a second would be 1 % of a processor" if each else ""


def _percent(ns: Span, rate: Rate) -> Span:
    low, high = (ns.low or 0.0) * rate.low, (ns.high or 0.0) * (rate.high or 0.0)
    value = None if ns.value is None or rate.value is None else ns.value * rate.value
    part = 100 / NS_PER_S
    return Span(value=None if value is None else value * part, low=low * part, high=high * part)


def _other_rows(
    texts: Mapping[str, str], billed: set[tuple[str, str]], knowledge: Knowledge
) -> Iterator[CostRow]:
    """States that no bill is of."""
    for file, text in texts.items():
        for state in _parts(file, text, knowledge):
            if (file, state) not in billed:
                yield _other_row(file, text, state, knowledge)


def _parts(file: str, text: str, knowledge: Knowledge) -> list[str]:
    """The states of a file's text: parted by ``;``, by kernels before 6.9 by ``,``."""
    whole, _, beside = text.partition(" - ")
    if knowledge.known.state_of(file, whole) or _modes_of(file, whole, whole, knowledge):
        parts = [whole]
    else:
        parts = whole.split(";" if ";" in whole else ",")
    return [part.strip() for part in [*parts, beside] if part.strip()]


def _modes_of(file: str, text: str, state: str, knowledge: Knowledge) -> dict[str, Mode]:
    """Modes that expect the state, by ``family/mode``."""
    return {
        f"{family.family}/{name}": mode
        for family in knowledge.families.values()
        for name, mode in family.modes.items()
        if any(
            each.file == file and each.state == state and each.observed({file: text}) == each.equals
            for each in mode.expect
        )
    }


def _other_row(file: str, text: str, state: str, knowledge: Knowledge) -> CostRow:
    row = CostRow(mitigation=file, states=(f"{file}: {state}",), basis=Basis.UNKNOWN)
    modes = _modes_of(file, text, state, knowledge)
    is_off = any(not mode.more_than and not mode.events for mode in modes.values())
    if is_off or state == VULNERABLE:
        return _without_cost(row, "it is off")
    if modes:
        # A mode of all mitigations expects this state too, among others.
        mode = min(modes.values(), key=lambda each: len(each.expect))
        why = _why_of_mode(mode.events, knowledge)
        return row.model_copy(update={"mitigation": mode.title or file, "why": why})
    known = knowledge.known.state_of(file, state)
    if known is None:
        return row.model_copy(update={"why": "the kernel's words are not known here"})
    if known.costs == "nothing":
        return _without_cost(row, known.why.strip())
    return row.model_copy(update={"why": known.why.strip()})


def _without_cost(row: CostRow, why: str) -> CostRow:
    return row.model_copy(
        update={"basis": Basis.NOTHING, "percent": Span(value=0, low=0, high=0), "why": why}
    )


def _why_of_mode(events: Sequence[str], knowledge: Knowledge) -> str:
    helps = dict.fromkeys(knowledge.events[event].help.strip() for event in events)
    return " ".join(helps) or "nothing counts how often it does its work"


def total(rows: Iterable[CostRow]) -> Span:
    """Percent of a processor of all rows that are predicted; their errors are added up."""
    shares = [row.percent for row in rows if row.basis is Basis.PREDICTED]
    values = [share.value for share in shares if share.value is not None]
    return Span(
        value=sum(values) if len(values) == len(shares) else None,
        low=sum(share.low or 0.0 for share in shares),
        high=sum(share.high or 0.0 for share in shares),
    )
