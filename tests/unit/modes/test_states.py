"""Each state that kernels from 6.12 on print is expected by a mode, or has a written reason."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from mitigauge.measurement.catalog import Catalog
from mitigauge.measurement.modes.families import Expectation
from mitigauge.measurement.runs.boot_evidence import BootProof
from mitigauge.measurement.runs.proof import Requested, judge_boot
from mitigauge.measurement.runs.states import BootState
from tests.unit.modes.test_texts import KERNELS, texts

CATALOG = Catalog()
BESIDE = " - "
OF_TODAY = ("6.12", "7.2.13", "7.3-rc7")
EXPECTED: dict[str, list[Expectation]] = {}
for _family in CATALOG.families.values():
    for _mode in _family.modes.values():
        for _each in _mode.expect:
            EXPECTED.setdefault(_each.file, []).append(_each)


def parts_of(text: str) -> list[str]:
    """Each state of a file's text; what stands behind the last field is one too."""
    whole, _, beside = text.partition(BESIDE)
    return [part.strip() for part in [*whole.split(";"), beside] if part.strip()]


def printed(kernel: str) -> Iterator[tuple[str, str, str]]:
    """(file, state, a text of the file with that state) of all that a kernel's source can print."""
    for file, forms in KERNELS[kernel].items():
        for form in forms:
            for text in texts(form):
                for state in parts_of(text):
                    yield file, state, text


def is_expected(file: str, state: str, text: str) -> bool:
    return any(
        each.observed({file: text}) == each.equals and each.state in (state, text)
        for each in EXPECTED.get(file, [])
    )


@pytest.mark.parametrize("kernel", OF_TODAY)
def test_each_state_is_expected_by_a_mode_or_has_a_reason(kernel: str) -> None:
    shown = list(printed(kernel))
    expected = {(file, state) for file, state, text in shown if is_expected(file, state, text)}
    unexplained = {
        f"{file}: {state}"
        for file, state, _ in shown
        if (file, state) not in expected and not CATALOG.known_states.why_no_mode(file, state)
    }
    assert unexplained == set()


def test_no_reason_is_given_for_a_state_that_no_kernel_prints() -> None:
    shown = {(file, state) for kernel in OF_TODAY for file, state, _ in printed(kernel)}
    of_any = {("any", state) for _, state in shown}
    assert {
        f"{of.file}: {state}"
        for of in CATALOG.known_states.states
        for state in of.states
        if (of.file, state) not in shown | of_any
    } == set()


def test_no_reason_is_given_for_a_state_that_a_mode_expects() -> None:
    reasons = {(of.file, state) for of in CATALOG.known_states.states for state in of.states}
    expected = {
        (file, state)
        for kernel in OF_TODAY
        for file, state, text in printed(kernel)
        if is_expected(file, state, text)
    }
    assert reasons & expected == set()


def test_of_each_file_it_is_known_which_processors_have_the_bug() -> None:
    files = {file for kernel in OF_TODAY for file in KERNELS[kernel]}
    assert set(CATALOG.known_states.files) == files


def test_a_state_is_a_part_of_a_text() -> None:
    said = "Mitigation: Retpolines; IBRS_FW; BHI: SW loop, KVM: SW loop - vulnerable module loaded"
    assert parts_of(said) == [
        "Mitigation: Retpolines", "IBRS_FW", "BHI: SW loop, KVM: SW loop",
        "vulnerable module loaded",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("mode", "text", "why"),
    [
        (
            "spectre-bhi/loop",
            "Mitigation: Retpolines; BHI: Retpoline",
            "BHI: Retpoline: Retpolines",
        ),
        (
            "vmscape/ibpb",
            "Mitigation: IBPB on VMEXIT",
            "It follows retbleed/ibpb and srso/ibpb-vme",
        ),
        ("pti/on", "Not affected", "The processor lacks the bug"),
    ],
)
def test_a_mode_that_is_not_in_force_says_why_the_kernel_shows_another_state(
    mode: str, text: str, why: str
) -> None:
    family, _, name = mode.partition("/")
    expect = CATALOG.families[family].modes[name].expect
    proof = BootProof(
        boot_id="new", nonce="n1", loader_type=0x72, vulnerabilities={expect[0].file: text}
    )
    requested = Requested(
        nonce="n1", previous_boot_id="old", kernel_release="", build_id=None, kernel_version=None,
        expect=expect, known_states=CATALOG.known_states,
    )  # fmt: skip
    judged = judge_boot(proof, requested)
    assert judged.state is BootState.NOT_EFFECTIVE
    assert why in judged.reason


def test_bhi_dis_s_of_intels_processors_since_alder_lake_proves_two_modes() -> None:
    """bugs.c of 7.2, bhi_apply_mitigation(): it is set for spectre_bhi=on, =vmexit and auto."""
    text = "Mitigation: Enhanced / Automatic IBRS; IBPB: conditional; BHI: BHI_DIS_S"
    proven = {
        f"{family}/{name}"
        for family in ("spectre-bhi", "guest-host")
        for name, mode in CATALOG.families[family].modes.items()
        if any(each.observed({"spectre_v2": text}) == each.equals for each in mode.expect)
    }
    assert proven == {"spectre-bhi/hardware", "guest-host/on"}
