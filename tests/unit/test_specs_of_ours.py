"""The specs that come with us are accepted as they stand."""

from __future__ import annotations

from pathlib import Path

import pytest

from mitigauge.core.settings import REPOSITORY
from mitigauge.measurement.catalog import Catalog
from mitigauge.measurement.experiments.checks import check_text
from mitigauge.measurement.experiments.spec_model import cases_of

SPECS = sorted((REPOSITORY / "experiments").glob("*.yml"))
LETTER = REPOSITORY / "experiments" / "vmscape-cover-letter.yml"


@pytest.mark.parametrize("file", SPECS, ids=lambda file: str(file.stem))
def test_a_spec_of_ours_is_accepted(file: Path) -> None:
    spec, _ = check_text(file.read_text(), name=file.name, catalog=Catalog())
    assert spec.name == file.stem


def test_the_letter_s_table_has_every_case_of_the_published_one_in_both_directions() -> None:
    spec, _ = check_text(LETTER.read_text(), name=LETTER.name, catalog=Catalog())
    [comparison] = spec.comparisons
    workload = Catalog().workloads["iperf"]
    keys = ("network", "protocol", "vcpus", "parallel")
    measured: dict[tuple[object, ...], set[object]] = {}
    for wanted in comparison.workloads:
        if wanted.workload == "iperf":
            for case in cases_of(workload, wanted):
                place = tuple(case[key] for key in keys)
                measured.setdefault(place, set()).add(case["direction"])
    published = {
        (network, protocol, vcpus, parallel)
        for network in ("user", "bridge", "vhost")
        for protocol, vcpus, parallel in (
            ("udp", 1, 1), ("tcp", 1, 1), ("udp", 4, 16), ("tcp", 4, 4), ("udp", 4, 4),
        )
    }  # fmt: skip
    assert set(measured) == published
    assert set(map(len, measured.values())) == {2}
