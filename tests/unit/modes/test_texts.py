"""Each state that proves a mode is one that kernels of many ages can say: by their own sources."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

import pytest

from mitigauge.core.settings import REPOSITORY
from mitigauge.core.yaml_file import parse_yaml
from mitigauge.measurement.catalog import Catalog
from mitigauge.measurement.modes.families import Expectation
from tests.loading import load

TABLE = REPOSITORY / "tests" / "fixtures" / "vulnerabilities" / "texts.yml"
KERNELS: dict[str, dict[str, list[list[list[str]]]]] = parse_yaml(TABLE.read_text(), "texts").data
FAMILIES = Catalog().families
MODES = [
    (family, name) for family, of in FAMILIES.items() for name, mode in of.modes.items()
    if mode.expect
]  # fmt: skip


def texts(form: Sequence[Sequence[str]]) -> Iterator[str]:
    """Texts of a form in which each of its parts stands once: fields do not depend on another."""
    for place, alternatives in enumerate(form):
        for one in alternatives:
            yield "".join(one if other == place else parts[0] for other, parts in enumerate(form))


def says(kernel: str, expectation: Expectation) -> bool:
    """Whether a kernel can say what *expectation* waits for."""
    forms = KERNELS[kernel].get(expectation.file, [])
    return any(
        expectation.observed({expectation.file: text}) == expectation.equals
        for form in forms
        for text in texts(form)
    )


def unprovable(kernel: str, family: str, name: str) -> list[str]:
    """Places where a kernel never says what proves the mode; a file that it has not, as one."""
    places: dict[tuple[str, str], bool] = {}
    for each in FAMILIES[family].modes[name].expect:
        places[each.place] = places.get(each.place, False) or says(kernel, each)
    return [f"{file} {field}".strip() for (file, field), told in places.items() if not told]


OTHERS = re.compile(r"\d\.\d|before|the series")
# Why a mode cannot be proven on a kernel: it lacks the file or the field, so that it lacks the
# mitigation, or does not tell of it.
BHI, ITS, TSA, VMSCAPE = ["spectre_v2 BHI"], ["indirect_target_selection"], ["tsa"], ["vmscape"]
# Of a series alone.
SERIES = {"vmscape/bhb-clear": VMSCAPE}
# Call depth tracking is of 6.2, Zen 5's way of 6.12.
NEWER = {"retbleed/stuff": ["retbleed"], "srso/reduced": ["spec_rstack_overflow"]}
LACKS: dict[str, dict[str, list[str]]] = {
    "5.10.223": {
        **dict.fromkeys(["guest-host/off", "guest-host/on"], BHI),
        **dict.fromkeys([f"spectre-bhi/{m}" for m in ("off", "vmexit", "loop", "hardware")], BHI),
        **dict.fromkeys(["its/off", "its/on", "its/stuff"], ITS),
        **dict.fromkeys([f"tsa/{m}" for m in ("off", "user", "vm", "on")], TSA),
        **NEWER,
        **dict.fromkeys(["vmscape/off", "vmscape/ibpb", "vmscape/bhb-clear"], VMSCAPE),
    },
    "6.1": {**SERIES, "its/stuff": ITS, **NEWER},
    **dict.fromkeys(["6.12", "7.2.13", "7.3-rc7"], SERIES),
}


@pytest.mark.parametrize("kernel", KERNELS)
def test_a_kernel_can_say_what_proves_each_mode_or_lacks_the_mitigation(kernel: str) -> None:
    found = {
        f"{family}/{name}": missing
        for family, name in MODES
        if (missing := unprovable(kernel, family, name))
    }
    assert found == LACKS.get(kernel, {})


@pytest.mark.parametrize(("family", "name"), MODES)
def test_no_state_is_waited_for_that_no_kernel_says(family: str, name: str) -> None:
    """Unless it says itself of which other kernels it is."""
    never = [
        each.describe()
        for each in FAMILIES[family].modes[name].expect
        if not any(says(kernel, each) for kernel in KERNELS) and not OTHERS.search(each.source)
    ]
    assert never == []


def test_a_source_tells_what_each_file_can_say() -> None:
    source = TABLE.with_name("toys.c").read_text()
    assert load("scripts/vulnerability_texts.py").Source(source).forms() == {
        "toy": [
            [["Not affected"]],
            [["Vulnerable"]],
            [["Mitigation: Toys"], ["; more: yes", ""], ["; SMT "], ["vulnerable", "disabled"]],
        ],
        "doll": [[["Not affected"]], [["Mitigation: Dolls"]], [["Vulnerable"]]],
    }


def test_what_is_said_of_a_module_is_no_part_of_the_last_field() -> None:
    said = {"spectre_v2": "Vulnerable; BHI: SW loop - vulnerable module loaded"}
    assert Expectation(file="spectre_v2", field="BHI", equals="x").observed(said) == "SW loop"
