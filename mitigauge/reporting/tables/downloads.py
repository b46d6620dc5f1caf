"""Rows for other programs: the matrix as a page shows it, raw iterations, prices. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from mitigauge.reporting.pages.iterations import IterationLine
from mitigauge.reporting.pages.price_schemas import PriceView, ProcessorPrices
from mitigauge.reporting.pages.schemas import ExperimentView

MATRIX_COLUMNS = (
    *("comparison", "host", "emulated", "workload", "case", "metric", "unit", "direction"),
    *("primary", "arm", "mode", "baseline", "state", "n", "blocks", "mean", "effect_percent"),
    *("ci_low_percent", "ci_high_percent", "bound", "p", "q", "mde_percent", "verdict"),
    *("decided_after", "version", "note"),
)
PRICE_COLUMNS = (
    *("processor", "title", "microarchitecture", "vendor", "family", "model", "stepping", "masked"),
    *("trusted", "event", "ns", "low", "high", "kind", "machines", "source", "url"),
)
_CELL_COLUMNS = MATRIX_COLUMNS[MATRIX_COLUMNS.index("state") :]


def matrix_rows(view: ExperimentView) -> Iterator[Mapping[str, Any]]:
    """A row for each cell of the experiment's matrices, with :data:`MATRIX_COLUMNS`."""
    for comparison in view.comparisons:
        arms = {arm.id: arm for arm in comparison.arms}
        for row in comparison.rows:
            for cell in row.cells:
                arm = arms[cell.arm_id]
                yield {
                    "comparison": comparison.name,
                    "host": row.host,
                    "emulated": view.host_facts[row.host].emulated,
                    "workload": row.workload,
                    "case": row.case,
                    "metric": row.metric,
                    "unit": row.unit,
                    "direction": row.direction,
                    "primary": row.primary,
                    "arm": arm.name,
                    "mode": arm.mode,
                    "baseline": arm.is_baseline,
                    **{name: getattr(cell, name) for name in _CELL_COLUMNS},
                }


def iteration_rows(lines: Iterable[IterationLine]) -> Iterator[Mapping[str, Any]]:
    """A row for each value, with the fields of :class:`IterationLine`."""
    return (line._asdict() for line in lines)


def price_rows(processors: Iterable[ProcessorPrices]) -> Iterator[Mapping[str, Any]]:
    """A row for each price of each processor, with :data:`PRICE_COLUMNS`."""
    for processor in processors:
        about = _about(processor)
        for price in processor.prices:
            yield {**about, **_figures(price)}


def _about(of: ProcessorPrices) -> dict[str, Any]:
    """What a processor is; nothing where no machine has said it."""
    told = of.identity
    return {
        "processor": of.processor,
        "title": of.title,
        "microarchitecture": of.microarchitecture,
        **{
            name: getattr(told, name) if told else None
            for name in ("vendor", "family", "model", "stepping")
        },
        "masked": bool(told.masked) if told else None,
        "trusted": of.trusted.value,
    }


def _figures(of: PriceView) -> dict[str, Any]:
    return {
        **{name: getattr(of, name) for name in ("event", "ns", "low", "high", "source", "url")},
        "kind": of.kind.value,
        "machines": ", ".join(of.machines),
    }
