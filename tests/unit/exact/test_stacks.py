"""Exact totals spread over sampled stacks: nothing is lost, and nothing is mixed."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mitigauge.analysis.profiles.diff.compare import BootProfile
from mitigauge.analysis.profiles.exact.nowhere import UNKNOWN_USER
from mitigauge.analysis.profiles.exact.operation import operation_of
from mitigauge.analysis.profiles.exact.stack_frames import (
    NOT_SAMPLED,
    Frames,
    frames_of,
    functions_of,
)
from mitigauge.analysis.profiles.exact.stacks import (
    NO_FUNCTION,
    Attributed,
    Code,
    attributed,
    sampled,
    symbols_of,
    totals_of,
)
from mitigauge.analysis.profiles.store.tree import FrameTree, Layout
from tests.unit.exact.ledgers import function, ledger

Stacks = Mapping[str, int]
EMPTY = np.array([], np.int64)


class Names:
    """Numbers of names, not one after the other, as a database has them."""

    def __init__(self) -> None:
        self.numbers: dict[bytes, int] = {}

    def number(self, name: bytes) -> int:
        return self.numbers.setdefault(name, 3 + 7 * len(self.numbers))

    def by_number(self) -> dict[int, str]:
        return {number: name.decode() for name, number in self.numbers.items()}


@dataclass
class World:
    """A tree with the boots of two sides."""

    layout: Layout
    boots: list[BootProfile]
    names: dict[int, str]

    def spread(self, side: int, totals: Mapping[Code, float]) -> Attributed:
        """*totals* over one side's stacks."""
        stacks = [sampled(self.layout, [boot], merged=True) for boot in self.boots]
        known = {each: self.names[each] for each in symbols_of(self.layout, stacks)}
        return attributed(self.layout, stacks[side], known, totals)


def world(*sides: Stacks) -> World:
    names, tree = Names(), FrameTree()
    boots = []
    for stacks in sides:
        folded = {stack.encode(): count for stack, count in stacks.items()}
        nodes, counts = tree.add(folded, names.number, lambda symbol, _: symbol)
        boots.append(BootProfile(nodes.astype(np.int64), counts, EMPTY, EMPTY, EMPTY, None))
    return World(tree.layout(), boots, names.by_number())


def drawn(stacks: Stacks, totals: Mapping[Code, float]) -> tuple[dict[str, float], Frames]:
    """Own instructions by stack, and the frames of side A with nothing in B."""
    made = world(stacks)
    found = made.spread(0, totals)
    frames = frames_of(made.layout, found, Attributed(EMPTY, EMPTY, {}), made.names)
    return own_by_stack(frames), frames


def own_by_stack(frames: Frames) -> dict[str, float]:
    own = frames.a.copy()
    for at, above in enumerate(frames.parent.tolist()):
        if above >= 0:
            own[above] -= frames.a[at]
    paths: list[str] = []
    for above, name in zip(frames.parent.tolist(), frames.name.tolist(), strict=True):
        paths.append(f"{paths[above]};{frames.names[name]}".lstrip(";") if above >= 0 else "")
    return {path: value for path, value in zip(paths, own.tolist(), strict=True) if value > 1e-9}


def test_a_stack_gets_the_part_that_its_samples_are_of_its_leafs() -> None:
    stacks = {"perf;main;read;copy": 1, "perf;main;write;copy": 3, "perf;main;read": 5}
    own, frames = drawn(stacks, {("copy", True): 100, ("read", True): 7})
    assert own == {
        "perf;main;read;copy": pytest.approx(25),
        "perf;main;write;copy": pytest.approx(75),
        "perf;main;read": pytest.approx(7),
    }
    assert frames.a[0] == pytest.approx(107)


def test_what_no_sample_saw_stands_under_one_frame() -> None:
    own, frames = drawn({"perf;main": 2}, {("main", False): 3, ("rare", True): 0.25})
    assert own == {"perf;main": 3, f"{NOT_SAMPLED};rare": 0.25}
    assert frames.a[0] == 3.25


def test_what_ran_outside_the_windows_disappears() -> None:
    own, frames = drawn({"perf;main": 2, "perf;main;exit": 9}, {("main", False): 3})
    assert own == {"perf;main": 3}
    assert "exit" not in frames.names


def test_without_a_sample_that_fits_all_is_not_sampled() -> None:
    own, _ = drawn({"perf;exit": 9}, {("main", False): 3})
    assert own == {f"{NOT_SAMPLED};main": 3}


def test_functions_of_one_name_in_kernel_and_program_are_not_mixed() -> None:
    stacks = {"perf;main;memcpy": 1, "perf;main;entry;vfs_read;memcpy": 4}
    totals = {("memcpy", True): 40.0, ("memcpy", False): 8.0, ("entry", True): 1.0}
    own, _ = drawn(stacks, totals)
    assert own == {
        "perf;main;memcpy": 8,
        "perf;main;entry;vfs_read;memcpy": 40,
        f"{NOT_SAMPLED};entry": 1,
    }


def test_a_mark_says_that_a_function_is_the_kernels() -> None:
    stacks = {"perf;main;read": 1, "perf;main;read_[k]": 1, "perf;main;entry_[k];other": 1}
    totals = {("read", True): 40.0, ("read", False): 8.0, ("other", False): 2.0}
    own, _ = drawn(stacks, totals)
    # The kernel calls no program's functions.
    expected = {"perf;main;read": 8, "perf;main;read_[k]": 40, f"{NOT_SAMPLED};other": 2}
    assert own == expected


