"""Names by the rules, and processors that wait."""

from __future__ import annotations

import pytest

from mitigauge.analysis.profiles.store.normalise import normalised, rules, without_idle


@pytest.mark.parametrize(
    ("stack", "merged"),
    [
        (b"CPU_3/KVM;f", b"CPU_*/KVM;f"),
        (b"vhost-1234;f", b"vhost-*;f"),
        (b"handler12;f", b"handler*;f"),
        (b"revalidator7;f", b"revalidator*;f"),
        (b"kworker/0:1-mm_percpu;f", b"kworker/*;f"),
        (b"a;f.isra.0", b"a;f"),
        (b"a;f.constprop.1.cold", b"a;f"),
        (b"a;f.part.0_[i]", b"a;f_[i]"),
        (b"a;CPU_3/KVM", b"a;CPU_3/KVM"),
        (b"f.cold;g", b"f.cold;g"),
        (b"a;\xff.cold", b"a;\xff"),
        (b"perf", b"perf"),
    ],
)
def test_names_that_differ_by_number_become_one(stack: bytes, merged: bytes) -> None:
    assert normalised({stack: 1}, rules()) == {merged: 1}


def test_what_becomes_alike_is_added_up() -> None:
    stacks = {b"CPU_0/KVM;f": 1, b"CPU_1/KVM;f": 2}
    assert normalised(stacks, rules()) == {b"CPU_*/KVM;f": 3}


def test_a_processor_that_waits_is_no_cost_but_its_interrupts_are() -> None:
    stacks = {b"swapper;do_idle;pv_native_safe_halt": 90, b"swapper;do_idle;irq;tick": 10}
    assert without_idle(stacks, rules()) == ({b"swapper;do_idle;irq;tick": 10}, 90)
