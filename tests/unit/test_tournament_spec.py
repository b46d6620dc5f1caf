"""Tournaments in specs: how many arms, by what they are ranked, and what is refused."""

from __future__ import annotations

import pytest

from mitigauge.core.errors import InvalidInput
from mitigauge.core.settings import REPOSITORY
from mitigauge.measurement.catalog import Catalog
from mitigauge.measurement.experiments.checks import check_text
from mitigauge.measurement.experiments.spec_model import MOST_OF_A_TOURNAMENT, ExperimentSpec

TEXT = (REPOSITORY / "experiments" / "lab-bhb-variants.yml").read_text()
ARM = '      - {name: "off", mode: spectre-bhi/off+schedstats/off}\n'


def read(text: str) -> ExperimentSpec:
    return check_text(text, name="variants.yml", catalog=Catalog())[0]


def refusal(text: str) -> str:
    with pytest.raises(InvalidInput) as refused:
        read(text)
    return refused.value.message


def with_arms(count: int) -> str:
    """Arms that differ by their kernels."""
    kernel = "mode: spectre-bhi/off, kernel: 6.12.{}-amd64"
    more = "".join(f"      - {{name: a{n}, {kernel.format(n)}}}\n" for n in range(count - 4))
    return TEXT.replace(ARM, ARM + more)


def test_the_ready_made_ones_are_tournaments() -> None:
    assert [comparison.tournament for comparison in read(TEXT).comparisons] == [True]
    assert (REPOSITORY / "experiments" / "bhb-variants.yml").read_text().count("tournament: true")


def test_a_tournament_may_have_more_arms_than_a_comparison() -> None:
    assert len(read(with_arms(MOST_OF_A_TOURNAMENT)).comparisons[0].arms) == MOST_OF_A_TOURNAMENT
    assert f"at most {MOST_OF_A_TOURNAMENT} items" in refusal(with_arms(MOST_OF_A_TOURNAMENT + 1))
    plain = with_arms(10).replace("    tournament: true\n", "")
    assert f"at most 9 arms, {MOST_OF_A_TOURNAMENT} of a `tournament`" in refusal(plain)


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("blocks: 8", "blocks: 3", "3 blocks: no arm can drop out before 4"),
        ("test: basic", "test: [basic, fork]", "here are 2: time_per_call of "),
        ("        iterations: 2\n", "        primary: []\n", "here are 0. Name one case"),
        ("tournament: true", "tournament: true\n    aa: true", "neither `factorial` nor `aa`"),
        ("tournament: true", "tournament: 1", "tournament"),
    ],
)
def test_what_cannot_be_ranked_is_refused(old: str, new: str, expected: str) -> None:
    assert old in TEXT
    assert expected in refusal(TEXT.replace(old, new, 1))


def test_another_workload_may_stand_beside_it_where_it_does_not_decide() -> None:
    beside = "      - workload: syscall\n        cases: {test: fork, loops: 100}\n"
    assert "here are 2" in refusal(TEXT + beside)
    assert len(read(f"{TEXT}{beside}        primary: []\n").comparisons[0].workloads) == 2
