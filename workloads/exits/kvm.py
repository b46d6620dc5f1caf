"""A guest of a few instructions, made straight from /dev/kvm. Standard library only.

The guest runs in real mode, without devices and without a system. The loop that enters it is
machine code too, called once an iteration: between an exit and the next entry there is nothing
but the system call, as in a virtual machine monitor at its best.
"""

from __future__ import annotations

import ctypes
import fcntl
import mmap
import os
import struct
from contextlib import ExitStack
from pathlib import Path

from _kit.contract import CaseError

DEVICE = Path("/dev/kvm")
# include/uapi/linux/kvm.h
GET_API_VERSION, CREATE_VM, GET_VCPU_MMAP_SIZE, CREATE_VCPU = 0xAE00, 0xAE01, 0xAE04, 0xAE41
SET_USER_MEMORY_REGION, SET_TSS_ADDR, RUN = 0x4020AE46, 0xAE47, 0xAE80
SET_REGS, GET_SREGS, SET_SREGS = 0x4090AE82, 0x8138AE83, 0x4138AE84
CREATE_IRQCHIP, ENABLE_CAP = 0xAE60, 0x4068AEA3
GET_IRQCHIP, GET_LAPIC = 0xC208AE62, 0x8400AE8E
IRQCHIP_BYTES, LAPIC_BYTES = 520, 1024
CAP_SPLIT_IRQCHIP, IOAPIC_PINS = 121, 24
# Who serves the guest's interrupt controllers: the kernel, the kernel but for those beside the
# processor, or user space.
IRQCHIPS = ("on", "split", "off")
API_VERSION = 12
SREGS_BYTES = 0x138
EXIT_IO = 2
EXIT_REASON_AT = 8
# Beyond the guest's memory; processors of Intel need it for real mode.
TSS_ADDRESS = 0x7FFBD000
MEMORY_BYTES = 1 << 16
CODE_AT = 0x1000

# out 0x10, al; jmp to it. Nothing in the kernel serves that port.
TO_USERSPACE = bytes.fromhex("e610 ebfc")
# mov esi, COUNT; again: xor eax, eax; cpuid; dec esi; jnz again; out 0x10, al; jmp to the start.
# CPUID overwrites eax to edx. One exit to user space ends COUNT exits to the kernel.
TO_KERNEL = ("66be", "6631c0 0fa2 664e 75f7 e610 ebed")

# long run(int vcpu, struct kvm_run *run, long count): enters the guest `count` times, as long
# as it leaves by port; returns how many entries are left. An interrupted entry is repeated.
ENTER = bytes.fromhex(
    "53 55 4154"  #           push rbx; push rbp; push r12
    "89fb 4889f5 4989d4"  #   mov ebx, edi; mov rbp, rsi; mov r12, rdx
    "89df be80ae0000 31d2"  # again: mov edi, ebx; mov esi, KVM_RUN; xor edx, edx
    "b810000000 0f05"  #      mov eax, ioctl; syscall
    "83f8fc 74eb"  #          cmp eax, -EINTR; je again
    "85c0 750b"  #            test eax, eax; jnz end
    "837d0802 7505"  #        cmp dword [rbp+8], KVM_EXIT_IO; jne end
    "49ffcc 75dc"  #          dec r12; jnz again
    "4c89e0 415c 5d 5b c3"  # end: mov rax, r12; pop r12; pop rbp; pop rbx; ret
)


