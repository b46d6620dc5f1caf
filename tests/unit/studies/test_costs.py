"""What each patch costs, and which ones interact."""

from __future__ import annotations

import pytest

from mitigauge.analysis.profiles.diff.sides import Selection
from mitigauge.analysis.profiles.exact.schemas import ExactFunctionRow, ExactSide, ExactTable
from mitigauge.tracking.studies.answers import answer_of
from mitigauge.tracking.studies.costs import (
    cost_of,
    interactions_of,
    more_sets,
    rows_of,
    with_others,
)
from mitigauge.tracking.studies.kernel_sets import Touched, booted, first_sets, kernel_set, set_of
from mitigauge.tracking.studies.schemas import (
    KernelSet,
    PatchCost,
    PatchCosts,
    PatchFunction,
    PatchRow,
    PatchSize,
    ProcessorCost,
)

TITLES = ["one", "two", "three"]
EVERY = [*first_sets(3), kernel_set([2]), kernel_set([3])]


class World:
    """What each set of patches runs an operation; *beside*: in code that no patch changes."""

    def __init__(
        self,
        runs: dict[tuple[int, ...], int],
        beside: int = 0,
        depends: dict[int, list[int]] | None = None,
    ) -> None:
        self.runs = runs
        self.depends = depends or {}
        self.beside = beside

    def costs(self, before: KernelSet, after: KernelSet) -> list[PatchCost]:
        exact = self.runs[tuple(after.patches)] - self.runs[tuple(before.patches)]
        other = self.beside if len(after.patches) == 1 else 0
        return [cost(exact + other, exact)]

    def changed(self, before: KernelSet, after: KernelSet) -> frozenset[str]:
        return frozenset(f"f{patch}" for patch in {*after.patches} - {*before.patches})

    def code(self, of: KernelSet, function: str) -> tuple[int, ...]:
        """Of which patches a function has the code: its own, and those that its code depends on."""
        own = int(function[1:])
        wanted = {own, *self.depends.get(own, ())}
        return tuple(sorted(wanted & {*of.patches}))

    def alike(self, one: KernelSet, other: KernelSet, functions: frozenset[str]) -> bool:
        return all(self.code(one, name) == self.code(other, name) for name in functions)


def cost(exact: int | None, own: int = 0, *, why_none: str = "") -> PatchCost:
    return PatchCost(
        case="getppid", host="lab-intel", mode="m/off", exact=exact, difference=float(exact or 0),
        lines=0.0, in_its_code=own, functions=[], why_none=why_none,
    )  # fmt: skip


def built(sets: list[KernelSet], **content: str) -> list[KernelSet]:
    return [
        each.model_copy(update={"release": each.name, "content": content.get(each.name, each.name)})
        for each in sets
    ]


def additive(*each: int) -> dict[tuple[int, ...], int]:
    """Every set of up to three patches that cost so much, whatever stands before them."""
    sets = [(), (1,), (2,), (3,), (1, 2), (1, 3), (2, 3), (1, 2, 3)]
    return {of: 100 + sum(each[patch - 1] for patch in of) for of in sets}


def study(world: World, sets: list[KernelSet]) -> PatchCosts:
    rows = rows_of(sets, TITLES, world.costs, world.changed)
    whole, base = set_of(sets, [1, 2, 3]), set_of(sets, [])
    assert whole
    assert base
    found = with_others(interactions_of(rows), sets, world.costs, world.changed, world.alike)
    return PatchCosts(
        sets=sets, rows=rows, whole=world.costs(base, whole), interactions=found, mode="m/off"
    )


def test_patches_that_do_not_depend_on_each_other_add_up() -> None:
    told = study(World(additive(0, 12, -3)), built(EVERY))
    assert [[cost.exact for cost in row.costs] for row in told.rows] == [[0], [12], [-3]]
    assert [[cost.exact for cost in row.alone] for row in told.rows] == [[], [12], [-3]]
    assert told.interactions == []
    answer = answer_of(told)
    assert answer[0].startswith("patch 2 'two': exactly +12 instructions")
    assert answer[-1].endswith("each alone on the base, they add up to as many")
    assert any(line.startswith("patch 1: nothing in any") for line in answer)


