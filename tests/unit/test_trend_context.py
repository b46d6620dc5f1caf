"""What values over time are compared by: facts of the host, and of their own boot."""

from __future__ import annotations

from mitigauge.measurement.runs.boot_evidence import BootProof
from mitigauge.tracking.trends.context import context_of


def test_what_an_arm_sets_is_no_fact_of_the_host() -> None:
    """A fingerprint keeps these of the first boot that had it: an arm without SMT, say."""
    facts = {"smt": "forceoff", "cores": 4, "threads": 4, "cpu_flags_sha256": "ab",
             "governor": "performance", "cpu_model": "X"}  # fmt: skip
    context = context_of(
        BootProof(kernel_release="7.2"), facts, settings={}, lab_cmdline="", staged={}, tools={}
    )
    assert {"governor", "cpu_model", "kernel.kernel_release"} <= context.keys()
    assert not {"smt", "cores", "threads", "cpu_flags_sha256"} & context.keys()
