"""Claims: the files that come along, what is refused, and what a measurement says of one."""

from __future__ import annotations

from pathlib import Path

import pytest

from mitigauge.analysis.claims.comparison import Finding, weigh
from mitigauge.analysis.claims.files import ClaimFile, claim_files, read_claims
from mitigauge.analysis.claims.outcome import ClaimOutcome
from mitigauge.core.errors import InvalidInput
from tests.measuring import within_processor_s

EMERALD = "Intel(R) Xeon(R) Platinum 8592+"

GOOD = """\
name: told
title: Told somewhere
citation: A mail
published: 2026-03-24
workload: iperf
baseline: vmscape/off
claims:
  - {case: {network: user}, metric: throughput, mode: vmscape/ibpb, change: -12.5}
  - {metric: throughput, mode: vmscape/ibpb, change: [-3, 2.5]}
"""


def finding(low: float | None, high: float | None, **changes: object) -> Finding:
    fields: dict[str, object] = {
        "emulated": False, "processor": EMERALD, "state": "measured",
        "effect": None if low is None or high is None else (low + high) / 2,
        "low": low, "high": high, "note": "",
    }  # fmt: skip
    return Finding(**(fields | changes))  # type: ignore[arg-type]


def outcome(claimed: float, low: float | None, high: float | None, **changes: object) -> str:
    return weigh(claimed, claimed, "Xeon", finding(low, high, **changes))[0]


@pytest.mark.parametrize(
    ("claimed", "low", "high", "expected"),
    [
        (-12.5, -14.0, -11.0, ClaimOutcome.REPRODUCED),
        (-12.5, -11.8, -9.0, ClaimOutcome.REPRODUCED),  # rounding reaches into the interval
        (-12.5, -3.0, -1.0, ClaimOutcome.CONTRADICTED),
        (-12.5, 8.0, 12.0, ClaimOutcome.CONTRADICTED),
        (-12.5, -20.0, 5.0, ClaimOutcome.UNDECIDED),
        (0.5, -0.6, 0.9, ClaimOutcome.REPRODUCED),
        (0.5, -9.0, 9.0, ClaimOutcome.UNDECIDED),
        (0.5, 4.0, 6.0, ClaimOutcome.CONTRADICTED),
        (-12.5, None, None, ClaimOutcome.UNDECIDED),
    ],
)
def test_an_interval_reproduces_contradicts_or_cannot_tell(
    claimed: float, low: float | None, high: float | None, expected: ClaimOutcome
) -> None:
    assert outcome(claimed, low, high) == expected


def test_a_claimed_range_is_met_anywhere_within() -> None:
    assert weigh(18, 37, "", finding(30, 45))[0] is ClaimOutcome.REPRODUCED
    assert weigh(18, 37, "", finding(40, 45))[0] is ClaimOutcome.CONTRADICTED


@pytest.mark.parametrize(("low", "high"), [(-14.0, -11.0), (5.0, 9.0)])
def test_an_emulated_run_never_reproduces_nor_contradicts(low: float, high: float) -> None:
    got, reason = weigh(-12.5, -12.5, "", finding(low, high, emulated=True))
    assert got is ClaimOutcome.EMULATED
    assert "hardware" in reason


@pytest.mark.parametrize(
    ("claimed", "low", "high", "words"),
    [
        (-12.5, -6.0, -4.0, "the same sign, 0.4 times the size"),
        (-12.5, 1.0, 2.0, "the opposite sign"),
        (-12.5, -1.0, 2.0, "ours tells no change from none"),
        (0.5, 2.0, 4.0, "no change was claimed, ours is +3.0 %"),
        (-12.5, None, None, "too few boots for an interval"),
        (-12.5, -13.0, -11.0, "ours agrees with it"),
        (-0.4, -0.5, -0.3, "ours agrees with it"),
        ((-1.0, 6.0), -0.6, -0.4, "ours agrees with it"),
        ((-10.0, 10.0), 14.0, 16.0, "either sign was claimed, ours is +15.0 %"),
        ((0.0, 2.0), 4.0, 6.0, "the same sign, 5 times the size"),
    ],
)
def test_on_another_processor_sign_and_size_are_set_beside_the_claim(
    claimed: float | tuple[float, float], low: float | None, high: float | None, words: str
) -> None:
    ours = finding(low, high, processor="AMD EPYC 7742")
    first, last = claimed if isinstance(claimed, tuple) else (claimed, claimed)
    got, reason = weigh(first, last, r"Xeon.* [3568]5\d\d", ours)
    assert got is ClaimOutcome.OTHER_PROCESSOR
    assert reason == f"claimed for another processor than AMD EPYC 7742: {words}"


