"""Published tables with what prices predict of their cells, worked out once."""

from __future__ import annotations

from functools import cache

from pydantic import BaseModel, ConfigDict, Field

from mitigauge.analysis.claims.files import ClaimFile
from mitigauge.analysis.prices.claim_prediction import (
    LEAST_PERCENT,
    Agreement,
    PredictedClaim,
    Rates,
    agreement,
    implied_claims,
    one_of,
    predicted_claims,
)
from mitigauge.analysis.prices.prediction import predicted
from mitigauge.analysis.prices.processors import bills_of_questions, claims_of, rates_of_tables
from mitigauge.analysis.profiles.exact.price_list import price_list
from mitigauge.measurement.catalog import Catalog


class _Answer(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class PredictedCell(_Answer):
    """A published figure beside the predicted one, percent."""

    case: str
    mode: str
    published_low: float
    published_high: float
    percent: float | None = Field(description="predicted; null where a price is missing")
    low: float | None
    high: float | None
    missing: list[str]
    needed: float | None = Field(
        description="operations a second of a processor that make the published figure at these "
        "prices; null where no number does"
    )
    implied: float | None = Field(
        description="predicted from the published figure of the reference mode beside it, percent; "
        "null for that mode, and where that figure says no loss"
    )


class ModeAgreement(_Answer):
    """How often predictions of one mode agree with what was published."""

    mode: str
    cells: int
    told: int = Field(description="published with a difference")
    right: int = Field(description="of them, those whose sign is right")
    rival: int = Field(description="of them, those that are right if all is said to be slower")
    holds: int = Field(description="of all, those published within the predicted interval")
    rank: float | None = Field(description="Spearman's correlation; null for fewer than five")


class PredictedTable(_Answer):
    """One published table, predicted."""

    table: str
    title: str
    citation: str
    operation: str
    prices: str = Field(description="the processors whose prices were taken")
    host: str = Field(description="where it was counted how often")
    source: str
    pace: str = Field(description="how rates came to a real processor; empty: they are of one")
    least_percent: float = Field(description="less than that is published as no difference")
    reference: str = Field(description="mode whose figures the implied ones are of; or empty")
    cells: list[PredictedCell]
    agreement: list[ModeAgreement]


@cache
def predicted_tables() -> tuple[PredictedTable, ...]:
    """Every file of prices/rates/."""
    catalog = Catalog()
    return tuple(_table(rates, catalog) for rates in rates_of_tables(catalog).values())


def _table(rates: Rates, catalog: Catalog) -> PredictedTable:
    claims, bills = claims_of(rates, catalog), bills_of_questions(catalog)[rates.bills]
    processor = one_of([price_list().processors[name] for name in rates.processors])
    rows = predicted_claims(rates, claims, bills, processor)
    reference = _reference(rates, claims, rows)
    costs = {mode.mode: predicted(mode.events, processor).ns for mode in bills.modes}
    implied = {
        id(row.claim): row.percent
        for row in (implied_claims(rows, reference, costs) if reference else ())
    }
    return PredictedTable(
        table=rates.rates,
        title=claims.title,
        citation=" ".join(claims.citation.split()),
        operation=bills.operation,
        prices=processor.title,
        host=rates.host,
        source=rates.source,
        pace=_pace(rates),
        least_percent=LEAST_PERCENT,
        reference=reference,
        cells=[_cell(row, implied.get(id(row.claim))) for row in rows],
        agreement=[_agreement(of) for of in agreement(rows)],
    )


def _reference(rates: Rates, claims: ClaimFile, rows: list[PredictedClaim]) -> str:
    """The first mode, where there are several and they are against no protection at all."""
    modes = list(dict.fromkeys(row.mode for row in rows))
    return modes[0] if len(modes) > 1 and claims.baseline in rates.modes else ""


def _pace(rates: Rates) -> str:
    if rates.pace is None:
        return ""
    return (
        f"one takes {rates.pace.there_ns:.0f} ns there, and is taken to take "
        f"{rates.pace.here_ns:g} [{rates.pace.low:g}, {rates.pace.high:g}] ns on a real processor: "
        f"{rates.pace.source}"
    )


def _cell(row: PredictedClaim, implied: float | None) -> PredictedCell:
    claim, known = row.claim, not row.missing
    values = " ".join(str(value) for value in claim.case.values())
    return PredictedCell(
        case=" ".join(part for part in (values, claim.note and f"({claim.note})") if part),
        mode=row.mode,
        published_low=claim.low,
        published_high=claim.high,
        percent=row.percent if known else None,
        low=row.low if known else None,
        high=row.high if known else None,
        missing=list(row.missing),
        needed=row.needed,
        implied=implied,
    )


def _agreement(of: Agreement) -> ModeAgreement:
    return ModeAgreement(
        mode=of.mode,
        cells=of.cells,
        told=of.told,
        right=of.right,
        rival=of.rival,
        holds=of.holds,
        rank=of.rank,
    )
