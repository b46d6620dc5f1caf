"""What `mitigauge try` says: counted time as instructions, and a spec that is one."""

from __future__ import annotations

import re

import pytest
from sqlalchemy import Engine
from sqlalchemy.orm import Session

from cli import try_patches as trying
from cli.try_outcome import instructions
from mitigauge.catalog import Catalog
from mitigauge.experiments.spec import KnownHost, read_spec
from mitigauge.kernels.schemas import KernelView
from mitigauge.views import experiments as views
from tests.recording import load


def kernel(release: str) -> KernelView:
    return KernelView.model_construct(release=release)


def test_a_difference_is_said_in_instructions(engine: Engine) -> None:
    load(engine)
    with Session(engine) as session:
        view = views.show_experiment(session, 1)
    lines = list(instructions(view))
    basic = next(line for line in lines if line.startswith("syscall basic"))
    said = re.search(r"([+-][\d.]+) instructions a call \[([+-][\d.]+), ([+-][\d.]+)\]", basic)
    assert said, basic
    row = next(r for c in view.comparisons for r in c.rows if r.case == "syscall basic")
    off, loop = (cell.mean for cell in row.cells[:2])
    assert off
    assert loop
    # Two nanoseconds an instruction.
    assert float(said[1]) == pytest.approx((loop - off) / 2, abs=0.1)
    assert float(said[2]) < float(said[1]) < float(said[3])
    assert basic.endswith(f": {row.cells[1].verdict}")


@pytest.mark.parametrize("profiled", [True, False])
@pytest.mark.parametrize("exits", [True, False])
def test_the_spec_it_makes_is_one(*, profiled: bool, exits: bool) -> None:
    releases = ["7.2.12-mg0123456789", "7.2.12-mgabcdef0123"]
    text = trying._spec(*map(kernel, releases), 4, profiled=profiled, exits=exits)
    hosts = {
        "lab": {
            trying.HOST: KnownHost(trying.HOST, frozenset()),
            trying.GUESTS_HOST: KnownHost(trying.GUESTS_HOST, frozenset({"kvm"})),
        }
    }
    spec = read_spec(text, name="try", catalog=Catalog(), hosts=hosts)
    assert len(spec.comparisons) == 1 + exits
    for comparison in spec.comparisons:
        assert [arm.kernel for arm in comparison.arms] == releases
        assert comparison.baseline == trying.BASE_ARM
    measured = [w for c in spec.comparisons for w in c.workloads]
    assert [w.workload for w in measured if w.profile] == ["syscall"] * profiled
    assert {w.workload for w in measured} >= {"syscall", "paths"}