def test_a_pair_that_interacts_is_named() -> None:
    runs = additive(0, 0, 6) | {(1, 3): 120, (1, 2, 3): 120}
    sets = built([*EVERY, kernel_set([1, 3]), kernel_set([2, 3])])
    told = study(World(runs), sets)
    [pair] = told.interactions
    assert (pair.patch, pair.alone, pair.after, pair.others) == (3, 6, 20, [1])
    answer = answer_of(told)
    assert any(line.startswith("patch 3 interacts with patch 1: +20") for line in answer)
    assert answer[-1].endswith("add up to +6, which is not that")


def more_of(world: World, sets: list[KernelSet]) -> list[KernelSet]:
    rows = rows_of(sets, TITLES, world.costs, world.changed)
    patches = [Touched(frozenset([file])) for file in ("a.c", "b.c", "a.c")]
    return more_sets(rows, sets, patches, world.changed, world.alike)


def test_a_pair_whose_code_tells_it_is_built_and_not_booted() -> None:
    world = World(additive(0, 0, 6) | {(1, 2, 3): 120}, depends={3: [1]})
    sets = built(EVERY)
    pairs = more_of(world, sets)
    assert [(pair.patches, pair.by_code) for pair in pairs] == [([1, 3], True)]
    ready = [*sets, *built(pairs)]
    assert {each.name for each in booted(ready)} == {each.name for each in sets}
    assert more_of(world, ready) == []
    [pair] = study(world, ready).interactions
    assert (pair.patch, pair.alone, pair.after, pair.others) == (3, 6, 20, [1])


def test_pairs_are_built_one_by_one_until_the_code_of_one_tells_it() -> None:
    world = World(additive(0, 0, 6) | {(1, 2, 3): 120}, depends={3: [2]})
    sets = built(EVERY)
    first = more_of(world, sets)
    assert [pair.patches for pair in first] == [[1, 3]]
    second = more_of(world, [*sets, *built(first)])
    assert [pair.patches for pair in second] == [[2, 3]]
    ready = [*sets, *built(first), *built(second)]
    assert more_of(world, ready) == []
    [pair] = study(world, ready).interactions
    assert pair.others == [2]


def test_a_pair_whose_code_is_that_of_the_patch_alone_is_counted() -> None:
    """What one patch stores, another one's loop may read."""
    world = World(additive(0, 0, 6) | {(1, 3): 120, (1, 2, 3): 120, (2, 3): 106})
    sets = built(EVERY)
    pairs = more_of(world, sets)
    assert [pair.by_code for pair in pairs] == [False, False]
    [pair] = study(world, [*sets, *built(pairs)]).interactions
    assert pair.others == [1]


def test_which_one_it_is_cannot_be_told_without_the_kernels_of_two() -> None:
    told = study(World(additive(0, 0, 6) | {(1, 2, 3): 120}), built(EVERY))
    assert [pair.others for pair in told.interactions] == [[]]
    assert any("which one cannot be told" in line for line in answer_of(told))


def test_what_differs_in_code_that_no_patch_changes_is_no_interaction() -> None:
    """Two boots of one kernel differ there too."""
    told = study(World(additive(0, 12, 0), beside=9), built(EVERY))
    assert told.interactions == []


def test_a_patch_that_leaves_the_code_as_it_was_is_not_compared() -> None:
    sets = built(EVERY, p1="base", base="base")
    [first, *_] = study(World(additive(0, 12, 0)), sets).rows
    assert (first.same_code, first.costs) == (True, [])


def test_a_patch_that_costs_alone_and_nothing_in_its_place_interacts() -> None:
    runs = additive(0, 0, 6) | {(1, 2, 3): 100, (2, 3): 100}
    sets = built([*EVERY, kernel_set([1, 3]), kernel_set([2, 3])], p3="p2")
    [pair] = study(World(runs), sets).interactions
    assert (pair.alone, pair.after, pair.others) == (6, 0, [2])


