"""Modes ranked by their predicted cost on each processor, worked out once."""

from __future__ import annotations

from collections.abc import Collection
from functools import cache

from mitigauge.analysis.prices.processors import bills_of_questions
from mitigauge.analysis.prices.ranking import Bills, Ranked, Ranking, ranking
from mitigauge.analysis.prices.trust import trust_of
from mitigauge.analysis.profiles.exact.price_list import price_list
from mitigauge.measurement.catalog import Catalog
from mitigauge.reporting.pages.price_schemas import (
    BreakEvenView,
    NsInterval,
    ProcessorRanking,
    QuestionRanking,
    RankedMode,
    UnpricedMode,
)


def rankings_on(processors: Collection[str]) -> list[QuestionRanking]:
    """Every question that some prices answer, on those of *processors* that do."""
    return [
        each.model_copy(
            update={"processors": [of for of in each.processors if of.processor in processors]}
        )
        for each in _every()
    ]


@cache
def _every() -> tuple[QuestionRanking, ...]:
    questions = map(_question, bills_of_questions(Catalog()).values())
    return tuple(question for question in questions if question.processors)


def _question(bills: Bills) -> QuestionRanking:
    found = [ranking(bills, each) for each in price_list().processors.values()]
    return QuestionRanking(
        bills=bills.bills,
        operation=bills.operation,
        source=bills.source,
        processors=[_on_one(told) for told in found if _says_something(told)],
    )


def _says_something(told: Ranking) -> bool:
    """Whether a mode that does anything has a price there, or lacks a single one."""
    return bool(told.break_even) or any(of.mode.events for of in told.ranked)


def _on_one(told: Ranking) -> ProcessorRanking:
    return ProcessorRanking(
        processor=told.processor.processor,
        title=told.processor.title,
        trusted=trust_of(told.processor),
        ranked=[_ranked(of) for of in told.ranked],
        unpriced=[
            UnpricedMode(mode=of.mode.mode, title=of.mode.title, missing=list(of.cost.missing))
            for of in told.unpriced
        ],
        chance=told.chance,
        break_even=[
            BreakEvenView(event=of.event, mode=of.mode, other=of.other, ns=of.ns)
            for of in told.break_even
        ],
        forgotten_ns=told.forgotten_ns,
    )


def _ranked(of: Ranked) -> RankedMode:
    cost = of.cost
    return RankedMode(
        mode=of.mode.mode,
        title=of.mode.title,
        predicted=NsInterval(ns=cost.ns, low=cost.low, high=cost.high),
    )
