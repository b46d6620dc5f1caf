"""Tags of patches that name a regression of this service, and nothing else."""

from __future__ import annotations

import pytest

from mitigauge.tracking.regressions.offered_fixes import OfferedFix, named_by

BASE = "https://perf.example.org"


def numbers(*addresses: str, base: str = BASE) -> list[int]:
    fix = OfferedFix("toys", "v2", 3, "toys: Mend one", addresses)
    return [number for number, _ in named_by([fix], base)]


@pytest.mark.parametrize(
    "address",
    [f"{BASE}/regressions/17", f"{BASE}/regressions/17?x=1", f"{BASE}/regressions/17 [1]"],
)
def test_an_address_of_ours_names_a_regression(address: str) -> None:
    assert numbers(address) == [17]
    assert numbers(address, base=f"{BASE}/") == [17]


@pytest.mark.parametrize(
    "address",
    [
        "https://other.example.org/regressions/17",
        f"{BASE}.evil.org/regressions/17",
        f"{BASE}/regressions/017",
        f"{BASE}/regressions/17x",
        f"{BASE}/regressions/-1",
        f"{BASE}/regressions/{2**31}",
        f"{BASE}/experiments/17",
        f"x {BASE}/regressions/17",
        "17",
        "",
    ],
)
def test_anything_else_names_none(address: str) -> None:
    assert numbers(address) == []


def test_each_is_named_once_and_without_a_public_address_none() -> None:
    two = (f"{BASE}/regressions/17", f"{BASE}/regressions/17", f"{BASE}/regressions/4")
    assert numbers(*two) == [17, 4]
    assert numbers(*two, base="") == []