def test_a_processor_is_the_same_in_capital_letters() -> None:
    ours = finding(-14.0, -11.0, processor="INTEL(R) XEON(R) PLATINUM 8592+")
    assert weigh(-12.5, -12.5, r"Xeon.* [3568]5\d\d", ours)[0] is ClaimOutcome.REPRODUCED


def test_of_a_processor_that_nobody_knows_nothing_is_said() -> None:
    got, reason = weigh(-12.5, -12.5, "Xeon", finding(-14.0, -11.0, processor=""))
    assert (got, reason) == (
        ClaimOutcome.NOT_MEASURED, "nobody knows which processor this host has",
    )  # fmt: skip


@pytest.mark.parametrize(
    ("model", "is_emerald"),
    [
        ("INTEL(R) XEON(R) PLATINUM 8592+", True), ("INTEL(R) XEON(R) GOLD 6548Y+", True),
        ("INTEL(R) XEON(R) SILVER 4514Y", False), ("Intel(R) Xeon(R) 6530P", False),
        ("Intel(R) Xeon(R) Platinum 8480+", False), ("INTEL(R) XEON(R) GOLD 5520+", True),
    ],
)  # fmt: skip
def test_the_letters_processor_is_emerald_rapids(model: str, *, is_emerald: bool) -> None:
    [path] = [path for path in claim_files() if path.stem == "vmscape-v8-iperf"]
    ours = finding(-14.0, -11.0, processor=model)
    got, _ = weigh(-12.5, -12.5, read_claims(path).processor, ours)
    assert (got is ClaimOutcome.REPRODUCED) is is_emerald


def test_a_folder_of_claims_is_read_and_an_empty_one_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="has no claim file"):
        claim_files(tmp_path)
    path = write(tmp_path, GOOD)
    assert claim_files(tmp_path) == [path]
    assert claim_files(path) == [path]


def test_an_arm_that_was_not_in_force_is_not_measured_and_says_why() -> None:
    got, reason = weigh(
        1.3, 1.3, "", finding(None, None, state="not_effective", note="the kernel said: IBPB")
    )
    assert (got, reason) == (ClaimOutcome.NOT_MEASURED, "the kernel said: IBPB")


@pytest.mark.parametrize("path", claim_files(), ids=lambda path: path.stem)
def test_every_file_that_comes_along_can_be_read(path: Path) -> None:
    assert read_claims(path).claims


def test_the_published_iperf_table_is_there_whole() -> None:
    [path] = [path for path in claim_files() if path.stem == "vmscape-v8-iperf"]
    file = read_claims(path)
    assert len(file.claims) == 42
    first = file.claims[0]
    assert (first.case["network"], first.case["protocol"], first.low) == ("user", "udp", -12.5)


def write(directory: Path, text: str) -> Path:
    path = directory / "told.yml"
    path.write_text(text)
    return path


def test_a_range_and_a_single_figure_are_read(tmp_path: Path) -> None:
    file: ClaimFile = read_claims(write(tmp_path, GOOD))
    assert [(c.low, c.high) for c in file.claims] == [(-12.5, -12.5), (-3, 2.5)]


@pytest.mark.parametrize(
    ("old", "new", "complaint"),
    [
        ("change: -12.5", "change: much", r"told\.yml:8: claims\.0\.change"),
        ("[-3, 2.5]", "[3, 2.5]", "3.0 is above 2.5"),
        ("name: told", "name: other", "named 'other' inside"),
        ("baseline: vmscape/off\n", "", "baseline: Field required"),
        ("workload: iperf", "workload: iperf\nprocessor: '('", "no regular expression"),
        ("mode: vmscape/ibpb,", "mood: vmscape/ibpb,", "mood"),
    ],
)
def test_a_bad_file_is_refused_by_line(tmp_path: Path, old: str, new: str, complaint: str) -> None:
    with pytest.raises(InvalidInput, match=complaint):
        read_claims(write(tmp_path, GOOD.replace(old, new, 1)))


def test_a_missing_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="cannot be read"):
        read_claims(tmp_path / "none.yml")


def test_a_host_with_a_very_long_name_of_its_processor_costs_no_time() -> None:
    """The search of a pattern with .* takes quadratic time in it."""
    with within_processor_s(3):
        claimed = weigh(1, 1, r"Xeon.*[3568]5\d\d", finding(1, 2, processor="Xeon" * 50_000))
    assert claimed[0] is ClaimOutcome.OTHER_PROCESSOR
