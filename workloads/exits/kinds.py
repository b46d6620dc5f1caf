"""The kinds of exits, each a few instructions of a guest in real mode. Standard library only."""

from __future__ import annotations

import struct
from dataclasses import dataclass
from pathlib import Path

from _kit.contract import CaseError

CODE_AT, FAULT_AT, WOKEN_AT, STACK_AT = 0x1000, 0x2000, 0x2100, 0x8000
# Ports: for the end of a round, for what an eventfd serves, and for an exception.
END_PORT, EVENT_PORT, FAULT_PORT = 0x10, 0x12, 0x11
# include/uapi/linux/kvm.h
EXIT_IO, EXIT_MMIO = 2, 6
# Where nothing is, and where a processor's own interrupt controller is.
NOTHING_AT, APIC_AT = 0xD0000000, 0xFEE00000
VECTORS, NMI = 32, 2
# Who serves the guest's interrupt controllers: the kernel, the kernel but for those beside the
# processor, or user space.
IRQCHIPS = ("on", "split", "off")
HYPERCALL = "hypercall"
HALT = "halt"


@dataclass(frozen=True)
class Kind:
    """What makes one exit.

    `code` in hexadecimal; `reason` with which it leaves to user space, 0 where the kernel answers;
    `data_at`, the base of its data segment. With `by_apic` the reason is that of `code` where user
    space serves the processor's interrupt controller.
    """

    code: str
    reason: int = 0
    data_at: int = 0
    by_apic: bool = False


KINDS = {
    # out 0x10, al: nothing in the kernel serves that port.
    "userspace": Kind("e610", EXIT_IO),
    # xor eax, eax; cpuid. It overwrites eax to edx.
    "kernel": Kind("6631c0 0fa2"),
    # out 0x12, al: an eventfd is told, as by a queue's doorbell that vhost listens to.
    "eventfd": Kind("e612"),
    # mov eax, 1 (KVM_HC_VAPIC_POLL_IRQ, which does nothing); vmcall or vmmcall.
    HYPERCALL: Kind("66b801000000"),
    # mov ecx, 0x8b (IA32_BIOS_SIGN_ID, revision of the microcode); rdmsr.
    "msr-read": Kind("66b98b000000 0f32"),
    # mov ecx, 0x79 (IA32_BIOS_UPDT_TRIG, which KVM ignores); xor eax, eax; xor edx, edx; wrmsr.
    "msr-write": Kind("66b979000000 6631c0 6631d2 0f30"),
    # mov [0], al.
    "mmio": Kind("a20000", EXIT_MMIO, NOTHING_AT),
    # mov [0x380], eax: the timer's initial count, nothing; it stays stopped.
    "apic": Kind("66a38003", EXIT_MMIO, APIC_AT, by_apic=True),
    # out 0x12, al; hlt. Another thread hears of the first and ends the second by an NMI.
    HALT: Kind("e612 f4"),
}
# Makers of processors, and the hypercall that theirs know. The flags vmx and svm may be hidden.
HYPERCALLS = {
    "GenuineIntel": "0f01c1", "CentaurHauls": "0f01c1", "  Shanghai  ": "0f01c1",
    "AuthenticAMD": "0f01d9", "HygonGenuine": "0f01d9",
}  # fmt: skip


def default_irqchip(to: str) -> str:
    """Who serves the interrupt controllers where no arm says: the kernel where they are used."""
    return "on" if to == HALT or KINDS[to].by_apic else "off"


def refuse_impossible(to: str, irqchip: str) -> None:
    """CaseError for a kind that a guest without a controller in the kernel has not."""
    if to == HALT and irqchip == "off":
        raise CaseError(
            "exits to halt need the processor's interrupt controller in the kernel (guest-irqchip "
            "on or split): without one a halt is an exit to user space, and nobody sleeps"
        )


def leaves_by(to: str, irqchip: str) -> int:
    """Reason with which each exit leaves to user space; 0 where the kernel answers."""
    kind = KINDS[to]
    return 0 if kind.by_apic and irqchip != "off" else kind.reason


def hypercall(cpuinfo: Path = Path("/proc/cpuinfo")) -> str:
    """The instruction of this processor; CaseError where its maker is not known."""
    maker = next(
        (
            line.partition(": ")[2]
            for line in cpuinfo.read_text().splitlines()
            if line.startswith("vendor_id")
        ),
        "",
    )
    if maker not in HYPERCALLS:
        known = ", ".join(name.strip() for name in HYPERCALLS)
        raise CaseError(f"exits to hypercall: no instruction known for {maker!r}; known: {known}")
    return HYPERCALLS[maker]


def memory_of(to: str, exits: int, irqchip: str) -> dict[int, bytes]:
    """Address → what lies there: the guest's program, its vectors and its handlers."""
    kind = KINDS[to]
    body = bytes.fromhex(kind.code + (hypercall() if to == HYPERCALL else ""))
    program = _for_ever(body) if leaves_by(to, irqchip) else _counted(body, exits)
    vectors = [FAULT_AT] * VECTORS
    placed = {CODE_AT: program, FAULT_AT: _for_ever(bytes((0xE6, FAULT_PORT)))}
    if to == HALT:
        vectors[NMI] = WOKEN_AT
        placed[WOKEN_AT] = _woken(CODE_AT + COUNT_BYTES + len(body))
    # Offset and segment of each.
    placed[0] = b"".join(struct.pack("=HH", vector, 0) for vector in vectors)
    return placed


COUNT_BYTES = 6


def _for_ever(body: bytes) -> bytes:
    """`body`; jmp to it."""
    return body + _jump(0xEB, len(body))


def _counted(body: bytes, exits: int) -> bytes:
    """mov esi, EXITS; again: `body`; dec esi; jnz again; out END_PORT, al; jmp to the start."""
    count = b"\x66\xbe" + struct.pack("=I", exits)
    loop = body + b"\x66\x4e"
    loop += _jump(0x75, len(loop))
    loop += bytes((0xE6, END_PORT))
    return count + loop + _jump(0xEB, len(count) + len(loop))


def _jump(opcode: int, back: int) -> bytes:
    return struct.pack("=Bb", opcode, -(back + 2))


def _woken(after: int) -> bytes:
    """push bp; mov bp, sp; mov word [bp+2], AFTER; pop bp; iret: go on after the halt.

    Also where the NMI came before it: a halt that nobody ends would be for ever.
    """
    return bytes.fromhex("55 89e5 c74602") + struct.pack("=H", after) + bytes.fromhex("5d cf")
