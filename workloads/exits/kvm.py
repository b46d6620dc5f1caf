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
import select
import signal
import struct
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, nullcontext
from pathlib import Path
from typing import Any

import kinds
from _kit import event
from _kit.contract import CaseError

DEVICE = Path("/dev/kvm")
# include/uapi/linux/kvm.h
GET_API_VERSION, CREATE_VM, GET_VCPU_MMAP_SIZE, CREATE_VCPU = 0xAE00, 0xAE01, 0xAE04, 0xAE41
SET_USER_MEMORY_REGION, SET_TSS_ADDR, RUN = 0x4020AE46, 0xAE47, 0xAE80
SET_REGS, GET_SREGS, SET_SREGS = 0x4090AE82, 0x8138AE83, 0x4138AE84
CREATE_IRQCHIP, ENABLE_CAP = 0xAE60, 0x4068AEA3
GET_IRQCHIP, GET_LAPIC = 0xC208AE62, 0x8400AE8E
IOEVENTFD, IOEVENTFD_PIO = 0x4040AE79, 2
IRQCHIP_BYTES, LAPIC_BYTES = 520, 1024
CAP_SPLIT_IRQCHIP, IOAPIC_PINS = 121, 24
API_VERSION = 12
SREGS_BYTES, SEGMENT_BYTES, RSP = 0x138, 24, 6
# Within struct kvm_run.
IMMEDIATE_EXIT_AT, EXIT_REASON_AT, IO_PORT_AT = 1, 8, 34
WAKER_END_S = 5
# Beyond the guest's memory; processors of Intel need it for real mode.
TSS_ADDRESS = 0x7FFBD000
MEMORY_BYTES = 1 << 16

# long run(int vcpu, struct kvm_run *run, long count): enters the guest `count` times, as long
# as it leaves with REASON; returns how many entries are left. An interrupted entry is repeated,
# unless run->immediate_exit is set.
ENTER = (
    "53 55 4154"  #           push rbx; push rbp; push r12
    "89fb 4889f5 4989d4"  #   mov ebx, edi; mov rbp, rsi; mov r12, rdx
    "89df be80ae0000 31d2"  # again: mov edi, ebx; mov esi, KVM_RUN; xor edx, edx
    "b810000000 0f05"  #      mov eax, ioctl; syscall
    "83f8fc 7506"  #          cmp eax, -EINTR; jne came
    "807d0100 74e5"  #        cmp byte [rbp+1], 0; je again
    "85c0 750b"  #            came: test eax, eax; jnz end
    "837d08{reason:02x} 7505"  # cmp dword [rbp+8], REASON; jne end
    "49ffcc 75d6"  #          dec r12; jnz again
    "4c89e0 415c 5d 5b c3"  # end: mov rax, r12; pop r12; pop rbp; pop rbx; ret
)
# long wake(int event, int machine, long count, struct kvm_msi *msi): `count` times reads the
# eventfd, then sends the message; returns how many are left.
WAKE = bytes.fromhex(
    "53 55 4154 4155 4883ec08"  #  push rbx; push rbp; push r12; push r13; sub rsp, 8
    "89fb 89f5 4989d4 4989cd"  #   mov ebx, edi; mov ebp, esi; mov r12, rdx; mov r13, rcx
    "89df 4889e6 ba08000000"  #    again: mov edi, ebx; mov rsi, rsp; mov edx, 8
    "31c0 0f05"  #                 xor eax, eax; syscall (read)
    "83f8fc 74ed 83f808 751f"  #   cmp eax, -EINTR; je again; cmp eax, 8; jne end
    "89ef bea5ae2040 4c89ea"  #    send: mov edi, ebp; mov esi, KVM_SIGNAL_MSI; mov rdx, r13
    "b810000000 0f05"  #           mov eax, ioctl; syscall
    "83f8fc 74ea 85c0 7e05"  #     cmp eax, -EINTR; je send; test eax, eax; jle end
    "49ffcc 75c9"  #               dec r12; jnz again
    "4c89e0 4883c408 415d 415c 5d 5b c3"  # end: mov rax, r12; …; ret
)
# struct kvm_msi: to all processors, of which there is one, delivered as an NMI.
NMI_MESSAGE = struct.pack("=IIIIII8x", 0xFEEFF000, 0, 4 << 8, 0, 0, 0)


