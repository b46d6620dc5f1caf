"""Measure a proven boot's cases: start the detached job, poll it, take in its results."""

from __future__ import annotations

import functools
import io
import operator
import tarfile
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

import orjson
from pydantic import BaseModel, ConfigDict, Field, ValidationError
from sqlalchemy.orm import Session

from mitigauge.analysis.profiles.capture.capture import Capture
from mitigauge.analysis.profiles.exact.service import CountedPass, store_counts
from mitigauge.analysis.profiles.store.instructions import store_instructions
from mitigauge.analysis.profiles.store.service import store_boot_profile
from mitigauge.analysis.profiles.store.tables import System
from mitigauge.core.clock import Clock
from mitigauge.core.errors import MitigaugeError
from mitigauge.core.hostile_text import clean_text
from mitigauge.core.settings import get_settings
from mitigauge.core.wire import case as wire
from mitigauge.core.wire import exact
from mitigauge.core.wire.job import EX_TEMPFAIL, FINISHED, RUNNING, STATE_FILE, State
from mitigauge.core.wire.profile import DIRECTORY
from mitigauge.measurement.catalog import Catalog
from mitigauge.measurement.collectors.service import Collected, store_collected
from mitigauge.measurement.experiments.event_log import record_event
from mitigauge.measurement.experiments.tables import Case
from mitigauge.measurement.results.schema import ReadResult
from mitigauge.measurement.results.states import ResultState
from mitigauge.measurement.runs import outcomes
from mitigauge.measurement.runs.intake import Failure, TakenResult, store_failures, store_results
from mitigauge.measurement.runs.tables import Boot, Run
from mitigauge.measurement.runs.taint import AGAIN, Unsound
from mitigauge.measurement.workloads import collectors
from mitigauge.storage.files.blobs import blob_store
from pipelines.host_control import Facts, LabFault
from pipelines.host_watch import WATCHED_LOOK_S, Watched
from pipelines.steps.archive import is_capture, unpacked
from pipelines.steps.context import Done, StepContext, boot_of
from pipelines.steps.host_evidence import Gates, collected_beside, is_unsound_again
from pipelines.steps.parser import PassOrder, result_in, timed_pass
from pipelines.steps.profile_pass import Budget, taken_captures, taken_counts

# A look waits on the host until the job is done, for so long at most.
LOOK_S = 300.0
# Into a job that lasts longer it comes so long before its end.
LEAD_S = 240.0
# Between two looks: short, but enough for a job whose end was seen before its unit's.
NEXT_LOOK_S = 1.0
JOB_TRIES = 2
# Instructions are counted in the first boots of each arm: a second one shows whether the first
# was the rule, and more would tell nothing else.
COUNTED_BLOCKS = 2
# Beyond the cases' own time-outs: staging, the runner's start, a slow host.
JOB_SLACK_S = 120.0
LONGEST_STATE = 1 << 20
LONGEST_JOB_S = 1e7
# Bytes of a failed case's stderr that are kept, from its end.
LONGEST_COMPLAINT = 1000
# Characters of what one step says of all its cases.
LONGEST_DETAIL = 4000


@dataclass(frozen=True, slots=True)
class CaseOutput:
    """What one case left behind: a result, or why there is none; the same of its profiles."""

    case: Case
    raw_sha256: str | None
    result: ReadResult | None = None
    state: ResultState = ResultState.MEASURED
    error: str = ""
    captures: Mapping[System, Capture] = field(default_factory=dict)
    """By system, ``host`` or ``guest``."""
    profile_error: str = ""
    counted: CountedPass | None = None
    """What the emulator counted; None where it was not asked."""
    collected: Collected | None = None
    gate: str = ""
    """Why its boot does not count, whatever the arm; empty where it does."""
    tainted: int = 0
    """Bits of the kernel's taint that came while it ran."""
    unsound: Unsound | None = None
    """Why its boot's kernel is not sound by then."""


