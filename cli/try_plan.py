"""What `mitigauge try` measures: cases that run what the patches change, and their spec."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

# What takes long to load is imported by what needs it.
if TYPE_CHECKING:
    from sqlalchemy.orm import Session

    from mitigauge.kernels.schemas import KernelView
    from mitigauge.profiles.exact.coverage import Reach

HOST, GUESTS_HOST = "lab-intel", "lab-amd"
BASE_ARM, ARM = "base", "patched"
MODES = {HOST: "spectre-bhi/off", GUESTS_HOST: "vmscape/off"}
NAMES_SHOWN = 8


@dataclass(frozen=True, slots=True)
class TriedCase:
    """A case, by the parameter that sets it apart.

    *judged*: whether it is to have a verdict; *profiled*: whether it is sampled too.
    """

    workload: str
    parameter: str
    value: str
    host: str = HOST
    judged: bool = True
    profiled: bool = False

    @property
    def wanted(self) -> dict[str, str]:
        """What a spec says of it."""
        return {self.parameter: self.value}


CASES = (
    TriedCase("syscall", "test", "basic", profiled=True),
    TriedCase("syscall", "test", "getpgid"),
    # Pages and processes scatter it too much for a verdict from a few boots.
    TriedCase("syscall", "test", "fork", judged=False),
    *(TriedCase("paths", "test", value) for value in ("pipe", "futex", "page-fault")),
    *(TriedCase("exits", "to", value, GUESTS_HOST) for value in ("userspace", "kernel")),
)


@dataclass(frozen=True, slots=True)
class TryPlan:
    """The cases that are measured, and what is known of each."""

    changed: Sequence[str]
    """Functions of the kernel whose code differs."""
    reach: Mapping[TriedCase, Reach]

    @property
    def measured(self) -> list[TriedCase]:
        """Those that run what was changed, or of which nobody knows."""
        return [case for case, reach in self.reach.items() if reach.is_worth_measuring]

    def told(self) -> Iterator[str]:
        """What was changed, which cases run it, and which do not."""
        if self.changed:
            more = len(self.changed) - NAMES_SHOWN
            and_more = f" and {more} more" if more > 0 else ""
            yield f"functions changed: {', '.join(self.changed[:NAMES_SHOWN])}{and_more}"
        for case, reach in self.reach.items():
            if reach.functions:
                yield f"{_name(case)} runs {', '.join(reach.functions[:NAMES_SHOWN])}"
        yield from self._left_out()

    def _left_out(self) -> Iterator[str]:
        for case, reach in self.reach.items():
            if reach.is_worth_measuring or reach.coverage is None:
                continue
            known = f"counted on {reach.coverage.kernel} on {reach.coverage.at:%Y-%m-%d}"
            yield f"{_name(case)} runs none of it ({known}), and is left out"


def planned(
    session: Session, plain: KernelView, patched: KernelView, cases: Sequence[TriedCase]
) -> TryPlan:
    """The plan for two kernels, by the code that differs and what each case was counted to run."""
    from mitigauge.catalog import Catalog
    from mitigauge.pages.exact import case_key, coverage
    from mitigauge.profiles.exact.coverage import Reach, reach_of

    names = _changed(session, plain, patched)
    if names is None:
        return TryPlan([], dict.fromkeys(cases, Reach(None)))
    known = coverage(session)
    workloads = Catalog().workloads
    reach = {}
    for case in cases:
        [parameters] = workloads[case.workload].expand(case.wanted)
        reach[case] = reach_of(names, known.get((case.workload, case_key(parameters))))
    return TryPlan(sorted(names), reach)


def _changed(session: Session, plain: KernelView, patched: KernelView) -> set[str] | None:
    """Functions whose code differs; None where a kernel's were not noted."""
    from mitigauge.files.blobs import blob_store
    from mitigauge.kernels.functions import changed, every_function
    from mitigauge.kernels.service import noted_functions
    from mitigauge.kernels.tables import Kernel
    from mitigauge.settings import get_settings

    blobs = blob_store(get_settings())
    kernels = (session.get_one(Kernel, view.id) for view in (plain, patched))
    before, after = (every_function(noted_functions(kernel, blobs)) for kernel in kernels)
    return changed(before, after) if before and after else None


def _name(case: TriedCase) -> str:
    return f"{case.workload} {case.value}"


def spec_of(
    cases: Sequence[TriedCase],
    plain: KernelView,
    patched: KernelView,
    blocks: int,
    *,
    profiled: bool,
) -> str:
    """The experiment: short paths through both kernels, in one mode on each host."""
    head = f"""\
name: try-{(patched.release or "")[-10:]}
question: What do these patches cost?
environment: lab
blocks: {blocks}
comparisons:
"""
    hosts = list(dict.fromkeys(case.host for case in cases))
    return head + "".join(
        _comparison(host, [case for case in cases if case.host == host], plain, patched, profiled)
        for host in hosts
    )


def _comparison(
    host: str, cases: Sequence[TriedCase], plain: KernelView, patched: KernelView, profiled: bool
) -> str:
    arms = "".join(
        f'      - {{name: {name}, mode: {MODES[host]}, kernel: "{kernel.release}"}}\n'
        for name, kernel in ((BASE_ARM, plain), (ARM, patched))
    )
    workloads = "".join(
        f"      - workload: {case.workload}\n"
        f"        cases: {{{case.parameter}: {case.value}}}\n"
        + "        profile: true\n" * (profiled and case.profiled)
        + "        primary: []\n" * (not case.judged)
        for case in cases
    )
    return f"""\
  - name: {"exits" if host == GUESTS_HOST else "patches"}
    hosts: [{host}]
    baseline: {BASE_ARM}
    arms:
{arms}    workloads:
{workloads}"""
