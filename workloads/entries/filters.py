"""Filters of seccomp(2) on this process, for good. They may be put on, never taken off."""

from __future__ import annotations

import ctypes
import errno
import os
import struct
import sys
from pathlib import Path
from typing import Any

from _kit.contract import CaseError

# include/uapi/linux/prctl.h, seccomp.h
PR_SET_NO_NEW_PRIVS, PR_SET_SECCOMP, MODE_FILTER = 38, 22, 2
RET_ALLOW, RET_KILL = 0x7FFF0000, 0x80000000
# include/uapi/linux/bpf_common.h: load a word of what the filter sees, jump if equal, return.
LOAD, JUMP_EQUAL, RETURN = 0x20, 0x15, 0x06
ARGUMENT_0_AT = 16
# An argument that nobody passes.
NEVER = 0x7FFFFFFF
# include/seccomp.h of libseccomp.
LIBRARY = "libseccomp.so.2"
ACT_ALLOW, ACT_ERRNO = 0x7FFF0000, 0x00050000
NOT_EQUAL, EQUAL, MASKED_EQUAL = 1, 4, 7
ARCH_NATIVE, ARCH_X86, ARCH_X32 = 0, 0x40000003, 0x4000003E
# Docker's profile allows all calls but these; personality, clone and socket by their arguments.
BLOCKED = Path(__file__).with_name("docker-blocks.txt")
PERSONALITIES = (0x0, 0x8, 0x20000, 0x20008, 0xFFFFFFFF)
# Flags of clone(2) that make namespaces; a family of sockets between virtual machines.
NAMESPACES, AF_VSOCK = 0x7E020000, 40
MOST_NUMBER = 512
# What units of services ask of systemd (systemd.exec(5)); each line is filters of its own.
PROPERTIES = (
    "SystemCallFilter=@system-service",
    "SystemCallErrorNumber=EPERM",
    "SystemCallArchitectures=native",
    "RestrictAddressFamilies=AF_UNIX AF_INET AF_INET6 AF_NETLINK",
    "RestrictNamespaces=yes",
    "RestrictRealtime=yes",
    "RestrictSUIDSGID=yes",
    "LockPersonality=yes",
)
WITHIN = "ENTRIES_WITHIN_UNIT"


class Comparison(ctypes.Structure):
    """struct scmp_arg_cmp."""

    _fields_ = (
        ("arg", ctypes.c_uint),
        ("op", ctypes.c_int),
        ("a", ctypes.c_uint64),
        ("b", ctypes.c_uint64),
    )


def require(status: int, what: str) -> None:
    """CaseError where a call of libseccomp, which returns -errno, or of libc failed."""
    if status < 0:
        raise CaseError(f"{what}: {os.strerror(ctypes.get_errno() or -status)}")


def put_short() -> None:
    """Three instructions that look at an argument of each call and allow all of them."""
    program = b"".join(
        struct.pack("=HBBI", *instruction)
        for instruction in (
            (LOAD, 0, 0, ARGUMENT_0_AT),
            (JUMP_EQUAL, 1, 0, NEVER),
            (RETURN, 0, 0, RET_ALLOW),
            (RETURN, 0, 0, RET_KILL),
        )
    )
    code = ctypes.create_string_buffer(program, len(program))
    filter_ = struct.pack("@HP", len(program) // 8, ctypes.addressof(code))
    libc = ctypes.CDLL(None, use_errno=True)
    require(libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), "PR_SET_NO_NEW_PRIVS")
    require(libc.prctl(PR_SET_SECCOMP, MODE_FILTER, filter_, 0, 0), "PR_SET_SECCOMP")


def put_docker() -> None:
    """What Docker's default profile allows, as libseccomp compiles it, for three architectures."""
    library = _libseccomp()
    context = library.seccomp_init(ctypes.c_uint32(ACT_ERRNO | errno.EPERM))
    if not context:
        raise CaseError(f"{LIBRARY}: seccomp_init failed")
    context = ctypes.c_void_p(context)
    try:
        for architecture in (ARCH_X86, ARCH_X32):
            require(
                library.seccomp_arch_add(context, ctypes.c_uint32(architecture)), "architecture"
            )
        blocked = set(BLOCKED.read_text().split())
        for number, name in sorted(_calls(library).items()):
            if name not in blocked:
                _allow(library, context, number, name)
        require(library.seccomp_load(context), "seccomp_load")
    finally:
        library.seccomp_release(context)


def _libseccomp() -> Any:
    try:
        library = ctypes.CDLL(LIBRARY, use_errno=True)
    except OSError:
        raise CaseError(f"{LIBRARY} is missing: install Debian's libseccomp2") from None
    library.seccomp_init.restype = ctypes.c_void_p
    library.seccomp_syscall_resolve_num_arch.restype = ctypes.c_void_p
    return library


def _calls(library: Any) -> dict[int, str]:
    """Number → name of each system call that the library knows of this architecture."""
    free = ctypes.CDLL(None).free
    found = {}
    for number in range(MOST_NUMBER):
        pointer = library.seccomp_syscall_resolve_num_arch(ctypes.c_uint32(ARCH_NATIVE), number)
        if pointer:
            found[number] = ctypes.string_at(pointer).decode()
            free(ctypes.c_void_p(pointer))
    return found


def _allow(library: Any, context: ctypes.c_void_p, number: int, name: str) -> None:
    """Rules for one call: for its arguments where the profile looks at them."""
    by_argument = {
        "personality": [Comparison(0, EQUAL, allowed, 0) for allowed in PERSONALITIES],
        "clone": [Comparison(0, MASKED_EQUAL, NAMESPACES, 0)],
        "socket": [Comparison(0, NOT_EQUAL, AF_VSOCK, 0)],
    }
    for rule in by_argument.get(name, [None]):
        count, rules = (1, ctypes.byref(rule)) if rule else (0, None)
        added = library.seccomp_rule_add_array(
            context, ctypes.c_uint32(ACT_ALLOW), number, count, rules
        )
        require(added, f"rule for {name}")


def begin_in_unit(timeout_s: float) -> None:
    """Run this program again in a unit of systemd's, behind the filters that services get.

    Returns within that unit; elsewhere the program is replaced. CaseError without systemd.
    """
    if os.environ.get(WITHIN):
        return
    kept = {name: text for name, text in os.environ.items()
            if name.startswith(("MITIGAUGE_", "LC_"))}  # fmt: skip
    command = [
        "systemd-run", "--quiet", "--pipe", "--wait", "--collect", "--same-dir",
        "--property", f"RuntimeMaxSec={timeout_s:.0f}",
        *(word for line in PROPERTIES for word in ("--property", line)),
        *(f"--setenv={name}={text}" for name, text in {**kept, WITHIN: "1"}.items()),
        sys.executable, *(os.path.abspath(word) for word in sys.argv),
    ]  # fmt: skip
    try:
        os.execvp(command[0], command)
    except OSError as error:
        raise CaseError(
            f"systemd-run: {error.strerror}: this case asks systemd for its filters"
        ) from None
