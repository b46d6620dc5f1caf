"""What a kernel is built from names it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from lab.qemu import disk_arguments
from mitigauge.core.errors import InvalidInput, NotFound
from mitigauge.kernels.config_profile import (
    Profile,
    known_profiles,
    not_taken,
    profile_of,
    refused,
)
from mitigauge.kernels.recipe import LAYOUTS, PLAIN, Base, Recipe, Toolchain, layout_named, layouts

RECIPE = Recipe(
    base=Base("linux-source-7.2", "7.2.12-1"),
    patches=("a" * 64, "b" * 64),
    profile="lab",
    profile_sha256="c" * 64,
    toolchain=Toolchain("debian-trixie", ("gcc-14 14.2.0-19",)),
    scripts_sha256="f" * 64,
)


def test_the_same_recipe_has_the_same_name() -> None:
    assert RECIPE.digest == replace(RECIPE).digest
    assert RECIPE.local_version == "-mg" + RECIPE.digest[:32]


def test_a_release_has_room_for_what_its_base_calls_itself() -> None:
    longest = "7.3.0-rc7-next-20261120"
    assert len(longest + RECIPE.local_version) <= 64
    # 128 bits: two alike are found after some 2^64 tries.
    assert len(RECIPE.local_version.removeprefix("-mg")) * 4 >= 128


def test_layouts_of_one_recipe_are_of_one_source_and_another_configuration_is_not() -> None:
    assert replace(RECIPE, layout=LAYOUTS[3]).source_digest == RECIPE.source_digest
    assert replace(RECIPE, profile_sha256="d" * 64).source_digest != RECIPE.source_digest
    assert replace(RECIPE, scripts_sha256="d" * 64).source_digest != RECIPE.source_digest


@pytest.mark.parametrize(
    "other",
    [
        {"base": Base("linux-source-7.2", "7.2.13-1")},
        {"patches": ("b" * 64, "a" * 64)},
        {"patches": ()},
        {"profile_sha256": "d" * 64},
        {"toolchain": Toolchain("debian-trixie", ("gcc-14 14.2.0-20",))},
        {"layout": LAYOUTS[1]},
    ],
)
def test_another_ingredient_is_another_name(other: dict[str, object]) -> None:
    assert replace(RECIPE, **other).digest != RECIPE.digest  # type: ignore[arg-type]


def test_layouts_differ_and_the_first_is_the_compilers_own() -> None:
    assert LAYOUTS[0] == PLAIN
    assert PLAIN.flags == ()
    assert len({layout.flags for layout in LAYOUTS}) == len(LAYOUTS) == 27
    assert layout_named(LAYOUTS[5].name) == LAYOUTS[5]


@pytest.mark.parametrize("count", [0, -1, 28])
def test_more_layouts_than_there_are_is_an_error(count: int) -> None:
    with pytest.raises(InvalidInput, match="layouts were asked for"):
        layouts(count)


def test_the_labs_profile_is_known_and_says_what_it_is() -> None:
    assert "lab" in known_profiles()
    assert profile_of("lab").text.startswith("# Small, for the emulated hosts")


def test_a_configuration_of_ones_own_is_taken_whole(tmp_path: Path) -> None:
    (tmp_path / "config").write_text("CONFIG_X=y\n")
    assert profile_of(str(tmp_path / "config")).whole
    (tmp_path / "other").write_text("hello\n")
    with pytest.raises(InvalidInput, match="sets nothing"):
        profile_of(str(tmp_path / "other"))
    with pytest.raises(NotFound, match="no config profile 'nope'"):
        profile_of("nope")


def test_what_a_configuration_did_not_take_is_named() -> None:
    wanted = "CONFIG_A=y\n# CONFIG_B is not set\nCONFIG_C=y\n# a word\nCONFIG_D=n\n"
    assert refused(wanted, "CONFIG_A=y\n# CONFIG_B is not set\nCONFIG_C=y\n") == []
    assert refused(wanted, "CONFIG_B=y\nCONFIG_C=m\nCONFIG_D=y\n") == [
        "CONFIG_A=y: not set",
        "# CONFIG_B is not set: CONFIG_B=y",
        "CONFIG_C=y: CONFIG_C=m",
        "CONFIG_D=n: CONFIG_D=y",
    ]


ASKED = (
    "CONFIG_A=y\nCONFIG_B=m\n# CONFIG_C is not set\nCONFIG_D=n\nCONFIG_CC_IS_GCC=y\nCONFIG_E=7\n"
)


@pytest.mark.parametrize(
    ("whole", "more", "config", "missed"),
    [
        (True, "", "CONFIG_A=y\nCONFIG_B=y\nCONFIG_E=9\nCONFIG_C=y\n", []),
        (True, "", "CONFIG_B=m\n# CONFIG_A is not set\n",
         ["CONFIG_A=y: not set", "CONFIG_E=7: not set"]),
        (True, "# optional: CONFIG_E CONFIG_A\n", "CONFIG_B=m\n", []),
        (True, "#optional: *\n", "", []),
        (False, "", "CONFIG_A=y\nCONFIG_B=y\nCONFIG_CC_IS_GCC=y\nCONFIG_E=7\n",
         ["CONFIG_B=m: CONFIG_B=y"]),
        (False, "# optional: CONFIG_C\n",
         "CONFIG_A=y\nCONFIG_B=m\nCONFIG_C=y\nCONFIG_CC_IS_GCC=y\nCONFIG_E=7\nCONFIG_D=y\n",
         ["CONFIG_D=n: CONFIG_D=y"]),
    ],
)  # fmt: skip
def test_an_option_that_is_gone_is_named_unless_the_profile_allows_it(
    whole: bool, more: str, config: str, missed: list[str]
) -> None:
    assert not_taken(Profile("x", more + ASKED, whole), config) == missed


def test_a_kernel_without_modules_has_the_driver_of_the_labs_root_disk() -> None:
    options = profile_of("lab").text.splitlines()
    disk = disk_arguments(Path("disk.qcow2"), "qcow2")
    assert "# CONFIG_MODULES is not set" in options
    assert any(argument.startswith("nvme,") for argument in disk)
    assert {"CONFIG_BLK_DEV_NVME=y", "CONFIG_EXT4_FS=y"} <= set(options)
