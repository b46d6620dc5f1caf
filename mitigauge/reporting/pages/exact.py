"""Exact counts of an experiment's cases, compared."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path

from sqlalchemy.orm import Session

from mitigauge.analysis.prices.identity import recognised
from mitigauge.analysis.prices.processors import processors_with
from mitigauge.analysis.profiles.diff.sides import Selection
from mitigauge.analysis.profiles.exact.counted_group import CountedGroup
from mitigauge.analysis.profiles.exact.price_list import price_list
from mitigauge.analysis.profiles.exact.repository import CaseInArm
from mitigauge.analysis.profiles.exact.schemas import ExactTable
from mitigauge.analysis.profiles.exact.stored_counts import counted_of
from mitigauge.analysis.profiles.exact.table import exact_table
from mitigauge.core.documents.paths import exact_path
from mitigauge.core.errors import InvalidInput, NotFound
from mitigauge.core.hostile_text import quoted
from mitigauge.core.settings import get_settings
from mitigauge.kernels import renames
from mitigauge.reporting.pages import profile_repository
from mitigauge.reporting.pages.profiles import PlannedArm, label_of, planned_arms

CPUINFO = Path("/proc/cpuinfo")


def exact_difference(
    session: Session,
    a: Selection,
    b: Selection,
    *,
    function: str = "",
    processors: Sequence[str] = (),
) -> ExactTable:
    """Both selections by exact counts, with the instructions of *function*.

    Predictions for this machine's processor stand first, then those for *processors*, or for what
    the setting of that name says. Raises NotFound for one whose prices are not known.

    They may be of other experiments and hosts, but of one workload with the same parameters; else
    :class:`InvalidInput`. Where one has no counts, the answer says why.
    """
    one, other = planned_arms(session, a, b)
    return exact_table(
        one.planned.case.title,
        _group(session, one, a, b),
        _group(session, other, b, a),
        renamed=renames.between(session, one.arm.kernel, other.arm.kernel),
        function=function,
        prices=replace(price_list(), first=_first(processors)),
    )


def _first(asked: Sequence[str]) -> list[str]:
    known = price_list().processors
    settings = [name.strip() for name in get_settings().processors.split(",")]
    names = asked or [name for name in settings if name]
    unknown = [name for name in names if name not in known]
    if unknown:
        raise NotFound(
            f"no prices of {quoted(unknown[0])}",
            hint="`mitigauge price list` has the names of processors.",
        )
    return [*_processors_here(), *names]


@cache
def _processors_here() -> tuple[str, ...]:
    """Files of the processor that this machine has, by its number and its flags."""
    try:
        here = recognised(CPUINFO.read_text(errors="replace")).identity
    except (OSError, InvalidInput):
        return ()
    return tuple(each.processor for each in processors_with(here, price_list().processors.values()))


def _group(session: Session, asked: PlannedArm, of: Selection, other: Selection) -> CountedGroup:
    counts = profile_repository.counts_of_arm(
        session,
        case_id=asked.planned.case.id,
        arm_id=asked.arm.id,
        run_id=asked.planned.run.id,
    )
    place = CaseInArm(asked.planned.run.id, asked.planned.case.id, asked.arm.id)
    told = [count.id for count in counts if count.instructions is not None]
    return CountedGroup(
        label=label_of(of, other),
        of=of,
        counted=counted_of(session, place, told) if told else None,
        missing=[count.detail for count in counts if count.detail],
    )


def first_difference(session: Session, experiment_id: int) -> str | None:
    """The page of the first exact difference of an experiment; None where it has none."""
    found = profile_repository.first_counted_pair(session, experiment_id)
    return None if found is None else exact_path(experiment_id, **found)
