"""Stored profiles as folded stacks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np
from sqlalchemy.orm import Session

from mitigauge.analysis.profiles.store import repository
from mitigauge.analysis.profiles.store.pack import unpacked
from mitigauge.analysis.profiles.store.tables import Profile
from mitigauge.analysis.profiles.store.tree import Layout


def folded_group(session: Session, profiles: Sequence[Profile]) -> dict[bytes, int]:
    """Folded stacks of *profiles* of one tree, their counts added up, names as recorded."""
    layout = repository.layout_of(session, profiles[0].tree_id)
    weights: Counter[int] = Counter()
    for profile in profiles:
        nodes, counts = unpacked(profile.stacks)
        places = layout.place[nodes].tolist()
        weights.update(dict(zip(places, counts.tolist(), strict=True)))
    paths = _Paths(session, layout)
    stacks: Counter[bytes] = Counter()
    for place, weight in weights.items():
        stacks[paths.of(place)] += weight
    return dict(stacks)


class _Paths:
    """Stacks by place, as folded text; the root has none."""

    def __init__(self, session: Session, layout: Layout) -> None:
        self._layout = layout
        symbols = np.unique(layout.symbol[layout.symbol >= 0])
        self._names = repository.names_of(session, symbols.tolist())

    def of(self, place: int) -> bytes:
        frames = []
        while (above := int(self._layout.parent[place])) >= 0:
            frames.append(self._names[int(self._layout.symbol[place])])
            place = above
        return ";".join(reversed(frames)).encode()
