"""Two groups of stored profiles side by side, as a page asks for them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sqlalchemy.orm import Session

from mitigauge.errors import InvalidInput, NotFound
from mitigauge.profiles import drawing, nmi, repository
from mitigauge.profiles.diff import (
    Basis,
    BootProfile,
    FrameDiff,
    FunctionDiff,
    bases_of,
    diff_frames,
    diff_functions,
    raw_symbols,
)
from mitigauge.profiles.normalise import rules
from mitigauge.profiles.packing import unpacked
from mitigauge.profiles.payload import encoded
from mitigauge.profiles.schemas import SHARE_UNIT
from mitigauge.profiles.significance import Compared
from mitigauge.profiles.tables import Profile
from mitigauge.profiles.tree import Layout

ROOT = "all"
IN_NANOSECONDS = ("cpu-clock", "task-clock", nmi.EVENT)


@dataclass(frozen=True, slots=True)
class Selection:
    """The boots of an arm, on a host, in an experiment: one side of a diff."""

    experiment_id: int
    case_id: int
    host: str
    arm: str


@dataclass(frozen=True, slots=True)
class Group:
    """Profiles that stand for one side."""

    label: str
    profiles: Sequence[Profile]
    of: Selection | None = None
    """None for imported ones."""


@dataclass(frozen=True, slots=True)
class Sides:
    """What is compared, and what a page says of it."""

    a: Group
    b: Group
    title: str
    host: str = ""
    emulated: bool = False
    experiment: int | None = None
    case: int | None = None
    where: str = "host"
    """Which system was profiled: host or guest."""
    wheres: tuple[str, ...] = ("host",)
    """Those of which the case has profiles."""


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


def diff_sides(session: Session, sides: Sides, *, basis: Basis | None, merged: bool) -> Diffed:
    """The frames of both sides; *basis* defaults to the best there is.

    Raises :class:`InvalidInput` for sides that cannot be compared and for a basis they lack.
    """
    _require_comparable(sides)
    profiles = [*sides.a.profiles, *sides.b.profiles]
    boots = [boot_profile(profile) for profile in profiles]
    bases = bases_of(boots)
    chosen = basis or bases[0]
    if chosen not in bases:
        raise InvalidInput(
            f"there is no {chosen} basis: the workload counts no operations",
            hint=f"Take one of {', '.join(bases)}.",
        )
    half = len(sides.a.profiles)
    layout = repository.layout_of(session, profiles[0].tree_id)
    frames = diff_frames(layout, boots[:half], boots[half:], basis=chosen, merged=merged)
    return Diffed(boots, layout, bases, chosen, unit_of(chosen, profiles[0].event), frames)


def diff_payload(session: Session, sides: Sides, *, basis: Basis | None, merged: bool) -> bytes:
    """The diff of both sides in the form of :mod:`mitigauge.profiles.payload`.

    Raises what :func:`diff_sides` raises.
    """
    diffed = diff_sides(session, sides, basis=basis, merged=merged)
    frames, boots, half = diffed.frames, diffed.boots, len(sides.a.profiles)
    functions = diff_functions(boots[:half], boots[half:], basis=diffed.basis)
    raw = raw_symbols(diffed.layout, boots) if merged else {}
    names, index, arrays = _arrays(session, frames, functions, raw)
    header = {
        "a": _side(sides.a, boots[:half], diffed.basis),
        "b": _side(sides.b, boots[half:], diffed.basis),
        "basis": diffed.basis,
        "bases": diffed.bases,
        "unit": diffed.unit,
        "title": sides.title,
        "host": sides.host,
        "emulated": sides.emulated,
        "event": sides.a.profiles[0].event,
        "merged": merged,
        "rules_version": rules().version,
        "names": names,
        "raw_names": {
            str(index[common]): [names[index[own]] for own in symbols]
            for common, symbols in raw.items()
        },
        "pruned": {
            "nodes": frames.pruned_nodes, "a": frames.pruned[0], "b": frames.pruned[1]
        },
        "experiment": sides.experiment,
        "case": sides.case,
        "where": sides.where,
        "wheres": list(sides.wheres),
        "svg_by": drawing.installed(),
    }  # fmt: skip
    return encoded(header, arrays)


def diff_svg(session: Session, sides: Sides, *, basis: Basis | None, merged: bool) -> bytes:
    """The diff drawn by FlameGraph or inferno.

    Raises what :func:`diff_sides` and :func:`mitigauge.profiles.drawing.drawn` raise.
    """
    diffed = diff_sides(session, sides, basis=basis, merged=merged)
    frames = diffed.frames
    stored = repository.names_of(session, np.unique(frames.symbol[frames.symbol >= 0]).tolist())
    names = [stored.get(symbol, ROOT) for symbol in frames.symbol.tolist()]
    title = f"{sides.title}: {sides.b.label} against {sides.a.label}"
    if sides.emulated:
        title += " (EMULATED)"
    return drawing.drawn(
        frames.parent, names, frames.compared.a, frames.compared.b, title=title, unit=diffed.unit
    )


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


def _require_comparable(sides: Sides) -> None:
    for group in (sides.a, sides.b):
        if not group.profiles:
            raise NotFound(
                f"there is no profile of {group.label}",
                hint="Say `profile: true` for the workload in the spec, or wait for a boot.",
            )
    every = [*sides.a.profiles, *sides.b.profiles]
    for what, found in (
        ("workloads", {profile.tree.name for profile in every}),
        ("events", {profile.event for profile in every}),
    ):
        if len(found) > 1:
            raise InvalidInput(
                f"profiles of different {what} cannot be compared: {', '.join(sorted(found))}",
                hint="Choose groups of one workload and one event.",
            )


def _side(group: Group, boots: Sequence[BootProfile], basis: Basis) -> dict[str, Any]:
    profiles = group.profiles
    weight = sum(profile.weight for profile in profiles)
    operations = [profile.operations for profile in profiles if profile.operations]
    return {
        "label": group.label,
        "boots": len(profiles),
        "samples": sum(profile.samples for profile in profiles),
        "operations": sum(operations) or None,
        "total": float(np.mean([boot.counts.sum() * boot.scale(basis) for boot in boots])),
        "unknown_percent": 100.0 * sum(profile.unknown for profile in profiles) / weight,
        "truncated_percent": 100.0 * sum(profile.truncated for profile in profiles) / weight,
        "idle_percent": 100.0
        * sum(profile.idle for profile in profiles)
        / (weight + sum(profile.idle for profile in profiles)),
        "lost": sum(profile.lost for profile in profiles),
        "of": None if group.of is None else asdict(group.of),
    }


def _arrays(
    session: Session, frames: FrameDiff, functions: FunctionDiff, raw: Mapping[int, list[int]]
) -> tuple[list[str], dict[int, int], dict[str, NDArray[Any]]]:
    """Names, where each symbol's is, and arrays of such places; the root's name is the first."""
    others = [symbol for common, own in raw.items() for symbol in (common, *own)]
    symbols = np.union1d(frames.symbol[frames.symbol >= 0], functions.symbol)
    symbols = np.union1d(symbols, np.array(others, np.int32)).astype(np.int32)
    stored = repository.names_of(session, symbols.tolist())
    names = [ROOT, *(stored[symbol] for symbol in symbols.tolist())]
    place = {symbol: index for index, symbol in enumerate(symbols.tolist(), start=1)}
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
    return names, place, arrays


def _columns(prefix: str, compared: Compared, means: str | None = None) -> dict[str, NDArray[Any]]:
    means = prefix if means is None else means
    columns = {
        f"{means}a": compared.a,
        f"{means}b": compared.b,
        f"{prefix}low": compared.low,
        f"{prefix}high": compared.high,
        f"{prefix}q": compared.q,
    }
    return {name: values.astype(np.float32) for name, values in columns.items()}
