"""The mail about a regression whose culprit a bisection found. Pure.

Its parts stand in the order that readers of kernel lists know from reports of performance tests:
what changed by how much, the commit, the table of both sides, how to repeat it, tags.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from email.headerregistry import Address
from email.message import EmailMessage
from email.policy import SMTP

from mitigauge.core.documents.parts import counted
from mitigauge.core.documents.plain_text import indented, neutralise, paragraph
from mitigauge.core.errors import Conflict, InvalidInput
from mitigauge.reporting.letters.reply.reply import (
    COLUMNS,
    LORE,
    BuiltKernel,
    addresses_of,
    caveats,
    reproduce,
)
from mitigauge.reporting.pages.schemas import ExperimentView
from mitigauge.tracking.bisect.records import PointLevel, RevertRecord, chance
from mitigauge.tracking.bisect.schemas import BisectionView, CandidateView
from mitigauge.tracking.bisect.states import AnswerKind, BisectionKind, BisectionState
from mitigauge.tracking.bisect.words import REVERTED

MOST_SKIPPED = 12
_WORDS = {
    BisectionKind.COMMITS: "commit",
    BisectionKind.PATCHES: "patch",
    BisectionKind.ARMS: "change of settings",
}
MOST_RECEIVERS = 60


@dataclass(frozen=True, slots=True)
class Verification:
    """The last experiment that verified the culprit: its report, kernels, and both levels."""

    view: ExperimentView
    report: str
    kernels: Sequence[BuiltKernel]
    parent: PointLevel
    culprit: PointLevel


def mail(
    bisection: BisectionView,
    culprit: CandidateView,
    verified: Verification,
    people: Sequence[str],
    by_hand: Mapping[str, str],
    *,
    sender: str = "",
    to: Sequence[str] = (),
) -> EmailMessage:
    """The mail. *people*: those whom the culprit's own text names. *to*: receivers besides.

    Raises InvalidInput where *sender* or one of *to* is no address.
    """
    message = EmailMessage(policy=SMTP.clone(max_line_length=78, cte_type="8bit"))
    if sender:
        message["From"] = _address(sender)
    _receivers(message, bisection, people, to)
    message["Subject"] = subject(bisection, culprit)
    parents = [each for each in bisection.source.references if each]
    answered = culprit.message_id or bisection.source.message_id
    if answered:
        message["In-Reply-To"] = f"<{answered}>"
        parents = list(dict.fromkeys([*parents, answered]))
        message["References"] = " ".join(f"<{each}>" for each in parents)
    own_id = ""
    if sender:
        own_id = f"bisect.{bisection.id}@{addresses_of([sender])[0].domain}"
        message["Message-ID"] = f"<{own_id}>"
    lines = _body(bisection, culprit, verified, by_hand, sender, own_id)
    message.set_content("\n".join(lines) + "\n", charset="utf-8", cte="8bit")
    return message


def require_reportable(bisection: BisectionView) -> None:
    """Raise :class:`Conflict` unless a culprit is named as surely as was asked."""
    if bisection.state != BisectionState.FINISHED:
        raise Conflict(
            f"bisection {bisection.id} is {bisection.state}: {bisection.why}",
            hint="A report waits for its answer.",
        )
    found = bisection.found
    if found is None or found.kind != AnswerKind.FOUND:
        said = str(found.kind).replace("_", " ") if found else "nothing"
        raise Conflict(
            f"bisection {bisection.id} names nobody: its answer is {said}",
            hint="Nothing is reported without a culprit.",
        )
    sure = found.confidence or 0.0
    if sure < bisection.wanted_confidence:
        raise Conflict(
            f"bisection {bisection.id} is sure of its culprit by {100 * sure:.2f} %, and was "
            f"asked for {100 * bisection.wanted_confidence:.2f} %",
            hint="Nothing is reported below that. Start it again with more --boots.",
        )


def subject(bisection: BisectionView, culprit: CandidateView) -> str:
    """``[x86/entry] 0123456789ab: syscall.basic.time_per_call 30.1% regression``."""
    area, colon, _ = culprit.title.removeprefix("merge: ").partition(":")
    area = neutralise(area, 60) if colon and len(area) <= 60 else "regression"
    name = "" if culprit.message_id else f"{culprit.name[:12]}: "
    effect = abs((bisection.found.effect_percent if bisection.found else None) or 0.0)
    return f"[{area}] {name}{_figure(bisection)} {effect:.1f}% regression"


def _figure(bisection: BisectionView) -> str:
    """``syscall.basic.time_per_call``: workload, the parameters' words in its title, metric."""
    titled = bisection.case.split()
    words = [v for v in bisection.parameters.values() if isinstance(v, str) and v in titled]
    return ".".join(neutralise(each, 60) for each in (bisection.workload, *words, bisection.metric))


