"""Stacks sampled by an emulator's NMIs, as a counter's would be.

An NMI's own event fires inside its handler, so that every stack ends in how the NMI came
in, and weighs one whatever the rate. Pure.
"""

from __future__ import annotations

from collections.abc import Mapping

from mitigauge.core.wire.profile import NMI_ENTRIES, NMI_HANDLER


def interrupted(stack: bytes) -> bytes:
    """The folded *stack* of what the NMI interrupted; unchanged if none came in."""
    frames = stack.split(b";")
    depths = [depth for depth, frame in enumerate(frames) if frame == NMI_HANDLER and depth]
    if not depths:
        return stack
    last = depths[-1]
    while last > 1 and frames[last - 1] in NMI_ENTRIES:
        last -= 1
    return b";".join(frames[:last])


def by_time(stacks: Mapping[bytes, int], period_ns: int) -> dict[bytes, int]:
    """What was interrupted, with nanoseconds; *period_ns* lie between two NMIs."""
    weighed: dict[bytes, int] = {}
    for stack, count in stacks.items():
        under = interrupted(stack)
        weighed[under] = weighed.get(under, 0) + count * period_ns
    return weighed
