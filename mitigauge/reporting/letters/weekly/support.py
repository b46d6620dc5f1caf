"""What a week's findings rest on: what was not measured, hosts, noise, time, false alarms. Pure."""

from __future__ import annotations

from mitigauge.core.documents.parts import counted
from mitigauge.core.documents.paths import host_path
from mitigauge.reporting.letters.weekly.data import Aside, NoiseLine, WeekData
from mitigauge.reporting.letters.weekly.document import (
    Column,
    Entry,
    Line,
    Section,
    Span,
    Table,
    line_of,
)
from mitigauge.reporting.letters.weekly.findings import in_words

MOST_ROWS = 60
# Times of what it was before, from which on more noise is pointed out.
NOISIER = 1.5
KINDS = {
    "not_effective": "setting was not in force",
    "wrong_kernel": "another kernel came up",
    "did_not_boot": "did not boot",
    "lab_fault": "fault of the test bed",
    "invalid": "refused by a check of the host",
    "skipped": "not booted",
    "run failed": "gave up",
    "run cancelled": "cancelled",
    "case": "benchmark failed",
}


def support(data: WeekData) -> list[Section]:
    """The sections behind the findings."""
    made = [
        _not_measured(data),
        _drift(data),
        _noise(data),
        _hours(data),
        _trust(data),
        _experiments(data),
    ]
    return [section for section in made if section is not None]


def _table(columns: list[str], rows: list[list[Line]], *, right: tuple[int, ...] = ()) -> Table:
    return Table(
        columns=[Column(title=title, right=at in right) for at, title in enumerate(columns)],
        rows=rows[:MOST_ROWS],
    )


def _left(total: int, what: str) -> str:
    return f"{total - MOST_ROWS} more {what}." if total > MOST_ROWS else ""


def _not_measured(data: WeekData) -> Section:
    lost = sum(line.count for line in data.not_measured if line.lost)
    again = sum(line.count for line in data.not_measured if not line.lost)
    about = [
        line_of(f"{lost} planned boots, runs or benchmarks gave no figure; {again} were repeated.")
    ]
    if not data.not_measured:
        # Without a run that ended there was nothing to be measured.
        ended = any(line.runs for line in data.hours)
        about = [
            line_of(
                "All that was planned and came to its end was measured."
                if ended
                else "No run came to its end."
            )
        ]
    if data.under_way:
        about.append(line_of(f"{counted(data.under_way, 'run')} had begun and was not over."))
    rows = [
        [
            line_of(Span(text=line.host, href=host_path(line.host, line.environment))),
            line_of(Span(text=line.what, href=f"/experiments/{line.experiment_id}")),
            line_of(
                Span(text=KINDS.get(line.kind, line.kind), tone="bad" if line.lost else ""),
                "" if line.lost else ", repeated",
            ),
            line_of(str(line.count)),
            line_of(line.reason or "no reason was given"),
        ]
        for line in data.not_measured
    ]
    table = _table(["host", "what", "outcome", "times", "reason"], rows, right=(3,))
    return Section(
        id="not-measured",
        title="Not measured, and why",
        about=about,
        tables=[table] if rows else [],
        more=_left(len(rows), "reasons"),
    )


def _drift(data: WeekData) -> Section | None:
    if not data.drift:
        return Section(
            id="drift",
            title="Hosts that changed",
            about=[
                line_of("None: processor, microcode, firmware and packages stayed as they were.")
            ],
        )
    entries = [
        Entry(
            head=[
                Span(text=of.host, href=host_path(of.host, of.environment)),
                Span(text=f", {of.at:%Y-%m-%d %H:%M} UTC"),
                Span(text=": as it was before" if of.back else "", tone="faint"),
            ],
            lines=[line_of(in_words(change)) for change in of.changed]
            or [line_of(Span(text="no fact that is shown differs", tone="faint"))],
        )
        for of in data.drift[:MOST_ROWS]
    ]
    return Section(
        id="drift",
        title=f"Hosts that changed ({len(data.drift)})",
        about=[
            line_of("Figures from before and after such a moment are of two different machines.")
        ],
        entries=entries,
        more=_left(len(data.drift), "changes"),
    )


def _noise(data: WeekData) -> Section | None:
    if not data.noise:
        return None
    rows = [
        [
            line_of(line.host_class, _mark(line)),
            line_of(f"{line.workload} {line.metric}"),
            line_of(str(line.cases)),
            line_of(_percent(line.boot_percent)),
            line_of(_percent(line.iteration_percent)),
            line_of(_percent(line.worst_percent)),
            line_of(Span(text=_before(line), tone="bad" if _noisier(line) else "")),
        ]
        for line in data.noise
    ]
    columns = ["class of hosts", "measured", "cases", "boots", "iterations", "worst", "before"]
    return Section(
        id="noise",
        title="Noise",
        about=[
            line_of(
                "Standard deviations in percent of the value, medians over cases: from boot to "
                "boot, and from iteration to iteration within one; the noisiest case; and boot to "
                "boot in the four weeks before."
            )
        ],
        tables=[_table(columns, rows, right=(2, 3, 4, 5, 6))],
        more=_left(len(rows), "lines"),
    )


