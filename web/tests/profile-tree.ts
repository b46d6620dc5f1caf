/** A profile as a system call's would be, small enough to read. */

import type { Frame } from "./profile-payload";

export const HOSTILE = '<img src=x onerror="alert(1)">\u202e;${7*7}';

function leaf(name: string, a: number, b: number, q = NaN): Frame {
  return { name, a, b, q, half: Math.max(0.2, Math.abs(b - a) * 0.2) };
}

function branch(name: string, q: number, half: number, ...children: Frame[]): Frame {
  return { name, q, half, children };
}

/** Entry code that grew, a function that is new, one that is gone, much that stayed. */
export function syscallTree(): Frame {
  const entry = branch(
    "entry_SYSCALL_64_after_hwframe",
    0.001,
    2,
    leaf("clear_bhb_loop", 0, 31.2, 0.0004),
    branch(
      "do_syscall_64",
      0.01,
      1.5,
      branch("__x64_sys_getppid", 0.4, 1, leaf("__rcu_read_lock", 4.1, 4.2, 0.7)),
      branch(
        "syscall_exit_to_user_mode",
        0.02,
        1,
        leaf("amd_clear_divider", 3.2, 0, 0.01),
        leaf("fpregs_assert_state_consistent", 6.3, 5.1, 0.03),
      ),
      branch("do_syscall_64", 0.3, 1, leaf("__rcu_read_lock", 1.1, 1.2, 0.8)),
      leaf("x64_sys_call", 21, 24.5, 0.02),
    ),
  );
  return branch(
    "all",
    0.001,
    3,
    branch(
      "CPU */KVM",
      0.001,
      3,
      branch("syscall", 0.002, 2, entry, leaf("[unknown]", 2, 2.2, 0.6)),
      leaf("entry_SYSRETQ_unsafe_stack", 31, 30.2, 0.2),
    ),
    branch("kworker/*", 0.5, 1, leaf("process_one_work", 5, 5.4, 0.5), leaf(HOSTILE, 6, 9, 0.04)),
    leaf("swapper", 12, 12.1, 0.9),
  );
}

/** Wide and shallow, beside one sample of a deep stack. */
export function needleTree(depth: number): Frame {
  let needle = leaf("rare", 1, 1);
  for (let i = depth; i > 0; i--) needle = branch(`rare_${i}`, 0.9, 1, needle);
  return branch("all", 0.5, 1, leaf("common", 1e6, 1e6), needle);
}

/** Depth 500: one call in another. */
export function deepTree(depth: number): Frame {
  let inner = leaf(`call_${depth}`, 10, 12, 0.01);
  for (let i = depth - 1; i > 0; i--) inner = branch(`call_${i}`, 0.01, 1, inner);
  return branch("all", 0.01, 1, inner);
}
