"""The first lines of an answer: is it worse, where was that seen, and how sure is it. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

from mitigauge.core.documents.parts import counted
from mitigauge.core.documents.plain_text import neutralise
from mitigauge.core.documents.units import effect
from mitigauge.core.effect import Verdict
from mitigauge.core.stats.terms import ALPHA
from mitigauge.reporting.pages.schemas import (
    ArmView,
    CellView,
    ComparisonView,
    ExperimentView,
    RowView,
)

MOST_HOSTS = 3


class Conclusion(StrEnum):
    """What an experiment says of a kernel against another one."""

    DOES_NOT_BOOT = "does not boot"
    WORSE = "worse"
    NOT_WORSE = "not worse"
    CANNOT_TELL = "cannot tell"
    NO_KERNELS = "no other kernel was measured"


@dataclass(frozen=True, slots=True)
class LeadCell:
    """One cell that the answer begins with."""

    comparison: ComparisonView
    row: RowView
    arm: ArmView
    cell: CellView

    @property
    def baseline(self) -> ArmView:
        """What it is a change against."""
        return next((arm for arm in self.comparison.arms if arm.is_baseline), self.arm)

    @property
    def is_of_kernels(self) -> bool:
        """Whether it sets a kernel against another one, not a mode against another."""
        return self.arm.kernel != self.baseline.kernel


def headline(
    label: str, view: ExperimentView, found: Sequence[LeadCell]
) -> Iterator[tuple[str, str]]:
    """Three lines, each a label and what it says. *label*: of what was measured; *found*: the worst
    first."""
    yield "Worse?", _worse(view, found)
    yield "Where?", f"{neutralise(label, 60)}, {_where(view, found)}"
    yield "Sure?", _sure(view)


def arms_of_kernels(view: ExperimentView) -> list[ArmView]:
    """Arms that set a kernel against another one, whatever became of their boots."""
    return [arm for comparison in view.comparisons for arm in _other_kernels(comparison)]


def _other_kernels(comparison: ComparisonView) -> list[ArmView]:
    of_baseline = {arm.kernel for arm in comparison.arms if arm.is_baseline}
    return [arm for arm in comparison.arms if not arm.is_aa and arm.kernel not in of_baseline]


def planned_of_kernels(view: ExperimentView) -> list[tuple[ArmView, RowView]]:
    """Every primary figure that was to set a kernel against another one, measured or not."""
    return [
        (arm, row)
        for comparison in view.comparisons
        for arm in _other_kernels(comparison)
        for row in comparison.rows
        if row.primary
    ]


def never_booted(view: ExperimentView) -> list[ArmView]:
    """Arms of other kernels that came up in none of their boots, where the baseline's did."""
    return [
        arm
        for comparison in view.comparisons
        if any(arm.is_baseline and arm.boots_effective for arm in comparison.arms)
        for arm in _other_kernels(comparison)
        if arm.boots_did_not_boot
        and not (arm.boots_effective or arm.boots_not_effective)
        and arm.boots_did_not_boot == arm.boots_failed
    ]


def conclusion_of(view: ExperimentView, found: Sequence[LeadCell]) -> Conclusion:
    """What the figures of kernels say, those that were planned and not measured among them."""
    planned = planned_of_kernels(view)
    if never_booted(view):
        return Conclusion.DOES_NOT_BOOT
    if not planned:
        return Conclusion.NO_KERNELS
    verdicts = [each.cell.verdict for each in found if each.is_of_kernels]
    if Verdict.WORSE in verdicts:
        return Conclusion.WORSE
    is_open = len(verdicts) < len(planned) or not {None, Verdict.UNDECIDED}.isdisjoint(verdicts)
    return Conclusion.CANNOT_TELL if is_open else Conclusion.NOT_WORSE


