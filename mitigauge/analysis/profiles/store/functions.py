"""What each function costs itself, and with all it calls. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping

# A frame for which neither symbol nor module is known.
UNKNOWN = b"[unknown]"
# Behind a function's name: it is the kernel's, or inlined into its caller.
KERNEL_MARK = "_[k]"
# perf follows a chain no further, unless kernel.perf_event_max_stack was raised.
PERF_DEEPEST = 127


def function_weights(
    stacks: Mapping[bytes, int], name_of: Callable[[bytes, bool], int]
) -> dict[int, tuple[int, int]]:
    """(self, total) by symbol of *stacks*; a function counts once a stack in its total.

    *name_of* numbers a frame's name, told whether it is the thread's.
    """
    own: Counter[int] = Counter()
    total: Counter[int] = Counter()
    for stack, count in stacks.items():
        frames = stack.split(b";")
        symbols = [name_of(frame, depth == 0) for depth, frame in enumerate(frames)]
        own[symbols[-1]] += count
        for symbol in set(symbols):
            total[symbol] += count
    return {symbol: (own[symbol], weight) for symbol, weight in total.items()}


def unknown_weight(stacks: Mapping[bytes, int]) -> int:
    """Weight of the stacks with a frame that has no name."""
    return sum(count for stack, count in stacks.items() if UNKNOWN in stack.split(b";"))


def truncated_weight(stacks: Mapping[bytes, int]) -> int:
    """Weight of the stacks that are as deep as perf goes, and so lack their outer frames."""
    return sum(count for stack, count in stacks.items() if stack.count(b";") >= PERF_DEEPEST)