def test_patches_that_build_only_together_are_told_together() -> None:
    sets = built(EVERY)
    sets[2] = KernelSet(name="p2", patches=[1, 2], skipped="does not build: no such toy")
    rows = rows_of(sets, TITLES, World(additive(1, 2, 3)).costs, World({}).changed)
    assert [row.patches for row in rows] == [[1], [2, 3]]
    assert [cost.exact for cost in rows[1].costs] == [5]
    assert rows[1].alone_why == "they build only together"
    answer = answer_of(PatchCosts(sets=sets, rows=rows))
    assert any(line.startswith("patches 2-3 together: exactly +5") for line in answer)


def test_each_patch_has_its_size_beside_the_kernel_before_it() -> None:
    def size(before: KernelSet, after: KernelSet) -> PatchSize | None:
        return PatchSize(code=len(after.patches) - len(before.patches), boot=0, data=-8)

    world = World(additive(1, 2, 3))
    rows = rows_of(built(EVERY), TITLES, world.costs, world.changed, size)
    assert [row.size for row in rows] == [PatchSize(code=1, boot=0, data=-8)] * 3
    untold = rows_of(built(EVERY), TITLES, world.costs, world.changed)
    assert [row.size for row in untold] == [None] * 3


def test_of_a_series_whose_end_does_not_build_the_rest_is_told() -> None:
    sets = built(EVERY)
    sets[3] = KernelSet(name="p3", patches=[1, 2, 3], skipped="does not build: no such toy")
    rows = rows_of(sets, TITLES, World(additive(1, 2, 3)).costs, World({}).changed)
    assert [row.patches for row in rows] == [[1], [2], [3]]
    assert rows[2].why_none == "does not build: no such toy"
    assert "patch 3 'three': not known, does not build: no such toy" in answer_of(
        PatchCosts(sets=sets, rows=rows)
    )


@pytest.mark.parametrize("exact", [None, 0])
def test_what_is_not_counted_is_said_and_is_not_nothing(exact: int | None) -> None:
    sets = built(first_sets(1))
    uncounted = cost(exact, why_none="No exact counts of p1: the plugin was not there.")
    rows = rows_of(sets, TITLES[:1], lambda _a, _b: [uncounted], lambda _a, _b: frozenset())
    answer = answer_of(PatchCosts(sets=sets, rows=rows, whole=[uncounted]))
    assert any("the plugin was not there" in line for line in answer)
    assert not any("nothing in any" in line for line in answer)


def test_a_difference_of_one_is_not_called_a_cost() -> None:
    answer = answer_of(study(World(additive(1, 0, 0), beside=0), built(EVERY)))
    # In code that the patch changes it is one, whatever its size.
    assert answer[0].startswith("patch 1 'one': exactly +1")
    other = study(World(additive(0, 0, 0), beside=1), built(EVERY))
    assert not any("exactly" in line for line in answer_of(other) if line.startswith("patch 1 '"))


def counted_case(**changes: object) -> list[str]:
    """The answer of one patch that changes a function, by one case with these figures."""
    of = cost(0).model_copy(update=changes)
    row = PatchRow(patches=[1], titles=["one"], same_code=False, costs=[of], changed_count=1)
    return answer_of(PatchCosts(rows=[row]))


NOTHING = "nothing in any of these cases"


def test_nothing_is_said_of_what_is_exactly_nothing_alone() -> None:
    assert counted_case() == [f"patch 1: {NOTHING}, by exact counts"]
    renamed = [PatchFunction(function=name, exact=more, difference=more)
               for name, more in (("old", -50), ("new", 50))]  # fmt: skip
    for changes in (
        {"exact": None, "difference": 5000.0},
        {"exact": None, "difference": 0.2, "low": -0.1, "high": 0.5},
        {"exact": 1, "difference": 1.0},
        {"lines": 2.0},
        {"functions": renamed},
    ):
        [line] = counted_case(**changes)
        assert NOTHING not in line, changes
        assert line.startswith("patch 1 'one': "), changes


