"""An answer to a revision of a patch series, as a mail that its thread's readers can use. Pure.

It holds all that is needed to judge and to repeat what was measured, without any of our pages.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass
from email.headerregistry import Address
from email.message import EmailMessage
from email.policy import SMTP

from mitigauge.core.documents.parts import counted
from mitigauge.core.documents.plain_text import indented, neutralise, paragraph
from mitigauge.core.documents.units import effect
from mitigauge.core.effect import CellState, Verdict
from mitigauge.core.errors import InvalidInput
from mitigauge.core.stats.bounds import Bound
from mitigauge.kernels.mails.mail import address_of
from mitigauge.kernels.recipe import SHORT_DIGITS, short_release
from mitigauge.reporting.letters.reply.cover_letter import Finding
from mitigauge.reporting.letters.reply.headline import LeadCell, headline
from mitigauge.reporting.letters.report.content import COUNTED_HOSTS, EMULATED, uncounted_words
from mitigauge.reporting.pages.schemas import (
    ArmView,
    ExperimentView,
)
from mitigauge.tracking.series.request import COMMAND

# Lines that can be written, each with what it does.
Forms = Sequence[tuple[str, str]]
COLUMNS = 76
LORE = "https://lore.kernel.org/r"
MOST_FINDINGS = 12
MOST_QUESTIONS = 8
LONGEST_LIMITS = 600
LONGEST_STUDY = 500
ASKING = (
    f"To ask for more, answer, signed by patatt, with a line {COMMAND} test (a diff in the mail is "
    "tried on top), test base VERSION, which-patch, select, variants or stop."
)
_ANSWER = re.compile(r"^(?:re:\s*)+", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Addressees:
    """What is answered: the revision's first mail and whom the answer goes to."""

    label: str
    title: str
    subject: str
    message_id: str
    references: Sequence[str]
    to: Sequence[str]
    cc: Sequence[str]
    reported_by: str = ""
    archive: str = LORE
    """Where a mail is found under its message-id."""
    own_id: str = ""
    """The answer's message-id without its domain; that is its sender's."""


@dataclass(frozen=True, slots=True)
class BuiltKernel:
    """How a kernel was built, for somebody who builds it with nothing of ours."""

    release: str
    base: str
    patches: Sequence[str]
    profile: str
    toolchain: str
    build_id: str
    loosely: Sequence[str] = ()
    """Patches that applied with less context than they have."""


@dataclass(frozen=True, slots=True)
class Besides:
    """What is known of a revision beside its experiment's figures.

    *limits*: what limits that a team set say of it, in one line; empty: there are none. *studies*:
    what its studies came to, a sentence a line, each perhaps with further ones, indented, below it.
    """

    limits: str = ""
    studies: Sequence[str] = ()


def mail(
    answered: Addressees,
    view: ExperimentView,
    report: str,
    kernels: Sequence[BuiltKernel],
    by_hand: Mapping[str, str],
    questions: Sequence[Finding],
    *,
    besides: Besides = Besides(),
    sender: str = "",
) -> EmailMessage:
    """The answer. *by_hand*: workload → how its measurement is repeated with nothing of ours;
    *questions*: what readers of the revision's own table will ask.

    Raises InvalidInput where nobody is to be answered, or *sender* is no address.
    """
    message, own_id = addressed(answered, sender)
    lines = _body(answered, own_id, view, report, kernels, by_hand, questions, besides)
    body = "\n".join(lines) + "\n"
    message.set_content(body, charset="utf-8", cte="8bit")
    return message


def as_file(message: EmailMessage) -> bytes:
    """The mail as a file holds it, its lines ended as files' lines are."""
    return message.as_bytes().replace(b"\r\n", b"\n")


def addressed(answered: Addressees, sender: str) -> tuple[EmailMessage, str]:
    """A mail with its heads alone, and its message-id: empty where whoever sends it gives one.

    Raises InvalidInput as :func:`mail`.
    """
    message = EmailMessage(policy=SMTP.clone(max_line_length=78, cte_type="8bit"))
    if not answered.message_id:
        raise InvalidInput(
            f"{answered.label} has no message-id: there is no mail to answer",
            hint="Add the series from its mails, as `git format-patch --thread` writes them.",
        )
    to, cc = addresses_of(answered.to), addresses_of(answered.cc)
    if not to:
        raise InvalidInput(f"{answered.label} names nobody to answer", hint="See its From and To.")
    if sender:
        found = addresses_of([sender])
        if not found:
            raise InvalidInput(f"{sender!r} is no address", hint="Give `Name <name@host>`.")
        message["From"] = found[0]
    message["To"] = to
    if cc:
        message["Cc"] = cc
    message["Subject"] = f"Re: {_ANSWER.sub('', neutralise(answered.subject, 300))}"
    message["In-Reply-To"] = f"<{answered.message_id}>"
    message["References"] = " ".join(f"<{each}>" for each in dict.fromkeys(answered.references))
    if not (sender and answered.own_id):
        return message, ""
    own_id = f"{answered.own_id}@{found[0].domain}"
    message["Message-ID"] = f"<{own_id}>"
    return message, own_id


