"""Factorial comparisons in specs: their arms, and what is refused."""

from __future__ import annotations

import pytest

from mitigauge.core.errors import InvalidInput
from mitigauge.core.settings import REPOSITORY
from mitigauge.measurement.catalog import Catalog
from mitigauge.measurement.experiments.checks import check_text
from mitigauge.measurement.experiments.spec_model import ExperimentSpec
from mitigauge.measurement.modes.crossing import wanted_by

TEXT = (REPOSITORY / "experiments" / "lab-mitigation-prices.yml").read_text()


def read(text: str) -> ExperimentSpec:
    return check_text(text, name="prices.yml", catalog=Catalog())[0]


def refusal(old: str, new: str) -> str:
    assert old in TEXT
    with pytest.raises(InvalidInput) as refused:
        read(TEXT.replace(old, new, 1))
    return refused.value.message


def test_arms_are_those_of_the_design_and_none_is_the_baseline() -> None:
    [comparison] = read(TEXT).comparisons
    assert len(comparison.arms) == 16
    assert comparison.baseline == comparison.arms[0].name == "none"
    assert comparison.arms[0].mode.startswith("pti/off+spectre-bhi/off+mds/off+")
    assert comparison.arms[-1].name == "all"
    assert "+mds/on+swapgs/on+" in comparison.arms[-1].mode


def test_arms_get_one_setcpuid_with_all_bits_and_no_option_twice() -> None:
    [comparison] = read(TEXT).comparisons
    for arm in comparison.arms:
        mode = wanted_by(arm.mode, Catalog().families)
        names = [word.partition("=")[0] for word in (*mode.lab_cmdline, *mode.settings.options())]
        assert len(set(names)) == len(names)
        assert "ibrs_enhanced" in mode.lab_cmdline[0]
        assert "md_clear" in mode.lab_cmdline[0]


def test_vectors_join_in_one_option() -> None:
    name = "user-kernel/off+user-user/on+guest-host/off"
    mode = wanted_by(name, Catalog().families)
    assert mode.settings.options() == ("mitigations=auto,no_user_kernel,no_guest_host",)
    with pytest.raises(ValueError, match="two of its modes set mitigations"):
        wanted_by("mitigations/off+user-user/on", Catalog().families)


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("pti/on]", "pti/onn]", "unknown mode 'pti/onn'; did you mean 'pti/on'?"),
        ("[mds/off, mds/on]", "[mds/off]", "at least 2 items"),
        ("[mds/off, mds/on]", "[mds/on, mds/on]", "knob mds has one mode twice"),
        ("[mds/off, mds/on]", "[pti/off, pti/on]", "names a family twice"),
        ("[pti, mds]", "[pti, pti]", "pairs: pti with itself"),
        ("[pti, mds]", "[bhi, pti]", "pairs: one stands twice"),
        ("[pti, mds]", "[pti, tsx]", "pairs: no knob 'tsx'; knobs: pti, bhi, mds"),
        ("      knobs:", "      most_arms: 8\n      knobs:", "need more than 8 arms"),
        ("        mds:", "        none:", "neither `none` nor `all`"),
        ("    factorial:", "    baseline: none\n    factorial:", "a baseline of its own"),
        ("    factorial:", "    aa: true\n    factorial:", "`aa`, `slowed_percent` and `layouts`"),
        ("    factorial:", "    cross: [pti]\n    factorial:", "give one of `arms`"),
    ],
)  # fmt: skip
def test_faults_are_told(old: str, new: str, expected: str) -> None:
    assert expected in refusal(old, new)


def test_each_unknown_mode_is_told_once() -> None:
    assert refusal("pti/on]", "pti/onn]").count("pti/onn") == 1
