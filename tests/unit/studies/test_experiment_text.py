"""The experiment that counts kernels of a series."""

from __future__ import annotations

import pytest

from mitigauge.core.errors import InvalidInput
from mitigauge.core.yaml_file import parse_yaml
from mitigauge.measurement.catalog import Catalog
from mitigauge.measurement.experiments.spec_model import MAX_ARMS
from mitigauge.tracking.series.spec_files import spec_text
from mitigauge.tracking.studies.experiment_text import Counting, counting_of, counting_text
from mitigauge.tracking.studies.schemas import KernelSet

WORKLOADS = Catalog().workloads
COUNTED = {"lab-amd", "lab-intel"}
COUNTING = Counting(
    "lab", ("lab-intel",), "spectre-bhi/off",
    ({"workload": "syscall", "cases": {"test": ["basic"]}},),
)  # fmt: skip


def sets(count: int) -> list[KernelSet]:
    return [KernelSet(name=f"k{n}", patches=[], release=f"7.2.0-mg{n}") for n in range(count)]


@pytest.mark.parametrize(
    ("spec", "host", "mode", "workloads"),
    [
        ("syscall", "lab-intel", "spectre-bhi/off", ["syscall"]),
        ("vmscape", "lab-amd", "vmscape/off", ["exits", "syscall"]),
    ],
)
def test_our_specs_say_where_and_what_is_counted(
    spec: str, host: str, mode: str, workloads: list[str]
) -> None:
    found = counting_of(spec_text(spec), spec, COUNTED, WORKLOADS)
    assert (found.environment, found.hosts, found.mode) == ("lab", (host,), mode)
    assert [entry["workload"] for entry in found.workloads] == workloads
    # Only the counted pass is read.
    assert {(entry["iterations"], entry["warmup"]) for entry in found.workloads} == {(1, 0)}


def test_what_takes_a_duration_is_counted_for_a_short_one() -> None:
    def cases_of(text: str) -> list[object]:
        found = counting_of(text, "x.yml", COUNTED, WORKLOADS)
        return [entry["cases"] for entry in found.workloads]

    text = spec_text("syscall")
    assert cases_of(text) == [[{"seconds": 0.05, "test": ["basic"]}]]
    own = text.replace("{test: [basic]}", "[{test: basic, seconds: 0.2}, {test: fork}]")
    assert cases_of(own) == [[{"seconds": 0.2, "test": "basic"}, {"seconds": 0.05, "test": "fork"}]]
    # A second is the least that `paths` takes, and `exits` takes no duration.
    least = text.replace("workload: syscall", "workload: paths")
    assert cases_of(least) == [[{"seconds": 1.0, "test": ["basic"]}]]
    without = text.replace("workload: syscall", "workload: exits").replace("test", "to")
    assert cases_of(without) == [{"to": ["basic"]}]


def test_a_spec_of_hosts_in_real_time_alone_counts_nothing() -> None:
    with pytest.raises(InvalidInput, match="nothing that counts exactly"):
        counting_of(spec_text("syscall"), "syscall.yml", set(), WORKLOADS)


@pytest.mark.parametrize("count", [2, MAX_ARMS, MAX_ARMS + 1, 2 * MAX_ARMS + 1, 28])
def test_each_kernel_is_an_arm_of_one_comparison(count: int) -> None:
    text = counting_text(COUNTING, sets(count), name="study-1")
    # A spec with anchors is refused.
    comparisons = parse_yaml(text, "study-1").data["comparisons"]
    arms = [arm["kernel"] for each in comparisons for arm in each["arms"]]
    assert arms == [each.release for each in sets(count)]
    assert all(2 <= len(each["arms"]) <= MAX_ARMS for each in comparisons)
    assert all(each["baseline"] == each["arms"][0]["name"] for each in comparisons)


@pytest.mark.parametrize("count", [0, 1])
def test_one_kernel_alone_is_no_comparison(count: int) -> None:
    with pytest.raises(InvalidInput, match="cannot be compared"):
        counting_text(COUNTING, sets(count), name="study-1")