class Guest:
    """One virtual processor that exits as `to` says; close() frees all of it."""

    def __init__(self, to: str, exits: int, irqchip: str = "off") -> None:
        """`exits` of each call of :meth:`run`; CaseError where KVM refuses."""
        self._irqchip = irqchip
        self.entries = exits if to == "userspace" else 1
        self._kept = ExitStack()
        try:
            self._make(TO_USERSPACE if to == "userspace" else to_kernel(exits))
        except OSError as error:
            self.close()
            raise CaseError(
                f"{DEVICE}: {error.strerror}: needs KVM, and root or group kvm"
            ) from None

    def _make(self, code: bytes) -> None:
        kvm = self._descriptor(os.open(DEVICE, os.O_RDWR | os.O_CLOEXEC))
        version = fcntl.ioctl(kvm, GET_API_VERSION, 0)
        if version != API_VERSION:
            raise CaseError(
                f"{DEVICE} speaks version {version} of its interface, not {API_VERSION}"
            )
        machine = self._descriptor(fcntl.ioctl(kvm, CREATE_VM, 0))
        fcntl.ioctl(machine, SET_TSS_ADDR, TSS_ADDRESS)
        self._machine = machine
        self._make_irqchip()
        memory = mmap.mmap(-1, MEMORY_BYTES)
        memory[CODE_AT : CODE_AT + len(code)] = code
        region = struct.pack("=IIQQQ", 0, 0, 0, MEMORY_BYTES, address_of(memory))
        fcntl.ioctl(machine, SET_USER_MEMORY_REGION, region)
        self.vcpu = self._descriptor(fcntl.ioctl(machine, CREATE_VCPU, 0))
        self.state = mmap.mmap(self.vcpu, fcntl.ioctl(kvm, GET_VCPU_MMAP_SIZE, 0))
        self._memory = memory
        self._set_registers()
        self._enter = callable_code(ENTER)

    def _descriptor(self, number: int) -> int:
        self._kept.callback(os.close, number)
        return number

    def _make_irqchip(self) -> None:
        """Before the processor: it gets its local controller as it is made."""
        if self._irqchip == "on":
            fcntl.ioctl(self._machine, CREATE_IRQCHIP)
        elif self._irqchip == "split":
            asked = struct.pack("=IIQQQQ64x", CAP_SPLIT_IRQCHIP, 0, IOAPIC_PINS, 0, 0, 0)
            fcntl.ioctl(self._machine, ENABLE_CAP, asked)

    def irqchip(self) -> str:
        """Which of IRQCHIPS the guest has, as KVM answers, whatever was asked of it."""
        if _answers(self._machine, GET_IRQCHIP, IRQCHIP_BYTES):
            return "on"
        return "split" if _answers(self.vcpu, GET_LAPIC, LAPIC_BYTES) else "off"

    def _set_registers(self) -> None:
        special = bytearray(SREGS_BYTES)
        fcntl.ioctl(self.vcpu, GET_SREGS, special)
        # The code segment comes first: base, limit, selector. All of memory begins at 0.
        struct.pack_into("=Q", special, 0, 0)
        struct.pack_into("=H", special, 12, 0)
        fcntl.ioctl(self.vcpu, SET_SREGS, bytes(special))
        # rax to r15, rip, rflags: of these bit 1 is always set.
        fcntl.ioctl(self.vcpu, SET_REGS, struct.pack("=18Q", *[0] * 16, CODE_AT, 2))

    def run(self) -> None:
        """Make all exits once; CaseError if the guest does anything else."""
        left = self._enter(self.vcpu, address_of(self.state), self.entries)
        if left:
            (reason,) = struct.unpack_from("=I", self.state, EXIT_REASON_AT)
            raise CaseError(
                f"the guest left with exit reason {reason}, not {EXIT_IO}, after "
                f"{self.entries - left} of {self.entries} entries"
            )

    def close(self) -> None:
        """End the guest."""
        self._kept.close()


def _answers(descriptor: int, request: int, size: int) -> bool:
    try:
        fcntl.ioctl(descriptor, request, bytearray(size))
    except OSError:
        return False
    return True


def to_kernel(exits: int) -> bytes:
    """The guest's code for so many exits to the kernel a round."""
    begin, rest = TO_KERNEL
    return bytes.fromhex(begin) + struct.pack("=I", exits) + bytes.fromhex(rest)


def address_of(memory: mmap.mmap) -> int:
    """Where `memory` is mapped."""
    return ctypes.addressof(ctypes.c_char.from_buffer(memory))


def callable_code(code: bytes) -> ctypes._CFuncPtr:
    """`code` as a function of (int, pointer, long); its page is executable, not writable."""
    page = mmap.mmap(-1, mmap.PAGESIZE)
    page[: len(code)] = code
    libc = ctypes.CDLL(None, use_errno=True)
    protection = mmap.PROT_READ | mmap.PROT_EXEC
    if libc.mprotect(ctypes.c_void_p(address_of(page)), mmap.PAGESIZE, protection):
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    kind = ctypes.CFUNCTYPE(ctypes.c_long, ctypes.c_int, ctypes.c_void_p, ctypes.c_long)
    function = kind(address_of(page))
    function.page = page
    return function
