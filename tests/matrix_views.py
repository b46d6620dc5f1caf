"""Made experiments as the reports get them: emulated, bare metal, half done, hostile."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from mitigauge.core.effect import Verdict
from mitigauge.measurement.experiments.states import ExperimentState
from mitigauge.measurement.runs.states import RunState
from mitigauge.reporting.pages.schemas import (
    ArmView,
    CellView,
    ComparisonView,
    ExperimentView,
    HostFacts,
    RowView,
    RunView,
)

STARTED = datetime(2026, 7, 1, 12, 0, tzinfo=UTC)
ENDED = datetime(2026, 7, 1, 12, 22, tzinfo=UTC)


def arm(arm_id: int, name: str, mode: str, **changes: Any) -> ArmView:
    fields: dict[str, Any] = {
        "title": name,
        "kernel": "",
        "is_baseline": False,
        "cmdline": "",
        "expected": [],
        "boots_effective": 4,
        "boots_not_effective": 0,
        "boots_failed": 0,
        "observed": [],
    }
    return ArmView(id=arm_id, name=name, mode=mode, **(fields | changes))


def baseline(mean: float | None, *, n: int = 4, arm_id: int = 1) -> CellView:
    return CellView(arm_id=arm_id, state="baseline", n=n, blocks=n, mean=mean)


def measured(
    arm_id: int,
    effect: float | None,
    low: float | None,
    high: float | None,
    verdict: Verdict,
    *,
    mde: float | None = 3.1,
    n: int = 4,
    note: str = "",
) -> CellView:
    return CellView(
        arm_id=arm_id,
        state="measured",
        n=n,
        blocks=n,
        mean=1.0,
        effect_percent=effect,
        ci_low_percent=low,
        ci_high_percent=high,
        p=0.004,
        mde_percent=mde,
        verdict=verdict,
        note=note,
    )


def row(case: str, cells: list[CellView], **changes: Any) -> RowView:
    fields: dict[str, Any] = {
        "case_id": 1,
        "workload": "iperf",
        "metric": "throughput",
        "metric_title": "Throughput",
        "unit": "bit/s",
        "direction": "higher",
        "primary": True,
        "delta_percent": 1.0,
        "host": "lab-amd",
        "profiled": False,
    }
    return RowView(case=case, cells=cells, **(fields | changes))


def run(comparison: str, host: str, **changes: Any) -> RunView:
    fields: dict[str, Any] = {
        "id": 1,
        "state": RunState.FINISHED,
        "step": "done",
        "blocks": 4,
        "boots_done": 12,
        "boots_effective": 12,
        "boots_total": 12,
        "lab_faults": 0,
        "started_at": STARTED,
        "finished_at": ENDED,
    }
    return RunView(comparison=comparison, host=host, **(fields | changes))


def view(comparisons: list[ComparisonView], runs: list[RunView], **changes: Any) -> ExperimentView:
    hosts = list(dict.fromkeys(host for c in comparisons for host in c.hosts))
    fields: dict[str, Any] = {
        "id": 7,
        "name": "lab-demo",
        "submitted_by": "operator",
        "question": "What does the mitigation cost?",
        "state": ExperimentState.FINISHED,
        "emulated": any(c.emulated for c in comparisons),
        "hosts": hosts,
        "created_at": STARTED,
        "started_at": STARTED,
        "finished_at": ENDED,
        "boots_done": 12,
        "boots_total": 12,
        "environment": "lab",
        "seed": 20260316,
        "spec_text": "",
    }
    return ExperimentView(comparisons=comparisons, runs=runs, **(fields | changes))


def vmscape(rows: list[RowView], arms: list[ArmView] | None = None) -> ComparisonView:
    return ComparisonView(
        id=1,
        name="vmscape-iperf",
        family_title="VMSCAPE",
        hosts=["lab-amd"],
        arms=arms
        or [
            arm(1, "off", "vmscape/off", is_baseline=True, cmdline="vmscape=off"),
            arm(2, "ibpb", "vmscape/ibpb", cmdline="vmscape=ibpb"),
            arm(
                3,
                "bhb-clear",
                "vmscape/bhb-clear",
                cmdline="setcpuid=ibpb vmscape=on",
                expected=["vmscape: Mitigation: Clear BHB before exit to userspace"],
                boots_effective=0,
                boots_not_effective=4,
                observed=["Mitigation: IBPB before exit to userspace"],
            ),
        ],
        rows=rows,
        emulated=True,
    )


SYSCALL_ROW = {
    "workload": "syscall",
    "metric": "time_per_call",
    "metric_title": "Time per call",
    "unit": "ns",
    "direction": "lower",
    "host": "icx-1",
}

NOT_EFFECTIVE = CellView(arm_id=3, state="not_effective", n=0, blocks=0, mean=None)

FACTS = {
    "lab-amd": HostFacts(
        name="lab-amd",
        host_class="QEMU TCG EPYC-Rome, 2 vCPUs",
        emulated=True,
        processor="AMD EPYC-Rome Processor",
        microcode="0x1000065",
        kernels=["7.2.4+deb13-cloud-amd64"],
    )
}

DEMO = view(
    [
        vmscape(
            [
                row(
                    "iperf user tcp 1-vCPU p1 guest-to-host",
                    [
                        baseline(108.2e6),
                        measured(2, -10.44, -12.06, -8.71, Verdict.WORSE),
                        NOT_EFFECTIVE,
                    ],
                ),
                row(
                    "iperf vhost udp 4-vCPU guest-to-host",
                    [
                        baseline(2.3184e9),
                        measured(2, 0.4, -2.6, 3.5, Verdict.UNDECIDED, mde=5.27),
                        NOT_EFFECTIVE,
                    ],
                ),
            ]
        )
    ],
    [run("vmscape-iperf", "lab-amd", lab_faults=1)],
    host_facts=FACTS,
)


SYSCALL = view(
    [
        ComparisonView(
            id=2,
            name="bhi-syscall",
            family_title="Branch history injection",
            hosts=["icx-1"],
            arms=[
                arm(1, "off", "spectre-bhi/off", is_baseline=True),
                arm(2, "loop", "spectre-bhi/loop"),
            ],
            rows=[
                row(
                    "syscall basic",
                    [baseline(369.7), measured(2, 18.27, 12.9, 23.9, Verdict.WORSE)],
                    **SYSCALL_ROW,
                ),
                row(
                    "syscall getpgid",
                    [baseline(371.2), measured(2, 0.123, -0.2, 0.41, Verdict.SAME)],
                    **SYSCALL_ROW,
                ),
                row(
                    "syscall execve",
                    [
                        baseline(1234567.0),
                        measured(
                            2,
                            -2.0,
                            None,
                            None,
                            Verdict.UNDECIDED,
                            n=1,
                            mde=None,
                            note="one block: no noise estimate, so no interval",
                        ),
                    ],
                    **SYSCALL_ROW,
                ),
            ],
            emulated=False,
        )
    ],
    [run("bhi-syscall", "icx-1", boots_done=8, boots_total=8, boots_effective=8)],
    host_facts={
        "icx-1": HostFacts(
            name="icx-1", processor="Xeon 6338", microcode="0xd000404", kernels=["7.2.4", "7.3.0"]
        )
    },
)

PARTIAL = view(
    [
        vmscape(
            [
                row(
                    "iperf bridge tcp 1-vCPU p1 guest-to-host",
                    [
                        baseline(None, n=0),
                        CellView(
                            arm_id=2,
                            state="no_data",
                            n=0,
                            blocks=0,
                            mean=None,
                            note="did not boot: fallback came up",
                        ),
                    ],
                )
            ],
            [
                arm(1, "off", "vmscape/off", is_baseline=True, boots_effective=0),
                arm(2, "ibpb", "vmscape/ibpb", boots_effective=0, boots_failed=1),
            ],
        )
    ],
    [
        run(
            "vmscape-iperf",
            "lab-amd",
            state=RunState.FAILED,
            boots_done=1,
            boots_effective=0,
            boots_total=8,
            error="host did not come back within 300 s",
        )
    ],
    state=ExperimentState.FAILED,
    boots_done=1,
    boots_total=8,
)


def many_arms() -> ExperimentView:
    arms = [arm(1, "off", "vmscape/off", is_baseline=True)]
    arms += [arm(i, f"variant-{i}", "vmscape/ibpb") for i in range(2, 7)]
    cells = [measured(i, -1.0 * i, -i - 1.5, -i + 1.5, Verdict.UNDECIDED) for i in range(2, 7)]
    case = "iperf user tcp 1-vCPU p1 guest-to-host"
    return view(
        [vmscape([row(case, [baseline(1e9), *cells])], arms)],
        [run("vmscape-iperf", "lab-amd")],
        host_facts=FACTS,
    )


HOSTILE = "evil\n| row | `x` | \x1b[31mred\x1b[0m <script>\u202e*b*"


def hostile() -> ExperimentView:
    arms = [
        arm(1, "off", "vmscape/off", is_baseline=True),
        arm(
            2,
            HOSTILE,
            HOSTILE,
            cmdline=HOSTILE,
            expected=[HOSTILE],
            observed=[HOSTILE],
            boots_effective=3,
            boots_not_effective=1,
        ),
    ]
    cells = [baseline(1e9), measured(2, 1.0, 0.0, 2.0, Verdict.UNDECIDED, note=HOSTILE)]
    rows = [row(HOSTILE, cells, metric_title=HOSTILE, unit=HOSTILE)]
    comparison = vmscape(rows, arms).model_copy(update={"family_title": HOSTILE})
    facts = {"lab-amd": HostFacts(name=HOSTILE, processor=HOSTILE, kernels=[HOSTILE])}
    return view(
        [comparison],
        [run("vmscape-iperf", "lab-amd", error=HOSTILE)],
        name=HOSTILE,
        question=HOSTILE,
        host_facts=facts,
    )
