"""Which revision of a series costs least, of those that do as much of what protects."""

from __future__ import annotations

import pytest

from mitigauge.core.errors import InvalidInput
from mitigauge.tracking.studies.answers import answer_of, looks_worse
from mitigauge.tracking.studies.kernel_sets import MOST_VARIANTS, variant_sets
from mitigauge.tracking.studies.schemas import (
    EventCost,
    Gate,
    KernelSet,
    PatchCost,
    ProcessorCost,
    Variants,
)
from mitigauge.tracking.studies.variants import rankings_of, variants_of

# Instructions, branches of the clearing loop and barriers of an exit, by revision.
RUNS = {"v3": (400, 84, 0), "v2": (412, 84, 0), "v1": (430, 84, 0), "v3+fix-7": (300, 20, 0)}
PRICED = "skylake-2018"


class World:
    """What an exit runs on the kernel of each revision, and its price: a tenth of a ns each."""

    def __init__(self, runs: dict[str, tuple[int, int | float, int]], error: float = 0.5) -> None:
        self.runs = runs
        self.error = error

    def costs(self, before: KernelSet, after: KernelSet) -> list[PatchCost]:
        a, b = self.runs[before.revision], self.runs[after.revision]
        exact = b[0] - a[0]
        ns = exact / 10
        return [
            PatchCost(
                case="exits", host="lab-amd", mode="vmscape/bhb-clear", exact=exact,
                difference=exact, lines=0, in_its_code=exact, functions=[],
                events=[
                    event("bhb-branch", a[1], b[1]), event("ibpb", a[2], b[2]),
                    event("lfence", a[1], b[2], protects=False),
                ],
                predictions=[
                    ProcessorCost(
                        processor=PRICED, title="Skylake", ns=ns,
                        low=ns - self.error, high=ns + self.error, missing=[],
                    )
                ],
            ),
            PatchCost(
                case="syscall", host="lab-amd", mode="vmscape/bhb-clear", exact=0, difference=0,
                lines=0, in_its_code=0, functions=[],
            ),
        ]  # fmt: skip


def event(name: str, a: float, b: float, *, protects: bool = True) -> EventCost:
    whole = int(b - a) if a % 1 == b % 1 == 0 else None
    return EventCost(event=name, title=name, a=a, b=b, exact=whole, protects=protects)


def built(*labels: str, content: dict[str, str] | None = None) -> list[KernelSet]:
    sets = variant_sets((labels[0], 3), [(label, 3) for label in labels[1:]])
    codes = content or {}
    return [
        each.model_copy(
            update={"release": each.name, "content": codes.get(each.revision, each.name)}
        )
        for each in sets
    ]


def study(world: World, sets: list[KernelSet]) -> Variants:
    variants = variants_of(sets, {each.revision: f"x of {each.revision}" for each in sets},
                           world.costs)  # fmt: skip
    return Variants(sets=sets, variants=variants, rankings=rankings_of(sets, variants, world.costs))


def gates(of: Variants) -> dict[str, Gate]:
    return {each.name: each.gate for each in of.variants}


def test_one_that_clears_less_is_out_before_the_others_are_ranked() -> None:
    told = study(World(RUNS), built("v3", "v3+fix-7", "v2", "v1"))
    assert gates(told) == {
        "v3": Gate.REFERENCE, "v3+fix-7": Gate.OUT, "v2": Gate.PASSED, "v1": Gate.PASSED,
    }  # fmt: skip
    for ranking in told.rankings:
        assert "v3+fix-7" not in {place.name for place in ranking.places}
    counted, predicted, _ = told.rankings
    assert [(place.name, place.more) for place in counted.places] == [
        ("v3", 0), ("v2", 12), ("v1", 30),
    ]  # fmt: skip
    assert (predicted.processor, [place.more for place in predicted.places]) == (
        PRICED,
        [0, 1.2, 3],
    )
    answer = answer_of(told)
    assert answer[0] == "exits on lab-amd: v3 runs the fewest instructions; v2 +12, v1 +30"
    assert answer[1] == (
        "  predicted for Skylake: v3 the fastest; v2 +1.2 ns [+0.7, +1.7], v1 +3.0 ns [+2.5, +3.5]"
    )
    assert answer[2] == "syscall on lab-amd: all that are ranked run as many instructions"
    assert answer[3] == (
        "v3+fix-7 is out, it does less of what protects: bhb-branch from 84 to 20 an operation of "
        "exits on lab-amd"
    )
    assert not looks_worse(told)


