"""Two groups of stored profiles side by side, as a page asks for them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sqlalchemy.orm import Session

from mitigauge.analysis.profiles.diff import draw
from mitigauge.analysis.profiles.diff.compare import (
    Basis,
    BootProfile,
    FrameDiff,
    FunctionDiff,
    bases_of,
    diff_frames,
    diff_functions,
    raw_symbols,
    with_names,
)
from mitigauge.analysis.profiles.diff.payload import (
    DiffHeader,
    DiffPruned,
    DiffSide,
    encoded,
    laid_out,
)
from mitigauge.analysis.profiles.diff.sides import Group, Sides, require_comparable
from mitigauge.analysis.profiles.diff.significance import Comparison
from mitigauge.analysis.profiles.store import repository
from mitigauge.analysis.profiles.store.functions import KERNEL_MARK
from mitigauge.analysis.profiles.store.normalise import rules
from mitigauge.analysis.profiles.store.pack import unpacked
from mitigauge.analysis.profiles.store.tables import Profile
from mitigauge.analysis.profiles.store.tree import Layout
from mitigauge.core.errors import InvalidInput
from mitigauge.core.wire.profile import NMI_EVENT, OFF_CPU

ROOT = "all"
SHARE_UNIT = "%"
IN_NANOSECONDS = ("cpu-clock", "task-clock", OFF_CPU, NMI_EVENT)


@dataclass(frozen=True, slots=True)
class Diffed:
    """Both sides' frames on one basis."""

    boots: list[BootProfile]
    """Of side a, then of b."""
    layout: Layout
    bases: list[Basis]
    basis: Basis
    unit: str
    frames: FrameDiff
    renamed: Mapping[int, int]
    """Symbols of A that are shown as those that B has instead."""


def imported_sides(session: Session, *, tree: str, a: str, b: str) -> Sides:
    """Two groups of imported profiles."""
    return Sides(
        Group(a, repository.profiles_labelled(session, tree, a)),
        Group(b, repository.profiles_labelled(session, tree, b)),
        title=tree,
    )


def diff_sides(session: Session, sides: Sides, *, basis: Basis | None, merged: bool) -> Diffed:
    """The frames of both sides; *basis* defaults to the best there is.

    Raises :class:`InvalidInput` for sides that cannot be compared and for a basis they lack.
    """
    require_comparable(sides)
    profiles = [*sides.a.profiles, *sides.b.profiles]
    renamed = renamed_symbols(session, sides.renamed)
    boots = [with_names(boot_profile(profile), renamed) for profile in profiles]
    bases = bases_of(boots)
    chosen = basis or bases[0]
    if chosen not in bases:
        raise InvalidInput(
            f"there is no {chosen} basis: the workload counts no operations",
            hint=f"Choose one of {', '.join(bases)}.",
        )
    half = len(sides.a.profiles)
    layout = repository.layout_of(session, profiles[0].tree_id)
    if renamed:
        layout = layout.with_names(renamed)
    frames = diff_frames(layout, boots[:half], boots[half:], basis=chosen, merged=merged)
    unit = unit_of(chosen, profiles[0].event)
    return Diffed(boots, layout, bases, chosen, unit, frames, renamed)


def diff_payload(session: Session, sides: Sides, *, basis: Basis | None, merged: bool) -> bytes:
    """The diff of both sides in the form of :mod:`mitigauge.analysis.profiles.diff.payload`.

    Raises what :func:`diff_sides` raises.
    """
    diffed = diff_sides(session, sides, basis=basis, merged=merged)
    frames, boots, half = diffed.frames, diffed.boots, len(sides.a.profiles)
    functions = diff_functions(boots[:half], boots[half:], basis=diffed.basis)
    raw = raw_symbols(diffed.layout, boots) if merged else {}
    names, index_of, arrays = _arrays(session, frames, functions, raw)
    were = repository.names_of(session, list(diffed.renamed))
    places, body = laid_out(arrays)
    header = DiffHeader(
        a=side_of(sides.a, boots[:half], diffed.basis),
        b=side_of(sides.b, boots[half:], diffed.basis),
        basis=diffed.basis,
        bases=diffed.bases,
        unit=diffed.unit,
        title=sides.title,
        host=sides.host,
        emulated=sides.emulated,
        counted=sides.counted,
        event=sides.a.profiles[0].event,
        merged=merged,
        rules_version=rules().version,
        names=names,
        raw_names={
            str(index_of[common]): [names[index_of[own]] for own in symbols]
            for common, symbols in raw.items()
        },
        renamed={
            str(index_of[now]): were[was] for was, now in diffed.renamed.items() if now in index_of
        },
        pruned=DiffPruned(nodes=frames.pruned_nodes, a=frames.pruned[0], b=frames.pruned[1]),
        experiment=sides.experiment,
        case=sides.case,
        where=sides.system,
        wheres=list(sides.systems),
        svg_by=draw.installed(),
        arrays=places,
    )
    return encoded(header, body)