class JobReport(BaseModel):
    """What a host says of its job. Raises nothing but :class:`LabFault`."""

    model_config = ConfigDict(extra="ignore", strict=True, frozen=True)

    state: State
    detail: str = ""
    current_case: str | None = None
    profiling: bool = False
    seconds: float | None = Field(None, ge=0, le=LONGEST_JOB_S)
    archive: str = ""

    @classmethod
    def of(cls, facts: Facts) -> JobReport:
        """*facts* of the host, if they can be a job's."""
        try:
            return cls.model_validate(dict(facts))
        except ValidationError as error:
            fault = error.errors()[0]
            raise LabFault(
                f"the host says of its job: {'.'.join(map(str, fault['loc']))}: {fault['msg']}",
                hint="Stage the workloads again; the boot is made again.",
            ) from error


def start(context: StepContext) -> Done:
    """Start the job over all cases that have no result yet; wait for a short one."""
    boot = context.boot
    cases = context.open_cases()
    if not cases:
        return Done(lambda session, run: outcomes.measured(session, boot_of(run, boot.id)))
    first_look_in_s = first_look_s(context.run, cases)
    # Before it begins, so that whoever comes is not in what is measured.
    watched = not first_look_in_s and _watch(context)
    again_in_s = WATCHED_LOOK_S if watched else first_look_in_s
    began = time.monotonic()
    with _scratch() as scratch:
        job = JobReport.of(
            context.host.start(
                job_name(boot),
                [_job_case(context, case) for case in cases],
                scratch,
                wait_s=0.0 if again_in_s else LOOK_S,
                wanted=context.goes_on,
            )
        )
        over = not again_in_s and job.state != RUNNING
        done = _ended(context, job, scratch) if over else None
    # A clock that counts instructions says nothing of how long anybody waited.
    by_the_host = job.seconds if context.run.clock == Clock.REAL else None
    started_s_ago = by_the_host or time.monotonic() - began

    def apply(session: Session, run: Run) -> None:
        outcomes.job_started(session, boot_of(run, boot.id), started_s_ago)
        if done:
            done.apply(session, run)

    if done:
        return replace(done, apply=apply)
    return Done(
        apply,
        event=f"block {boot.block}: {boot.arm.name}: measuring {len(cases)} cases",
        again_in_s=again_in_s,
    )


def _watch(context: StepContext) -> bool:
    """Have the job's end awaited beside the steps; whether it is."""
    return context.watch.await_job(
        context.run.id, job_name(context.boot), context.place, job_name(context.boot)
    )


def _job_case(context: StepContext, case: Case) -> wire.Case:
    return wire.Case(
        case_id=str(case.id),
        workload=case.workload,
        parameters=case.parameters,
        iterations=case.iterations,
        warmup=case.warmup,
        timeout_s=case.timeout_s,
        profile_hz=case.profile_hz,
        profile_guest=case.profile_guest,
        profile_off_cpu=case.profile_off_cpu,
        exact=_is_counted(context, case),
        guest=context.boot.arm.settings.guest(),
        collect=collectors.of_case(case.collect, context.run.clock),
        slowed_percent=context.boot.arm.slowed_percent,
    )


def _is_counted(context: StepContext, case: Case) -> bool:
    """Whether a pass of the case is to be counted, where the host's emulator does it."""
    workload = context.catalog.workloads.get(case.workload)
    counted = context.run.clock == Clock.COUNTED and context.boot.block <= COUNTED_BLOCKS
    return counted and workload is not None and workload.exact


@contextmanager
def _scratch() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="mitigauge-job-") as directory:
        yield Path(directory)


def first_look_s(run: Run, cases: Sequence[Case]) -> float:
    """When to look first at a job over *cases*, seconds after its start.

    A look disturbs as it comes and as it goes, so whoever starts a short job stays. Only into
    one that would outlast that does a look come later. How long it lasts is said by its
    workloads, or by a quicker job of this run's other boots.
    """
    lasts_s = sum(case.expected_s for case in cases)
    if len(cases) == len(run.comparison.cases):
        lasted = [b.job_lasted_s for b in run.boots if b.job_try == 1]
        lasts_s = min([lasts_s, *(seconds for seconds in lasted if seconds is not None)])
    return max(lasts_s - LEAD_S, 0.0)


