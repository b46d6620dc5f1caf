"""`mitigauge cost` as a process: as root, without rights, in a container, without perf."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from mitigauge.core.settings import REPOSITORY

VULNERABILITIES = "/sys/devices/system/cpu/vulnerabilities"
# A processor's file, so that nothing is measured here.
OWN = "amd-26-2-1"
IS_ROOT = os.geteuid() == 0
needs_root = pytest.mark.skipif(not IS_ROOT, reason="mounts and namespaces are root's")


def cost(
    *words: str,
    under: Sequence[str] = (),
    environment: Mapping[str, str] | None = None,
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*under, sys.executable, "-m", "cli.main", "cost", "--seconds", "1", *words],
        cwd=REPOSITORY, capture_output=True, text=True, check=False, timeout=120,
        env={**os.environ, "COLUMNS": "240", **(environment or {})},
    )  # fmt: skip


def answer(done: subprocess.CompletedProcess[str]) -> Any:
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def fake_perf(folder: Path, script: str) -> dict[str, str]:
    """A PATH with a perf of ours, and no other."""
    folder.mkdir(exist_ok=True)
    for name in ("sleep", "true", "sh", "cat"):
        (folder / name).symlink_to(shutil.which(name) or name)
    if script:
        (folder / "perf").write_text(f"#!/bin/sh\n{script}\n")
        (folder / "perf").chmod(0o755)
    return {"PATH": str(folder)}


def mounted(text: Mapping[str, str], folder: Path) -> list[str]:
    """What runs a command where the kernel shows other mitigations."""
    folder.mkdir()
    for name, content in text.items():
        (folder / name).write_text(content + "\n")
    return [
        "unshare",
        "-m",
        "sh",
        "-c",
        f'mount --bind {folder} {VULNERABILITIES} && exec "$@"',
        "sh",
    ]


# It answers as `perf stat -x,` of 6.1, whatever is asked, in the file behind -o.
COUNTS = """
while [ $# -gt 0 ]; do [ "$1" = -o ] && output=$2; shift; done
cat > "$output" <<END
{lines}
END
sleep 1
"""


def test_it_teaches_with_an_example() -> None:
    done = cost("--help")
    assert "Example: mitigauge cost --seconds 10" in done.stdout
    assert "predicted" in done.stdout


def test_what_it_prints_is_predicted_and_says_over_how_long() -> None:
    done = cost("--processor", OWN)
    assert done.returncode == 0, done.stderr
    assert "PREDICTED, not measured" in done.stdout
    assert "processors busy over 1 s" in done.stdout
    assert "the prices are of a processor that was named" in done.stdout
    assert "second" not in done.stdout.splitlines()[0]


def test_every_state_of_this_kernel_is_in_a_row() -> None:
    cost_table = answer(cost("--processor", OWN, "--json"))
    files = {path.name for path in Path(VULNERABILITIES).iterdir()}
    assert {
        state.partition(":")[0] for row in cost_table["rows"] for state in row["states"]
    } == files
    assert {row["basis"] for row in cost_table["rows"]} <= {"predicted", "nothing", "unknown"}


def test_without_prices_and_without_measuring_them_shares_are_unknown() -> None:
    cost_table = answer(cost("--price-seconds", "0", "--json"))
    shares = [row["percent"]["high"] for row in cost_table["rows"] if row["basis"] == "predicted"]
    assert cost_table["prices"].startswith(("none", "prices/processors/"))
    assert cost_table["prices"].startswith("none") == (shares == [])


def test_without_perf_it_says_what_to_install_and_goes_on(tmp_path: Path) -> None:
    cost_table = answer(
        cost("--processor", OWN, "--json", environment=fake_perf(tmp_path / "bin", ""))
    )
    assert cost_table["rates"]["system-call"]["value"] is None
    assert cost_table["rates"]["system-call"]["high"] > 0
    assert cost_table["rates"]["context-switch"]["value"] >= 0
    assert any("apt install linux-perf" in note for note in cost_table["notes"])


def test_what_perf_did_not_count_is_no_rate_of_zero(tmp_path: Path) -> None:
    lines = "<not counted>,,raw_syscalls:sys_enter,0,100.00,,"
    path = fake_perf(tmp_path / "bin", COUNTS.format(lines=lines))
    cost_table = answer(cost("--processor", OWN, "--json", environment=path))
    assert cost_table["rates"]["system-call"]["value"] is None
    assert any("it counted nothing" in note for note in cost_table["notes"])


def test_where_nothing_happens_its_rates_are_zero(tmp_path: Path) -> None:
    lines = "0,,raw_syscalls:sys_enter,1000000000,100.00,,"
    path = fake_perf(tmp_path / "bin", COUNTS.format(lines=lines))
    cost_table = answer(cost("--processor", OWN, "--json", environment=path))
    assert cost_table["rates"]["system-call"]["value"] == 0


def test_a_user_without_rights_gets_ranges() -> None:
    """Root gives all its rights away; another user has none."""
    under = ["setpriv", "--bounding-set", "-all", "--inh-caps", "-all"] if IS_ROOT else []
    cost_table = answer(cost("--processor", OWN, "--json", under=under))
    assert cost_table["rates"]["system-call"]["value"] is None
    assert cost_table["rates"]["system-call"]["high"] is not None
    assert cost_table["rates"]["context-switch"]["value"] is not None
    assert any("only root may count the whole machine" in note for note in cost_table["notes"])


@needs_root
def test_in_a_container_it_says_whose_rates_these_are() -> None:
    cost_table = answer(
        cost("--processor", OWN, "--json", under=["unshare", "--pid", "--fork", "--mount-proc"])
    )
    assert any("rates are those of the whole machine" in note for note in cost_table["notes"])
    assert cost_table["rates"]["restricted-switch"]["value"] is None


@needs_root
def test_with_all_mitigations_off_it_says_that_nothing_costs_anything(tmp_path: Path) -> None:
    states = {"mds": "Vulnerable; SMT vulnerable", "meltdown": "Vulnerable", "l1tf": "Not affected"}
    under = mounted(states, tmp_path / "states")
    done = cost("--processor", OWN, under=under)
    assert "No mitigation is in force here: none costs anything." in done.stdout, done.stderr
    assert "meltdown: Vulnerable" in done.stdout
    assert "Not affected: l1tf" in done.stdout


@needs_root
def test_words_of_a_kernel_that_nobody_knows_are_a_row(tmp_path: Path) -> None:
    under = mounted({"next_bug": "Mitigation: Prayer"}, tmp_path / "states")
    [row] = answer(cost("--processor", OWN, "--json", under=under))["rows"]
    assert (row["basis"], row["why"]) == ("unknown", "the kernel's words are not known here")


@needs_root
def test_a_kernel_that_says_nothing_is_an_error_with_a_way_out(tmp_path: Path) -> None:
    done = cost(under=mounted({}, tmp_path / "states"))
    assert done.returncode == 1
    assert "Linux 4.15" in done.stderr


def test_a_processor_without_prices_is_refused_by_name() -> None:
    done = cost("--processor", "nobody")
    assert done.returncode == 1
    assert "no prices of 'nobody'" in done.stderr


@pytest.mark.long("prices are measured for five seconds, by a program that is compiled first")
def test_prices_that_no_file_has_are_measured_beside_what_runs(tmp_path: Path) -> None:
    home = {"MITIGAUGE_HOME": str(tmp_path / "home")}
    table = answer(cost("--price-seconds", "5", "--json", environment=home))
    assert table["prices"].startswith(("measured now", "prices/processors/"))
    priced = [row for row in table["rows"] if row["ns"]["high"]]
    assert priced
    assert all(row["ns"]["low"] < row["ns"]["high"] for row in priced)
