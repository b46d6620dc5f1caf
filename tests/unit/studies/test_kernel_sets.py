"""Which kernels tell what each patch costs."""

from __future__ import annotations

import pytest

from mitigauge.core.errors import InvalidInput
from mitigauge.core.settings import REPOSITORY
from mitigauge.tracking.studies.kernel_sets import (
    MOST_ALONE,
    MOST_PAIRS,
    MOST_PATCHES,
    Touched,
    alone_sets,
    booted,
    first_sets,
    is_open,
    kernel_set,
    pair_sets,
    prefixes,
    set_of,
    stands_for,
    touched,
)
from mitigauge.tracking.studies.schemas import Interaction, KernelSet


def interaction(patch: int) -> Interaction:
    return Interaction(patch=patch, case="c", host="h", alone=1, after=5, others=[])


def of(file: str, *names: str) -> Touched:
    return Touched(frozenset([file]), frozenset(names))


def test_a_series_is_told_by_what_is_in_between() -> None:
    sets = first_sets(3)
    assert [(each.name, each.patches) for each in sets] == [
        ("base", []), ("p1", [1]), ("p2", [1, 2]), ("p3", [1, 2, 3]),
    ]  # fmt: skip
    assert all(map(is_open, sets))
    assert list(prefixes(sets)) == sets


def test_patches_that_cost_are_built_alone_once() -> None:
    known = first_sets(4)
    # The first one is alone already.
    alone = alone_sets([1, 2, 4], known)
    assert [each.name for each in alone] == ["only2", "only4"]
    assert alone_sets([1, 2, 4], [*known, *alone]) == []
    assert len(alone_sets(range(1, 40), known)) == MOST_ALONE


@pytest.mark.parametrize("count", [0, MOST_PATCHES + 1])
def test_what_is_too_long_or_empty_is_refused(count: int) -> None:
    with pytest.raises(InvalidInput, match=f"has {count} patches"):
        first_sets(count)


def test_kernels_with_the_same_code_are_booted_once() -> None:
    sets = [
        KernelSet(name="base", patches=[], release="r0", content="x"),
        KernelSet(name="p1", patches=[1], release="r1", content="x"),
        KernelSet(name="p2", patches=[1, 2], release="r2", content="y"),
        KernelSet(name="only2", patches=[2], skipped="does not build"),
        KernelSet(name="p3", patches=[1, 2, 3], release="r3"),
    ]
    assert [each.name for each in booted(sets)] == ["base", "p2", "p3"]
    assert stands_for(sets, sets[1]).name == "base"
    assert stands_for(sets, sets[4]).name == "p3"
    assert not any(map(is_open, sets))


def test_pairs_begin_with_patches_of_the_same_files_and_then_the_nearest() -> None:
    known = first_sets(5)
    patches = [of("a.c"), of("b.c"), of("c.c"), of("d.c"), of("a.c")]
    found = pair_sets([interaction(5), interaction(5)], patches, known)
    assert [each.patches for each in found] == [[1, 5], [4, 5], [3, 5], [2, 5]]


def test_pairs_begin_with_the_patch_that_brings_a_name_of_the_other() -> None:
    patches = [of("a.c"), of("b.c", "TWO_READERS"), of("c.c"), of("a.c", "TWO_READERS")]
    found = pair_sets([interaction(4)], patches, first_sets(4))
    assert [each.patches for each in found] == [[2, 4], [1, 4], [3, 4]]


def test_the_names_of_a_patch_are_those_that_its_new_lines_alone_have() -> None:
    texts = [
        next((REPOSITORY / "tests/series/ten").glob(f"000{number}-*")).read_text()
        for number in (3, 7)
    ]
    third, seventh = (touched(["a.c"], text) for text in texts)
    assert "TWO_READERS" in third.names & seventh.names
    moved = (
        "--- a/a_b.c\n+++ b/a_b.c\n@@ -1 +1 @@\n-old_name();\n+new_name(old_name);\n kept_name\n"
    )
    assert touched(["a_b.c"], moved).names == {"new_name"}


def test_a_pair_that_is_known_is_not_built_again() -> None:
    known = first_sets(2)
    assert pair_sets([interaction(2)], [of("a"), of("b")], known) == []
    assert set_of(known, [1, 2]) == kernel_set([1, 2])


def test_pairs_have_a_limit() -> None:
    patches = [of("a")] * 12
    assert len(pair_sets([interaction(12)], patches, first_sets(12))) == MOST_PAIRS
