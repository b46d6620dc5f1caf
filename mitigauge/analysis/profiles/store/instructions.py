"""Stores where in the hottest functions a profile's samples fell, and what stood there."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import orjson
import zstandard
from numpy.typing import NDArray
from sqlalchemy.orm import Session

from mitigauge.analysis.profiles.capture.instructions import FunctionCode, Instructions, Line
from mitigauge.analysis.profiles.store import repository
from mitigauge.analysis.profiles.store.normalise import rules
from mitigauge.analysis.profiles.store.pack import inflated, packed, unpacked
from mitigauge.analysis.profiles.store.tables import Profile, ProfileFunction, ProfileInstructions

Weights = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class StoredCode:
    """A part of a function in one boot: its listing's number, and weight by line."""

    name: str
    listing: int
    lines: Sequence[Line]
    samples: Weights
    weights: Weights


def store_instructions(session: Session, profile: Profile, found: Instructions) -> None:
    """Store *found* with a new profile; nothing where it has some already."""
    if session.get(ProfileInstructions, profile.id) is not None:
        return
    by = rules()
    parts: dict[str, list[FunctionCode]] = defaultdict(list)
    for function in found.functions:
        parts[by.function(function.name)].append(function)
    symbols = repository.symbol_ids(session, list(parts))
    listings = _listings(session, found.functions)
    session.add(
        ProfileInstructions(
            profile_id=profile.id,
            functions=len(parts),
            left_out=found.left_out,
            detail=found.detail,
        )
    )
    session.flush()
    for name, several in parts.items():
        # By what they are: boots of one kernel list them in any order.
        ordered = sorted(several, key=lambda each: (each.name, _packed(each.lines)))
        for part, function in enumerate(ordered):
            session.add(
                ProfileFunction(
                    profile_id=profile.id,
                    symbol_id=symbols[name],
                    part=part,
                    name=function.name,
                    listing_id=listings[_digest(function.lines)],
                    counts=_counts(function),
                )
            )
    session.flush()


def code_of(
    session: Session, profiles: Collection[int], symbols: Collection[int]
) -> dict[int, list[StoredCode]]:
    """Parts of the functions *symbols* by profile, in order; a profile may have none."""
    rows = repository.functions_of(session, profiles, symbols)
    lines = {
        number: _unpacked(text)
        for number, text in repository.listings(session, {row.listing_id for row in rows}).items()
    }
    found: dict[int, list[StoredCode]] = {}
    for row in rows:
        listing = lines[row.listing_id]
        samples, weights = np.zeros((2, len(listing)), np.int64)
        at, number, weight = unpacked(row.counts)
        samples[at], weights[at] = number, weight
        found.setdefault(row.profile_id, []).append(
            StoredCode(row.name, row.listing_id, listing, samples, weights)
        )
    return found


def _listings(session: Session, functions: Sequence[FunctionCode]) -> Mapping[bytes, int]:
    """Numbers of the functions' listings by digest; new ones are stored."""
    wanted = {_digest(function.lines): function.lines for function in functions}
    return repository.listing_ids(
        session,
        {
            digest: (len(lines), zstandard.ZstdCompressor(level=12).compress(_packed(lines)))
            for digest, lines in wanted.items()
        },
    )


def _packed(lines: Sequence[Line]) -> bytes:
    # The normal form follows from the text in most lines.
    return orjson.dumps(
        [
            [line.place, line.text, *([] if line.normal == line.text else [line.normal])]
            for line in lines
        ]
    )


def _unpacked(text: bytes) -> tuple[Line, ...]:
    return tuple(
        Line(place, text, normal[0] if normal else text)
        for place, text, *normal in orjson.loads(inflated(text))
    )


def _digest(lines: Sequence[Line]) -> bytes:
    return hashlib.sha256(_packed(lines)).digest()


def _counts(function: FunctionCode) -> bytes:
    at = np.array(sorted(function.samples), np.int64)
    columns = np.array([function.samples[line] for line in at.tolist()], np.int64).reshape(-1, 2)
    return packed(at, columns[:, 0], columns[:, 1])
