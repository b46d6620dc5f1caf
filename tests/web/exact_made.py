"""Exact counts of the recorded experiment's profiled case, made up: the recording has none.

What arm `loop` does more is what its mode does: the loop itself, and ten instructions where the
kernel is entered.
"""

from __future__ import annotations

from sqlalchemy import Engine, select

from mitigauge.analysis.profiles.exact.ledger import Branches, Ledger, LedgerFunction
from mitigauge.analysis.profiles.exact.service import CountedPass, store_counts
from mitigauge.analysis.profiles.store.tables import Profile
from mitigauge.measurement.runs.tables import Boot
from mitigauge.storage.database.engine import transaction
from tests.unit.exact.ledgers import Lines, function, ledger

ENTRY = [f"movq ${number}, %r{8 + number % 8}" for number in range(20)]
LEAVE = [f"popq %r{8 + number % 8} # {number}" for number in range(18)]
SYSCALL = ["pushq %rbp", "movq %rsp, %rbp", "movslq %esi, %rsi", "callq x64_sys_call"]
CLEAR = ["pushq %rbp", "movq %rsp, %rbp", "movl $5, %ecx", "callq 0x20", "jmp 0x38"]
LOOP = [
    "movl $5, %eax",
    "jmp 0x4",
    "nop",
    "subl $1, %eax",
    "jne -0x5",
    "subl $1, %ecx",
    "jne -0x1c",
]


def count_exactly(engine: Engine) -> None:
    """Store counts for every boot of the profiled case, and of the one behind it."""
    with transaction(engine) as session:
        for profile in session.scalars(select(Profile).order_by(Profile.id)):
            boot = session.get_one(Boot, profile.boot_id)
            made = boot_ledger(is_loop=boot.arm.name == "loop", block=boot.block)
            assert profile.case_id is not None
            store_counts(session, boot.id, profile.case_id, CountedPass(made))
            # The case behind it is the same call by another name, and is not profiled.
            store_counts(session, boot.id, profile.case_id + 1, CountedPass(made))


def boot_ledger(*, is_loop: bool, block: int) -> Ledger:
    """A boot's counts; blocks differ in what interrupts them, and in nothing else."""
    tick = 0.125 + 0.004 * block + (0.05 if is_loop else 0.0)
    functions = [
        function("entry_SYSCALL_64", dict.fromkeys(ENTRY, 1)),
        function("do_syscall_64", _syscall(is_loop=is_loop)),
        function("x64_sys_call", dict.fromkeys(LEAVE, 1)),
        function("tick_sched_handle", {"incq %rax": tick, "retq": tick / 2}),
        function("loop_once", {"callq *%rax": 1, "decq %rbx": 1}, module="perf"),
        unnamed("libc.so.6", 40 + is_loop),
        *(function(f"helper_{number}", {"retq": 1}) for number in range(60)),
    ]
    if is_loop:
        functions.append(function("clear_bhb_loop", _clear()))
    branches = Branches(taken=92 + 28 * is_loop, indirect=1, returns=61 + is_loop)
    return ledger(*functions, lines=52 + 4 * is_loop, pages=14, branches=branches)


def _syscall(*, is_loop: bool) -> Lines:
    before = {f"{text} # {number}": 1 for number, text in enumerate(3 * SYSCALL)}
    added = {f"lfence # {number}" if number else "callq clear_bhb_loop": 1 for number in range(10)}
    after = {f"{text} # {number}": 1 for number, text in enumerate(5 * SYSCALL, start=20)}
    if not is_loop:
        return {**before, **after}
    return {**before, **added, **after}


def _clear() -> Lines:
    return {**dict.fromkeys(CLEAR, 1), **dict.fromkeys(LOOP[:3], 5), **dict.fromkeys(LOOP[3:], 25)}


def unnamed(file: str, instructions: int) -> LedgerFunction:
    """What a stripped file ran: sums without a name or a place."""
    runs = 2 * [1000 * instructions]
    return LedgerFunction(name="", module=file, is_kernel=False, runs=runs, lines=[])
