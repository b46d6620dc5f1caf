"""Measure a proven boot's cases: start the detached job, poll it, take in its results."""

from __future__ import annotations

import io
import json
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from sqlalchemy.orm import Session

from mitigauge.blobs import put_blob
from mitigauge.catalog import Catalog
from mitigauge.errors import MitigaugeError
from mitigauge.experiments import outcomes
from mitigauge.experiments.results import check_against_case, read_result
from mitigauge.experiments.service import store_failure, store_result
from mitigauge.experiments.tables import Boot, Case, Run
from mitigauge.settings import get_settings
from pipelines.host_control import JobCase, LabFault
from pipelines.steps.context import Done, StepContext, boot_of

POLL_INTERVAL_S = 4.0
PARSE_TIMEOUT_S = 60
EX_TEMPFAIL = 75
JOB_TRIES = 2
# Beyond the cases' own time-outs: staging, the runner's start, a slow host.
JOB_SLACK_S = 120.0


@dataclass(frozen=True, slots=True)
class CaseOutput:
    """What one case left behind: a result, or why there is none."""

    case: Case
    raw_sha256: str | None
    body: bytes = b""
    state: str = "measured"
    error: str = ""


def start(context: StepContext) -> Done:
    """Start the job over all cases that have no result yet."""
    boot = context.boot
    cases = _open_cases(context.run, boot)
    if not cases:
        return Done(lambda session, run: outcomes.measured(session, boot_of(run, boot.id)))
    context.host.start(
        job_name(boot),
        [
            JobCase(
                str(c.id), c.workload, c.parameters, c.iterations, c.warmup, timeout_s=c.timeout_s
            )
            for c in cases
        ],
    )
    return Done(
        lambda session, run: outcomes.job_started(session, boot_of(run, boot.id)),
        event=f"block {boot.block}: {boot.arm.name}: measuring {len(cases)} cases",
        # Looking at the host disturbs it, so the first look comes when it should be done.
        again_in_s=0.8 * sum(c.expected_s for c in cases),
    )


def poll(context: StepContext) -> Done:
    """Look whether the job is done; take in its results when it is."""
    boot = context.boot
    with tempfile.TemporaryDirectory(prefix="mitigauge-job-") as scratch:
        job = context.host.poll(job_name(boot), Path(scratch))
        if job["state"] == "running":
            return _still_running(context, boot, str(job.get("current_case") or ""))
        if job["state"] != "finished":
            raise LabFault(
                f"the measuring job is {job['state']}: {job.get('detail', '')}",
                hint="The host may have rebooted; see its serial log.",
            )
        outputs = collect(
            Path(str(job["archive"])), _open_cases(context.run, boot), context.catalog
        )
    return _taken_in(boot, outputs)


def job_name(boot: Boot) -> str:
    """The job's name on the host, the same however often the step is done."""
    return f"boot{boot.id}-{boot.nonce}-{boot.job_try}"


def _open_cases(run: Run, boot: Boot) -> list[Case]:
    answered = {result.case_id for result in boot.results}
    return [case for case in run.comparison.cases if case.id not in answered]


def _still_running(context: StepContext, boot: Boot, current_case: str) -> Done:
    limit = sum(c.timeout_s for c in _open_cases(context.run, boot)) + JOB_SLACK_S

    def apply(_: Session, run: Run) -> None:
        titles = {str(c.id): c.title for c in run.comparison.cases}
        boot_of(run, boot.id).job_detail = titles.get(current_case, "")

    if context.seconds_since(boot.job_started_at) > limit:
        raise LabFault(
            f"the measuring job still runs after {limit:.0f} s",
            hint="Something on the host hangs; the boot is made again.",
        )
    return Done(apply, outcome="running", again_in_s=POLL_INTERVAL_S)


