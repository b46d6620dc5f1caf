"""What a host collected beside a case: read within limits, then stored."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sqlalchemy.orm import Session

from mitigauge.core.errors import InvalidInput, MitigaugeError
from mitigauge.core.hostile_text import clean_text
from mitigauge.core.wire.collectors import SUMMARY_FILE, SVM, file_of
from mitigauge.measurement.collectors import figures, repository
from mitigauge.measurement.collectors.samples import (
    LONGEST_REASON,
    Samples,
    packed,
    read_series,
    read_summary,
)


@dataclass(frozen=True, slots=True)
class Collected:
    """What was collected beside one case; *absent*: why a collector has nothing, by name."""

    cost_percent: float
    series: Mapping[str, Samples] = field(default_factory=dict)
    absent: Mapping[str, str] = field(default_factory=dict)
    window: figures.Window | None = None


def read_collected(
    directory: Path, asked: Sequence[str], window: figures.Window | None
) -> Collected:
    """What *directory* holds of the collectors that were asked for; nothing else is looked at.

    Never raises for what the host left there: a figure that was measured must not be lost to
    its series. What cannot be read is absent, with the reason.
    """
    try:
        summary = read_summary(directory / SUMMARY_FILE)
    except (MitigaugeError, OSError) as error:
        return Collected(0.0, absent=dict.fromkeys(asked, _reason(error)), window=window)
    found: dict[str, Samples] = {}
    absent: dict[str, str] = {}
    for name in asked:
        if name in summary.absent:
            absent[name] = clean_text(summary.absent[name])[:LONGEST_REASON] or "absent"
            continue
        try:
            found[name] = read_series(directory / file_of(name), name)
        except (MitigaugeError, OSError) as error:
            absent[name] = _reason(error)
    return Collected(summary.cost_percent, found, absent, window)


def _reason(error: Exception) -> str:
    said = error.message if isinstance(error, InvalidInput) else str(error)
    return clean_text(said)[:LONGEST_REASON]


def store_collected(session: Session, boot_id: int, case_id: int, collected: Collected) -> None:
    """Store it with what it comes to over the measured window."""
    window = collected.window
    common: dict[str, Any] = {
        "boot_id": boot_id, "case_id": case_id, "cost_percent": collected.cost_percent,
        "began_s": window[0] if window else None, "ended_s": window[1] if window else None,
    }  # fmt: skip
    rows: list[dict[str, Any]] = [
        common | {
            "collector": name, "absent": reason, "samples": 0, "means": {}, "rates": {},
            "data": None,
        }
        for name, reason in collected.absent.items()
    ]  # fmt: skip
    rows += [
        common | {
            "collector": name, "absent": "", "samples": len(series.times_ns),
            "means": means_of(series, window), "rates": figures.rates(series, "", window),
            "data": packed(series),
        }
        for name, series in collected.series.items()
    ]  # fmt: skip
    repository.add(session, rows)


def means_of(series: Samples, window: figures.Window | None) -> dict[str, float]:
    """Figure → its mean over the window; one that the series has no column for is left out."""
    found = {f.name: figures.mean(series, f, window) for f in figures.figures_of(series)}
    told = {name: value for name, value in found.items() if value is not None}
    svm = series.column(SVM)
    return told if svm is None else told | {SVM: float(svm[-1])}