def test_an_earlier_revision_may_win() -> None:
    told = study(World({"v4": (455, 84, 0), "v3": (400, 84, 0)}), built("v4", "v3"))
    assert [(place.name, place.more) for place in told.rankings[0].places] == [
        ("v3", 0), ("v4", 55),
    ]  # fmt: skip


def test_what_a_prediction_cannot_tell_from_the_first_is_named_with_it() -> None:
    told = study(World(RUNS, error=2.0), built("v3", "v2", "v1"))
    assert "predicted for Skylake: v3 and v2 the fastest; v1 +3.0 ns" in answer_of(told)[1]


@pytest.mark.parametrize(
    ("runs", "why"),
    [
        # A loop in place of a barrier: nobody knows from counts which protects more.
        ((300, 84, 0), "it does less of one thing and more of another: ibpb from 1 to 0"),
        ((400, 20.5, 1), "operations differ among themselves: bhb-branch from 0 to 20.5"),
    ],
)
def test_what_the_gate_cannot_tell_is_ranked_and_said(
    runs: tuple[int, int | float, int], why: str
) -> None:
    told = study(World({"v2": (350, 0, 1), "v1": runs}), built("v2", "v1"))
    assert gates(told)["v1"] is Gate.UNKNOWN
    assert {place.name for place in told.rankings[0].places} == {"v1", "v2"}
    [line] = [line for line in answer_of(told) if line.startswith("whether")]
    assert line.startswith(f"whether v1 protects as much as v2 cannot be told: {why}")


def test_where_nothing_that_protects_runs_nobody_passes_the_gate() -> None:
    told = study(World({"v2": (350, 0, 0), "v1": (360, 0, 0)}), built("v2", "v1"))
    assert gates(told)["v1"] is Gate.UNKNOWN
    assert "no case runs anything that is known to protect" in answer_of(told)[-1]


def test_one_that_does_more_of_what_protects_passes() -> None:
    told = study(World({"v2": (350, 20, 0), "v1": (420, 84, 0)}), built("v2", "v1"))
    assert gates(told)["v1"] is Gate.PASSED


def test_kernels_with_the_same_code_are_ranked_once() -> None:
    sets = built("v3", "v2", "v1", content={"v2": "v3", "v1": "one", "v3": "v3"})
    told = study(World(RUNS), sets)
    assert [(each.name, each.same_as) for each in told.variants] == [
        ("v3", ""), ("v2", "v3"), ("v1", ""),
    ]  # fmt: skip
    assert {place.name for place in told.rankings[0].places} == {"v3", "v1"}
    assert "v2 has the code of v3" in answer_of(told)


def test_one_that_does_not_build_leaves_the_others_ranked() -> None:
    sets = built("v3", "v2", "v1")
    sets[1] = sets[1].model_copy(update={"release": "", "skipped": "does not build: no such toy"})
    told = study(World(RUNS), sets)
    assert {place.name for place in told.rankings[0].places} == {"v3", "v1"}
    assert answer_of(told)[-1] == (
        "whether v2 protects as much as v3 cannot be told: does not build: no such toy"
    )


def test_where_all_others_are_out_nothing_is_ranked() -> None:
    told = study(World(RUNS), built("v3", "v3+fix-7"))
    assert told.rankings == []
    assert answer_of(told)[-1] == (
        "nothing is ranked: no other revision is counted that does as much as v3"
    )


def test_a_case_that_is_not_counted_lets_nobody_pass() -> None:
    class Uncounted(World):
        def costs(self, before: KernelSet, after: KernelSet) -> list[PatchCost]:
            exits, syscall = super().costs(before, after)
            return [exits, syscall.model_copy(update={"why_none": "no exact counts"})]

    told = study(Uncounted(RUNS), built("v3", "v2"))
    assert gates(told)["v2"] is Gate.UNKNOWN
    assert {each.case for each in told.rankings} == {"exits"}


def test_an_arm_has_a_name_that_a_spec_may_have_and_the_newest_are_taken() -> None:
    others = [(f"v9+fix-{n}", 2) for n in range(20)]
    asked, *found = variant_sets(("v9", 3), others)
    assert (asked.name, asked.patches) == ("v9", [1, 2, 3])
    assert [each.revision for each in found] == [label for label, _ in others[:MOST_VARIANTS]]
    assert found[0].name == "v9-fix-0"


def test_one_revision_alone_has_no_variants() -> None:
    with pytest.raises(InvalidInput, match="no other revision than v1"):
        variant_sets(("v1", 3), [])
