"""Our specs with the kernels of a revision put in."""

from __future__ import annotations

import pytest
import yaml

from mitigauge.core.errors import InvalidInput, NotFound
from mitigauge.tracking.series.spec import filled, layouts_in, places_in
from mitigauge.tracking.series.spec_files import FOLDER, known_specs, spec_text

SPEC = """\
name: toys
environment: lab
blocks: 2
comparisons:
  - name: modes
    hosts: [lab-amd]
    baseline: "off"
    arms:
      - {name: "off", mode: vmscape/off, kernel: series/this}
      - {name: ibpb, mode: vmscape/ibpb, kernel: series/this}
    workloads: [{workload: exits, cases: {to: [kernel]}}]
  - name: since
    hosts: [lab-amd]
    baseline: before
    arms:
      - {name: before, mode: vmscape/off, kernel: series/before}
      - {name: this, mode: vmscape/off, kernel: series/this}
    workloads: [{workload: exits, cases: {to: [kernel]}}]
"""


def kernels_of(text: str) -> list[list[str]]:
    return [[arm["kernel"] for arm in c["arms"]] for c in yaml.safe_load(text)["comparisons"]]


def test_each_place_gets_its_kernel_and_the_name_its_label() -> None:
    text = filled(SPEC, "toys.yml", {"this": "7.2-b", "before": "7.2-a"}, label="v2+fix-7")
    assert kernels_of(text) == [["7.2-b", "7.2-b"], ["7.2-a", "7.2-b"]]
    assert yaml.safe_load(text)["name"] == "toys-v2-fix-7"
    assert yaml.safe_load(text)["comparisons"][0]["arms"][0]["name"] == "off"


def test_the_first_revision_is_compared_with_none_before() -> None:
    assert kernels_of(filled(SPEC, "toys.yml", {"this": "7.2-b"}, label="v1")) == [["7.2-b"] * 2]


def test_a_spec_of_which_nothing_is_left_says_so() -> None:
    alone = SPEC.replace("kernel: series/this}\n      - {name: ibpb", "kernel: series/base}\n"
                         "      - {name: ibpb")  # fmt: skip
    with pytest.raises(InvalidInput, match="no comparison is left for v1"):
        filled(alone, "toys.yml", {"this": "7.2-b"}, label="v1")


def test_a_spec_that_asks_for_no_revision_is_refused() -> None:
    with pytest.raises(InvalidInput, match="no arm asks for"):
        places_in(SPEC.replace("series/this", "7.2"), "toys.yml")
    with pytest.raises(InvalidInput, match="unknown kernel series/other"):
        places_in(SPEC.replace("series/before", "series/other"), "toys.yml")


@pytest.mark.parametrize("text", ["comparisons: 3", "comparisons: [1, {arms: 2}]", "name: x"])
def test_a_document_of_another_shape_is_refused(text: str) -> None:
    with pytest.raises(InvalidInput, match="no arm asks for"):
        places_in(text, "x.yml")


@pytest.mark.parametrize("name", ["../lab-demo", "no-such", "", "a/b", "vmscape.yml"])
def test_a_spec_is_named_by_a_word_below_one_folder(name: str) -> None:
    with pytest.raises(NotFound, match="vmscape"):
        spec_text(name)


@pytest.mark.parametrize("name", known_specs())
def test_every_spec_of_ours_asks_for_a_revision(name: str) -> None:
    assert places_in(spec_text(name), name) >= {"this"}
    assert (FOLDER / f"{name}.yml").is_file()


def test_kernels_are_compared_in_three_layouts_but_where_time_is_counted() -> None:
    text = spec_text("vmscape")
    assert layouts_in(text, "x.yml", {"lab-amd"}) == {"modes": 1, "since-before": 1}
    found = layouts_in(text, "x.yml", set())
    assert found == {"modes": 1, "since-before": 3}
    kernels = {"this": "7.2-b", "before": "7.2-a"}
    written = yaml.safe_load(filled(text, "x.yml", kernels, label="v2", layouts=found))
    assert [each.get("layouts") for each in written["comparisons"]] == [None, 3]
    said = text.replace("    baseline: before\n", "    baseline: before\n    layouts: 6\n")
    assert layouts_in(said, "x.yml", {"lab-amd"})["since-before"] == 6
