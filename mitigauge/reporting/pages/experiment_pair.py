"""Two experiments as one matrix: rows that both have, and what differs between them."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from pydantic import TypeAdapter
from sqlalchemy.orm import Session

from mitigauge.core.clock import Clock
from mitigauge.core.effect import CellState
from mitigauge.core.errors import InvalidInput
from mitigauge.core.natural_order import natural_order
from mitigauge.core.stats.bounds import Bound
from mitigauge.measurement.experiments import repository as experiment_rows
from mitigauge.measurement.experiments.metric import CaseMetric
from mitigauge.measurement.experiments.tables import Arm, Comparison, Experiment
from mitigauge.measurement.runs import count_repository as run_counts
from mitigauge.measurement.runs import repository as run_rows
from mitigauge.measurement.runs.tables import Run
from mitigauge.reporting.pages import experiment_pair_repository as pair_rows
from mitigauge.reporting.pages.pair_facts import (
    CONFOUNDED,
    SideFacts,
    facts_of,
    notices_of,
    sentence_of,
)
from mitigauge.reporting.pages.pair_judgement import (
    Cells,
    JudgedRows,
    judge_rows,
    notes_of,
    ratios_of,
    stopped_early,
)
from mitigauge.reporting.pages.pair_matches import (
    ArmLine,
    CaseLine,
    Match,
    Matches,
    PairedArms,
    PairedHosts,
    Place,
    RunLine,
    SideComparison,
    match,
    pair_arms,
    pair_hosts,
)
from mitigauge.reporting.pages.pair_schemas import (
    ArmPair,
    HostPair,
    PairCell,
    PairJudgement,
    PairRow,
    PairSide,
    PairSort,
    PairView,
    UnmatchedCount,
)

# Levels of a page take longest: each of its rows rests on all boots of two experiments.
PAGE_SIZE = 100
LARGEST_PAGE = 5000
MOST_PAIRS = 50
_METRICS = TypeAdapter(dict[str, CaseMetric])


@dataclass(frozen=True, slots=True)
class PairQuery:
    """Which rows of a pair are asked for, and in which order.

    What is filtered changes no verdict: all common rows are judged together.
    """

    find: str = ""
    """Words, each in case, workload, metric, arm or host."""
    workload: str = ""
    only_differing: bool = False
    sort: PairSort = PairSort.DIFFERENCE
    hosts: tuple[tuple[str, str], ...] = ()
    """Pairs of hosts, A's and B's."""
    offset: int = 0
    limit: int = PAGE_SIZE


def host_pairs(written: Iterable[str]) -> tuple[tuple[str, str], ...]:
    """Pairs of hosts as ``A's:B's``. Raises :class:`InvalidInput` for another form."""
    pairs = []
    for text in written:
        a, colon, b = text.partition(":")
        if not (a and colon and b):
            raise InvalidInput(
                f"hosts: {text!r} is no pair of hosts",
                hint="Write A's host, a colon, B's host: lab-intel:lab-amd.",
            )
        pairs.append((a, b))
    if len(pairs) > MOST_PAIRS:
        raise InvalidInput(
            f"hosts: {len(pairs)} pairs of hosts are too many", hint=f"Give at most {MOST_PAIRS}."
        )
    return tuple(pairs)


def pair_stamp(session: Session, a: int, b: int) -> Hashable | None:
    """Another value after every change of what is shown. Raises what :func:`show_pair` raises."""
    _require_two(a, b)
    return run_rows.stamp(session, a), run_rows.stamp(session, b)


def show_pair(session: Session, a: int, b: int, query: PairQuery | None = None) -> PairView:
    """Experiments *a* and *b* beside each other.

    Raises :class:`InvalidInput` for one and the same experiment or hosts that cannot be paired,
    and :class:`NotFound` for one that is not there.
    """
    query = query or PairQuery()
    _require_two(a, b)
    return _Pair.read(session, a, b, query).view(session)


def _require_two(a: int, b: int) -> None:
    if a == b:
        raise InvalidInput(
            f"experiment {a} cannot be compared with itself",
            hint="Name two experiments; `mitigauge experiment list` shows all.",
        )


@dataclass(frozen=True, slots=True)
class _Side:
    """One experiment, read."""

    experiment: Experiment
    runs: Sequence[Run]
    comparisons: Sequence[SideComparison]
    cells: Cells

    @classmethod
    def read(cls, session: Session, experiment_id: int) -> _Side:
        experiment = experiment_rows.experiment(session, experiment_id, with_cases=False)
        runs = run_rows.runs_of(session, experiment_id)
        cases: dict[int, list[CaseLine]] = {}
        metrics: dict[str, dict[str, CaseMetric]] = {}
        rows: Sequence[Any] = pair_rows.cases_of(session, experiment_id)
        for comparison_id, said, *line in rows:
            declared = metrics.get(said)
            if declared is None:
                declared = metrics[said] = _METRICS.validate_json(said)
            cases.setdefault(comparison_id, []).append(CaseLine(declared, *line))
        return cls(
            experiment,
            runs,
            [_comparison(of, runs, cases.get(of.id, [])) for of in experiment.comparisons],
            Cells(
                pair_rows.cells_of(session, [run.id for run in runs]),
                {run.id: run.comparison.layouts for run in runs},
            ),
        )

    @property
    def hosts(self) -> dict[int, str]:
        return {run.host_id: run.host.name for run in self.runs}

    def facts(self, session: Session) -> SideFacts:
        run_ids = [run.id for run in self.runs]
        kernels = run_counts.kernels_by_run(session, run_ids)
        first = run_counts.first_facts(session, run_ids)
        return SideFacts(
            self.experiment,
            self.comparisons,
            [kernel for run in run_ids for kernel in kernels.get(run, [])],
            {run.host_id: first[run.id] for run in reversed(self.runs) if run.id in first},
            self.hosts,
        )

    def view(self) -> PairSide:
        experiment = self.experiment
        return PairSide(
            id=experiment.id,
            name=experiment.name,
            question=experiment.question,
            state=experiment.state,
            environment=experiment.environment,
            emulated=any(run.host.emulated for run in self.runs),
            counted=any(run.clock == Clock.COUNTED for run in self.runs),
            started_at=experiment.started_at,
            finished_at=experiment.finished_at,
            hosts=list(self.hosts.values()),
        )


def _comparison(of: Comparison, runs: Sequence[Run], cases: Sequence[CaseLine]) -> SideComparison:
    own = [run for run in runs if run.comparison_id == of.id]
    emulated = any(run.host.emulated for run in own)
    arms = [_arm(arm, emulated=emulated) for arm in of.arms]
    return SideComparison(
        of.name,
        of.blocks,
        of.layouts,
        arms,
        [RunLine(run.id, run.host_id, run.host.name, run.clock) for run in own],
        cases,
        next(arm for arm in arms if arm.is_baseline),
    )


def _arm(arm: Arm, *, emulated: bool) -> ArmLine:
    cmdline = f"{arm.lab_cmdline if emulated else ''} {arm.cmdline}".strip()
    return ArmLine(arm.id, arm.name, arm.full_mode, arm.kernel, cmdline, arm.is_baseline, arm.is_aa)


@dataclass(frozen=True, slots=True)
class _Pair:
    """Both sides with their common rows, judged."""

    a: _Side
    b: _Side
    query: PairQuery
    hosts: Sequence[PairedHosts]
    matches: Matches
    judged: JudgedRows

    @classmethod
    def read(cls, session: Session, a: int, b: int, query: PairQuery) -> _Pair:
        sides = _Side.read(session, a), _Side.read(session, b)
        ours, theirs = (list(side.hosts.items()) for side in sides)
        hosts = pair_hosts(ours, theirs, query.hosts)
        matches = match(sides[0].comparisons, sides[1].comparisons, hosts)
        judged = judge_rows(matches.rows, sides[0].cells, sides[1].cells)
        return cls(*sides, query, hosts, matches, judged)

    def view(self, session: Session) -> PairView:
        order = self._order()
        query = self.query
        filtered = query.find or query.workload or query.only_differing
        wanted = [index for index in order if self._is_wanted(index)] if filtered else order
        page = wanted[query.offset : query.offset + query.limit]
        end = query.offset + len(page)
        sides = self.a.facts(session), self.b.facts(session)
        arms = self._arms()
        compared, differing = int(self.judged.compared.sum()), int(self.judged.differs.sum())
        matched = len(self.matches.rows)
        largest = self._row(self._largest()) if differing else None
        return PairView(
            a=self.a.view(),
            b=self.b.view(),
            sentence=sentence_of(compared, differing, matched, largest),
            notices=[*notices_of(*sides, self.hosts, self.matches.comparisons), CONFOUNDED],
            facts=facts_of(*sides, self.hosts, arms),
            hosts=[HostPair(a=pair.a[1], b=pair.b[1], how=pair.how) for pair in self.hosts],
            arms=[_arm_pair(pair) for pair in arms],
            workloads=sorted({m[0].case.workload for m in self.matches.rows}, key=natural_order),
            matched=matched,
            compared=compared,
            differing=differing,
            unmatched=[
                UnmatchedCount(reason=reason, rows=rows)
                for reason, rows in sorted(self.matches.unmatched.items())
            ],
            total=len(wanted),
            offset=query.offset,
            next_offset=end if end < len(wanted) else None,
            rows=self._rows(session, page),
        )

    def _arms(self) -> list[PairedArms]:
        """Arms of comparisons that have rows in common; all where none has."""
        every = [(one, other) for one in self.a.comparisons for other in self.b.comparisons]
        found: dict[tuple[str, ...], PairedArms] = {}
        for one, other in self.matches.comparisons or every:
            for pair in pair_arms(one.arms, other.arms):
                names = pair.a.name, pair.b.name, pair.a.mode, pair.b.mode
                found.setdefault(names, pair)
        return list(found.values())

    def _largest(self) -> int:
        sizes = np.where(self.judged.differs, np.abs(self.judged.difference), -1.0)
        return int(np.argmax(sizes))

    def _order(self) -> list[int]:
        judged, rows = self.judged, len(self.matches.rows)
        if self.query.sort is PairSort.PLAN:
            return list(range(rows))
        if self.query.sort is PairSort.Q:
            order = np.argsort(np.nan_to_num(judged.p, nan=2.0), kind="stable")
        else:
            size = np.nan_to_num(np.abs(judged.difference), nan=-1.0)
            order = np.lexsort((-size, ~judged.compared, ~judged.differs))
        return [int(index) for index in order]

    def _is_wanted(self, index: int) -> bool:
        query, of = self.query, self.matches.rows[index]
        if query.only_differing and not self.judged.differs[index]:
            return False
        if query.workload and of.a.case.workload != query.workload:
            return False
        return not query.find or _has_words(of, query.find)

    def _rows(self, session: Session, page: Sequence[int]) -> list[PairRow]:
        levels = self._levels(session, [self.matches.rows[index] for index in page])
        return [
            self._row(index).model_copy(update={"level": arm, "baseline_level": base})
            for index, arm, base in zip(page, *levels, strict=True)
        ]

    def _levels(self, session: Session, page: Sequence[Match]) -> tuple[list[Any], list[Any]]:
        """Levels of the arm and of its baseline for every row of the page."""
        stored = [
            {
                (row.run_id, row.case_id, row.metric, row.arm_id): row
                for row in pair_rows.levels_of(
                    session, {place.run.id for place in side}, {place.case.id for place in side}
                )
            }
            for side in ([m.a for m in page], [m.b for m in page])
        ]

        def ratios(arm_of: Callable[[Place], ArmLine]) -> list[Any]:
            def level(side: int, place: Place, metric: str) -> Any:
                return stored[side].get((place.run.id, place.case.id, metric, arm_of(place).id))

            return ratios_of(
                [(level(0, m.a, m.metric), level(1, m.b, m.metric), _unit(m)) for m in page]
            )

        return ratios(lambda place: place.arm), ratios(lambda place: place.comparison.baseline)

    def _row(self, index: int) -> PairRow:
        of, judged = self.matches.rows[index], self.judged
        declared = of.a.case.metrics[of.metric]
        cells = self.a.cells.get(of.key_a), self.b.cells.get(of.key_b)
        differs, compared = bool(judged.differs[index]), bool(judged.compared[index])
        figures = [
            _number(each[index])
            for each in (judged.difference, judged.low, judged.high, judged.p, judged.q,
                         judged.detectable)
        ]  # fmt: skip
        small = differs and all(
            end is not None and abs(end) < declared.delta_percent for end in figures[1:3]
        )
        return PairRow(
            workload=of.a.case.workload,
            case=of.a.case.title,
            metric=of.metric,
            metric_title=declared.title,
            unit=declared.unit,
            direction=declared.direction,
            primary=declared.primary,
            arm=of.a.arm.name,
            host=_host(of),
            clock=of.a.run.clock,
            a=_cell(of.a, cells[0]),
            b=_cell(of.b, cells[1]),
            judgement=_judgement(differs=differs, compared=compared),
            difference_percent=figures[0],
            low_percent=figures[1],
            high_percent=figures[2],
            is_points=not judged.on_log[index],
            p=figures[3],
            q=figures[4],
            detectable_percent=figures[5],
            note="; ".join(notes_of(of, *cells, small=small)),
        )


def _unit(of: Match) -> str:
    return of.a.case.metrics[of.metric].unit


def _host(of: Match) -> str:
    a, b = of.a.run.host, of.b.run.host
    return a if a == b else f"{a} beside {b}"


def _has_words(of: Match, find: str) -> bool:
    declared = of.a.case.metrics[of.metric]
    text = " ".join(
        (of.a.case.title, of.a.case.workload, declared.title, of.a.arm.name, of.b.arm.name,
         of.a.arm.mode, _host(of))
    ).casefold()  # fmt: skip
    return all(word in text for word in find.casefold().split())


def _judgement(*, differs: bool, compared: bool) -> PairJudgement:
    if not compared:
        return PairJudgement.NOT_COMPARED
    return PairJudgement.DIFFERS if differs else PairJudgement.NONE_SEEN


def _cell(place: Place, row: Any) -> PairCell:
    """The stored cell; columns that a row lacks stay empty."""
    stored: dict[str, Any] = {
        "state": CellState.NO_DATA, "n": 0, "blocks": 0, "mean": None, "effect_percent": None,
        "ci_low_percent": None, "ci_high_percent": None, "verdict": None, "bound": Bound.EXACT,
        "stopped_early": False,
    }  # fmt: skip
    if row is not None:
        stored = {name: getattr(row, name) for name in stored if name != "stopped_early"}
        stored["stopped_early"] = stopped_early(row, place.comparison.blocks)
    return PairCell(
        case_id=place.case.id,
        host=place.run.host,
        arm=place.arm.name,
        baseline=place.comparison.baseline.name,
        profiled=place.case.profiled,
        **stored,
    )


def _arm_pair(pair: PairedArms) -> ArmPair:
    return ArmPair(
        name=pair.a.name,
        a=pair.a.name,
        b=pair.b.name,
        mode_a=pair.a.mode,
        mode_b=pair.b.mode,
        is_baseline=pair.a.is_baseline,
    )


def _number(value: np.float64) -> float | None:
    number = float(value)
    return number if np.isfinite(number) else None
