"""Parts that the tables of an experiment's arms have in common. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from mitigauge.documents.table import ArmHead, ClaimFigure, Part, TableColumn
from mitigauge.effect import Effect, Verdict
from mitigauge.tables.counter_schemas import CounterArm, CounterClaim


def marks(*, emulated: bool, counted: bool) -> list[str]:
    """What a table's title says of the host's time."""
    return [*(["EMULATED"] if emulated else []), *(["COUNTED TIME"] if counted else [])]


def place_title(what: str, case: str, comparison: str, *facts: str) -> str:
    """``Counters of getppid (modes), Ice Lake, host spr-1, EMULATED``; empty facts are left out."""
    return ", ".join([f"{what} of {case} ({comparison})", *filter(None, facts)])


def arm_columns(arms: Iterable[CounterArm], parts: Sequence[Part]) -> list[TableColumn]:
    """A column for each arm, the baseline's first."""
    return [
        TableColumn(
            key=f"arm-{arm.arm_id}",
            title=arm.name,
            kind="answer",
            arm=ArmHead(
                id=arm.arm_id,
                name=arm.name,
                mode=arm.mode,
                kernel=arm.kernel,
                is_baseline=arm.is_baseline,
            ),
            parts=parts,
        )
        for arm in arms
    ]


def claims_of(claims: Iterable[CounterClaim]) -> list[ClaimFigure]:
    """Published changes as a cell holds them."""
    return [
        ClaimFigure(
            source=claim.source,
            label=claim.source,
            low=claim.low_percent,
            high=claim.high_percent,
            outcome=claim.outcome.value,
            reason=claim.reason,
        )
        for claim in claims
    ]


def effect_of(
    value: float | None,
    low: float | None,
    high: float | None,
    *,
    n: int | None = None,
    q: float | None = None,
    verdict: Verdict | None = None,
    note: str = "",
) -> Effect | None:
    """An effect in percent; None where there is no value."""
    if value is None:
        return None
    return Effect(value=value, low=low, high=high, n=n, q=q, verdict=verdict, note=note)