def test_an_inlined_functions_instructions_are_its_callers() -> None:
    own, _ = drawn({"perf;f": 1, "perf;f;g_[i];h_[i]": 3}, {("f", True): 8})
    assert own == {"perf;f": 2, "perf;f;g_[i];h_[i]": 6}


def test_a_thread_is_no_function() -> None:
    own, _ = drawn({"perf": 5, "perf;perf": 1}, {("perf", False): 8})
    assert own == {"perf;perf": 8}


def test_a_hostile_name_is_only_a_name() -> None:
    name = "<img src=x>;".replace(";", ":") + "\x1b[31m%s{}\u202e"
    own, frames = drawn({f"all;{name}": 1}, {(name, False): 5, (NOT_SAMPLED, False): 1})
    assert own == {f"all;{name}": 5, f"{NOT_SAMPLED};{NOT_SAMPLED}": 1}
    assert frames.names[0] == "all"


def test_totals_are_spelled_as_stacks_are() -> None:
    stripped = function("", {"nop": 3}, module="libc.so.6")
    nowhere = function("", {"nop": 2}, module=UNKNOWN_USER)
    boots = [
        ledger(function("f.cold", {"ret": 1}), function("f", {"ret": 2}), stripped),
        ledger(function("f", {"ret": 2}), nowhere),
    ]
    assert totals_of(operation_of(boots), lambda name: name.removesuffix(".cold")) == {
        ("f", True): 2.5,
        ("[libc.so.6]", False): 1.5,
        ("[unknown]", False): 1,
        (NO_FUNCTION, True): 0,
    }


def test_blocks_without_room_are_in_no_function() -> None:
    made = ledger(function("f", {"ret": 1}))
    more = [each.model_copy(update={"instructions": 1500}) for each in made.windows]
    totals = totals_of(operation_of([made.model_copy(update={"windows": more})]), str)
    assert totals[NO_FUNCTION, True] == 0.5


def test_many_frames_lose_the_narrowest_and_no_instruction() -> None:
    stacks = {f"perf;f{number}": 1 for number in range(50)}
    totals = {(f"f{number}", True): 1e6 if number == 7 else 1.0 for number in range(50)}
    made = world(stacks)
    found = made.spread(0, totals)
    frames = frames_of(made.layout, found, found, made.names, most=10)
    assert frames.names == ["all", "perf", "f7"]
    assert frames.pruned_frames == 49
    assert frames.pruned == (pytest.approx(49), pytest.approx(49))
    assert frames.a[0] == pytest.approx(1e6 + 49)


NAME = st.sampled_from(["main", "read", "copy", "entry", "read_[k]", "in_[i]", "[libc.so.6]", "é;"])
STACK = st.lists(NAME.map(lambda name: name.replace(";", ":")), min_size=1, max_size=6)
STACKS = st.dictionaries(
    STACK.map(lambda names: ";".join(["perf", *names])), st.integers(1, 2**40), min_size=1
)
CALLED = st.sampled_from(["main", "read", "copy", "entry", "[libc.so.6]", "x"])
TOTALS = st.dictionaries(
    st.tuples(CALLED, st.booleans()),
    st.floats(0, 1e7).map(lambda value: round(value, 3)),
)


@given(STACKS, STACKS, TOTALS, TOTALS)
def test_every_function_and_the_whole_keep_their_instructions(
    a: Stacks, b: Stacks, totals_a: Mapping[Code, float], totals_b: Mapping[Code, float]
) -> None:
    made = world(a, b)
    sides = [made.spread(0, totals_a), made.spread(1, totals_b)]
    frames = frames_of(made.layout, sides[0], sides[1], made.names)
    functions = functions_of(frames)
    for side, totals, values, own in (
        (sides[0], totals_a, frames.a, functions.own[0]),
        (sides[1], totals_b, frames.b, functions.own[1]),
    ):
        assert np.isfinite(values).all()
        assert (values >= 0).all()
        assert values[0] == pytest.approx(sum(totals.values()), abs=1e-3)
        assert side.total == pytest.approx(sum(totals.values()), abs=1e-3)
        assert own.sum() == pytest.approx(sum(totals.values()), abs=1e-3)
        seen = {frames.names[each]: value for each, value in zip(functions.name, own, strict=True)}
        whole = math.fsum(value for (name, _), value in totals.items() if name == "copy")
        inlined = any("in_[i]" in stack for stack in (*a, *b))
        if not inlined:
            assert seen.get("copy", 0.0) == pytest.approx(whole, abs=1e-3)
    assert ((frames.a[1:] > 0) | (frames.b[1:] > 0)).all()


@given(STACKS, TOTALS)
def test_callers_come_first_and_hold_what_they_call(
    stacks: Stacks, totals: Mapping[Code, float]
) -> None:
    own, frames = drawn(stacks, totals)
    assert frames.parent[0] == -1
    assert (frames.parent[1:] < np.arange(1, len(frames.parent))).all()
    assert all(value > 0 for value in own.values())
    total = functions_of(frames).total[0]
    assert (total <= frames.a[0] + 1e-6).all()
