"""A crossed experiment as the loss matrix gets it: IBRS by IBPB on two hosts."""

from __future__ import annotations

from typing import Any

from mitigauge.analysis.claims.outcome import ClaimOutcome
from mitigauge.core.effect import Verdict
from mitigauge.reporting.pages.claim_schemas import ClaimSourceView, ClaimView
from mitigauge.reporting.pages.schemas import CellView, ComparisonView, ExperimentView, HostFacts
from tests.matrix_views import arm, baseline, measured, row, run, view

COMPILE = {
    "workload": "compile",
    "metric": "throughput",
    "metric_title": "Translation units per second",
    "unit": "units/s",
    "direction": "higher",
}
WALL = {**COMPILE, "metric": "wall", "metric_title": "Wall-clock time", "unit": "s"}
ARMS = [
    arm(1, "unpatched", "ibrs/off+ibpb/off", is_baseline=True),
    arm(2, "retpoline", "ibrs/retpoline+ibpb/off"),
    arm(3, "retpoline-ibpb", "ibrs/retpoline+ibpb/on"),
    arm(4, "entry", "ibrs/entry+ibpb/off"),
    arm(5, "entry-ibpb", "ibrs/entry+ibpb/on", observed=["Mitigation: Retpolines; IBPB: off"]),
]
MISSING = CellView(
    arm_id=5, state="not_effective", n=0, blocks=0, mean=None, note="Retpolines instead"
)
FACTS = {
    "hsw-01": HostFacts(name="hsw-01", host_class="haswell", processor="Xeon E5-2690 v3"),
    "lab-intel": HostFacts(
        name="lab-intel", host_class="emulated", processor="Icelake", emulated=True
    ),
}


def cells(sign: float) -> list[CellView]:
    def between(arm_id: int, effect: float, one: float, other: float, is_: Verdict) -> CellView:
        low, high = sorted((sign * one, sign * other))
        return measured(arm_id, sign * effect, low, high, is_)

    return [
        baseline(12.0),
        between(2, 4.0, 3.1, 4.9, Verdict.WORSE),
        between(3, 16.2, 15.0, 17.4, Verdict.WORSE),
        between(4, -0.2, -0.6, 0.2, Verdict.SAME),
        MISSING,
    ]


def crossed(**changes: Any) -> ComparisonView:
    rows = [
        row("compile of 128 units", cells(sign), **{**of, "host": host, "primary": primary})
        for of, sign, primary in (
            (COMPILE, -1.0, False),
            ({**WALL, "direction": "lower"}, 1.0, True),
        )
        for host in ("hsw-01", "lab-intel")
    ]
    fields: dict[str, Any] = {
        "id": 1, "name": "loss", "family_title": "IBRS × IBPB", "hosts": ["hsw-01", "lab-intel"],
        "arms": ARMS, "rows": rows, "emulated": True,
    }  # fmt: skip
    return ComparisonView(**(fields | changes))


def experiment(*comparisons: ComparisonView, **changes: Any) -> ExperimentView:
    found = list(comparisons) or [crossed()]
    runs = [run("loss", host) for host in ("hsw-01", "lab-intel")]
    fields = {"name": "ibrs-ibpb-loss", "host_facts": FACTS}
    return view(found, runs, **(fields | changes))


def claim(note: str, arm_id: int, change: float, host: str, outcome: ClaimOutcome) -> ClaimView:
    return ClaimView(
        title=f"compile ({note})", metric="throughput", baseline="ibrs/off+ibpb/off",
        mode=next(arm.mode for arm in ARMS if arm.id == arm_id), low_percent=change,
        high_percent=change, outcome=outcome, reason="said so", note=note, host=host, case_id=1,
        arm_id=arm_id,
    )  # fmt: skip


CLAIMS = [
    ClaimSourceView(
        name="notes", title="Notes", citation="A mail", published=None,
        claims=[
            claim("haswell", 2, -4.0, "hsw-01", ClaimOutcome.REPRODUCED),
            claim("skylake", 2, -2.0, "hsw-01", ClaimOutcome.OTHER_PROCESSOR),
            claim("haswell", 3, -16.0, "hsw-01", ClaimOutcome.REPRODUCED),
            *(
                claim(note, arm_id, change, "lab-intel", ClaimOutcome.EMULATED)
                for note, arm_id, change in (
                    ("haswell", 2, -4.0), ("skylake", 2, -2.0), ("kabylake-u", 2, -2.0),
                    ("haswell", 3, -16.0), ("skylake", 3, -19.0), ("kabylake-u", 3, -19.0),
                )
            ),
        ],
    )
]  # fmt: skip