def _body(
    bisection: BisectionView,
    culprit: CandidateView,
    verified: Verification,
    by_hand: Mapping[str, str],
    sender: str,
    own_id: str,
) -> Iterator[str]:
    yield "Hi,"
    yield ""
    yield from paragraph(_opening(bisection), COLUMNS)
    yield ""
    yield from _named(bisection, culprit)
    yield ""
    yield from paragraph(_sure(bisection, verified), COLUMNS)
    yield ""
    for revert in bisection.found.reverts if bisection.found else []:
        if revert.candidate == culprit.position:
            yield from paragraph(_reverted(bisection, revert), COLUMNS)
            yield ""
    for caveat in caveats(verified.view):
        yield from paragraph(caveat, COLUMNS)
        yield ""
    yield from _facts(bisection, verified)
    yield ""
    yield from table(bisection, culprit, verified)
    yield ""
    yield from _skipped(bisection)
    if bisection.kind != BisectionKind.ARMS:
        yield from _tags(bisection, culprit, sender, own_id)
    yield ""
    yield "The boots that verified it"
    yield "--------------------------"
    yield ""
    yield verified.report.rstrip("\n")
    yield from reproduce(verified.view, verified.kernels, by_hand)


def _opening(bisection: BisectionView) -> str:
    found = bisection.found
    assert found is not None
    direction = "lower" if bisection.higher_is_worse else "higher"
    effect = abs(found.effect_percent or 0.0)
    low, high = found.ci_low_percent, found.ci_high_percent
    interval = (
        "" if low is None or high is None else f" (95 % interval {low:+.2f} to {high:+.2f} %)"
    )
    return (
        f"a regression of {effect:.1f} %{interval} of {_figure(bisection)}, {bisection.unit}, "
        f"{direction} is better, was bisected over {counted(bisection.candidates, 'change')} to "
        f"this {_WORDS[bisection.kind]}:"
    )


def _named(bisection: BisectionView, culprit: CandidateView) -> Iterator[str]:
    title = neutralise(culprit.title, 200)
    if bisection.kind == BisectionKind.COMMITS:
        yield from indented("commit: ", f'{culprit.name} ("{title}")', COLUMNS)
        return
    if bisection.kind == BisectionKind.ARMS:
        place = f"{culprit.position} of {bisection.candidates}"
        yield from indented("change: ", f'"{title}", {place}', COLUMNS)
        return
    number = f"patch {culprit.position} of {bisection.candidates}"
    of = f" of {neutralise(bisection.source.revision, 100)}" if bisection.source.revision else ""
    yield from indented("patch:  ", f'"{title}", {number}{of}', COLUMNS)
    if culprit.message_id:
        yield f"        {LORE}/{neutralise(culprit.message_id, 200)}"
    if bisection.source.base:
        yield from indented("base:   ", neutralise(bisection.source.base), COLUMNS)


def _reverted(bisection: BisectionView, revert: RevertRecord) -> str:
    """What a revert on the last end gave: its outcome, with intervals."""
    low, high = revert.change_low_percent, revert.change_high_percent
    then = ""
    if revert.off_percent is not None:
        then = (
            f" That is {revert.off_percent:+.2f} % ({revert.off_low_percent:+.2f} to "
            f"{revert.off_high_percent:+.2f} %) from the level of its parent."
        )
    return (
        f"With it reverted on the last of the {counted(bisection.candidates, 'change')}, "
        f"{REVERTED[revert.outcome]}: {revert.change_percent:+.2f} % (95 % interval {low:+.2f} to "
        f"{high:+.2f} %) against the last one as it is.{then}"
    )


def _sure(bisection: BisectionView, verified: Verification) -> str:
    found = bisection.found
    assert found is not None
    return (
        f"The confidence that it is this one, and it alone, is {chance(found.confidence or 0.0)}. "
        f"{counted(bisection.boots, 'boot')} were made; "
        f"{counted(verified.parent.boots, 'boot')} of its parent and "
        f"{counted(verified.culprit.boots, 'boot')} with it, in random order within each block, "
        "verified it after it was suspected."
    )


