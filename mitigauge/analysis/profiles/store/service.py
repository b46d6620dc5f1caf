"""Stores one profile: its counts as a row, its stacks in the shared tree."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache

import numpy as np
from sqlalchemy.orm import Session

from mitigauge.access.audit import service as audit
from mitigauge.access.audit.actions import Action, Subject, SubjectKind
from mitigauge.analysis.profiles.capture.capture import Pass
from mitigauge.analysis.profiles.capture.folded_text import check_stacks
from mitigauge.analysis.profiles.store import repository
from mitigauge.analysis.profiles.store.functions import (
    function_weights,
    truncated_weight,
    unknown_weight,
)
from mitigauge.analysis.profiles.store.normalise import Rules, rules, without_idle
from mitigauge.analysis.profiles.store.pack import packed
from mitigauge.analysis.profiles.store.tables import FrameTree, Profile, System
from mitigauge.analysis.profiles.store.tree import Counts, Ints, Layout
from mitigauge.analysis.profiles.store.tree import FrameTree as Tree
from mitigauge.core.errors import InvalidInput
from mitigauge.core.hostile_text import HOSTILE

Stacks = Mapping[bytes, int]
# Of a tree, a group of imported profiles and an event.
LONGEST_NAME = 200


def store_boot_profile(
    session: Session, *, boot_id: int, case_id: int, workload: str, stacks: Stacks, of: Pass,
    system: System = "host",
) -> Profile:  # fmt: skip
    """Store the profile of a case within a boot, unless there is one already."""
    found = repository.stored_profile(session, boot_id, case_id, system)
    if found is not None:
        return found
    return _insert(session, workload, stacks, of, boot_id=boot_id, case_id=case_id, system=system)


def store_imported(
    session: Session, *, tree: str, label: str, stacks: Stacks, of: Pass
) -> tuple[Profile, bool]:
    """Store an imported profile in group *label* of *tree*; and whether it is new.

    Raises :class:`InvalidInput` for names that cannot be told apart by an index.
    """
    for what, name in (("tree", tree), ("group", label), ("event", of.event)):
        if not 0 < len(name) <= LONGEST_NAME or HOSTILE.search(name):
            raise InvalidInput(
                f"{ascii(name)[:100]} cannot be the name of a {what}",
                hint=f"Choose a printable name of at most {LONGEST_NAME} characters.",
            )
    row = repository.locked_tree(session, tree)
    known = repository.imported_profile(session, row.id, label, of.raw_sha256) if row else None
    if known is not None:
        return known, False
    stored = _insert(session, tree, stacks, of, label=label)
    subject = Subject(SubjectKind.PROFILE, f"{tree}/{label}")
    audit.record(session, Action.PROFILE_IMPORT, subject, after={"raw_sha256": of.raw_sha256})
    return stored, True


class _Symbols:
    """Numbers of frames' names, as they are and normalised."""

    def __init__(self, session: Session, stacks: Stacks, by: Rules) -> None:
        self._rules = by
        # Different ones first: a stack repeats what many others have.
        threads = set(map(as_text, {stack.partition(b";")[0] for stack in stacks}))
        frames: set[bytes] = set()
        for stack in stacks:
            frames.update(stack.split(b";")[1:])
        functions = set(map(as_text, frames))
        names = threads | functions
        names |= {by.thread(name) for name in threads} | {by.function(name) for name in functions}
        self._number = repository.symbol_ids(session, names)
        self._name = {number: name for name, number in self._number.items()}
        self._session = session
        self.of = cache(self._number_of)
        self.normalised = cache(self._normalised)
        self.of_normalised = cache(self._number_of_normalised)

    def _number_of(self, frame: bytes) -> int:
        return self._number[as_text(frame)]

    def _number_of_normalised(self, frame: bytes, thread: bool) -> int:
        return self.normalised(self._number_of(frame), thread)

    def _normalised(self, symbol: int, thread: bool) -> int:
        name = self._name.get(symbol)
        if name is None:
            name = self._name[symbol] = repository.names_of(self._session, [symbol])[symbol]
        other = self._rules.thread(name) if thread else self._rules.function(name)
        if other not in self._number:
            self._number |= repository.symbol_ids(self._session, [other])
        return self._number[other]


def as_text(frame: bytes) -> str:
    """A frame's name as PostgreSQL can hold it and a terminal show it.

    Broken UTF-8, NUL and what a terminal obeys are spelled with backslashes, so that two
    names stay two.
    """
    return HOSTILE.sub(_spelled, frame.decode("utf-8", "backslashreplace"))


def _spelled(character: re.Match[str]) -> str:
    return character[0].encode("unicode_escape").decode()


def _insert(
    session: Session, tree_name: str, stacks: Stacks, of: Pass, **identity: int | str
) -> Profile:
    by = rules()
    at_work, idle = without_idle(stacks, by)
    if not at_work:
        raise InvalidInput(
            "every sample of the profile is of an idle processor",
            hint="Record while something runs.",
        )
    check_stacks(at_work, name="profile")
    symbols = _Symbols(session, at_work, by)
    tree, nodes, counts = _grown(session, tree_name, at_work, symbols, by)
    functions = sorted(
        (symbol, own, total)
        for symbol, (own, total) in function_weights(at_work, symbols.of_normalised).items()
    )
    columns = np.array(functions, np.int64).T
    profile = Profile(
        tree=tree,
        event=of.event,
        hz=of.hz,
        samples=of.samples,
        lost=of.lost,
        weight=int(counts.sum()),
        idle=idle,
        unknown=unknown_weight(at_work),
        truncated=truncated_weight(at_work),
        operations=of.operations,
        overhead_percent=of.overhead_percent,
        seconds=of.seconds,
        counters=dict(of.counters),
        tool=of.tool,
        raw_sha256=of.raw_sha256,
        stacks=packed(nodes.astype(np.int64), counts),
        functions=packed(columns[0], columns[1], columns[2]),
        **identity,
    )
    session.add(profile)
    session.flush()
    return profile


def _grown(
    session: Session, name: str, stacks: Stacks, symbols: _Symbols, by: Rules
) -> tuple[FrameTree, Ints, Counts]:
    """The tree with *stacks* in it, and their nodes and counts."""
    row = repository.locked_tree(session, name)
    if row is None:
        row = FrameTree(name=name, nodes=0, rules_version=by.version, layout=b"")
        session.add(row)
    tree = Tree.of(Layout.from_bytes(row.layout)) if row.nodes else Tree()
    same_rules = row.rules_version == by.version
    if not same_rules:
        tree.merge_again(symbols.normalised)
    nodes, counts = tree.add(stacks, symbols.of, symbols.normalised)
    # Most profiles bring no new stack, and leave the tree as it is.
    if len(tree.parent) != row.nodes or not same_rules:
        row.layout = tree.layout().to_bytes()
        row.nodes, row.rules_version = len(tree.parent), by.version
    return row, nodes, counts
