"""An experiment as KCIDB has it: checkouts, builds and tests with a number (schema 5.3). Pure.

Ids are made of what they name, so that what is sent twice is one there.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Sequence
from datetime import UTC
from typing import Any

from mitigauge.core.effect import CellState, Verdict
from mitigauge.core.hostile_text import clean_text
from mitigauge.reporting.letters.reply.headline import LeadCell
from mitigauge.reporting.pages.schemas import ExperimentView
from mitigauge.reporting.publications.facts import Facts, KernelFacts

MAJOR, MINOR = 5, 3
LONGEST = 300
_NO_PATH = re.compile(r"[^a-zA-Z0-9_-]+")
ORIGIN = re.compile(r"[a-z0-9_]{1,60}")
# A mode that costs is no failure; a kernel that is worse than another one is.
_STATUS = {Verdict.WORSE: "FAIL", Verdict.SAME: "PASS", Verdict.BETTER: "PASS"}


def submission(facts: Facts, origin: str) -> dict[str, Any]:
    """All rows of an experiment; without a test where no arm has a kernel that was built here.

    What has no figure is missing there: one that was sent before may be withdrawn since.
    """
    known = {kernel.release: kernel for kernel in facts.kernels}
    tests = list(_tests(facts, origin, known))
    used = {each["build_id"] for each in tests}
    builds = [_build(each, origin) for each in facts.kernels]
    builds = [each for each in builds if each["id"] in used]
    wanted = {each["checkout_id"] for each in builds}
    checkouts = {
        each["id"]: each
        for each in (_checkout(kernel, facts, origin) for kernel in facts.kernels)
        if each["id"] in wanted
    }
    return {
        "version": {"major": MAJOR, "minor": MINOR},
        "checkouts": list(checkouts.values()),
        "builds": builds,
        "tests": tests,
    }


def _checkout(kernel: KernelFacts, facts: Facts, origin: str) -> dict[str, Any]:
    found: dict[str, Any] = {
        "id": _checkout_id(kernel, origin),
        "origin": origin,
        "comment": _text(f"{kernel.base} with {len(kernel.patches)} patches"),
        "patchset_hash": patchset_hash(kernel.patches),
        "valid": True,
    }
    if kernel.commit:
        found["git_commit_hash"] = kernel.commit
    if kernel.patches and facts.message_ids:
        found["message_id"] = facts.message_ids[0]
    return found


def _checkout_id(kernel: KernelFacts, origin: str) -> str:
    return f"{origin}:{_digest(kernel.base, *kernel.patches)}"


def patchset_hash(patches: Sequence[str]) -> str:
    """SHA-256 over the patches' own, a line each; empty without patches."""
    lines = "".join(f"{each}\n" for each in patches)
    return hashlib.sha256(lines.encode()).hexdigest() if patches else ""


def _build(kernel: KernelFacts, origin: str) -> dict[str, Any]:
    return {
        "id": _build_id(kernel, origin),
        "checkout_id": _checkout_id(kernel, origin),
        "origin": origin,
        "architecture": "x86_64",
        "compiler": _text(kernel.compiler),
        "config_name": _text(kernel.config),
        "status": "PASS",
    }


def _build_id(kernel: KernelFacts, origin: str) -> str:
    return f"{origin}:{kernel.release}"


def _tests(facts: Facts, origin: str, known: dict[str, KernelFacts]) -> Iterator[dict[str, Any]]:
    for each in [*facts.cells, *_unmeasured(facts.view)]:
        kernel = known.get(each.arm.kernel)
        if kernel is None:
            continue
        view, row, cell = facts.view, each.row, each.cell
        place = (str(view.id), each.comparison.name, row.host, row.case, row.metric, each.arm.name)
        test: dict[str, Any] = {
            "id": f"{origin}:{_digest(*place)}",
            "build_id": _build_id(kernel, origin),
            "origin": origin,
            "path": f"mitigauge.{_step(row.case)}.{_step(row.metric)}",
            "comment": _text(f"{row.case}, {each.arm.name} against {each.baseline.name}"),
            "status": _status(each),
            "environment": {
                "comment": _text(row.host),
                "misc": {"emulated": each.comparison.emulated, "mode": _text(each.arm.mode)},
            },
            "misc": {
                "verdict": cell.verdict or "none",
                "boots": cell.n,
                "effect_percent": cell.effect_percent,
                "interval_percent": [cell.ci_low_percent, cell.ci_high_percent],
                "bound": cell.bound.value,
            },
        }
        if cell.mean is not None:
            test["number"] = {"value": cell.mean, "unit": _text(row.unit)}
        if view.started_at is not None:
            test["start_time"] = view.started_at.astimezone(UTC).isoformat()
        if facts.page:
            test["log_url"] = facts.page
        yield test


def _unmeasured(view: ExperimentView) -> Iterator[LeadCell]:
    for comparison in view.comparisons:
        for row in comparison.rows:
            for arm, cell in zip(comparison.arms, row.cells, strict=True):
                has_none = cell.state in (CellState.NO_DATA, CellState.NOT_EFFECTIVE)
                if row.primary and has_none and not arm.is_baseline and not arm.is_aa:
                    yield LeadCell(comparison, row, arm, cell)


def _status(each: LeadCell) -> str:
    verdict = each.cell.verdict
    if each.cell.mean is None:
        return "MISS"
    return _STATUS.get(verdict, "DONE") if verdict and each.is_of_kernels else "DONE"


def _step(name: str) -> str:
    """A step of a path: letters, digits, ``_`` and ``-``."""
    return _NO_PATH.sub("_", name).strip("_")[:100] or "_"


def _text(words: str) -> str:
    """Without what the schema does not take."""
    return clean_text(words)[:LONGEST]


def _digest(*words: str) -> str:
    return hashlib.sha256("\0".join(words).encode()).hexdigest()[:32]
