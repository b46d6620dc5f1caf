"""What kernels of many ages print, and which modes that proves: a table of data, and two cases."""

from __future__ import annotations

from typing import Any

import pytest

from mitigauge.core.settings import REPOSITORY
from mitigauge.core.yaml_file import parse_yaml
from mitigauge.measurement.catalog import Catalog
from mitigauge.measurement.modes.families import Expectation
from mitigauge.measurement.modes.families import in_force as is_in_force
from mitigauge.measurement.runs.proof import _describe
from tests.commands import CASES

TABLE = REPOSITORY / "tests" / "fixtures" / "vulnerabilities" / "kernels.yml"
ROWS: list[dict[str, Any]] = parse_yaml(TABLE.read_text("utf-8"), str(TABLE)).data["kernels"]
CATALOG = Catalog()
FAMILIES = (
    "gds", "ibpb", "ibrs", "its", "mitigations", "mmio", "retbleed", "rfds", "spectre-bhi",
    "spectre-v2", "srso", "taa", "tsa", "vmscape",
)  # fmt: skip


def in_force(catalog: Catalog, files: dict[str, str]) -> set[str]:
    """All modes of those families that these files prove."""
    return {
        f"{family}/{name}"
        for family in FAMILIES
        for name, mode in catalog.families[family].modes.items()
        if is_in_force(mode.expect, files)
    }


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row["kernel"])
def test_a_kernels_words_prove_these_modes_and_no_others(row: dict[str, Any]) -> None:
    assert in_force(CATALOG, row["files"]) == set(row["in_force"])
    for place, text in row.get("fields", {}).items():
        file, _, field = place.partition(" ")
        assert Expectation(file=file, field=field, equals=text).observed(row["files"]) == text


@pytest.mark.parametrize(
    ("case", "modes"),
    [
        ("14-comma-off", {"mitigations/off", "ibpb/off", "ibrs/off"}),
        ("15-bhi-syscall-hardening", {"spectre-bhi/off"}),
    ],
)
def test_files_as_they_were_seen_prove_their_modes(case: str, modes: set[str]) -> None:
    lines = (CASES / f"{case}.vulnerabilities").read_text().splitlines()
    assert modes <= in_force(CATALOG, dict(line.split("=", 1) for line in lines))


def test_buffers_are_not_cleared_where_the_kernel_knows_no_mitigation_of_stale_data() -> None:
    files = {
        "mds": "Vulnerable; SMT vulnerable",
        "mmio_stale_data": "Unknown: No mitigations",
        "reg_file_data_sampling": "Not affected",
        "tsx_async_abort": "Not affected",
    }
    modes = CATALOG.families["mds"].modes
    assert is_in_force(modes["off"].expect, files)
    files["mmio_stale_data"] = "Mitigation: Clear CPU buffers; SMT vulnerable"
    assert not is_in_force(modes["off"].expect, files)


def test_where_a_kernel_says_nothing_the_reason_does() -> None:
    loop = CATALOG.families["spectre-bhi"].modes["loop"].expect
    [said] = _describe(loop, {"spectre_v2": "Mitigation: Retpolines, IBPB: conditional"})
    assert said.endswith("IBPB: conditional (no BHI: nothing can be proven of it)")
    [said] = _describe(loop, {})
    assert said == "spectre_v2: no such file: this kernel does not tell, nothing can be proven"
