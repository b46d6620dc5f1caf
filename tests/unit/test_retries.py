"""How long a step that failed for no reason of the host's is left alone."""

from __future__ import annotations

import itertools

from pipelines.steps.context import FAULT_RETRY_S, LONGEST_RETRY_S, retry_after_s


def test_a_broken_step_is_tried_again_ever_later_up_to_a_limit() -> None:
    waits = [retry_after_s(faults) for faults in range(12)]
    assert waits[0] == FAULT_RETRY_S
    assert waits[-1] == LONGEST_RETRY_S
    assert all(
        after == min(2 * before, LONGEST_RETRY_S) for before, after in itertools.pairwise(waits)
    )


def test_no_number_of_faults_is_too_many() -> None:
    assert retry_after_s(100_000) == LONGEST_RETRY_S
