"""vmexit: what kvm-unit-tests prints, what is refused, and a real machine where there is one."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from mitigauge.core.settings import REPOSITORY
from mitigauge.measurement.catalog import Catalog
from tests.loading import load
from tests.workload_cases import edit

WORKLOAD = REPOSITORY / "workloads/vmexit"
FIXTURES = sorted(path.parent for path in WORKLOAD.glob("fixtures/*/case.json"))
parsing = load("workloads/vmexit/parse.py")
vmexit = load("workloads/vmexit/run")
printed = sys.modules["printed"]


@pytest.fixture
def case_dir(tmp_path: Path) -> Path:
    """A copy of a real case to break."""
    return shutil.copytree(WORKLOAD / "fixtures/cpuid", tmp_path / "case")


def test_the_tests_are_those_that_the_workload_declares() -> None:
    declared = Catalog().workloads["vmexit"]
    assert declared.parameters["test"].values == printed.TESTS
    assert set(declared.guest_settings) == set(vmexit.SETTINGS)


@pytest.mark.parametrize(
    ("name", "values"), [("cpuid", [19667, 21447, 22874]), ("inl_from_qemu", [37080, 35534, 35581])]
)
def test_a_real_case_gives_the_cycles_that_were_printed(name: str, values: list[int]) -> None:
    result = parsing.parse(WORKLOAD / "fixtures" / name)
    metric = result["metrics"]["cycles_per_operation"]
    declared = Catalog().workloads["vmexit"].metrics["cycles_per_operation"]
    assert (metric["unit"], metric["direction"]) == (declared.unit, declared.direction)
    texts = [path.read_text() for path in sorted((WORKLOAD / "fixtures" / name).glob("it*.log"))]
    # By another way than the parser's.
    assert metric["values"] == [float(text.split(f"\n{name} ")[1].split()[0]) for text in texts]
    assert metric["values"] == values
    assert len(metric["warmup"]) == 1
    assert result["guest"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "cpuid printed 0 figures, not one"),
        ("cpuid 1\ncpuid 2\n", "cpuid printed 2 figures, not one"),
        ("cpuid 0\n", "printed 0 figures"),
        ("cpuid -5\n", "printed 0 figures"),
        ("cpuid 12345678901\n", "printed 0 figures"),
        ("inl_from_qemu 5\n", "printed 0 figures"),
        ("  eoi cpuid 5\n", "printed 0 figures"),
        ("cpuid (skipped)\n", "skips itself"),
    ],
)
def test_what_is_no_figure_of_the_test_is_refused(text: str, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        printed.cycles_in(text, "cpuid")


@pytest.mark.parametrize(
    ("file", "change", "said"),
    [
        ("case.json", {"iterations": 4}, "are not 4 of 3 iterations"),
        ("case.json", {"parameters": {"test": "ipi"}}, "none of the tests"),
        ("run.json", {"sha256": {}}, "it is not as it was written"),
        ("run.json", {"tools": []}, "run.json: tools"),
    ],
)
def test_what_is_not_as_promised_is_refused(
    case_dir: Path, file: str, change: dict[str, Any], said: str
) -> None:
    edit(case_dir / file, lambda content: content.update(change))
    with pytest.raises(parsing.ParseError, match=said):
        parsing.parse(case_dir)


def test_a_figure_that_was_changed_is_refused(case_dir: Path) -> None:
    path = case_dir / "iteration-01.log"
    path.write_text(path.read_text().replace("cpuid 19667", "cpuid 11667"))
    with pytest.raises(parsing.ParseError, match="not as it was written"):
        parsing.parse(case_dir)


def case_of(test: str, **guest: str) -> dict[str, Any]:
    return {
        "case_id": "v", "workload": "vmexit", "parameters": {"test": test}, "iterations": 1,
        "warmup": 1, "timeout_s": 60, "guest": guest,
    }  # fmt: skip


def ran(case: dict[str, Any], directory: Path) -> tuple[int, str]:
    """Run it as a host does; its exit status and what it said."""
    (directory / "asked.json").write_text(json.dumps(case))
    done = subprocess.run(
        [WORKLOAD / "run", directory / "asked.json", directory / "out"],
        capture_output=True, text=True, check=False,
        # Nothing is timed beside the machines then.
        env=os.environ | {"MITIGAUGE_CLOCK": "counted"},
    )  # fmt: skip
    return done.returncode, done.stderr


def test_a_test_that_there_is_not_is_named(tmp_path: Path) -> None:
    status, said = ran(case_of("ple_round_robin"), tmp_path)
    assert status == 1
    assert "parameter test is 'ple_round_robin', not one of: cpuid, " in said


def test_what_an_arm_cannot_set_is_named(tmp_path: Path) -> None:
    status, said = ran(case_of("cpuid", memory_mb="512"), tmp_path)
    assert status == 1
    assert "this guest has no memory_mb; it has cpu, machine.kernel_irqchip" in said


def test_a_host_without_the_program_is_told_how_to_get_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(vmexit, "FOLDERS", (tmp_path,))
    with pytest.raises(vmexit.CaseError, match=f"vmexit.flat is in none of {tmp_path}: install"):
        vmexit.tests_program()
    (tmp_path / "x86").mkdir()
    (tmp_path / "x86/vmexit.flat").write_bytes(b"x")
    assert vmexit.tests_program() == tmp_path / "x86/vmexit.flat"


needs_machine = pytest.mark.skipif(
    not os.access("/dev/kvm", os.W_OK)
    or shutil.which("qemu-system-x86_64") is None
    or not any((folder / name).is_file() for folder in vmexit.FOLDERS for name in vmexit.NAMES),
    reason="needs /dev/kvm, qemu-system-x86_64 and vmexit.flat of kvm-unit-tests",
)


@needs_machine
@pytest.mark.parametrize("irqchip", ["on", "split", "off"])
def test_a_real_machine_proves_what_was_asked_and_gives_a_figure(
    irqchip: str, tmp_path: Path
) -> None:
    case = case_of("inl_from_kernel", **{"machine.kernel_irqchip": irqchip})
    status, said = ran(case, tmp_path)
    assert status == 0, said
    result = parsing.parse(tmp_path / "out")
    assert result["guest"] == {"machine.kernel_irqchip": irqchip}
    [value] = result["metrics"]["cycles_per_operation"]["values"]
    assert value > 100
    assert not list((tmp_path / "out").glob("qmp"))


@needs_machine
def test_a_model_that_qemu_has_not_is_said_by_qemu_s_own_words(tmp_path: Path) -> None:
    status, said = ran(case_of("cpuid", cpu="no-such-model"), tmp_path)
    assert status == 1
    assert "this host cannot make the guest: " in said
    assert "unable to find CPU model 'no-such-model'" in said