def poll(context: StepContext) -> Done:
    """Wait for the job's end; take in its results when it has come."""
    state = context.watch.state(context.run.id, job_name(context.boot))
    if state is Watched.WAITS or (state is Watched.NOT and _watch(context)):
        return _still_running(context, again_in_s=WATCHED_LOOK_S)
    # Its end has come, or nobody but a play can wait for it.
    with _scratch() as scratch:
        job = JobReport.of(
            context.host.poll(
                job_name(context.boot), scratch, wait_s=LOOK_S, wanted=context.goes_on
            )
        )
        if job.state != RUNNING:
            return _ended(context, job, scratch)
    return _still_running(context, job.current_case or "", profiling=job.profiling)


def _ended(context: StepContext, job: JobReport, scratch: Path) -> Done:
    """Take in what the job left, while its archive is there."""
    boot = context.boot
    if job.state != FINISHED:
        raise LabFault(
            f"the measuring job is {job.state}: {clean_text(job.detail)[:LONGEST_DETAIL]}",
            hint="The host may have rebooted; see its serial log.",
        )
    # By its name alone: a host that may name a file of ours would have it read.
    archive = scratch / Path(job.archive).name
    outputs = collect(
        archive,
        context.open_cases(),
        context.catalog,
        context.boot.arm.settings.guest(),
        clock=context.run.clock,
        emulated=context.run.host.emulated,
    )
    taint = _taint_in(outputs)
    again = taint is not None and is_unsound_again(context.run, boot, taint)
    return _taken_in(boot, outputs, job.seconds, is_the_arms=again)


def job_name(boot: Boot) -> str:
    """The job's name on the host, the same however often the step is done."""
    return f"boot{boot.id}-{boot.nonce}-{boot.job_try}"


def _still_running(
    context: StepContext,
    current_case: str | None = None,
    *,
    profiling: bool = False,
    again_in_s: float = NEXT_LOOK_S,
) -> Done:
    """Look again later. *current_case*: None where nobody looked which one it is."""
    boot = context.boot
    limits = (
        wire.limit_s(
            case.timeout_s,
            case.profile_hz,
            off_cpu=case.profile_off_cpu,
            exact=_is_counted(context, case),
        )
        for case in context.open_cases()
    )
    limit = sum(limits) + JOB_SLACK_S

    def apply(_: Session, run: Run) -> None:
        if current_case is None:
            return
        titles = {str(c.id): c.title for c in run.comparison.cases}
        title = titles.get(current_case, "")
        boot_of(run, boot.id).job_detail = f"{title}, profiled" if title and profiling else title

    if context.seconds_since(boot.job_started_at) > limit:
        raise LabFault(
            f"the measuring job still runs after {limit:.0f} s",
            hint="Something on the host hangs; the boot is made again.",
        )
    return Done(apply, outcome="running", again_in_s=again_in_s)


def _taint_in(outputs: Sequence[CaseOutput]) -> Unsound | None:
    """Why the boot's kernel is not sound, by the first case that says so."""
    return next((output.unsound for output in outputs if output.unsound), None)


