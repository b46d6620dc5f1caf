"""`mitigauge try`: what patches cost, on this machine alone."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cli.bases import DEFAULT_BASE, Base, Loose
from cli.experiment_end import exit_code_of, print_report
from cli.mails import LORE, is_message_id, mails_from, patches_from
from cli.output import echo, errors, remark, say
from cli.try_plan import ARM, CASES, GUESTS_HOST, TriedCase, planned, spec_of
from mitigauge.core.errors import InvalidInput, MitigaugeError
from mitigauge.measurement.experiments.states import ExperimentState

# What takes long to load is imported by what needs it.
if TYPE_CHECKING:
    from mitigauge.kernels.patch import Patch
    from mitigauge.kernels.schemas import KernelView
    from mitigauge.tracking.series.mail_thread import FoundRevision

BLOCKS = 4


def try_patches(
    patches: Annotated[
        list[str],
        typer.Argument(help="Patches, a mailbox, a folder of *.patch; or a message-id."),
    ],
    archive: Annotated[str, typer.Option(help="Where a message-id is looked up.")] = LORE,
    base: Base = DEFAULT_BASE,
    blocks: Annotated[
        int,
        typer.Option(
            min=1,
            max=16,
            help="Boots of each kernel, at most. One is enough for what is counted to the "
            "instruction; a verdict on a time takes two and more.",
        ),
    ] = BLOCKS,
    exits: Annotated[
        bool, typer.Option(help="Measure exits of guests too, on a second emulated host.")
    ] = True,
    profiled: Annotated[
        bool,
        typer.Option("--profile/--no-profile", help="Profile a system call, too."),
    ] = True,
    all_cases: Annotated[
        bool,
        typer.Option("--all-cases", help="Measure also what is known to run none of the changes."),
    ] = False,
    loose: Loose = False,
) -> None:
    """Build a kernel with and without patches, and say what they cost.

    Both are built in a sandbox and booted in turn on an emulated host whose clock counts
    instructions, so the answer is the same on every machine, whatever else it does; it is a cost
    of software alone: caches, predictors and barriers cost nothing there. Measured are system
    calls, context switches through a pipe, futexes, page faults and exits of guests. The first
    build takes some 15 minutes on two cores, a later one what the patches touch; measuring some 20.
    The emulator counts each instruction: which cases run the patches, and what they add, is exact.

    Exit code 0: nothing is worse; 3: something is; 1: there is no answer.
    """
    from cli.processes import prepare_database

    revision = _revision(patches, archive)
    label, found = _patches(patches, revision)
    if not found:
        raise MitigaugeError("there is no patch to try", hint="Give what `git format-patch` wrote.")
    prepare_database()
    plain, patched = _kernels(base, label, found, loose=loose)
    for line in patched.loosely:
        remark(f"applied loosely: {line}")
    if plain.content_digest == patched.content_digest:
        say(
            f"The kernel is the same, byte for byte, but for its name: nothing that runs "
            f"is changed (SHA-256 of code and data {str(plain.content_digest)[:16]}). "
            "Nothing was measured."
        )
        return
    cases, changed = _cases(plain, patched, exits=exits, all_cases=all_cases)
    if not cases:
        say("No case of ours runs what was changed; nothing was measured. --all-cases measures.")
        return
    spec = spec_of(cases, plain, patched, blocks, profiled=profiled)
    measured = _measured(spec, list(dict.fromkeys(case.host for case in cases)), changed)
    if revision is not None and measured.finished:
        _write_answer(revision, measured, archive)
    sys.exit(measured.code)


def _cases(
    plain: KernelView, patched: KernelView, *, exits: bool, all_cases: bool
) -> tuple[Sequence[TriedCase], Sequence[str]]:
    """The cases that are worth their boots, and the functions that differ; both are said."""
    from mitigauge.storage.database.engine import transaction

    asked = [case for case in CASES if exits or case.host != GUESTS_HOST]
    with transaction() as session:
        plan = planned(session, plain, patched, asked)
    if all_cases:
        return asked, plan.functions
    for line in plan.lines():
        say(line)
    return plan.measured, plan.functions


def _patches(words: Sequence[str], revision: FoundRevision | None) -> tuple[str, list[Patch]]:
    """A label, and the patches of files, or of a revision that came by mail."""
    if revision is None:
        return Path(words[0]).stem, patches_from([Path(word) for word in words])
    return f"v{revision.version}", [sent.patch for sent in revision.patches]


def _revision(words: Sequence[str], archive: str) -> FoundRevision | None:
    """The latest revision in a message-id's thread, or in a mailbox whose mails are one whole.

    None for patches alone.
    """
    from mitigauge.tracking.series.mail_thread import revisions

    try:
        found = revisions(mails_from(words, archive))[-1]
    except InvalidInput:
        if is_message_id(words):
            raise
        return None
    if not is_message_id(words) and (found.faults or not found.first.message_id):
        return None
    if found.faults:
        raise MitigaugeError(
            f"v{found.version} is not whole: {'; '.join(found.faults)}",
            hint="Try it once all its mails are there.",
        )
    say(f"v{found.version} of {found.title}: {len(found.patches)} patches")
    for stray in found.strays:
        remark(f"left out: {stray}")
    return found


def _kernels(base: str, label: str, patches: Sequence[Patch], *, loose: bool) -> list[KernelView]:
    """The kernel without the patches, and with them."""
    from cli.kernel import kernels_of, order_kernel, views_of
    from mitigauge.kernels.config_profile import profile_of
    from mitigauge.kernels.order import KernelOrder

    profile = profile_of("lab")
    jobs = [
        order_kernel(KernelOrder(base=base, label=base), profile, ()),
        order_kernel(KernelOrder(base=base, label=label, loose=loose), profile, patches),
    ]
    return views_of([kernel for job in jobs for kernel in kernels_of(job)])


@dataclass(frozen=True, slots=True)
class TryOutcome:
    """What came of it; *report*: its file, *code*: what the command ends with."""

    experiment: int
    report: Path
    finished: bool
    code: int


def _measured(spec: str, hosts: Sequence[str], changed: Sequence[str]) -> TryOutcome:
    """Run the experiment on the emulated hosts, and say what came of it."""
    from cli import lab
    from cli.processes import running
    from cli.progress import follow
    from cli.try_outcome import exact_answer, explain, instructions
    from mitigauge.core.clock import Clock
    from mitigauge.measurement.runs import submission
    from mitigauge.reporting.pages import experiments as views
    from mitigauge.storage.database.engine import transaction

    errors().print("Starting the emulated hosts")
    lab.up([*hosts], clock=Clock.COUNTED)
    with running("worker"):
        with transaction() as session:
            experiment = submission.submit_text(session, spec, name="try")
        state = follow(experiment)
    path = print_report(experiment)
    with transaction() as session:
        view = views.show_experiment(session, experiment)
        for line in instructions(view):
            say(line)
        for line in exact_answer(session, view, ARM, changed):
            say(line)
        explain(session, view, ARM, path)
    echo(f"report: {path}")
    return TryOutcome(
        experiment, path, state is ExperimentState.FINISHED, exit_code_of(state, view)
    )


def _write_answer(revision: FoundRevision, measured: TryOutcome, archive: str) -> None:
    """Write the answer to the patches' thread to a file; nothing is sent."""
    from mitigauge.reporting.letters.reply.reply import as_file
    from mitigauge.reporting.letters.reply.service import answer_found
    from mitigauge.storage.database.engine import transaction

    with transaction() as session:
        mail = answer_found(session, revision, measured.experiment, archive=archive)
    path = measured.report.with_suffix(".mail")
    path.write_bytes(as_file(mail))
    echo(f"the answer to its thread, not sent: {path}")
