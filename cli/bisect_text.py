"""What `mitigauge bisect` prints of a bisection."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cli.output import print_table, say

# What takes long to load is imported by the commands that need it.
if TYPE_CHECKING:
    from mitigauge.tracking.bisect.records import RevertRecord
    from mitigauge.tracking.bisect.schemas import BisectionHead, BisectionView, StepView


def spent(view: BisectionView) -> str:
    """Boots and time, spent and left."""
    hours, budget = view.seconds / 3600, view.budget_s / 3600
    return (
        f"{view.boots} of {view.budget_boots} boots, {hours:.1f} of {budget:.0f} h spent; "
        f"{max(view.budget_boots - view.boots, 0)} boots and {max(budget - hours, 0.0):.1f} h left"
    )


def answer_in_short(head: BisectionHead) -> str:
    """The culprit's title, or what else the answer is; empty: there is none yet."""
    if head.answer is None:
        return ""
    if head.culprit:
        return head.culprit
    return head.answer.replace("_", " ")


def print_bisection(view: BisectionView) -> None:
    """All of it, for people."""
    say(f"bisection {view.id}: {view.title}")
    emulated = " (emulated, counted)" if view.counted else " (emulated)" if view.emulated else ""
    say(f"  {view.case}, {view.metric} on {', '.join(view.hosts)}{emulated}")
    say(f"  {view.state}: {view.why}")
    say(f"  {spent(view)}")
    for note in view.source.notes:
        say(f"  {note}")
    skipped = {point.position: point.skipped for point in view.points if point.skipped}
    print_table(
        ["", "change", "probability", ""],
        [
            [str(c.position), f"{c.name[:12]} {c.title}", _chance(c.probability),
             "; ".join(filter(None, (c.prior_why, skipped.get(c.position, ""))))]
            for c in view.changes
        ],
        empty="No candidates.",
    )  # fmt: skip
    if view.left_out:
        say(f"  {view.left_out} less likely ones are not shown; --json has the same")
    if view.none_probability is not None:
        say(f"  none of these: {_chance(view.none_probability)}; "
            f"several: {_chance(view.several_probability)}")  # fmt: skip
    for step in view.steps:
        say(f"  {_step(step)}")
    _print_answer(view)


def _chance(probability: float | None) -> str:
    from mitigauge.tracking.bisect.records import chance

    return "" if probability is None else chance(probability)


def _step(step: StepView) -> str:
    profiled = ", profiled" if step.profiled else ""
    points = ", ".join(map(str, step.points))
    ended = step.outcome or str(step.experiment_state)
    return (
        f"step {step.number} ({step.purpose}), experiment {step.experiment_id}{profiled}: "
        f"points {points} in {step.blocks} blocks: {ended}"
    )


def _revert(revert: RevertRecord) -> str:
    from mitigauge.tracking.bisect.words import REVERTED

    low, high = revert.change_low_percent, revert.change_high_percent
    then = ""
    if revert.off_percent is not None:
        then = (
            f", and is {revert.off_percent:+.2f} % "
            f"[{revert.off_low_percent:+.2f}, {revert.off_high_percent:+.2f}] from its parent"
        )
    return (
        f"the last end without candidate {revert.candidate} changes by "
        f"{revert.change_percent:+.2f} % [{low:+.2f}, {high:+.2f}]{then}: "
        f"{REVERTED[revert.outcome]}"
    )


def _print_answer(view: BisectionView) -> None:
    found = view.found
    if found is None:
        return
    say(f"answer: {found.kind.replace('_', ' ')}: {found.why}", style="bold")
    if found.candidates:
        titles = {c.position: f"{c.name[:12]} {c.title}" for c in view.changes}
        for position in found.candidates:
            say(f"  candidate {position}: {titles.get(position, '')}")
    if found.confidence is not None:
        say(f"  confidence {_chance(found.confidence)}")
    if found.effect_percent is not None:
        low, high = found.ci_low_percent, found.ci_high_percent
        interval = "" if low is None or high is None else f" [{low:+.2f}, {high:+.2f}]"
        say(f"  effect {found.effect_percent:+.2f} %{interval}")
    for revert in found.reverts:
        say(f"  {_revert(revert)}")
    if found.what_it_takes:
        say(f"  {found.what_it_takes}")
    if found.flame_graph is not None:
        say("  flame graph of the difference: `mitigauge serve`, then")
        say(f"  {found.flame_graph.path}")
    if found.kind == "found":
        say(f"`mitigauge bisect report {view.id}` has the mail about it; nothing is sent by itself")
