"""Of a long serial log the part is kept that says why a boot failed."""

from __future__ import annotations

import pytest

from pipelines.adapters.serial import is_up, telling_part

PANIC = "Kernel panic - not syncing: No working init found.\n"


def test_a_short_log_is_kept_whole() -> None:
    assert telling_part("one\n" + PANIC, 1000) == "one\n" + PANIC


def test_without_a_death_the_end_is_kept() -> None:
    assert telling_part("x" * 100 + "end", 10) == "xxxxxxxend"


@pytest.mark.parametrize("after", [10, 1000, 100_000])
def test_a_panic_is_kept_however_much_the_fallback_prints_after_it(after: int) -> None:
    kept = telling_part("boot\n" * 1000 + PANIC + "fallback\n" * after, 4096)
    assert PANIC in kept
    assert "boot\n" in kept
    assert len(kept) <= 4096


def test_of_several_deaths_the_last_is_kept() -> None:
    kept = telling_part("Oops: int3\n" + "x" * 5000 + PANIC + "y" * 5000, 1000)
    assert "Kernel panic" in kept
    assert "Oops" not in kept


BOOTED = "[    0.000000] Linux version 7.2\nlab login: root (automatic login)\n"
GOING = "[   28.0] reboot: Restarting system\n"


@pytest.mark.parametrize(
    ("log", "up"),
    [
        ("", True),
        ("some line\n", True),
        ("[    0.000000] Linux version 7.2\n[    1.0] systemd\n", False),
        (BOOTED, True),
        (BOOTED + "[   99.0] a message\n", True),
        (BOOTED + GOING, False),
        (BOOTED + GOING + "Booting `Debian'\n", False),
        (BOOTED + GOING + BOOTED, True),
        (BOOTED + "[   99.0] Kernel panic - not syncing\n", False),
    ],
)
def test_a_system_is_up_once_it_greets_after_its_kernels_first_line(log: str, up: bool) -> None:
    assert is_up(log, "login:") is up