def _taken_in(
    boot: Boot,
    outputs: Sequence[CaseOutput],
    lasted_s: float | None,
    *,
    is_the_arms: bool = False,
) -> Done:
    """What the job left, stored. *is_the_arms*: whether its taint is the arm's own fault."""
    again = boot.job_try < JOB_TRIES and any(o.state is ResultState.LAB_FAULT for o in outputs)
    measured = [
        TakenResult(output.case.id, output.result, output.raw_sha256)
        for output in outputs
        if output.result is not None
    ]
    failed = [
        Failure(output.case.id, output.state, output.error, output.raw_sha256)
        for output in outputs
        if output.result is None and not (again and output.state is ResultState.LAB_FAULT)
    ]

    gate = next((output.gate for output in outputs if output.gate), "")
    taint = _taint_in(outputs)
    gate = gate or (taint.reason if taint else "")
    tainted = functools.reduce(operator.or_, (output.tainted for output in outputs), 0)

    def apply(session: Session, run: Run) -> None:
        current = boot_of(run, boot.id)
        store_results(session, current, measured)
        store_failures(session, boot.id, failed)
        for output in outputs:
            _store_beside(session, run, boot, output)
        outcomes.tainted(current, tainted)
        if is_the_arms:
            outcomes.unsound(session, current, gate + AGAIN)
        elif gate:
            outcomes.measured(session, current, lasted_s)
            outcomes.invalidated_block(session, run, current, gate)
        elif again:
            outcomes.job_lacks_cases(current)
        else:
            outcomes.measured(session, current, lasted_s)

    bad = [f"{o.case.title}: {o.error}" for o in outputs if o.state is not ResultState.MEASURED]
    no_profile = [f"{o.case.title}: {o.profile_error}" for o in outputs if o.profile_error]
    no_profile += [
        f"{o.case.title}: no exact counts: {o.counted.detail}"
        for o in outputs
        if o.counted and o.counted.detail
    ]
    good = len(outputs) - len(bad)
    said = f"{good} of {len(outputs)} cases measured"
    profiled = sum(bool(output.captures) for output in outputs)
    if profiled or no_profile:
        said += f", {profiled} profiled"
    if gate:
        said += f"; the {'arm' if is_the_arms else 'block'} does not count: {gate}"
    return Done(
        apply,
        outcome="finished",
        detail="; ".join(bad + no_profile)[:LONGEST_DETAIL],
        event=f"block {boot.block}: {boot.arm.name}: {said}{_listed(bad)}{_listed(no_profile)}",
    )


def _store_beside(session: Session, run: Run, boot: Boot, output: CaseOutput) -> None:
    """Store what a case left besides its result."""
    for system, capture in output.captures.items():
        _store_capture(session, run, boot, output.case, system, capture)
    if output.counted:
        store_counts(session, boot.id, output.case.id, output.counted)
    if output.collected and output.result:
        store_collected(session, boot.id, output.case.id, output.collected)


def _store_capture(
    session: Session, run: Run, boot: Boot, case: Case, system: System, capture: Capture
) -> None:
    """Store it, or log the reason: the figures beside it must not be lost with it."""
    try:
        with session.begin_nested():
            profile = store_boot_profile(
                session,
                boot_id=boot.id,
                case_id=case.id,
                workload=case.workload,
                system=system,
                stacks=capture.stacks,
                of=capture,
            )
            store_instructions(session, profile, capture.instructions)
    except MitigaugeError as error:
        record_event(
            session,
            experiment_id=run.experiment_id,
            run_id=run.id,
            kind="step",
            text=f"{case.title}: no profile of the {system}: {error.message}",
        )


def _listed(faults: Sequence[str]) -> str:
    return f"; {'; '.join(faults)[:500]}" if faults else ""


def collect(
    archive: Path,
    cases: Sequence[Case],
    catalog: Catalog,
    guest: Mapping[str, str] | None = None,
    *,
    clock: str = Clock.COUNTED,
    emulated: bool = False,
) -> list[CaseOutput]:
    """Read the job's archive: every case's result through its workload's parser.

    *guest*: what the cases' guests were to get. *clock*: what the host's time is. *emulated*:
    whether its processor's features may be forced.

    Raises :class:`LabFault` for an archive that cannot be what it should.
    """
    with tempfile.TemporaryDirectory(prefix="mitigauge-results-") as scratch:
        job = unpacked(archive, Path(scratch), cases, get_settings())
        finished = _finished(job / STATE_FILE)
        budget = Budget()
        outputs = []
        for case in cases:
            of_case = finished.get(str(case.id))
            output = _read_case(job, timed_pass(case, guest), of_case, catalog, budget)
            gates = of_case.gates if of_case else Gates()
            beside = collected_beside(case, job / str(case.id), clock) if output.result else None
            outputs.append(
                replace(
                    output,
                    collected=beside,
                    gate=gates.closed(case),
                    tainted=gates.tainted,
                    unsound=gates.unsound(case, emulated=emulated),
                )
            )
        return outputs