def test_what_is_no_whole_number_has_its_average_and_interval() -> None:
    [line] = counted_case(exact=None, difference=5000.0, low=4900.0, high=5100.0)
    assert line == (
        "patch 1 'one': no whole number, +5,000.00 on average [+4,900.00, +5,100.00] "
        "instructions an operation of getppid on lab-intel"
    )
    [line] = counted_case(exact=None, difference=0.2, low=-0.1, high=0.5)
    assert line.startswith("patch 1 'one': cannot tell, no whole number, +0.20 on average")


def test_a_patch_that_moves_code_and_changes_none_cannot_be_told_for_real_hosts() -> None:
    """It pads, aligns, or makes .bss larger."""
    row = PatchRow(patches=[1], titles=["one"], same_code=False, costs=[cost(0)], changed_count=0)
    [line] = answer_of(PatchCosts(rows=[row]))
    assert line.startswith(
        "patch 1: no function's code is known to differ, but where code or data lie may"
    )
    assert "cannot tell what that costs on a real host" in line
    assert NOTHING not in line


def table(**functions: int) -> ExactTable:
    """Two kernels of which one runs so much more of each function."""
    of = Selection(1, 1, "lab-intel", "p")
    side = ExactSide(
        label="p", of=of, boots=1, instructions=0.0, steady=0, counted_ns=0.0, measured_ns=0.0,
        lines=0.0, pages=0.0, missing=[],
    )  # fmt: skip
    rows = [
        ExactFunctionRow(function=name, module="kernel", a=0.0, b=more, difference=more, exact=more)
        for name, more in functions.items()
    ]
    total = sum(functions.values())
    return ExactTable(
        title="getppid", host="lab-intel", a=side, b=side, why_none="", difference=total,
        exact=total, functions=rows, left_out=0, footprint=[], bill=[], predictions=[],
        function="", instructions=[],
    )  # fmt: skip


def test_what_a_longer_function_moves_elsewhere_is_named_beside_it() -> None:
    """As a real one did: the return needs no thunk where it lies now."""
    cost = cost_of(table(getppid=20, its_return_thunk=-1), "m/off", frozenset({"getppid"}))
    assert (cost.exact, cost.in_its_code) == (19, 20)
    row = PatchRow(patches=[7], titles=["seven"], same_code=False, costs=[cost])
    assert answer_of(PatchCosts(rows=[row]))[0] == (
        "patch 7 'seven': exactly +19 instructions an operation of getppid on lab-intel "
        "(getppid +20, -1 in code that it does not change: its_return_thunk -1)"
    )


def test_of_a_single_host_the_sums_alone_say_which() -> None:
    cost = cost_of(table(getppid=20), "m/off", frozenset({"getppid"}))
    row = PatchRow(patches=[1], titles=["one"], same_code=False, costs=[cost])
    first, last = answer_of(PatchCosts(rows=[row], whole=[cost]))
    assert first == "patch 1 'one': exactly +20 instructions an operation of getppid (getppid +20)"
    assert "of getppid on lab-intel; " in last
    other = row.model_copy(update={"costs": [cost, cost.model_copy(update={"host": "lab-amd"})]})
    first, second, _ = answer_of(PatchCosts(rows=[other], whole=[cost]))
    assert "on lab-intel" in first
    assert "on lab-amd" in second


def predicted(processor: str, *missing: str) -> ProcessorCost:
    return ProcessorCost(
        processor=processor, title=processor, ns=1.0, low=0.5, high=1.5, missing=[*missing]
    )


def test_each_cost_is_predicted_for_the_same_processors() -> None:
    one = [predicted("amd"), predicted("intel"), predicted("old")]
    other = [predicted("old"), predicted("intel"), predicted("amd", "lfence", "verw")]
    rows = [
        PatchRow(
            patches=[at], titles=[TITLES[at - 1]], same_code=False,
            costs=[cost(5, 5).model_copy(update={"predictions": found})],
        )
        for at, found in ((1, one), (2, other))
    ]  # fmt: skip
    said = [line for line in answer_of(PatchCosts(rows=rows)) if line.startswith("  predicted")]
    assert [line.split()[2] for line in said] == ["intel:", "old:"] * 2
