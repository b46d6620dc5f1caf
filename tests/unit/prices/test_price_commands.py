"""Commands of prices as processes: what they write, and what they refuse."""

from __future__ import annotations

import subprocess
import sys

import pytest
import yaml

from mitigauge.core.settings import REPOSITORY

PROCESSORS = REPOSITORY / "prices" / "processors"
OWN = "amd-26-2-1"


def price(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "cli.main", "price", *words],
        cwd=REPOSITORY, capture_output=True, text=True, check=False, timeout=60,
    )  # fmt: skip


@pytest.mark.parametrize("table", ["vmscape-v8-iperf", "ibrs-ibpb-loss", "vmscape-fio"])
def test_a_published_table_is_predicted(table: str) -> None:
    """Each figure of the table stands in the answer as it was published."""
    done = price("predict", table)
    assert done.returncode == 0, done.stderr
    assert "PREDICTED" in done.stdout
    claims = yaml.safe_load((REPOSITORY / "experiments/claims" / f"{table}.yml").read_text())
    rates = yaml.safe_load((REPOSITORY / "prices/rates" / f"{table}.yml").read_text())
    for claim in claims["claims"]:
        if claim.get("mode", claim.get("without")) in rates["modes"]:
            assert f" {claim['change']:+.1f} " in done.stdout


def test_a_table_or_a_processor_that_is_none_is_refused() -> None:
    assert "Known: " in price("predict", "nothing").stderr
    assert "no prices of 'nobody'" in price("predict", "--processor", "nobody").stderr


def test_a_processor_s_name_is_searched_for() -> None:
    names = {
        file.stem for file in PROCESSORS.glob("*.yml") if "skylake" in file.read_text().lower()
    }
    shown = price("list", "--model", "skylake").stdout
    assert all(name in shown for name in names)
    assert OWN not in shown