def _mark(line: NoiseLine) -> Span:
    words = [*(["emulated"] if line.emulated else []), *(["counted"] if line.counted else [])]
    return Span(text=f" [{', '.join(words)}]" if words else "", tone="emulated")


def _percent(value: float | None) -> str:
    if value is None:
        return "–"
    return f"{value:.2f} %" if value < 10 else f"{value:.0f} %"


def _noisier(line: NoiseLine) -> bool:
    if not line.boot_percent or not line.before_percent:
        return False
    return line.boot_percent > NOISIER * line.before_percent


def _before(line: NoiseLine) -> str:
    return f"{_percent(line.before_percent)}{', now noisier' if _noisier(line) else ''}"


def _hours(data: WeekData) -> Section | None:
    if not data.hours and not data.aside:
        return None
    rows = [
        [
            line_of(
                Span(text=of.host, href=host_path(of.host, of.environment)),
                Span(text=" [emulated]" if of.emulated else "", tone="emulated"),
            ),
            line_of(str(of.runs)),
            line_of(str(of.boots)),
            *(line_of(_hour(s)) for s in (of.held_s, of.measuring_s, of.booting_s, of.other_s)),
            line_of(_hour(of.wasted_s)),
            line_of(_hour(of.lost_s)),
        ]
        for of in data.hours
    ]
    columns = ["host", "runs", "boots", "used", "measuring", "booting", "other", "wasted", "lost"]
    entries = [Entry(head=line_of(_absence(of)), lines=[]) for of in data.aside[:MOST_ROWS]]
    return Section(
        id="hours",
        title="What hosts did with their time",
        about=[
            line_of(
                "Of runs that ended this week. Wasted: spent on boots that gave no figure. "
                "Lost: no run could begin, since the host was set aside or reserved."
            )
        ],
        entries=entries,
        tables=[_table(columns, rows, right=tuple(range(1, 9)))] if rows else [],
        more=_left(len(rows), "hosts"),
    )


def _hour(seconds: float) -> str:
    if seconds < 3600:
        return f"{round(seconds / 60)} min" if seconds >= 30 else "0"
    return f"{seconds / 3600:.1f} h"


def _absence(of: Aside) -> str:
    what = "reserved" if of.kind == "reserved" else "set aside"
    by = f" by {of.by}" if of.by else ""
    until = f"until {of.ended_at:%Y-%m-%d %H:%M}" if of.ended_at else "not over at the week's end"
    return f"{of.host}: {what}{by} from {of.began_at:%Y-%m-%d %H:%M} UTC, {until}: {of.reason}"


def _trust(data: WeekData) -> Section:
    about = [
        line_of(
            "A baseline that is booted twice differs from itself in nothing: whatever is called "
            "better or worse there is a false alarm."
        )
    ]
    if not data.aa:
        about.append(line_of("None was booted twice so far, so the rate is not known."))
    rows = [
        [
            line_of(of.host_class),
            line_of(f"{of.alarms} of {of.comparisons}"),
            line_of(f"{of.alarms_ever} of {of.comparisons_ever} on {counted(of.host_days, 'day')}"),
            line_of(f"{of.ci_low_percent:.1f} to {of.ci_high_percent:.1f} %"),
        ]
        for of in data.aa
    ]
    columns = ["class of hosts", "this week", "ever", "rate, 95 % interval"]
    return Section(
        id="trust",
        title="How far to trust it",
        about=about,
        tables=[_table(columns, rows, right=(1, 2, 3))] if rows else [],
        more=_left(len(rows), "classes"),
    )


def _experiments(data: WeekData) -> Section | None:
    if not data.compared:
        return None
    rows = [
        [
            line_of(
                Span(text=of.experiment, href=f"/experiments/{of.experiment_id}"),
                ", recorded elsewhere" if of.recorded else "",
            ),
            line_of(_side(of.baseline.mode, of.baseline.kernel)),
            line_of("; ".join(_side(arm.mode, arm.kernel) for arm in of.arms)),
            line_of(
                ", ".join(of.hosts[:6])
                + (f" and {len(of.hosts) - 6} more" if len(of.hosts) > 6 else "")
            ),
            line_of(str(of.cases)),
        ]
        for of in data.compared
    ]
    return Section(
        id="compared",
        title="What was compared",
        about=[
            line_of(
                "A change is in percent of the baseline, with its 95 % interval. The unit of "
                "repetition is the boot: all iterations of one boot count as one value. Each boot "
                "was proven: the kernel that came up reported the setting in force."
            )
        ],
        tables=[
            _table(
                ["experiment", "baseline", "compared with it", "hosts", "cases"], rows, right=(4,)
            )
        ],
        more=_left(len(rows), "comparisons"),
    )


def _side(mode: str, kernel: str) -> str:
    return f"{mode} on {kernel}" if kernel else mode