def diff_svg(session: Session, sides: Sides, *, basis: Basis | None, merged: bool) -> bytes:
    """The diff drawn by FlameGraph or inferno.

    Raises what :func:`diff_sides` and :func:`mitigauge.analysis.profiles.diff.draw.drawn` raise.
    """
    diffed = diff_sides(session, sides, basis=basis, merged=merged)
    frames = diffed.frames
    stored = repository.names_of(session, np.unique(frames.symbol[frames.symbol >= 0]).tolist())
    names = [stored.get(symbol, ROOT) for symbol in frames.symbol.tolist()]
    title = f"{sides.title}: {sides.b.label} against {sides.a.label}"
    if sides.emulated:
        title += " (EMULATED, COUNTED)" if sides.counted else " (EMULATED)"
    return draw.drawn(
        frames.parent, names, frames.compared.a, frames.compared.b, title=title, unit=diffed.unit
    )


def renamed_symbols(session: Session, names: Mapping[str, str]) -> dict[int, int]:
    """Functions that have another name, by the numbers of both names.

    A function of the kernel may stand with a mark behind its name.
    """
    if not names:
        return {}
    marked = {was + mark: now + mark for was, now in names.items() for mark in ("", KERNEL_MARK)}
    known = repository.known_symbols(session, [*marked, *marked.values()])
    return {known[was]: known[now] for was, now in marked.items() if was in known and now in known}


def boot_profile(profile: Profile) -> BootProfile:
    """The stored counts of one profile."""
    nodes, counts = unpacked(profile.stacks)
    symbols, own, total = unpacked(profile.functions)
    return BootProfile(nodes, counts, symbols, own, total, profile.operations)


def unit_of(basis: Basis, event: str) -> str:
    """What a figure is in: ``ns/op``, ``%``, ``samples`` …"""
    if basis == "share":
        return SHARE_UNIT
    weight = "ns" if event.startswith(IN_NANOSECONDS) else event.partition(":")[0]
    return f"{weight}/op" if basis == "operation" else weight


def side_of(group: Group, boots: Sequence[BootProfile], basis: Basis) -> DiffSide:
    """What the page says of a side beside its frames."""
    profiles = group.profiles
    weight = sum(profile.weight for profile in profiles)
    idle = sum(profile.idle for profile in profiles)
    operations = [profile.operations for profile in profiles if profile.operations]
    return DiffSide(
        label=group.label,
        of=group.of,
        boots=len(profiles),
        samples=sum(profile.samples for profile in profiles),
        lost=sum(profile.lost for profile in profiles),
        operations=sum(operations) or None,
        total=float(np.mean([boot.counts.sum() * boot.scale(basis) for boot in boots])),
        unknown_percent=100.0 * sum(profile.unknown for profile in profiles) / weight,
        truncated_percent=100.0 * sum(profile.truncated for profile in profiles) / weight,
        idle_percent=100.0 * idle / (weight + idle),
    )


def _arrays(
    session: Session, frames: FrameDiff, functions: FunctionDiff, raw: Mapping[int, list[int]]
) -> tuple[list[str], dict[int, int], dict[str, NDArray[Any]]]:
    """Names, the index of each symbol's name, and arrays of such indexes; the root's is 0."""
    others = [symbol for common, own in raw.items() for symbol in (common, *own)]
    symbols = np.union1d(frames.symbol[frames.symbol >= 0], functions.symbol)
    symbols = np.union1d(symbols, np.array(others, np.int32)).astype(np.int32)
    stored = repository.names_of(session, symbols.tolist())
    names = [ROOT, *(stored[symbol] for symbol in symbols.tolist())]
    index_of = {symbol: index for index, symbol in enumerate(symbols.tolist(), start=1)}
    index = np.searchsorted(symbols, frames.symbol) + 1
    arrays: dict[str, NDArray[Any]] = {
        "parent": frames.parent,
        "symbol": np.where(frames.symbol < 0, 0, index).astype(np.int32),
        **_columns("", frames.compared),
        "flags": frames.flags,
        "f_symbol": (np.searchsorted(symbols, functions.symbol) + 1).astype(np.int32),
        **_columns("fs_", functions.own, "f_self_"),
        **_columns("ft_", functions.total, "f_total_"),
    }
    return names, index_of, arrays


def _columns(
    prefix: str, compared: Comparison, means: str | None = None
) -> dict[str, NDArray[Any]]:
    means = prefix if means is None else means
    columns = {
        f"{means}a": compared.a,
        f"{means}b": compared.b,
        f"{prefix}low": compared.low,
        f"{prefix}high": compared.high,
        f"{prefix}q": compared.q,
    }
    return {name: values.astype(np.float32) for name, values in columns.items()}
