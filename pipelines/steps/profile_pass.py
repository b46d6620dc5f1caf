"""The profiled pass of a case: its captures read and their raw texts kept."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path

from mitigauge.analysis.profiles.capture.capture import Capture, overhead_percent, read_capture
from mitigauge.analysis.profiles.capture.fold import Bounds
from mitigauge.analysis.profiles.capture.recording import find_recording
from mitigauge.analysis.profiles.exact.reading import read_ledger, windows_in
from mitigauge.analysis.profiles.exact.service import CountedPass
from mitigauge.analysis.profiles.store.normalise import rules, without_idle
from mitigauge.analysis.profiles.store.tables import System
from mitigauge.core.errors import InvalidInput, MitigaugeError, NotReady
from mitigauge.core.settings import Settings, get_settings
from mitigauge.core.wire.profile import GUEST, HOST, OFF_CPU
from mitigauge.measurement.catalog import Catalog
from mitigauge.measurement.experiments.tables import Case
from mitigauge.measurement.results.schema import ResultBody
from mitigauge.storage.files.blobs import blob_store
from pipelines.steps.parser import PassOrder, profiled_pass, result_in

# Of the captures of one boot's job together: one is read in seconds.
SECONDS_A_JOB = 300.0
STACK_BYTES_A_JOB = 96 << 20


@dataclass(slots=True)
class Budget:
    """What is left for the captures of one boot's job, which a host could make many."""

    seconds: float = SECONDS_A_JOB
    stack_bytes: int = STACK_BYTES_A_JOB

    def bounds(self) -> Bounds:
        """Of the next capture. Raises :class:`InvalidInput` where nothing is left."""
        whole = Bounds()
        if self.seconds <= 0 or self.stack_bytes <= 0:
            raise InvalidInput(
                f"the job's other captures took {SECONDS_A_JOB:g} s or {STACK_BYTES_A_JOB} bytes",
                hint="Profile fewer cases of a boot, or with a lower hz.",
            )
        return Bounds(
            seconds=min(whole.seconds, self.seconds),
            stack_bytes=min(whole.stack_bytes, self.stack_bytes),
        )


def taken_captures(
    directory: Path,
    asked: PassOrder,
    timed: ResultBody,
    catalog: Catalog,
    settings: Settings,
    budget: Budget,
) -> tuple[dict[System, Capture], str]:
    """Captures of the passes in *directory* by system, and why one of them is missing.

    Raises nothing but :class:`NotReady`, of a blob store that is away: a figure that was
    measured must not be lost to its profile.
    """

    @cache
    def profiled(of_pass: Path) -> ResultBody:
        """Parsed like any other pass, once for host and guest; that of waiting is another one."""
        return result_in(of_pass, profiled_pass(asked, directory.parent), catalog).body

    case = asked.case

    captures: dict[System, Capture] = {}
    faults = []
    for system, left in _directories(directory, case).items():
        began = time.monotonic()
        try:
            of_pass = left if system == OFF_CPU else directory
            captures[system] = _captured(
                left, case, timed, partial(profiled, of_pass), settings, budget
            )
            budget.stack_bytes -= sum(map(len, captures[system].stacks))
        except NotReady:
            raise
        except MitigaugeError as error:
            faults.append(f"no profile of the {system}: {error.message[:1000]}")
        except OSError as error:
            faults.append(f"no profile of the {system}: it cannot be read: {error.strerror}")
        budget.seconds -= time.monotonic() - began
    return captures, "; ".join(faults)


def _directories(directory: Path, case: Case) -> dict[System, Path]:
    left: dict[System, Path] = {HOST: directory}
    if case.profile_guest:
        left[GUEST] = directory / GUEST
    if case.profile_off_cpu:
        left[OFF_CPU] = directory / OFF_CPU
    return left


def _captured(
    directory: Path,
    case: Case,
    timed: ResultBody,
    profiled: Callable[[], ResultBody],
    settings: Settings,
    budget: Budget,
) -> Capture:
    """The capture in *directory*, of the pass whose result is *profiled*."""
    # Before the result: where the pass failed, parse.py would only complain of a consequence.
    recording = find_recording(directory, limit_bytes=settings.capture_limit_bytes)
    # Sampling slows a pass, so none of its values are kept but the work that it did.
    result = profiled()
    capture = read_capture(
        recording,
        operations=result.operations,
        overhead_percent=_overhead(case, timed, result),
        bounds=budget.bounds(),
    )
    if not without_idle(capture.stacks, rules())[0]:
        raise InvalidInput("every sample is of an idle processor", hint="Sample more often.")
    blob_store(settings).put(recording.text.read_bytes())
    return capture


def _overhead(case: Case, timed: ResultBody, profiled: ResultBody) -> float | None:
    primary = next((name for name, metric in case.metrics.items() if metric.primary), None)
    if primary is None:
        return None
    before, during = timed.metrics[primary], profiled.metrics[primary]
    return overhead_percent(before.direction, before.values, during.values)


def taken_counts(directory: Path, budget: Budget) -> CountedPass | None:
    """What the emulator counted of the case in *directory*; None where nothing was asked of it.

    Raises nothing but :class:`NotReady`, as :func:`taken_captures`.
    """
    if not directory.is_dir():
        return None
    began = time.monotonic()
    try:
        budget.bounds()
        ledger = read_ledger(directory)
        for window in windows_in(directory):
            blob_store(get_settings()).put(window.read_bytes())
    except NotReady:
        raise
    except MitigaugeError as error:
        return CountedPass(detail=error.message[:1000])
    except OSError as error:
        return CountedPass(detail=f"it cannot be read: {error.strerror}")
    finally:
        budget.seconds -= time.monotonic() - began
    return CountedPass(ledger)