def _facts(bisection: BisectionView, verified: Verification) -> Iterator[str]:
    parameters = ", ".join(f"{name}={value}" for name, value in bisection.parameters.items())
    yield from indented("testcase:   ", neutralise(bisection.workload), COLUMNS)
    yield from indented("parameters: ", neutralise(parameters) or "none", COLUMNS)
    yield from indented("machine:    ", neutralise(", ".join(bisection.hosts)), COLUMNS)
    built = verified.kernels[0] if verified.kernels else None
    if built is not None:
        yield from indented("compiler:   ", neutralise(built.toolchain), COLUMNS)
        yield from indented("config:     ", neutralise(built.profile), COLUMNS)


def table(
    bisection: BisectionView, culprit: CandidateView, verified: Verification
) -> Iterator[str]:  # fmt: skip
    """Both sides with their scatter, and the change between them."""
    names = ("parent", culprit.name[:12])
    yield f"{names[0]:>20}  {'':10}  {names[1]:>20}"
    yield f"{'-' * 20}  {'-' * 10}  {'-' * 20}"
    yield f"{'%stddev':>20}  {'%change':>10}  {'%stddev':>20}"
    change = verified.culprit.effect_percent
    middle = "" if change is None else f"{change:+.1f}%"
    yield (
        f"{_level(verified.parent):>20}  {middle:>10}  {_level(verified.culprit):>20}  "
        f"{_figure(bisection)}"
    )


def _level(level: PointLevel) -> str:
    """``685.4 ± 0.1%``."""
    if level.mean is None:
        return "-"
    spread = "" if level.deviation_percent is None else f" ± {level.deviation_percent:.2g}%"
    return f"{level.mean:.5g}{spread}"


def _skipped(bisection: BisectionView) -> Iterator[str]:
    """What could not be measured on the way."""
    skipped = [point for point in bisection.points if point.skipped]
    if not skipped:
        return
    yield "Not measured, since these do not build or boot:"
    for point in skipped[:MOST_SKIPPED]:
        yield from indented("  - ", f"after change {point.position}: "
                            f"{neutralise(point.skipped, 300)}", COLUMNS)  # fmt: skip
    if len(skipped) > MOST_SKIPPED:
        yield f"  - and {len(skipped) - MOST_SKIPPED} more"
    yield ""


def _tags(
    bisection: BisectionView, culprit: CandidateView, sender: str, own_id: str
) -> Iterator[str]:
    title = neutralise(culprit.title, 120)
    is_commit = bisection.kind == BisectionKind.COMMITS
    commit = culprit.name[:12] if is_commit else "COMMIT"
    yield from paragraph(
        "If it is mended in a commit of its own, these tags say what it mends and where it was "
        "seen; in a new revision of the same patches they are not needed:",
        COLUMNS,
    )
    yield ""
    yield f'| Fixes: {commit} ("{title}")'
    yield f"| Reported-by: {neutralise(sender, 200) or 'whoever sends this'}"
    yield f"| Closes: {f'{LORE}/{own_id}' if own_id else 'the link of this mail'}"
    yield ""
    if not is_commit:
        yield from paragraph("Once it is merged, for the tracker of regressions:", COLUMNS)
        yield ""
    indent = "" if is_commit else "  "
    yield f'{indent}#regzbot introduced: {culprit.name if is_commit else "COMMIT"} ("{title}")'
    yield f"{indent}#regzbot title: {subject(bisection, culprit)}"


def _receivers(
    message: EmailMessage, bisection: BisectionView, people: Sequence[str], to: Sequence[str]
) -> None:
    """To: whom the operator names, else the thread's, else the author; all others in Cc."""
    named = [_address(each) for each in to]
    thread = addresses_of(bisection.source.to)
    authors = addresses_of(people)
    first = named or thread or authors[:1]
    taken = {address.addr_spec for address in first}
    others = []
    for address in [*thread, *authors, *addresses_of(bisection.source.cc)]:
        if address.addr_spec not in taken:
            taken.add(address.addr_spec)
            others.append(address)
    if first:
        message["To"] = first
    if others:
        message["Cc"] = others[:MOST_RECEIVERS]


def _address(said: str) -> Address:
    found = addresses_of([said])
    if not found:
        raise InvalidInput(f"{said[:100]!r} is no address", hint="Give `Name <name@host>`.")
    return found[0]
