"""Which processor a machine has, by its word and by its flags."""

from __future__ import annotations

from pathlib import Path

import pytest

from cli import price_here
from mitigauge.analysis.prices.identity import recognised
from mitigauge.core.errors import InvalidInput


def cpuinfo(vendor: str, family: int, model: int, flags: str, name: str = "A CPU") -> str:
    one = (
        f"processor\t: 0\nvendor_id\t: {vendor}\ncpu family\t: {family}\nmodel\t\t: {model}\n"
        f"model name\t: {name}\nstepping\t: 1\nmicrocode\t: 0x1\nflags\t\t: {flags}\n"
    )
    return one + "\n" + one.replace("processor\t: 0", "processor\t: 1")


def test_a_processor_that_says_what_it_is() -> None:
    found = recognised(cpuinfo("AuthenticAMD", 26, 2, "fpu avx512f avx_vnni hypervisor"), "L1d 48K")
    assert found.microarchitecture == "Zen 5"
    assert found.identity.masked == ""
    assert found.is_virtual
    assert found.identity.file_name == "amd-26-2-1"
    assert found.identity.caches == "L1d 48K"


def test_a_model_with_flags_that_it_never_had_is_masked_with_the_range_of_its_flags() -> None:
    found = recognised(cpuinfo("GenuineIntel", 6, 167, "fpu avx512f amx_tile avx512_fp16"))
    assert "says Rocket Lake, which has no amx_tile, avx512_fp16" in found.identity.masked
    assert found.microarchitecture == "Sapphire Rapids to Granite Rapids"


def test_fewer_flags_than_a_model_has_are_no_contradiction() -> None:
    found = recognised(cpuinfo("GenuineIntel", 6, 143, "fpu"))
    assert (found.microarchitecture, found.identity.masked) == ("Sapphire Rapids", "")


def test_a_flag_that_later_processors_lost_is_one() -> None:
    found = recognised(cpuinfo("GenuineIntel", 6, 151, "fpu avx512f"))
    assert "Alder Lake, which has no avx512f" in found.identity.masked


def test_flags_that_no_processor_has_together_are_told_so() -> None:
    found = recognised(cpuinfo("GenuineIntel", 6, 151, "fpu avx512f avx512_bf16 avx_vnni"))
    assert found.identity.masked
    assert found.microarchitecture == "Sapphire Rapids to Granite Rapids"


def test_an_unknown_vendor_or_model_is_taken_by_its_number() -> None:
    found = recognised(cpuinfo("CentaurHauls", 7, 59, "fpu"))
    assert (found.microarchitecture, found.identity.file_name) == ("", "other-7-59-1")


@pytest.mark.parametrize("text", ["", "processor : 0\nBogoMIPS : 50\nFeatures : fp asimd\n",
                                  "vendor_id : x\ncpu family : six\n"])  # fmt: skip
def test_what_is_no_x86_processor_is_refused_with_what_is_measured(text: str) -> None:
    with pytest.raises(InvalidInput, match="no x86 processor") as told:
        recognised(text)
    assert "x86-64" in told.value.hint


def test_other_flags_are_another_identity() -> None:
    one, two = (
        recognised(cpuinfo("AuthenticAMD", 26, 2, f)).identity.flags for f in ("a b", "a c")
    )
    same = recognised(cpuinfo("AuthenticAMD", 26, 2, "b a")).identity.flags
    assert one != two
    assert one == same


def test_each_kind_of_core_is_a_processor_of_its_own() -> None:
    text = cpuinfo("GenuineIntel", 6, 151, "fpu avx_vnni")
    core, atom = (recognised(text, cores=kind).identity for kind in ("core", "atom"))
    assert (core.file_name, atom.file_name) == ("intel-6-151-1-core", "intel-6-151-1-atom")


@pytest.mark.parametrize(
    ("files", "allowed", "kinds"),
    [
        ({}, {0, 1}, {"": {0, 1}}),
        ({"core": "0-1", "atom": "2,4-5"}, {0, 1, 2, 3, 4}, {"core": {0, 1}, "atom": {2, 4}}),
        # Whoever may use one kind alone has that one alone, under its name.
        ({"core": "0-1", "atom": "2"}, {2}, {"atom": {2}}),
        ({"core": "0-3"}, {0, 1}, {"": {0, 1}}),
    ],
)
def test_processors_are_told_apart_by_kind_of_core(
    files: dict[str, str],
    allowed: set[int],
    kinds: dict[str, set[int]],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for kind, text in files.items():
        (tmp_path / kind).write_text(f"{text}\n")
    monkeypatch.setattr(price_here, "CORES", {k: tmp_path / k for k in ("core", "atom")})
    monkeypatch.setattr("os.sched_getaffinity", lambda _: allowed)
    assert price_here.kinds_of_cores() == kinds
