"""Reading what one week of the fleet said: rows in, :class:`WeekData` out."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from functools import cache
from typing import Any

from sqlalchemy.orm import Session

from mitigauge.core.clock import Clock
from mitigauge.core.effect import Verdict
from mitigauge.core.natural_order import natural_order
from mitigauge.core.stats.bounds import Bound
from mitigauge.measurement.experiments.tables import Arm, Experiment
from mitigauge.measurement.fleet import repository as fleet
from mitigauge.measurement.fleet.tables import Host
from mitigauge.measurement.runs import count_repository as run_counts
from mitigauge.measurement.runs.drift import host_changes
from mitigauge.measurement.runs.drift_repository import facts_of, print_changes
from mitigauge.measurement.runs.host_time_repository import host_times
from mitigauge.measurement.runs.states import BootState, RunState
from mitigauge.reporting.letters.weekly import repository as rows
from mitigauge.reporting.letters.weekly.data import (
    Aside,
    ComparisonRecord,
    Counts,
    Drift,
    FactChange,
    Gap,
    Side,
    WeekData,
)
from mitigauge.reporting.letters.weekly.findings import Key, Known, Machine, Word, findings
from mitigauge.reporting.letters.weekly.limit_lines import limits_of_week
from mitigauge.reporting.letters.weekly.regression_lines import regression_lines
from mitigauge.reporting.letters.weekly.repository import CaseLine, RunLine, VerdictLine
from mitigauge.reporting.letters.weekly.self_measurement import aa_lines, host_hours, noise_lines
from mitigauge.reporting.letters.weekly.trend_lines import trend_lines
from mitigauge.reporting.letters.weekly.week import LENGTH, Week

# A word that is older says nothing any more.
LOOK_BACK_WEEKS = 26
NOISE_WEEKS_BEFORE = 4
# Lines of one kind that are kept.
MOST_LINES = 500
MOST_FACTS = 40
MADE_AGAIN = (BootState.LAB_FAULT, BootState.INVALID)


def gather(session: Session, week: Week, *, complete: bool) -> WeekData:
    """All that *week* said. Reads only what was written before its end."""
    since = week.start - LOOK_BACK_WEEKS * LENGTH
    verdicts = rows.verdicts(session, since=since, start=week.start, end=week.end)
    ended = rows.runs_ended(session, week.start, week.end)
    known = _Shelf(session, {line.run_id for line in verdicts}, ended)
    words = [word for line in verdicts if (word := known.word(line)) is not None]
    found, counted = findings(words, week.start, known.for_findings())
    hosts = known.hosts
    times = host_times(session, [run.id for run in ended])
    absences = rows.absences(session, week.start, week.end)
    aside = [_aside(hosts[row.host_id], row, week) for row in absences if row.host_id in hosts]
    until = max((line.given_at for line in verdicts), default=None)
    return WeekData(
        week=str(week),
        complete=complete,
        until=None if complete else until,
        counts=_counts(verdicts, known, week.start),
        compared=_compared(verdicts, known, week.start),
        found=counted,
        findings=found,
        regressions=regression_lines(session, week),
        limits=limits_of_week(session, week),
        trends=trend_lines(session, week),
        trends_known=rows.any_trend(session, week.end),
        not_measured=_not_measured(session, ended, known),
        under_way=rows.runs_under_way(session, week.end),
        aside=aside,
        drift=_drift(session, week, since, hosts),
        noise=noise_lines(
            rows.noise(session, week.earlier(NOISE_WEEKS_BEFORE).start, week.end), week.start
        ),
        hours=host_hours(
            ended, times, rows.boot_seconds(session, [r.id for r in ended]), aside, hosts
        ),
        aa=aa_lines(rows.aa_counts(session, week.start, week.end)),
    )


class _Shelf:
    """What verdicts refer to by number, read once."""

    def __init__(self, session: Session, run_ids: set[int], ended: Sequence[RunLine]) -> None:
        self._session = session
        self.runs: dict[int, RunLine] = rows.runs(session, run_ids | {run.id for run in ended})
        comparison_ids = {run.comparison_id for run in self.runs.values()}
        self.cases: dict[int, CaseLine] = rows.cases(session, comparison_ids)
        self.arms: dict[int, Arm] = {a.id: a for a in rows.arms(session, comparison_ids)}
        self.comparisons = rows.comparisons(session, comparison_ids)
        self.experiments: dict[int, Experiment] = rows.experiments(
            session, {run.experiment_id for run in self.runs.values()}
        )
        self.hosts: dict[int, Host] = {host.id: host for host in fleet.all_hosts(session)}
        self.baselines = {a.comparison_id: a for a in self.arms.values() if a.is_baseline}
        self._sides = {arm.id: _side(arm) for arm in self.arms.values()}
        self._keys: dict[tuple[int, str, int], Key] = {}

    def side(self, arm_id: int) -> Side:
        return self._sides[arm_id]

    def is_asked(self, line: VerdictLine) -> bool:
        """Whether it is of a primary metric, and of another arm than the baseline itself."""
        arm = self.arms[line.arm_id]
        declared = self.cases[line.case_id].metrics.get(line.metric)
        return declared is not None and declared.primary and not (arm.is_aa or arm.is_baseline)

    def word(self, line: VerdictLine) -> Word | None:
        """The verdict as a word; None where it is none that findings are made of."""
        if line.verdict == Verdict.UNDECIDED or line.effect_percent is None:
            return None
        if not self.is_asked(line):
            return None
        run = self.runs[line.run_id]
        return Word(
            key=self._key(line),
            host_id=run.host_id,
            run_id=run.id,
            case_id=line.case_id,
            arm_id=line.arm_id,
            experiment_id=run.experiment_id,
            verdict=Verdict(line.verdict),
            effect_percent=line.effect_percent,
            ci_low_percent=line.ci_low_percent,
            ci_high_percent=line.ci_high_percent,
            bound=Bound(line.bound),
            n=line.n,
            given_at=line.given_at,
            version=line.version,
        )

    def _key(self, line: VerdictLine) -> Key:
        of = (line.case_id, line.metric, line.arm_id)
        known = self._keys.get(of)
        if known is None:
            case, arm = self.cases[line.case_id], self.arms[line.arm_id]
            baseline = self.baselines[arm.comparison_id]
            # Where kernels are not what is compared, a newer one is the same question asked again.
            across = baseline.kernel != arm.kernel
            known = self._keys[of] = Key(
                case.workload,
                case.title,
                line.metric,
                case.metrics[line.metric].unit,
                baseline.full_mode,
                baseline.kernel if across else "",
                arm.full_mode,
                arm.kernel if across else "",
            )
        return known

    def for_findings(self) -> Known:
        return Known(
            machines={
                host.id: Machine(host.name, host.environment, host.host_class, host.emulated)
                for host in self.hosts.values()
            },
            counted_runs=frozenset(r.id for r in self.runs.values() if r.clock == Clock.COUNTED),
            sides={
                arm.id: (self.side(self.baselines[arm.comparison_id].id), self.side(arm.id))
                for arm in self.arms.values()
            },
            metrics={
                (case.id, name): (declared.title, declared.direction)
                for case in self.cases.values()
                for name, declared in case.metrics.items()
            },
            causes=cache(self._causes),
        )

    def _causes(self, before: int, after: int) -> list[FactChange] | None:
        found = run_counts.first_facts(self._session, {before, after})
        if not {before, after} <= found.keys():
            return None
        kernels = run_counts.kernels_by_run(self._session, {before, after})
        changed = _facts_changed(found[before], found[after])
        names = [
            ", ".join(sorted(kernels.get(run, []), key=natural_order)) or None
            for run in (before, after)
        ]
        if names[0] != names[1]:
            changed.insert(0, FactChange(name="kernels", before=names[0], after=names[1]))
        return changed


def _side(arm: Arm) -> Side:
    return Side(
        name=arm.name,
        mode=arm.full_mode,
        title=arm.title,
        kernel=arm.kernel,
        options=list(arm.settings.options()),
    )


def _counts(verdicts: Iterable[VerdictLine], known: _Shelf, start: datetime) -> Counts:
    counts: dict[str, int] = defaultdict(int)
    for line in verdicts:
        if line.given_at >= start and known.is_asked(line):
            counts[line.verdict] += 1
    return Counts(**counts)


def _compared(
    verdicts: Iterable[VerdictLine], known: _Shelf, start: datetime
) -> list[ComparisonRecord]:
    """Comparisons of which anything was said this week, newest experiment first."""
    hosts: dict[int, set[str]] = defaultdict(set)
    cases: dict[int, set[int]] = defaultdict(set)
    for line in verdicts:
        if line.given_at >= start and known.is_asked(line):
            run = known.runs[line.run_id]
            hosts[run.comparison_id].add(known.hosts[run.host_id].name)
            cases[run.comparison_id].add(line.case_id)
    made = []
    for comparison_id, names in hosts.items():
        comparison = known.comparisons[comparison_id]
        experiment = known.experiments[comparison.experiment_id]
        own = [arm for arm in known.arms.values() if arm.comparison_id == comparison_id]
        made.append(
            ComparisonRecord(
                experiment_id=experiment.id,
                experiment=experiment.name,
                question=experiment.question,
                comparison=comparison.name,
                baseline=known.side(known.baselines[comparison_id].id),
                arms=[known.side(a.id) for a in own if not (a.is_baseline or a.is_aa)],
                hosts=sorted(names, key=natural_order),
                cases=len(cases[comparison_id]),
                recorded=experiment.recorded_at is not None,
            )
        )
    return sorted(made, key=lambda c: (-c.experiment_id, natural_order(c.comparison)))[:MOST_LINES]


def _not_measured(session: Session, ended: Sequence[RunLine], known: _Shelf) -> list[Gap]:
    ids = [run.id for run in ended]
    found = [
        *_runs_unmeasured(ended, known),
        *_boots_unmeasured(rows.boots_uncounted(session, ids), known),
        *(
            _missing(known, run, kind="case", what=case, reason=error or state, count=count)
            for run, case, state, error, count in rows.cases_uncounted(session, ids)
        ),
    ]
    return sorted(found, key=_gap_place)[:MOST_LINES]


def _gap_place(gap: Gap) -> tuple[Any, ...]:
    names = natural_order(gap.host), natural_order(gap.what)
    return not gap.lost, -gap.count, gap.environment, *names


def _runs_unmeasured(ended: Sequence[RunLine], known: _Shelf) -> Iterator[Gap]:
    for run in ended:
        if run.state in (RunState.FAILED, RunState.CANCELLED):
            what = known.comparisons[run.comparison_id].name
            yield _missing(
                known, run.id, kind=f"run {run.state}", what=what, reason=run.error, count=1
            )


def _boots_unmeasured(found: Iterable[Any], known: _Shelf) -> Iterator[Gap]:
    for run_id, arm, state, reason, count in found:
        # Of a run that came to its end, such boots were made again.
        again = state in MADE_AGAIN and known.runs[run_id].state == RunState.FINISHED
        yield _missing(
            known, run_id, kind=state, what=arm, reason=reason, count=count,
            lost=not again,
        )  # fmt: skip


def _missing(
    known: _Shelf,
    run_id: int,
    *,
    kind: str,
    what: str,
    reason: str,
    count: int,
    lost: bool = True,
) -> Gap:
    run = known.runs[run_id]
    host = known.hosts[run.host_id]
    return Gap(
        kind=kind,
        experiment_id=run.experiment_id,
        experiment=known.experiments[run.experiment_id].name,
        host=host.name,
        environment=host.environment,
        what=what,
        reason=reason,
        count=count,
        lost=lost,
    )


def _aside(host: Host, row: Any, week: Week) -> Aside:
    began: datetime = row.began_at
    over: datetime | None = row.over_at
    ended = over if over is not None and over < week.end else None
    within = min(over or week.end, week.end) - max(began, week.start)
    return Aside(
        host=host.name,
        environment=host.environment,
        kind=row.kind,
        reason=row.reason,
        by=row.begun_by,
        began_at=began,
        ended_at=ended,
        seconds=max(within.total_seconds(), 0.0),
    )


def _drift(session: Session, week: Week, since: datetime, hosts: Mapping[int, Host]) -> list[Drift]:
    changes = print_changes(session, since=since, start=week.start, end=week.end)[:MOST_LINES]
    facts = facts_of(session, changes)
    return [
        Drift(
            host=hosts[change.host_id].name,
            environment=hosts[change.host_id].environment,
            at=change.at,
            changed=_facts_changed(facts[change.previous], facts[change.fingerprint_id]),
            back=change.back,
        )
        for change in changes
    ]


def _facts_changed(before: Mapping[str, Any], after: Mapping[str, Any]) -> list[FactChange]:
    return [
        FactChange(name=change.name, before=change.before, after=change.after)
        for change in host_changes(before, after)[:MOST_FACTS]
    ]