class _FinishedCase(BaseModel):
    model_config = ConfigDict(extra="ignore", strict=True)

    case_id: str = Field(max_length=64)
    exit_code: int = Field(ge=-255, le=255)
    gates: Gates = Gates()


class _FinishedJob(BaseModel):
    """The part of a finished job's state.json that is relied on."""

    model_config = ConfigDict(extra="ignore")

    finished_cases: list[_FinishedCase] = Field(max_length=100_000)


def _finished(state_file: Path) -> dict[str, _FinishedCase]:
    if not state_file.is_file():
        raise LabFault(f"the job's archive has no {STATE_FILE}", hint="The boot is made again.")
    size = state_file.stat().st_size
    try:
        if size > LONGEST_STATE:
            raise ValueError(f"{size} bytes")
        finished = _FinishedJob.model_validate(orjson.loads(state_file.read_bytes()))
    except ValueError as error:
        raise LabFault(
            f"the job's {STATE_FILE} cannot be read: {clean_text(str(error))[:300]}",
            hint="The boot is made again.",
        ) from error
    return {entry.case_id: entry for entry in finished.finished_cases}


def _read_case(
    job: Path, asked: PassOrder, of_case: _FinishedCase | None, catalog: Catalog, budget: Budget
) -> CaseOutput:
    case = asked.case
    directory = job / str(case.id)
    exit_code = of_case.exit_code if of_case else None
    if exit_code is None or not directory.is_dir():
        return CaseOutput(case, None, state=ResultState.LAB_FAULT, error="the job left no output")
    # As the host left it: what is written into the directory from here on is ours.
    raw = blob_store(get_settings()).put(_packed(directory))
    if exit_code != 0:
        lab_fault = exit_code == EX_TEMPFAIL
        state = ResultState.LAB_FAULT if lab_fault else ResultState.FAILED
        return CaseOutput(case, raw, state=state, error=_complaint(directory, exit_code))
    try:
        result = result_in(directory, asked, catalog)
    except MitigaugeError as error:
        return CaseOutput(case, raw, state=ResultState.FAILED, error=error.message)
    output = CaseOutput(
        case, raw, result, counted=taken_counts(directory / exact.DIRECTORY, budget)
    )
    if not case.profile_hz:
        return output
    captures, why_not = taken_captures(
        directory / DIRECTORY, asked, result.body, catalog, get_settings(), budget
    )
    return replace(output, captures=captures, profile_error=why_not)


def _packed(directory: Path) -> bytes:
    """The case's raw files but its capture as one tar, the same bytes for the same files."""
    buffer = io.BytesIO()

    def but_capture(member: tarfile.TarInfo) -> tarfile.TarInfo | None:
        return None if is_capture(member.name.partition("/")[2]) else member

    with tarfile.open(fileobj=buffer, mode="w:gz", compresslevel=6) as tar:
        tar.add(directory, arcname=directory.name, filter=but_capture)
    return buffer.getvalue()


def _complaint(directory: Path, exit_code: int) -> str:
    stderr = directory / "stderr.txt"
    said = b""
    if stderr.is_file():
        with stderr.open("rb") as file:
            file.seek(max(0, stderr.stat().st_size - LONGEST_COMPLAINT))
            said = file.read(LONGEST_COMPLAINT)
    text = clean_text(said.decode(errors="replace")).strip()
    return f"run exited {exit_code}: {text}"