def addresses_of(shown: Sequence[str]) -> list[Address]:
    """Those that are addresses; what else stands in a tag is left out."""
    found = []
    for each in shown:
        said = address_of(each)
        if said is not None:
            user, _, domain = said.address.rpartition("@")
            found.append(Address(neutralise(said.name, 80), user, domain))
    return found


def _body(
    answered: Addressees,
    own_id: str,
    view: ExperimentView,
    report: str,
    kernels: Sequence[BuiltKernel],
    by_hand: Mapping[str, str],
    questions: Sequence[Finding],
    besides: Besides,
) -> Iterator[str]:
    found = lead_cells(view)
    for label, said in headline(answered.label, view, found):
        yield from indented(f"{label:<8}", said, COLUMNS)
    yield from _caveat_lines(view, kernels)
    # One figure stands in the first line already.
    shown = found if len(found) > 1 or not _is_told(found) else []
    if shown:
        yield ""
    for each in shown[:MOST_FINDINGS]:
        yield from indented("  - ", sentence(each), COLUMNS)
    if len(shown) > MOST_FINDINGS:
        yield f"  - and {counted(len(shown) - MOST_FINDINGS, 'more row')}, in the table below"
    if besides.limits:
        yield ""
        yield from paragraph(neutralise(besides.limits, LONGEST_LIMITS), COLUMNS)
    if besides.studies:
        yield ""
        yield "Beside these figures:"
        yield from study_lines(besides.studies)
    yield from _regression(answered, own_id, found)
    yield from _question_lines(questions)
    yield ""
    yield report.rstrip("\n")
    yield from reproduce(view, kernels, by_hand)
    yield ""
    # Indented, so that no line of it asks for anything where it is quoted without marks.
    yield from indented("  ", ASKING, COLUMNS)


def study_lines(said: Sequence[str]) -> Iterator[str]:
    """What studies came to, as a list."""
    for each in said:
        below = each.startswith("  ")
        head = "    " if below else "  - "
        yield from indented(head, neutralise(each.strip(), LONGEST_STUDY), COLUMNS)


def lines_of(forms: Forms) -> Iterator[str]:
    """What can be asked for, indented: mails quoted without marks must not ask again."""
    for form, does in forms:
        yield f"  {form}"
        yield from indented("      ", does, COLUMNS)


def _is_told(found: Sequence[LeadCell]) -> bool:
    """Whether the first line has all there is to say of the worst figure."""
    return any(map(_is_regression, found[:1]))


def _caveat_lines(view: ExperimentView, kernels: Sequence[BuiltKernel]) -> Iterator[str]:
    """What must be known before a figure is read."""
    said = [*caveats(view), *_loosely(kernels)]
    if said:
        yield ""
    for caveat in said:
        yield from paragraph(caveat, COLUMNS)


def _loosely(kernels: Sequence[BuiltKernel]) -> Iterator[str]:
    """That the code measured is not quite the code that was sent."""
    said = dict.fromkeys(line for kernel in kernels for line in kernel.loosely)
    if said:
        what = "One patch does" if len(said) == 1 else f"{len(said)} patches do"
        yield (
            f"{what} not apply to this base as sent, but with fewer lines of context; below stands "
            "which and where."
        )


def caveats(view: ExperimentView) -> Iterator[str]:
    """What must be known before the first figure is read, each of it once."""
    if any(c.counted for c in view.comparisons):
        yield COUNTED_HOSTS
    elif any(c.emulated for c in view.comparisons):
        yield EMULATED[0].upper() + EMULATED[1:]
    yield from uncounted_words(view)


def lead_cells(view: ExperimentView) -> list[LeadCell]:
    """What there is to say of primary metrics: worse first, then better, the rest after them."""
    order = {Verdict.WORSE: 0, Verdict.BETTER: 1, Verdict.UNDECIDED: 2, Verdict.SAME: 3}
    found = [
        LeadCell(comparison, row, arm, cell)
        for comparison in view.comparisons
        for row in comparison.rows
        if row.primary
        for arm, cell in zip(comparison.arms, row.cells, strict=True)
        if cell.state == CellState.MEASURED and not arm.is_aa
    ]
    # Sizes of arms that work by different events of the hardware say nothing of their order.
    ranked = all(each.cell.bound is Bound.EXACT for each in found)
    return sorted(
        found,
        key=lambda each: (
            order.get(each.cell.verdict or Verdict.UNDECIDED, 2),
            -abs(each.cell.effect_percent or 0.0) if ranked else 0.0,
        ),
    )


def sentence(each: LeadCell) -> str:
    """``exits to userspace, bhb-clear against off: +0.31 % [+0.2, +0.4], worse (4 boots)``."""
    cell = each.cell
    words = (each.row.case, each.arm.name, each.baseline.name, each.row.host)
    case, arm, against, host = (neutralise(word, 100) for word in words)
    what = f"{case}, {arm} against {against} on {host}"
    if cell.effect is None:
        return f"{what}: {cell.verdict or 'too few boots for a verdict'}"
    said = effect(cell.effect)
    sure = f", {cell.verdict}" if cell.verdict else ""
    least = (
        f"; a difference from {cell.mde_percent:.2g} % on would show"
        if cell.verdict == Verdict.UNDECIDED and cell.mde_percent
        else ""
    )
    return f"{what}: {said}{sure} ({counted(cell.n, 'boot')}{least}{_uncounted(each)})"


