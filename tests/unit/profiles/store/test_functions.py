"""What stacks weigh that lack a name or a frame."""

from __future__ import annotations

from mitigauge.analysis.profiles.store.functions import truncated_weight, unknown_weight


def test_unknown_and_truncated_stacks_are_weighed() -> None:
    deep = b";".join(b"f%d" % i for i in range(128))
    stacks = {b"t;[unknown];f": 3, b"t;f": 4, deep: 5}
    assert (unknown_weight(stacks), truncated_weight(stacks)) == (3, 5)
