"""Mutations of the lease, fence, retry and limit code, each with the tests that must notice.

A mutation is a small fault that somebody could bring in. Its old text stands exactly once in its
file; where the code changes, correct the text here, or say the same fault in the new code.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Mutation:
    """One fault: *old* becomes *new* in *file*, and one of *tests* must fail for it."""

    name: str
    file: str
    old: str
    new: str
    tests: tuple[str, ...]
    why: str


FENCE = "tests/crash/test_fence.py"
ARCHIVE = "tests/crash/test_archive_limits.py"

MUTATIONS = (
    Mutation(
        "a lease is never renewed",
        "pipelines/lease.py",
        "while self.alive() and not self._stop.wait(self._seconds / 3):",
        "while False and not self._stop.wait(self._seconds / 3):",
        (FENCE,),
        "A step that lasts longer than its lease would lose its host to another worker.",
    ),
    Mutation(
        "a lease is renewed after it was taken over",
        "mitigauge/fleet/leases.py",
        "        HostLease.epoch == lease.epoch,\n        HostLease.holder == lease.holder,\n",
        "",
        (FENCE,),
        "Two workers would both believe that the host is theirs.",
    ),
    Mutation(
        "a commit is never tried again",
        "pipelines/advance.py",
        "deadline = min(deadline, time.monotonic() + 10 * self.lease_seconds)",
        "deadline = min(deadline, time.monotonic() - 1.0)",
        (FENCE,),
        "A finished step would be thrown away whenever the database restarts.",
    ),
    Mutation(
        "a power cycle is not recorded",
        "mitigauge/experiments/outcomes.py",
        "    boot.power_cycled = True\n",
        "",
        (FENCE,),
        "A dead host would be cycled for ever, and nobody could tell that it was.",
    ),
    Mutation(
        "a restore is never given up",
        "pipelines/steps/wind_up.py",
        "    except LabFault as fault:\n        problem = fault.message\n",
        "    except LabFault:\n        raise\n",
        (FENCE,),
        "A host that is gone would keep its run, and all that wait for it, for ever.",
    ),
    Mutation(
        "power is cycled without asking for the lease",
        "pipelines/adapters/ansible_host.py",
        "        self._require_lease()\n        self._power(lambda power: power.cycle())\n",
        "        self._power(lambda power: power.cycle())\n",
        (FENCE,),
        "A worker whose lease was taken over would cut the power of another's host.",
    ),
    Mutation(
        "a commit does not ask for its lease",
        "pipelines/advance.py",
        "            leases.require(session, taken.lease)\n",
        "",
        (FENCE,),
        "A worker that comes back late would overwrite what another one did.",
    ),
    Mutation(
        "a lease that is over counts as held",
        "mitigauge/fleet/leases.py",
        "if held.run_id != run_id or (held.holder is not None and held.expires_at > now):",
        "if held.run_id != run_id or held.holder is not None:",
        (FENCE,),
        "The run of a worker that was killed would never go on.",
    ),
    Mutation(
        "a lease that is held can be taken over",
        "mitigauge/fleet/leases.py",
        "if held.run_id != run_id or (held.holder is not None and held.expires_at > now):",
        "if held.run_id != run_id:",
        (FENCE,),
        "Two workers would act on one host at the same time.",
    ),
    Mutation(
        "a lease is not released at the end",
        "pipelines/advance.py",
        "                leases.release(session, taken.lease)\n                return None",
        "                return None",
        (FENCE,),
        "A host would stay with a run that is over.",
    ),
    Mutation(
        "faults in a row have no limit",
        "pipelines/decide.py",
        "FAULTS_IN_A_ROW_LIMIT = 6",
        "FAULTS_IN_A_ROW_LIMIT = 10**6",
        ("tests/unit/test_decide.py", "tests/crash/test_broken_steps.py"),
        "A run would try for ever what cannot work.",
    ),
    Mutation(
        "boots that fail have no limit",
        "pipelines/decide.py",
        "DID_NOT_BOOT_LIMIT = 2",
        "DID_NOT_BOOT_LIMIT = 10**6",
        ("tests/unit/test_decide.py",),
        "An arm that panics would be booted for ever.",
    ),
    Mutation(
        "a place has no limit of attempts",
        "pipelines/decide.py",
        "ATTEMPTS_A_PLACE = 3",
        "ATTEMPTS_A_PLACE = 10**6",
        (FENCE,),
        "One place of a block would be made again as long as its host fails.",
    ),
    Mutation(
        "a host is touched without its lease",
        "pipelines/lease.py",
        "        while self.alive() and time.monotonic() >= self._lives_until:\n",
        "        while False:\n",
        (FENCE,),
        "A worker that slept would reboot a host that another one measures on.",
    ),
    Mutation(
        "an archive's files have no limit",
        "pipelines/steps/measure.py",
        "    if sum(member.size for member in others) > limit:\n",
        "    if False:\n",
        (ARCHIVE,),
        "A hostile host would fill the disk of the control machine.",
    ),
    Mutation(
        "an archive may name a file outside",
        "pipelines/steps/measure.py",
        "        if not path.resolve().is_relative_to(root):\n",
        "        if False:\n",
        (ARCHIVE,),
        "A hostile host would write any file that the worker may.",
    ),
)
