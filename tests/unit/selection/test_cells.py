"""What is asked: the cells of a spec, their filters and limits."""

from __future__ import annotations

from pathlib import Path

import pytest

from mitigauge.core.errors import InvalidInput, NotFound
from mitigauge.measurement.selection.cells import FOLDER, cells_of, selection_spec

SPEC = selection_spec("vmscape")


def test_the_spec_of_the_series_asks_for_320_cells_of_two_kernels() -> None:
    cells = cells_of(SPEC, ["a", "b"])
    assert len(cells) == len(set(cells)) == 320
    assert cells[0].words == ("setcpuid=ibpb",)
    assert {len(each.words) for each in cells} == {0, 1, 2, 3}


def test_filters_name_what_is_kept() -> None:
    cells = cells_of(
        SPEC, ["a"], processors=["Skylake"], options=["-"], mitigations=["-", "mitigations=off"]
    )
    assert [str(each) for each in cells] == [
        "no option on Skylake", "mitigations=off on Skylake",
    ]  # fmt: skip


@pytest.mark.parametrize(
    "wrong", [{"processors": ["i486"]}, {"options": ["vmscape"]}, {"mitigations": ["on"]}]
)
def test_an_unknown_filter_names_what_there_is(wrong: dict[str, list[str]]) -> None:
    with pytest.raises(InvalidInput) as refused:
        cells_of(SPEC, ["a"], **wrong)
    assert "Known: " in refused.value.hint


def test_too_many_cells_are_refused() -> None:
    with pytest.raises(InvalidInput, match="2080 cells"):
        cells_of(SPEC, [f"k{number}" for number in range(13)])


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("vulnerability: vmscape", "vulnerability: ../../etc/passwd"),
        ("EPYC-Milan,-hypervisor", "EPYC -drive file=/etc/shadow"),
        ("options: [setcpuid=ibpb]", "options: ['a b']"),
        ('["", vmscape=off,', '["", "vmscape=off init=/bin/sh",'),
        ("name: vmscape", "nmae: vmscape"),
    ],
)
def test_what_could_reach_the_emulator_is_refused(old: str, new: str, tmp_path: Path) -> None:
    text = (FOLDER / "vmscape.yml").read_text()
    assert old in text
    file = tmp_path / "own.yml"
    file.write_text(text.replace(old, new, 1))
    with pytest.raises(InvalidInput):
        selection_spec(str(file))


def test_a_spec_that_there_is_not_names_those_that_there_are() -> None:
    with pytest.raises(NotFound, match="no spec"):
        selection_spec("no-such-mitigation")
