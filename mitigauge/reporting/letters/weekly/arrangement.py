"""A week arranged for reading: what changed first, what supports it after. Pure.

Written for somebody who works on the kernel and knows nothing of this project.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from mitigauge.core.documents import units
from mitigauge.core.documents.parts import counted
from mitigauge.core.documents.paths import case_path, host_path
from mitigauge.core.effect import Verdict
from mitigauge.reporting.letters.weekly.data import Fate, Finding, OnHost, VerdictRecord, WeekData
from mitigauge.reporting.letters.weekly.document import (
    Document,
    Entry,
    Line,
    Picture,
    Point,
    Section,
    Span,
    Tone,
    line_of,
)
from mitigauge.reporting.letters.weekly.limit_section import limit_section
from mitigauge.reporting.letters.weekly.regression_section import regression_sections
from mitigauge.reporting.letters.weekly.support import support
from mitigauge.reporting.letters.weekly.trends import trend_section
from mitigauge.reporting.letters.weekly.week import Week

# Entries of one section that are told; the page of an experiment has all.
MOST_ENTRIES = 40
MOST_PICTURES = 8
MOST_HOSTS = 4
TONES: Final[dict[Verdict, Tone]] = {Verdict.WORSE: "worse", Verdict.BETTER: "better"}
EMULATED = (
    "Figures marked [emulated] come from emulated processors: they show what software costs. What "
    "a hardware barrier costs does not show in them, and none carries over to real hardware."
)
COUNTED = (
    "Where time counts instructions, one instruction is one unit of time: caches, branch "
    "predictors and barriers cost nothing."
)


def arrange(data: WeekData) -> Document:
    """The document of a week."""
    week = Week.parse(data.week)
    sections = [
        *regression_sections(data),
        limit_section(data.limits),
        _new(data, Verdict.WORSE, "new-worse", "Comparisons newly worse", pictures=MOST_PICTURES),
        _new(data, Verdict.BETTER, "new-better", "Comparisons newly better"),
        _resized(data),
        _open(data),
        _ended(data),
        trend_section(data),
        *support(data),
    ]
    return Document(
        week=data.week,
        title=f"What changed in week {data.week}",
        subject=f"[{data.week}] {_headline(data)}",
        lead=_lead(data, week),
        sections=[section for section in sections if section is not None],
    )


def _headline(data: WeekData) -> str:
    """Only what is sure counts as a regression; what experiments compared stands behind it."""
    found = [line for line in data.regressions if line.is_new]
    suspected = sum(line.is_suspicion for line in found)
    worse = _number(data, Verdict.WORSE, Fate.NEW)
    better = _number(data, Verdict.BETTER, Fate.NEW)
    still = _number(data, Verdict.WORSE, Fate.OPEN, Fate.RESIZED)
    in_builds = sum(line.slower_builds for line in found if line.is_suspicion)
    of_builds = (
        f" ({in_builds} slower in fresh boots of fewer than three builds)" if in_builds else ""
    )
    return (
        f"{counted(len(found) - suspected, 'confirmed regression')}, "
        f"{counted(suspected, 'suspicion')}{of_builds}; of comparisons {worse} newly worse, "
        f"{better} newly better, {still} still worse since earlier weeks"
    )


def _number(data: WeekData, verdict: Verdict, *fates: Fate) -> int:
    return sum(data.found.get(f"{fate} {verdict}", 0) for fate in fates)


def _lead(data: WeekData, week: Week) -> list[Line]:
    lines = [
        line_of(_compared(data)),
        line_of(f"{week.in_words()} (UTC): {_headline(data)}. {_verdicts(data)}"),
    ]
    if not data.complete:
        until = f"{data.until:%Y-%m-%d %H:%M} UTC" if data.until else "its beginning"
        lines.append(
            line_of(Span(text=f"This week is not over: figures until {until}.", tone="bad"))
        )
    if any(on.emulated for on in _all_hosts(data)) or any(t.emulated for t in data.trends):
        lines.append(line_of(Span(text=EMULATED, tone="emulated")))
    if any(on.counted for on in _all_hosts(data)):
        lines.append(line_of(Span(text=COUNTED, tone="emulated")))
    return lines


def _all_hosts(data: WeekData) -> Iterator[OnHost]:
    for finding in data.findings:
        yield from finding.hosts


def _compared(data: WeekData) -> str:
    """The first line: what was compared with what."""
    if not data.compared:
        return "No experiment came to a verdict this week: nothing new was compared."
    arms = {
        (arm.mode, arm.kernel, of.baseline.mode, of.baseline.kernel)
        for of in data.compared
        for arm in of.arms
    }
    experiments = len({of.experiment_id for of in data.compared})
    hosts = len({host for of in data.compared for host in of.hosts})
    mode, kernel, base_mode, base_kernel = min(arms)
    example = f"{_named(mode, kernel)} with {_named(base_mode, base_kernel)}"
    if mode == base_mode and kernel and base_kernel:
        example = f"kernel {kernel} with kernel {base_kernel}"
    more = f"; {counted(len(arms), 'such pair')}" if len(arms) > 1 else ""
    return (
        f"Compared: kernel settings and kernels, each with the baseline of its own experiment "
        f"(for example {example}{more}), booted on {counted(hosts, 'host')} for "
        f"{counted(experiments, 'experiment')}."
    )


def _named(mode: str, kernel: str) -> str:
    return f"{mode} on kernel {kernel}" if kernel else mode


def _verdicts(data: WeekData) -> str:
    of = data.counts
    total = of.worse + of.better + of.same + of.undecided
    return (
        f"Of {counted(total, 'comparison')}: {of.worse} worse, {of.better} better, "
        f"{of.same} the same, {of.undecided} undecided."
    )


def _findings_of(data: WeekData, verdict: Verdict | None, *fates: Fate) -> list[Finding]:
    return [
        finding
        for finding in data.findings
        if finding.fate in fates and verdict in (None, finding.verdict)
    ]


def _new(data: WeekData, verdict: Verdict, name: str, title: str, *, pictures: int = 0) -> Section:
    found = _findings_of(data, verdict, Fate.NEW)
    again = sum(1 for finding in found if finding.hosts[0].before is not None)
    about = [line_of("None.")]
    if found:
        first = len(found) - again
        told = [
            *(
                [f"{again} measured in an earlier week, when the answer was another"]
                if again
                else []
            ),
            *([f"{first} measured for the first time"] if first else []),
        ]
        about = [line_of(f"{'; '.join(told)}.")]
    return _section(data, name, title, about, found, verdict, (Fate.NEW,), pictures=pictures)


def _resized(data: WeekData) -> Section | None:
    found = _findings_of(data, None, Fate.RESIZED)
    if not found:
        return None
    about = [
        line_of("Known before, and measured again with another size: the intervals are apart.")
    ]
    return _section(
        data, "resized", "Changed in size", about, found, None, (Fate.RESIZED,), pictures=4
    )


def _open(data: WeekData) -> Section | None:
    found = _findings_of(data, Verdict.WORSE, Fate.OPEN)
    if not found:
        return None
    about = [
        line_of(
            "Slower in an earlier week, and nothing measured since says otherwise. The known cost "
            "of a mitigation stays here for as long as it is measured."
        )
    ]
    return _section(
        data, "open", "Still open from earlier weeks", about, found, Verdict.WORSE, (Fate.OPEN,)
    )


def _ended(data: WeekData) -> Section | None:
    found = _findings_of(data, None, Fate.ENDED)
    if not found:
        return None
    about = [line_of("Different in an earlier week; measured again, there is no difference now.")]
    return _section(data, "ended", "Gone", about, found, None, (Fate.ENDED,))


def _section(
    data: WeekData,
    name: str,
    title: str,
    about: list[Line],
    found: Sequence[Finding],
    verdict: Verdict | None,
    fates: tuple[Fate, ...],
    *,
    pictures: int = 0,
) -> Section:
    verdicts = [verdict] if verdict else list(TONES)
    total = sum(_number(data, each, *fates) for each in verdicts)
    told = found[:MOST_ENTRIES]
    left = total - len(told)
    return Section(
        id=name,
        title=f"{title} ({total})" if total else title,
        about=about,
        entries=[
            _entry(finding, f"{name}-{place}", picture=place <= pictures)
            for place, finding in enumerate(told, start=1)
        ],
        more=f"{left} more, all smaller." if left > 0 else "",
    )


def _entry(finding: Finding, name: str, *, picture: bool) -> Entry:
    first = finding.hosts[0]
    shown = first.before if finding.fate is Fate.ENDED and first.before else first.now
    address = case_path(first.now.experiment_id, first.now.case_id, first.host)
    head = [
        Span(text=finding.case, href=address),
        Span(text=f": {finding.metric_title} "),
        Span(text=_size(shown), tone=TONES[finding.verdict]),
    ]
    if any(on.emulated for on in finding.hosts):
        head.append(Span(text=" [emulated]", tone="emulated"))
    lines = [
        line_of(f"{_pair(finding)}; {finding.unit}, {finding.direction} is better"),
        *_hosts(finding),
        *_history(finding, first),
        line_of(Span(text="Suspected cause: ", tone="faint"), _cause(finding, first)),
    ]
    points = _points(finding)
    return Entry(
        head=head,
        lines=lines,
        picture=Picture(
            id=name,
            title=f"{finding.case}, {finding.metric_title} on {first.host}: change in percent",
            unit="%",
            points=points,
            zero=True,
        )
        if picture and len(points) > 1
        else None,
    )


def _points(finding: Finding) -> list[Point]:
    return [
        Point(
            at=word.given_at,
            value=word.effect_percent,
            low=word.ci_low_percent,
            high=word.ci_high_percent,
        )
        for word in finding.history
    ]


def _size(word: VerdictRecord) -> str:
    """``+39.9% [+38.1, +41.7], worse``."""
    return f"{units.effect(word.effect)}, {word.verdict}"


def _pair(finding: Finding) -> str:
    arm, base = finding.arm, finding.baseline
    if arm.kernel != base.kernel and arm.mode == base.mode:
        return f"kernel {arm.kernel or 'of the host'} instead of {base.kernel or 'the host’s own'}"
    return f"{_named(arm.mode, arm.kernel)} instead of {_named(base.mode, base.kernel)}"


def _hosts(finding: Finding) -> Iterator[Line]:
    for on in finding.hosts[:MOST_HOSTS]:
        marks = [
            *(["emulated"] if on.emulated else []),
            *(["time counts instructions"] if on.counted else []),
        ]
        mark = f" ({', '.join(marks)})" if marks else ""
        size = f": {_size(on.now)}" if finding.on > 1 or finding.fate is Fate.ENDED else ""
        address = host_path(on.host, on.environment)
        yield line_of(
            "on ",
            Span(text=on.host, href=address),
            Span(text=mark, tone="emulated"),
            f", {counted(on.now.n, 'boot')}{size}",
        )
    if finding.on > MOST_HOSTS:
        yield line_of(f"and on {finding.on - MOST_HOSTS} more hosts, where it is smaller")


def _history(finding: Finding, first: OnHost) -> Iterator[Line]:
    before = first.before
    if before is not None and finding.fate is not Fate.ENDED:
        yield line_of(f"before, on {before.given_at:%Y-%m-%d}: {_size(before)}")
    elif finding.fate is Fate.NEW:
        yield line_of(Span(text="not measured before on this host", tone="faint"))
    elif finding.fate is Fate.OPEN:
        yield line_of(
            Span(text=f"said on {first.now.given_at:%Y-%m-%d}, not measured since", tone="faint")
        )


def _cause(finding: Finding, first: OnHost) -> str:
    """Of what was there before: what the host has different since. Else what the two sides have."""
    before = first.before
    if before is None or finding.fate is Fate.OPEN:
        told = "; ".join(finding.differs) or "nothing that is recorded differs between the two"
        return f"{told}."
    since = f"on {first.host} since {before.given_at:%Y-%m-%d}"
    if not first.causes_known:
        return f"what changed {since} is not known."
    if not first.cause:
        return f"nothing that is recorded changed {since}."
    return f"changed {since}: {'; '.join(first.cause)}."
