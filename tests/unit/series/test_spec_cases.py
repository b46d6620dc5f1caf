"""Which comparisons of a spec are about kernels, and a spec without some of its cases."""

from __future__ import annotations

import pytest
import yaml

from mitigauge.measurement.catalog import Catalog
from mitigauge.measurement.experiments.spec_model import WorkloadSpec, cases_of
from mitigauge.tracking.series.spec_cases import kernel_comparisons, without_cases

WORKLOADS = Catalog().workloads


def spec(*arms: str, cases: str = "{test: [basic, getpgid]}", more: str = "") -> str:
    listed = "".join(f"      - {{{arm}}}\n" for arm in arms)
    return f"""\
name: made
environment: lab
comparisons:
  - name: one
    hosts: [lab-intel, lab-amd]
    baseline: b
{more}    arms:
{listed}    workloads:
      - {{workload: syscall, cases: {cases}, primary: [latency]}}
      - {{workload: exits, cases: {{to: userspace}}}}
"""


A, B = "name: a, mode: x/off, kernel: k1", "name: b, mode: x/off, kernel: k2"


def test_a_comparison_of_kernels_in_one_mode_has_its_cases_on_each_host() -> None:
    [found] = kernel_comparisons(spec(A, B), WORKLOADS)
    # The baseline's kernel comes first.
    assert (found.name, found.kernels) == ("one", ("k2", "k1"))
    titles = [case.title for case in found.cases]
    assert titles == ["syscall basic", "syscall getpgid", "exits to userspace"]
    [first, *_] = found.cases.values()
    assert [(each.mode, each.environment, each.host) for each in first] == [
        ("x/off", "lab", "lab-intel"),
        ("x/off", "lab", "lab-amd"),
    ]


@pytest.mark.parametrize(
    "text",
    [
        spec(A, "name: b, mode: x/on, kernel: k2"),
        spec(A, "name: b, mode: x/off, kernel: k1"),
        spec(A, "name: b, mode: x/off, kernel: k2, boot: kexec"),
        spec(A, B, more="    cross: [x]\n"),
        "name: made\ncomparisons: []\n",
    ],
)
def test_where_more_than_the_kernel_differs_nothing_is_asked(text: str) -> None:
    assert kernel_comparisons(text, WORKLOADS) == []


@pytest.mark.parametrize("cases", ["{test: [basic, getpgid]}", "[{test: basic}, {test: getpgid}]"])
def test_what_is_left_of_a_workload_keeps_all_else(cases: str) -> None:
    text = spec(A, B, cases=cases)
    [found] = kernel_comparisons(text, WORKLOADS)
    gone = [case for case in found.cases if case.title == "syscall basic"]
    data = yaml.safe_load(without_cases(text, {"one": gone}, WORKLOADS))
    [comparison] = data["comparisons"]
    syscall, exits = comparison["workloads"]
    assert syscall == {
        "workload": "syscall",
        "cases": [{"test": "getpgid"}],
        "primary": ["latency"],
    }
    assert exits == {"workload": "exits", "cases": {"to": "userspace"}}
    [kept] = cases_of(WORKLOADS["syscall"], WorkloadSpec.model_validate(syscall))
    assert WORKLOADS["syscall"].title_of(kept) == "syscall getpgid"


def test_a_workload_and_a_comparison_without_cases_are_left_out() -> None:
    text = spec(A, B)
    [found] = kernel_comparisons(text, WORKLOADS)
    gone = [case for case in found.cases if case.title.startswith("syscall")]
    data = yaml.safe_load(without_cases(text, {"one": gone}, WORKLOADS))
    assert [each["workload"] for each in data["comparisons"][0]["workloads"]] == ["exits"]
    assert without_cases(text, {"one": list(found.cases)}, WORKLOADS) == ""
