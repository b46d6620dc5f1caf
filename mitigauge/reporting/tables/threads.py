"""Threads by name over arms: wake-ups, run time and wait time, with their change. Pure.

Of each name a boot gives a rate, so many in a second of its windows; boots are the replicates. The
change against the baseline is that of the block model, as for exploratory metrics, with one false
discovery rate over all names, figures and arms of a table. A name that a boot's whole list lacks
did nothing there; where the list was cut off, nothing is known of it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from mitigauge.analysis.claims.outcome import ClaimOutcome
from mitigauge.core.clock import Clock
from mitigauge.core.natural_order import natural_order
from mitigauge.core.stats.boot_interval import mean_interval
from mitigauge.core.stats.exploratory import judge_exploratory
from mitigauge.core.stats.question import ArmVerdict, Question
from mitigauge.reporting.pages.schemas import HostFacts
from mitigauge.reporting.pages.threads import BootThreads, CaseThreads
from mitigauge.reporting.tables.claims_by_place import ClaimsByPlace
from mitigauge.reporting.tables.counter_schemas import CounterArm, CounterClaim
from mitigauge.reporting.tables.thread_schemas import (
    OtherThreads,
    ThreadCell,
    ThreadFigure,
    ThreadRow,
    ThreadTableView,
)

# Rows of a table; each boot tells of 50 names, and they may differ from boot to boot.
MOST_ROWS = 60
# A window for people, where the case asks for none.
WINDOW_S = 5.0
NS_IN_MS = 1e6
MEASURES = ("wakeups", "run", "wait")

# arm → block → rate
Rates = Mapping[int, Mapping[int, float]]


@dataclass(frozen=True, slots=True)
class _Name:
    """Threads of one name, with their rates by measure."""

    name: str
    own: bool
    threads: int
    rates: Mapping[str, Rates]


def table_of(of: CaseThreads, facts: HostFacts | None, beside: ClaimsByPlace) -> ThreadTableView:
    """The table of one case on one host."""
    arms = sorted(of.comparison.arms, key=lambda arm: not arm.is_baseline)
    order = [arm.id for arm in arms]
    names = _names(of.boots)
    names.sort(
        key=lambda one: (not one.own, -_most(one.rates["wakeups"], order), natural_order(one.name))
    )
    shown = names[:MOST_ROWS]
    judged = _judged(shown, order[0], of.comparison.layouts)
    claims = _claims(of, order, beside)
    seconds = [boot.told.seconds for boot in of.boots]
    return ThreadTableView(
        comparison=of.comparison.name,
        case_id=of.case.id,
        case=of.case.title,
        host=of.run.host.name,
        host_class=facts.host_class if facts else "",
        processor=facts.processor if facts else "",
        emulated=of.run.host.emulated,
        counted=of.run.clock is Clock.COUNTED,
        window_s=float(of.case.parameters.get("seconds", WINDOW_S)),
        measured_s=sum(seconds) / len(seconds),
        arms=[CounterArm.of(arm) for arm in arms],
        rows=[_row(one, order, judged, claims) for one in shown],
        left_out=len(names) - len(shown),
        others=_others(of.boots),
    )


def _names(boots: Sequence[BootThreads]) -> list[_Name]:
    """Every name that any boot tells of."""
    where: dict[str, dict[int, int]] = defaultdict(dict)
    for number, boot in enumerate(boots):
        for entry, name in enumerate(boot.told.names):
            where[name][number] = entry
    return [_name(name, entries, boots) for name, entries in where.items()]


def _name(name: str, entries: Mapping[int, int], boots: Sequence[BootThreads]) -> _Name:
    rates: dict[str, dict[int, dict[int, float]]] = {key: defaultdict(dict) for key in MEASURES}
    for number, boot in enumerate(boots):
        for measure, rate in _rates(boot, entries.get(number)):
            rates[measure][boot.arm_id][boot.block] = rate
    told = [(boots[number].told, entry) for number, entry in entries.items()]
    return _Name(
        name,
        own=any(table.own[entry] for table, entry in told),
        threads=max(table.threads[entry] for table, entry in told),
        rates=rates,
    )


def _rates(boot: BootThreads, entry: int | None) -> Iterator[tuple[str, float]]:
    """Measure and rate of one name; nothing of what the boot does not tell."""
    told = boot.told
    columns: dict[str, tuple[Sequence[int | None], float]] = {
        "wakeups": (told.wakeups, 1.0),
        "run": (told.run_ns, NS_IN_MS),
        "wait": (told.wait_ns, NS_IN_MS),
    }
    for measure, (column, scale) in columns.items():
        if entry is not None:
            value = column[entry]
        else:
            # Not in a list that is whole; times only where the host tells any.
            known = not told.other_names and any(one is not None for one in column)
            value = 0 if known else None
        if value is not None:
            yield measure, value / scale / told.seconds


def _most(rates: Rates, arms: Sequence[int]) -> float:
    """The mean of the first arm that has any."""
    for arm in arms:
        if of_arm := rates.get(arm):
            return sum(of_arm.values()) / len(of_arm)
    return 0.0


def _judged(
    names: Sequence[_Name], baseline: int, layouts: int
) -> dict[tuple[str, str], Mapping[int, ArmVerdict]]:
    """(name, measure) → arm → its change."""
    asked = [
        (one.name, measure, one.rates[measure])
        for one in names
        for measure in MEASURES
        if one.rates[measure]
    ]
    cases = [
        Question(boots=rates, direction="lower", ended=True, layouts=layouts)
        for _, _, rates in asked
    ]
    answers = judge_exploratory(cases, baseline=baseline)
    return {asked[place][:2]: answer for place, answer in enumerate(answers)}


def _row(
    one: _Name,
    arms: Sequence[int],
    judged: Mapping[tuple[str, str], Mapping[int, ArmVerdict]],
    claims: Mapping[int, list[CounterClaim]],
) -> ThreadRow:
    cells = []
    for arm in arms:
        figures = {
            measure: _figure(one.rates[measure], arm, arms[0], judged.get((one.name, measure), {}))
            for measure in MEASURES
        }
        cells.append(
            ThreadCell(
                arm_id=arm,
                n=len(one.rates["wakeups"].get(arm, {})),
                claims=claims.get(arm, []) if one.own else [],
                **figures,
            )
        )
    return ThreadRow(name=one.name, own=one.own, threads=one.threads, cells=cells)


def _figure(
    rates: Rates, arm: int, baseline: int, judged: Mapping[int, ArmVerdict]
) -> ThreadFigure | None:
    values = list(rates.get(arm, {}).values())
    if not values:
        return None
    on_log = all(value > 0 for of_arm in rates.values() for value in of_arm.values())
    over = mean_interval(values, on_log=on_log)
    figure = ThreadFigure(mean=over.mean, low=over.low, high=over.high)
    verdict = judged.get(arm)
    if arm == baseline or verdict is None:
        return figure
    return figure.model_copy(
        update={
            "change_percent": verdict.effect_percent,
            "low_percent": verdict.ci_low_percent,
            "high_percent": verdict.ci_high_percent,
            "q": verdict.q,
            "note": verdict.note,
        }
    )


def _claims(
    of: CaseThreads, arms: Sequence[int], beside: ClaimsByPlace
) -> dict[int, list[CounterClaim]]:
    """Arm → what was published of the metric that counts the load's own wake-ups."""
    found: dict[int, list[CounterClaim]] = {}
    for metric, declared in of.case.metrics.items():
        for arm in arms if declared.threads else ():
            found[arm] = [
                CounterClaim(
                    source=source.name,
                    low_percent=claim.low_percent,
                    high_percent=claim.high_percent,
                    outcome=claim.outcome,
                    reason=claim.reason,
                )
                for source, claim in beside.get((of.case.id, metric, of.run.host.name, arm), [])
                if claim.outcome not in (ClaimOutcome.NOT_MEASURED, ClaimOutcome.OTHER_PROCESSOR)
            ]
    return found


def _others(boots: Sequence[BootThreads]) -> OtherThreads | None:
    cut = [boot.told for boot in boots if boot.told.other_names]
    if not cut:
        return None
    return OtherThreads(
        names=max(told.other_names for told in cut),
        wakeups=max(told.wakeups[-1] / told.seconds for told in cut),
    )