def _uncounted(each: LeadCell) -> str:
    """What of the arms compared is not in the figure: ``; IBPB is not counted``."""
    if each.cell.bound is Bound.EXACT:
        return ""
    events = dict.fromkeys([*each.arm.events, *each.baseline.events])
    return f"; {neutralise(', '.join(events), 100)} not counted"


def _regression(answered: Addressees, own_id: str, found: Sequence[LeadCell]) -> Iterator[str]:
    """Tags for whoever mends it, where one revision is worse than another kernel."""
    worse = [each for each in found if _is_regression(each)]
    if not worse:
        return
    yield ""
    yield "For a patch that mends it, and for the tracker once the series is merged:"
    yield f"  | Reported-by: {neutralise(answered.reported_by, 200) or 'whoever sends this'}"
    yield f"  | Closes: {f'{answered.archive}/{own_id}' if own_id else 'the link of this mail'}"
    yield f'  #regzbot introduced: COMMIT ("{neutralise(answered.title, 120)}")'


def _is_regression(each: LeadCell) -> bool:
    """Worse than another kernel, not than another mode of the same one."""
    return each.cell.verdict == Verdict.WORSE and each.is_of_kernels


def _question_lines(questions: Sequence[Finding]) -> Iterator[str]:
    """What readers of the cover letter's own table will ask."""
    if not questions:
        return
    yield ""
    yield "About the figures in the cover letter:"
    yield ""
    for each in questions[:MOST_QUESTIONS]:
        yield from indented("  - ", f"line {each.line}: {neutralise(each.text, 300)}", COLUMNS)
    if len(questions) > MOST_QUESTIONS:
        yield f"  - and {counted(len(questions) - MOST_QUESTIONS, 'more question')}"


def reproduce(
    view: ExperimentView, kernels: Sequence[BuiltKernel], by_hand: Mapping[str, str]
) -> Iterator[str]:
    """How somebody repeats it with nothing of ours."""
    yield ""
    yield "To repeat it:"
    yield from _kernel_lines(view, kernels)
    for how, arms in _boots(view, {kernel.release for kernel in kernels}).items():
        yield from indented("Boot    ", f"{', '.join(arms)}: {how}", COLUMNS)
    workloads = dict.fromkeys(row.workload for c in view.comparisons for row in c.rows)
    for name in workloads:
        told_how = by_hand.get(name) or f"workload {name} of Mitigauge"
        yield from indented("Run     ", f"{name}: {told_how}", COLUMNS)


def _kernel_lines(view: ExperimentView, kernels: Sequence[BuiltKernel]) -> Iterator[str]:
    """What all of them have in common once, then each by the arms that boot it."""
    alike: dict[str, list[BuiltKernel]] = {}
    for kernel in kernels:
        tools = neutralise(kernel.toolchain)
        said = f"Debian's {kernel.base}, configuration {kernel.profile}, {tools}"
        alike.setdefault(said, []).append(kernel)
    for said, of in alike.items():
        yield from indented("Kernel  ", said, COLUMNS)
        for kernel in of:
            patched = counted(len(kernel.patches), "patch") if kernel.patches else "no patch"
            named = f"{short_release(kernel.release)}, build id {kernel.build_id[:SHORT_DIGITS]}"
            arms = ", ".join(_arms_of(view, kernel)) or "no arm"
            yield from indented("        ", f"{arms}: {patched}, {named}", COLUMNS)
            for line in kernel.loosely:
                loose = f"applied loosely: {neutralise(line, 300)}"
                yield from indented("        ", loose, COLUMNS)


def _arms_of(view: ExperimentView, kernel: BuiltKernel) -> list[str]:
    arms = [arm for arm in _different_arms(view) if arm.kernel == kernel.release]
    return list(dict.fromkeys(neutralise(arm.name, 100) for arm in arms))


def _boots(view: ExperimentView, built: Container[str]) -> dict[str, list[str]]:
    """Each command line with what it shows, once: its arms, with kernels that were not *built*."""
    found: dict[str, list[str]] = {}
    for arm in _different_arms(view):
        added = neutralise(arm.cmdline) or "nothing"
        shows = f"; shows {neutralise('; '.join(arm.expected))}" if arm.expected else ""
        name = neutralise(arm.name, 100)
        if arm.kernel not in built:
            name += f" (kernel {neutralise(arm.kernel) or 'of the host'})"
        arms = found.setdefault(f"command line plus {added}{shows}", [])
        if name not in arms:
            arms.append(name)
    return found


def _different_arms(view: ExperimentView) -> list[ArmView]:
    """Each setting once, whatever comparisons it stands in."""
    arms = {(arm.mode, arm.kernel): arm for c in view.comparisons for arm in c.arms}
    return list(arms.values())
