"""No crossing counts as in force where the kernel ignored what one of its parts sets."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations, product

import pytest

from mitigauge.measurement.catalog import Catalog
from mitigauge.measurement.modes.crossing import CrossedMode, wanted_by
from mitigauge.measurement.modes.families import Expectation
from tests.unit.modes.kernel_model import V2, Kernel

FAMILIES = Catalog().families


def crossings(parts: int, families: Iterable[str]) -> Iterator[tuple[str, ...]]:
    """Modes of so many different families, every one."""
    for names in combinations(sorted(families), parts):
        yield from product(*(tuple(f"{f}/{m}" for m in FAMILIES[f].modes) for f in names))


def shows(kernel: Kernel, mode: CrossedMode) -> bool:
    """Whether the kernel shows all that the mode is known by; apart from the code of the proof."""
    files, readings = kernel.files(), kernel.readings()
    places: dict[tuple[str, str], list[Expectation]] = {}
    for each in mode.expect:
        places.setdefault((each.file, each.field), []).append(each)
    return all(
        any(text_at(files, file, field) == each.equals for each in states)
        for (file, field), states in places.items()
    ) and all(readings[each.path] == each.equals for each in mode.settings.readings())


def text_at(files: dict[str, str], file: str, field: str) -> str | None:
    if not field:
        return files[file]
    parts = [part.strip().partition(": ") for part in files[file].split(";")]
    return next((text or name for name, _, text in parts if name == field), None)


def unproven(parts: Sequence[str], mode: CrossedMode) -> str:
    """The part without which everything would be shown all the same and be otherwise; or none."""
    whole = mode.settings.options()
    for part, default_v2 in product(parts, V2):
        others = [other for other in parts if other != part]
        lost_words = set(list_words(part)) - {word for of in others for word in list_words(of)}
        lost_options = set(options_of(part)) - {
            option for of in others for option in options_of(of)
        }
        ignoring = Kernel(
            [without(option, lost_words) for option in whole], default_v2, frozenset(lost_options)
        )
        differs = ignoring.choices() != Kernel(whole, default_v2).choices()
        if differs and shows(ignoring, mode):
            return part
    return ""


def options_of(mode: str) -> tuple[str, ...]:
    family, _, name = mode.partition("/")
    settings = FAMILIES[family].modes[name].settings
    kinds = settings.cmdline, settings.module_parameters, settings.sysctls
    return tuple(option for kind in kinds for option in kind.options())


def list_words(mode: str) -> tuple[str, ...]:
    """Words that the mode adds to mitigations=, which several modes share."""
    family, _, name = mode.partition("/")
    words = FAMILIES[family].modes[name].settings.cmdline_words.root
    return tuple(words.get("mitigations", ()))


def without(option: str, words: set[str]) -> str:
    name, equals, value = option.partition("=")
    if name != "mitigations" or not words:
        return option
    return name + equals + ",".join(word for word in value.split(",") if word not in words)


def resolved(parts: Sequence[str]) -> CrossedMode | None:
    try:
        return wanted_by("+".join(parts), FAMILIES)
    except ValueError:
        return None


def counted(parts: int, families: Iterable[str]) -> tuple[int, int]:
    """(taken, refused) crossings; each that is taken shows each of its parts."""
    taken = refused = 0
    for names in crossings(parts, families):
        mode = resolved(names)
        if mode is None:
            refused += 1
            continue
        taken += 1
        assert unproven(names, mode) == "", names
    return taken, refused


def known_by_the_kernels_word() -> list[str]:
    """Families with a mode that a text of the kernel proves, or that another's setting moves."""
    moved = {
        effect.file
        for family in FAMILIES.values()
        for mode in family.modes.values()
        for effect in mode.side_effects
    }
    return [
        name
        for name, family in FAMILIES.items()
        if any(
            mode.expect or moved & {reading.path for reading in mode.settings.readings()}
            for mode in family.modes.values()
        )
    ]


def test_no_pair_of_modes_is_in_force_without_each_of_them() -> None:
    taken, refused = counted(2, FAMILIES)
    assert taken > 2000
    assert refused > 90


def test_no_three_modes_of_mitigations_are_in_force_without_each_of_them() -> None:
    taken, refused = counted(3, known_by_the_kernels_word())
    assert taken > 2000
    assert refused > 900


def test_effects_name_modes_that_there_are() -> None:
    modes = {f"{name}/{mode}" for name, family in FAMILIES.items() for mode in family.modes}
    named = {
        name
        for family in FAMILIES.values()
        for mode in family.modes.values()
        for name in (*mode.implies, *(effect.with_mode for effect in mode.side_effects))
    }
    assert named - {""} <= modes


@pytest.mark.deep
def test_no_three_modes_at_all_are_in_force_without_each_of_them() -> None:
    taken, _ = counted(3, FAMILIES)
    assert taken > 40_000


@pytest.mark.parametrize(
    "name",
    [
        "swapgs/off+user-kernel/off", "ssb/off+user-user/off", "guest-host/off+spectre-bhi/off",
        "guest-host/off+ibrs/off", "ibpb/off+mitigations/off", "mitigations/off+swapgs/off",
        "mitigations/off+vmscape/off", "its/off+mitigations/off", "mds/off+mitigations/off",
        "guest-host/off+l1d-flush/never", "mitigations/off+nx-huge-pages/off",
        "guest-host/off+user-kernel/off+its/off",
    ],
)  # fmt: skip
def test_a_part_that_another_one_would_show_too_is_refused_by_name(name: str) -> None:
    with pytest.raises(ValueError, match="cannot be proven") as error:
        wanted_by(name, FAMILIES)
    assert "makes too" in str(error.value)
    assert any(part in str(error.value) for part in name.split("+"))


@pytest.mark.parametrize(
    "name",
    [
        "ibrs/off+ibpb/off", "ibrs/entry+ibpb/on", "user-kernel/off+guest-host/off+user-user/off",
        "user-kernel/on+guest-host/off+user-user/on", "vmscape/ibpb+mbec/on", "mds/on+pti/off",
        "mitigations/off+ssb/on", "vmscape/off+guest-mitigations/off",
    ],
)  # fmt: skip
def test_parts_that_the_kernel_tells_apart_are_taken(name: str) -> None:
    assert wanted_by(name, FAMILIES).mode.count("+") == name.count("+")