def _worse(view: ExperimentView, found: Sequence[LeadCell]) -> str:
    conclusion = conclusion_of(view, found)
    if conclusion is Conclusion.DOES_NOT_BOOT:
        dead = never_booted(view)
        names = ", ".join(neutralise(arm.name, 40) for arm in dead)
        times = counted(sum(arm.boots_did_not_boot for arm in dead), "boot")
        return f"it does not boot: {names} came up in none of {times}"
    if conclusion is Conclusion.NO_KERNELS:
        return _of_modes(found)
    kernels = [each for each in found if each.is_of_kernels]
    lacking = len(planned_of_kernels(view)) - len(kernels)
    if not kernels:
        return f"cannot tell: none of {lacking} planned comparisons of kernels was measured"
    lacks = f"; {lacking} more planned and not measured" if lacking else ""
    if conclusion is Conclusion.WORSE:
        first = next(each for each in kernels if each.cell.verdict is Verdict.WORSE)
        others = f"; {_counts(kernels, but=first)}" if len(kernels) > 1 else ""
        return f"yes: {_size(first)}{others}{lacks}"
    word = "no" if conclusion is Conclusion.NOT_WORSE else "cannot tell"
    return f"{word}: {_counts(kernels)} against {_baselines(kernels)}{lacks}"


def _of_modes(found: Sequence[LeadCell]) -> str:
    """Where no kernel was to be set against another one."""
    if not found:
        return "cannot tell: no boot counts; see below why"
    dear = [each for each in found if each.cell.verdict is Verdict.WORSE]
    most = f"; its modes cost most in {_size(dear[0])}" if dear else "; none of its modes costs"
    return f"no other kernel was measured{most}"


def _size(each: LeadCell) -> str:
    case, base = neutralise(each.row.case, 60), neutralise(each.baseline.name, 40)
    name = "" if each.is_of_kernels else f" {neutralise(each.arm.name, 40)}"
    said = effect(each.cell.effect) if each.cell.effect else "more"
    return f"{case}{name} {said} against {base}"


def _counts(cells: Sequence[LeadCell], but: LeadCell | None = None) -> str:
    """``1 more worse, 3 same, 1 undecided``."""
    said = []
    for verdict in (Verdict.WORSE, Verdict.BETTER, Verdict.SAME, Verdict.UNDECIDED):
        number = sum((each.cell.verdict or Verdict.UNDECIDED) is verdict for each in cells)
        more = but is not None and but.cell.verdict is verdict
        number -= more
        if number:
            said.append(f"{number}{' more' if more else ''} {verdict}")
    return ", ".join(said)


def _baselines(cells: Sequence[LeadCell]) -> str:
    names = dict.fromkeys(neutralise(each.baseline.name, 40) for each in cells)
    return " and ".join(names)


def _where(view: ExperimentView, found: Sequence[LeadCell]) -> str:
    hosts = list(dict.fromkeys(each.row.host for each in found)) or list(view.hosts)
    said: list[str] = []
    for host in hosts[:MOST_HOSTS]:
        facts = view.host_facts.get(host)
        processor = neutralise(facts.processor.split("(")[0].strip(), 40) if facts else ""
        kind = ", emulated" if facts and facts.emulated else ""
        said.append(f"{neutralise(host, 40)} ({processor or 'processor unknown'}{kind})")
    more = (
        f" and {counted(len(hosts) - MOST_HOSTS, 'more host')}" if len(hosts) > MOST_HOSTS else ""
    )
    return ", ".join(said) + more


def _sure(view: ExperimentView) -> str:
    """How many boots stand behind it, and at what level verdicts are."""
    arms = [arm for comparison in view.comparisons for arm in comparison.arms]
    boots = sum(arm.boots_effective for arm in arms)
    others = sum(arm.boots_not_effective + arm.boots_failed for arm in arms)
    left_out = f"; {counted(others, 'more boot')} did not, or failed: they do not count"
    return (
        f"{counted(boots, 'boot')}, each shown to be in its mode{left_out if others else ''}; "
        f"wrong in {100 * ALPHA:g} of 100 at most"
    )
