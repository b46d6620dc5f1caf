"""The first lines of an answer: is it worse, where was that seen, and how sure is it. Pure."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

from mitigauge.core.documents.parts import counted
from mitigauge.core.documents.plain_text import neutralise
from mitigauge.core.documents.units import effect
from mitigauge.core.effect import Verdict
from mitigauge.core.stats.terms import ALPHA, FEWEST_OF_A_SAMPLE, NEIGHBOURS_ALIKE
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
        return self.arm.id in {arm.id for arm in _other_kernels(self.comparison)}


def headline(
    label: str, view: ExperimentView, found: Sequence[LeadCell]
) -> Iterator[tuple[str, str]]:
    """Three lines, each a label and what it says. *label*: of what was measured; *found*: the worst
    first."""
    yield "Worse?", worse(view, found)
    yield "Where?", f"{neutralise(label, 60)}, {_where(view, found)}"
    yield "Sure?", _sure(view)


def only_kernels(view: ExperimentView, kernels: Collection[str]) -> ExperimentView:
    """The experiment as if of other kernels than the baselines' these alone had been booted."""
    kept = [
        comparison.model_copy(
            update={
                "arms": [
                    arm
                    for arm in comparison.arms
                    if arm.kernel in kernels or arm not in _all_other_kernels(comparison)
                ]
            }
        )
        for comparison in view.comparisons
    ]
    return view.model_copy(update={"comparisons": kept})


def arms_of_kernels(view: ExperimentView) -> list[ArmView]:
    """Arms that set a kernel against another one, whatever became of their boots."""
    return [arm for comparison in view.comparisons for arm in _other_kernels(comparison)]


def _all_other_kernels(comparison: ComparisonView) -> list[ArmView]:
    of_baseline = {arm.kernel for arm in comparison.arms if arm.is_baseline}
    return [arm for arm in comparison.arms if not arm.is_aa and arm.kernel not in of_baseline]


def _other_kernels(comparison: ComparisonView) -> list[ArmView]:
    """Arms of another kernel than the baseline's, in its mode where there are some.

    One in another mode differs by both: what it costs is not the kernel's alone.
    """
    found = _all_other_kernels(comparison)
    modes = {arm.mode for arm in comparison.arms if arm.is_baseline}
    return [arm for arm in found if arm.mode in modes] or found


def planned_of_kernels(view: ExperimentView) -> list[tuple[ArmView, RowView]]:
    """Every primary figure that was to set a kernel against another one, measured or not."""
    return [
        (arm, row)
        for comparison in view.comparisons
        for arm in _other_kernels(comparison)
        for row in comparison.rows
        if row.primary
    ]


def never_booted(view: ExperimentView) -> dict[str, dict[str, int]]:
    """Kernels that came up in none of their boots on a host where the baseline's was proven.

    Boots by host, by kernel. One boot that does not come up is no evidence, and a kernel that comes
    up in another mode boots: then it is the mode that does not.
    """
    found: dict[str, dict[str, int]] = {}
    for comparison in view.comparisons:
        others = _all_other_kernels(comparison)
        for arm in others:
            up = {host for each in others if each.kernel == arm.kernel for host in each.up_on}
            for host, boots in arm.down_on.items():
                if boots >= FEWEST_OF_A_SAMPLE and host not in up:
                    own = found.setdefault(arm.kernel, {})
                    own[host] = own.get(host, 0) + boots
    return found


def conclusion_of(view: ExperimentView, found: Sequence[LeadCell]) -> Conclusion:
    """What the figures of kernels say, those that were planned and not measured among them."""
    planned = planned_of_kernels(view)
    if never_booted(view):
        return Conclusion.DOES_NOT_BOOT
    if not planned:
        return Conclusion.NO_KERNELS
    verdicts = [each.cell.verdict for each in _of_kernels(view, found)]
    if Verdict.WORSE in verdicts:
        return Conclusion.WORSE
    is_open = len(verdicts) < len(planned) or not {None, Verdict.UNDECIDED}.isdisjoint(verdicts)
    return Conclusion.CANNOT_TELL if is_open else Conclusion.NOT_WORSE


def worse(view: ExperimentView, found: Sequence[LeadCell]) -> str:
    """Whether it is worse, in a line."""
    conclusion = conclusion_of(view, found)
    if conclusion is Conclusion.DOES_NOT_BOOT:
        return f"it does not boot: {_dead(view)}"
    if conclusion is Conclusion.NO_KERNELS:
        return _of_modes(found)
    kernels = _of_kernels(view, found)
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


def _dead(view: ExperimentView) -> str:
    """Which kernels, by the names of their arms, on which hosts, in how many boots."""
    said = []
    for kernel, hosts in never_booted(view).items():
        arms = [arm for of in view.comparisons for arm in of.arms if arm.kernel == kernel]
        names = " and ".join(dict.fromkeys(neutralise(arm.name, 40) for arm in arms))
        where = " and ".join(neutralise(host, 40) for host in hosts)
        said.append(f"{names} came up in none of {counted(sum(hosts.values()), 'boot')} on {where}")
    return "; ".join(said)


def _of_modes(found: Sequence[LeadCell]) -> str:
    """Where no kernel was to be set against another one."""
    if not found:
        return "cannot tell: no boot counts; see below why"
    dear = [each for each in found if each.cell.verdict is Verdict.WORSE]
    most = f"; its modes cost most in {_size(dear[0])}" if dear else "; none of its modes costs"
    return f"no other kernel was measured{most}"


def _of_kernels(view: ExperimentView, found: Sequence[LeadCell]) -> list[LeadCell]:
    """Of *found*, what sets a kernel of *view* against another one."""
    arms = {arm.id for arm in arms_of_kernels(view)}
    return [each for each in found if each.arm.id in arms]


def _size(each: LeadCell) -> str:
    case, base = neutralise(each.row.case, 60), neutralise(each.baseline.name, 40)
    is_alone = each.is_of_kernels and each.arm.mode == each.baseline.mode
    name = "" if is_alone else f" {neutralise(each.arm.name, 40)}"
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
        f"of 100 unchanged cases {100 * ALPHA:g} at most is called worse or better"
        f"{_alike(view)}"
    )


def _alike(view: ExperimentView) -> str:
    """Where the promise does not hold: arms that stay where they are from boot to boot."""
    cells = sum(
        NEIGHBOURS_ALIKE in cell.note
        for comparison in view.comparisons
        for row in comparison.rows
        if row.primary
        for cell in row.cells
    )
    if not cells:
        return ""
    return f", but more of {counted(cells, 'figure')} whose arms stay where they were"