def _taken_in(boot: Boot, outputs: Sequence[CaseOutput]) -> Done:
    again = boot.job_try < JOB_TRIES and any(o.state == "lab_fault" for o in outputs)

    def apply(session: Session, run: Run) -> None:
        current = boot_of(run, boot.id)
        for output in outputs:
            if output.state == "measured":
                store_result(
                    session, boot.id, output.case.id, output.body, raw_sha256=output.raw_sha256
                )
            elif not (again and output.state == "lab_fault"):
                store_failure(
                    session,
                    boot.id,
                    output.case.id,
                    state=output.state,
                    error=output.error,
                    raw_sha256=output.raw_sha256,
                )
        if again:
            outcomes.job_lacks_cases(current)
        else:
            outcomes.measured(session, current)

    bad = [f"{o.case.title}: {o.error}" for o in outputs if o.state != "measured"]
    good = len(outputs) - len(bad)
    return Done(
        apply,
        outcome="finished",
        detail="; ".join(bad),
        event=f"block {boot.block}: {boot.arm.name}: {good} of {len(outputs)} cases measured"
        + (f"; {'; '.join(bad)[:500]}" if bad else ""),
    )


def collect(archive: Path, cases: Sequence[Case], catalog: Catalog) -> list[CaseOutput]:
    """Read the job's archive: every case's result through its workload's parser."""
    limit = get_settings().upload_inflated_limit_bytes
    with tempfile.TemporaryDirectory(prefix="mitigauge-results-") as scratch:
        directory = Path(scratch)
        try:
            with tarfile.open(archive) as tar:
                if sum(member.size for member in tar.getmembers()) > limit:
                    raise LabFault(
                        f"the job's files are over {limit} bytes", hint="See the workload's output."
                    )
                tar.extractall(directory, filter="data")
        except (tarfile.TarError, EOFError, OSError) as error:
            raise LabFault(
                f"the job's archive cannot be read: {error}", hint="The boot is made again."
            ) from error
        state_file = next(directory.rglob("state.json"), None)
        if state_file is None:
            raise LabFault("the job's archive has no state.json", hint="The boot is made again.")
        exits = _exit_codes(state_file)
        return [_read_case(state_file.parent, case, exits, catalog) for case in cases]


def _exit_codes(state_file: Path) -> dict[str, int]:
    try:
        finished = json.loads(state_file.read_text())["finished_cases"]
        return {str(entry["case_id"]): int(entry["exit_code"]) for entry in finished}
    except (ValueError, KeyError, TypeError) as error:
        raise LabFault(
            f"the job's state.json cannot be read: {error!r}", hint="The boot is made again."
        ) from error


def _read_case(job: Path, case: Case, exits: dict[str, int], catalog: Catalog) -> CaseOutput:
    directory = job / str(case.id)
    exit_code = exits.get(str(case.id))
    if exit_code is None or not directory.is_dir():
        return CaseOutput(case, None, state="lab_fault", error="the job left no output")
    raw = put_blob(get_settings().blobs, _packed(directory))
    if exit_code != 0:
        state = "lab_fault" if exit_code == EX_TEMPFAIL else "failed"
        return CaseOutput(case, raw, state=state, error=_complaint(directory, exit_code))
    return _parsed(directory, case, raw, catalog)


def _parsed(directory: Path, case: Case, raw: str, catalog: Catalog) -> CaseOutput:
    parser = catalog.workload_directory(case.workload) / "parse.py"
    try:
        done = subprocess.run(
            [sys.executable, str(parser), str(directory)],
            capture_output=True,
            timeout=PARSE_TIMEOUT_S,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return CaseOutput(case, raw, state="failed", error="parse.py took too long")
    if done.returncode != 0:
        complaint = done.stderr.decode(errors="replace").strip()[-2000:]
        return CaseOutput(case, raw, state="failed", error=f"parse.py: {complaint}")
    try:
        _check(done.stdout, case)
    except MitigaugeError as error:
        return CaseOutput(case, raw, state="failed", error=error.message)
    return CaseOutput(case, raw, body=done.stdout)


def _check(body: bytes, case: Case) -> None:
    check_against_case(
        read_result(body),
        workload=case.workload,
        case_id=case.id,
        metrics=case.metrics,
        iterations=case.iterations,
    )


def _packed(directory: Path) -> bytes:
    """The case's raw files as one tar, the same bytes for the same files."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz", compresslevel=6) as tar:
        tar.add(directory, arcname=directory.name)
    return buffer.getvalue()


def _complaint(directory: Path, exit_code: int) -> str:
    stderr = directory / "stderr.txt"
    said = stderr.read_text(errors="replace").strip()[-1000:] if stderr.exists() else ""
    return f"run exited {exit_code}: {said}"