class Guest:
    """One virtual processor that exits as `to` says; close() frees all of it."""

    def __init__(self, to: str, exits: int, irqchip: str = "") -> None:
        """`exits` of each call of :meth:`run`; CaseError for what this host cannot do."""
        self._irqchip = irqchip or kinds.default_irqchip(to)
        kinds.refuse_impossible(to, self._irqchip)
        self._to, self._exits = to, exits
        leaves_by = kinds.leaves_by(to, self._irqchip)
        self._reason = leaves_by or kinds.EXIT_IO
        self.entries = exits if leaves_by else 1
        self._kept = ExitStack()
        try:
            self._make()
        except OSError as error:
            self.close()
            raise CaseError(
                f"{DEVICE}: {error.strerror}: needs KVM, and root or group kvm"
            ) from None

    def _make(self) -> None:
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
        for at, content in kinds.memory_of(self._to, self._exits, self._irqchip).items():
            memory[at : at + len(content)] = content
        region = struct.pack("=IIQQQ", 0, 0, 0, MEMORY_BYTES, address_of(memory))
        fcntl.ioctl(machine, SET_USER_MEMORY_REGION, region)
        self.vcpu = self._descriptor(fcntl.ioctl(machine, CREATE_VCPU, 0))
        self.state = mmap.mmap(self.vcpu, fcntl.ioctl(kvm, GET_VCPU_MMAP_SIZE, 0))
        self._memory = memory
        self._set_registers()
        self._enter = callable_code(bytes.fromhex(ENTER.format(reason=self._reason)))
        if self._to in ("eventfd", kinds.HALT):
            self._make_event()

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

    def _make_event(self) -> None:
        """Have KVM tell an eventfd of each write to the port, as it does a device in the kernel."""
        self._event = self._descriptor(event.eventfd(event.CLOSE_ON_EXEC))
        asked = struct.pack("=QQIiI36x", 0, kinds.EVENT_PORT, 1, self._event, IOEVENTFD_PIO)
        fcntl.ioctl(self._machine, IOEVENTFD, asked)
        self._wake = callable_code(WAKE, ctypes.c_int, ctypes.c_int, ctypes.c_long, ctypes.c_void_p)

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
        # The data segment is the second.
        struct.pack_into("=Q", special, SEGMENT_BYTES, kinds.KINDS[self._to].data_at)
        fcntl.ioctl(self.vcpu, SET_SREGS, bytes(special))
        # rax to r15, rip, rflags: of these bit 1 is always set.
        registers = [0] * 16
        registers[RSP] = kinds.STACK_AT
        fcntl.ioctl(self.vcpu, SET_REGS, struct.pack("=18Q", *registers, kinds.CODE_AT, 2))

    def run(self) -> None:
        """Make all exits once; CaseError if the guest does anything else."""
        with self._woken() if self._to == kinds.HALT else nullcontext():
            left = self._enter(self.vcpu, address_of(self.state), self.entries)
        (port,) = struct.unpack_from("=H", self.state, IO_PORT_AT)
        (reason,) = struct.unpack_from("=I", self.state, EXIT_REASON_AT)
        if reason == kinds.EXIT_IO and port == kinds.FAULT_PORT:
            raise CaseError(
                f"exits to {self._to} cannot be measured here: this host's KVM answers them with "
                "an exception"
            )
        if left:
            raise CaseError(
                f"the guest left with exit reason {reason}, not {self._reason}, after "
                f"{self.entries - left} of {self.entries} entries"
            )

    def try_within(self, seconds: float) -> None:
        """As :meth:`run`, but CaseError where the guest has not ended after `seconds`."""
        entering = threading.get_ident()

        def end() -> None:
            self.state[IMMEDIATE_EXIT_AT] = 1
            signal.pthread_kill(entering, signal.SIGUSR1)

        # Any handler does: the signal is to end the system call.
        signal.signal(signal.SIGUSR1, lambda *_: None)
        limit = threading.Timer(seconds, end)
        limit.start()
        try:
            self.run()
        except CaseError:
            if self.state[IMMEDIATE_EXIT_AT]:
                raise CaseError(
                    f"exits to {self._to} cannot be measured here: with this host's KVM the guest "
                    f"does not come back from {self._exits} of them within {seconds:g} s"
                ) from None
            raise
        finally:
            limit.cancel()

    @contextmanager
    def _woken(self) -> Iterator[None]:
        """A thread that ends each halt; on the processor of the one that enters the guest."""
        message = ctypes.create_string_buffer(NMI_MESSAGE)
        entering = threading.get_ident()

        def wake() -> None:
            if self._wake(self._event, self._machine, self._exits, message):
                # Nobody would wake the guest any more.
                self.state[IMMEDIATE_EXIT_AT] = 1
                signal.pthread_kill(entering, signal.SIGUSR1)

        signal.signal(signal.SIGUSR1, lambda *_: None)
        waker = threading.Thread(target=wake)
        waker.start()
        yield
        # Where the guest went another way, the waker waits for an event that does not come.
        event.add(self._event, 1)
        waker.join(WAKER_END_S)
        # It ended by itself as a rule, and the event is still there: a waker of the next run would
        # take it for a halt, and wake a guest that has not begun.
        if select.select([self._event], [], [], 0)[0]:
            event.take(self._event)

    def close(self) -> None:
        """End the guest."""
        self._kept.close()


def _answers(descriptor: int, request: int, size: int) -> bool:
    try:
        fcntl.ioctl(descriptor, request, bytearray(size))
    except OSError:
        return False
    return True


def address_of(memory: mmap.mmap) -> int:
    """Where `memory` is mapped."""
    return ctypes.addressof(ctypes.c_char.from_buffer(memory))


def callable_code(code: bytes, *types: type) -> Any:
    """`code` as a function of *types*, else of (int, pointer, long); its page is not writable."""
    page = mmap.mmap(-1, mmap.PAGESIZE)
    page[: len(code)] = code
    libc = ctypes.CDLL(None, use_errno=True)
    protection = mmap.PROT_READ | mmap.PROT_EXEC
    if libc.mprotect(ctypes.c_void_p(address_of(page)), mmap.PAGESIZE, protection):
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    kind = ctypes.CFUNCTYPE(
        ctypes.c_long, *(types or (ctypes.c_int, ctypes.c_void_p, ctypes.c_long))
    )
    function: Any = kind(address_of(page))
    function.page = page
    return function
