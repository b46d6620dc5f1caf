"""What no measurement can give is no measurement: every metric has a domain."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from pydantic import ValidationError

from mitigauge.analysis.verdicts.boots_csv import BootsFile
from mitigauge.core.errors import InvalidInput
from mitigauge.core.settings import REPOSITORY
from mitigauge.core.stats.domain import Domain, domain_of
from mitigauge.measurement.catalog import Catalog
from mitigauge.measurement.experiments.metric import CaseMetric
from mitigauge.measurement.results.schema import ResultBody, check_against_case
from mitigauge.measurement.workloads.definitions import Metric

BODY = {
    "schema": "mitigauge.result/1", "workload": "spin", "case_id": "1", "parameters": {},
    "started_at": "2026-01-01T00:00:00Z", "finished_at": "2026-01-01T00:00:01Z",
}  # fmt: skip


@pytest.mark.parametrize(
    ("domain", "value", "possible"),
    [
        (Domain.TIME, -100.0, False), (Domain.TIME, 0.0, False), (Domain.TIME, 1e-9, True),
        (Domain.WAIT, 0.0, True), (Domain.WAIT, -1e-9, False),
        (Domain.RATE, 0.0, True), (Domain.RATE, -1.0, False),
        (Domain.COUNT, 0.5, True), (Domain.COUNT, -1.0, False), (Domain.SIZE, -1.0, False),
        (Domain.SHARE, 100.0, True), (Domain.SHARE, 101.5, False), (Domain.SHARE, -0.1, False),
        (Domain.CHANGE, -30.0, True),
    ],
)  # fmt: skip
def test_a_domain_says_which_values_can_be(domain: Domain, value: float, possible: bool) -> None:
    assert (domain.refuses(value) == "") is possible


def test_a_unit_tells_its_domain_but_for_percent() -> None:
    units = ("ns", "us", "s", "bit/s", "1/s", "B", "count", "cycles/op", "s/Gbit", "percent", "%")
    assert [domain_of(unit) for unit in units] == [
        Domain.TIME, Domain.TIME, Domain.TIME, Domain.RATE, Domain.RATE, Domain.SIZE, Domain.COUNT,
        Domain.COUNT, Domain.TIME, None, None,
    ]  # fmt: skip


def test_percent_of_a_workload_says_of_what() -> None:
    with pytest.raises(ValidationError, match="percent of what\\? give `domain: share`"):
        Metric.model_validate({"unit": "percent", "direction": "lower"})
    declared = {n: m for w in Catalog().workloads.values() for n, m in w.metrics.items()}
    assert declared["slowdown"].domain is Domain.CHANGE
    assert declared["loss"].domain is Domain.SHARE
    assert declared["jitter"].domain is Domain.WAIT


@pytest.mark.parametrize(
    ("field", "values", "said"),
    [
        ("values", [100.0, -100.0], "metrics.time.values: number 2 of 2: -100: a time is above 0"),
        ("values", [0.0, 100.0], "metrics.time.values: number 1 of 2: 0: a time is above 0"),
        ("warmup", [-1.0], "metrics.time.warmup: number 1 of 1: -1: a time is above 0"),
    ],
)
def test_a_result_outside_the_domain_is_refused_by_name(
    field: str, values: list[float], said: str
) -> None:
    """−100 ns was judged *better −200 %*, and 0 ns *better −100 %*."""
    metric = {"unit": "ns", "direction": "lower", "values": [100.0, 101.0], "warmup": [99.0]}
    body = ResultBody.model_validate({**BODY, "metrics": {"time": {**metric, field: values}}})
    with pytest.raises(InvalidInput) as refused:
        check_against_case(
            body, workload="spin", case_id=1, parameters={}, iterations=2, warmup=1, guest={},
            metrics={"time": CaseMetric("ns", "lower", "Time", primary=True)},
        )  # fmt: skip
    assert refused.value.message == said


@pytest.mark.parametrize(
    ("unit", "value", "said"),
    [
        ("ns", "-100", "value: -100 ns: a time is above 0"),
        ("ns", "0", "value: 0 ns: a time is above 0"),
        ("percent", "-3", "value: -3 percent: a count is not below 0"),
        ("", "-3", "value: -3: a count is not below 0"),
    ],
)
def test_compare_refuses_it_by_line(unit: str, value: str, said: str) -> None:
    lines = ["arm,block,unit,value", f"a,1,{unit},5", f"b,1,{unit},{value}"]
    with pytest.raises(InvalidInput, match=f"^f.csv:3: {said}"):
        BootsFile(lines, name="f.csv")


@pytest.mark.parametrize("column", ["block", "boot"])
def test_compare_takes_a_number_of_5000_digits_for_a_word(column: str, tmp_path: Path) -> None:
    number = "9" * 5000
    (tmp_path / "f.csv").write_text(
        f"arm,{column},value\na,1,5\nb,1,6\na,{number},5\nb,{number},6\n"
    )
    done = subprocess.run(
        [Path(sys.executable).parent / "mitigauge", "compare", tmp_path / "f.csv",
         "--baseline", "a"],
        capture_output=True, text=True, check=False, cwd=REPOSITORY,
    )  # fmt: skip
    assert (done.returncode, "Traceback" in done.stderr) == (0, False), done.stderr
