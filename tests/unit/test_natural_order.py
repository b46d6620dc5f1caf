"""Names in the order in which people count."""

from __future__ import annotations

import random

from mitigauge.core.natural_order import natural_order


def test_numbers_within_names_are_counted() -> None:
    ordered = [
        "a", "host", "host-1", "host-2", "host-02", "host-10", "host-10-3", "host-10-12", "host-x",
        "rack2-1", "rack10-1", "spr-01",
    ]  # fmt: skip
    shuffled = random.Random(1).sample(ordered, len(ordered))
    found = sorted(shuffled, key=natural_order)
    assert found.index("host-2") < found.index("host-10") < found.index("host-10-12")
    assert found.index("rack2-1") < found.index("rack10-1")
    assert {found.index("host-2"), found.index("host-02")} == {3, 4}
    # Whatever order they came in.
    assert found == sorted(ordered, key=natural_order)
