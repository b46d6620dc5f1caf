"""Names of the reasons for which guests exit. Pure.

All that the kernel's headers name; those that people meet have plainer names here.
"""

from __future__ import annotations

from typing import Final

from mitigauge.measurement.collectors import kernel_reasons

# SVM has a reason for each of 32 exceptions.
_EXCEPTIONS, _EXCEPTION_COUNT = 0x040, 32

TO_USERSPACE: Final = kernel_reasons.TO_USERSPACE | {
    0: "unknown", 1: "exception", 2: "port I/O", 3: "hypercall", 4: "debug", 5: "halt", 6: "MMIO",
    7: "interrupt window", 8: "shutdown", 9: "failed entry", 10: "signal", 11: "TPR set",
    12: "TPR access", 16: "NMI", 17: "internal error", 24: "system event", 26: "I/O APIC EOI",
    27: "Hyper-V", 29: "MSR read", 30: "MSR write", 33: "bus lock", 37: "notify",
    39: "memory fault",
}  # fmt: skip
VMX: Final = kernel_reasons.VMX | {
    0: "exception or NMI", 1: "external interrupt", 7: "interrupt window", 8: "NMI window",
    10: "CPUID", 12: "halt", 14: "INVLPG", 15: "RDPMC", 16: "RDTSC", 18: "VMCALL",
    28: "control register", 29: "debug register", 30: "port I/O", 31: "MSR read", 32: "MSR write",
    36: "MWAIT", 40: "PAUSE", 43: "TPR below threshold", 44: "APIC access", 45: "EOI",
    48: "EPT violation", 49: "EPT misconfiguration (MMIO)", 51: "RDTSCP", 52: "preemption timer",
    54: "WBINVD", 55: "XSETBV", 56: "APIC write", 58: "INVPCID", 74: "bus lock", 75: "notify",
}  # fmt: skip
_SVM_EXCEPTIONS: Final = {
    _EXCEPTIONS + vector: f"exception {vector}" for vector in range(_EXCEPTION_COUNT)
}
SVM: Final = kernel_reasons.SVM | _SVM_EXCEPTIONS | {
    0x040 + 14: "page fault", 0x060: "interrupt", 0x061: "NMI", 0x064: "interrupt window",
    0x06E: "RDTSC", 0x06F: "RDPMC", 0x072: "CPUID", 0x074: "IRET", 0x077: "PAUSE", 0x078: "halt",
    0x079: "INVLPG", 0x07B: "port I/O", 0x07C: "MSR", 0x07F: "shutdown", 0x081: "VMMCALL",
    0x087: "RDTSCP", 0x089: "WBINVD", 0x08B: "MWAIT", 0x08D: "XSETBV", 0x0A2: "INVPCID",
    0x0A6: "idle halt", 0x400: "nested page fault (MMIO)", 0x401: "AVIC incomplete IPI",
    0x402: "AVIC access",
}  # fmt: skip
# Columns of KVM's own counters.
COUNTERS: Final = {
    "io_exits": "port I/O", "mmio_exits": "MMIO", "halt_exits": "halt", "irq_exits": "interrupt",
    "irq_window_exits": "interrupt window", "signal_exits": "signal",
    "request_irq_exits": "interrupt window for user space", "hypercalls": "hypercall",
}  # fmt: skip


def title(number: str, names: dict[int, str]) -> str:
    """The reason's name; its number where it has none here."""
    known = names.get(int(number)) if number.isdecimal() and len(number) < 12 else None
    return known or f"reason {number}"
