"""What an NMI interrupted, whichever way it came in."""

from __future__ import annotations

import pytest

from mitigauge.analysis.profiles.capture.nmi import by_time, interrupted


@pytest.mark.parametrize(
    ("stack", "under"),
    [
        (b"a;f;asm_exc_nmi;exc_nmi;default_do_nmi", b"a;f"),
        (b"a;f;end_repeat_nmi;exc_nmi;default_do_nmi", b"a;f"),
        # In user code with frame pointers the entry's own caller is found as well.
        (b"a;f;asm_exc_nmi;end_repeat_nmi;exc_nmi;default_do_nmi", b"a;f"),
        (b"a;f;exc_nmi;default_do_nmi", b"a;f"),
        (b"a;asm_exc_nmi;exc_nmi;g;asm_exc_nmi;exc_nmi;h", b"a;asm_exc_nmi;exc_nmi;g"),
        (b"asm_exc_nmi;exc_nmi;g", b"asm_exc_nmi"),
        (b"a;f", b"a;f"),
        (b"exc_nmi;g", b"exc_nmi;g"),
    ],
)
def test_the_way_an_nmi_came_in_is_left_out(stack: bytes, under: bytes) -> None:
    assert interrupted(stack) == under


def test_stacks_that_were_interrupted_alike_weigh_together() -> None:
    stacks = {b"a;f;asm_exc_nmi;exc_nmi": 2, b"a;f;end_repeat_nmi;exc_nmi;nmi_handle": 1}
    assert by_time(stacks, 1000) == {b"a;f": 3000}
