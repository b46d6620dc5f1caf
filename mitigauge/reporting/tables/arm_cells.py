"""Parts that the tables of an experiment's arms have in common. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from mitigauge.core.documents import units
from mitigauge.core.documents.paths import case_path
from mitigauge.core.documents.table import (
    ArmHead,
    ClaimFigure,
    DataTable,
    Part,
    TableChoice,
    TableColumn,
    TableNote,
    TableSection,
    TableView,
)
from mitigauge.core.effect import Effect, Verdict
from mitigauge.core.stats.bounds import Bound
from mitigauge.reporting.tables.counter_schemas import (
    CounterArm,
    CounterClaim,
    CountersView,
    CounterTable,
)
from mitigauge.reporting.tables.factorial_schemas import FactorialView
from mitigauge.reporting.tables.loss_schemas import LossClaim, LossView
from mitigauge.reporting.tables.thread_schemas import ThreadsView, ThreadTableView

OfExperiment = CountersView | ThreadsView | LossView | FactorialView
OfPlace = CounterTable | ThreadTableView


def marks(*, emulated: bool, counted: bool) -> list[str]:
    """What a table's title says of the host's time."""
    return [*(["EMULATED"] if emulated else []), *(["COUNTED TIME"] if counted else [])]


def experiment_tables(
    kind: str,
    what: str,
    view: OfExperiment,
    sections: list[TableSection],
    *,
    notes: Iterable[str] = (),
    choices: Iterable[TableChoice] = (),
    more: str = "",
) -> TableView:
    """The tables of a kind under their experiment's name and state."""
    return TableView(
        table=kind,
        title=f"{view.experiment} ({view.state}): {what}",
        experiment_id=view.experiment_id,
        experiment=view.experiment,
        state=view.state,
        emulated=view.emulated,
        counted=view.counted,
        notes=list(notes),
        sections=sections,
        choices=list(choices),
        more=more,
    )


def place_section(
    what: str,
    experiment_id: int,
    place: OfPlace,
    meaning: str,
    table: DataTable,
    notes: list[TableNote],
) -> TableSection:
    """``Counters of getppid (modes), Ice Lake, host spr-1, EMULATED``: one case on one host."""
    marked = marks(emulated=place.emulated, counted=place.counted)
    facts = [place.host_class, place.processor, f"host {place.host}", *marked]
    return TableSection(
        title=", ".join([f"{what} of {place.case} ({place.comparison})", *filter(None, facts)]),
        meaning=meaning,
        href=case_path(experiment_id, place.case_id, place.host),
        emulated=place.emulated,
        counted=place.counted,
        tables=[table],
        notes=notes,
    )


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


def claim_figure(claim: CounterClaim | LossClaim, label: str) -> ClaimFigure:
    """A published change as a cell holds it."""
    return ClaimFigure(
        source=claim.source,
        label=label,
        low=claim.low_percent,
        high=claim.high_percent,
        outcome=claim.outcome.value,
        reason=claim.reason,
    )


def claims_text(claims: Iterable[CounterClaim]) -> str:
    """Published changes in one cell of a CSV file."""
    return "; ".join(units.claimed(claim.low_percent, claim.high_percent) for claim in claims)


def effect_of(
    value: float | None,
    low: float | None,
    high: float | None,
    *,
    n: int | None = None,
    q: float | None = None,
    verdict: Verdict | None = None,
    bound: Bound = Bound.EXACT,
    note: str = "",
) -> Effect | None:
    """An effect in percent; None where there is no value."""
    if value is None:
        return None
    return Effect(
        value=value, low=low, high=high, n=n, q=q, verdict=verdict, bound=bound, note=note
    )
